"""Writes random programs: data that `build` says to a module.

A program is {"seed": of the graph or None, "statements": [...], "runs": [{"feed", "fetch"}, ...]}.  A statement is
{"op": path below the module, "in": arguments, "with": keywords, "out": name or names, "after": names it waits for}.

Writing keeps track of what a tensor will be, so that most programs are valid: its dtype, its dimensions in each run, a
bound of its values, whether its value is exact in every order of computing (functions with jumps take no others), and the
value itself where it is a size that later statements can use.
"""

import random
from dataclasses import dataclass, field

RUNS = 3  # the third is fed other sizes
FLOAT_BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53, "complex64": 24, "complex128": 53}
FLOATS = ("float32", "float64", "float16")
WHOLE = ("float32", "float64")
INTEGERS = ("int32", "int64", "int8", "uint8", "int16", "uint16")
INDEX = ("int32", "int64")
INFINITE = float("inf")
MOST = 2_000_000  # elements of a leaf


@dataclass
class Term:
    """What is known of a tensor of the program; dims: one tuple per dimension, of its size in each run."""

    name: str
    dtype: str
    dims: tuple
    bound: float = INFINITE
    grain: int | None = None  # values are whole multiples of 2 ** -grain; None: rounded
    known: tuple | None = None  # the value of an integer scalar in each run
    sources: frozenset = frozenset()  # the float tensors it is made of
    feedable: bool = True
    static: bool = True

    @property
    def rank(self):
        return len(self.dims)

    @property
    def exact(self):
        if self.dtype in FLOAT_BITS:
            return self.grain is not None and self.bound * 2**self.grain < 2 ** FLOAT_BITS[self.dtype]
        return True

    def sizes(self, run):
        return [d[run] for d in self.dims]

    def elements(self):
        return max(product(self.sizes(r)) for r in range(RUNS))

    def ever(self, size):
        return any(size in d for d in self.dims)


def product(numbers):
    total = 1
    for n in numbers:
        total *= n
    return total


def fixed(size):
    return (size,) * RUNS


def each(function, *dims):
    """A dimension made of others, run by run."""
    return tuple(function(*(d[r] for d in dims)) for r in range(RUNS))


def joined(*shapes):
    """The dims that broadcasting gives; None where it does not go in every run."""
    rank = max(len(s) for s in shapes)
    padded = [(fixed(1),) * (rank - len(s)) + tuple(s) for s in shapes]
    result = []
    for column in zip(*padded):
        size = []
        for run in range(RUNS):
            others = {d[run] for d in column} - {1}
            if len(others) > 1:
                return None
            size.append(others.pop() if others else 1)
        result.append(tuple(size))
    return tuple(result)


SMALL = [0, 1, 1, 2, 2, 3, 3, 4, 5, 7]
THRESHOLDS = [1, 2, 3, 15, 16, 17, 63, 64, 65, 4095, 4096, 4097, 131071, 131072, 131073, 300000]


@dataclass
class Writer:
    """Writes one program; steps (functions of a Writer) add statements to it."""

    seed: int
    large: bool = False
    dtypes: tuple = ("float32",)
    terms: list = field(default_factory=list)
    statements: list = field(default_factory=list)
    feeds: dict = field(default_factory=dict)  # name -> [spec of each run]
    outer: "Writer | None" = None
    changing: bool = True

    def __post_init__(self):
        self.random = random.Random(self.seed)
        self.count = 0

    # small decisions -------------------------------------------------------------------------------------------
    def chance(self, probability):
        return self.random.random() < probability

    def choice(self, items):
        return self.random.choice(list(items))

    def integer(self, low, high):
        return self.random.randint(low, high)

    def name(self):
        root = self
        while root.outer is not None:
            root = root.outer
        root.count += 1
        return f"t{root.count}"

    def size(self):
        """A dimension: fixed, or another in the last run."""
        pool = THRESHOLDS if self.large and self.chance(0.7) else SMALL
        first = self.choice(pool)
        if self.outer is None and self.changing and self.chance(0.4):
            return (first, first, self.choice(pool if self.chance(0.5) else SMALL))
        return fixed(first)

    def shape(self, low=0, high=3):
        limit = 400_000 if self.large else 600
        dims = []
        for _ in range(self.integer(low, high)):
            size = self.size()
            if all(product([d[r] for d in dims] + [size[r]]) <= limit for r in range(RUNS)):
                dims.append(size)
            else:
                dims.append(fixed(self.integer(1, 2)))
        return tuple(dims)

    def axis(self, term):
        axis = self.integer(0, term.rank - 1)
        return axis - term.rank if self.chance(0.3) else axis

    def axes(self, term):
        """Some axes, some of them counted from the end."""
        axes = [a for a in range(term.rank) if self.chance(0.5)]
        self.random.shuffle(axes)
        return [a - term.rank if self.chance(0.3) else a for a in axes]

    # tensors ---------------------------------------------------------------------------------------------------
    def emit(
        self,
        op,
        arguments,
        keywords=None,
        dtype=None,
        dims=None,
        bound=INFINITE,
        grain=None,
        known=None,
        after=(),
        terms=None,
    ):
        """Adds a statement and answers what it makes: one Term, or those given as `terms`."""
        inputs = [t for t in flat([arguments, list((keywords or {}).values())]) if isinstance(t, Term)]
        sources = frozenset(s for t in inputs if t.dtype[:5] in ("float", "compl") for s in (*t.sources, t.name))
        made = terms or [Term(self.name(), dtype, tuple(dims), bound, grain, known, sources)]
        if dtype is not None and FLOAT_BITS.get(dtype) and grain is not None and not made[0].exact:
            made[0].grain = None
        statement = {"op": op, "in": data(arguments), "out": [t.name for t in made] if terms else made[0].name}
        if keywords:
            statement["with"] = {k: data(v) for k, v in keywords.items()}
        if after:
            statement["after"] = [t.name for t in after]
        self.statements.append(statement)
        for term in made:
            term.sources = sources
            self.terms.append(term)
        return made if terms else made[0]

    def spec(self, dtype, sizes, low=-4, high=4, grain=2, **more):
        if dtype in ("uint8", "uint16"):
            low = max(low, 0)
        grain = grain if dtype in FLOAT_BITS else 0
        return dict(dtype=dtype, shape=list(sizes), seed=self.integer(0, 2**31 - 1), low=low, high=high, grain=grain, **more)

    def leaf(self, dtype=None, dims=None, low=-4, high=4, grain=2, kind=None, **more):
        """A placeholder, constant or variable."""
        dtype = dtype or self.choice(self.dtypes)
        dims = self.shape() if dims is None else tuple(dims)
        if self.outer is not None or dtype == "bfloat16":
            kind = "constant"
            dims = tuple(fixed(d[0]) for d in dims)
        changing = any(len(set(d)) > 1 for d in dims)
        kind = kind or (
            "placeholder" if changing else self.choice(["placeholder"] * 4 + ["constant", "variable", "resource"])
        )
        if dtype == "string" and kind in ("variable", "resource"):
            kind = "constant"
        bound = max(abs(low), abs(high)) * (1.5 if dtype.startswith("complex") else 1)
        if Term("", dtype, dims).elements() > MOST:
            raise Unsuitable
        term = Term(
            self.name(), dtype, dims, bound, (grain if dtype in FLOAT_BITS else None) if not more.get("special") else None
        )
        spec = self.spec(dtype, [d[0] for d in dims], low, high, grain, **more)
        if kind == "placeholder":
            self.placeholder(term, spec)
        elif kind == "constant":
            self.statements.append({"op": "constant", "in": [{"array": spec}], "out": term.name})
        else:
            value = {"array": spec}
            self.statements.append({"op": "variable", "in": [value, kind == "resource"], "out": term.name})
        if kind == "variable":
            term.feedable = False
        self.terms.append(term)
        return term

    def placeholder(self, term, spec):
        partly = [None if len(set(d)) > 1 or self.chance(0.3) else d[0] for d in term.dims]
        shape = None if self.chance(0.15) else partly
        term.static = shape is not None and None not in shape
        self.statements.append({"op": "placeholder", "in": [{"dtype": term.dtype}, shape], "out": term.name})
        self.feeds[term.name] = [dict(spec, shape=term.sizes(r), seed=spec["seed"] + r * 7) for r in range(RUNS)]

    def given(self, value, dtype="int32"):
        """An integer scalar that only the run knows, with this value in each run."""
        value = value if isinstance(value, tuple) else fixed(value)
        term = Term(self.name(), dtype, (), max(map(abs, value)), None, value)
        self.statements.append({"op": "placeholder", "in": [{"dtype": dtype}, []], "out": term.name})
        self.feeds[term.name] = [dict(dtype=dtype, shape=[], list=[v]) for v in value]
        self.terms.append(term)
        return term

    def pick(self, dtypes=None, low=0, high=9, exact=None, bound=None, where=None, most=None):
        """A tensor of the program, or a new leaf, with rank from low to high."""
        dtypes = self.dtypes if dtypes is None else dtypes
        suits = [
            t
            for t in self.visible()
            if t.dtype in dtypes
            and low <= t.rank <= high
            and (not exact or t.exact)
            and (bound is None or t.bound <= bound)
            and (most is None or t.elements() <= most)
            and (where is None or where(t))
        ]
        if suits and self.chance(0.85):
            late = suits[-4:] if self.chance(0.6) else suits
            return self.choice(late)
        for _ in range(20):
            dims = self.shape(low, min(high, max(low, 3)))
            trial = Term("", dtypes[0], dims)
            if (where is None or where(trial)) and (most is None or trial.elements() <= most):
                return self.leaf(self.choice(dtypes), dims)
        raise Unsuitable

    def visible(self):
        return (self.outer.visible() if self.outer is not None else []) + self.terms

    def partner(self, term, **more):
        """A tensor that `term` broadcasts with, of its dtype."""
        suits = [
            t
            for t in self.visible()
            if t.dtype == term.dtype
            and joined(t.dims, term.dims) is not None
            and product(max(d) for d in joined(t.dims, term.dims)) < 500_000
            and (not more.get("exact") or t.exact)
        ]
        if suits and self.chance(0.6):
            return self.choice(suits)
        dims = [fixed(1) if self.chance(0.3) else d for d in term.dims]
        return self.leaf(term.dtype, dims[self.integer(0, len(dims)) if self.chance(0.3) else 0 :])

    def tamed(self, term, limit=4.0):
        """The tensor, or its tanh or a part of it, with no value beyond the limit."""
        if term.bound <= limit:
            return term
        if term.dtype in FLOATS:
            return self.emit("tanh", [term], dtype=term.dtype, dims=term.dims, bound=1.0)
        return self.emit(
            "minimum",
            [self.emit("maximum", [term, 0], dtype=term.dtype, dims=term.dims, bound=INFINITE), int(limit)],
            dtype=term.dtype,
            dims=term.dims,
            bound=limit,
        )

    def inner(self):
        """A writer of a function's body, which sees what there is outside."""
        return Writer(self.integer(0, 2**31), self.large, self.dtypes, outer=self, changing=self.changing)

    # the whole -------------------------------------------------------------------------------------------------
    def program(self, graph_seed=None):
        """The program as data, with runs that fetch and feed some of its tensors."""
        return {"seed": graph_seed, "statements": self.statements, "runs": self.runs()}

    def runs(self):
        leaves = set(self.feeds)
        made = [t for t in self.terms if t.name not in leaves and t.feedable] or self.terms
        late = made[-6:]
        fetch = sorted(
            {t.name for t in late if self.chance(0.6)}
            | {t.name for t in made[-1:]}
            | {t.name for t in made if self.chance(0.15)}
        )
        over, ordered = {}, all(s["op"] != "minimize" for s in self.statements)
        if self.chance(0.2) and ordered:  # what is read of a trained variable is read first only where the loss needs it
            waited = {name for s in self.statements for name in s.get("after", ())}  # fed, it would no longer order the others
            over = {
                t.name: self.spec_of(t)
                for t in made
                if self.chance(0.15)
                and t.known is None
                and t.feedable
                and t.name not in waited
                and t.dtype not in ("string", "bfloat16")
            }
        return [
            {
                "fetch": fetch,
                "feed": {
                    **{name: specs[r] for name, specs in self.feeds.items()},
                    **{name: specs[r] for name, specs in over.items()},
                },
            }
            for r in range(RUNS)
        ]

    def spec_of(self, term):
        """What can be fed for a tensor that the program computes."""
        spec = self.spec(term.dtype, term.sizes(0), 0, 1 if term.dtype not in FLOATS else 4)
        return [dict(spec, shape=term.sizes(r)) for r in range(RUNS)]


class Unsuitable(Exception):
    """A step found nothing that it can be done to."""


def flat(given):
    if isinstance(given, (list, tuple)):
        return [one for part in given for one in flat(part)]
    if isinstance(given, dict):
        return [one for part in given.values() for one in flat(part)]
    return [given]


def data(given):
    """Arguments with tensors as {"t": name}."""
    if isinstance(given, Term):
        return {"t": given.name}
    if isinstance(given, (list, tuple)):
        return [data(one) for one in given]
    if isinstance(given, dict):
        return {k: v if k in ("array", "dtype", "t", "function") else data(v) for k, v in given.items()}
    return given
