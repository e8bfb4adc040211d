"""What the compiler tells about one run signature; `jitgraph.compiler.show` makes it, `jitgraph inspect` shows it."""

from __future__ import annotations

from typing import Any, TypedDict


class Node(TypedDict):
    """An op of the pruned graph."""

    name: str
    type: str
    inputs: list[str]
    """Tensor names: "a", "a:1", and "^a" for a control input."""
    shape: str
    dtype: str
    site: str
    """The user's line, "model.py:12"."""


class Op(TypedDict):
    """An op that a kernel computes."""

    name: str
    type: str
    site: str


class Kernel(TypedDict):
    """A compiled kernel."""

    name: str
    lines: list[tuple[str, str]]
    """Python source line by line, with the op and user line that each came from, or nothing."""
    reads: Any
    writes: Any
    bytes: Any
    ops: list[Op]
    grain: Any
    parallel: bool
    compile_ms: float | None
    origin: str
    """Where the object code came from: compiled, store, reference."""


class Step(TypedDict):
    """An instruction of the plan."""

    step: int
    kind: str
    name: str
    bytes: Any
    because: str
    """Why it runs on the host, of an op of which something was measured."""


class Signature(TypedDict):
    """Everything about one distinct set of feeds and fetches."""

    title: str
    feeds: list[str]
    fetches: list[str]
    nodes: list[Node]
    kernels: list[Kernel]
    plan: list[Step]
    peak_bytes: Any
    compiler: str
    """What compiled the kernels, one of `jitgraph.compiler.options.COMPILERS`."""
    total_bytes: Any
    share: str
    """What the host does of it where devices compute, and what is copied; "" elsewhere."""


def quantity(value: Any, unit: str = "B") -> str:
    """Return a number of bytes in words, "1.5 MB"; symbolic and missing sizes as they are.

    >>> quantity(1536), quantity("12 n bytes"), quantity(None)
    ('1.5 KB', '12 n bytes', '')
    """
    if value is None:
        return ""
    if not isinstance(value, (int, float)):
        return str(value)
    scale = 0
    while abs(value) >= 1000 and scale < 4:
        value, scale = value / 1024, scale + 1
    return f"{value:.0f} {unit}" if scale == 0 else f"{value:.1f} {' KMGT'[scale]}{unit}"


def listed(value: Any) -> str:
    """Return a list as "a b c", anything else as its str, and nothing for None."""
    if value is None:
        return ""
    return " ".join(str(item) for item in value) if isinstance(value, (list, tuple)) else str(value)


def kernel_of_node(signature: Signature) -> dict[str, int]:
    """Return {op name: index of the kernel that computes it}; ops that no kernel computes are not in it."""
    return {op["name"]: index for index, kernel in enumerate(signature["kernels"]) for op in kernel["ops"]}
