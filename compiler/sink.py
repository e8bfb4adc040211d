"""sink: move a cheap value out of the kernel that makes it into those that use it.

Fusing is eager: where a ReLU is made, so is `x > 0`, which only its gradient uses, a long time later.  What that mask is
made of lies in memory in any case; so its user computes it, and it is neither written nor kept.  Where what it is made of is gone
by then, truth values are kept and not the numbers that are made of them.  And where several cheap values are made of one that is
not, as `1 + tanh(x)` and `1 - tanh(x)**2`, that one is written instead.

Where no cache holds a value, even a few elementary functions take less time than writing and reading it: of a GELU, what it is a
function of is kept for its gradient, which computes the functions again (rematerialization).
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jitgraph.declare.prim import CHEAP, ELEMENTARY

from . import sizes
from .fuse import Group
from .ir import Node, Value, same_shape
from .kernel import ELEMENTS, WIDTH
from .primitives.elementwise import CAST, MAP
from .primitives.reductions import Reduction
from .simplify import inserted
from .views import resolve, trace

if TYPE_CHECKING:
    from .program import Program


FUNCTION = 5            # bytes in the time of an elementary function: 30 instructions for 16 numbers, 37 GB/s for both cores


def sink(program: Program) -> None:
    """Moves values among program.units where that saves memory traffic; units that are left empty go."""
    if program.options.uses("late_values"):
        _Sinker(program).run()


class _Sinker:
    def __init__(self, program: Program) -> None:
        self.program, self.tuning = program, program.target.tuning
        self.outputs = {resolve(v)[0] for v in program.outputs}
        self.unit_of = {n: u for u in program.units for n in (u.members if isinstance(u, Group) else [u])}
        self.users: dict[Value, list[Node]] = {}
        for node in program.nodes:
            for value in dict.fromkeys(node.inputs):
                self.users.setdefault(value, []).append(node)

    def run(self) -> None:
        for unit in reversed(self.program.units):
            if isinstance(unit, Group):
                for node in reversed(unit.members[:]):
                    if node in unit.dims:
                        self._move(unit, node)
                for root in unit.members[:]:
                    if root in unit.dims:
                        self._move_all_of(unit, root)
                if self.program.options.uses("rematerialization"):
                    for value in self._large_values(unit):
                        self._compute_again(unit, value)
        self.program.units = [u for u in self.program.units if not isinstance(u, Group) or u.members]

    def _move(self, home: Group, node: Node) -> None:
        """Moves `node`, with what it needs, to its users, if it is worth it and they can take it."""
        homes = self._homes(home, node, _is_cheap)
        if not homes:
            return
        chain: list[Node] = [node]
        sources: dict[Value, Any] = {}         # value in memory -> how many elements of it are read
        if not self._gather(home, node, chain, sources, _is_cheap) or not self._pays(chain, homes, sources):
            if not _is_narrow(home, node):
                return
            chain = [node]
        self._put(home, node, chain, homes)

    def _homes(self, home: Group, node: Node, allowed: Callable[[Node], bool]) -> list[Group]:
        """The groups to which a node may move: all that use its value; none where it stays."""
        if not allowed(node) or node.out in self.outputs or sizes.count(node.out.shape) <= self.tuning.large:
            return []
        homes: list[Any] = [u for u in dict.fromkeys(map(self.unit_of.get, self.users.get(node.out, ()))) if u is not home]
        return homes if all(isinstance(u, Group) for u in homes) else []

    def _put(self, home: Group, node: Node, chain: list[Node], homes: list[Group]) -> None:
        """Moves `chain`, which makes `node`, to the groups that use it, if they can all take it."""
        trials = self._trials(home, node, chain, homes)
        if not trials:
            return
        for target, trial in zip(homes, trials):
            target.members, target.dims = trial.members, trial.dims
            self._exchange(target, chain)
        for n in reversed(chain):
            if not self.users[n.out]:
                self._remove(home, n)

    def _trials(self, home: Group, node: Node, chain: list[Node], homes: list[Group]) -> list[Group]:
        """The groups that use `node`, each with `chain`, which is put in order; none if one of them cannot take it."""
        chain.sort(key=home.members.index)
        trials = [trial for h in homes if (trial := self._joined(h, node.out, chain)) is not None]
        return trials if len(trials) == len(homes) else []

    def _move_all_of(self, home: Group, root: Node) -> None:
        """Moves all cheap values that are made of a costly one to their users, which then read that one, if that is worth it."""
        if root.kind is not MAP or _is_cheap(root) or sizes.count(root.out.shape) <= self.tuning.large:
            return
        if root.kind.may_fail(root) or self._is_kept(home, root.out, []):
            return
        found: list[tuple[Node, list[Node], list[Group], dict[Value, int]]] = []
        for node in home.members:
            homes, chain, sources = self._homes(home, node, _is_cheap) if node in home.dims else [], [node], {root.out: 0}
            if homes and self._gather(home, node, chain, sources, _is_cheap) and sources[root.out]:
                found.append((node, chain, homes, sources))
        written = sum(sizes.count(node.out.shape) * _width(node.out) for node, *_ in found)
        if len(found) < 2 or written <= sizes.count(root.out.shape) * _width(root.out):
            return
        if all(self._pays(chain, homes, sources) and self._trials(home, node, chain, homes)
               for node, chain, homes, sources in found):
            for node, chain, homes, _ in found:
                self._put(home, node, chain, homes)

    def _large_values(self, home: Group) -> list[Value]:
        """What members read or make that no cache holds: of what others may be functions."""
        read = [base for n in home.members for v in n.inputs if v.node not in home.dims
                and (base := resolve(v)[0]).node not in home.dims and sizes.same(sizes.count(base.shape), sizes.count(v.shape))]
        made = [n.out for n in home.members if _is_pure(n)]
        return [v for v in dict.fromkeys([*read, *made]) if not (v.node.kind.is_known or v.node.kind.is_state)
                and v.dtype.name in ELEMENTS and sizes.count(v.shape) > self.tuning.cached]

    def _compute_again(self, home: Group, root: Value) -> None:
        """Lets those that use functions of `root` read that and compute the functions, if that takes less time than what is
        written and read less."""
        count = sizes.count(root.shape)
        line, readers = count * _width(root), set[Group]()
        saved = 0 if self._is_kept(home, root, []) else -2 * line       # a product's result can stay unwritten, too
        found: list[tuple[Node, list[Node], list[Group]]] = []
        for node in home.members:
            homes, chain, sources = self._homes(home, node, _is_pure), [node], {root: 0}
            if node is root.node or not homes or not self._gather(home, node, chain, sources, _is_pure) or not sources[root]:
                continue
            others = sum(size * _width(v) for v, size in sources.items() if v is not root)
            moved = count * _width(node.out) * (2 + len(homes)) - others * len(homes)
            effort = len(homes) * count * sum(map(_effort, chain))
            if moved > effort and self._trials(home, node, chain, homes):
                found.append((node, chain, homes))
                saved += moved - effort
                readers.update(homes)
        for reader in readers:
            if not any(resolve(v)[0] is root for n in reader.members for v in n.inputs):
                saved -= line
        if saved > 0:
            for node, chain, homes in found:
                self._put(home, node, chain, homes)

    def _gather(self, home: Group, node: Node, chain: list[Node], sources: dict[Value, int],
                allowed: Callable[[Node], bool]) -> bool:
        """Adds to `chain` what of `home` it needs, and to `sources` what that is made of and lies in memory in any case, as those
        that are there already do.  `allowed`: which nodes may be in the chain."""
        for value in node.inputs:
            base = resolve(value)[0]
            if base.node.kind.is_known or value.node in chain:
                continue
            if base.node.kind.is_state or base.node.kind.is_index:
                return False
            if value.node in home.dims and value not in sources and not self._is_kept(home, value, chain):
                if not allowed(value.node) or not same_shape(value.shape, node.out.shape):
                    return False
                chain.append(value.node)
                if not self._gather(home, value.node, chain, sources, allowed):
                    return False
            elif value.node not in home.dims and trace(value)[0].node in home.dims:
                return False
            else:
                sources[base] = min(sizes.count(base.shape), sizes.count(value.shape))
        return True

    def _is_kept(self, home: Group, value: Value, chain: list[Node]) -> bool:
        """Whether a value made in `home` is written there in any case."""
        if value in self.outputs:
            return True
        users = list(self.users.get(value, ()))
        while users:
            user = users.pop()
            if user.kind.is_view:
                users += self.users.get(user.out, ())
            elif self.unit_of.get(user) is not home and user not in chain:
                return True
        return False

    def _pays(self, chain: list[Node], homes: list[Group], sources: dict[Value, int]) -> bool:
        """Whether reading the sources moves fewer bytes than writing the value of chain[0], for which a line of the cache is
        read and written, and reading it; where all that stays in the cache, a few instructions are more than that saves."""
        value = chain[0].out
        count = sizes.count(value.shape)
        if len(chain) > self.tuning.short and count <= self.tuning.cached:
            return False
        now, then = count * _width(value) * (2 + len(homes)), 0
        for home in homes:
            read = {resolve(v)[0] for n in home.members for v in n.inputs}
            then += sum(size * _width(source) for source, size in sources.items() if source not in read)
        return then < now

    def _joined(self, target: Group, value: Value, chain: list[Node]) -> Group | None:
        """`target` with the nodes that make `value` before its first user; None if that cannot be."""
        seen = set()
        for user in self.users[value]:
            if self.unit_of[user] is target:
                if not (user.kind in (MAP, CAST) or isinstance(user.kind, Reduction)):
                    return None
                seen |= {dims for v, dims in user.kind.dims_of_inputs(user, target.dims[user]) if v is value}
        if len(seen) != 1 or target.weight() + sum(n.kind.weight(n) for n in chain) > self.program.options.max_weight:
            return None
        dims, = seen
        if target.covers(dims) != "full":
            return None
        trial = Group(target.unit, target.domain)
        trial.reduced, trial.partial = target.reduced, target.partial
        first = min(k for k, n in enumerate(target.members) if any(v is value for v in n.inputs))
        trial.members = [*target.members[:first], *chain, *target.members[first:]]
        trial.dims = {**target.dims, **dict.fromkeys(chain, dims)}
        return trial if trial.admits() else None

    def _exchange(self, target: Group, chain: list[Node]) -> None:
        """Puts copies of `chain`, among the members of `target`, in its place."""
        copies: dict[Node, Node] = {}
        for node in chain:
            nodes: list[Node] = []
            inputs = [copies[v.node].out if v.node in copies else v for v in node.inputs]
            copies[node] = inserted(node.kind, inputs, node.out, nodes, node, **node.attrs).node
            at = self.program.nodes.index(node) + 1
            self.program.nodes[at:at] = nodes
            self.unit_of[copies[node]] = target
            for value in dict.fromkeys(inputs):
                self.users.setdefault(value, []).append(copies[node])
        value, copy = node.out, copies[node].out
        for user in [u for u in self.users[value] if u in target.dims and u not in copies]:
            user.inputs = [copy if v is value else v for v in user.inputs]
            self.users[value].remove(user)
            self.users.setdefault(copy, []).append(user)
        target.members = [copies.get(n, n) for n in target.members]
        target.dims = {copies.get(n, n): dims for n, dims in target.dims.items()}

    def _remove(self, home: Group, node: Node) -> None:
        home.members.remove(node)
        self.program.nodes.remove(node)
        del home.dims[node], self.unit_of[node]
        for value in dict.fromkeys(node.inputs):
            self.users[value].remove(node)


def _is_cheap(node: Node) -> bool:
    """Whether computing it takes less than writing it, and does nothing else."""
    return (node.kind is CAST or node.kind is MAP and node.attrs["prim"] in CHEAP) and not node.kind.may_fail(node)


def _is_pure(node: Node) -> bool:
    """Whether it can be computed twice."""
    return node.kind in (MAP, CAST) and not node.kind.may_fail(node)


def _effort(node: Node) -> int:
    """How many bytes are written and read in the time that computing it takes, by all cores."""
    return 0 if _is_cheap(node) else FUNCTION if node.kind is MAP and node.attrs["prim"] in ELEMENTARY else 1


def _is_narrow(home: Group, node: Node) -> bool:
    """Whether it is made of fewer bytes in the kernel that makes them."""
    return node.kind is CAST and node.inputs[0].node in home.dims and _width(node.inputs[0]) < _width(node.out)


def _width(value: Value) -> int:
    return WIDTH[ELEMENTS[value.dtype.name]]
