"""Programs of variables: writers and readers in a chain of control edges, so that TensorFlow's order is given, too."""

from .elementwise import added_up, arithmetic, clipping, smooth
from .program import Term, Unsuitable, fixed
from .steps import step

WRITERS = (
    "assign",
    "assign_add",
    "assign_sub",
    "scatter_update",
    "scatter_add",
    "scatter_sub",
    "scatter_mul",
    "scatter_max",
    "scatter_min",
    "scatter_nd_update",
    "scatter_nd_add",
    "minimize",
)


class Chain:
    """What a program's stateful statements wait for: the one before."""

    def __init__(self, w):
        self.w, self.last, self.variables, self.count = w, None, [], 0

    def emit(self, *arguments, **keywords):
        made = self.w.emit(*arguments, after=[self.last] if self.last else (), **keywords)
        self.last = made
        self.count += 1
        return made

    def variable(self):
        w = self.w
        dims = tuple(fixed(w.integer(1, 5)) for _ in range(w.integer(1, 2)))
        if self.variables and w.chance(0.5):
            dims = w.choice(self.variables)[0].dims
        resource = w.chance(0.5)
        dtype = w.choice(["float32", "float32", "int32"])
        spec = w.spec(dtype, [d[0] for d in dims])
        term = Term(w.name(), dtype, dims, 4, 2 if dtype == "float32" else None, feedable=False)
        w.statements.append({"op": "variable", "in": [{"array": spec}, resource], "out": term.name})
        self.variables.append((term, resource))

    def read(self, variable, resource):
        """A value of its own: adding 0 copies what a reference variable's buffer holds."""
        w = self.w
        if resource and w.chance(0.7):
            return self.emit(".read_value", [variable], dtype=variable.dtype, dims=variable.dims, bound=1e3, grain=2)
        return self.emit("add", [variable, 0], dtype=variable.dtype, dims=variable.dims, bound=1e3, grain=2)

    def value(self, variable, dims):
        """What is written: computed from earlier reads, or a leaf."""
        w = self.w
        suits = [t for t in w.terms if t.dtype == variable.dtype and t.dims == tuple(dims) and t.feedable]
        if suits and w.chance(0.7):
            value = w.choice(suits)
            return w.tamed(value, 50) if w.chance(0.9) else value
        return w.leaf(variable.dtype, dims)

    def write(self, variable, resource):
        w = self.w
        name = w.choice(WRITERS[:-1])
        keep = dict(dtype=variable.dtype, dims=variable.dims, bound=1e3, grain=2)
        if name.startswith("assign"):
            self.emit(name, [variable, self.value(variable, variable.dims)], **keep)
        elif "nd" in name:
            n = fixed(w.integer(0, 4))
            index = self.indices((n, fixed(1)), variable)
            self.emit(name, [variable, index, self.value(variable, (n, *variable.dims[1:]))], **keep)
        else:
            n = variable.dims[0] if w.chance(0.5) else fixed(w.integer(0, 4))
            index = self.indices((n,), variable)
            self.emit(name, [variable, index, self.value(variable, (n, *variable.dims[1:]))], **keep)
        w.terms.remove(self.last)  # a reference variable's writer gives the variable's buffer itself, which later ones change

    def indices(self, dims, variable):
        w = self.w
        n = variable.dims[0][0]
        unique = dims[0][0] <= n
        if unique:
            order = w.random.sample(range(n), dims[0][0])
            spec = {"dtype": "int32", "shape": [d[0] for d in dims], "list": order}
        else:
            spec = w.spec("int32", [d[0] for d in dims], 0, 0)
        return {"array": spec}


def pure(w):
    try:
        w.choice([smooth, arithmetic, arithmetic, clipping, added_up])(w)
    except Unsuitable:
        pass


@step("state", 1)
def sequence(w):
    chain = Chain(w)
    for _ in range(w.integer(1, 3)):
        chain.variable()
    for _ in range(w.integer(3, 9)):
        roll = w.random.random()
        variable, resource = w.choice(chain.variables)
        if roll < 0.4:
            chain.write(variable, resource)
        elif roll < 0.75:
            chain.read(variable, resource)
        elif roll < 0.85:
            branches(w, chain)
        else:
            pure(w)
    for variable, resource in chain.variables:
        chain.read(variable, resource)


def branches(w, chain):
    """A cond whose branches write a variable and read it, or read what was read before it."""
    variable, resource = w.choice(chain.variables)
    if variable.dtype != "float32":
        raise Unsuitable
    before = chain.read(variable, resource)
    p = w.leaf("bool", (), kind="placeholder")
    names = [w.name() for _ in range(6)]
    amount = w.integer(1, 3)
    wrote = [
        {
            "op": "assign_add",
            "in": [
                {"t": variable.name},
                {
                    "array": {
                        "dtype": "float32",
                        "shape": [d[0] for d in variable.dims],
                        "list": [amount] * variable.elements(),
                    }
                },
            ],
            "out": names[0],
        },
        {"op": "multiply", "in": [{"t": before.name}, 2.0], "out": names[1], "after": [names[0]]},
    ]
    kept = [{"op": "negative", "in": [{"t": before.name}], "out": names[2]}]
    chain.emit(
        "cond",
        [
            p,
            {"function": {"params": [], "body": wrote, "results": [names[1]]}},
            {"function": {"params": [], "body": kept, "results": [names[2]]}},
        ],
        dtype="float32",
        dims=variable.dims,
        bound=1e3,
        grain=2,
    )


@step("training", 1)
def trained(w):
    """A few steps of an optimizer, dense or sparse."""
    chain = Chain(w)
    rows, columns = fixed(w.integer(1, 5)), fixed(w.integer(1, 4))
    spec = w.spec("float32", [rows[0], columns[0]])
    v = Term(w.name(), "float32", (rows, columns), 4, 2, feedable=False)
    w.statements.append({"op": "variable", "in": [{"array": spec}, w.chance(0.5)], "out": v.name})
    if w.chance(0.5):
        index = w.leaf("int32", w.shape(1, 1), 0, rows[0] - 1)
        x = w.emit("gather", [v, index], dtype="float32", dims=(*index.dims, columns), bound=4)
    else:
        x = w.emit("multiply", [v, 1.5], dtype="float32", dims=v.dims, bound=6)
    for _ in range(w.integer(0, 3)):
        pure(w)
    like = [t for t in w.terms if t.dims == x.dims and t.dtype == "float32" and v.name in t.sources] or [x]
    y = w.choice(like)
    y = w.emit("square", [w.tamed(y, 10)], dtype="float32", dims=y.dims, bound=100)
    loss = w.emit("reduce_sum", [y], dtype="float32", dims=(), bound=1e5)
    name, rates = w.choice(
        [
            ("GradientDescentOptimizer", [0.125]),
            ("MomentumOptimizer", [0.125, 0.5]),
            ("AdamOptimizer", [0.125]),
            ("AdagradOptimizer", [0.125]),
            ("RMSPropOptimizer", [0.125]),
            ("AdadeltaOptimizer", [0.5]),
            ("FtrlOptimizer", [0.125]),
            ("ProximalGradientDescentOptimizer", [0.125]),
        ]
    )
    trained = Term(w.name(), "none", ())
    w.statements.append({"op": "minimize", "in": [name, rates, {"t": loss.name}, [{"t": v.name}]], "out": trained.name})
    chain.last = trained
    chain.read(v, True)
