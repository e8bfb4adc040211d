"""fuse: gather primitives into groups, each of which becomes one kernel.

A group has a domain (the sizes of the loop nest that all of its members share) and, where it reduces, the set of domain
dimensions that are reduced.  A member either covers the whole domain ("full") or just the kept dimensions ("row"): the
softmax of a matrix is one group in which `exp(x - m)` is full and the maximum `m` a row value.

Nodes are taken in order; each joins the group of one of its inputs, and groups meet where a node uses several of them,
as long as the units (groups and opaque nodes) stay free of cycles.  What may not meet, and why, is in `Group.admits`.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import sizes
from .dependencies import Dependencies
from .ir import Node, Value
from .primitives.kind import Fused
from .primitives.memory import WRITE
from .primitives.reductions import PARTIAL, REDUCE, Reduction
from .primitives.rows import GATHER
from .views import resolve, trace

if TYPE_CHECKING:
    from .program import Program


MOST_SUMS = 4           # of columns that one kernel makes: a stretch of each, 48 KB, is in the cache at the same time


class Group:
    """Members in order, `dims[node]` = the domain dimension of each dimension of the node's value (-1: size 1)."""

    def __init__(self, unit: int, domain: Iterable[sizes.Dim]) -> None:
        self.unit, self.domain = unit, list(domain)
        self.reduced: frozenset[int] | None = None
        self.partial = False
        self.members: list[Node] = []
        self.dims: dict[Node, tuple[int, ...]] = {}
        self._reads: tuple[int, set[Value]] = 0, set()      # how many members there were, and what they read

    def weight(self) -> int:
        return sum(n.kind.weight(n) for n in self.members)

    @property
    def kept(self) -> list[int]:
        return [d for d in range(len(self.domain)) if d not in (self.reduced or ())]

    @property
    def sums_columns(self) -> bool:
        """Whether the innermost dimension is one that the reductions keep."""
        return bool(self.reduced and self.kept) and len(self.domain) - 1 in self.kept

    @property
    def goes_back(self) -> bool:
        """Whether a member runs over the whole domain and needs a reduction's result."""
        after = {n for n in self.members if n.kind is REDUCE}
        for node in self.members:
            if any(trace(v)[0].node in after for v in node.inputs):
                if self.covers(self.dims[node]) == "full":
                    return True
                after.add(node)
        return False

    def covers(self, dims: Sequence[int]) -> str | None:
        """"full", "row" or None for a node whose dimensions run along these domain dimensions."""
        mine = {d for d in dims if d >= 0}
        if mine == set(range(len(self.domain))):
            return "full"
        if self.reduced is not None and mine == set(self.kept):
            return "row"
        return None

    def reads(self) -> set[Value]:
        """What its members load whole: values with a buffer that were made elsewhere."""
        if self._reads[0] != len(self.members):         # who is a member stays one
            found = {resolve(v)[0] for n in self.members for v in n.inputs if trace(v)[0].node not in self.dims}
            whole = {v for v in found if v.rank >= len(self.domain) and not (v.node.kind.is_known or v.node.kind.is_index)}
            self._reads = len(self.members), whole
        return self._reads[1]

    def out_dims(self, node: Node) -> tuple[int, ...]:
        """The domain dimensions of what a node gives; of a partial reduction, of one of its parts."""
        return node.kind.dims_of_result(node, self.dims[node])

    def admits(self, newest: Node | None = None) -> bool:
        """Whether the members may share a kernel; where only `newest` was added to ones that may, it alone is looked at.

        Sums of columns are finished before anything uses them: only rows stay in the cache for a second pass.  Each keeps a
        stretch of the columns in the cache while it goes through the rows, and only few of those fit.  Parts of
        a reduction are kept apart along the columns, so the innermost dimension is one of those (a reduction of what is
        made transposed has it the other way round).  A value made here is used here only at the element where it is
        made (else its buffer would be read while it is written).  No kernel both may fail and writes state: a failed
        run leaves variables alone.  A variable that is written here is read here only at the element being written.
        """
        if self.sums_columns and (self.goes_back or sum(n.kind is REDUCE for n in self.members) > MOST_SUMS):
            return False
        if self.partial and self.kept and not self.sums_columns:
            return False
        written = {n.attrs["variable"]: n for n in self.members if n.kind is WRITE}
        if written and any(n.kind.may_fail(n) for n in self.members):
            return False
        for node in self.members if newest is None or newest.kind is WRITE else [newest]:
            if node.kind is GATHER:
                base = resolve(node.inputs[0])[0].node
                if base in self.dims or base.variable in written:
                    return False
            for value, dims in node.kind.dims_of_inputs(node, self.dims[node]):
                source, traced = trace(value)
                runs = tuple(-1 if t < 0 else dims[t] for t in traced)
                if source.node in self.dims:
                    if source.node.kind is PARTIAL or self.out_dims(source.node) != runs:
                        return False
                    continue
                base = resolve(value)[0]
                if base.node in self.dims:
                    return False
                writer = written.get(base.node.variable)
                if writer is not None and (source is not base or runs != self.dims[writer]):
                    return False
        return True


def _is_small(domain: list[sizes.Dim], most: int) -> bool:
    """Whether it has at most so many elements, whatever the sizes of the feeds."""
    return not any(isinstance(d, sizes.Size) for d in domain) and sizes.product(domain) <= most


def stored_values(units: Iterable[Group | Node], outputs: Iterable[Value]) -> set[Value]:
    """Computed values that need a buffer: program outputs, what a unit other than the maker's uses, and what is computed
    because it may fail, though nothing uses it."""
    unit_of = {n: u for u in units if isinstance(u, Group) for n in u.members}
    stored = {resolve(v)[0] for v in outputs}
    used = set()
    for unit in units:
        members = unit.members if isinstance(unit, Group) else [unit]
        for node in members:
            whole = len(node.inputs) - len(node.kind.computed_inputs(node)) if isinstance(unit, Group) else 0
            for k, value in enumerate(node.inputs):
                maker = trace(value)[0].node
                used.add(maker)
                if k < whole or unit_of.get(maker) is not unit:
                    stored.add(resolve(value)[0])
    return stored | {node.out for node in unit_of if node not in used and node.kind.may_fail(node)}


def fuse(program: Program) -> None:
    """Groups of primitives that become one kernel each; what cannot be grouped (matmul, host calls) stays alone."""
    program.units = _Fuser(program).run()


class _Fuser:
    def __init__(self, program: Program) -> None:
        self.nodes, self.outputs = program.nodes, program.outputs
        self.place_of = {node: k for k, node in enumerate(self.nodes)}
        self.ahead = program.target.tuning.ahead
        self.place = program.target.place if program.target.has_memory else None    # where devices may differ
        self.max_weight = program.options.max_weight if program.options.uses("fusion") else 0
        self.unit_of: dict[Node, int] = {}
        self.units: dict[int, Group | Node] = {}
        self.partials: list[Group] = []         # those of `units` that make parts of reductions
        self.order = Dependencies()             # of units

    def run(self) -> list[Group | Node]:
        for node in self.nodes:
            if isinstance(node.kind, Fused):
                self._place(node)
            elif not (node.kind.is_leaf or node.kind.is_view):
                self._alone(node)
        return self._ordered()

    # dependencies ----------------------------------------------------------------------------------------------
    def _dependencies(self, node: Node) -> set[int]:
        """Units that must be finished before the node: those of its inputs (through views) and of its order edges."""
        found, stack, seen = set(), list(node.after) + [v.node for v in node.inputs], set()
        while stack:
            n = stack.pop()
            if n in seen:
                continue
            seen.add(n)
            if n in self.unit_of:
                found.add(self.unit_of[n])
            else:
                stack.extend(n.after)
                stack.extend(v.node for v in n.inputs)
        return found

    def _new_unit(self, unit: Group | Node) -> int:
        number = self.order.new()
        self.units[number] = unit
        return number

    def _alone(self, node: Node) -> None:
        needs = self._dependencies(node)
        number = self._new_unit(node)
        self.unit_of[node] = number
        self.order.depend(number, needs)

    # grouping --------------------------------------------------------------------------------------------------
    def _place(self, node: Node) -> None:
        needs = self._dependencies(node)
        for group in self._candidates(node):
            if self.order.is_before(group.unit, needs):
                continue
            if self._join(group, node):
                self.order.depend(group.unit, needs)
                self._meet(group, node)
                self._join_siblings(group)
                return
        shape = node.kind.domain(node)
        group = Group(0, [d for d in shape if not sizes.is_one(d)])
        group.unit = self._new_unit(group)
        dims, k = [], 0
        for d in shape:
            dims.append(-1 if sizes.is_one(d) else k)
            k += 0 if sizes.is_one(d) else 1
        self._enter(group, node, tuple(dims))
        self.order.depend(group.unit, needs)
        self._join_siblings(group)

    def _join_siblings(self, group: Group) -> None:
        """Merges other partial reductions over the same domain that read the same memory: it is read once."""
        if not group.partial:
            return
        if group not in self.partials:
            self.partials.append(group)
        reads = group.reads()
        for other in sorted(self.partials, key=lambda g: g.unit):
            if other is not group and other.reduced == group.reduced and len(other.domain) == len(group.domain) \
                    and reads & other.reads():
                self._merge(group, other, {d: d for d in range(len(group.domain))})

    def _enter(self, group: Group, node: Node, dims: tuple[int, ...]) -> None:
        group.members.append(node)
        group.dims[node] = dims
        self.unit_of[node] = group.unit
        if isinstance(node.kind, Reduction):
            group.reduced = node.kind.reduced(node, dims)
            group.partial = group.partial or node.kind is PARTIAL

    def _sources(self, node: Node) -> Iterator[tuple[Node, list[int]]]:
        """(member that computes it, dims of `node` along which the member's dimensions run) for each fused input."""
        for value in node.kind.computed_inputs(node):
            source, traced = trace(value)
            if source.node in self.unit_of and isinstance(source.node.kind, Fused) and source.node.kind is not PARTIAL:
                shift = node.kind.axis_of_inputs(node, value)
                yield source.node, [-1 if t < 0 else t + shift for t in traced]

    def _candidates(self, node: Node) -> list[Group]:
        groups: list[Group] = []
        for source, _ in self._sources(node):
            group = self.units[self.unit_of[source]]
            assert isinstance(group, Group)
            if group not in groups:
                groups.append(group)
        return sorted(groups, key=lambda g: (-len(g.domain), g.reduced is None, -len(g.members)))

    def _join(self, group: Group, node: Node) -> bool:
        if group.weight() + node.kind.weight(node) > self.max_weight or self._are_apart(group, node):
            return False
        dims = self._fit(group, node)
        if dims is None or not self._reduction_fits(group, node, dims):
            return False
        before = group.reduced, group.partial
        self._enter(group, node, dims)
        if not group.admits(node):
            group.members.pop()
            del group.dims[node], self.unit_of[node]
            group.reduced, group.partial = before
            return False
        return True

    def _are_apart(self, group: Group, node: Node) -> bool:
        """Whether a node is to be computed in another memory than a group."""
        return self.place is not None and self.place(group.members[-1]) != self.place(node)

    def _fit(self, group: Group, node: Node) -> tuple[int, ...] | None:
        """The domain dimensions of `node` if it joined the group, None if it cannot."""
        shape = node.kind.domain(node)
        dims: list[Any] = [-1 if sizes.is_one(d) else None for d in shape]
        for source, runs in self._sources(node):
            if self.unit_of[source] != group.unit:
                continue
            for k, d in zip(runs, group.out_dims(source)):
                if (k < 0) != (d < 0) or (k >= 0 and dims[k] not in (None, d)):
                    return None
                if k >= 0:
                    dims[k] = d
        free = [d for d in range(len(group.domain)) if d not in dims]
        for k, d in enumerate(dims):
            if d is None:
                if not free or (group.reduced is not None and not group.kept):
                    return None
                dims[k] = free.pop(0)
            if dims[k] >= 0 and not sizes.same(group.domain[dims[k]], shape[k]):
                return None
        used = [d for d in dims if d >= 0]
        if len(used) != len(set(used)) or group.covers(dims) is None:
            return None
        return tuple(dims)

    def _reduction_fits(self, group: Group, node: Node, dims: tuple[int, ...]) -> bool:
        if node.kind is PARTIAL:
            axes = node.kind.reduced(node, dims)
            return group.covers(dims) == "full" and (group.reduced is None or group.partial and axes == group.reduced)
        if group.partial:
            return node.kind is not REDUCE and (not group.kept or group.covers(dims) == "full")
        if node.kind is not REDUCE:
            return True
        axes = node.kind.reduced(node, dims)
        if group.reduced is None:
            return all(group.covers(group.dims[m]) == "full" for m in group.members)
        return axes == group.reduced and group.covers(dims) == "full"

    def _meet(self, group: Group, node: Node) -> None:
        """Merges the other groups that feed `node` into the one it joined, where they share its domain."""
        for source, runs in list(self._sources(node)):
            other = self.units[self.unit_of[source]]
            if other is group or not isinstance(other, Group):
                continue
            into = {}
            for k, d in zip(runs, other.out_dims(source)):
                if (k < 0) != (d < 0):
                    break
                if k >= 0:
                    into[d] = group.dims[node][k]
            else:
                self._merge(group, other, into)

    def _merge(self, group: Group, other: Group, into: dict[int, int]) -> bool:
        if group.weight() + other.weight() > self.max_weight or group.partial != other.partial or self._are_apart(
                group, other.members[-1]):
            return False
        free = [d for d in range(len(group.domain)) if d not in into.values()]
        for d in range(len(other.domain)):
            if d not in into:
                if not free:
                    return False
                into[d] = free.pop(0)
        if not all(sizes.same(group.domain[g], other.domain[o]) for o, g in into.items()):
            return False
        reduced = None if other.reduced is None else frozenset(into[d] for d in other.reduced)
        if not self._levels_agree(group, other, into, reduced):
            return False
        if not self.order.joins(group.unit, other.unit):
            return False
        trial = Group(group.unit, group.domain)
        trial.reduced, trial.partial = group.reduced if reduced is None else reduced, group.partial
        trial.dims = dict(group.dims)
        trial.dims.update({m: tuple(-1 if d < 0 else into[d] for d in other.dims[m]) for m in other.members})
        trial.members = sorted(group.members + other.members, key=self.place_of.__getitem__)
        if not trial.admits():
            return False
        group.members, group.dims, group.reduced = trial.members, trial.dims, trial.reduced
        self._absorb(group, other)
        return True

    def _levels_agree(self, group: Group, other: Group, into: dict[int, int], reduced: frozenset[int] | None) -> bool:
        whole = len(into) == len(group.domain)
        if group.reduced is None:
            return reduced is None and whole or reduced is not None and whole
        if reduced is not None:
            return reduced == group.reduced
        return whole or set(into.values()) == set(group.kept)

    def _absorb(self, group: Group, other: Group) -> None:
        """Lets the unit of `group`, whose members are those of both now, stand for the other's too."""
        for node in other.members:
            self.unit_of[node] = group.unit
        del self.units[other.unit]
        if other.partial:
            self.partials.remove(other)
        self.order.join(group.unit, other.unit)

    # result ----------------------------------------------------------------------------------------------------
    def _ordered(self) -> list[Group | Node]:
        """Units in an order that respects all dependencies: what changes variables as soon as it can be, then earliest graph
        position first."""
        urgent = self._urgent()

        def first(unit: int) -> tuple[bool, int]:
            u = self.units[unit]
            return unit not in urgent, min(self.place_of[n] for n in (u.members if isinstance(u, Group) else [u]))

        return [self.units[unit] for unit in self.order.ordered(first)]

    def _urgent(self) -> set[int]:
        """Units that only change variables, as optimizers' do: run at once, they find the gradient in the cache, and it need
        not be kept.  And the few numbers that they wait for."""
        used = {v.node for v in stored_values(self.units.values(), self.outputs)}
        urgent = {number for number, unit in self.units.items() if isinstance(unit, Group) and any(
            n.kind is WRITE for n in unit.members) and all(n.kind is WRITE for n in unit.members if n in used)}
        waiting = list(urgent)
        while waiting:
            for number in self.order.needs[waiting.pop()] - urgent:
                unit = self.units[number]
                if isinstance(unit, Group) and _is_small(unit.domain, self.ahead) and not any(
                        n.kind.may_fail(n) or n.kind is WRITE for n in unit.members):
                    urgent.add(number)
                    waiting.append(number)
        return urgent
