"""simplify: rewrite rules on primitives, each with a name, a before and an after.

Common subexpressions need no rule: the Builder never makes them.  Floating-point arithmetic is not reassociated, and no
rule changes a result in any bit (x + 0 is not x for x = -0).
"""
from __future__ import annotations

from . import sizes
from .ir import LARGE, VIEWS, Node, Value
from .views import is_contiguous, resolve, unit_reshape

QUICK = ("add", "sub", "mul", "max", "min", "neg")      # operations that cost less than writing their result
MADE_ALONE = ("input", "const", "matmul", "conv", "conv_input", "winograd", "host")     # what lies in memory in any case


def simplify(program):
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
    if base is None or base[0].node.kind in ("read", "write"):
        return False
    return not is_output or (base[0] is value and value.node.kind not in ("input", "const", "size", "iota"))


def _final(value, replaced):
    while value in replaced:
        value = replaced[value]
    return value


def _scalar_constant(value: Value):
    array = value.constant
    return array.item() if array is not None and array.dtype != object and array.size == 1 else None


def multiply_by_one(node: Node):
    """x * 1 -> x        x / 1 -> x"""
    if node.kind == "map" and node.attrs["prim"] in ("mul", "div"):
        x, y = node.inputs
        if _scalar_constant(y) == 1 and x.rank == node.out.rank:
            return x
        if node.attrs["prim"] == "mul" and _scalar_constant(x) == 1 and y.rank == node.out.rank:
            return y
    return None


def select_constant(node: Node):
    """select(True, a, b) -> a        select(False, a, b) -> b"""
    if node.kind == "map" and node.attrs["prim"] == "select":
        condition, a, b = node.inputs
        known = _scalar_constant(condition)
        if known is not None:
            chosen = a if known else b
            return chosen if chosen.rank == node.out.rank else None
    return None


def negate_twice(node: Node):
    """-(-x) -> x"""
    if node.kind == "map" and node.attrs["prim"] == "neg":
        inner = node.inputs[0].node
        if inner.kind == "map" and inner.attrs["prim"] == "neg":
            return inner.inputs[0]
    return None


RULES = [multiply_by_one, select_constant, negate_twice]


def _narrow_products(program):
    """slice(matmul(x, y)) -> matmul(slice of rows of x, slice of columns of y), where nothing else wants the product."""
    users, outputs = _user_counts(program), set(program.outputs)
    sliced = {node.inputs[0].node: node for node in program.nodes
              if node.kind == "slice" and node.inputs[0].node.kind == "matmul" and users[node.inputs[0]] == 1
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
                node.inputs[k] = inserted("slice", [factor], factor, nodes, node, tuple(size), begin=tuple(at),
                                          strides=(1,) * factor.rank)
            node.out.shape, view.attrs["begin"] = shape, (0,) * len(shape)      # others may wait for this node
        nodes.append(node)
    program.nodes = nodes


def _user_counts(program) -> dict[Value, int]:
    users: dict[Value, int] = {}
    for node in program.nodes:
        for value in node.inputs:
            users[value] = users.get(value, 0) + 1
    return users


def _repeat_cheap(program):
    """Gives every user of a cheap value its own: `x - mean`, with x in memory anyhow, is read and computed again for the
    price of reading it, and need not be written."""
    users = _user_counts(program)
    outputs, nodes, taken = set(program.outputs), [], set()
    for node in program.nodes:
        for value in dict.fromkeys(node.inputs if node.kind in ("map", "cast", "reduce") else ()):
            if users[value] > 1 and value not in outputs and _is_cheap(value):
                if value in taken:
                    again = inserted(value.node.kind, value.node.inputs, value, nodes, node, **value.node.attrs)
                    node.inputs = [again if v is value else v for v in node.inputs]
                taken.add(value)
        nodes.append(node)
    program.nodes = nodes


def _is_cheap(value: Value) -> bool:
    """Whether a value is one quick operation on one tensor in memory (no variable) and much smaller ones."""
    node = value.node
    if node.kind != "map" or node.attrs["prim"] not in QUICK:
        return False
    size = sizes.count(value.shape)
    large = [v for v in node.inputs if sizes.count(v.shape) * 16 > size]
    return size > LARGE and len(large) == 1 and _source(large[0]).kind in MADE_ALONE and all(
        _source(v).kind not in ("read", "write") for v in node.inputs)


def _source(value: Value) -> Node:
    """What makes a value, seen through views."""
    while value.node.kind in VIEWS:
        value = value.node.inputs[0]
    return value.node


def inserted(kind: str, inputs: list[Value], like: Value, nodes, user: Node, shape: tuple | None = None, **attrs) -> Value:
    """The value of a new node, in the shape and dtype of `like` unless `shape` says otherwise, that runs right before
    `user`."""
    builder = like.builder
    builder.op, builder.position = user.op, user.position
    node = builder.node(kind, inputs, [(like.shape if shape is None else shape, like.dtype)], alone=True, **attrs)
    builder.nodes.pop()
    nodes.append(node)
    return node.out


# kernels that index without strides
TAKES_PLAIN = ("scatter", "update", "bounds", "scan", "top_k", "uniform", "normal", "conv", "conv_input", "conv_filter", "winograd",
               "winograd_weights", "winograd_filter", "pool", "pool_grad", "depthwise", "depthwise_input", "depthwise_filter")


# Views -----------------------------------------------------------------------------------------------------------------
def _copy_unaddressable(program):
    """Puts a copy where a view cannot be indexed with strides: a reshape of something that is not contiguous, a factor
    of a matrix product that BLAS cannot step through, and where a variable is rearranged into itself."""
    nodes: list[Node] = []
    for node in program.nodes:
        for k, value in enumerate(node.inputs):
            if node.kind == "reshape" and unit_reshape(value.shape, node.out.shape) is None:
                found = resolve(value)
                if found is None or not is_contiguous(value.shape, found[1]) or found[0].node.kind == "iota":
                    node.inputs[k] = _copied(value, nodes, node)
            elif node.kind == "matmul" and blas_view(value) is None:
                node.inputs[k] = _copied(value, nodes, node)
            elif node.kind == "gather" and k == 0 and resolve(value)[0].node.kind == "iota":
                node.inputs[k] = _copied(value, nodes, node)
            elif node.kind == "write" and _rearranges(value, node.attrs["variable"]):
                node.inputs[k] = _copied(value, nodes, node)
            elif node.kind in TAKES_PLAIN and not _is_plain(value):
                node.inputs[k] = _copied(value, nodes, node)
            elif node.kind == "host" and resolve(value)[0].node.kind == "iota":
                node.inputs[k] = _copied(value, nodes, node)
        nodes.append(node)
    program.nodes = nodes


def _is_plain(value: Value) -> bool:
    """Whether a value's elements lie one after the other from the start of a buffer."""
    base, strides, offset = resolve(value)
    return base.node.kind != "iota" and is_contiguous(value.shape, strides) and sizes.same(offset, 0)


def _rearranges(value: Value, variable) -> bool:
    """Whether a value is another view of the variable that it is to be written into (reversed, transposed ...)."""
    base, strides, offset = resolve(value)
    return base.node.kind in ("read", "write") and base.node.attrs["variable"] is variable and not (
        is_contiguous(value.shape, strides) and sizes.same(offset, 0))


def _copied(value: Value, nodes, user: Node) -> Value:
    return inserted("cast", [value], value, nodes, user)


def blas_view(value: Value):
    """(base, offset, batch stride, row stride, transposed) of a matrix (or batch of them) as BLAS takes it, or None."""
    base, strides, offset = resolve(value)
    if base.node.kind == "iota":
        return None
    rows, columns = strides[-2:]
    m, n = value.shape[-2:]
    batch = sizes.product(value.shape[:-2])
    stride = 0
    if not sizes.same(batch, 1):
        dims = [(d, s) for d, s in zip(value.shape[:-2], strides[:-2]) if not sizes.same(d, 1)]
        for (_, s), (d2, s2) in zip(dims, dims[1:]):
            if not sizes.same(s, s2 * d2):
                return None
        stride = dims[-1][1]
    if sizes.same(columns, 1) or sizes.same(n, 1):
        if sizes.hint_of(rows) >= sizes.hint_of(n) or sizes.same(m, 1):
            return base, offset, stride, rows if not sizes.same(m, 1) else n, False
    if sizes.same(rows, 1) and sizes.hint_of(columns) >= sizes.hint_of(m):
        return base, offset, stride, columns, True
    return None


def _drop_unused(program):
    """Forgets nodes whose values were replaced, but keeps effects."""
    used = {v.node for n in program.nodes for v in n.inputs} | {v.node for v in program.results.values()}
    used |= {a for n in program.nodes for a in n.after}
    effects = ("write", "update", "bounds", "host", "place", "assemble")
    while True:
        kept = [n for n in program.nodes if n in used or n.kind in effects]
        if len(kept) == len(program.nodes):
            break
        program.nodes = kept
        used = {v.node for n in kept for v in n.inputs} | {v.node for v in program.results.values()}
        used |= {a for n in kept for a in n.after}


