"""Steps that reduce, scan, normalise and sort."""

from .elementwise import into
from .program import FLOATS, INDEX, WHOLE, Term, Unsuitable, fixed, product
from .steps import step


def without(dims, axes, keepdims):
    axes = range(len(dims)) if axes is None else [a % len(dims) for a in axes]
    if keepdims:
        return tuple(fixed(1) if k in axes else d for k, d in enumerate(dims))
    return tuple(d for k, d in enumerate(dims) if k not in axes)


def gone(x, axes):
    """The most elements that one result is made of."""
    axes = range(x.rank) if axes is None else [a % x.rank for a in axes]
    return max(product(x.dims[a][r] for a in axes) for r in range(3))


def some_axes(w, x):
    axes = w.choice([None, w.axes(x)])
    return axes


@step("reductions", 6)
def reduced(w):
    name = w.choice(["sum", "sum", "mean", "max", "min", "prod"])
    x = w.pick(
        (*WHOLE, "int32", "int64", "float16", *w.dtypes),
        where=lambda t: t.dtype not in ("bool", "string", "uint16", "complex64"),
    )
    axes, keepdims = some_axes(w, x), w.chance(0.4)
    n = max(gone(x, axes), 1)
    if name == "prod" and (n > 30 or x.bound > 10):
        if x.dtype not in WHOLE or n > 5000:
            raise Unsuitable
        x = w.emit("tanh", [x], dtype=x.dtype, dims=x.dims, bound=1)
    if name == "mean" and x.dtype not in FLOATS and x.ever(0):
        raise Unsuitable
    if x.dtype == "float16" and n * x.bound > 1000:
        raise Unsuitable
    bound = {"sum": n * x.bound, "prod": x.bound ** min(n, 30) if x.bound > 1 else 1}.get(name, x.bound)
    argument = axes
    if axes is not None and w.chance(0.15):
        argument = {"array": {"dtype": "int32", "shape": [len(axes)], "list": axes}}
    elif axes is not None and len(axes) == 1 and w.chance(0.5):
        argument = axes[0]
    grain = None if name in ("mean", "prod") else x.grain
    if name in ("max", "min") and x.ever(0):
        bound = grain = None
    w.emit(
        "reduce_" + name,
        [x, argument],
        {"keepdims": keepdims},
        x.dtype,
        without(x.dims, axes, keepdims),
        float("inf") if bound is None else bound,
        grain,
    )


@step("reductions", 1)
def of_bools(w):
    x = w.pick(("bool",))
    axes, keepdims = some_axes(w, x), w.chance(0.4)
    name = w.choice(["reduce_any", "reduce_all", "count_nonzero"])
    w.emit(
        name,
        [x, axes],
        {"keepdims": keepdims},
        "int64" if name[0] == "c" else "bool",
        without(x.dims, axes, keepdims),
        x.elements(),
    )


@step("reductions", 2)
def derived(w):
    x = w.tamed(w.pick(WHOLE), 20)
    axes, keepdims = some_axes(w, x), w.chance(0.4)
    name = w.choice(["reduce_logsumexp", "math.reduce_variance", "math.reduce_std", "reduce_euclidean_norm"])
    if name == "reduce_euclidean_norm":
        name = "norm"
        axes = None if axes is None or len(axes) not in (1, 2) else axes
        x = into(w, x, "positive")
    w.emit(name, [x], {"axis": axes, "keepdims": keepdims}, x.dtype, without(x.dims, axes, keepdims), 1e4)


@step("reductions", 1)
def moments(w):
    x = w.tamed(w.pick(WHOLE, low=1), 100)
    axes = w.axes(x) or [0]
    keepdims = w.chance(0.5)
    if w.chance(0.5):
        x = w.emit("square", [x], dtype=x.dtype, dims=x.dims, bound=x.bound**2)
    dims = without(x.dims, axes, keepdims)
    made = [Term(w.name(), x.dtype, dims, x.bound), Term(w.name(), x.dtype, dims, 2 * x.bound**2)]
    w.emit("nn.moments", [x, axes], {"keep_dims": keepdims}, terms=made)


@step("reductions", 2)
def position(w):
    x = w.pick((*WHOLE, "int32", "int64", "uint8"), low=1, exact=True)
    axis = w.axis(x)
    n = x.dims[axis]
    if 0 in n and w.chance(0.8):
        raise Unsuitable
    out = w.choice(INDEX)
    w.emit(
        w.choice(["argmax", "argmin"]),
        [x, axis],
        {"output_type": {"dtype": out}},
        out,
        without(x.dims, [axis], False),
        max(n),
    )


@step("reductions", 2)
def scanned(w):
    x = w.pick((*WHOLE, "int32", "int64"), low=1)
    name = w.choice(["cumsum", "cumsum", "cumprod"])
    axis = w.axis(x)
    n = max(x.dims[axis])
    if name == "cumprod":
        x = w.tamed(x, 1.5) if x.dtype in FLOATS else x
        if n > 2000:
            raise Unsuitable
    keywords = {"exclusive": w.chance(0.4), "reverse": w.chance(0.4)}
    w.emit(
        name,
        [x, axis],
        keywords,
        x.dtype,
        x.dims,
        x.bound * max(n, 1) if name == "cumsum" else 1e6,
        x.grain if name == "cumsum" else None,
    )


@step("reductions", 3)
def normalised(w):
    x = w.tamed(w.pick(WHOLE, low=1), 50)
    name = w.choice(["nn.softmax", "nn.log_softmax", "nn.l2_normalize"])
    if not x.exact:  # of infinity, TensorFlow's rsqrt gives 0 or NaN, as the element lies
        name = "nn.softmax"
    axis = -1 if w.chance(0.5) else w.axis(x)
    if name == "nn.l2_normalize":
        x = into(w, x, "positive")
    w.emit(name, [x, axis], dtype=x.dtype, dims=x.dims, bound=100)


@step("reductions", 1)
def entropy(w):
    x = w.tamed(w.pick(WHOLE, low=2, high=2), 50)
    if 0 in x.dims[1]:
        raise Unsuitable
    if w.chance(0.5):
        labels = w.leaf(w.choice(INDEX), x.dims[:1], 0, min(x.dims[1]) - 1)
        name = "nn.sparse_softmax_cross_entropy_with_logits"
        dims = x.dims[:1]
    else:
        labels = w.leaf(x.dtype, x.dims, 0, 1)
        name = w.choice(["nn.softmax_cross_entropy_with_logits_v2", "nn.sigmoid_cross_entropy_with_logits"])
        dims = x.dims[:1] if name.endswith("v2") else x.dims
    w.emit(name, [], {"labels": labels, "logits": x}, x.dtype, dims, 1e4)


@step("reductions", 2)
def sorting(w):
    x = w.pick((*WHOLE, "int32"), low=1, exact=True)
    if 0 in x.dims[-1] or max(x.dims[-1]) > 5000:
        raise Unsuitable
    if w.chance(0.5):
        axis = w.choice([-1, -1, w.axis(x)])
        name = w.choice(["sort", "argsort"])
        keywords = {"direction": w.choice(["ASCENDING", "DESCENDING"])}
        if name == "argsort":
            keywords["stable"] = True
        w.emit(name, [x, axis], keywords, x.dtype if name == "sort" else "int32", x.dims, x.bound, x.grain)
        return
    k = w.integer(1, min(min(x.dims[-1]), 20))
    dims = (*x.dims[:-1], fixed(k))
    made = [Term(w.name(), x.dtype, dims, x.bound, x.grain), Term(w.name(), "int32", dims, max(x.dims[-1]))]
    w.emit("nn.top_k", [x, k], terms=made)


@step("reductions", 1)
def sizes_of(w):
    x = w.pick((*WHOLE, "int32"))
    w.emit(w.choice(["size", "rank"]), [x], dtype="int32", dims=(), bound=1e6)


@step("reductions", 1)
def histogram(w):
    x = w.leaf("int32", kind="placeholder")  # of a constant TensorFlow knows the length while building
    x = w.emit("abs", [x], dtype="int32", dims=x.dims, bound=x.bound)
    w.emit("bincount", [x], {"minlength": 60, "maxlength": 60}, "int32", (fixed(60),), x.elements())
