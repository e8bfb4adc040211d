"""The Builder makes primitives: what an op's `lower` function talks to."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.declare import prim
from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import DType

from . import sizes
from .ir import Node, Value, broadcast_shapes, numbers, same_shape
from .making import product_dtype, result_dtype, rules
from .primitives import KINDS
from .primitives.assembly import ASSEMBLE, PLACE
from .primitives.convolutions import CONV, CONV_FILTER, CONV_INPUT
from .primitives.elementwise import CAST, IOTA, MAP
from .primitives.host import HOST
from .primitives.kind import Kind
from .primitives.memory import CONST, READ, SIZE, WRITE
from .primitives.products import MATMUL
from .primitives.rearrangements import BROADCAST, RESHAPE, SLICE, TRANSPOSE
from .primitives.reductions import REDUCE, SEARCHES
from .primitives.rows import BOUNDS, GATHER, SCATTER, UPDATE
from .primitives.sequences import TOP_K
from .targets import HOST as HOST_MEMORY
from .tuning import CPU, Tuning

if TYPE_CHECKING:
    from jitgraph.graph.operation import Operation

ALONE = ("add", "mul", "and", "or")     # reductions that give a single element as it is; NaN is no extreme, not even alone
COMPARED = 64           # elements of a constant up to which it is compared with others
NUMERIC = ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


class Builder:
    """What an op's `lower` function talks to: each method adds a primitive and returns its value.

    What it makes instead, where a rule of `making` says so, stands there; views and reductions that change nothing are not
    made.  `off`: optimisations (see `options`) to do without; `tuning`: the target's; `place`: the memory in which an operation
    is to be computed, where there are several: what is equal is made once in each; `tf32`: see Options.
    """

    def __init__(self, off: frozenset[str] = frozenset(), tuning: Tuning = CPU,
                 place: Callable[[Operation | None], int] | None = None, tf32: bool = False):
        self.off, self.tuning, self.place, self.tf32 = off, tuning, place, tf32
        self.nodes: list[Node] = []
        self.users: dict[Value, list[Node]] = {}        # the nodes that were made of each value
        self.firsts: dict[Value, Value] = {}            # see `duplicates`: indices, some of which were made negative -> all; places
        self.known: dict[Any, Node | Value] = {}           # key -> the node, or the value, that was made first
        self.rules = rules(off)
        self._count = 0
        self.op: Operation | None = None
        self.position = 0

    @property
    def on_device(self) -> bool:
        """Whether the operation is computed on a device, not by the host."""
        return self.place is not None and self.place(self.op) != HOST_MEMORY

    # making nodes ----------------------------------------------------------------------------------------------
    def _instead(self, method: str, *args: Any) -> Any:
        """What the rules of `making` give instead of the primitive of a method, None if nothing."""
        for rule in self.rules.get(method, ()):
            found = rule(self, *args)
            if found is not None:
                return found
        return None

    def node(self, kind: Kind, inputs: Iterable[Value], outputs: Iterable[tuple[Iterable[sizes.Dim], DType]], alone: bool = False,
             **attrs: Any) -> Node:
        """A node with outputs [(shape, dtype), ...]: the one that is there already, if it is equal in all that the result
        depends on.  `alone`: a new one in any case, as one always is whose kind is unique."""
        assert attrs.keys() <= kind.attributes.keys(), f"{kind} has no attribute {attrs.keys() - kind.attributes.keys()}"
        outputs = [(sizes.settled(shape), dtype) for shape, dtype in outputs]
        key: tuple[Any, ...] | None = None
        if not alone and not kind.is_unique:
            key = (kind, _key(inputs), tuple([(_key(shape), dtype.name) for shape, dtype in outputs]), _key([*attrs.items()]))
            if self.place is not None and inputs:
                key += (self.place(self.op),)
            found = self._instead("node", key)
            if found is not None:
                return found
        n = Node(self._count, kind, list(inputs), attrs, self.op, self.position)
        self._count += 1
        n.outputs = [Value(n, i, shape, dtype, self) for i, (shape, dtype) in enumerate(outputs)]
        self.nodes.append(n)
        for value in n.inputs:
            self.users.setdefault(value, []).append(n)
        if key is not None:
            self.known[key] = n
        return n

    def forget(self, nodes: Iterable[Node]) -> None:
        """Nodes that nothing will use are not to be found again by what is equal to them."""
        dead = set(nodes)
        if dead:
            self.known = {key: found for key, found in self.known.items()
                          if (found if isinstance(found, Node) else found.node) not in dead}

    def primitive(self, kind: str, inputs: Sequence[Value], shape: Iterable[sizes.Dim], **attrs: Any) -> Value:
        """The value of a primitive by the name of its kind and its attributes; it has the dtype of the first input.  For kinds
        that no method below makes: poolings and depthwise convolutions, running sums."""
        return self.node(KINDS[kind], inputs, [(tuple(shape), inputs[0].dtype)], **attrs).out

    def lift(self, x: Any, dtype: DType | None) -> Value:
        return x if isinstance(x, Value) else self.const(x, dtype)

    def map(self, name: str, args: Sequence[Any]) -> Value:
        """One scalar primitive over broadcast inputs; Python numbers take the dtype of the values beside them."""
        rule = prim.PRIMS[name]
        values = [a for a in args if isinstance(a, Value)]
        like = next((v.dtype for v in values if v.dtype != dtypes.bool_), values[0].dtype)
        if name == "cast":
            return self.cast(values[0], args[1])
        args = [self.lift(a, like) for a in args]
        found = self._instead("map", name, args)
        if found is not None:
            return found
        return self.node(MAP, args, [(broadcast_shapes([a.shape for a in args]), result_dtype(name, rule, args))], prim=name).out

    def const(self, value: Any, dtype: Any = None) -> Value:
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
        return self.node(CONST, [], [(array.shape, dtype)], alone=array.dtype == object or array.size > COMPARED, array=array).out

    def size(self, array: np.ndarray, dtype: Any) -> Value:
        """A constant that holds symbolic sizes (an object array); its numbers are filled in when sizes are bound."""
        return self.node(SIZE, [], [(array.shape, dtype)], array=array).out

    def cast(self, x: Value, dtype: Any) -> Value:
        dtype = dtypes.as_dtype(dtype)
        if x.dtype == dtype:
            return x
        if x.constant is not None and not x.rank and x.dtype.is_integer and dtype.name in NUMERIC:
            if x.node.kind is not SIZE:
                return self.const(prim.cast(x.constant, dtype), dtype)
            if dtype.is_floating or dtype.size >= x.dtype.size and not dtype.is_unsigned:
                return self.size(x.constant, dtype)
        return self.node(CAST, [x], [(x.shape, dtype)]).out

    def iota(self, shape: Iterable[sizes.Dim], axis: int, dtype: Any) -> Value:
        return self.node(IOTA, [], [(tuple(shape), dtypes.as_dtype(dtype))], axis=axis).out

    # views -----------------------------------------------------------------------------------------------------
    def reshape(self, x: Value, shape: Iterable[sizes.Dim]) -> Value:
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
        found = self._instead("reshape", x, shape)
        return self.node(RESHAPE, [x], [(shape, x.dtype)]).out if found is None else found

    def transpose(self, x: Value, perm: Iterable[int]) -> Value:
        perm = tuple(int(p) for p in perm)
        if perm == tuple(range(x.rank)):
            return x
        found = self._instead("transpose", x, perm)
        if found is not None:
            return found
        return self.node(TRANSPOSE, [x], [(tuple(x.shape[p] for p in perm), x.dtype)], perm=perm).out

    def common_shape(self, values: Iterable[Value]) -> sizes.Shape:
        """The shape of an element-by-element function of these values."""
        return broadcast_shapes([v.shape for v in values])

    def broadcast(self, x: Value, shape: Iterable[sizes.Dim]) -> Value:
        shape = sizes.settled(shape)
        if same_shape(shape, x.shape):
            return x
        return self.node(BROADCAST, [x], [(shape, x.dtype)]).out

    def slice(self, x: Value, begin: Iterable[sizes.Dim], size: Iterable[sizes.Dim],
              strides: Iterable[sizes.Dim] | None = None) -> Value:
        """x[begin : begin + size*stride : stride] on every axis; strides may be negative."""
        strides = tuple(strides or (1,) * x.rank)
        begin, size = tuple(begin), sizes.settled(size)
        if same_shape(size, x.shape) and all(s == 1 for s in strides):
            return x
        return self.node(SLICE, [x], [(size, x.dtype)], begin=begin, strides=strides).out

    def reverse(self, x: Value, axes: Iterable[int]) -> Value:
        axes = {a % x.rank for a in axes}
        return self.slice(x, [d - 1 if i in axes else 0 for i, d in enumerate(x.shape)], x.shape,
                          [-1 if i in axes else 1 for i in range(x.rank)])

    # computations ----------------------------------------------------------------------------------------------
    def reduce(self, op: str, x: Value, axes: Iterable[int], keep_dims: bool = False) -> Value:
        axes = tuple(sorted({int(a) % x.rank for a in axes})) if x.rank else ()
        if not axes and op not in SEARCHES:
            return x
        shape = tuple(d for i, d in enumerate(x.shape) if i not in axes)
        if op in ALONE and all(sizes.is_one(x.shape[a]) for a in axes):
            return x if keep_dims else self.reshape(x, shape)
        dtype = dtypes.int64 if op in SEARCHES else x.dtype
        out = self._instead("reduce", op, x, axes, shape, dtype)
        if out is None:
            out = self.node(REDUCE, [x], [(shape, dtype)], op=op, axes=axes).out
        if keep_dims:
            out = self.reshape(out, [1 if i in axes else d for i, d in enumerate(x.shape)])
        return out

    def gather(self, x: Value, indices: Value, axis: int = 0) -> Value:
        """Slices of x along `axis`; an index out of range raises InvalidArgumentError at run time."""
        shape = x.shape[:axis] + indices.shape + x.shape[axis + 1:]
        return self.node(GATHER, [x, indices], [(shape, x.dtype)], axis=axis).out

    def scatter(self, op: str, shape: Iterable[sizes.Dim], indices: Value, updates: Value, drops: bool = False,
                factors: Value | None = None) -> Value:
        """A table of `shape` of what `op` begins with, its rows `indices` combined with those of `updates`, times `factors`, one
        for each index.  An index out of range raises InvalidArgumentError at run time; with `drops` negative ones are left out.

        Updates that are rows picked from a table are read there."""
        others, made = [] if factors is None else [factors], updates.node
        picks = made.kind is GATHER and not made.attrs["axis"] and indices.rank == made.inputs[1].rank == 1
        if picks:
            updates, others = made.inputs[0], [made.inputs[1], *others]
        return self.node(SCATTER, [indices, updates, *others], [(tuple(shape), updates.dtype)], op=op, drops=drops,
                         picks=picks, scales=factors is not None, certain=indices in self.firsts).out

    def update_rows(self, name: str, variables: Sequence[Value], indices: Value, values: Sequence[Value],
                    expression: Callable[..., Any]) -> Node:
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
        given = self.firsts.get(indices, indices)
        check = self.node(BOUNDS, [given], [], limit=shape[0])
        node = self.node(UPDATE, [*variables, indices, *values], [], name=name, step=step, drops=given is not indices)
        node.after.append(check)
        return node

    def random(self, kind: str, shape: Iterable[sizes.Dim], dtype: Any, reserve: Callable[..., Any],
               constants: np.ndarray | None = None) -> Value:
        """Random numbers, uniform in [0, 1) or normal; reserve(stream, count) gives the seeds and the first block of a run
        as int64 [3]."""
        bits = self.stream(reserve, [self.const(sizes.product(shape), dtypes.int64)], (3,), dtypes.int64)
        inputs = [bits] if constants is None else [bits, self.const(constants)]
        return self.node(KINDS[kind], inputs, [(tuple(shape), dtypes.as_dtype(dtype))]).out

    def stream(self, function: Callable[..., Any], inputs: Iterable[Value], shape: Iterable[sizes.Dim], dtype: Any) -> Value:
        """What the host gives for the operation's stream of random numbers and the inputs."""
        return self.node(HOST, inputs, [(tuple(shape), dtype)], alone=True, call="stream", function=function).out

    def top_k(self, x: Value, k: int) -> list[Value]:
        """The k largest elements along the last axis in falling order, and their places (int32)."""
        shape = (*x.shape[:-1], k)
        return self.node(TOP_K, [x], [(shape, x.dtype), (shape, dtypes.int32)], k=k).outputs

    def host(self, function: Callable[..., Any], inputs: Iterable[Value], shape: Iterable[sizes.Dim], dtype: Any) -> Value:
        """A value that a NumPy function of the inputs gives."""
        return self.node(HOST, inputs, [(tuple(shape), dtype)], alone=True, call="array", function=function).out

    def matmul(self, x: Value, y: Value, ta: bool = False, tb: bool = False) -> Value:
        """The product of matrices; of floats of 16 bits, as of convolutions of these, it is float32."""
        found = self._instead("matmul", x, y, ta, tb)
        if found is not None:
            return found
        batch = broadcast_shapes([x.shape[:-2], y.shape[:-2]])
        m = x.shape[-1] if ta else x.shape[-2]
        n = y.shape[-2] if tb else y.shape[-1]
        if x.rank > 2 or y.rank > 2:
            x, y = self.broadcast(x, batch + x.shape[-2:]), self.broadcast(y, batch + y.shape[-2:])
        return self.node(MATMUL, [x, y], [(batch + (m, n), product_dtype(x.dtype))], ta=bool(ta), tb=bool(tb)).out

    def total(self, values: Sequence[Value]) -> Value:
        """The sum of values of one shape."""
        found = self._instead("total", values)
        return functools.reduce(lambda a, b: self.map("add", [a, b]), values) if found is None else found

    def convolve(self, x: Value, w: Value, size: Sequence[sizes.Dim], strides: Sequence[int], dilations: Sequence[int],
                 around: Sequence[tuple[sizes.Dim, sizes.Dim]]) -> Value:
        """Images x [n, h, w, in] with a filter [kh, kw, in, out]: [n, *size, out].  `around`: ((before, after), ...), the
        rows and the columns of zeros to put around images."""
        found = self._instead("convolve", x, w, size, strides, dilations, around)
        if found is not None:
            return found
        x, blocks = self.pad_images(x, around), self.filter_blocks(w, size[1])
        return self.node(CONV, [x, blocks], [((x.shape[0], *size, w.shape[3]), product_dtype(x.dtype))], strides=strides,
                         dilations=dilations).out

    def filter_blocks(self, w: Value, pixels: sizes.Dim) -> Value:
        """A filter [kh, kw, in, out] for rows of so many pixels, in blocks of its columns: [blocks, kh, kw, in, columns]."""
        found = self._instead("filter_blocks", w, pixels)
        return self.reshape(w, (1, *w.shape)) if found is None else found

    def convolve_input(self, dy: Value, w: Value, size: Sequence[sizes.Dim], strides: Sequence[int], dilations: Sequence[int],
                       before: Sequence[sizes.Dim], around: Sequence[tuple[sizes.Dim, sizes.Dim]]) -> Value:
        """The gradient [n, *size, in] of a convolution for its input, which was padded by `before`; w is [kh, kw, out, in],
        `around` for dy as above."""
        found = self._instead("convolve_input", dy, w, size, strides, dilations, before, around)
        if found is not None:
            return found
        margin = tuple(lo for lo, _ in around)
        dy, blocks = self.pad_images(dy, around), self.filter_blocks(w, size[1])
        return self.node(CONV_INPUT, [dy, blocks], [((dy.shape[0], *size, w.shape[3]), product_dtype(dy.dtype))],
                         strides=strides, dilations=dilations, before=before, margin=margin).out

    def convolve_filter(self, x: Value, dy: Value, shape: Sequence[sizes.Dim], strides: Sequence[int], dilations: Sequence[int],
                        around: Sequence[tuple[sizes.Dim, sizes.Dim]]) -> Value:
        """The gradient of a convolution for its filter of shape [kh, kw, in, out]; `around` for x as above."""
        found = self._instead("convolve_filter", x, dy, shape, strides, dilations, around)
        if found is not None:
            return found
        x = self.pad_images(x, around)
        dtype = product_dtype(x.dtype)
        parts = self.node(CONV_FILTER, [x, dy], [((self.chunks_of(shape, dtype, dy.shape[:3]), *shape), dtype)], strides=strides,
                          dilations=dilations).out
        return self.reduce("add", parts, [0])

    def chunks_of(self, shape: Sequence[sizes.Dim], dtype: Any, windows: Sequence[sizes.Dim]) -> int:
        """In how many parts, each of images or windows of its own, the gradient of a filter of `shape` is made."""
        most = self.tuning.chunks
        if self.tuning.tiles:
            tiles = self.tuning.tiles_of(sizes.product(shape[:-1]), shape[-1])
            most = min(-(-self.tuning.tiles // tiles), -(-sizes.count(windows) // self.tuning.part_windows))
        return max(1, min(most, self.tuning.chunk_bytes // (sizes.product(shape) * dtype.size)))

    def depthwise_chunks_of(self, shape: Sequence[sizes.Dim], windows: Sequence[sizes.Dim]) -> int:
        """The same of a filter whose channels are not mixed."""
        if not self.tuning.depthwise_results:
            return self.tuning.chunks
        most = min(self.tuning.depthwise_results // sizes.count(shape), -(-sizes.count(windows) // self.tuning.part_windows))
        return max(1, most)

    def concat(self, xs: Sequence[Value], axis: int) -> Value:
        axis = axis % xs[0].rank
        start: sizes.Dim = 0
        parts = []
        for x in xs:
            parts.append((x, tuple(start if i == axis else 0 for i in range(x.rank))))
            start = start + x.shape[axis]
        shape = tuple(start if i == axis else d for i, d in enumerate(xs[0].shape))
        return self.assemble(shape, parts, None)

    def pad(self, x: Value, before: Sequence[sizes.Dim], after: Sequence[sizes.Dim], value: Any = 0) -> Value:
        shape = tuple(lo + d + hi for d, lo, hi in zip(x.shape, before, after))
        fill = self.lift(value, x.dtype)
        return self.assemble(shape, [(x, tuple(before))], fill)

    def pad_images(self, x: Value, around: Sequence[tuple[sizes.Dim, sizes.Dim]]) -> Value:
        """Images [n, h, w, c] with zeros around them: ((before, after), ...) rows and columns."""
        if all(sizes.same(d, 0) for pair in around for d in pair):      # not for some sizes alone: that would be another program
            return x
        before, after = zip((0, 0), *around, (0, 0))
        return self.pad(x, before, after)

    def assemble(self, shape: Sequence[sizes.Dim], parts: list[tuple[Value, tuple[sizes.Dim, ...]]], fill: Value | None) -> Value:
        """A tensor of `shape` put together from (value, offset) parts; `fill` covers what they leave, None if nothing."""
        where = None if self.place is None else self.place(self.op)
        key = ("assemble", _key(shape), _key(fill), _key(parts), where)
        found = self._instead("node", key)
        if found is not None:
            return found
        like = parts[0][0]
        if fill is not None:
            parts = [(self.broadcast(fill, shape), (0,) * len(shape))] + parts
        out = self.node(ASSEMBLE, [], [(shape, like.dtype)]).out
        previous = None
        for x, offset in parts:
            place = self.node(PLACE, [x], [], target=out, offset=offset)
            if previous is not None and fill is not None:
                place.after.append(previous)
            previous = place
            out.node.after.append(place)
        self.nodes.remove(out.node)         # nodes stand in the order in which they can run
        self.nodes.append(out.node)
        out.node.id, self._count = self._count, self._count + 1
        self.known[key] = out
        return out

    def read(self, variable: Operation, version: int, shape: Iterable[sizes.Dim], dtype: Any) -> Value:
        return self.node(READ, [], [(shape, dtype)], variable=variable, version=version).out

    def write(self, variable: Operation, version: int, x: Value) -> Value:
        return self.node(WRITE, [x], [(x.shape, x.dtype)], variable=variable, version=version).out


def _key(x: Any) -> Any:
    """Something hashable that is equal for what a node's attributes cannot tell apart, and for nothing else."""
    kind = type(x)
    if kind is str or kind is int or kind is Value:
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
