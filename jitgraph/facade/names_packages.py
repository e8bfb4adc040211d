"""Public names of the packages of `tf.contrib` that are asked for less often: more of the table in `jitgraph/facade/names.py`."""

from __future__ import annotations

PACKAGES: dict[str, str] = {
    "contrib.factorization.gaussian_mixtures": "contrib.factorization.GmmAlgorithm contrib.factorization.gmm",
    "contrib.factorization.mixture_estimators": "contrib.factorization.GMM",
    "contrib.factorization.least_squares": "contrib.factorization.WALSModel",
    "contrib.factorization.least_squares_estimators": "contrib.factorization.WALSMatrixFactorization",
    "contrib.model_pruning.masks": """
        contrib.model_pruning.apply_mask contrib.model_pruning.get_masked_weights contrib.model_pruning.get_masks
        contrib.model_pruning.get_thresholds contrib.model_pruning.get_weight_sparsity contrib.model_pruning.get_weights""",
    "contrib.model_pruning.masked_layers": """
        contrib.model_pruning.masked_convolution contrib.model_pruning.masked_conv2d
        contrib.model_pruning.masked_fully_connected""",
    "contrib.model_pruning.masked_cells": "contrib.model_pruning.MaskedBasicLSTMCell contrib.model_pruning.MaskedLSTMCell",
    "contrib.model_pruning.pruning": "contrib.model_pruning.Pruning contrib.model_pruning.get_pruning_hparams",
    "contrib.model_pruning.learning": "contrib.model_pruning.train",
    "contrib.model_pruning.stripping": """
        contrib.model_pruning.strip_pruning_vars_fn contrib.model_pruning.graph_def_from_checkpoint""",
    "contrib.quantize.graphs": """
        contrib.quantize.create_training_graph contrib.quantize.create_eval_graph
        contrib.quantize.experimental_create_training_graph contrib.quantize.experimental_create_eval_graph""",
}
