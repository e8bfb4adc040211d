"""Graphs rewritten for quantization: those that are trained, and those that are evaluated and saved."""
from __future__ import annotations

import re
from typing import Any

from jitgraph.contrib.quantize.fused_folding import fold_fused
from jitgraph.contrib.quantize.rounding import Quantize
from jitgraph.contrib.quantize.unfused_folding import fold_unfused
from jitgraph.graph.default_graph import get_default_graph

_TRAINING = re.compile("(Resource)?(Sparse)?Apply[A-Z].*")
_NOT_LOOKED_FOR = ("ApplyAdadelta", "SparseApplyAdadelta", "ResourceSparseApplyAdadelta", "ApplyAdaMax", "ResourceApplyAdaMax")


def FoldBatchNorms(graph: Any, is_training: bool, freeze_batch_norm_delay: int | None = None) -> None:
    """Folds batch normalizations into the weights of the layers before them.

    `freeze_batch_norm_delay`: the step from which on a training graph uses moving averages in place of statistics of the batch.
    """
    fold_fused(graph, freeze_batch_norm_delay)
    fold_unfused(graph, is_training, freeze_batch_norm_delay)


def _rewritten(graph: Any, is_training: bool, quant_delay: int | None, weight_bits: int = 8, activation_bits: int = 8,
               symmetric: bool = False, freeze_bn_delay: int | None = None, scope: str | None = None) -> None:
    graph = get_default_graph() if graph is None else graph
    found = {op.type for op in graph.get_operations() if _TRAINING.fullmatch(op.type) and op.type not in _NOT_LOOKED_FOR}
    if found:
        raise ValueError(f"Training op found in graph, exiting {found}")
    with graph.as_default():
        FoldBatchNorms(graph, is_training, freeze_bn_delay)
        Quantize(graph, is_training, quant_delay=quant_delay, weight_bits=weight_bits, activation_bits=activation_bits,
                 symmetric=symmetric, scope=scope)


def create_training_graph(input_graph: Any = None, quant_delay: int = 0) -> None:
    """Rewrites a graph (the default one if None), which has no training operations yet, so that it is trained with rounding.

    `quant_delay`: the step from which on it rounds.  Raises ValueError if it has training operations.
    """
    _rewritten(input_graph, True, quant_delay)


def create_eval_graph(input_graph: Any = None) -> None:
    """Rewrites a graph so that it is evaluated with the ranges that training found."""
    _rewritten(input_graph, False, None)


def experimental_create_training_graph(input_graph: Any = None, weight_bits: int = 8, activation_bits: int = 8,
                                       symmetric: bool = False, quant_delay: int = 0, freeze_bn_delay: int | None = None,
                                       scope: str | None = None) -> None:
    """``create_training_graph`` with numbers of bits, ranges with zero in the middle, and only what is in `scope`."""
    _rewritten(input_graph, True, quant_delay, weight_bits, activation_bits, symmetric, freeze_bn_delay, scope)


def experimental_create_eval_graph(input_graph: Any = None, weight_bits: int = 8, activation_bits: int = 8, symmetric: bool = False,
                                   quant_delay: int | None = None, scope: str | None = None) -> None:
    """``create_eval_graph`` with numbers of bits, ranges with zero in the middle, and only what is in `scope`."""
    _rewritten(input_graph, False, quant_delay, weight_bits, activation_bits, symmetric, None, scope)
