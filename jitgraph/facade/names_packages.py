"""Public names of the packages of `tf.contrib` that are asked for less often: more of the table in `jitgraph/facade/names.py`."""

from __future__ import annotations

PACKAGES: dict[str, str] = {
    "contrib.factorization.gaussian_mixtures": "contrib.factorization.GmmAlgorithm contrib.factorization.gmm",
    "contrib.factorization.mixture_estimators": "contrib.factorization.GMM",
    "contrib.factorization.least_squares": "contrib.factorization.WALSModel",
    "contrib.factorization.least_squares_estimators": "contrib.factorization.WALSMatrixFactorization",
}
