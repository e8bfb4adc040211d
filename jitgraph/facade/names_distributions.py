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
    "linear_operators.linear_operator": "linalg.LinearOperator",
    "linear_operators.derived": "linalg.LinearOperatorAdjoint linalg.LinearOperatorInversion",
    "linear_operators.matrices": """
        linalg.LinearOperatorDiag linalg.LinearOperatorFullMatrix linalg.LinearOperatorLowerTriangular""",
    "linear_operators.identity": "linalg.LinearOperatorIdentity linalg.LinearOperatorScaledIdentity",
    "linear_operators.zeros": "linalg.LinearOperatorZeros",
    "linear_operators.composition": "linalg.LinearOperatorComposition",
    "linear_operators.block_diagonal": "linalg.LinearOperatorBlockDiag",
    "linear_operators.kronecker": "linalg.LinearOperatorKronecker",
    "linear_operators.low_rank": "linalg.LinearOperatorLowRankUpdate",
    "linear_operators.circulant": """
        linalg.LinearOperatorCirculant linalg.LinearOperatorCirculant2D linalg.LinearOperatorCirculant3D""",
    "linear_operators.toeplitz": "linalg.LinearOperatorToeplitz",
    "linear_operators.householder": "linalg.LinearOperatorHouseholder",
    "variables.module": "Module",
}
