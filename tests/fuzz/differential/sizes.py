"""Steps whose sizes only the run knows, and where they come out as 0, 1 and, seldom, -1."""

from .arrays import like
from .program import INDEX, WHOLE, Unsuitable, each, fixed, product
from .steps import step

ANY = (*WHOLE, "int32")


def known(w, low=0, high=400, most=1):
    """An integer scalar of known value, in each run within the limits."""
    suits = [t for t in w.visible() if t.known is not None and t.dtype == "int32" and all(low <= v <= high for v in t.known)]
    if suits and w.chance(0.75):
        return w.choice(suits)
    values = [w.integer(max(low, 0), min(high, 5)) for _ in range(3)]
    return w.given((values[0], values[0], values[2]) if w.chance(0.6) else fixed(values[0]))


def hazard(w):
    """Seldom a size of -1."""
    return w.chance(0.04)


@step("sizes", 4)
def size_of_axis(w):
    x = w.pick(ANY, low=1)
    axis = w.integer(0, x.rank - 1)
    shape = w.emit("shape", [x], dtype="int32", dims=(fixed(x.rank),), bound=1e6)
    shape.feedable = False  # another value would not fit what is computed from it
    w.emit("getitem", [shape, axis], dtype="int32", dims=(), bound=1e6, known=x.dims[axis])


@step("sizes", 3)
def size_computed(w):
    n = known(w, -1, 500_000)
    name = w.choice(["add", "subtract", "multiply", "floordiv", "maximum", "minimum", "mod"])
    k = w.integer(1, 3)
    value = {
        "add": lambda v: v + k,
        "subtract": lambda v: v - k,
        "multiply": lambda v: v * k,
        "floordiv": lambda v: v // k,
        "maximum": lambda v: max(v, k),
        "minimum": lambda v: min(v, k),
        "mod": lambda v: v % k,
    }[name]
    made = each(value, n.known)
    if min(made) < -1 or max(made) > 1_000_000:
        raise Unsuitable
    w.emit(name, [n, k], dtype="int32", dims=(), bound=1e6, known=made)


def lowest(w):
    return -1 if hazard(w) else 0


@step("sizes", 2)
def filled(w):
    n = known(w, lowest(w))
    more = w.choice([[], [2], [3], [1]])
    dims = (each(lambda v: max(v, 0), n.known), *map(fixed, more))
    name = w.choice(["fill", "zeros", "ones"])
    shape = [n, *more] if w.chance(0.7) else [*more, n]
    dims = dims if shape[0] is n else (*dims[1:], dims[0])
    if name == "fill":
        w.emit(name, [shape, w.choice([1.5, 2.0])], dtype="float32", dims=dims, bound=2, grain=1)
    else:
        w.emit(name, [shape], dtype="float32", dims=dims, bound=1, grain=0)


@step("sizes", 3)
def broadcast(w):
    x = w.pick(ANY, most=5000)
    if x.rank and w.chance(0.7):
        # a dimension that comes out as 1, of which nothing is known beforehand
        axis = w.integer(0, x.rank - 1)
        if 0 in x.dims[axis]:
            raise Unsuitable
        begin = each(lambda n: n - 1, x.dims[axis])
        n = size_like(w, x, axis)
        start = w.emit("subtract", [n, 1], dtype="int32", dims=(), bound=1e6, known=begin)
        key = [{"slice": [None, None, None]}] * axis + [{"slice": [start, None, None]}]
        x = w.emit("getitem", [x, *key], **like(x, (*x.dims[:axis], fixed(1), *x.dims[axis + 1 :])))
    shape, dims = [], []
    for k, d in enumerate(x.dims):
        if d == fixed(1):
            n = known(w, 0, 40)
            shape.append(n if w.chance(0.5) else n.known[0] if len(set(n.known)) == 1 else n)
            dims.append(n.known)
        else:
            shape.append(size_like(w, x, k))
            dims.append(d)
    if not shape or any(product(s) > 300_000 for s in zip(*dims)):
        raise Unsuitable
    w.emit("broadcast_to", [x, shape], **like(x, dims))


def size_like(w, x, axis):
    shape = w.emit("shape", [x], dtype="int32", dims=(fixed(x.rank),), bound=1e6)
    shape.feedable = False  # another value would not fit what is computed from it
    return w.emit("getitem", [shape, axis], dtype="int32", dims=(), bound=1e6, known=x.dims[axis])


@step("sizes", 3)
def cut(w):
    """A slice whose ends only the run knows; broadcasting later meets dimensions of 1."""
    x = w.pick(ANY, low=1)
    begin, end = known(w, -2, 6), known(w, -2, 6)
    b, e = (begin if w.chance(0.6) else None), (end if w.chance(0.6) else None)
    size = tuple(len(range(*slice(b and b.known[r], e and e.known[r], None).indices(x.dims[0][r]))) for r in range(3))
    w.emit("getitem", [x, {"slice": [b, e, None]}], **like(x, (size, *x.dims[1:])))


@step("sizes", 2)
def one_by_slice(w):
    """A dimension that comes out as 1 meets another one in arithmetic."""
    x = w.pick(WHOLE, low=1, high=3, where=lambda t: not t.ever(0), most=5000)
    axis = w.integer(0, x.rank - 1)
    if w.chance(0.5):
        start = w.given(each(lambda n: n - 1, x.dims[axis]))
        key = [{"slice": [None, None, None]}] * axis + [{"slice": [start, None, None]}]
    else:
        key = [{"slice": [None, None, None]}] * axis + [{"slice": [w.integer(-1, -1), None, None]}]
    y = w.emit("getitem", [x, *key], **like(x, (*x.dims[:axis], fixed(1), *x.dims[axis + 1 :])))
    name = w.choice(["add", "multiply", "maximum", "subtract", "minimum"])
    pair = [x, y] if w.chance(0.5) else [y, x]
    w.emit(
        name,
        pair,
        dtype=x.dtype,
        dims=x.dims,
        bound=max(2 * x.bound, x.bound**2),
        grain=None if x.grain is None else x.grain * (2 if name == "multiply" else 1),
    )


@step("sizes", 2)
def tiled(w):
    x = w.pick(ANY, low=1, high=3, most=3000)
    times = [known(w, 0, 4) if w.chance(0.7) else 1 for _ in x.dims]
    dims = [d if t == 1 else each(lambda a, b: a * b, d, t.known) for d, t in zip(x.dims, times)]
    w.emit("tile", [x, times], **like(x, dims))


@step("sizes", 2)
def counted(w):
    n = known(w, 0, 5000)
    if w.chance(0.5):
        w.emit("range", [n], dtype="int32", dims=(n.known,), bound=5000)
    else:
        m = known(w, 0, 40)
        if max(m.known) * max(n.known) > 100_000:
            raise Unsuitable
        w.emit("eye", [n, m], dtype="float32", dims=(n.known, m.known), bound=1, grain=0)


@step("sizes", 1)
def spread(w):
    n = known(w, 1, 5000)
    w.emit("linspace", [0.0, 2.0, n], dtype="float32", dims=(n.known,), bound=2)


@step("sizes", 2)
def reshaped(w):
    x = w.pick((*ANY, "bool"), low=1, high=3)
    shape = [size_like(w, x, k) for k in range(x.rank)]
    order = list(range(x.rank))
    w.random.shuffle(order)
    if w.chance(0.4) and not x.ever(0):
        said = [shape[k] for k in order]
        said[0] = -1
    else:
        said = [shape[k] for k in order]
    w.emit("reshape", [x, said], **like(x, [x.dims[k] for k in order]))


@step("sizes", 1)
def hot(w):
    x = w.pick(INDEX, high=2, most=2000)
    n = known(w, 0, 20)
    w.emit("one_hot", [x, n], dtype="float32", dims=(*x.dims, n.known), bound=1, grain=0)


@step("sizes", 1)
def padded(w):
    x = w.pick(ANY, low=1, high=3, most=3000)
    n = known(w, 0, 5)
    pads = [[n, 1] if k == 0 else [0, 0] for k in range(x.rank)]
    w.emit("pad", [x, pads], **like(x, [each(lambda a, b: a + b + 1, x.dims[0], n.known), *x.dims[1:]]))


@step("sizes", 1)
def scattered(w):
    n = known(w, 1, 40)
    x = w.leaf("float32", (fixed(w.integer(0, 4)),))
    index = w.leaf("int32", (*x.dims, fixed(1)), 0, min(n.known) - 1)
    w.emit("scatter_nd", [index, x, [n]], dtype="float32", dims=(n.known,), bound=x.bound * 5, grain=x.grain)


@step("sizes", 1)
def as_values(w):
    n = known(w, -1, 1_000_000)
    to = w.choice(["float32", "int64", "float64", "int8", "int32"])
    x = w.emit("cast", [n, {"dtype": to}], dtype=to, dims=(), bound=1e6, grain=0 if to[0] == "f" else None)
    if w.chance(0.5):
        w.emit("multiply", [x, 100], dtype=to, dims=(), bound=1e8, grain=0 if to[0] == "f" else None)
