"""``tf.layers.InputSpec``: what a layer demands of its inputs, and the check."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import structures as nest
from jitgraph.graph.dtypes import as_dtype


class InputSpec:
    """The rank, dtype and sizes that an input of a layer must have; what is None is free.

    `shape`: all sizes (None in it: any).  `ndim`, `max_ndim`, `min_ndim`: the rank, its largest, its smallest.  `axes`: a
    dict from axes to their sizes.  Raises TypeError if the keys of `axes` are no integers, ValueError if one is out of range.
    """

    def __init__(self, dtype: Any = None, shape: Any = None, ndim: int | None = None, max_ndim: int | None = None,
                 min_ndim: int | None = None, axes: dict | None = None):
        self.dtype = None if dtype is None else as_dtype(dtype).name
        self.shape = shape
        self.ndim = ndim if shape is None else len(shape)
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        try:
            self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        except (ValueError, TypeError, AttributeError):
            raise TypeError("The keys in axes must be integers.") from None
        if self.axes and (self.ndim is not None or max_ndim is not None):
            last = (self.ndim or max_ndim or 0) - 1
            if max(self.axes) > last:
                raise ValueError(f"Axis {max(self.axes)} is greater than the maximum allowed value: {last}")

    def __repr__(self) -> str:
        return "InputSpec(" + ", ".join(f"{key}={value}" for key, value in self.get_config().items() if value) + ")"

    def get_config(self) -> dict[str, Any]:
        """The arguments by name."""
        return {key: getattr(self, key) for key in ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InputSpec:
        """The InputSpec with these arguments."""
        return cls(**config)


def check_inputs(spec: Any, inputs: Any, layer: str) -> None:
    """Raises ValueError if `inputs` are not what `spec` (an InputSpec, a structure of them, or None) demands."""
    if not spec:
        return
    flat, specs = nest.flatten(inputs), nest.flatten(spec)
    if len(flat) != len(specs):
        raise ValueError(f"Layer {layer} expects {len(specs)} inputs, but it received {len(flat)} input tensors. Inputs "
                         f"received: {flat}")
    for index, (tensor, one) in enumerate(zip(flat, specs)):
        problem = _problem(tensor, one) if one is not None else None
        if problem:
            raise ValueError(f"Input {index} of layer {layer} is incompatible with the layer: {problem}")


def _problem(tensor: Any, spec: InputSpec) -> str | None:
    """What of `spec` a tensor does not hold."""
    rank = tensor.shape.ndims
    if rank is None:
        if any(bound is not None for bound in (spec.ndim, spec.min_ndim, spec.max_ndim)):
            return "its rank is undefined, but the layer requires a defined rank."
        sizes = None
    else:
        sizes = tensor.shape.as_list()
        if spec.ndim is not None and rank != spec.ndim:
            return f"expected ndim={spec.ndim}, found ndim={rank}. Full shape received: {sizes}"
        if spec.max_ndim is not None and rank > spec.max_ndim:
            return f"expected max_ndim={spec.max_ndim}, found ndim={rank}"
        if spec.min_ndim is not None and rank < spec.min_ndim:
            return f"expected min_ndim={spec.min_ndim}, found ndim={rank}. Full shape received: {sizes}"
    if spec.dtype is not None and tensor.dtype != spec.dtype:
        return f"expected dtype={spec.dtype}, found dtype={tensor.dtype}"
    if sizes is None:
        return None
    for axis, wanted in spec.axes.items():
        size = getattr(wanted, "value", wanted)
        if size is not None and sizes[axis] not in (size, None):
            return f"expected axis {axis} of input shape to have value {size} but received input with shape {sizes}"
    for wanted, size in zip(spec.shape or (), sizes):
        if wanted is not None and size is not None and wanted != size:
            return f"expected shape={spec.shape}, found shape={sizes}"
    return None
