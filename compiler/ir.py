"""The lowered graph: tensors computed by primitives.

A `Node` is one primitive applied to `Value`s.  Kinds, and what their attributes say:

    const      array                     a constant (0-d constants become kernel arguments)
    input      name                      a tensor from outside: a feed, or a value of an earlier segment
    read       variable, version         a variable's buffer, as it is after that many writes of this run
    size       dims                      host-known numbers that depend on symbolic sizes; filled in when sizes are bound
    map        prim                      one scalar primitive, element by element, inputs broadcast
    cast                                 element type conversion
    iota       axis                      the index along one axis
    reduce     op, axes, keep_dims       op in REDUCTIONS
    partial    op, axes                  partial results of a reduction, one for each part of its domain (combined by a
                                         reduce): PARTIALS of one over all axes, COLUMN_PARTS of one over the first axes
    gather     axis                      inputs: source, indices; rows of the source
    reshape transpose broadcast slice    views: no computation, only another way to index
    assemble   fill                      a tensor put together from `place` nodes (concat, pad)
    place      offset                    stores its input into a region of an assemble node
    matmul     ta, tb                    batched matrix product
    conv       strides, dilations        inputs: padded images, filter; see emit/convolve.py for these three
    conv_input strides, dilations, before, margin      inputs: padded gradient, filter with its last axes exchanged
    conv_filter strides, dilations       inputs: padded images, gradient; partial gradients, one for each part of the batch
    winograd   flipped                   the same for small filters, see `winograd`; inputs: framed images, transformed
                                         filter, filter (flipped along its first axes)
    winograd_weights flipped             input: filter; the transformed filter
    winograd_filter                      inputs: framed images, gradient; partial gradients
    pool pool_grad  op, taps, strides, before          op max, mean, or (pool_grad) all_max; see emit/windows.py for these
    depthwise depthwise_input depthwise_filter         and multiplier
    scatter    op                        inputs: indices, updates; rows added into zeros, multiplied into ones, or the
                                         extremes of the rows of each index (add, mul, max, min; NaN is no extreme)
    update     name, step                inputs: variables, indices, what their rows are combined with in place; see `emit.row_step`
    bounds     limit                     inputs: indices; fails, before any state changes, if one is outside
    uniform normal                       input: seeds and position (and constants); random numbers
    top_k      k                         the k largest of each row, falling, and their places
    scan       op, axis, exclusive, reverse
    write      variable, version         stores into a variable's buffer; its value is the variable right after it
    host       op                        a graph operation that its NumPy meaning executes

Values trace: scalar expressions of `jitgraph.declare.prim` applied to a Value append map nodes through the Builder.
"""
from __future__ import annotations

from jitgraph.declare import prim
from jitgraph.graph import dtypes, errors

from . import sizes, winograd

REDUCTIONS = ("add", "mul", "max", "min", "and", "or", "argmax", "argmin")
VIEWS = ("reshape", "transpose", "broadcast", "slice")
PARTIALS = 64
COLUMN_PARTS = 16
LARGE = 1 << 14         # elements from which writing a value, or computing it again, is worth avoiding
PARTED = 1 << 17        # elements from which a reduction of columns is shared out by rows ...
PARTED_ROWS = 4 * COLUMN_PARTS      # ... if it has so many of them
CHUNKS, CHUNK_BYTES = 16, 1 << 22       # parts of a batch with a filter gradient of their own: how many, and their size
FOLDED = ("add", "sub", "mul", "div", "neg", "sqrt", "max", "min", "eq", "ne", "lt", "le", "gt", "ge")
COMPARED = 64           # elements of a constant up to which it is compared with others
# kinds of which no two are one: what comes from outside, has effects, or gives other numbers every time
ALONE = ("input", "write", "update", "bounds", "assemble", "place", "uniform", "normal")
NUMERIC = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


class Value(prim.Operators):
    """One tensor of the lowered graph."""

    __slots__ = ("node", "index", "shape", "dtype", "builder")

    def __init__(self, node, index, shape, dtype, builder):
        self.node, self.index, self.shape, self.dtype, self.builder = node, index, tuple(shape), dtype, builder

    def __prim__(self, name, args):
        return self.builder.map(name, args)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def constant(self):
        """The value as an ndarray where it is known now (elements may be symbolic sizes), else None."""
        return self.node.attrs.get("array") if self.node.kind in ("const", "size") else None

    def __repr__(self):
        return f"%{self.node.id}.{self.index}:{self.dtype.name}{list(self.shape)}"


class Node:
    """One primitive; `op` is the graph operation it came from, `position` that operation's place in the order."""

    __slots__ = ("id", "kind", "inputs", "attrs", "outputs", "op", "position", "after")

    def __init__(self, id, kind, inputs, attrs, op, position):
        self.id, self.kind, self.inputs, self.attrs, self.op, self.position = id, kind, inputs, attrs, op, position
        self.outputs: list[Value] = []
        self.after: list[Node] = []

    @property
    def out(self) -> Value:
        return self.outputs[0]

    def __repr__(self):
        shown = ", ".join(f"{k}={v}" for k, v in self.attrs.items() if k != "array")
        return f"{self.outputs} = {self.kind}({', '.join(map(str, self.inputs))}) {shown}"


def broadcast_shapes(shapes) -> tuple:
    """NumPy's broadcasting rule over known or symbolic sizes.  Raises ValueError where the sizes do not go together."""
    rank = max((len(s) for s in shapes), default=0)
    out = []
    for k in range(-rank, 0):
        size: sizes.Dim = 1
        for s in shapes:
            if len(s) >= -k:
                d = s[k]
                if not isinstance(d, sizes.Size) and d == 1:
                    continue
                if not isinstance(size, sizes.Size) and size == 1:
                    size = d
                elif not sizes.same(size, d) and size != d:
                    raise ValueError(f"shapes {' and '.join(str(list(s)) for s in shapes)} do not broadcast")
        out.append(size)
    return tuple(out)


class Builder:
    """What an op's `lower` function talks to: each method adds a primitive and returns its value.

    Structurally equal pure primitives are merged as they are made, so that common subexpressions exist once.  `off`:
    optimisations (see `options`) to do without.
    """

    chunks = CHUNKS

    def __init__(self, off: frozenset[str] = frozenset()):
        self.off = off
        self.nodes: list[Node] = []
        self.users: dict[Value, list[Node]] = {}        # the nodes that were made of each value
        self._known: dict = {}
        self._count = 0
        self.op = None
        self.position = 0

    # making nodes ----------------------------------------------------------------------------------------------
    def node(self, kind, inputs, outputs, alone=False, **attrs) -> Node:
        """A node with outputs [(shape, dtype), ...]: the one that is there already, if it is equal in all that the result
        depends on.  `alone`: a new one in any case, as one always is whose kind is in ALONE."""
        outputs = [(sizes.settled(shape), dtype) for shape, dtype in outputs]
        key = None
        if not alone and kind not in ALONE and "common_subexpressions" not in self.off:
            key = (kind, _key(inputs), tuple([(_key(shape), dtype.name) for shape, dtype in outputs]), _key([*attrs.items()]))
            found = self._known.get(key)
            if found is not None:
                return found
        n = Node(self._count, kind, list(inputs), attrs, self.op, self.position)
        self._count += 1
        n.outputs = [Value(n, i, shape, dtype, self) for i, (shape, dtype) in enumerate(outputs)]
        self.nodes.append(n)
        for value in n.inputs:
            self.users.setdefault(value, []).append(n)
        if key is not None:
            self._known[key] = n
        return n

    def lift(self, x, dtype) -> Value:
        return x if isinstance(x, Value) else self.const(x, dtype)

    def map(self, name, args) -> Value:
        """One scalar primitive over broadcast inputs; Python numbers take the dtype of the values beside them."""
        rule = prim.PRIMS[name]
        values = [a for a in args if isinstance(a, Value)]
        like = next((v.dtype for v in values if v.dtype != dtypes.bool_), values[0].dtype)
        if name == "cast":
            return self.cast(values[0], args[1])
        args = [self.lift(a, like) for a in args]
        dtype = result_dtype(name, rule, args)
        folded = self._folded(name, args, dtype)
        if folded is not None:
            return folded
        shape = broadcast_shapes([a.shape for a in args])
        if any(a.node.kind == "broadcast" for a in args) and "late_broadcasts" not in self.off:
            sources = [a.node.inputs[0] if a.node.kind == "broadcast" else a for a in args]
            least = broadcast_shapes([a.shape for a in sources])
            if not same_shape(least, shape) and sizes.count(shape) > LARGE:
                return self.broadcast(self.map(name, sources), shape)
        return self.node("map", args, [(shape, dtype)], prim=name).out

    def _folded(self, name, args, dtype):
        """Arithmetic on numbers that are known now, which IEEE rounds the same way everywhere."""
        if name not in FOLDED or "constant_folding" in self.off:
            return None
        if any(a.node.kind != "const" or a.rank or a.constant.dtype == object for a in args):
            return None
        try:
            return self.const(getattr(prim, name)(*[a.constant for a in args]), dtype)
        except errors.InvalidArgumentError:
            return None         # an integer divided by zero: the kernel reports it

    def const(self, value, dtype=None) -> Value:
        import numpy as np

        if isinstance(value, sizes.Size):
            array = np.empty((), dtype=object)
            array[()] = value
            return self.size(array, dtypes.as_dtype(dtype))
        if dtype is not None:
            dtype = dtypes.as_dtype(dtype)
            array = np.asarray(value, dtype=dtype.as_numpy_dtype)
        else:
            array = np.asarray(value)
            dtype = dtypes.as_dtype(array.dtype)
        return self.node("const", [], [(array.shape, dtype)], alone=array.dtype == object or array.size > COMPARED, array=array).out

    def size(self, array, dtype) -> Value:
        """A constant that holds symbolic sizes (an object array); its numbers are filled in when sizes are bound."""
        return self.node("size", [], [(array.shape, dtype)], array=array).out

    def cast(self, x: Value, dtype) -> Value:
        dtype = dtypes.as_dtype(dtype)
        if x.dtype == dtype:
            return x
        if x.constant is not None and not x.rank and x.dtype.is_integer and dtype.name in NUMERIC:
            if x.node.kind != "size":
                return self.const(prim.cast(x.constant, dtype), dtype)
            if dtype.is_floating or dtype.size >= x.dtype.size and not dtype.is_unsigned:
                return self.size(x.constant, dtype)
        return self.node("cast", [x], [(x.shape, dtype)]).out

    def iota(self, shape, axis, dtype) -> Value:
        return self.node("iota", [], [(tuple(shape), dtypes.as_dtype(dtype))], axis=axis).out

    # views -----------------------------------------------------------------------------------------------------
    def reshape(self, x: Value, shape) -> Value:
        """The same elements in another shape; one size may be -1."""
        shape = list(shape)
        unknown = [i for i, d in enumerate(shape) if not isinstance(d, sizes.Size) and d == -1]
        if unknown:
            rest = sizes.product(d for i, d in enumerate(shape) if i != unknown[0])
            shape[unknown[0]] = sizes.product(x.shape) // rest if rest != 0 else 0
        shape = sizes.settled(shape)
        if same_shape(shape, x.shape):
            return x
        if sizes.product(shape) != sizes.product(x.shape):
            raise ValueError(f"Cannot reshape a tensor with {sizes.count(x.shape)} elements to shape {numbers(shape)} "
                             f"({sizes.count(shape)} elements)")
        if x.node.kind == "reshape":
            return self.reshape(x.node.inputs[0], shape)
        return self.node("reshape", [x], [(shape, x.dtype)]).out

    def transpose(self, x: Value, perm) -> Value:
        perm = tuple(int(p) for p in perm)
        if perm == tuple(range(x.rank)):
            return x
        if x.node.kind == "transpose":
            inner = x.node.attrs["perm"]
            return self.transpose(x.node.inputs[0], [inner[p] for p in perm])
        return self.node("transpose", [x], [(tuple(x.shape[p] for p in perm), x.dtype)], perm=perm).out

    def common_shape(self, values) -> tuple:
        """The shape of an element-by-element function of these values."""
        return broadcast_shapes([v.shape for v in values])

    def broadcast(self, x: Value, shape) -> Value:
        shape = sizes.settled(shape)
        if same_shape(shape, x.shape):
            return x
        return self.node("broadcast", [x], [(shape, x.dtype)]).out

    def slice(self, x: Value, begin, size, strides=None) -> Value:
        """x[begin : begin + size*stride : stride] on every axis; strides may be negative."""
        strides = tuple(strides or (1,) * x.rank)
        begin, size = tuple(begin), sizes.settled(size)
        if same_shape(size, x.shape) and all(s == 1 for s in strides):
            return x
        return self.node("slice", [x], [(size, x.dtype)], begin=begin, strides=strides).out

    def reverse(self, x: Value, axes) -> Value:
        axes = {a % x.rank for a in axes}
        return self.slice(x, [d - 1 if i in axes else 0 for i, d in enumerate(x.shape)], x.shape,
                          [-1 if i in axes else 1 for i in range(x.rank)])

    # computations ----------------------------------------------------------------------------------------------
    def reduce(self, op, x: Value, axes, keep_dims=False) -> Value:
        axes = tuple(sorted({int(a) % x.rank for a in axes})) if x.rank else ()
        if not axes and op not in ("argmax", "argmin"):
            return x
        shape = tuple(d for i, d in enumerate(x.shape) if i not in axes)
        dtype = dtypes.int64 if op in ("argmax", "argmin") else x.dtype
        count = self._parts(op, x, axes)
        if count:
            parts = self.node("partial", [x], [((count, *shape), accumulator(op, dtype))], op=op, axes=axes).out
            out = self.node("reduce", [parts], [(shape, dtype)], op=op, axes=(0,)).out
        else:
            out = self.node("reduce", [x], [(shape, dtype)], op=op, axes=axes).out
        if keep_dims:
            out = self.reshape(out, [1 if i in axes else d for i, d in enumerate(x.shape)])
        return out

    def _parts(self, op, x: Value, axes) -> int:
        """In how many parts a reduction is shared out, 0 for none: all that is reduced, or the axes that come first in
        memory where they are long and the rows few bytes of the whole."""
        if op in ("argmax", "argmin") or "partial_sums" in self.off:
            return 0
        kept = [i for i, d in enumerate(x.shape) if i not in axes and not sizes.same(d, 1)]
        if not kept:                # along axes of size 1 there is nothing to keep apart
            return PARTIALS
        reduced = [i for i in axes if not sizes.same(x.shape[i], 1)]
        place = x.node.attrs["perm"] if x.node.kind == "transpose" else range(x.rank)
        first = all(i < kept[0] and place[i] < min(place[k] for k in kept) for i in reduced)
        rows = sizes.count([x.shape[i] for i in axes])
        long = rows >= PARTED_ROWS and sizes.count(x.shape) >= PARTED
        return COLUMN_PARTS if first and long and "column_kernels" not in self.off else 0

    def gather(self, x: Value, indices: Value, axis=0) -> Value:
        """Slices of x along `axis`; an index out of range raises InvalidArgumentError at run time."""
        shape = x.shape[:axis] + indices.shape + x.shape[axis + 1:]
        return self.node("gather", [x, indices], [(shape, x.dtype)], axis=axis).out

    def scatter(self, op, shape, indices: Value, updates: Value, drops: bool = False) -> Value:
        """A table of `shape` of what `op` begins with, its rows `indices` combined with those of `updates`.  An index out of
        range raises InvalidArgumentError at run time; with `drops` negative ones are left out."""
        return self.node("scatter", [indices, updates], [(tuple(shape), updates.dtype)], op=op, drops=drops).out

    def update_rows(self, name, variables, indices: Value, values, expression) -> Node:
        """The rows `indices` of variables of one shape become expression(*their rows, *values), one after the other.

        `values`: scalars that count for all rows, or the shape of `indices` and then of a row.  Raises NotImplementedError
        where there can be no such kernel.
        """
        from .emit.row_step import RowStep  # which has a Builder of its own

        shape = variables[0].shape
        if not shape or not all(same_shape(v.shape, shape) for v in variables):
            raise NotImplementedError
        step = RowStep(expression, [v.dtype for v in variables], [v.dtype for v in values])
        values = [v if not v.rank else self.broadcast(v, indices.shape + shape[1:]) for v in values]
        check = self.node("bounds", [indices], [], limit=shape[0])
        node = self.node("update", [*variables, indices, *values], [], name=name, step=step)
        node.after.append(check)
        return node

    def random(self, kind, shape, dtype, reserve, constants=None) -> Value:
        """Random numbers, uniform in [0, 1) or normal; reserve(stream, count) gives the seeds and the first block of a run
        as int64 [3]."""
        count = self.const(sizes.product(shape), dtypes.int64)
        bits = self.node("host", [count], [((3,), dtypes.int64)], alone=True, call="stream", function=reserve).out
        inputs = [bits] if constants is None else [bits, self.const(constants)]
        return self.node(kind, inputs, [(tuple(shape), dtypes.as_dtype(dtype))]).out

    def top_k(self, x: Value, k) -> list[Value]:
        """The k largest elements along the last axis in falling order, and their places (int32)."""
        shape = (*x.shape[:-1], k)
        return self.node("top_k", [x], [(shape, x.dtype), (shape, dtypes.int32)], k=k).outputs

    def host(self, function, inputs, shape, dtype) -> Value:
        """A value that a NumPy function of the inputs gives."""
        return self.node("host", inputs, [(tuple(shape), dtype)], alone=True, call="array", function=function).out

    def matmul(self, x: Value, y: Value, ta=False, tb=False) -> Value:
        batch = broadcast_shapes([x.shape[:-2], y.shape[:-2]])
        m = x.shape[-1] if ta else x.shape[-2]
        n = y.shape[-2] if tb else y.shape[-1]
        if x.rank > 2 or y.rank > 2:
            x, y = self.broadcast(x, batch + x.shape[-2:]), self.broadcast(y, batch + y.shape[-2:])
        return self.node("matmul", [x, y], [(batch + (m, n), x.dtype)], ta=bool(ta), tb=bool(tb)).out

    def convolve(self, x: Value, w: Value, size, strides, dilations, around) -> Value:
        """Images x [n, h, w, in] with a filter [kh, kw, in, out]: [n, *size, out].  `around`: ((before, after), ...), the
        rows and the columns of zeros to put around images."""
        if winograd.suits(self, x.shape[0], size, w.shape, strides, dilations):
            return winograd.convolve(self, x, w, size, [before for before, _ in around])
        x = self.pad_images(x, around)
        return self.node("conv", [x, w], [((x.shape[0], *size, w.shape[3]), x.dtype)], strides=strides,
                         dilations=dilations).out

    def convolve_input(self, dy: Value, w: Value, size, strides, dilations, before, around) -> Value:
        """The gradient [n, *size, in] of a convolution for its input, which was padded by `before`; w is [kh, kw, out, in],
        `around` for dy as above."""
        frame = [taps - 1 - lo for taps, lo in zip(w.shape, before)]
        if winograd.suits(self, dy.shape[0], size, w.shape, strides, dilations) and min(frame) >= 0:
            return winograd.convolve(self, dy, w, size, frame, flipped=True)
        margin = tuple(lo for lo, _ in around)
        dy = self.pad_images(dy, around)
        return self.node("conv_input", [dy, w], [((dy.shape[0], *size, w.shape[3]), dy.dtype)], strides=strides,
                         dilations=dilations, before=before, margin=margin).out

    def convolve_filter(self, x: Value, dy: Value, shape, strides, dilations, around) -> Value:
        """The gradient of a convolution for its filter of shape [kh, kw, in, out]; `around` for x as above."""
        chunks = max(1, min(CHUNKS, CHUNK_BYTES // (sizes.product(shape) * x.dtype.size)))
        if winograd.suits(self, dy.shape[0], dy.shape[1:3], shape, strides, dilations):
            before = [lo for lo, _ in around]
            return self.reduce("add", winograd.convolve_filter(self, x, dy, shape, before, chunks), [0])
        x = self.pad_images(x, around)
        parts = self.node("conv_filter", [x, dy], [((chunks, *shape), x.dtype)], strides=strides,
                          dilations=dilations).out
        return self.reduce("add", parts, [0])

    def window(self, kind, inputs, shape, **attrs) -> Value:
        """A pooling, a depthwise convolution or a gradient of one: `kind` as in the list above."""
        return self.node(kind, inputs, [(tuple(shape), inputs[0].dtype)], **attrs).out

    def scan(self, op, x: Value, axis, exclusive=False, reverse=False) -> Value:
        return self.node("scan", [x], [(x.shape, x.dtype)], op=op, axis=axis % x.rank, exclusive=exclusive,
                         reverse=reverse).out

    def concat(self, xs, axis) -> Value:
        axis = axis % xs[0].rank
        start: sizes.Dim = 0
        parts = []
        for x in xs:
            parts.append((x, tuple(start if i == axis else 0 for i in range(x.rank))))
            start = start + x.shape[axis]
        shape = tuple(start if i == axis else d for i, d in enumerate(xs[0].shape))
        return self.assemble(shape, parts, None)

    def pad(self, x: Value, before, after, value=0) -> Value:
        shape = tuple(lo + d + hi for d, lo, hi in zip(x.shape, before, after))
        fill = self.lift(value, x.dtype)
        return self.assemble(shape, [(x, tuple(before))], fill)

    def pad_images(self, x: Value, around) -> Value:
        """Images [n, h, w, c] with zeros around them: ((before, after), ...) rows and columns."""
        if all(lo == 0 and hi == 0 for lo, hi in around):
            return x
        before, after = zip((0, 0), *around, (0, 0))
        return self.pad(x, before, after)

    def assemble(self, shape, parts, fill) -> Value:
        """A tensor of `shape` put together from (value, offset) parts; `fill` covers what they leave, None if nothing."""
        key = ("assemble", _key(shape), _key(fill), _key(parts))
        if key in self._known and "common_subexpressions" not in self.off:
            return self._known[key]
        like = parts[0][0]
        if fill is not None:
            parts = [(self.broadcast(fill, shape), (0,) * len(shape))] + parts
        out = self.node("assemble", [], [(shape, like.dtype)]).out
        previous = None
        for x, offset in parts:
            place = self.node("place", [x], [], target=out, offset=offset)
            if previous is not None and fill is not None:
                place.after.append(previous)
            previous = place
            out.node.after.append(place)
        self.nodes.remove(out.node)         # nodes stand in the order in which they can run
        self.nodes.append(out.node)
        out.node.id, self._count = self._count, self._count + 1
        self._known[key] = out
        return out

    def read(self, variable, version, shape, dtype) -> Value:
        return self.node("read", [], [(shape, dtype)], variable=variable, version=version).out

    def write(self, variable, version, x: Value) -> Value:
        return self.node("write", [x], [(x.shape, x.dtype)], variable=variable, version=version).out


def accumulator(op, dtype):
    """Sums and products of float32 and narrower are carried in float64, which costs nothing where memory is the limit."""
    if op in ("add", "mul") and dtype in (dtypes.float32, dtypes.float16, dtypes.bfloat16):
        return dtypes.float64
    return dtype


def result_dtype(name, rule, args):
    """The element type that a primitive gives; `rule` says same, bool, real or complex."""
    if rule.result == "bool":
        return dtypes.bool_
    first = args[1].dtype if name == "select" else args[0].dtype
    if rule.result == "real" and first.is_complex:
        return first.real_dtype
    if rule.result == "complex":
        return dtypes.complex64 if first == dtypes.float32 else dtypes.complex128
    return first


def shape_key(shape) -> tuple:
    return tuple(d.terms if isinstance(d, sizes.Size) else int(d) for d in shape)


def numbers(shape) -> list[int]:
    """The sizes of a shape as they are now, for messages."""
    return [sizes.hint_of(d) for d in shape]


def _key(x):
    """Something hashable that is equal for what a node's attributes cannot tell apart, and for nothing else."""
    kind = type(x)
    if kind is str:
        return x
    if kind is tuple or kind is list:
        return tuple([_key(one) for one in x])
    if kind is sizes.Size:
        return sizes.Size, x.terms
    if isinstance(x, float):            # -0.0 == 0.0
        return float, x.hex()
    if kind.__name__ == "ndarray":
        return x.dtype.str, x.shape, _key(x.ravel().tolist()) if x.dtype == object else x.tobytes()
    return kind, x


def same_shape(a, b) -> bool:
    return len(a) == len(b) and all(sizes.same(x, y) for x, y in zip(a, b))
