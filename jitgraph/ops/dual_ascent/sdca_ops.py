"""Stochastic dual coordinate ascent as nodes (Shalev-Shwartz and Zhang, 2013): ``tf.train.sdca_optimizer`` and what it needs."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import shape_rules
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.texts import as_text
from jitgraph.ops.dual_ascent import ascent_loops, example_order
from jitgraph.ops.dual_ascent.examples import dense_features, sparse_features
from jitgraph.ops.dual_ascent.losses import LOSSES
from jitgraph.ops.strings.hash128 import fingerprints128

_TESTED = "tests/ops/dual_ascent: columns of features, and weights that fit them"
_LOSS_TYPES = ", ".join(f'"{name}"' for name in LOSSES)


def _signature(op_type: str, adaptive: str) -> str:
    return (f"{op_type}(sparse_example_indices: num_sparse_features*int64, sparse_feature_indices: num_sparse_features*int64, "
            "sparse_feature_values: num_sparse_features_with_values*float32, dense_features: num_dense_features*float32, "
            "example_weights: float32, example_labels: float32, sparse_indices: num_sparse_features*int64, "
            "sparse_weights: num_sparse_features*float32, dense_weights: num_dense_features*float32, "
            f"example_state_data: float32; loss_type: string {{{_LOSS_TYPES}}}, {adaptive}: bool = false, "
            "num_sparse_features: int >= 0, num_sparse_features_with_values: int >= 0, num_dense_features: int >= 0, "
            "l1: float, l2: float, num_loss_partitions: int >= 1, num_inner_iterations: int >= 1) -> "
            "out_example_state_data: float32, out_delta_sparse_weights: num_sparse_features*float32, "
            "out_delta_dense_weights: num_dense_features*float32")


def _delta_shapes(c: Any) -> Any:
    sparse, valued, dense = (c.attrs[f"num_{kind}"] for kind in (
        "sparse_features", "sparse_features_with_values", "dense_features"))
    start = 2 * sparse + valued + dense + 2 + sparse
    return [(None, 4), *c.shapes[start:start + sparse + dense]]


def _optimized(example_of: Any, feature_of: Any, values: Any, dense: Any, weights: Any, labels: Any, known: Any,
               sparse_weights: Any, dense_weights: Any, states: Any, loss_type: Any, adaptive: bool, l1: float, l2: float,
               partitions: int, stream: Any) -> Any:
    if not example_of and not dense:
        raise invalid("Requires at least one feature to train.")
    name = as_text(loss_type)
    weights, count = np.ascontiguousarray(weights.reshape(-1)), weights.size
    sparse = sparse_features(count, example_of, feature_of, values, known, sparse_weights)
    rows = dense_features(count, dense, dense_weights)
    if states.shape != (count, 4):
        raise invalid(f"Expected shape [{count},4] for example_state_data, got [{','.join(map(str, states.shape))}]")
    if labels.size < count:
        raise invalid(f"{count} examples have {labels.size} labels")
    labels = np.ascontiguousarray(LOSSES[name].converted(labels.reshape(-1)[:count]))
    states, worth = np.array(states, order="C"), np.zeros(count, np.float32)
    sparse_changes, dense_changes = np.zeros_like(sparse.weights), np.zeros_like(rows.weights)
    with np.errstate(all="ignore"):
        numbers = np.array([np.float32(l2), np.float32(l1) / np.float32(l2), partitions], np.float64)

    def run(what: str, order: np.ndarray) -> None:
        ascent_loops.run(name, what, (order, sparse.begins, sparse.ends, sparse.places, sparse.values, sparse.weights,
                                      sparse_changes, rows.features, rows.weights, dense_changes, rows.begins, labels, weights,
                                      sparse.norms + rows.norms, states, numbers, worth, np.zeros(18, np.float32)),
                         (count, len(example_of), len(dense), rows.features.shape[1]), count)

    if adaptive:
        run("worth", np.arange(count))
    run("step", example_order.drawn(worth, stream) if adaptive else example_order.shuffled(count, stream))
    return states, _parts(sparse_changes, sparse_weights), _parts(dense_changes, dense_weights)


def _parts(flat: np.ndarray, like: Any) -> list[np.ndarray]:
    ends = np.cumsum([w.size for w in like], dtype=np.int64)
    return [part.reshape(w.shape) for part, w in zip(np.split(flat, ends[:-1]), like)]


@op(_signature("SdcaOptimizer", "adaptative"), shape=_delta_shapes, host=True, stream=True, grad=NOT_DIFFERENTIABLE,
    tested_in=_TESTED)
def _sdca_optimizer(sparse_example_indices, sparse_feature_indices, sparse_feature_values, dense_features, example_weights,
                    example_labels, sparse_indices, sparse_weights, dense_weights, example_state_data, loss_type, adaptative, l1,
                    l2, num_loss_partitions, stream):
    """One pass of dual coordinate ascent over examples: their new states, and what the weights change by.

    The rows of `example_state_data` [examples, 4] are dual variable, primal loss, dual loss and weight.  The features of an example
    are rows of `dense_features`, and what `sparse_example_indices` and `sparse_feature_indices` tell; `sparse_weights` belong to
    the features `sparse_indices`.  Raises InvalidArgumentError for features that are not known or come twice, for labels
    that the loss does not take, and for shapes that do not fit.  num_inner_iterations changes nothing.
    """
    return _optimized(sparse_example_indices, sparse_feature_indices, sparse_feature_values, dense_features, example_weights,
                      example_labels, sparse_indices, sparse_weights, dense_weights, example_state_data, loss_type, adaptative,
                      l1, l2, num_loss_partitions, stream)


def sdca_optimizer(sparse_example_indices: Any, sparse_feature_indices: Any, sparse_feature_values: Any, dense_features: Any,
                   example_weights: Any, example_labels: Any, sparse_indices: Any, sparse_weights: Any, dense_weights: Any,
                   example_state_data: Any, loss_type: str, l1: float, l2: float, num_loss_partitions: int,
                   num_inner_iterations: int, adaptative: bool = True, name: str | None = None) -> Any:
    """A node SdcaOptimizer.  TensorFlow's function draws examples by their worth unless it is told not to; its node does not."""
    return _sdca_optimizer(sparse_example_indices, sparse_feature_indices, sparse_feature_values, dense_features, example_weights,
                           example_labels, sparse_indices, sparse_weights, dense_weights, example_state_data,
                           loss_type=loss_type, l1=l1, l2=l2, num_loss_partitions=num_loss_partitions,
                           num_inner_iterations=num_inner_iterations, adaptative=adaptative, name=name)


@op(_signature("SdcaOptimizerV2", "adaptive"), shape=_delta_shapes, host=True, stream=True, grad=NOT_DIFFERENTIABLE,
    tested_in=_TESTED)
def sdca_optimizer_v2(sparse_example_indices, sparse_feature_indices, sparse_feature_values, dense_features, example_weights,
                      example_labels, sparse_indices, sparse_weights, dense_weights, example_state_data, loss_type, adaptive,
                      l1, l2, num_loss_partitions, stream):
    """As SdcaOptimizer, with the name of one attribute spelt right."""
    return _optimized(sparse_example_indices, sparse_feature_indices, sparse_feature_values, dense_features, example_weights,
                      example_labels, sparse_indices, sparse_weights, dense_weights, example_state_data, loss_type, adaptive,
                      l1, l2, num_loss_partitions, stream)


def _shrunk(*weights: Any, l1: float, l2: float) -> tuple:
    by = float(np.float32(l1) / np.float32(l2))
    return tuple(prim.sign(w) * prim.max(prim.abs(w) - by, 0) for w in weights)


@op("SdcaShrinkL1(weights: &num_features*float32; num_features: int >= 0, l1: float, l2: float)", shape=shape_rules.no_outputs,
    stateful=True, state="write", updates=_shrunk, grad=NOT_DIFFERENTIABLE, tested_in=_TESTED)
def _sdca_shrink_l1(*weights, l1, l2):
    """Brings each weight nearer to 0 by l1 / l2, and to 0 if it is nearer than that: the proximal step of an L1 penalty."""
    return _shrunk(*weights, l1=l1, l2=l2)


def sdca_shrink_l1(weights: Any, l1: float, l2: float, name: str | None = None) -> Operation:
    """Brings each of a list of float32 variables nearer to 0 by `l1` / `l2`, in place, and to 0 what is nearer than that."""
    return _sdca_shrink_l1(weights, l1=l1, l2=l2, name=name)


def _fingerprint_shape(c: Any) -> Any:
    return (*shape_rules.with_rank(c.shapes[0], 1, "input"), 2)


@op("SdcaFprint(input: string) -> output: int64", shape=_fingerprint_shape, host=True, grad=NOT_DIFFERENTIABLE, tested_in=_TESTED)
def _sdca_fprint(input):
    """The 128-bit FarmHash fingerprints of a vector of strings, of which the first word is never 0 or 1: [n, 2]."""
    if input.ndim != 1:
        raise invalid(f"Input must be a vector, got shape [{','.join(map(str, input.shape))}]")
    found = fingerprints128(input)
    with np.errstate(over="ignore"):
        found[:, 0] += np.where(found[:, 0] < 2, ~np.uint64(1), np.uint64(0))
    return found.view(np.int64)


def sdca_fprint(input: Any, name: str | None = None) -> Tensor:
    """Fingerprints of a vector of strings, int64 [n, 2]: the keys by which the states of examples are kept."""
    return _sdca_fprint(input, name=name)
