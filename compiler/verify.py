"""verify: what must hold after each pass.  A violation is a bug of the compiler, found at the pass that made it."""
from __future__ import annotations

from .fuse import Group
from .kernel import Kernel
from .primitives.reductions import PARTIAL
from .views import resolve


class VerifyError(AssertionError):
    """An invariant of the compiler does not hold after the pass it names."""


def verify(program, stage: str):
    """Checks the invariants of a stage.  Raises VerifyError, which names the pass and what is wrong."""
    check = CHECKS.get(stage)
    problem = check(program) if check else None
    if problem:
        raise VerifyError(f"after {stage}: {problem}")


def _order(program):
    seen: set = set()
    members = set(program.ops)
    for op in program.ops:
        for t in op.inputs:
            if t not in program.feeds and t.op in members and t.op not in seen:
                return f"{op.name} stands before its input {t.op.name}"
        for c in op.control_inputs:
            if c not in seen and c in members:
                return f"{op.name} stands before {c.name}, which it waits for"
        seen.add(op)
    return None


def _lower(program):
    seen: set = set()
    for node in program.nodes:
        for v in node.inputs:
            if v.node not in seen:
                return f"{node} uses {v} before it is made"
        seen.add(node)
    return None


def _simplify(program):
    for node in program.nodes:
        for v in node.inputs:
            if resolve(v) is None and not node.kind.is_view:
                return f"{node} takes {v}, which strides cannot reach"
    return _lower(program)


def _fuse(program):
    done: set = set()
    members = {n for u in program.units if isinstance(u, Group) for n in u.members}
    members |= {u for u in program.units if not isinstance(u, Group)}
    for unit in program.units:
        own = set(unit.members) if isinstance(unit, Group) else {unit}
        for node in own:
            for before in _needed(node):
                if before in members and before not in done and before not in own:
                    return f"{node} runs before {before}, which it needs"
        if isinstance(unit, Group) and not unit.admits():
            return f"a group holds what must not share a kernel: {unit.members}"
        done |= own
    return None


def _needed(node):
    stack, seen = list(node.after) + [v.node for v in node.inputs], set()
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        yield n
        if n.kind.is_view or n.kind.is_leaf:
            stack.extend([v.node for v in n.inputs] + n.after)


def _schedule(program):
    for step in program.steps:
        if isinstance(step, Kernel):
            for s in step.body:
                if s.access is not None and len(s.access.strides) != len(step.loops):
                    return f"{s} has {len(s.access.strides)} strides for {len(step.loops)} loops"
            for node in step.nodes:
                if node.kind is PARTIAL and (node.out.shape[0] != step.parts or step.kind not in ("cols", "partial")):
                    return f"a {step.kind} kernel makes {step.parts} parts of {node}"
    return None


def _place(program):
    spans = [(s.first, s.last) for s in program.layout.slots if s.kind == "temp"]
    return "a temporary ends before it begins" if any(a > b for a, b in spans) else None


CHECKS = {"order": _order, "lower": _lower, "simplify": _simplify, "fuse": _fuse, "sink": _fuse,
          "schedule": _schedule, "place": _place}
