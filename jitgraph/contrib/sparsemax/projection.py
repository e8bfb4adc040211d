"""The nearest distribution to logits, and its loss (Martins and Astudillo, 2016)."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.batch_gather import gather_nd
from jitgraph.ops.arrays.fill import fill, zeros_like
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.top_k import top_k
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, logical_and, logical_or
from jitgraph.ops.elementwise.elementary import is_inf, is_nan
from jitgraph.ops.reduce.reductions import reduce_sum


def sparsemax(logits: Any, name: str | None = None) -> Any:
    """The distributions [batch, classes] that are nearest to `logits`; rows with NaN or infinity are NaN."""
    with name_scope(name, "sparsemax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        rows, classes = shape_of(logits)[0], shape_of(logits)[1]
        ordered, _ = top_k(logits, k=classes)
        sums = cumsum(ordered, axis=1)
        k = range_of(1, cast(classes, logits.dtype) + 1, dtype=logits.dtype)
        support = reduce_sum(cast(1 + k * ordered > sums, dtypes.int32), axis=1)
        last = stack([range_of(0, rows), maximum(support, 1) - 1], axis=1)
        threshold = (gather_nd(sums, last) - 1) / cast(support, logits.dtype)
        found = maximum(cast(0, logits.dtype), logits - threshold[:, None])
        undefined = logical_or(equal(support, 0), is_nan(sums[:, -1]))
        return where(undefined, fill([rows, classes], cast(float("nan"), logits.dtype)), found)


def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: str | None = None) -> Any:
    """The losses [batch] of `labels` [batch, classes], given ``sparsemax(logits)``."""
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits = convert_to_tensor(logits, name="logits")
        sparsemax = convert_to_tensor(sparsemax, name="sparsemax")
        labels = convert_to_tensor(labels, name="labels")
        inside = where(logical_or(sparsemax > 0, is_nan(sparsemax)), sparsemax * (logits - 0.5 * sparsemax), zeros_like(sparsemax))
        part = labels * (0.5 * labels - logits)
        part = where(logical_and(equal(labels, 0), is_inf(logits)), zeros_like(logits), part)
        return reduce_sum(inside + part, axis=1)
