"""prune: keep the operations that fetches and targets need; a fed tensor hides what computes it."""
from __future__ import annotations

from jitgraph.frames.structure import sources_of


def prune(program):
    """Keeps what fetches and targets need, cut at feeds, with control inputs."""
    feeds, needed = program.feeds, set()
    stack = [t.op for t in program.fetches if t not in feeds] + list(program.targets)
    while stack:
        op = stack.pop()
        if op in needed:
            continue
        needed.add(op)
        stack.extend(t.op for t in sources_of(op) if t not in feeds)
        stack.extend(op.control_inputs)
    program.ops = sorted(needed, key=lambda op: op._id)


def has_effect(op) -> bool:
    """Whether a run notices that it does an operation, even if nobody uses its values.

    What only control edges ask for and has no effect is left out, as by TensorFlow's optimizer.  A placeholder stays,
    since it must be fed.
    """
    return op.opdef is None or op.opdef.has_effect or bool(op.opdef.calls) or op.type == "Placeholder"


def noticed(ops, fetches):
    """Of ordered operations those whose doing is noticed: what has an effect, is fetched, or gives these its values."""
    needed, found = {t.op for t in fetches}, []
    for op in reversed(ops):
        if op in needed or has_effect(op):
            found.append(op)
            needed.update(t.op for t in sources_of(op))
    return found[::-1]
