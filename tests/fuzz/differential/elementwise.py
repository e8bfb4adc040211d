"""Steps that compute each element by itself: arithmetic, functions, comparisons, casts, choices."""

from .program import FLOAT_BITS, FLOATS, INFINITE, INTEGERS, WHOLE, Unsuitable, joined
from .steps import step

# name: (the largest argument, where arguments must lie, a bound of the result; None: no bound)
SMOOTH = {
    "negative": (INFINITE, "any", None),
    "abs": (INFINITE, "any", None),
    "square": (1e3, "any", 1e6),
    "exp": (8, "any", 3000),
    "expm1": (8, "any", 3000),
    "log": (1e6, "positive", 20),
    "log1p": (1e6, "positive", 20),
    "sqrt": (1e6, "positive", 1e3),
    "rsqrt": (1e6, "positive", 2),
    "reciprocal": (1e6, "positive", 2),
    "sin": (100, "any", 1),
    "cos": (100, "any", 1),
    "tan": (1, "any", 2),
    "asin": (1e6, "unit", 2),
    "acos": (1e6, "unit", 4),
    "atan": (1e6, "any", 2),
    "sinh": (8, "any", 3000),
    "cosh": (8, "any", 3000),
    "tanh": (INFINITE, "any", 1),
    "asinh": (1e4, "any", 12),
    "acosh": (1e4, "above one", 12),
    "atanh": (1e6, "unit", 2),
    "sigmoid": (INFINITE, "any", 1),
    "nn.softplus": (1e4, "any", 1e4),
    "nn.softsign": (1e6, "any", 1),
    "nn.relu": (INFINITE, "any", None),
    "nn.relu6": (INFINITE, "any", 6),
    "nn.elu": (1e4, "any", None),
    "nn.selu": (1e4, "any", None),
    "nn.leaky_relu": (1e4, "any", None),
    "lgamma": (100, "positive", 400),
    "digamma": (100, "positive", 10),
    "erf": (100, "any", 1),
    "erfc": (5, "any", 2),
    "identity": (INFINITE, "any", None),
    "stop_gradient": (INFINITE, "any", None),
    "zeros_like": (INFINITE, "any", 0),
    "ones_like": (INFINITE, "any", 1),
}
KEEPS_GRAIN = ("negative", "abs", "identity", "stop_gradient", "zeros_like", "ones_like", "nn.relu", "nn.relu6")
SINGLE = (
    "lgamma",
    "digamma",
    "erf",
    "erfc",
    "nn.elu",
    "nn.selu",
    "nn.softplus",
    "nn.softsign",
    "asinh",
    "acosh",
    "atanh",
    "asin",
    "acos",
    "atan",
    "tan",
    "sinh",
    "cosh",
)


@step("elementwise", 6)
def smooth(w):
    name = w.choice(SMOOTH)
    limit, place, bound = SMOOTH[name]
    x = w.pick(WHOLE if name in SINGLE else FLOATS)
    if w.outer is None or place != "any":
        x = into(w, w.tamed(x, limit), place)
    else:
        x = w.tamed(x, limit)
    grain = x.grain if name in KEEPS_GRAIN else 2 * x.grain if name == "square" and x.grain is not None else None
    w.emit(
        name,
        [x],
        dtype=x.dtype,
        dims=x.dims,
        bound=x.bound + 2 if bound is None else min(bound, x.bound**2 if name == "square" else bound),
        grain=grain,
    )


def into(w, x, place):
    """The tensor moved to where a function is smooth."""
    if place == "any":
        return x
    if place == "unit":
        x = w.emit("tanh", [x], dtype=x.dtype, dims=x.dims, bound=1)
        return w.emit("multiply", [x, 0.875], dtype=x.dtype, dims=x.dims, bound=0.875)
    more = 0.5 if place == "positive" else 1.5
    x = w.emit("abs", [x], dtype=x.dtype, dims=x.dims, bound=x.bound, grain=x.grain)
    return w.emit(
        "add", [x, more], dtype=x.dtype, dims=x.dims, bound=x.bound + 2, grain=None if x.grain is None else max(x.grain, 1)
    )


@step("elementwise", 1)
def with_jumps(w):
    name = w.choice(["sign", "floor", "ceil", "round", "rint", "trunc"])
    x = w.pick(FLOATS, exact=True)
    w.emit("floor" if name == "trunc" else name, [x], dtype=x.dtype, dims=x.dims, bound=x.bound + 1, grain=0)


@step("elementwise", 6)
def arithmetic(w):
    x = w.pick((*WHOLE, *w.dtypes), where=lambda t: t.dtype not in ("bool", "string"))
    y = w.partner(x)
    dims = joined(x.dims, y.dims)
    if dims is None:
        raise Unsuitable
    if w.chance(0.5):
        x, y = y, x
    names = ["add", "subtract", "multiply"] + ["maximum", "minimum", "squared_difference"] * (
        not x.dtype.startswith("complex")
    )
    if x.dtype in ("uint16", "uint8", "int8", "int16"):
        names = ["add", "subtract", "multiply"] if x.dtype != "uint16" else ["add", "multiply"]
    name = w.choice(names)
    if name in ("multiply", "squared_difference"):
        x, y = (w.tamed(t, 1e4) if t.dtype in FLOATS else t for t in (x, y))
    grains = (x.grain, y.grain)
    grain = (
        None
        if None in grains
        else sum(grains)
        if name == "multiply"
        else max(grains) * (2 if name[0] == "s" and "_" in name else 1)
    )
    bound = {
        "multiply": x.bound * y.bound,
        "maximum": max(x.bound, y.bound),
        "minimum": max(x.bound, y.bound),
        "squared_difference": (x.bound + y.bound) ** 2,
    }.get(name, x.bound + y.bound)
    w.emit(name, [x, y], dtype=x.dtype, dims=dims, bound=bound, grain=grain)


@step("elementwise", 2)
def division(w):
    x = w.pick(("float32", "float64", "int32", "int64"), exact=True)
    y = w.partner(x, exact=True)
    dims = joined(x.dims, y.dims)
    if dims is None or not (x.exact and y.exact):
        raise Unsuitable
    hazard = w.chance(0.06)
    if not hazard:
        y = w.emit("abs", [y], dtype=y.dtype, dims=y.dims, bound=y.bound, grain=y.grain)
        y = w.emit("maximum", [y, 1], dtype=y.dtype, dims=y.dims, bound=y.bound + 1, grain=y.grain)
    smooth_ones = ["divide", "truediv", "div_no_nan", "realdiv"] if x.dtype in FLOATS else ["truncatediv", "truncatemod"]
    name = w.choice(smooth_ones + ["floordiv", "mod", "div"])
    jump = x.dtype not in FLOATS or name in ("floordiv", "mod")
    w.emit(
        name,
        [x, y],
        dtype=x.dtype,
        dims=dims,
        bound=x.bound + y.bound,
        grain=(y.grain or 0) if jump and x.dtype in FLOATS else None,
    )


@step("elementwise", 1)
def rarer_functions(w):
    name = w.choice(["pow", "atan2", "igamma", "igammac", "zeta", "polygamma", "xdivy"])
    x = w.tamed(into(w, w.tamed(w.pick(WHOLE), 4), "positive"), 10)
    y = w.tamed(w.partner(x), 4)
    y = into(w, y, "above one" if name in ("zeta",) else "positive")
    dims = joined(x.dims, y.dims)
    if dims is None:
        raise Unsuitable
    if name == "zeta":
        x, y = y, x
    if name == "polygamma":
        x = w.leaf(x.dtype, (), low=1, high=4, grain=0)
        dims = y.dims
    w.emit({"xdivy": "math.xdivy"}.get(name, name), [x, y], dtype=x.dtype, dims=dims, bound=1e5)


@step("elementwise", 2)
def comparison(w):
    x = w.pick((*WHOLE, "int32", "int64", "uint8"), exact=True)
    y = w.partner(x, exact=True)
    dims = joined(x.dims, y.dims)
    if dims is None or not (x.exact and y.exact):
        raise Unsuitable
    w.emit(
        w.choice(["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]),
        [x, y],
        dtype="bool",
        dims=dims,
        bound=1,
    )


@step("elementwise", 1)
def logical(w):
    x = w.pick(("bool",))
    if w.chance(0.3):
        w.emit("logical_not", [x], dtype="bool", dims=x.dims, bound=1)
        return
    y = w.partner(x)
    dims = joined(x.dims, y.dims)
    if dims is None:
        raise Unsuitable
    w.emit(w.choice(["logical_and", "logical_or", "logical_xor"]), [x, y], dtype="bool", dims=dims, bound=1)


@step("elementwise", 2)
def choosing(w):
    c = w.pick(("bool",), low=0)
    x = w.leaf(w.choice(("float32", "int32", "float64")), c.dims)
    if c.rank > 0 and w.chance(0.6):
        like = [t for t in w.visible() if t.dims == c.dims and t.dtype in (*WHOLE, "int32")]
        x = w.choice(like) if like else x
    y = (
        w.leaf(x.dtype, x.dims)
        if w.chance(0.5)
        else w.emit("multiply", [x, 2], dtype=x.dtype, dims=x.dims, bound=2 * x.bound, grain=x.grain)
    )
    grain = None if x.grain is None or y.grain is None else max(x.grain, y.grain)
    w.emit(w.choice(["where", "where_v2"]), [c, x, y], dtype=x.dtype, dims=x.dims, bound=max(x.bound, y.bound), grain=grain)


@step("elementwise", 2)
def casting(w):
    x = w.pick((*FLOATS, *INTEGERS, "bool"), exact=True)
    to = w.choice((*FLOATS, *INTEGERS, "bool", "complex64"))
    if x.dtype in FLOATS and to in INTEGERS and (x.bound > 100 or to.startswith("u")):
        x = w.tamed(x, 4)
        if not x.exact or to.startswith("u"):
            raise Unsuitable
    grain = None if to not in FLOAT_BITS else 0 if x.dtype in (*INTEGERS, "bool") else x.grain
    bound = min(x.bound, 2**16) if to in ("int8", "uint8", "int16", "uint16") else 1 if to == "bool" else x.bound
    w.emit("cast", [x, {"dtype": to}], dtype=to, dims=x.dims, bound=bound, grain=grain)


@step("elementwise", 1)
def integers_only(w):
    x = w.pick(("int32", "int64", "uint8", "int8"))
    name = w.choice(["bitwise.bitwise_and", "bitwise.bitwise_or", "bitwise.bitwise_xor", "bitwise.invert"])
    if name == "bitwise.invert":
        w.emit(name, [x], dtype=x.dtype, dims=x.dims, bound=2**31)
        return
    y = w.partner(x)
    dims = joined(x.dims, y.dims)
    if dims is None:
        raise Unsuitable
    w.emit(name, [x, y], dtype=x.dtype, dims=dims, bound=2**31)


@step("elementwise", 1)
def with_special_values(w):
    """NaN, infinity and -0 through functions; not square roots, of which TensorFlow's are NaN for infinity in some lanes."""
    x = w.leaf(w.choice(WHOLE), special=True)
    y = w.leaf(x.dtype, x.dims, special=True)
    name = w.choice(
        [
            "maximum",
            "minimum",
            "add",
            "multiply",
            "divide",
            "abs",
            "sign",
            "floor",
            "is_nan",
            "is_inf",
            "is_finite",
            "less",
            "equal",
            "not_equal",
            "exp",
            "log",
            "tanh",
            "sigmoid",
            "nn.relu",
            "round",
            "atan2",
            "div_no_nan",
        ]
    )
    two = name in ("maximum", "minimum", "add", "multiply", "divide", "less", "equal", "not_equal", "atan2", "div_no_nan")
    dtype = "bool" if name.startswith("is_") or name in ("less", "equal", "not_equal") else x.dtype
    w.emit({"is_nan": "is_nan"}.get(name, name), [x, y] if two else [x], dtype=dtype, dims=x.dims, bound=INFINITE)


@step("elementwise", 1)
def complex_numbers(w):
    x = w.pick(("complex64",))
    name = w.choice(["real", "imag", "conj", "abs", "square", "negative", "exp", "multiply", "angle"])
    if name in ("exp", "square", "multiply") and x.bound > 8:
        raise Unsuitable
    dtype = "float32" if name in ("real", "imag", "abs", "angle") else "complex64"
    grain = x.grain if name in ("real", "imag", "conj", "negative") else None
    if name == "angle":
        x = w.emit("add", [x, 5.0], dtype=x.dtype, dims=x.dims, bound=x.bound + 5)
    w.emit(name, [x, x] if name == "multiply" else [x], dtype=dtype, dims=x.dims, bound=max(3000, x.bound**2), grain=grain)


@step("elementwise", 1)
def clipping(w):
    x = w.pick(WHOLE)
    w.emit("clip_by_value", [x, -1.5, 2.0], dtype=x.dtype, dims=x.dims, bound=2, grain=x.grain)


@step("elementwise", 1)
def added_up(w):
    x = w.pick((*WHOLE, "int32"))
    others = [t for t in w.visible() if t.dims == x.dims and t.dtype == x.dtype] or [x]
    terms = [w.choice(others) for _ in range(w.integer(1, 4))]
    grains = [t.grain for t in terms]
    w.emit(
        w.choice(["add_n"] if w.outer else ["add_n", "accumulate_n"]),
        [terms],
        dtype=x.dtype,
        dims=x.dims,
        bound=sum(t.bound for t in terms),
        grain=None if None in grains else max(grains),
    )
