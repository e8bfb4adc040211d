"""What a person reads about a compiled run: the pruned graph, the plan, and every kernel with its operations beside it.

`describe` makes a plain dictionary (its fields are listed in `jitgraph/cli/description.py`); `jitgraph inspect` draws it.
`JITGRAPH_SHOW=graph,plan,kernels,times,cache` prints the same as each run signature is compiled.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container
from typing import Any

from jitgraph import environment
from jitgraph.graph.operation import Operation

from . import sizes, work
from .ir import Value
from .kernel import ELEMENTS, WIDTH, Kernel
from .place import CopyStep, DeviceStep
from .program import Program
from .targets import HOST

KEPT = "runs only when a variable has changed"
WORDS = ("graph", "plan", "kernels", "times", "cache")

Description = dict[str, Any]        # of a program, as plain values
Fact = dict[str, Any]               # what the runtime knows of a kernel

_recorded: list[Description] | None = None


def wanted() -> frozenset[str]:
    """What JITGRAPH_SHOW asks for, out of WORDS.  Raises ValueError for other words."""
    return environment.words("JITGRAPH_SHOW", WORDS)


def record() -> None:
    """Begins to keep a description of every program that is compiled from now on."""
    global _recorded
    _recorded = []


def recorded() -> list[Description]:
    """The descriptions kept since `record`, one for each distinct signature."""
    distinct = {(d["title"], len(d["nodes"]), len(d["kernels"])): d for d in _recorded or []}
    return list(distinct.values())


def is_asked() -> bool:
    """Whether somebody wants descriptions of what is compiled."""
    return _recorded is not None or bool(wanted())


def observe(program: Program, fact: Callable[[Kernel], Fact]) -> None:
    """Called for every compiled program: keeps or prints its description where somebody asked for it.

    `fact(kernel)` gives what the runtime knows: a dict with origin, compile_ms, reason, grain, parallel.
    """
    if not is_asked():
        return
    words = wanted()
    description = describe(program, fact)
    if _recorded is not None:
        _recorded.append(description)
    if words:
        print(text(description, words, program), file=sys.stderr)


def describe(program: Program, fact: Callable[[Kernel], Fact]) -> Description:
    """Everything about one compiled program as a dictionary of plain values."""
    launched = [step for step in program.layout.steps if isinstance(step, (tuple, DeviceStep))]
    shown = [_kernel(step.kernel, {"origin": step.target.name}) if isinstance(step, DeviceStep) else _kernel(step[0], fact(step[0]))
             for step in launched]
    steps: list[dict[str, Any]] = []
    number = 0
    for step in program.layout.steps:
        if isinstance(step, (tuple, DeviceStep)):
            kind = "kernel" if isinstance(step, tuple) else step.target.name
            steps.append({"step": len(steps), "kind": kind, "name": shown[number]["name"], "bytes": shown[number]["bytes"],
                          "because": KEPT if number < program.kept else _maker(step, program)})
            number += 1
        elif isinstance(step, CopyStep):
            slot = program.layout.slots[step.slot]
            steps.append({"step": len(steps), "kind": "copy", "name": f"slot {step.slot} to the " +
                          ("host" if step.to == HOST else f"{program.target.name}:{step.to}"), "bytes": _bytes(slot.value),
                          "because": ""})
        else:
            op = step.node.op
            whole = step.node.attrs.get("call") in ("op", "stream")
            steps.append({"step": len(steps), "kind": "host", "name": op.name if whole else step.node.kind.name, "bytes": None,
                          "because": op.opdef.host_because if whole and op.opdef is not None else ""})
    temps = [_bytes(s.value) for s in program.layout.slots if s.kind in ("temp", "output")]
    return {"title": _title(program), "compiler": program.options.compiler, "feeds": [t.name for t in program.feeds],
            "fetches": [t.name for t in program.fetches] + [op.name for op in program.targets],
            "nodes": [_node(program, op) for op in program.ops], "kernels": shown, "plan": steps,
            "share": _share(program, steps), "peak_bytes": _peak(program),
            "total_bytes": sum(k["bytes"] for k in shown), "temporary_bytes": sum(temps)}


def _maker(step: Any, program: Program) -> str:
    """Who makes the matrix product, or the convolution, of a step on a device."""
    if not isinstance(step, DeviceStep):
        return ""
    from .emit import cuda_library

    return cuda_library.told(step.kernel, program.options)


def _share(program: Program, steps: list[dict[str, Any]]) -> str:
    """What the host does of a program for devices, and what is copied; nothing to be said of others."""
    if not program.target.has_memory:
        return ""
    copies = [step["bytes"] for step in steps if step["kind"] == "copy"]
    host = sum(step["kind"] in ("kernel", "host") for step in steps)
    return f"the host does {host} of {len(steps) - len(copies)} steps, {len(copies)} copies of {sum(copies)} bytes in all"


def _title(program: Program) -> str:
    fetched = [t.op.name for t in program.fetches] + [op.name for op in program.targets]
    text = "run " + ", ".join(fetched[:4]) + (", ..." if len(fetched) > 4 else "")
    if program.feeds:
        fed = ", ".join(t.op.name + str(list(map(sizes.hint_of, s))) for t, s in program.feeds.items())
        text += f"   feeding {fed}" if len(fed) < 100 else f"   feeding {len(program.feeds)} tensors"
    return text


def _site(op: Operation) -> str:
    return f"{os.path.basename(op.site[0])}:{op.site[1]}" if op is not None and op.site else ""


def _node(program: Program, op: Operation) -> dict[str, Any]:
    info = program.infos.get(op.outputs[0]) if op.outputs else None
    inputs = [t.op.name if t.value_index == 0 else t.name for t in op.inputs] + ["^" + c.name for c in op.control_inputs]
    return {"name": op.name, "type": op.type, "inputs": inputs, "shape": "" if info is None else str(list(info.shape)),
            "dtype": "" if info is None else info.dtype.name, "site": _site(op)}


def _bytes(value: Value) -> int:
    return sizes.count(value.shape) * WIDTH.get(ELEMENTS.get(value.dtype.name, "f64"), 8)


def _peak(program: Program) -> int:
    """The most bytes of temporaries that are alive at one step, for the present sizes."""
    slots = [s for s in program.layout.slots if s.kind == "temp"]
    return max((sum(_bytes(s.value) for s in slots if s.first <= k <= s.last)
                for k in range(len(program.layout.steps))), default=0)


def _kernel(kernel: Kernel, fact: Fact) -> dict[str, Any]:
    reads = [p.name for p in kernel.params if p.use != "out"]
    writes = [p.name for p in kernel.params if p.use != "in"]
    ops = {n.op.name: n.op for n in kernel.nodes if n.op is not None}
    return {"name": kernel.name, "lines": _lines(kernel), "reads": reads, "writes": writes,
            "bytes": sizes.hint_of(work.moved(kernel)),
            "ops": [{"name": op.name, "type": op.type, "site": _site(op)} for op in ops.values()],
            "grain": fact.get("grain"), "parallel": fact.get("parallel", False), "compile_ms": fact.get("compile_ms"),
            "origin": fact.get("origin", ""), "reason": fact.get("reason", "")}


def _lines(kernel: Kernel) -> list[tuple[str, str]]:
    """The kernel's text, line by line, with operation and user line beside what came from one.  A kernel that is written by
    hand is one operation's whole."""
    lines = kernel.source.splitlines()
    origins = kernel.origins or [kernel.nodes[0], *([None] * (len(lines) - 1))]
    return [(line, "" if node is None or node.op is None else f"{node.op.name} ({node.op.type})  {_site(node.op)}")
            for line, node in zip(lines, origins, strict=True)]


def _commented(lines: list[tuple[str, str]]) -> str:
    """Lines of a kernel with their notes as comments."""
    width = max((len(line) for line, note in lines if note), default=0)
    return "\n".join(f"{line:<{width}}  # {note}" if note else line for line, note in lines)


def text(description: Description, wanted: Container[str], program: Program) -> str:
    """A description as text: the parts named in `wanted` (graph, plan, kernels, times, cache)."""
    d = description
    out = [f"== {d['title']}: {len(d['nodes'])} ops, {len(d['kernels'])} kernels, {d['total_bytes']} bytes moved, "
           f"{d['peak_bytes']} bytes of temporaries" + (d["share"] and "; " + d["share"])]
    if "graph" in wanted:
        out += [f"  {n['name']} = {n['type']}({', '.join(n['inputs'])}) {n['dtype']}{n['shape']}  {n['site']}"
                for n in d["nodes"]]
    if "plan" in wanted:
        out += [f"  {s['step']:3} {s['kind']:7} {s['name']}" + (s["because"] and f"   {s['because']}") for s in d["plan"]]
    if "kernels" in wanted:
        for k in d["kernels"]:
            out += [f"kernel {k['name']}   reads {' '.join(k['reads'])}   writes {' '.join(k['writes'])}   "
                    f"{k['bytes']} bytes moved", _commented(k["lines"])]
    if "times" in wanted:
        out.append("  passes: " + ", ".join(f"{n} {s * 1e3:.1f} ms" for n, s in program.times.items()))
    if "cache" in wanted:
        for k in d["kernels"]:
            spent = f", compiled in {k['compile_ms']:.0f} ms" if k["compile_ms"] else ""
            out.append(f"  {k['name']}: {k['origin']}{spent}" + (f"; {k['reason']}" if k["reason"] else ""))
    return "\n".join(out)
