"""What folding a batch normalization into weights has to correct while it is trained (Krishnamoorthi, 2018, section 3.2.2)."""
from __future__ import annotations

import dataclasses
from typing import Any

from jitgraph.contrib.layers.arguments import smart_cond
from jitgraph.contrib.quantize.rewiring import CreateOrGetQuantizationStep, RerouteTensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.ops.arrays.fill import ones, zeros
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.elementwise.arithmetic import divide, multiply
from jitgraph.ops.elementwise.compare import greater_equal
from jitgraph.ops.elementwise.elementary import reciprocal, rsqrt


@dataclasses.dataclass
class BatchNorm:
    """A layer with its batch normalization: operations and tensors, None where there are none."""

    gamma: Any
    mean: Any
    variance: Any
    moving_mean: Any
    moving_variance: Any
    epsilon: Any
    mean_decay: Any
    variance_decay: Any
    layer: Any = None
    op: Any = None
    output: Any = None
    input: Any = None
    weights: Any = None
    beta: Any = None
    batch_to_space: Any = None


def corrections(context: str, norm: BatchNorm, freeze_delay: int | None) -> tuple:
    """(factor of the weights, factor of the results, what is added to them).

    Weights are scaled by the moving averages, which change little; results are scaled back to the statistics of the batch, until
    step `freeze_delay`, from which on the moving averages stay and are used.
    """
    with get_default_graph().name_scope(f"{context}batch_norm_correction"):
        recip_moving = rsqrt(norm.moving_variance + norm.epsilon)
        recip = rsqrt(norm.variance + norm.epsilon)
        scale = identity(divide(recip_moving, recip, name="scale_compute"), name="correction_scale")
        back = reciprocal(scale, name="reciprocal_compute")
        offset = multiply(norm.gamma, norm.mean * recip - norm.moving_mean * recip_moving, name="offset_compute")
        frozen = False if freeze_delay is None else greater_equal(CreateOrGetQuantizationStep(), freeze_delay,
                                                                   name="use_moving_average")
        _freeze(norm.mean_decay, frozen, "freeze_moving_mean")
        _freeze(norm.variance_decay, frozen, "freeze_moving_var")
        back = smart_cond(frozen, lambda: ones(scale.shape), lambda: back, name="correction_recip")
        moved = smart_cond(frozen, lambda: offset, lambda: zeros(offset.shape), name="correction_offset")
    return scale, back, moved


def _freeze(decay: Any, frozen: Any, name: str) -> None:
    readers = list(decay.consumers())
    RerouteTensor(smart_cond(frozen, lambda: 0.0, lambda: decay, name=name), decay, can_modify=readers)
