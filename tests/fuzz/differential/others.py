"""Steps of strings and of seeded random numbers."""

from .program import fixed
from .steps import step


@step("strings", 1)
def strings(w):
    x = w.pick(("string",), most=300)
    name = w.choice(
        [
            "strings.length",
            "strings.join",
            "substr",
            "regex_replace",
            "strings.to_hash_bucket_fast",
            "reduce_join",
            "strings.lower",
            "strings.upper",
            "equal",
            "string_to_number",
            "as_string",
            "string_strip",
            "strings.length",
        ]
    )
    if name == "strings.length":
        w.emit(name, [x], dtype="int32", dims=x.dims, bound=100)
    elif name == "strings.join":
        w.emit(name, [[x, x]], {"separator": "-"}, "string", x.dims)
    elif name == "substr":
        w.emit(name, [x, 0, w.integer(0, 3)], dtype="string", dims=x.dims)
    elif name == "regex_replace":
        w.emit(name, [x, "[a-c]+", "<\\\\0>"], dtype="string", dims=x.dims)
    elif name == "strings.to_hash_bucket_fast":
        w.emit(name, [x, 100], dtype="int64", dims=x.dims, bound=100)
    elif name == "reduce_join":
        w.emit(name, [x, list(range(x.rank))], dtype="string", dims=())
    elif name == "equal":
        w.emit(name, [x, x], dtype="bool", dims=x.dims, bound=1)
    elif name == "as_string":
        y = w.pick(("int32", "float32", "bool", "int64"), exact=True)
        w.emit(name, [y], dtype="string", dims=y.dims)
    elif name == "string_to_number":
        y = w.leaf("int32", w.shape())
        text = w.emit("as_string", [y], dtype="string", dims=y.dims)
        w.emit(name, [text], dtype="float32", dims=y.dims, bound=10, grain=0)
    elif name in ("strings.lower", "strings.upper", "string_strip"):
        w.emit(name, [x], dtype="string", dims=x.dims)


@step("random", 1)
def random_numbers(w):
    name = w.choice(
        [
            "random_normal",
            "random_uniform",
            "truncated_normal",
            "random_shuffle",
            "multinomial",
            "random_uniform_int",
            "random_gamma",
            "random_poisson",
            "nn.dropout",
        ]
    )
    seed = {"seed": w.integer(0, 1000)} if w.chance(0.5) else {}
    dims = tuple(fixed(w.integer(0, 20)) for _ in range(w.integer(0, 2)))
    shape = [d[0] for d in dims]
    if name == "random_shuffle":
        x = w.pick(("float32", "int32"), low=1, most=3000)
        w.emit(name, [x], seed, x.dtype, x.dims, x.bound, x.grain)
    elif name == "multinomial":
        x = w.leaf("float32", (fixed(w.integer(1, 4)), fixed(w.integer(1, 4))))
        w.emit(name, [x, 5], seed, "int64", (x.dims[0], fixed(5)), 4)
    elif name == "random_uniform_int":
        w.emit(
            "random_uniform",
            [shape],
            {"minval": -3, "maxval": 9, "dtype": {"dtype": w.choice(["int32", "int64"])}, **seed},
            "int32",
            dims,
            9,
        )
    elif name == "random_gamma":
        w.emit(name, [shape], {"alpha": 2.0, **seed}, "float32", dims, 100)
    elif name == "random_poisson":
        w.emit(name, [], {"lam": 2.0, "shape": shape, **seed}, "float32", dims, 100, 0)
    elif name == "nn.dropout":
        x = w.pick(("float32",), most=3000)
        w.emit(name, [x], {"rate": 0.5, **seed}, "float32", x.dims, 2 * x.bound, x.grain)
    else:
        w.emit(name, [shape], seed, "float32", dims, 10)
