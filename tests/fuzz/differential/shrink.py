"""Makes a program that differs small: fewer runs, fetches and statements, as long as it still differs."""

import copy
import time


def needed(program):
    """The program without statements that no fetch needs, and without what is fed to them."""
    wanted = {name for run in program["runs"] for name in run["fetch"]}
    kept = []
    for statement in reversed(program["statements"]):
        out = statement.get("out")
        outs = out if isinstance(out, list) else [out]
        if wanted & set(outs):
            kept.append(statement)
            wanted |= names(statement)
    program["statements"] = kept[::-1]
    for statement in program["statements"]:
        for what in bodies(statement):
            prune(what)
    for run in program["runs"]:
        run["feed"] = {name: spec for name, spec in run["feed"].items() if name in wanted}
    return program


def bodies(statement):
    """The functions among a statement's arguments."""
    return [a["function"] for a in statement.get("in", []) if isinstance(a, dict) and "function" in a]


def prune(what):
    """Leaves out of a function's body what its results do not need."""
    wanted, kept = set(what["results"]), []
    for statement in reversed(what["body"]):
        out = statement.get("out")
        if wanted & set(out if isinstance(out, list) else [out]):
            kept.append(statement)
            wanted |= names(statement)
    what["body"] = kept[::-1]


def names(given):
    """All tensors that a statement mentions."""
    if isinstance(given, list):
        return set().union(*map(names, given)) if given else set()
    if not isinstance(given, dict):
        return set()
    found = {given["t"]} if isinstance(given.get("t"), str) else set()
    found |= set(given.get("after", ()) if isinstance(given.get("after"), list) else ())
    found |= set(given.get("results", ()) if isinstance(given.get("results"), list) else ())
    return found.union(*(names(v) for k, v in given.items() if k not in ("out", "after", "results", "params")))


def smaller(program):
    """Programs that are a little smaller, the much smaller ones first."""
    for k in range(len(program["runs"])):
        if len(program["runs"]) > 1:
            yield changed(program, lambda p, k=k: p["runs"].pop(k))
    fetches = sorted({name for run in program["runs"] for name in run["fetch"]})
    if len(fetches) > 1:
        for name in fetches:
            yield changed(program, lambda p, name=name: [r.update(fetch=[name]) for r in p["runs"]])
        for name in fetches:
            yield changed(
                program, lambda p, name=name: [r.update(fetch=[f for f in r["fetch"] if f != name]) for r in p["runs"]]
            )
    for k, statement in enumerate(program["statements"]):
        if isinstance(statement.get("out"), str):
            for other in inputs(statement):
                yield changed(program, lambda p, k=k, other=other: bypass(p, k, other))
        for j, what in enumerate(bodies(statement)):
            for i, inner in enumerate(what["body"]):
                for other in inputs(inner) if isinstance(inner.get("out"), str) else ():
                    yield changed(
                        program, lambda p, k=k, j=j, i=i, other=other: bypass_inside(bodies(p["statements"][k])[j], i, other)
                    )
    for name in sorted({n for run in program["runs"] for n in run["feed"]}):
        if not any(s["op"] == "placeholder" and s["out"] == name for s in program["statements"]):
            yield changed(program, lambda p, name=name: [r["feed"].pop(name, None) for r in p["runs"]])
    for k, statement in enumerate(program["statements"]):
        if statement.get("after"):
            yield changed(program, lambda p, k=k: p["statements"][k].pop("after"))
        if statement["op"] == "getitem" and len(statement["in"]) > 2:
            yield changed(program, lambda p, k=k: p["statements"][k]["in"].pop())


def inputs(statement):
    return [a["t"] for a in statement.get("in", []) if isinstance(a, dict) and "t" in a]


def bypass(program, k, other):
    """Puts an input of a statement in the place of what it makes."""
    gone = program["statements"].pop(k)["out"]
    program["statements"] = renamed(program["statements"], gone, other)
    for run in program["runs"]:
        run["fetch"] = sorted(set(renamed(run["fetch"], gone, other)))
        run["feed"].pop(gone, None)


def bypass_inside(what, k, other):
    """The same in a function's body."""
    gone = what["body"].pop(k)["out"]
    what["body"], what["results"] = renamed(what["body"], gone, other), renamed(what["results"], gone, other)


def renamed(given, gone, other):
    if isinstance(given, list):
        return [renamed(one, gone, other) for one in given]
    if isinstance(given, dict):
        return {key: renamed(value, gone, other) for key, value in given.items()}
    return other if given == gone else given


def changed(program, change):
    program = copy.deepcopy(program)
    change(program)
    return needed(program)


def shrink(program, differs, tries=150, seconds=60):
    """The smallest program found for which `differs` still holds."""
    end = time.monotonic() + seconds
    program, left = shorter_fetches(program, differs), tries
    found = True
    while found and left > 0:
        found = False
        for trial in smaller(program):
            left -= 1
            if trial["statements"] and any(r["fetch"] for r in trial["runs"]) and differs(trial):
                program, found = trial, True
                break
            if left <= 0 or time.monotonic() > end:
                return program
    return program


def shorter_fetches(program, differs):
    """The program without what no fetch needs, if it differs without that."""
    trial = needed(copy.deepcopy(program))
    return trial if differs(trial) else program
