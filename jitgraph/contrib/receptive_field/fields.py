"""The pixels that a feature of a network of convolutions sees (Araujo, Norris and Sim, 2019)."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from jitgraph.contrib.receptive_field.layers import get_layer_params
from jitgraph.contrib.receptive_field.orders import get_compute_order
from jitgraph.graph.graph import Graph
from jitgraph.graph.tensor import Tensor


class ReceptiveField:
    """The sizes of fields, the strides between those of neighbours, and the padding before the first: each of (x, y)."""

    def __init__(self, size: Any, stride: Any, padding: Any):
        self.size, self.stride, self.padding = np.asarray(size), np.asarray(stride), np.asarray(padding)

    def _axes(self, coordinates: np.ndarray, axis: Any, what: str) -> list[int]:
        axes = list(range(self.size.size) if axis is None else axis)
        if coordinates.shape[-1] != len(axes):
            raise ValueError(f"Dimensionality of the {what} ({coordinates.shape[-1]}) does not match dimensionality of `axis` "
                             f"({len(axes)})")
        return axes

    def compute_input_center_coordinates(self, y: Any, axis: Any = None) -> np.ndarray:
        """The pixels [n, axes] in the middle of what features `y` [n, axes] see.  Raises ValueError for another number of axes."""
        y = np.asarray(y)
        axes = self._axes(y, axis, "feature coordinates `y`")
        return -self.padding[axes] + y * self.stride[axes] + (self.size[axes] - 1) / 2

    def compute_feature_coordinates(self, x: Any, axis: Any = None) -> np.ndarray:
        """The features [n, axes] that see pixels `x` [n, axes] in their middle.  Raises ValueError for another number of axes."""
        x = np.asarray(x)
        axes = self._axes(x, axis, "input center coordinates `x`")
        return (x + self.padding[axes] + (1 - self.size[axes]) / 2) / self.stride[axes]

    def __iter__(self) -> Iterator:
        return iter(np.concatenate([self.size, self.stride, self.padding]))


class _Field(NamedTuple):
    """Size, stride and padding along one axis."""

    size: int
    stride: int
    padding: int | None

    def before(self, kernel: int, stride: int, padding: int | None) -> _Field:
        """The field in what a layer reads."""
        whole = None if padding is None or self.padding is None else stride * self.padding + padding
        return _Field(stride * self.size + kernel - stride, stride * self.stride, whole)

    def check_aligned(self, other: _Field, direction: str) -> None:
        """Raises ValueError if two paths see pixels in different places."""
        what = None
        if self.stride != other.stride:
            what = "effective stride"
        elif (self.size - 1) / 2 - self.padding != (other.size - 1) / 2 - other.padding:      # type: ignore[operator]
            what = "center shift"
        if what:
            raise ValueError(f"Graph is not aligned since {what} from different paths is different in {direction} direction")


def compute_receptive_field_from_graph_def(graph_def: Any, input_node: Any, output_node: Any, stop_propagation: Any = None,
                                           input_resolution: Any = None) -> ReceptiveField:
    """What an element of `output_node` sees of `input_node`, names or tensors of a GraphDef or a graph.

    `stop_propagation`: beginnings of names of nodes that are not followed; `input_resolution`: [height, width], on which the
    padding may depend.  Raises ValueError for nodes that are not there, operations that are not known, and paths whose fields are
    not aligned.
    """
    if isinstance(graph_def, Graph):
        graph_def = graph_def.as_graph_def()
    input_name = input_node.op.name if isinstance(input_node, Tensor) else input_node
    output_name = output_node.op.name if isinstance(output_node, Tensor) else output_node
    infos, nodes = get_compute_order(graph_def, input_name, input_resolution)
    start = _Field(1, 1, 0)
    fields: dict[str, tuple[_Field, _Field]] = {output_name: (start, start)}
    found = undefined = False
    for info in sorted(infos.values(), key=lambda info: -info.order):
        name = info.node.name
        if name == input_name:
            break
        found = found or name == output_name
        if not found or name not in fields:
            continue
        kernel_x, kernel_y, stride_x, stride_y, padding_x, padding_y, _, _ = get_layer_params(info.node, nodes, info.input_size)
        undefined = undefined or padding_x is None or padding_y is None
        seen = (fields[name][0].before(kernel_x, stride_x, None if undefined else padding_x),
                fields[name][1].before(kernel_y, stride_y, None if undefined else padding_y))
        for source in info.node.input:
            if source.startswith("^") or any(source.startswith(stop) for stop in stop_propagation or []):
                continue
            fields[nodes[source].name] = _joined(fields.get(source), seen, undefined)
    if not found:
        raise ValueError("Output node was not found")
    if input_name not in fields:
        raise ValueError("Input node was not found")
    return ReceptiveField(*zip(*fields[input_name]))


def _joined(before: Any, seen: tuple, undefined: bool) -> tuple:
    """Of two paths the one with the greater field."""
    if before is None:
        return seen
    if not undefined:
        for one, other, direction in zip(before, seen, ("horizontal", "vertical")):
            if one.stride != other.stride:
                one.check_aligned(other, direction)
        for one, other, direction in zip(before, seen, ("horizontal", "vertical")):
            one.check_aligned(other, direction)
    return tuple(other if one.size < other.size else one for one, other in zip(before, seen))
