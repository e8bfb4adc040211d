"""schedule: turn each fused group into a loop nest.

Chooses the kind of kernel, orders the loops, merges loops that every access runs through as if they were one, and gives
each member its statements.  Which buffer a value lives in is decided later (`place`).
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from . import sizes
from .fuse import Group, stored_values
from .ir import Node, Value
from .kernel import ELEMENTS, Access, Kernel, Loop, Param, Statement
from .options import Options
from .primitives.memory import WRITE
from .primitives.reductions import PARTIAL, SEARCHES, Reduction
from .tuning import Tuning
from .views import contiguous, resolve, trace

if TYPE_CHECKING:
    from .program import Program


def schedule(program: Program) -> None:
    """Loop nests for groups; the order of units is the order of execution."""
    stored = stored_values(program.units, program.outputs)
    program.steps = [KernelBuilder(u, stored, program.options, program.target.tuning).build() if isinstance(u, Group) else u
                     for u in program.units]


class KernelBuilder:
    """The loop nest of a group; its members add their statements (`primitives.Fused.state`)."""

    def __init__(self, group: Group, stored: set[Value], options: Options, tuning: Tuning):
        self.group, self.stored, self.options = group, stored, options
        self.kernel = Kernel(_kind(group, options, tuning), [], nodes=list(group.members))
        self.names: dict[Value, str] = {}
        self.loads: dict[tuple[Any, ...], str] = {}
        self.params: dict[Value, int] = {}
        self.body: list[Statement] = []

    def build(self) -> Kernel:
        for node in self.group.members:
            node.kind.state(self, node)
            if node.outputs and node.out in self.stored and node.kind is not WRITE:
                self._store(node, node.out)
        self._reorder(_loop_order(self.group, self.kernel.kind))
        self.kernel.body = self.body
        self.kernel.parts = next((n.out.shape[0] for n in self.group.members if n.kind is PARTIAL), 0)
        if self.kernel.parts_of_columns:
            self._share_out()
        if self.options.uses("merged_loops"):
            _merge_loops(self.kernel)
        _add_missing_loop(self.kernel)
        return self.kernel

    # statements ------------------------------------------------------------------------------------------------
    def add(self, kind: str, node: Node, **fields: Any) -> Statement:
        """A statement of a member."""
        statement = Statement(kind, node=node, level=self._level(node), **fields)
        self.body.append(statement)
        return statement

    def _level(self, node: Node) -> str:
        dims = self.group.dims[node]
        return "full" if self.group.covers(dims) == "full" or node.kind is PARTIAL else "row"

    def _name(self) -> str:
        return f"v{sum(1 for s in self.body if s.name)}"

    def define(self, node: Node, kind: str, **fields: Any) -> None:
        """The statement that gives a member's value its name."""
        name = self._name()
        self.add(kind, node, name=name, dtype=ELEMENTS[node.out.dtype.name], **fields)
        self.names[node.out] = name

    def _store(self, node: Node, value: Value) -> None:
        strides = contiguous(value.shape)
        dims = self.group.out_dims(node)
        if node.kind is PARTIAL:
            strides = strides[1:]
        access = Access(self.param(value, "out"), self.strides(dims, strides))
        statement = self.add("store", node, args=(self.names[value],), access=access, dtype=ELEMENTS[value.dtype.name])
        if isinstance(node.kind, Reduction):
            statement.level = "row"

    # operands --------------------------------------------------------------------------------------------------
    def arguments(self, node: Node) -> tuple[str, ...]:
        """The names of the elements that a member takes of its inputs."""
        return tuple(self._operand(node, value, dims) for value, dims in node.kind.dims_of_inputs(node, self.group.dims[node]))

    def _operand(self, node: Node, value: Value, dims: Sequence[int]) -> str:
        source = trace(value)[0]
        if source.node in self.group.dims:
            return self.names[source]
        base, strides, offset = resolve(value)
        if base.node.kind.is_known and not base.shape:
            return self._scalar(node, base)
        runs = self.strides(dims, strides)
        if base.node.kind.is_index:
            return self._iota(node, base, runs, offset)
        key = (base, tuple(sizes.source(s) for s in runs), sizes.source(offset))
        if key not in self.loads:
            name = self._name()
            self.add("load", node, name=name, dtype=ELEMENTS[base.dtype.name],
                      access=Access(self.param(base, "in"), runs, offset))
            self.loads[key] = name
        return self.loads[key]

    def _scalar(self, node: Node, base: Value) -> str:
        if base not in self.names:
            name = self._name()
            self.add("scalar", node, name=name, dtype=ELEMENTS[base.dtype.name], args=(len(self.kernel.scalars),))
            self.kernel.scalars.append(base)
            self.names[base] = name
        return self.names[base]

    def _iota(self, node: Node, base: Value, runs: list[sizes.Dim], offset: sizes.Dim) -> str:
        key = ("iota", tuple(sizes.source(s) for s in runs), sizes.source(offset), base.dtype.name)
        if key not in self.loads:
            index = self.load_index(node, dict(enumerate(runs)), offset)
            if base.dtype.name != "int64":
                name = self._name()
                self.add("op", node, name=name, prim="cast", args=(index,), dtype=ELEMENTS[base.dtype.name])
                index = name
            self.loads[key] = index
        return self.loads[key]

    def load_index(self, node: Node, strides: dict[int, sizes.Dim], offset: sizes.Dim = 0) -> str:
        """The name of offset + sum(strides[d] * index along domain dimension d)."""
        name = self._name()
        full = [strides.get(d, 0) for d in range(len(self.group.domain))]
        self.add("index", node, name=name, dtype="i64", access=Access(-1, full, offset))
        return name

    def strides(self, dims: Iterable[int | None], strides: Iterable[sizes.Dim]) -> list[sizes.Dim]:
        """Strides per domain dimension, from strides per dimension of a value."""
        out: list[sizes.Dim] = [0] * len(self.group.domain)
        for d, s in zip(dims, strides):
            if d is not None and d >= 0:
                out[d] = out[d] + s
        return out

    def param(self, base: Value, use: str) -> int:
        """The number of the kernel's parameter for a buffer that is used so (in, out)."""
        key, variable = base, base.node.variable
        if variable is not None:        # all versions of a variable are one buffer
            key = next((v for v in self.params if v.node.variable is variable), base)
        if key not in self.params:
            self.params[key] = len(self.kernel.params)
            self.kernel.params.append(Param("", ELEMENTS[base.dtype.name], use))
            self.kernel.buffers.append(base)
        param = self.kernel.params[self.params[key]]
        if param.use != use:
            param.use = "inout"
        return self.params[key]

    def _reorder(self, order: list[tuple[int, str]]) -> None:
        domain = self.group.domain
        self.kernel.loops = [Loop(domain[d], role) for d, role in order]
        for statement in self.body:
            if statement.access is not None:
                statement.access.strides[:] = [statement.access.strides[d] for d, _ in order]


    def _share_out(self) -> None:
        """Adds the loop over parts of the rows, along which only the partial results lie."""
        self.kernel.loops.insert(0, Loop(self.kernel.parts, "outer"))
        for s in self.body:
            if s.access is not None:
                assert s.node is not None
                partial = s.kind == "store" and s.node.kind is PARTIAL
                s.access.strides.insert(0, sizes.product(s.node.out.shape[1:]) if partial else 0)


def _kind(group: Group, options: Options, tuning: Tuning) -> str:
    if group.partial and not group.kept:
        return "partial"
    if group.reduced is None:
        return "map"
    searches = any(isinstance(n.kind, Reduction) and n.attrs["op"] in SEARCHES for n in group.members)
    if not group.sums_columns or searches and not tuning.column_searches or not options.uses("column_kernels"):
        return "rows"
    return "cols"


def _loop_order(group: Group, kind: str) -> list[tuple[int, str]]:
    every = list(range(len(group.domain)))
    if kind == "map":
        return [(d, "outer") for d in every]
    reduced = [(d, "reduce") for d in every if d not in group.kept]
    kept = [(d, "outer") for d in group.kept]
    if kind == "cols":
        return kept[:-1] + reduced + [(kept[-1][0], "inner")]
    return kept + reduced


def _merge_loops(kernel: Kernel) -> None:
    """Merges neighbouring loops of one role where every access steps through them evenly, and the last loop over sums of columns
    with the one before it that is kept, too."""
    accesses = [s.access for s in kernel.body if s.access is not None]
    if kernel.kind == "cols":
        _lengthen_columns(kernel, accesses)
    k = 0
    while k + 1 < len(kernel.loops):
        a, b = kernel.loops[k], kernel.loops[k + 1]
        even = a.role == b.role and not (kernel.parts_of_columns and k == 0) and all(
            sizes.same(x.strides[k], x.strides[k + 1] * b.size) for x in accesses)
        if even:
            kernel.loops[k:k + 2] = [Loop(a.size * b.size, a.role)]
            for x in accesses:
                del x.strides[k]
        else:
            k += 1


def _lengthen_columns(kernel: Kernel, accesses: list[Access]) -> None:
    """for i (outer), for j (reduce), for k (inner) -> for j, for ik, where i steps over all k in every access"""
    kept = [k for k, loop in enumerate(kernel.loops) if loop.role == "outer"][bool(kernel.parts):]
    inner = len(kernel.loops) - 1
    while kept and all(sizes.same(x.strides[kept[-1]], x.strides[inner] * kernel.loops[inner].size) for x in accesses):
        k = kept.pop()
        kernel.loops[inner] = Loop(kernel.loops[k].size * kernel.loops[inner].size, "inner")
        del kernel.loops[k]
        inner -= 1
        for x in accesses:
            del x.strides[k]


def _add_missing_loop(kernel: Kernel) -> None:
    """A kernel over a scalar, or over reduced dimensions of size 1, still has the one loop that its kind needs."""
    role = "outer" if kernel.kind == "map" else "reduce"
    if not any(loop.role == role for loop in kernel.loops):
        kernel.loops.append(Loop(1, role))
        for s in kernel.body:
            if s.access is not None:
                s.access.strides.append(0)
