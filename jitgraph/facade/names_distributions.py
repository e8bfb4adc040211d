"""The public names of distributions, bijectors and linear operators; the table is of the form that ``jitgraph.facade.names``
explains.
"""
from __future__ import annotations

DISTRIBUTIONS: dict[str, str] = {
    "distributions.distribution": """
        distributions.Distribution distributions.ReparameterizationType distributions.FULLY_REPARAMETERIZED
        distributions.NOT_REPARAMETERIZED""",
    "distributions.divergence": "distributions.RegisterKL distributions.kl_divergence",
    "distributions.location_scale": "distributions.Normal distributions.Laplace distributions.StudentT",
    "distributions.uniform": "distributions.Uniform",
    "distributions.gamma": "distributions.Gamma distributions.Exponential",
    "distributions.beta": "distributions.Beta",
    "distributions.bernoulli": "distributions.Bernoulli",
    "distributions.classes": "distributions.Categorical distributions.Multinomial",
    "distributions.dirichlet": "distributions.Dirichlet distributions.DirichletMultinomial",
}
