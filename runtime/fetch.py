"""Fetch structures: lists, tuples, named tuples, dicts, attrs-like objects of tensors, operations, names, variables,
sparse tensors; the result mirrors the structure, with ndarrays for tensors and None for operations."""
from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.graph.composite import CompositeTensor, IndexedSlices, IndexedSlicesValue, SparseTensor, SparseTensorValue
from jitgraph.graph.dtypes import QUANTIZED_DTYPES, variant
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.session_conversions import conversion_of
from jitgraph.graph.tensor import Tensor
from jitgraph.resources.session_handles import TensorHandle
from jitgraph.tensor_arrays.tensor_array_values import Elements

Build = Callable[[list[Any]], Any]      # (values of the tensors) -> the structure

KEYS = (str, int, bool, bytes)      # types of keys of which two are the same if they are equal


class Fetches:
    """A structure taken apart: `tensors` and `targets` (each once), and `build(values)` to put it together again."""

    def __init__(self, graph: Graph, structure: Any, session: Any = None) -> None:
        self.graph, self.session = graph, session
        self.tensors: list[Tensor] = []
        self.targets: list[Operation] = []
        self._places: dict[Tensor, int] = {}
        self.build = self._take(structure)

    def _take(self, item: Any) -> Build:
        if item is None:
            raise TypeError("Fetch argument None has invalid type <class 'NoneType'>")
        if isinstance(item, (list, tuple)):
            return self._sequence(item)
        if isinstance(item, dict) or hasattr(item, "keys") and hasattr(item, "__getitem__"):
            return self._mapping(item)
        conversion = conversion_of(item)
        if conversion is not None:
            tensors, contract = conversion.fetch(item)
            of_tensors = self._sequence(list(tensors))
            return lambda values: contract(of_tensors(values))
        if isinstance(item, SparseTensor):
            parts = self._sequence((item.indices, item.values, item.dense_shape))
            return lambda values: SparseTensorValue(*parts(values))
        if isinstance(item, CompositeTensor):
            parts = self._sequence(item._parts())
            return lambda values: item._value(parts(values))
        if isinstance(item, IndexedSlices):
            parts = self._sequence(tuple(x for x in (item.values, item.indices, item.dense_shape) if x is not None))
            return lambda values: IndexedSlicesValue(*(*parts(values), None)[:3])
        return self._leaf(item)

    def _sequence(self, items: Any) -> Build:
        builders = [self._take(x) for x in items]
        if isinstance(items, tuple) and hasattr(items, "_fields"):
            named = type(items)
            return lambda values: named(*[b(values) for b in builders])
        kind = list if isinstance(items, list) else tuple
        return lambda values: kind([b(values) for b in builders])

    def _mapping(self, items: Any) -> Build:
        builders = [(k, self._take(items[k])) for k in items]
        kind = type(items)

        def build(values: list[Any]) -> Any:
            pairs = [(k, b(values)) for k, b in builders]
            try:
                result = kind()
                result.update(pairs)
            except (TypeError, AttributeError):
                return dict(pairs)
            return result
        return build

    def _leaf(self, item: Any) -> Build:
        try:
            element = self.graph.as_graph_element(item, allow_tensor=True, allow_operation=True)
        except TypeError as error:
            raise TypeError(f"Fetch argument {item!r} has invalid type {type(item)}, must be a string or Tensor. "
                            f"({error})") from None
        except ValueError as error:
            raise ValueError(f"Fetch argument {item!r} cannot be interpreted as a Tensor. ({error})") from None
        except KeyError as error:
            raise ValueError(f"Fetch argument {item!r} cannot be interpreted as a Tensor. ({error})") from None
        if not self.graph.is_fetchable(element):
            raise ValueError(f"Operation {element.name} has been marked as not fetchable.")
        if isinstance(element, Operation):
            if element not in self.targets:
                self.targets.append(element)
            return lambda values: None
        place = self._places.setdefault(element, len(self.tensors))
        if place == len(self.tensors):
            self.tensors.append(element)
        if element.op.type in ("GetSessionHandle", "GetSessionHandleV2"):
            dtype, session = element.op.inputs[0].dtype.base_dtype, weakref.ref(self.session)   # whose plans keep this
            return lambda values: TensorHandle(values[place], dtype, session())
        if element.dtype is variant:
            return lambda values: _number(values[place])
        if element.dtype.base_dtype in QUANTIZED_DTYPES:
            return lambda values: _plain_integers(values[place])
        return lambda values: values[place]


def _number(value: Any) -> Any:
    """0 for the flow of a TensorArray, which TensorFlow shows as a number and which here holds the elements."""
    return np.float32(0.0) if isinstance(value, Elements) else value


def _plain_integers(value: Any) -> Any:
    """Of quantized numbers, whose arrays have one field, the numbers, as TensorFlow gives them."""
    field, = value.dtype.names or (None,)
    return value if field is None else value[field]


def flat_key(structure: Any) -> Any:
    """A cheap hashable key for a fetch argument, or None where it must be taken apart every time."""
    kind = type(structure)
    if kind is list or kind is tuple:
        parts = []
        for x in structure:
            part = flat_key(x)
            if part is None:
                return None
            parts.append(part)
        return (kind, tuple(parts))
    if kind is dict:
        parts = []
        for k, x in structure.items():
            part = flat_key(x)
            if part is None or type(k) not in KEYS:
                return None
            parts.append((k, type(k), part))
        return (kind, tuple(parts))
    if kind is Tensor or kind is Operation or kind is str:
        return structure
    if conversion_of(structure) is not None:
        return None
    if hasattr(structure, "_as_graph_element") and type(structure).__hash__ is not None:
        return structure._as_graph_element()
    return None
