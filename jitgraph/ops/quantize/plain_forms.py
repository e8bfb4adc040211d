"""Ops on quantized numbers that do what an op on plain numbers does: its shape rule and its NumPy meaning."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph import shape_rules
from jitgraph.graph.registry import lookup

_IMAGES = {"data_format": "NHWC"}
_DEFAULTS: dict[str, dict[str, Any]] = {        # attributes that the ops on quantized numbers do not have
    "Conv2D": {**_IMAGES, "explicit_paddings": []}, "MaxPool": _IMAGES, "AvgPool": _IMAGES, "BiasAdd": _IMAGES,
    "DepthwiseConv2dNative": _IMAGES}


class _Seen:
    """What a shape rule sees of a node: some of the inputs, and other attributes."""

    def __init__(self, c: Any, inputs: tuple[int, ...], attrs: dict[str, Any]):
        self._c, self._inputs = c, inputs
        self.shapes = [c.shapes[i] for i in inputs]
        self.attrs = {**c.attrs, **attrs}
        self.running = c.running

    def constant(self, index: int) -> Any:
        return self._c.constant(self._inputs[index])


def shape_as(op_type: str, c: Any, *inputs: int) -> Any:
    """The shape that an op on plain numbers has for these inputs of a node."""
    rule: Any = lookup(op_type).shape
    return rule(_Seen(c, inputs, _DEFAULTS.get(op_type, {})))


def scalars(c: Any, *inputs: int) -> list:
    """The shapes of the two ends of the resulting range, given where those of the inputs stand.

    Raises ValueError if one of these is no scalar.
    """
    for index in inputs:
        shape_rules.with_rank(c.shapes[index], 0, "a range's end")
    return [(), ()]


def value_as(op_type: str, *arrays: Any, **attrs: Any) -> np.ndarray:
    """The NumPy meaning of an op on plain numbers."""
    meaning: Any = lookup(op_type).value
    return meaning(*arrays, **attrs, **_DEFAULTS.get(op_type, {}))
