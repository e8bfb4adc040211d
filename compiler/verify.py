"""verify: what must hold after each pass.  A violation is a bug of the compiler, found at the pass that made it."""
from __future__ import annotations

import itertools
from collections.abc import Iterator

from jitgraph.control.frames.structure import FRAME_OPS, sources_of
from jitgraph.graph import dtypes
from jitgraph.graph.operation import Operation

from .batch import apart
from .divide import LoopCall
from .fuse import Group
from .ir import Node, Value
from .keep import buffers, uses
from .kernel import Kernel
from .loops.steps import TakeLast
from .place import CopyStep, DeviceStep, HostStep
from .primitives import host
from .primitives.memory import READ
from .primitives.reductions import PARTIAL
from .program import Program
from .targets import HOST
from .views import resolve


class VerifyError(AssertionError):
    """An invariant of the compiler does not hold after the pass it names."""


def verify(program: Program, stage: str) -> None:
    """Checks the invariants of a stage.  Raises VerifyError, which names the pass and what is wrong."""
    problem = CHECKS[stage](program)
    if problem:
        raise VerifyError(f"after {stage}: {problem}")


def _prune(program: Program) -> str | None:
    members = set(program.ops)
    for op in program.ops:
        for t in sources_of(op) if op not in program.wanted else ():
            if t not in program.feeds and t.op not in members:
                return f"{op.name} takes {t.name}, which nothing makes"
    return None


def _raise_frames(program: Program) -> str | None:
    left = next((op for op in program.ops if op.type in FRAME_OPS and sources_of(op) is op.inputs), None)
    return f"{left.name} of a frame is left" if left is not None else _prune(program)


def _order(program: Program) -> str | None:
    seen: set[Operation] = set()
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


def _divide(program: Program) -> str | None:
    for op in program.ops:
        if op.opdef is not None and op.opdef.calls and op not in program.calls:
            return f"{op.name} calls functions and has no sub-programs"
    for op, call in program.calls.items():
        for part in call.programs:
            early = {terms.tensor for terms in part.early.values()}
            foreign = next((t for t in [*part.fetches, *part.fed] if t.op.graph is not part.graph and t not in early), None)
            if foreign is not None:
                return f"a sub-program of {op.name} computes or is fed {foreign.name}, which is not of its graph"
        if isinstance(call, LoopCall):
            division = call.division
            given = sorted([*division.targets, *(s.variable for s in division.stores),
                            *(s.variable for s in division.takes if isinstance(s, TakeLast))])
            wanted = [k for k, invariant in enumerate(call.invariant) if not invariant]
            if given != wanted:
                return f"an iteration of {op.name} gives the variables {given} their next values, and must give {wanted}"
    return None


def _specialize(program: Program) -> str | None:
    again = set(program.ops).intersection(program.rest)
    if again:
        return f"{again.pop().name} runs now and in a later segment"
    for t, info in program.infos.items():           # of a handle, what is known is what its variable holds
        if t.dtype.base_dtype not in (dtypes.resource, info.dtype.base_dtype):
            return f"{t.name} has become {info.dtype.name}"
    return None


def _lower(program: Program) -> str | None:
    seen: set[Node] = set()
    for node in program.nodes:
        for v in node.inputs:
            if v.node not in seen:
                return f"{node} uses {v} before it is made"
        wrong = node.kind.violation(node)
        if wrong:
            return f"{node}: {wrong}"
        seen.add(node)
    return None


def _simplify(program: Program) -> str | None:
    for node in program.nodes:
        for v in node.inputs:
            if resolve(v) is None and not node.kind.is_view:
                return f"{node} takes {v}, which strides cannot reach"
    return _lower(program)


def _fuse(program: Program) -> str | None:
    done: set[Node] = set()
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


def _needed(node: Node) -> Iterator[Node]:
    stack, seen = list(node.after) + [v.node for v in node.inputs], set()
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        yield n
        if n.kind.is_view or n.kind.is_leaf:
            stack.extend([v.node for v in n.inputs] + n.after)


def _schedule(program: Program) -> str | None:
    for step in program.steps:
        if isinstance(step, Kernel):
            for s in step.body:
                if s.access is not None and len(s.access.strides) != len(step.loops):
                    return f"{s} has {len(s.access.strides)} strides for {len(step.loops)} loops"
            for node in step.nodes:
                if node.kind is PARTIAL and (node.out.shape[0] != step.parts or step.kind not in ("cols", "partial")):
                    return f"a {step.kind} kernel makes {step.parts} parts of {node}"
    return None


def _postpone(program: Program) -> str | None:
    later = {value for step in program.steps for value in buffers(step)[1] if not value.node.kind.is_state}
    for step in program.steps:
        inputs, results = buffers(step)
        later.difference_update(results)
        missing = [value for value in inputs if value in later]
        if missing:
            return f"{step} takes {missing}, which are made after it"
    return _schedule(program)


def _keep(program: Program) -> str | None:
    made: set[Value] = set()
    for step in program.steps[:program.kept]:
        inputs, results = buffers(step)
        foreign = [v for v in inputs if v not in made and not v.node.kind.is_known and v.node.kind is not READ]
        if foreign or not results:
            return f"{step} is to be kept, and takes {foreign}"
        made.update(results)
    return _schedule(program)


def _abreast(program: Program) -> str | None:
    hosts = [step for step in program.steps if isinstance(step, Node) and step.kind is host.HOST]
    later = {value for step in hosts for value in step.outputs}
    for step in program.steps:
        inputs, results = uses(step)
        later.difference_update(results)
        missing = [value for value in inputs if value in later]
        if missing:
            return f"{step} takes {missing}, which the host makes after it"
    return _postpone(program)


def _place(program: Program) -> str | None:
    spans = [(s.first, s.last) for s in program.layout.slots if s.kind == "temp"]
    return "a temporary ends before it begins" if any(a > b for a, b in spans) else None


def _transfer(program: Program) -> str | None:
    slots = program.layout.slots
    present: dict[int, set[int]] = {}       # slot -> the memories that have its present value, for what devices touch
    variables = {k for k, slot in enumerate(slots) if slot.kind == "variable"}
    for step in program.layout.steps:
        on_host = not isinstance(step, (CopyStep, DeviceStep))
        if on_host:             # variables are brought along, before it and after it
            for slot in variables & present.keys():
                del present[slot]
        if isinstance(step, CopyStep):
            has = present.setdefault(step.slot, {HOST})
            if step.source not in has or step.to in has:
                return f"slot {step.slot} is copied from where its value is not, or to where it is"
            has.add(step.to)
        elif not isinstance(step, HostStep):
            memory = step.device if isinstance(step, DeviceStep) else HOST
            kernel, used = (step.kernel, step.slots) if isinstance(step, DeviceStep) else step
            for param, slot in zip(kernel.params, used):
                brought = slot in variables and slot not in present
                if param.use != "out" and not brought and memory not in present.get(slot, {HOST}):
                    return f"{kernel.nodes} reads slot {slot}, whose value is in another memory"
                if param.use != "in":
                    present[slot] = {memory}
        else:
            present.update((slot, {HOST}) for slot in step.outputs)
        if on_host:
            for slot in variables & present.keys():
                del present[slot]
    away = [slot for slot, _ in program.layout.results.values() if slot not in variables and HOST not in present.get(slot, {HOST})]
    return f"slot {away[0]} is not in the host's memory in the end" if away else None


def _emit(program: Program) -> str | None:
    for step in program.layout.steps:
        if isinstance(step, (HostStep, CopyStep)):
            continue
        if isinstance(step, DeviceStep):
            kernel, slots, last = step.kernel, step.slots, ["sizes", "error"]
        else:
            kernel, slots, last = *step, ["sizes", "begin", "end"]
        params = ", ".join([*(p.name for p in kernel.params), *last])
        if not kernel.source.startswith(f"def {kernel.name}({params}):"):
            return f"the text of {kernel.name} does not begin with its name and parameters ({params})"
        if not len(slots) == len(kernel.params) == len(kernel.buffers):
            return f"{kernel.name} has {len(kernel.params)} parameters and {len(slots)} buffers"
    return None


def _batch(program: Program) -> str | None:
    for step in program.layout.steps:
        if not isinstance(step, DeviceStep) or not step.kernel.batch:
            continue
        kernel = step.kernel
        uses: dict[int, list[tuple[int, range | None]]] = {}        # of each slot: which of its kernels touch it, and where
        for (k, param), slot in zip(((k, n) for k, each in enumerate(kernel.batch) for n in range(len(each.params))), step.slots,
                                    strict=True):
            uses.setdefault(slot, []).append((k, kernel.batch[k].span(param)))
        for slot in {slot for param, slot in zip(kernel.params, step.slots) if param.use != "in"}:
            if any(a[0] != b[0] and not apart(a[1], b[1]) for a, b in itertools.combinations(uses[slot], 2)):
                return f"{kernel.name} joins kernels of which one writes what another touches"
        if len({each.source for each in kernel.batch}) > 1:
            return f"{kernel.name} joins kernels of several texts"
    return _transfer(program)


CHECKS = {"prune": _prune, "raise_frames": _raise_frames, "order": _order, "hold": _order, "divide": _divide,
          "specialize": _specialize, "lower": _lower, "simplify": _simplify, "fuse": _fuse, "sink": _fuse, "schedule": _schedule,
          "epilogue": _schedule, "postpone": _postpone, "keep": _keep, "abreast": _abreast, "place": _place,
          "transfer": _transfer, "emit": _emit, "batch": _batch}
