"""Programs of variables without the control edges that would order them, and what they mean.

TensorFlow leaves the order open; the promise is the order in which the operations were created.  So the meaning is that
of a Python program: `meaning` carries out, one after the other, the statements that the fetches need.
"""

import random

import numpy as np

from . import values
from .shrink import names

PURE = {
    "add": np.add,
    "subtract": np.subtract,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "negative": np.negative,
    "identity": np.array,
}
WRITES = {"assign": lambda old, new: new, "assign_add": np.add, "assign_sub": np.subtract}
SCATTERS = {
    "scatter_update": lambda old, new: new,
    "scatter_add": np.add,
    "scatter_sub": np.subtract,
    "scatter_max": np.maximum,
    "scatter_min": np.minimum,
}


class Names:
    def __init__(self):
        self.count = 0

    def new(self):
        self.count += 1
        return f"t{self.count}"


def program(seed):
    """Statements that read, write and combine a few variables of one shape; runs that fetch some of them, three times."""
    r, fresh = random.Random(seed), Names()
    rows = r.randint(1, 4)
    spec = lambda: {
        "array": {"dtype": "float32", "shape": [rows], "seed": r.randint(0, 10**6), "low": -8, "high": 8, "grain": 0}
    }
    resource = [r.random() < 0.5 for _ in range(r.randint(1, 3))]
    statements = [{"op": "variable", "in": [spec(), kind], "out": fresh.new()} for kind in resource]
    variables = [s["out"] for s in statements]
    x = fresh.new()
    statements.append({"op": "placeholder", "in": [{"dtype": "float32"}, [rows]], "out": x})
    p = fresh.new()
    statements.append({"op": "placeholder", "in": [{"dtype": "bool"}, []], "out": p})
    tensors, writes = [x], []
    for _ in range(r.randint(3, 9)):
        made = some(r, fresh, rows, variables, tensors, p, spec)
        if writes and r.random() < 0.15:
            made["after"] = [r.choice(writes)]
        statements.append(made)
        (tensors if made["op"] in (*PURE, ".read_value", "cond", "while_loop") else writes).append(last(made))
    fetch = r.sample(tensors[1:], r.randint(1, len(tensors) - 1)) if len(tensors) > 1 else []
    for name in r.sample(writes, r.randint(0, len(writes))):
        statements.append({"op": "group", "in": [{"t": name}], "out": fresh.new()})
        fetch.append(statements[-1]["out"])
    finals = []
    fetch = fetch or [variables[0]]
    feeds = [{x: dict(spec()["array"]), p: {"dtype": "bool", "shape": [], "list": [r.random() < 0.5]}} for _ in range(3)]
    runs = [{"fetch": fetch + finals, "feed": feed} for feed in feeds]
    return {"seed": None, "kind": "unordered", "statements": statements, "runs": runs}


def last(statement):
    return statement["out"][-1] if isinstance(statement["out"], list) else statement["out"]


def some(r, fresh, rows, variables, tensors, p, spec):
    """One statement."""
    roll = r.random()
    tensor = lambda: {"t": r.choice(tensors[-4:])}
    if roll < 0.3:
        return {"op": ".read_value", "in": [{"t": r.choice(variables)}], "out": fresh.new()}
    if roll < 0.65:
        return write(r, fresh, rows, {"t": r.choice(variables)}, tensor())
    if roll < 0.8:
        op = r.choice(sorted(PURE))
        return {"op": op, "in": [tensor() for _ in range(1 if op in ("negative", "identity") else 2)], "out": fresh.new()}
    body = [write(r, fresh, rows, {"t": r.choice(variables)}, tensor())]
    body.append({"op": ".read_value", "in": [{"t": r.choice(variables)}], "out": fresh.new(), "after": [body[0]["out"]]})
    body.append({"op": "add", "in": [tensor(), {"t": body[1]["out"]}], "out": fresh.new()})
    if roll < 0.92:
        other = [{"op": "negative", "in": [tensor()], "out": fresh.new()}]
        branches = [{"function": {"params": [], "body": b, "results": [b[-1]["out"]]}} for b in (body, other)]
        return {"op": "cond", "in": [{"t": p}, *branches], "out": fresh.new()}
    k, value, more, less = (fresh.new() for _ in range(4))
    body.append({"op": "minimum", "in": [{"t": body[-1]["out"]}, {"t": value}], "out": fresh.new()})
    body.append({"op": "add", "in": [{"t": k}, 1], "out": more})
    test = {"params": [k, value], "results": [less], "body": [{"op": "less", "in": [{"t": k}, r.randint(0, 3)], "out": less}]}
    step = {"params": [k, value], "body": body, "results": [more, body[-2]["out"]]}
    return {
        "op": "while_loop",
        "in": [{"function": test}, {"function": step}, [0, tensor()]],
        "out": [fresh.new(), fresh.new()],
    }


def write(r, fresh, rows, variable, value):
    if r.random() < 0.5:
        return {"op": r.choice(sorted(WRITES)), "in": [variable, value], "out": fresh.new()}
    order = r.sample(range(rows), rows)
    index = {"array": {"dtype": "int32", "shape": [rows], "list": order}}
    return {"op": r.choice(sorted(SCATTERS)), "in": [variable, index, value], "out": fresh.new()}


# -- the meaning ---------------------------------------------------------------------------------------------------


def meaning(program):
    """{name: array} of each run."""
    state = {s["out"]: values.make(s["in"][0]["array"]) for s in program["statements"] if s["op"] == "variable"}
    found = []
    for run in program["runs"]:
        known = {name: values.make(spec) for name, spec in run["feed"].items()}
        wanted = needed(program["statements"], run["fetch"])
        for statement in program["statements"]:
            if set(outs(statement)) & wanted and statement["op"] not in ("variable", "placeholder"):
                carry_out(statement, known, state)
        found.append(
            {
                name: known[name] if name in known else state[name].copy()
                for name in run["fetch"]
                if known.get(name, 0) is not None
            }
        )
    return found


def needed(statements, fetch):
    wanted = set(fetch)
    for statement in reversed(statements):
        if set(outs(statement)) & wanted:
            wanted |= names(statement)
    return wanted


def outs(statement):
    return statement["out"] if isinstance(statement["out"], list) else [statement["out"]]


def carry_out(statement, known, state):
    op, given = statement["op"], statement["in"]
    value = lambda one: known[one["t"]] if isinstance(one, dict) and "t" in one else one
    if op == "group":
        known[statement["out"]] = None
    elif op in PURE:
        known[statement["out"]] = PURE[op](*map(value, given))
    elif op == "less":
        known[statement["out"]] = value(given[0]) < value(given[1])
    elif op == ".read_value":
        known[statement["out"]] = state[given[0]["t"]].copy()
    elif op in WRITES:
        name = given[0]["t"]
        state[name] = np.array(WRITES[op](state[name], value(given[1])))
        known[statement["out"]] = None
    elif op in SCATTERS:
        name, order = given[0]["t"], given[1]["array"]["list"]
        old, new = state[name].copy(), value(given[2])
        for row, place in enumerate(order):
            old[place] = SCATTERS[op](old[place], new[row])
        state[name], known[statement["out"]] = old, None
    elif op == "cond":
        (known[statement["out"]],) = call(given[1 if value(given[0]) else 2], [], known, state)
    else:
        held = [np.int32(0), *map(value, given[2][1:])]
        while call(given[0], held, known, state)[0]:
            held = call(given[1], held, known, state)
        known.update(zip(statement["out"], held))


def call(given, arguments, known, state):
    what = given["function"]
    inner = dict(known)
    inner.update(zip(what["params"], arguments))
    wanted = needed(what["body"], what["results"])
    for statement in what["body"]:
        if set(outs(statement)) & wanted:
            carry_out(statement, inner, state)
    return [inner[name] for name in what["results"]]
