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
        contrib.distributions.bijectors.Permute contrib.distributions.bijectors.SoftmaxCentered
        contrib.distributions.bijectors.Ordered""",
    "contrib.distributions.parametric_bijectors": """
        contrib.distributions.bijectors.Gumbel contrib.distributions.bijectors.Kumaraswamy
        contrib.distributions.bijectors.SinhArcsinh""",
    "contrib.distributions.matrix_bijectors": """
        contrib.distributions.bijectors.CholeskyOuterProduct contrib.distributions.bijectors.MatrixInverseTriL
        contrib.distributions.bijectors.FillTriangular contrib.distributions.bijectors.TransformDiagonal
        contrib.distributions.bijectors.ScaleTriL""",
    "contrib.distributions.reshaping": "contrib.distributions.bijectors.Reshape",
    "contrib.distributions.batch_normalization": "contrib.distributions.bijectors.BatchNormalization",
    "contrib.distributions.flows": """
        contrib.distributions.bijectors.MaskedAutoregressiveFlow contrib.distributions.bijectors.RealNVP""",
    "contrib.distributions.flow_networks": """
        contrib.distributions.bijectors.masked_dense contrib.distributions.bijectors.real_nvp_default_template
        contrib.distributions.bijectors.masked_autoregressive_default_template""",
    "contrib.distributions.affine": """
        contrib.distributions.bijectors.AffineLinearOperator contrib.distributions.bijectors.Affine""",
    "contrib.distributions.transformed": """
        contrib.distributions.TransformedDistribution contrib.distributions.ConditionalDistribution
        contrib.distributions.ConditionalTransformedDistribution""",
    "contrib.distributions.multivariate_normal": """
        contrib.distributions.MultivariateNormalDiag
        contrib.distributions.MultivariateNormalDiagWithSoftplusScale
        contrib.distributions.MultivariateNormalTriL contrib.distributions.MultivariateNormalFullCovariance
        contrib.distributions.MultivariateNormalDiagPlusLowRank""",
    "contrib.distributions.vector_distributions": """
        contrib.distributions.VectorExponentialDiag contrib.distributions.VectorLaplaceDiag""",
    "contrib.distributions.sinh_arcsinh": "contrib.distributions.SinhArcsinh contrib.distributions.VectorSinhArcsinhDiag",
    "contrib.distributions.kumaraswamy": "contrib.distributions.Kumaraswamy",
    "contrib.distributions.wishart": "contrib.distributions.WishartCholesky contrib.distributions.WishartFull",
    "contrib.distributions.quantized": "contrib.distributions.QuantizedDistribution",
    "contrib.distributions.autoregressive": "contrib.distributions.Autoregressive",
    "contrib.distributions.batch_reshape": "contrib.distributions.BatchReshape",
    "contrib.distributions.poisson_lognormal": "contrib.distributions.PoissonLogNormalQuadratureCompound",
    "contrib.distributions.diffeomixture": "contrib.distributions.VectorDiffeomixture",
    "contrib.distributions.quadrature": """
        contrib.distributions.quadrature_scheme_lognormal_gauss_hermite
        contrib.distributions.quadrature_scheme_lognormal_quantiles
        contrib.distributions.quadrature_scheme_softmaxnormal_gauss_hermite
        contrib.distributions.quadrature_scheme_softmaxnormal_quantiles""",
    "contrib.distributions.moving_statistics": """
        contrib.distributions.assign_moving_mean_variance contrib.distributions.assign_log_moving_mean_exp
        contrib.distributions.moving_mean_variance""",
    "contrib.distributions.seed_stream": "contrib.distributions.SeedStream",
    "contrib.distributions.conjugates": """
        contrib.distributions.normal_conjugates_known_scale_posterior
        contrib.distributions.normal_conjugates_known_scale_predictive""",
    "contrib.distributions.autocorrelation": "contrib.distributions.auto_correlation",
    "contrib.bayesflow.expectations": """
        contrib.bayesflow.monte_carlo.expectation contrib.bayesflow.monte_carlo.expectation_importance_sampler
        contrib.bayesflow.monte_carlo.expectation_importance_sampler_logspace""",
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
