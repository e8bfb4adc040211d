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
    "contrib.distributions.bijector": "contrib.distributions.bijectors.Bijector",
    "contrib.distributions.elementwise_bijectors": """
        contrib.distributions.bijectors.Identity contrib.distributions.bijectors.PowerTransform
        contrib.distributions.bijectors.Exp contrib.distributions.bijectors.Sigmoid
        contrib.distributions.bijectors.Softplus contrib.distributions.bijectors.Softsign
        contrib.distributions.bijectors.Square contrib.distributions.bijectors.AbsoluteValue
        contrib.distributions.bijectors.AffineScalar contrib.distributions.softplus_inverse""",
    "contrib.distributions.composed_bijectors": """
        contrib.distributions.bijectors.ConditionalBijector contrib.distributions.bijectors.Invert
        contrib.distributions.bijectors.Chain contrib.distributions.bijectors.Inline""",
    "contrib.distributions.vector_bijectors": """
        contrib.distributions.bijectors.Permute contrib.distributions.bijectors.SoftmaxCentered""",
    "contrib.distributions.affine": """
        contrib.distributions.bijectors.AffineLinearOperator contrib.distributions.bijectors.Affine""",
    "contrib.distributions.transformed": """
        contrib.distributions.TransformedDistribution contrib.distributions.ConditionalDistribution
        contrib.distributions.ConditionalTransformedDistribution""",
    "contrib.distributions.multivariate_normal": """
        contrib.distributions.MultivariateNormalDiag
        contrib.distributions.MultivariateNormalDiagWithSoftplusScale
        contrib.distributions.MultivariateNormalTriL contrib.distributions.MultivariateNormalFullCovariance""",
    "contrib.distributions.one_hot": """
        contrib.distributions.OneHotCategorical contrib.distributions.ExpRelaxedOneHotCategorical
        contrib.distributions.RelaxedOneHotCategorical contrib.distributions.RelaxedBernoulli""",
    "contrib.distributions.real_numbers": """
        contrib.distributions.Logistic contrib.distributions.Cauchy contrib.distributions.HalfNormal
        contrib.distributions.Chi2 contrib.distributions.InverseGamma""",
    "contrib.distributions.counts": """
        contrib.distributions.Poisson contrib.distributions.Binomial contrib.distributions.Geometric
        contrib.distributions.NegativeBinomial""",
    "contrib.distributions.softplus_parameters": """
        contrib.distributions.NormalWithSoftplusScale contrib.distributions.LaplaceWithSoftplusScale
        contrib.distributions.StudentTWithAbsDfSoftplusScale
        contrib.distributions.GammaWithSoftplusConcentrationRate
        contrib.distributions.InverseGammaWithSoftplusConcentrationRate
        contrib.distributions.ExponentialWithSoftplusRate contrib.distributions.BetaWithSoftplusConcentration
        contrib.distributions.Chi2WithAbsDf""",
    "contrib.distributions.mixture": "contrib.distributions.Mixture contrib.distributions.MixtureSameFamily",
    "contrib.distributions.independent": "contrib.distributions.Independent",
    "contrib.distributions.sample_values": """
        contrib.distributions.percentile contrib.distributions.fill_triangular contrib.distributions.fill_triangular_inverse
        contrib.distributions.matrix_diag_transform contrib.distributions.tridiag
        contrib.distributions.reduce_weighted_logsumexp""",
    "contrib.distributions.deterministic": "contrib.distributions.Deterministic contrib.distributions.VectorDeterministic",
}
