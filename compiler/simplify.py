"""simplify: rewrite rules on primitives, each with a name, a before and an after.

Rules that hold already as primitives are made stand in `making`.  Floating-point arithmetic is not reassociated, and no rule
changes a result in any bit (x + 0 is not x for x = -0).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitgraph.declare.prim import QUICK

from . import sizes
from .ir import Node, Value
from .primitives.elementwise import CAST, MAP
from .primitives.kind import Kind
from .primitives.products import MATMUL
from .primitives.rearrangements import SLICE
from .primitives.reductions import REDUCE
from .views import resolve

if TYPE_CHECKING:
    from .program import Program


def simplify(program: Program) -> None:
    """Applies the rules of RULES to every node, in order, then makes every view addressable."""
    replaced: dict[Value, Value] = {}
    wanted = set(program.outputs)
    rules = [rule for rule in RULES if program.options.uses(rule.__name__)]
    for node in program.nodes:
        node.inputs = [_final(v, replaced) for v in node.inputs]
        for rule in rules:
            result = rule(node)
            if result is not None and _may_stand_in(result, node.out in wanted):
                replaced[node.out] = result
                break
    program.results = {t: _final(v, replaced) for t, v in program.results.items()}
    program.outputs = [_final(v, replaced) for v in program.outputs]
    if program.options.uses("narrow_products"):
        _narrow_products(program)
    if program.options.uses("repeat_cheap"):
        _repeat_cheap(program)
    _copy_unaddressable(program)
    _drop_unused(program)


def _may_stand_in(value: Value, is_output: bool) -> bool:
    """A variable's buffer may not take the place of a value that was computed from it, since it changes; and a result
    needs a buffer of its own."""
    base = resolve(value)
    if base is None or base[0].node.kind.is_state:
        return False
    return not is_output or base[0] is value and not value.node.kind.is_leaf


def _final(value: Value, replaced: dict[Value, Value]) -> Value:
    while value in replaced:
        value = replaced[value]
    return value


def _scalar_constant(value: Value) -> Any:
    array = value.constant
    return array.item() if array is not None and array.dtype != object and array.size == 1 else None


def multiply_by_one(node: Node) -> Value | None:
    """x * 1 -> x        x / 1 -> x"""
    if node.kind is MAP and node.attrs["prim"] in ("mul", "div"):
        x, y = node.inputs
        if _scalar_constant(y) == 1 and x.rank == node.out.rank:
            return x
        if node.attrs["prim"] == "mul" and _scalar_constant(x) == 1 and y.rank == node.out.rank:
            return y
    return None


def select_constant(node: Node) -> Value | None:
    """select(True, a, b) -> a        select(False, a, b) -> b"""
    if node.kind is MAP and node.attrs["prim"] == "select":
        condition, a, b = node.inputs
        known = _scalar_constant(condition)
        if known is not None:
            chosen = a if known else b
            return chosen if chosen.rank == node.out.rank else None
    return None


def negate_twice(node: Node) -> Value | None:
    """-(-x) -> x"""
    if node.kind is MAP and node.attrs["prim"] == "neg":
        inner = node.inputs[0].node
        if inner.kind is MAP and inner.attrs["prim"] == "neg":
            return inner.inputs[0]
    return None


RULES = [multiply_by_one, select_constant, negate_twice]


def _narrow_products(program: Program) -> None:
    """slice(matmul(x, y)) -> matmul(slice of rows of x, slice of columns of y), where nothing else wants the product."""
    users, outputs = _user_counts(program), set(program.outputs)
    sliced = {node.inputs[0].node: node for node in program.nodes
              if node.kind is SLICE and node.inputs[0].node.kind is MATMUL and users[node.inputs[0]] == 1
              and node.inputs[0] not in outputs and all(step == 1 for step in node.attrs["strides"])}
    nodes: list[Node] = []
    for node in program.nodes:
        view = sliced.get(node)
        if view is not None:
            begin, shape = view.attrs["begin"], view.out.shape
            for k, flag in enumerate(("ta", "tb")):
                factor = node.inputs[k]
                axis = factor.rank - (1 if node.attrs[flag] == (k == 0) else 2)
                at, size = [*begin[:-2], 0, 0], [*shape[:-2], *factor.shape[-2:]]
                at[axis], size[axis] = begin[k - 2], shape[k - 2]
                node.inputs[k] = inserted(SLICE, [factor], factor, nodes, node, tuple(size), begin=tuple(at),
                                          strides=(1,) * factor.rank)
            node.out.shape, view.attrs["begin"] = shape, (0,) * len(shape)      # others may wait for this node
        nodes.append(node)
    program.nodes = nodes
    _give_without_copy(program, {view.out: product.out for product, view in sliced.items()}, users)


def _give_without_copy(program: Program, whole: dict[Value, Value], users: dict[Value, int]) -> None:
    """A result that is a copy of what a view shows is what is computed, where the view shows all of that (`whole`: {view: that})
    and nothing else looks."""
    given = {node.out: whole[node.inputs[0]] for node in program.nodes if node.kind is CAST and node.inputs[0] in whole
             and users[node.inputs[0]] == 1 and node.out.dtype == node.inputs[0].dtype}
    if not given:
        return
    for node in program.nodes:
        node.inputs = [given.get(v, v) for v in node.inputs]
    program.results = {t: given.get(v, v) for t, v in program.results.items()}
    program.outputs = [given.get(v, v) for v in program.outputs]


def _user_counts(program: Program) -> dict[Value, int]:
    users: dict[Value, int] = {}
    for node in program.nodes:
        for value in node.inputs:
            users[value] = users.get(value, 0) + 1
    return users


def _repeat_cheap(program: Program) -> None:
    """Gives every user of a cheap value its own: `x - mean`, with x in memory anyhow, is read and computed again for the
    price of reading it, and need not be written."""
    users = _user_counts(program)
    nodes: list[Node] = []
    outputs, taken = set(program.outputs), set()
    for node in program.nodes:
        for value in dict.fromkeys(node.inputs if node.kind in (MAP, CAST, REDUCE) else ()):
            if users[value] > 1 and value not in outputs and _is_cheap(value, program.target.tuning.large):
                if value in taken:
                    again = inserted(value.node.kind, value.node.inputs, value, nodes, node, **value.node.attrs)
                    node.inputs = [again if v is value else v for v in node.inputs]
                taken.add(value)
        nodes.append(node)
    program.nodes = nodes


def _is_cheap(value: Value, large_from: int) -> bool:
    """Whether a value is one quick operation on one tensor in memory (no variable) and much smaller ones."""
    node = value.node
    if node.kind is not MAP or node.attrs["prim"] not in QUICK:
        return False
    size = sizes.count(value.shape)
    large = [v for v in node.inputs if sizes.count(v.shape) * 16 > size]
    return size > large_from and len(large) == 1 and _source(large[0]).kind.is_stored and all(
        not _source(v).kind.is_state for v in node.inputs)


def _source(value: Value) -> Node:
    """What makes a value, seen through views."""
    while value.node.kind.is_view:
        value = value.node.inputs[0]
    return value.node


def inserted(kind: Kind, inputs: list[Value], like: Value, nodes: list[Node], user: Node, shape: sizes.Shape | None = None,
             **attrs: Any) -> Value:
    """The value of a new node that runs right before `user`.  Its shape and dtype are those of `like`, its shape `shape` if that
    is given."""
    builder = like.builder
    builder.op, builder.position = user.op, user.position
    node = builder.node(kind, inputs, [(like.shape if shape is None else shape, like.dtype)], alone=True, **attrs)
    builder.nodes.pop()
    nodes.append(node)
    return node.out


# Views -----------------------------------------------------------------------------------------------------------------
def _copy_unaddressable(program: Program) -> None:
    """Puts a copy where a view cannot be indexed with strides: a reshape of something that is not contiguous, a factor
    of a matrix product whose rows do not lie at regular steps, and where a variable is rearranged into itself."""
    nodes: list[Node] = []
    for node in program.nodes:
        for k, value in enumerate(node.inputs):
            if not node.kind.accepts(node, k):
                node.inputs[k] = _copied(value, nodes, node)
        nodes.append(node)
    program.nodes = nodes


def _copied(value: Value, nodes: list[Node], user: Node) -> Value:
    return inserted(CAST, [value], value, nodes, user)


def _drop_unused(program: Program) -> None:
    """Forgets nodes whose values were replaced, but keeps those that must run."""
    used = {v.node for n in program.nodes for v in n.inputs} | {v.node for v in program.results.values()}
    used |= {a for n in program.nodes for a in n.after}
    while True:
        kept = [n for n in program.nodes if n in used or n.kind.must_run(n)]
        if len(kept) == len(program.nodes):
            break
        program.nodes = kept
        used = {v.node for n in kept for v in n.inputs} | {v.node for v in program.results.values()}
        used |= {a for n in kept for a in n.after}


