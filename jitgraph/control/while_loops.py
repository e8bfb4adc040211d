"""``tf.while_loop``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.conditionals import is_functional
from jitgraph.control.functional_ops import make_while
from jitgraph.graph import dtypes, shapes
from jitgraph.graph import structures as nest
from jitgraph.graph.composite import CompositeTensor, IndexedSlices, SparseTensor
from jitgraph.graph.convert import convert_to_tensor, in_default_graph
from jitgraph.graph.counting import count_nodes, counted_as
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.function_graph import FunctionGraph, notes
from jitgraph.graph.registry import lookup
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import TypeSpec
from jitgraph.tensor_arrays.tensor_array import TensorArray, with_new_flow


def while_loop(cond: Callable, body: Callable, loop_vars: Any, shape_invariants: Any = None,
               parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
               maximum_iterations: Any = None, return_same_structure: bool = False) -> Any:
    """Repeats `body` as long as `cond` holds; returns the loop variables after that.

    `loop_vars`: a list or tuple of tensors, TensorArrays, composite tensors and nested structures of them.  `cond` and
    `body` are called once, now, with them as arguments; `cond` returns a bool scalar, `body` the next values in the
    same structure, with the same dtypes.  A variable whose shape changes from one iteration to the next needs an entry
    in `shape_invariants` (the structure of `loop_vars`, of TensorShapes) that leaves the changing sizes open.
    `maximum_iterations` ends the loop in any case.  Gradients flow through the loop unless `back_prop` is false.  One
    variable comes back as itself unless `return_same_structure`.  `parallel_iterations` and `swap_memory` are kept
    for compatibility.

    Raises TypeError or ValueError for functions that are not callable, and for a body that returns another structure,
    other dtypes, or shapes that the invariants do not allow.
    """
    if not callable(cond):
        raise TypeError("cond must be callable.")
    if not callable(body):
        raise TypeError("body must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    if not nest.is_nested(loop_vars):
        raise TypeError(f"loop_vars must be a list or tuple of tensors, not {loop_vars!r}: write [x] for one variable")
    if loop_vars and is_functional(get_default_graph()):
        return functional_while_loop(cond, body, loop_vars, shape_invariants, parallel_iterations, maximum_iterations, name,
                                     return_same_structure, back_prop)
    with name_scope(name, "while", nest.flatten(loop_vars)):
        if not loop_vars:
            raise ValueError("No loop variables provided")
        if maximum_iterations is not None:
            cond, body, loop_vars, shape_invariants = _counted(cond, body, loop_vars, shape_invariants,
                                                               maximum_iterations)
        loop = _Loop(loop_vars, shape_invariants)
        loop.build(cond, body)
        results = loop.make(parallel_iterations, back_prop)
        if maximum_iterations is not None:
            results = results[1]
            return results[0] if len(nest.flatten(results)) == 1 and not return_same_structure else results
    single = len(nest.flatten(results)) == 1 and not return_same_structure
    return results[0] if single else results


def functional_while_loop(cond: Callable, body: Callable, loop_vars: Any, shape_invariants: Any = None,
                          parallel_iterations: int = 10, maximum_iterations: Any = None, name: str | None = None,
                          return_same_structure: bool = True, back_prop: bool = True) -> Any:
    """As ``tf.while_loop``, as ``while_v2`` of TensorFlow's inner modules: nodes of the loop count in functions of their own, as
    TensorFlow makes them there, so that random ops after it draw its numbers.  Raises what ``tf.while_loop`` does."""
    if not nest.is_nested(loop_vars):
        loop_vars = [loop_vars]
    with name_scope(name, "while", nest.flatten(loop_vars)):
        loop_vars = nest.map_structure(_leaf, loop_vars)
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(maximum_iterations, name="maximum_iterations")
        else:
            count_nodes(1)                          # TensorFlow has a maximum of -1 there
        count = len(nest.flatten(loop_vars, expand_composites=True))
        around: Any = get_default_graph()
        known = len(getattr(around, "captures", ()))
        with counted_as(0):
            if maximum_iterations is not None:
                cond, body, loop_vars, shape_invariants = _counted(cond, _as_given(body, loop_vars), loop_vars, shape_invariants,
                                                                   maximum_iterations, following_nodes=0)
            loop = _Loop(loop_vars, shape_invariants)
            loop.build(cond, body, placeholders=2 + count, limit=maximum_iterations)    # of the counter and its maximum, too
            results = loop.make(parallel_iterations, back_prop=True)    # gradients flow in TensorFlow too, whatever is said
        captured = len((set(loop.cond.captures) | set(loop.body.captures)) - {maximum_iterations})
        count_nodes(1 + 1 + 2 + count + captured)   # the counter, the node, and an Identity of each output
        if is_functional(around):
            count_nodes(len(around.captures) - known)           # a Placeholder of what the functions take from further out
    if maximum_iterations is not None:
        results = results[1]
    return results[0] if len(nest.flatten(results)) == 1 and not return_same_structure else results


def _as_given(body: Callable, loop_vars: Any) -> Callable:
    """The body, which may return its variables in a list where they were given in a tuple, or the other way round."""

    def wrapped(*values: Any) -> Any:
        result = body(*values)
        same = type(result) is not type(loop_vars) and {type(result), type(loop_vars)} <= {list, tuple}
        return type(loop_vars)(result) if same else result

    return wrapped


def _counted(cond: Callable, body: Callable, loop_vars: Any, shape_invariants: Any, maximum_iterations: Any,
             following_nodes: int = 2) -> tuple:
    """The loop with a counter before its variables, whose next value counts as `following_nodes` before the body's nodes."""
    limit = convert_to_tensor(maximum_iterations, name="maximum_iterations")
    if limit._shape:
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {limit.shape}")
    less, both, add = (lookup(kind).builder for kind in ("Less", "LogicalAnd", "AddV2"))
    counter = convert_to_tensor(0, limit.dtype.base_dtype, name="iteration_counter")

    def counted_body(count: Tensor, values: Any) -> tuple:
        with counted_as(following_nodes):
            following = add(count, convert_to_tensor(1, count.dtype))
        result = body(*values)
        return following, result if nest.is_nested(result) else [result]

    if shape_invariants is not None:
        shape_invariants = (TensorShape([]), shape_invariants)
    return (lambda count, values: both(less(count, limit), cond(*values)), counted_body, (counter, loop_vars),
            shape_invariants)


class _Loop:
    """The variables of one loop, flat: their first values, the shapes they keep, and the graphs of the functions."""

    def __init__(self, loop_vars: Any, shape_invariants: Any):
        self.structure = nest.map_structure(_leaf, loop_vars)
        self.leaves = nest.flatten(self.structure)
        self.first = [in_default_graph(t) for leaf in self.leaves for t in _tensors_of(leaf)]
        self.shapes = [shape for leaf in self.leaves for shape in _own_invariants(leaf)]
        self.stated = shape_invariants is not None
        if shape_invariants is not None:
            self._take_invariants(loop_vars, shape_invariants)

    def _take_invariants(self, loop_vars: Any, shape_invariants: Any) -> None:
        opened = nest.map_structure(lambda _: 0, loop_vars)
        given = nest.map_structure(lambda _: 0, nest.map_structure(_Shape, shape_invariants))
        if _skeleton(opened) != _skeleton(given):
            nest.assert_same_structure(loop_vars, shape_invariants)
            raise ValueError(f"shape_invariants must have the structure of loop_vars: {shape_invariants} for {loop_vars}")
        flat = [shape.value for shape in nest.flatten(nest.map_structure(_Shape, shape_invariants))]
        wanted = [s for leaf, shape in zip(self.leaves, flat) for s in _invariants_of(leaf, shape)]
        for k, (tensor, shape) in enumerate(zip(self.first, wanted)):
            if not _at_most(shape, tensor._shape):
                raise ValueError(f"The shape invariant specified for {tensor.name} is not compatible with the initial "
                                 f"shape of the loop variable. It enters the loop with shape {tensor.shape}, but the "
                                 f"specified shape invariant is {TensorShape._of(shape)}.")
            self.shapes[k] = shape

    def _arguments(self, graph: FunctionGraph) -> list:
        tensors = iter([graph.add_input(t.dtype, s, _scoped(graph, "Identity"))
                        for t, s in zip(self.first, self.shapes)])
        leaves = [_leaf_of(leaf, [next(tensors) for _ in _tensors_of(leaf)]) for leaf in self.leaves]
        return nest.pack_sequence_as(self.structure, leaves)

    def build(self, cond: Callable, body: Callable, placeholders: int | None = None, limit: Tensor | None = None) -> None:
        """Calls the functions, each in a graph of its own.  `placeholders`: how many arguments TensorFlow gives them, of which
        `limit` is one; None if it makes their nodes in the graph around."""
        self.cond, self.body = FunctionGraph("cond"), FunctionGraph("body")
        if placeholders is None:
            self.cond.count_inline()
            self.body.count_inline(self.cond)
        else:
            self.cond.name_apart()
            self.body.name_apart()
            if limit is not None:
                self.cond.counted_captures.add(limit)
        count = len(self.first)
        with self.cond.as_default():
            with counted_as(2 * count if placeholders is None else placeholders):           # an Enter and a Merge each
                arguments = self._arguments(self.cond)
            holds = convert_to_tensor(cond(*_positional(arguments)))
            self.cond.outputs = [_checked_condition(self.cond.capture(holds))]
        with self.body.as_default():
            with counted_as(1 + 2 * count if placeholders is None else placeholders):       # LoopCond, a Switch, an Identity each
                arguments = self._arguments(self.body)
            if placeholders is not None:            # the body takes what the condition does, before all else
                self.body.counted_captures |= set(self.cond.captures)
                count_nodes(len(set(self.cond.captures) - {limit}))
            result = body(*_positional(arguments))
            if not nest.is_nested(result):
                result = [result]
            self.result = nest.map_structure(_leaf, result)
            nest.assert_same_structure(list(_positional(arguments)), list(_positional(self.result)),
                                       expand_composites=True)
            following = [self.body.capture(_plain(t)) for leaf in nest.flatten(self.result) for t in _tensors_of(leaf)]
            self.body.outputs = [self._checked(k, t) for k, t in enumerate(following)]

    def _checked(self, k: int, following: Tensor) -> Tensor:
        entering = self.body.inputs[k]
        count_nodes(1)                              # a NextIteration
        if following.dtype.base_dtype is not entering.dtype:
            raise TypeError(f"Loop variable {k} ({self.first[k].name}) enters the loop with dtype {entering.dtype.name}, "
                            f"but the body returns {following.dtype.base_dtype.name} ({following.name}) for it: tf.cast "
                            "the one or the other.")
        if not _at_most(self.shapes[k], following._shape):
            raise ValueError(f"Input tensor '{self.first[k].name}' enters the loop with shape "
                             f"{TensorShape._of(self.shapes[k])}, but has shape {following.shape} after one iteration. To "
                             "allow the shape to vary across iterations, use the `shape_invariants` argument of "
                             "tf.while_loop to specify a less-specific shape.")
        return following

    def make(self, parallel_iterations: int, back_prop: bool) -> Any:
        """The node, and its results in the structure of what the body returned."""
        with counted_as(len(self.first)):           # an Exit each
            node = make_while(self.first, self.cond, self.body, "While", parallel_iterations)
            notes(node).back_prop = back_prop
            identity = lookup("Identity").builder
            tensors = iter([identity(t, name="Exit") for t in node.outputs[:len(self.first)]])
        leaves = [_leaf_of(leaf, [next(tensors) for _ in _tensors_of(leaf)]) for leaf in nest.flatten(self.result)]
        return nest.pack_sequence_as(self.result, leaves)


def _scoped(graph: FunctionGraph, name: str) -> str:
    scope = graph._names.scope
    return f"{scope}/{name}" if scope else name


def _positional(packed: Any) -> Any:
    return [packed[key] for key in packed] if isinstance(packed, dict) else packed


def _leaf(value: Any) -> Any:
    """A loop variable as a tensor, a composite tensor or a TensorArray."""
    if isinstance(value, TensorArray) or nest.is_composite(value):
        return value
    if value is None:
        raise ValueError("None values not supported.")
    return _plain(convert_to_tensor(value))


def _plain(tensor: Tensor) -> Tensor:
    return lookup("Identity").builder(tensor) if tensor.dtype._is_ref_dtype else tensor


def _tensors_of(leaf: Any) -> list:
    return [leaf.flow] if isinstance(leaf, TensorArray) else nest.flatten(leaf, expand_composites=True)


def _leaf_of(leaf: Any, tensors: list) -> Any:
    if isinstance(leaf, TensorArray):
        return with_new_flow(leaf, tensors[0])
    if isinstance(leaf, Tensor):
        return tensors[0]
    return nest.pack_sequence_as(leaf, tensors, expand_composites=True)


def _checked_condition(holds: Tensor) -> Tensor:
    if holds.dtype.base_dtype is not dtypes.bool_:
        raise TypeError(f"Input 'input' of 'LoopCond' Op has type {holds.dtype.base_dtype.name} that does not match "
                        f"expected type of bool: the condition of a tf.while_loop returned {holds.name}.")
    if holds._shape:
        raise ValueError(f"Shape must be rank 0 but is rank {len(holds._shape)} for the condition of a tf.while_loop "
                         f"(op: 'LoopCond'), which returned {holds.name} with shape {holds.shape}.")
    return holds


# -- shapes ------------------------------------------------------------------------------------------------------------

class _Shape:
    """A shape, or that of a TypeSpec, as a leaf of a structure."""

    def __init__(self, value: Any):
        given = getattr(value, "_shape", None) if isinstance(value, TypeSpec) else value
        self.value = None if given is None else shapes.raw_shape(given)


def _skeleton(structure: Any) -> Any:
    """What two structures have in common if only the kinds of their sequences differ."""
    if isinstance(structure, dict):
        return {key: _skeleton(value) for key, value in structure.items()}
    return [_skeleton(part) for part in structure] if isinstance(structure, (list, tuple)) else None


def _invariants_of(leaf: Any, shape: Any) -> list:
    """The shapes of the tensors that a leaf is made of, if the leaf keeps `shape`."""
    if isinstance(leaf, TensorArray):
        return [()]
    if isinstance(leaf, SparseTensor):
        rank = None if shape is None else len(shape)
        return [(None, rank), (None,), (rank,)]
    if isinstance(leaf, IndexedSlices):
        if shape is None:
            return [None, (None,), (None,)][:len(_tensors_of(leaf))]
        return [shape, (shape[0],), (len(shape),)][:len(_tensors_of(leaf))]
    return leaf._shapes_of_parts(shape) if isinstance(leaf, CompositeTensor) else [shape]


def _own_invariants(leaf: Any) -> list:
    """The shapes that the tensors of a leaf keep if nothing is said: those of its kind and shape.  How many elements a sparse
    or ragged tensor has is open."""
    if nest.is_composite(leaf) and not isinstance(leaf, IndexedSlices):
        return _invariants_of(leaf, leaf.shape._raw)
    return [tensor._shape for tensor in _tensors_of(leaf)]


def _at_most(general: Any, special: Any) -> bool:
    """Whether every value of shape `special` has shape `general`."""
    if general is None:
        return True
    return special is not None and len(special) == len(general) and all(
        g is None or g == s for g, s in zip(general, special))
