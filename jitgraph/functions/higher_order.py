"""``tf.map_fn``, ``tf.foldl``, ``tf.foldr``, ``tf.scan``: a function applied along the first axis, as a loop."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.while_loops import while_loop
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.shape import shape
from jitgraph.tensor_arrays.tensor_array import TensorArray
from jitgraph.variables.variable_scopes import get_variable_scope, variable_scope


class _Slices:
    """The tensors of a structure, cut along their first axes: what a loop reads slice by slice."""

    def __init__(self, elems: Any, asked_for: tuple = (None, 0)):
        """`asked_for`: the first sizes that TensorFlow asks the run for."""
        self.structure = elems
        self.variables = sum(hasattr(t, "handle") for t in nest.flatten(elems))     # resource variables among them
        self.flat = [convert_to_tensor(t, name="elem") for t in nest.flatten(elems)]
        if not self.flat:
            raise ValueError("elems must be a Tensor or a structure of at least one")
        for tensor in self.flat:
            if tensor._shape == ():
                raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar")
        length = TensorShape._of(self.flat[0]._shape)[0] if self.flat[0]._shape is not None else TensorShape([None])[0]
        for tensor in self.flat[1:]:
            if tensor._shape is not None:
                length = length.merge_with(TensorShape._of(tensor._shape)[0])
        self.length = length.value
        self.count: Any = self.length
        if self.count in asked_for:
            self.count = raw.StridedSlice(shape(self.flat[0]), [0], [1], [1], shrink_axis_mask=1)
        self.arrays = [TensorArray(t.dtype.base_dtype, self.count, infer_shape=True,
                                   element_shape=None if t._shape is None else t._shape[1:]).unstack(t)
                       for t in self.flat]

    def read(self, index: Any) -> Any:
        """The slices number `index`, in the structure."""
        return nest.pack_sequence_as(self.structure, [array.read(index) for array in self.arrays]) \
            if nest.is_nested(self.structure) else self.arrays[0].read(index)


class _Cached:
    """Variables made in the function are read where the loop starts, once."""

    def __init__(self, name: str | None, default: str, values: Any):
        self._scope = name_scope(name, default, [t for t in nest.flatten(values) if isinstance(t, Tensor)])

    def __enter__(self) -> None:
        self._scope.__enter__()
        self._variables = variable_scope(get_variable_scope(), auxiliary_name_scope=False)
        scope = self._variables.__enter__()
        self._changed = scope if scope.caching_device is None else None
        if self._changed is not None:
            scope.set_caching_device(lambda op: op.device)

    def __exit__(self, *exc: Any) -> None:
        if self._changed is not None:
            self._changed.set_caching_device(None)
        self._variables.__exit__(*exc)
        self._scope.__exit__(*exc)


def _packed(structure: Any, leaves: list) -> Any:
    return nest.pack_sequence_as(structure, leaves) if nest.is_nested(structure) else leaves[0]


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError("fn must be callable.")


def map_fn(fn: Callable, elems: Any, dtype: Any = None, parallel_iterations: int | None = None, back_prop: bool = True,
           swap_memory: bool = False, infer_shape: bool = True, name: str | None = None) -> Any:
    """`fn` applied to each slice of `elems` along the first axis, the results stacked.

    `elems`: a tensor or a structure of tensors with equal first sizes, of which `fn` gets the slices in the same
    structure.  `dtype`: the structure of dtypes that `fn` returns, where it is not that of `elems`.
    ``infer_shape=False`` allows results of different shapes until they are stacked.  Raises TypeError if `fn` is not
    callable, ValueError for scalars, first sizes that differ, and a result of another structure than `dtype`.
    """
    _check_callable(fn)
    with _Cached(name, "map", elems):
        slices = _Slices(elems)
        kinds = dtype or _packed(elems, [t.dtype.base_dtype for t in slices.flat])
        results = [TensorArray(as_dtype(kind), slices.count, infer_shape=infer_shape) for kind in nest.flatten(kinds)]

        def step(index: Tensor, arrays: list) -> tuple:
            values = fn(slices.read(index))
            nest.assert_same_structure(kinds, values)
            return index + 1, [array.write(index, value) for array, value in zip(arrays, nest.flatten(values))]

        _, results = while_loop(lambda index, _: index < slices.count, step, (0, results), None,
                                parallel_iterations or 10, back_prop, swap_memory,
                                maximum_iterations=slices.count, return_same_structure=True)
        return _packed(kinds, [_stacked(array, slices) for array in results])


def _stacked(array: TensorArray, slices: _Slices) -> Tensor:
    """The results along a first axis; its size is that of the slices."""
    value = array.stack()
    if value._shape is not None:
        value._shape = (slices.length, *value._shape[1:])
    return value


def _initial(initializer: Any, slices: _Slices, index: Any) -> tuple:
    """(the structure of the accumulator, its first value as a flat list, the number of slices used up for it)."""
    if initializer is None:
        return slices.structure, [array.read(index) for array in slices.arrays], 1
    return initializer, [convert_to_tensor(t) for t in nest.flatten(initializer)], 0


def foldl(fn: Callable, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
          swap_memory: bool = False, name: str | None = None) -> Any:
    """``fn(... fn(fn(initializer, elems[0]), elems[1]) ...)``; without `initializer` it starts with ``elems[0]``.

    `elems` and the accumulator may be structures of tensors.  Raises TypeError if `fn` is not callable.
    """
    _check_callable(fn)
    with _Cached(name, "foldl", elems):
        slices = _Slices(elems)
        count_nodes(2 * slices.variables)           # TensorFlow reads them three times
        structure, first, used = _initial(initializer, slices, 0)

        def step(index: Tensor, values: list) -> tuple:
            result = fn(_packed(structure, list(values)), slices.read(index))
            nest.assert_same_structure(structure, result)
            return index + 1, [convert_to_tensor(t) for t in nest.flatten(result)]

        _, values = while_loop(lambda index, _: index < slices.count, step, (used, first), None, parallel_iterations,
                               back_prop, swap_memory, maximum_iterations=slices.count, return_same_structure=True)
        return _packed(structure, values)


def foldr(fn: Callable, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
          swap_memory: bool = False, name: str | None = None) -> Any:
    """As ``foldl``, from the last slice to the first."""
    _check_callable(fn)
    with _Cached(name, "foldr", elems):
        slices = _Slices(elems)
        count_nodes(2 * slices.variables)
        last = slices.count - 1 if initializer is None else slices.count
        structure, first, _ = _initial(initializer, slices, last)

        def step(index: Tensor, values: list) -> tuple:
            index = index - 1
            result = fn(_packed(structure, list(values)), slices.read(index))
            nest.assert_same_structure(structure, result)
            return index, [convert_to_tensor(t) for t in nest.flatten(result)]

        _, values = while_loop(lambda index, _: index > 0, step, (last, first), None, parallel_iterations,
                               back_prop, swap_memory, maximum_iterations=slices.count, return_same_structure=True)
        return _packed(structure, values)


def scan(fn: Callable, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
         swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False, name: str | None = None) -> Any:
    """All values that the accumulator of ``foldl`` takes, stacked: as many as there are slices.

    `reverse` goes from the last slice to the first; the results stand at the places of their slices.
    """
    _check_callable(fn)
    with _Cached(name, "scan", elems):
        slices = _Slices(elems, asked_for=(None,))
        count = slices.count
        begin = count - 1 if reverse and initializer is None else 0
        structure, first, used = _initial(initializer, slices, begin)
        arrays = [TensorArray(t.dtype.base_dtype, count, dynamic_size=False, infer_shape=infer_shape,
                              element_shape=t._shape if infer_shape else None) for t in first]
        if used:
            arrays = [array.write(count - 1 if reverse else 0, t) for array, t in zip(arrays, first)]

        def step(index: Tensor, values: list, arrays: list) -> tuple:
            result = fn(_packed(structure, list(values)), slices.read(index))
            nest.assert_same_structure(structure, result)
            flat = [convert_to_tensor(t) for t in nest.flatten(result)]
            arrays = [array.write(index, t) for array, t in zip(arrays, flat)]
            return (index - 1 if reverse else index + 1), flat, arrays

        start = count - 1 - used if reverse else used

        def goes_on(index: Tensor, *_: Any) -> Tensor:
            return index >= 0 if reverse else index < count

        _, _, arrays = while_loop(goes_on, step, (start, first, arrays), None, parallel_iterations, back_prop,
                                  swap_memory, maximum_iterations=count, return_same_structure=True)
        return _packed(structure, [_stacked(array, slices) for array in arrays])
