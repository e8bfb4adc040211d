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
