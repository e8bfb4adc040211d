"""Steps that move elements: slices, joins, transpositions, padding, gathers, scatters, segments, partitions."""

from .program import INDEX, WHOLE, Term, Unsuitable, each, fixed, product
from .steps import step

ANY = (*WHOLE, "int32", "int64", "bool", "uint8", "float16", "string")
MOVED = (*WHOLE, "int32", "int64", "bool")


def like(x, dims):
    return dict(dtype=x.dtype, dims=dims, bound=x.bound, grain=x.grain)


def emit_together(w, function, parts, axis, dims):
    """Terms of one dtype made one along an axis: by concat or stack."""
    grains = [t.grain for t in parts]
    w.emit(
        function,
        [parts, axis],
        dtype=parts[0].dtype,
        dims=dims,
        bound=max(t.bound for t in parts),
        grain=None if None in grains else max(grains),
    )


@step("arrays", 5)
def sliced(w):
    x = w.pick(ANY, low=1)
    key, dims, k = [], [], 0
    stop_at = w.integer(1, x.rank)
    while k < stop_at:
        roll = w.random.random()
        if roll < 0.1:
            key.append({"newaxis": 0})
            dims.append(fixed(1))
            continue
        d = x.dims[k]
        k += 1
        if roll < 0.25 and min(d) > 0:
            key.append(w.integer(-min(d), min(d) - 1))
            continue
        begin, end, step_ = (
            w.choice([None, w.integer(-4, 6)]),
            w.choice([None, w.integer(-4, 6)]),
            w.choice([None, None, 1, 2, 3, -1, -2]),
        )
        key.append({"slice": [begin, end, step_]})
        dims.append(tuple(len(range(*slice(begin, end, step_).indices(n))) for n in d))
    if k == x.rank or w.chance(0.7):
        dims += x.dims[k:]
    else:
        key.append({"ellipsis": 0})
        dims += x.dims[k:]
    w.emit("getitem", [x, *key], **like(x, dims))


@step("arrays", 2)
def joined_up(w):
    x = w.pick(ANY, low=1)
    axis = w.axis(x)
    place = axis % x.rank
    suits = [
        t
        for t in w.visible()
        if t.dtype == x.dtype
        and t.rank == x.rank
        and all(a == b for k, (a, b) in enumerate(zip(t.dims, x.dims)) if k != place)
    ]
    parts = [w.choice(suits or [x]) for _ in range(w.integer(1, 3))]
    if x not in parts:
        parts[0] = x
    total = each(lambda *sizes: sum(sizes), *(t.dims[place] for t in parts))
    dims = [*x.dims[:place], total, *x.dims[place + 1 :]]
    emit_together(w, "concat", parts, axis, dims)


@step("arrays", 2)
def stacked(w):
    x = w.pick(ANY, most=100_000)
    parts = [
        w.choice([t for t in w.visible() if t.dtype == x.dtype and t.dims == x.dims] or [x]) for _ in range(w.integer(1, 3))
    ]
    axis = w.integer(-x.rank - 1, x.rank)
    dims = list(x.dims)
    dims.insert(axis % (x.rank + 1), fixed(len(parts)))
    emit_together(w, "stack", parts, axis, dims)


@step("arrays", 2)
def split(w):
    x = w.pick(MOVED, low=1, where=lambda t: t.static and any(len(set(d)) == 1 and 0 < d[0] < 9 for d in t.dims))
    axis = w.choice([k for k, d in enumerate(x.dims) if len(set(d)) == 1 and 0 < d[0] < 9])
    n = x.dims[axis][0]
    kind = w.choice(["unstack", "even", "sizes"])
    if kind == "unstack":
        made = [Term(w.name(), x.dtype, (*x.dims[:axis], *x.dims[axis + 1 :]), x.bound, x.grain) for _ in range(n)]
        w.emit("unstack", [x], {"axis": axis}, terms=made)
        return
    sizes = [n // 1] if kind == "even" else []
    if kind == "even":
        count = w.choice([k for k in range(1, n + 1) if n % k == 0])
        sizes = [n // count] * count
    else:
        while sum(sizes) < n:
            sizes.append(w.integer(0, n - sum(sizes)))
    made = [Term(w.name(), x.dtype, (*x.dims[:axis], fixed(s), *x.dims[axis + 1 :]), x.bound, x.grain) for s in sizes]
    w.emit("split", [x, len(sizes) if kind == "even" else sizes, axis], terms=made)


@step("arrays", 3)
def rearranged(w):
    x = w.pick(ANY, low=1)
    name = w.choice(["transpose", "reverse", "roll", "expand_dims", "squeeze", "reshape", "matrix_transpose"])
    if name == "transpose":
        order = list(range(x.rank))
        w.random.shuffle(order)
        w.emit(name, [x, order], **like(x, [x.dims[k] for k in order]))
    elif name == "reverse":
        axes = sorted({a % x.rank for a in w.axes(x)})
        w.emit(name, [x, axes], **like(x, x.dims))
    elif name == "roll":
        w.emit(name, [x, w.integer(-3, 5), w.integer(0, x.rank - 1)], **like(x, x.dims))
    elif name == "expand_dims":
        axis = w.integer(-x.rank - 1, x.rank)
        dims = list(x.dims)
        dims.insert(axis % (x.rank + 1), fixed(1))
        w.emit(name, [x, axis], **like(x, dims))
    elif name == "squeeze":
        ones = [k for k, d in enumerate(x.dims) if d == fixed(1)]
        if not ones or (any(1 in d and d != fixed(1) for d in x.dims)):
            raise Unsuitable
        w.emit(name, [x], {"axis": ones}, **like(x, [d for k, d in enumerate(x.dims) if k not in ones]))
    elif name == "reshape":
        total = each(lambda *s: product(s), *x.dims)
        w.emit(name, [x, [-1]], **like(x, [total]))
    elif x.rank >= 2:
        w.emit(name, [x], **like(x, [*x.dims[:-2], x.dims[-1], x.dims[-2]]))
    else:
        raise Unsuitable


@step("arrays", 2)
def regrouped(w):
    """A reshape that splits or merges dimensions which are the same in every run."""
    x = w.pick(ANY, low=1, where=lambda t: all(len(set(d)) == 1 for d in t.dims) and t.elements() > 0)
    total = x.elements()
    sizes = []
    while total > 1 and len(sizes) < 3:
        factor = w.choice([f for f in (2, 3, 4, 5, 7, 16, 64, total) if total % f == 0])
        sizes.append(factor)
        total //= factor
    if total > 1:
        sizes.append(total)
    w.random.shuffle(sizes)
    said = list(sizes)
    if said and w.chance(0.4):
        said[w.integer(0, len(said) - 1)] = -1
    w.emit("reshape", [x, said], **like(x, [fixed(s) for s in sizes]))


@step("arrays", 2)
def padded(w):
    x = w.pick((*WHOLE, "int32", "int64"), low=1, high=4, most=50_000)
    mode = w.choice(["CONSTANT", "CONSTANT", "REFLECT", "SYMMETRIC"])
    room = [min(d) - (mode == "REFLECT") if mode != "CONSTANT" else 3 for d in x.dims]
    if min(room) < 0:
        raise Unsuitable
    pads = [[w.integer(0, min(r, 3)), w.integer(0, min(r, 3))] for r in room]
    dims = [each(lambda n, p=p: n + sum(p), d) for d, p in zip(x.dims, pads)]
    w.emit("pad", [x, pads, mode], **like(x, dims))


@step("arrays", 2)
def repeated(w):
    x = w.pick(MOVED, low=1, most=20_000)
    if w.chance(0.6):
        times = [w.choice([0, 1, 1, 2, 3]) if w.chance(0.3) else w.integer(1, 2) for _ in x.dims]
        w.emit("tile", [x, times], **like(x, [each(lambda n, t=t: n * t, d) for d, t in zip(x.dims, times)]))
        return
    more = [fixed(w.integer(1, 3)) for _ in range(w.integer(0, 2))]
    dims = [*more, *(fixed(w.integer(0, 4)) if d == fixed(1) and w.chance(0.6) else d for d in x.dims)]
    if any(len(set(d)) > 1 for d in dims):
        raise Unsuitable
    w.emit("broadcast_to", [x, [d[0] for d in dims]], **like(x, dims))


@step("arrays", 1)
def one_hot(w):
    x = w.pick(INDEX, high=2, most=3000)
    depth, axis = w.integer(1, 6), w.integer(-1, x.rank)
    dims = list(x.dims)
    dims.insert(axis if axis >= 0 else x.rank, fixed(depth))
    on = {"on_value": 2.0, "off_value": -1.0} if w.chance(0.4) else {}
    w.emit("one_hot", [x, depth], {"axis": axis, **on}, "float32", dims, 2, 0)


@step("indexing", 4)
def gathered(w):
    x = w.pick(ANY, low=1)
    axis = w.axis(x)
    n = min(x.dims[axis])
    if n == 0:
        raise Unsuitable
    high = n - 1 if w.chance(0.96) else n
    index = w.leaf(w.choice(INDEX), w.shape(0, 2), 0, high)
    place = axis % x.rank
    dims = (*x.dims[:place], *index.dims, *x.dims[place + 1 :])
    if product(max(d) for d in dims) > 400_000:
        raise Unsuitable
    w.emit("gather", [x, index], {"axis": axis}, **like(x, dims))


@step("indexing", 2)
def gathered_by_points(w):
    x = w.pick(MOVED, low=1)
    deep = w.integer(1, x.rank)
    n = 0 if x.ever(0) else min(min(d) for d in x.dims[:deep])
    if n == 0:
        raise Unsuitable
    batch = w.shape(0, 2)
    index = w.leaf(w.choice(INDEX), (*batch, fixed(deep)), 0, n - 1)
    dims = (*batch, *x.dims[deep:])
    if product(max(d) for d in dims) > 400_000:
        raise Unsuitable
    w.emit("gather_nd", [x, index], **like(x, dims))


@step("indexing", 3)
def scattered(w):
    updates = w.pick((*WHOLE, "int32"), low=1, high=3, most=20_000)
    rows = w.integer(1, 6)
    index = w.leaf(w.choice(INDEX), (updates.dims[0], fixed(1)), 0, rows - 1)
    dims = (fixed(rows), *updates.dims[1:])
    n = max(updates.dims[0]) + 1
    if any(len(set(d)) > 1 for d in dims) or not updates.exact and updates.dtype not in WHOLE:
        raise Unsuitable
    if any(0 in d for d in dims) and not updates.dims[0] == fixed(0):
        raise Unsuitable  # refused, or not, by what is known of the sizes
    shape = [d[0] for d in dims]
    if w.chance(0.6):
        w.emit(
            "scatter_nd",
            [index, updates, shape],
            dtype=updates.dtype,
            dims=dims,
            bound=updates.bound * n,
            grain=updates.grain,
        )
        return
    x = w.leaf(updates.dtype, dims)
    name = w.choice(["tensor_scatter_add", "tensor_scatter_sub"])
    w.emit(
        name,
        [x, index, updates],
        dtype=x.dtype,
        dims=dims,
        bound=x.bound + n * updates.bound,
        grain=None if updates.grain is None or x.grain is None else max(x.grain, updates.grain),
    )


@step("indexing", 4)
def segments(w):
    x = w.pick((*WHOLE, "int32"), low=1, high=3, most=20_000, where=lambda t: not t.ever(0))
    count = w.integer(1, 5)
    n = max(x.dims[0])
    if w.chance(0.6):
        name = w.choice(["sum", "max", "min", "prod", "mean", "sqrt_n"])
        if name in ("mean", "sqrt_n") and x.dtype not in WHOLE:
            name = "sum"
        if name in ("max", "min") and not x.exact:
            name = "sum"  # whether NaN counts depends in TensorFlow on where in a row the CPU's vectors begin
        if name == "prod":
            x = w.tamed(x, 1.5)
            if n > 100:
                raise Unsuitable
        index = w.leaf(w.choice(INDEX), x.dims[:1], -1 if w.chance(0.2) else 0, count - 1)
        w.emit(
            "unsorted_segment_" + name,
            [x, index, count],
            dtype=x.dtype,
            dims=(fixed(count), *x.dims[1:]),
            bound=x.bound * n if name == "sum" else float("inf"),
            grain=x.grain if name == "sum" else None,
        )
        return
    if len(set(x.dims[0])) > 1 or n > 3000:
        raise Unsuitable
    ids = sorted(w.integer(0, count - 1) for _ in range(n))
    name = w.choice(["segment_sum", "segment_mean", "segment_max", "segment_min", "segment_prod"])
    if name == "segment_mean" and (x.dtype not in WHOLE or n > 100) or name == "segment_prod" and x.dtype in WHOLE:
        raise Unsuitable  # a product of segments has no gradient
    index = {"array": {"dtype": "int32", "shape": [n], "list": ids}}
    w.emit(
        name,
        [x, index],
        dtype=x.dtype,
        dims=(fixed(max(ids) + 1), *x.dims[1:]),
        bound=x.bound * n,
        grain=x.grain if name == "segment_sum" else None,
    )


@step("indexing", 1)
def partitioned(w):
    x = w.pick((*WHOLE, "int32"), low=1, high=2, most=2000)
    if len(set(x.dims[0])) > 1 or x.dims[0][0] == 0:
        raise Unsuitable
    n = x.dims[0][0]
    ids = [w.integer(0, 2) for _ in range(n)]
    counts = [ids.count(k) for k in range(3)]
    made = [Term(w.name(), x.dtype, (fixed(c), *x.dims[1:]), x.bound, x.grain) for c in counts]
    array = lambda values: {"array": {"dtype": "int32", "shape": [len(values)], "list": values}}
    w.emit("dynamic_partition", [x, array(ids), 3], terms=made)
    if w.chance(0.6):
        places = [[p for p, i in enumerate(ids) if i == k] for k in range(3)]
        w.emit("dynamic_stitch", [[array(p) for p in places], made], **like(x, x.dims))


@step("indexing", 1)
def unique(w):
    x = w.leaf(w.choice(("int32", "int64", "float32")), w.shape(1, 1))
    name = w.choice(["unique", "unique_with_counts"])
    # how many there are is not known to the writer: later statements see only the positions
    made = [Term(w.name(), x.dtype, x.dims, x.bound, None), Term(w.name(), "int32", x.dims, x.elements())]
    w.emit(name, [x], terms=made)
    w.terms.remove(made[0])
    w.statements.append({"op": "reduce_sum", "in": [{"t": made[0].name}], "out": (total := w.name())})
    w.terms.append(Term(total, x.dtype, (), float("inf"), x.grain))


@step("indexing", 1)
def parts_of_matrices(w):
    x = w.pick((*WHOLE, "int32"), low=2, high=4)
    rows, columns = x.dims[-2:]
    name = w.choice(["matrix_band_part", "matrix_diag_part", "matrix_set_diag", "matrix_diag"])
    if name == "matrix_band_part":
        low, high = min(min(rows), 1), min(min(columns), 2)
        w.emit("linalg.band_part", [x, w.choice([-1, 0, low]), w.choice([-1, 0, high])], **like(x, x.dims))
    elif name == "matrix_diag_part":
        w.emit("matrix_diag_part", [x], **like(x, [*x.dims[:-2], each(min, rows, columns)]))
    elif name == "matrix_set_diag":
        diagonal = w.leaf(x.dtype, (*x.dims[:-2], each(min, rows, columns)))
        w.emit(name, [x, diagonal], dtype=x.dtype, dims=x.dims, bound=max(x.bound, diagonal.bound))
    elif x.elements() * max(columns) < 100_000:
        w.emit(name, [x], **like(x, [*x.dims, columns]))
    else:
        raise Unsuitable


@step("indexing", 1)
def where_true(w):
    x = w.pick(("bool",), low=1, high=2, most=3000)
    name = w.name()
    w.statements.append({"op": "where", "in": [{"t": x.name}], "out": name})
    w.statements.append({"op": "reduce_sum", "in": [{"t": name}, 0], "out": (total := w.name())})
    w.terms.append(Term(total, "int64", (fixed(x.rank),), 1e6))
    y = w.leaf("float32", x.dims)
    w.statements.append({"op": "boolean_mask", "in": [{"t": y.name}, {"t": x.name}], "out": (masked := w.name())})
    w.statements.append({"op": "reduce_sum", "in": [{"t": masked}], "out": (total := w.name())})
    w.terms.append(Term(total, "float32", (), y.bound * y.elements(), y.grain, sources=y.sources | {y.name}))


@step("arrays", 1)
def spaced(w):
    n, depth = w.integer(1, 3), w.integer(1, 3)
    x = w.leaf("float32", (w.size(), fixed(2 * n), fixed(2 * w.integer(1, 3)), fixed(4 * depth)))
    b, h, v, c = x.dims
    if w.chance(0.5):
        w.emit(
            "space_to_depth",
            [x, 2],
            **like(x, [b, each(lambda s: s // 2, h), each(lambda s: s // 2, v), each(lambda s: 4 * s, c)]),
        )
    else:
        w.emit(
            "depth_to_space",
            [x, 2],
            **like(x, [b, each(lambda s: s * 2, h), each(lambda s: s * 2, v), each(lambda s: s // 4, c)]),
        )


@step("arrays", 1)
def reversed_rows(w):
    x = w.pick((*WHOLE, "int32"), low=2, high=3, most=20_000)
    lengths = w.leaf("int64", x.dims[:1], 0, min(x.dims[1]))
    if w.chance(0.5):
        w.emit("reverse_sequence", [x, lengths], {"seq_axis": 1, "batch_axis": 0}, **like(x, x.dims))
    else:
        w.emit("sequence_mask", [lengths], {"maxlen": 6}, "bool", (*lengths.dims, fixed(6)), 1)
