"""Steps with functions inside: gradients, conds, loops, maps; bodies are written by the same steps."""

from .elementwise import added_up, arithmetic, clipping, smooth
from .program import INFINITE, WHOLE, Term, Unsuitable, data, fixed
from .steps import step


@step("gradients", 5)
def differentiated(w):
    """The gradients of a tensor, or of its square, with respect to some of those that it is made of."""

    def suits(t):
        return t.dtype in WHOLE and t.sources and t.elements() <= 200_000

    ys = [t for t in w.terms if suits(t)]
    if not ys:
        raise Unsuitable
    y = w.choice(ys[-4:])
    known = {t.name: t for t in w.terms}
    xs = [known[s] for s in sorted(y.sources) if s in known and known[s].dtype in WHOLE and known[s].feedable]
    if not xs:
        raise Unsuitable
    xs = w.random.sample(xs, min(len(xs), w.integer(1, 3)))
    if w.chance(0.5):
        y = w.emit("square", [w.tamed(y)], dtype=y.dtype, dims=y.dims, bound=16)
    keywords = {}
    if w.chance(0.2):
        like = w.emit("ones_like", [y], dtype=y.dtype, dims=y.dims, bound=1)
        keywords["grad_ys"] = w.emit("multiply", [like, 0.5], dtype=y.dtype, dims=y.dims, bound=1)
    if w.chance(0.1):
        keywords["stop_gradients"] = [w.choice(xs)]
    made = [Term(w.name(), x.dtype, x.dims, INFINITE) for x in xs]
    w.emit("gradients", [y, xs], keywords, terms=made)
    for term in made:
        term.sources = term.sources | y.sources


def body(w, params, like, count):
    """{"function"} of the params: some elementwise steps, and at last a value of the dims of `like`."""
    inner = w.inner()
    inner.terms = list(params)
    for _ in range(count):
        try:
            inner.choice([smooth, arithmetic, arithmetic, clipping, added_up])(inner)
        except Unsuitable:
            pass
    suits = [t for t in inner.terms if t.dtype == like.dtype and t.dims == like.dims]
    if not suits:
        raise Unsuitable
    last = suits[-1]
    if last.bound > 8:
        last = inner.emit("tanh", [last], dtype=last.dtype, dims=last.dims, bound=1)
    return inner, last


def function(params, inner, results):
    sources = frozenset(s for t in inner.terms for s in (*t.sources, t.name))
    return {
        "function": {"params": [p.name for p in params], "body": inner.statements, "results": [r.name for r in results]}
    }, sources


def initial(w, most=2000):
    """A loop's first value: often one that is computed."""
    x = w.pick(WHOLE, most=most)
    roll = w.random.random()
    if roll < 0.6 or x.bound > 8:
        x = w.emit("tanh", [x], dtype=x.dtype, dims=x.dims, bound=1)
    elif roll < 0.8:
        x = w.emit("multiply", [x, 2.0], dtype=x.dtype, dims=x.dims, bound=2 * x.bound, grain=x.grain)
    return x


@step("control", 4)
def loop(w):
    values = [initial(w) for _ in range(w.integer(1, 2))]
    times = w.choice([0, 1, 1, 2, 3]) if w.chance(0.6) else w.given(w.choice([(1, 2, 3), (2, 2, 0), (0, 3, 1), (1, 1, 1)]))
    counter = Term(w.name(), "int32", (), 3)
    params = [counter, *(Term(w.name(), v.dtype, v.dims, INFINITE, sources=v.sources) for v in values)]
    for p in params:
        p.feedable = False
    inner = w.inner()
    results, statements, sources = [], [], frozenset()
    for value in params[1:]:
        inner, last = body(w, params[1:], value, w.integer(1, 3))
        statements += inner.statements
        sources |= function(params, inner, [last])[1]
        results.append(last.name)
    if len(results) == 2 and values[0].dims == values[1].dims and values[0].dtype == values[1].dtype and w.chance(0.3):
        results.reverse()
    nxt = w.name()
    statements.append({"op": "add", "in": [{"t": counter.name}, 1], "out": nxt})
    less = w.name()
    test = {
        "function": {
            "params": [p.name for p in params],
            "results": [less],
            "body": [{"op": "less", "in": [{"t": counter.name}, data(times)], "out": less}],
        }
    }
    step_ = {"function": {"params": [p.name for p in params], "body": statements, "results": [nxt, *results]}}
    made = [Term(w.name(), "int32", (), 3), *(Term(w.name(), v.dtype, v.dims, INFINITE) for v in values)]
    keywords = {"parallel_iterations": 1} if w.chance(0.2) else {}
    w.emit("while_loop", [test, step_, [0, *values]], keywords, terms=made)
    for term, value in zip(made[1:], values):
        term.sources = value.sources | {value.name} | (sources - {p.name for p in params})
        term.bound = 1e4


@step("control", 2)
def choice_of(w):
    x = w.pick(WHOLE, most=3000)
    if w.chance(0.5):
        p = w.leaf("bool", (), kind="placeholder")
    else:
        n = w.leaf("int32", (), kind="placeholder")
        p = w.emit("less", [n, 1], dtype="bool", dims=(), bound=1)
    branches, sources = [], x.sources | {x.name}
    for _ in range(2):
        inner, last = body(w, [x], x, w.integer(1, 3))
        made, more = function([], inner, [last])
        if not inner.statements:
            name = inner.name()
            made["function"]["body"] = [{"op": "identity", "in": [{"t": last.name}], "out": name}]
            made["function"]["results"] = [name]
        branches.append(made)
        sources |= more
    made = w.emit("cond", [p, *branches], dtype=x.dtype, dims=x.dims, bound=1e4)
    made.sources = sources


@step("control", 2)
def mapped(w):
    x = w.pick(WHOLE, low=1, most=300)
    name = w.choice(["map_fn", "scan", "foldl"])
    element = Term(w.name(), x.dtype, x.dims[1:], x.bound)
    if name == "map_fn":
        inner, last = body(w, [element], element, 2)
        made, _ = function([element], inner, [last])
        out = w.emit(name, [made, x], dtype=x.dtype, dims=x.dims, bound=1e4)
    else:
        if x.ever(0):
            raise Unsuitable
        kept = Term(w.name(), x.dtype, x.dims[1:], INFINITE)
        inner, last = body(w, [kept, element], kept, 2)
        made, _sources = function([kept, element], inner, [last])
        first = w.emit(
            "zeros_like",
            [w.emit("getitem", [x, 0], dtype=x.dtype, dims=x.dims[1:], bound=x.bound)],
            dtype=x.dtype,
            dims=x.dims[1:],
            bound=0,
        )
        out = w.emit(name, [made, x, first], dtype=x.dtype, dims=x.dims if name == "scan" else x.dims[1:], bound=1e4)
    out.sources = x.sources | {x.name}


@step("control", 2)
def written(w):
    """A TensorArray that holds a loop's values."""
    first = initial(w, 500)
    count = w.integer(1, 3)
    param = Term(w.name(), first.dtype, first.dims, INFINITE)
    inner, last = body(w, [param], param, 2)
    made, _sources = function([param], inner, [last])
    terms = [Term(w.name(), first.dtype, (fixed(count), *first.dims), 1e4), Term(w.name(), first.dtype, first.dims, 1e4)]
    w.emit("written", [first, count, made], terms=terms)
    for t in terms:
        t.sources = first.sources | {first.name}


@step("control", 1)
def gated(w):
    x = w.pick((*WHOLE, "int32"))
    gate = w.choice([t for t in w.terms if t.dtype != "string"] or [x])
    w.emit("guarded", [[gate], x], dtype=x.dtype, dims=x.dims, bound=x.bound, grain=x.grain)
