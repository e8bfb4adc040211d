"""The program of a seed: which families a program is written of, how long it is, and what sizes it has."""

from . import arrays, control, elementwise, linear, others, reductions, sizes, state  # noqa: F401  (they fill the table)
from .program import Unsuitable, Writer
from .steps import FAMILIES

# name: (families with their weights, whether sizes lie around the compiler's thresholds)
KINDS = {
    "elementwise": ({"elementwise": 4, "arrays": 1, "gradients": 0.5}, False),
    "reductions": ({"elementwise": 2, "reductions": 4, "arrays": 1, "gradients": 0.5}, False),
    "arrays": ({"elementwise": 2, "arrays": 4, "reductions": 1, "gradients": 0.5}, False),
    "indexing": ({"elementwise": 2, "indexing": 4, "arrays": 1, "gradients": 0.7}, False),
    "sizes": ({"elementwise": 1.5, "sizes": 4, "reductions": 1, "arrays": 1, "gradients": 0.7}, False),
    "linear": ({"elementwise": 1, "linear": 4, "reductions": 1, "gradients": 1}, False),
    "windows": ({"elementwise": 1, "windows": 4, "reductions": 1, "gradients": 1.5}, False),
    "control": ({"elementwise": 1, "control": 4, "reductions": 0.7, "gradients": 2}, False),
    "mixed": (
        dict.fromkeys(
            ("elementwise", "reductions", "arrays", "indexing", "sizes", "linear", "windows", "control", "gradients"), 1
        ),
        False,
    ),
    "large": ({"elementwise": 3, "reductions": 3, "arrays": 1.5, "indexing": 1, "gradients": 0.7, "sizes": 0.7}, True),
    "state": ({"state": 1}, False),
    "training": ({"training": 1}, False),
    "random": ({"random": 3, "elementwise": 1, "gradients": 0.3, "control": 0.3}, False),
    "strings": ({"strings": 3, "arrays": 1}, False),
}


def program(seed, kind):
    """A program of a kind, the same for the same seed."""
    families, large = KINDS[kind]
    w = Writer(seed * 7919 + sum(map(ord, kind)), large)
    w.changing = w.chance(0.6)
    w.dtypes = w.choice(
        [
            ("float32",),
            ("float32",),
            ("float32", "int32"),
            ("float64",),
            ("float32", "float64", "int32", "int64", "bool"),
            ("float16",),
            ("int8", "uint8", "int16"),
            ("int64",),
        ]
    )
    graph_seed = w.integer(0, 10_000) if kind == "random" and w.chance(0.7) else None
    steps = 1 if kind in ("state", "training") else w.integer(2, 5) if large else w.integer(2, 9)
    names = list(families)
    done = tries = 0
    while done < steps and tries < 60:
        tries += 1
        family = w.random.choices(names, [families[n] for n in names])[0]
        weights, functions = zip(*FAMILIES[family])
        mark = len(w.statements), len(w.terms)
        try:
            w.random.choices(functions, weights)[0](w)
            done += 1
        except (Unsuitable, OverflowError):  # the latter: of a bound
            if len(w.statements) == mark[0]:
                del w.terms[mark[1] :]
    if graph_seed is None and kind == "random":  # what is unseeded cannot be compared
        for statement in w.statements:
            if statement["op"] in SEEDED:
                statement.setdefault("with", {}).setdefault("seed", 5)
    return dict(w.program(graph_seed), kind=kind)


SEEDED = (
    "random_normal",
    "random_uniform",
    "truncated_normal",
    "random_shuffle",
    "multinomial",
    "random_gamma",
    "random_poisson",
    "nn.dropout",
)
