"""``tf.cond``, ``tf.switch_case`` and ``smart_cond``: a choice between functions that build nodes."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.evaluated_constants import evaluated_constant
from jitgraph.control.functional_ops import make_branching
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.convert import convert_to_tensor, in_default_graph
from jitgraph.graph.counting import count_nodes, counted_as
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor


def cond(pred: Any, true_fn: Callable | None = None, false_fn: Callable | None = None, strict: bool = False,
         name: str | None = None, fn1: Callable | None = None, fn2: Callable | None = None) -> Any:
    """What `true_fn` returns if `pred` (a bool scalar) holds, else what `false_fn` returns.

    Both are called now, without arguments, to build the nodes of their branch; at run time only the branch that is
    taken is executed.  They return the same structure of tensors with the same dtypes: lists, tuples, dicts, composite
    tensors, TensorArrays.  A list of one result comes back as the result itself unless `strict`.  An operation stands
    for the value of `pred`, which is there when it is done.  `fn1` and `fn2` are older names of the functions.

    Raises TypeError if `pred` is a Python bool or a function is not callable; ValueError or TypeError if the branches
    return nothing, or different structures or dtypes.
    """
    true_fn, false_fn = _named(true_fn, fn1, "true_fn", "fn1"), _named(false_fn, fn2, "false_fn", "fn2")
    for function, what in ((true_fn, "true_fn"), (false_fn, "false_fn")):
        if not callable(function):
            raise TypeError(f"{what} must be callable.")
    if is_functional(get_default_graph()):
        return functional_cond(pred, true_fn, false_fn, name)
    with name_scope(name, "cond", [pred] if isinstance(pred, Tensor) else []):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        pred = _predicate(pred)
        count_nodes(4)          # Switch, switch_t, switch_f and pred_id
        branches = [Branch(function, what, strict) for function, what in ((true_fn, "true_fn"), (false_fn, "false_fn"))]
        return merged(pred, branches, "If", "Merge")


def is_functional(graph: Any) -> bool:
    """Whether TensorFlow 1.15 makes conditionals and loops in this graph as nodes that call functions: in those of datasets and
    ``tf.function``, and in the branches and loops there, but for ``Defun``."""
    return getattr(graph, "functional_control", False)


def functional_cond(pred: Any, true_fn: Callable, false_fn: Callable, name: str | None = "cond") -> Any:
    """As ``tf.cond`` with `strict`, as ``cond_v2`` of TensorFlow's inner modules: nodes of the branches count in functions of
    their own, as TensorFlow makes them there, so that random ops after it draw its numbers.  Raises what ``tf.cond`` does.
    """
    with name_scope(name, "cond", [pred] if isinstance(pred, Tensor) else []):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool", pred)
        pred = _predicate(pred)
        branches = [Branch(function, what, inline=False) for function, what in ((true_fn, "true_fn"), (false_fn, "false_fn"))]
        count_nodes(1)          # the node itself, beside the Identity of each output
        return merged(pred, branches, "If", "Identity")


def _named(function: Any, older: Any, name: str, older_name: str) -> Any:
    if older is not None:
        if function is not None:
            raise TypeError(f"cond(): {name} and {older_name} may not be set simultaneously.")
        return older
    if function is None:
        raise TypeError(f"cond(): {name} argument required")
    return function


def _predicate(pred: Any) -> Tensor:
    pred = in_default_graph(pred, name="pred")
    if pred.dtype.base_dtype is not dtypes.bool_:
        raise TypeError(f"Input 'pred' of 'Switch' Op has type {pred.dtype.base_dtype.name} that does not match expected "
                        f"type of bool. ({pred.name} chooses the branch of a tf.cond: compare it with something, or "
                        "tf.cast it to tf.bool.)")
    if pred._shape:
        raise ValueError(f"Shape must be rank 0 but is rank {len(pred._shape)} for the predicate {pred.name} of tf.cond, "
                         f"which has shape {pred.shape}: tf.reduce_all and tf.reduce_any make one bool of many.")
    return pred


class Branch:
    """One function of a ``cond``, called in a graph of its own: what it returned, and the tensors in that.  `inline`: whether its
    nodes stand in the graph around in TensorFlow 1.15."""

    def __init__(self, function: Callable, what: str, strict: bool = True, inline: bool = True):
        self.graph = FunctionGraph(what)
        if inline:
            self.graph.count_inline()
        else:
            self.graph.name_apart()
        self.graph.is_branch = True
        self.graph.orders_branches = self.graph.outer_graph.orders_branches
        self.what = what
        with self.graph.as_default():
            result = function()
            if result is None:
                raise ValueError(f"{what} must have a return value.")
            if not strict and isinstance(result, (list, tuple)) and len(result) == 1 and not hasattr(result, "_fields"):
                result = result[0]
            self.result = result
            self.leaves = nest.flatten(result)
            self.tensors = [[self._tensor(t) for t in parts] for parts in map(_parts_of_leaf, self.leaves)]
        self.graph.outputs = [t for parts in self.tensors for t in parts]

    def _tensor(self, value: Any) -> Tensor:
        if isinstance(value, Operation):
            with control_dependencies([value]), counted_as(1):
                return lookup("Identity").builder(convert_to_tensor(self.what != "false_fn"), name="done")
        tensor = convert_to_tensor(value)
        if tensor.dtype._is_ref_dtype:
            with counted_as(0):
                return lookup("Identity").builder(tensor)
        return self.graph.capture(tensor)


def _parts_of_leaf(leaf: Any) -> list:
    """The tensors that a result is made of."""
    flow = flow_of(leaf)
    return [flow] if flow is not None else nest.flatten(leaf, expand_composites=True)


def flow_of(leaf: Any) -> Tensor | None:
    from jitgraph.tensor_arrays.tensor_array import TensorArray

    return leaf.flow if isinstance(leaf, TensorArray) else None


def merged(index: Tensor, branches: list[Branch], name: str, result_name: str = "Identity") -> Any:
    """The results of branches as one structure of tensors of the present graph, which are called `result_name`."""
    first = branches[0]
    for other in branches[1:]:
        _widen_indices(first, other)
        _check_agreement(first, other)
    if not first.graph.outputs:
        names = " and ".join(branch.what for branch in branches)
        raise ValueError(f"{names} must return at least one result.")
    with counted_as(len(first.graph.outputs)):
        node = make_branching(index, [branch.graph for branch in branches], name)
        identity = lookup("Identity").builder
        outputs = iter([identity(tensor, name=result_name) for tensor in node.outputs[:len(first.graph.outputs)]])
    leaves = [_leaf_like(leaf, [next(outputs) for _ in parts]) for leaf, parts in zip(first.leaves, first.tensors)]
    return nest.pack_sequence_as(first.result, leaves) if nest.is_nested(first.result) else leaves[0]


def _leaf_like(leaf: Any, tensors: list) -> Any:
    if flow_of(leaf) is not None:
        from jitgraph.tensor_arrays.tensor_array import with_new_flow

        return with_new_flow(leaf, tensors[0])
    if nest.is_composite(leaf):
        return nest.pack_sequence_as(leaf, tensors, expand_composites=True)
    return tensors[0]


def _widen_indices(a: Branch, b: Branch) -> None:
    """Makes the indices of slices int64 in both branches where they are in one."""
    for x, y in zip(a.leaves, b.leaves):
        if isinstance(x, IndexedSlices) and isinstance(y, IndexedSlices) and x.indices.dtype != y.indices.dtype:
            for branch, slices in ((a, x), (b, y)):
                if slices.indices.dtype is dtypes.int32:
                    parts = branch.tensors[[leaf is slices for leaf in branch.leaves].index(True)]
                    with branch.graph.as_default():
                        parts[1] = lookup("Cast").builder(parts[1], DstT=dtypes.int64)
                    branch.graph.outputs = [t for parts in branch.tensors for t in parts]


def _check_agreement(a: Branch, b: Branch) -> None:
    nest.assert_same_structure(a.result, b.result, expand_composites=True)
    for x, y in zip(a.graph.outputs, b.graph.outputs):
        if x.dtype.base_dtype is not y.dtype.base_dtype:
            raise ValueError(f"Outputs of {a.what} and {b.what} must have the same type: {x.dtype.base_dtype.name}, "
                             f"{y.dtype.base_dtype.name}")


def switch_case(branch_index: Any, branch_fns: Any, default: Callable | None = None, name: str = "switch_case") -> Any:
    """What the function of number `branch_index` (an int32 scalar) returns.

    `branch_fns`: a list of functions, a dict from 0, 1, ... to functions, or a list of such pairs.  Numbers out of range
    take `default`, or the last function if there is none.  Raises TypeError or ValueError for other arguments.
    """
    functions = _indexed(branch_fns)
    if default is not None:
        if not callable(default):
            raise TypeError("default must be callable.")
        functions.append(default)
    with name_scope(name, "switch_case"), name_scope("indexed_case"):
        if not isinstance(branch_index, Tensor):
            raise TypeError(f"branch_index must be a Tensor, got {type(branch_index)}")
        index = convert_to_tensor(branch_index, name="branch_index")
        if not index.dtype.is_integer:
            raise TypeError(f"branch_index must be an integer Tensor, got {index.dtype}")
        if index.dtype.base_dtype is not dtypes.int32:
            index = lookup("Cast").builder(index, DstT=dtypes.int32)
        if len(functions) == 1:
            return functions[0]()
        branches = [Branch(function, f"branch {k}", inline=False) for k, function in enumerate(functions)]
        count_nodes(1)          # the node itself, beside the Identity of each output
        return merged(index, branches, "Case")


def _indexed(branch_fns: Any) -> list:
    if isinstance(branch_fns, dict):
        branch_fns = list(branch_fns.items())
    if not isinstance(branch_fns, (list, tuple)) or not branch_fns:
        raise TypeError("branch_fns must be a non-empty dict or list")
    if all(callable(function) for function in branch_fns):
        return list(branch_fns)
    if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], int) for pair in branch_fns):
        raise TypeError("Each entry in branch_fns must be a callable or a pair of an int and a callable")
    pairs = sorted(branch_fns, key=lambda pair: pair[0])
    if [key for key, _ in pairs] != list(range(len(pairs))):
        raise ValueError(f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found "
                         f"{{{', '.join(str(key) for key, _ in pairs)}}}")
    for key, function in pairs:
        if not callable(function):
            raise TypeError(f"fn for branch index {key} must be callable.")
    return [function for _, function in pairs]


# -- choices that may be made now --------------------------------------------------------------------------------------

def smart_constant_value(pred: Any) -> Any:
    """The value of a bool if it is known now: Python bools, 0 and 1, constants and what is computed of them (those of other
    dtypes as they are).  Raises TypeError for other types, variables among them: their ``read_value()`` is a tensor."""
    if isinstance(pred, Tensor):
        value = evaluated_constant(pred)
        return bool(value) if value is not None and pred.dtype.base_dtype == dtypes.bool_ else value
    if not hasattr(pred, "_as_graph_element") and pred in (0, 1):
        return bool(pred)
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}")


def smart_cond(pred: Any, true_fn: Callable | None = None, false_fn: Callable | None = None,
               name: str | None = None) -> Any:
    """As ``tf.cond``, but where `pred` is known now, just the call of one of the functions.  Raises TypeError for a variable."""
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn, false_fn, name=name)
    return true_fn() if known else false_fn()
