"""What the emitters of both targets share: names and slots of a kernel's arguments, which loops a statement depends on,
which pass it belongs to, and the text of a single statement."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from jitgraph.declare.prim import CHECKED, ELEMENTARY

from .. import sizes
from ..ir import Node
from ..kernel import (
    CHECK_DIVISION,
    CHECK_INDEX,
    CHECK_POWER,
    LITERAL_EXTENT,
    Access,
    Kernel,
    Param,
    Statement,
)
from ..options import STANDARD, Options
from . import scalars

Spills = dict[str, tuple[int, Access]]     # {name: (pass that computes it, where it waits)}


class Text:
    """Lines of Python with indentation, and the node that each is written for."""

    def __init__(self, depth: int = 1) -> None:
        self.lines: list[str] = []
        self.origins: list[Node | None] = []
        self.depth = depth

    def line(self, text: str, of: Node | None = None) -> None:
        self.lines.append("    " * self.depth + text)
        self.origins.append(of)

    def add(self, other: Text) -> None:
        """Appends another text as it is."""
        self.lines += other.lines
        self.origins += other.origins

    def block(self, header: str) -> Text:
        self.line(header)
        self.depth += 1
        return self

    def __enter__(self) -> Text:
        return self

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


class Emitter:
    """One kernel being written; a target's subclass supplies the loops."""

    def __init__(self, kernel: Kernel, options: Options = STANDARD):
        self.kernel, self.options = kernel, options
        self.text = Text()
        self.may_fail = False           # whether a statement that was written sets bits of `err`
        self.slots: dict[tuple[Any, str], str] = {}
        self.slot_sizes: list[Any] = []     # Dim, or ("scalar", value, code or part)
        self.arguments = Text()                  # what takes sizes and numbers from the arguments
        self.types = {s.name: s.dtype for s in kernel.body if s.name}
        self.by_name = {s.name: s for s in kernel.body if s.name}
        self.deps = self._dependencies()
        self.avail = self._availability()
        self._name_params()

    # analysis --------------------------------------------------------------------------------------------------
    def _dependencies(self) -> dict[str, frozenset[int]]:
        """The loops that each value varies with."""
        deps: dict[str, frozenset[int]] = {}
        reduce_loops = {k for k, loop in enumerate(self.kernel.loops) if loop.role == "reduce"}
        for s in self.kernel.body:
            found = frozenset().union(*(deps[a] for a in s.args if a in deps))
            if s.access is not None:
                found |= {k for k, stride in enumerate(s.access.strides) if sizes.hint_of(stride) != 0}
            if s.kind == "reduce":
                found -= reduce_loops
            if s.name:
                deps[s.name] = found
        return deps

    def _availability(self) -> dict[str, int]:
        """How many passes over the reduce loops must be complete before each value can be computed."""
        avail: dict[str, int] = {}
        for s in self.kernel.body:
            if s.name:
                avail[s.name] = max((avail[a] for a in s.args if a in avail), default=0) + (s.kind == "reduce")
        return avail

    def _name_params(self) -> None:
        count = {"in": 0, "out": 0, "inout": 0}
        letter = {"in": "x", "out": "y", "inout": "z"}
        for p in self.kernel.params:
            p.name = f"{letter[p.use]}{count[p.use]}"
            count[p.use] += 1

    def closure(self, sinks: Iterable[str], wanted: Callable[[str], bool]) -> list[Statement]:
        """Statements that compute the names in `sinks`, in order, following only those for which `wanted(name)`."""
        need, stack = set(), [n for n in sinks if wanted(n)]
        while stack:
            name = stack.pop()
            if name in need:
                continue
            need.add(name)
            stack.extend(a for a in self.by_name[name].args if a in self.by_name and wanted(a))
        return [s for s in self.kernel.body if s.name in need]

    # arguments -------------------------------------------------------------------------------------------------
    def slot(self, dim: sizes.Dim, hint: str, role: Any = None) -> str:
        """The name of a size argument that holds `dim`; equal sizes in one `role` share one.  Sizes that are equal by chance alone,
        as a row's length and where another row begins, do not: kernels that differ in nothing else are one."""
        key = role, sizes.source(dim)
        if key not in self.slots:
            name = f"{hint}{sum(1 for s in self.slots.values() if s.startswith(hint))}"
            self.slots[key] = name
            self.arguments.line(f"{name} = sizes[{len(self.slot_sizes)}]")
            self.slot_sizes.append(dim)
        return self.slots[key]

    def literal(self, k: int, inner: bool = False) -> int | None:
        """The length of a loop that is written as a number."""
        size = self.kernel.loops[k].size
        short = inner and self.options.uses("literal_extents")
        return size if not isinstance(size, sizes.Size) and (size == 1 or short and size <= LITERAL_EXTENT) else None

    def extent(self, k: int, inner: bool = False) -> str:
        """The text of a loop's length: a number, or the name of a slot."""
        number = self.literal(k, inner)
        return self.slot(self.kernel.loops[k].size, "n", ("loops", k)) if number is None else str(number)

    def stride(self, access: Access, k: int) -> str:
        """The name of the argument with a stride.  Accesses that go through a buffer element by element share theirs."""
        loops = self._followed(access)
        role = ("param", access.param) if loops is None else ("loops", *loops[k])
        return self.slot(access.strides[k], "s", role)

    def _followed(self, access: Access) -> dict[int, list[int]] | None:
        """For each loop that moves an access, the loops within it, whose sizes make its stride.  None where the access leaves some
        of the buffer out; what makes such a part says by numbers where it begins."""
        expected: sizes.Dim = 1
        inside: list[int] = []
        found: dict[int, list[int]] = {}
        moving = [k for k, stride in enumerate(access.strides) if not sizes.same(stride, 0)]
        if len(access.strides) != len(self.kernel.loops):
            return None
        for k in sorted(moving, key=lambda k: (abs(sizes.hint_of(access.strides[k])), -k)):
            if not sizes.same(access.strides[k], expected):
                return None
            found[k] = sorted(inside)
            expected = expected * self.kernel.loops[k].size
            inside.append(k)
        return found

    def _scalar(self, s: Statement) -> None:
        """Writes what takes a number that is passed by value."""
        self.arguments.line(f"{s.name} = {scalars.by_value(self.slot_sizes, self.kernel.scalars[s.args[0]], s.dtype)}", s.node)

    # text ------------------------------------------------------------------------------------------------------
    def terms(self, access: Access, loops: Iterable[int]) -> list[str]:
        """The parts of an element index that belong to these loops."""
        parts = []
        for k in loops:
            stride = access.strides[k]
            if sizes.same(stride, 0):
                continue
            index = self.loop_name(k)
            parts.append(index if sizes.same(stride, 1) else f"{index} * {self.stride(access, k)}")
        return parts

    def index(self, access: Access) -> str:
        parts = self.terms(access, range(len(access.strides)))
        if not sizes.same(access.offset, 0) or access.param >= 0 and self._followed(access) is None:
            parts.insert(0, self.slot(access.offset, "o", ("param", access.param)))
        return " + ".join(parts) or "0"

    def part_lines(self, count: str) -> None:
        """Lines that find the rows of a part, `first` to `last` of `count`; see Kernel."""
        parts = self.extent(0)
        self.text.line(f"step = quotient({count} + {parts} - 1, {parts})")
        self.text.line(f"first = smaller(i0 * step, {count})")
        self.text.line(f"last = smaller(first + step, {count})")

    def loop_name(self, k: int) -> str:
        return f"i{k}"

    def statement(self, s: Statement) -> None:
        """Writes one load, index, op or gather."""
        if s.kind == "load":
            self.text.line(f"{s.name} = {self.load(s)}", s.node)
        elif s.kind == "index":
            assert s.access is not None
            self.text.line(f"{s.name} = {self.index(s.access)}", s.node)
        elif s.kind == "gather":
            self._gather(s)
        else:
            self._check(s)
            self.text.line(f"{s.name} = {scalars.expression(s, self.types)}", s.node)

    def param(self, s: Statement) -> Param:
        """The buffer that a load, a gather or a store looks into."""
        assert s.access is not None
        return self.kernel.params[s.access.param]

    def load(self, s: Statement) -> str:
        assert s.access is not None
        param = self.param(s)
        text = f"{param.name}[{self.index(s.access)}]"
        return f"{text} != 0" if param.dtype == "b1" else scalars.loaded(text, param.dtype)

    def _gather(self, s: Statement) -> None:
        assert s.access is not None
        limit, (index,) = self.slot(s.limit, "n", ("limit", s.access.param)), s.args
        self.text.line(f"j{s.name} = i64({index})")
        self._fail_if(f"outside(j{s.name}, {limit})", CHECK_INDEX)
        if sizes.same(s.limit, 0):      # there is nothing that could be read
            self.text.line(f"{s.name} = {scalars.cast('0', 'i64', s.dtype)}", s.node)
            return
        self.text.line(f"j{s.name} = inside(j{s.name}, {limit})")
        rest = self.index(s.access)
        stride = "" if sizes.same(s.stride, 1) else f" * {self.slot(s.stride, 's', ('gathered', s.access.param))}"
        param = self.kernel.params[s.access.param]
        text = f"{param.name}[{rest} + j{s.name}{stride}]"
        self.text.line(f"{s.name} = " + (f"{text} != 0" if param.dtype == "b1" else scalars.loaded(text, param.dtype)), s.node)

    def _fail_if(self, condition: str, bit: int) -> None:
        self.may_fail = True
        self.text.line(f"err |= {condition} * {bit}")

    def _check(self, s: Statement) -> None:
        if s.prim in CHECKED and s.dtype[0] in "iu":
            if s.prim != "pow":
                self._fail_if(f"i64({s.args[1]} == 0)", CHECK_DIVISION)
            elif s.dtype[0] == "i":
                self._fail_if(f"i64({s.args[1]} < 0)", CHECK_POWER)

    def store(self, s: Statement, index: str | None = None) -> None:
        assert s.access is not None
        param = self.param(s)
        value = scalars.stored(s.args[0], param.dtype)
        self.text.line(f"{param.name}[{index or self.index(s.access)}] = {value}", self.kernel.buffers[s.access.param].node)

    # passes ----------------------------------------------------------------------------------------------------
    def plan_passes(self) -> tuple[int, dict[int, list[Statement]], Spills]:
        """(number of passes that reduce, the stores of each pass, what waits in an output row: see `_spills`)."""
        body = self.kernel.body
        passes = max((self.avail[s.name] for s in body if s.kind == "reduce"), default=0)
        full = [s for s in body if s.kind == "store" and s.level == "full"]
        stores: dict[int, list[Statement]] = {}
        for s in full:
            early = self.avail[s.args[0]] if self.param(s).use == "out" else passes
            stores.setdefault(min(early, passes), []).append(s)
        return passes, stores, self._spills(passes, stores) if self.options.uses("spills") else {}

    def needed_in(self, p: int, stores: dict[int, list[Statement]]) -> list[str]:
        """Names that pass p must have: arguments of its reductions and of its stores."""
        names = [a for s in self.kernel.body if s.kind == "reduce" and self.avail[s.name] == p + 1 for a in s.args]
        return names + [s.args[0] for s in stores.get(p, ())]

    def varies(self, name: str) -> bool:
        """Whether a value must be computed inside the reduce (or inner) loops."""
        roles = {self.kernel.loops[k].role for k in self.deps[name]}
        return bool(roles & {"reduce", "inner"}) and self.by_name[name].kind != "reduce"

    def varies_in_columns(self, name: str) -> bool:
        """Whether a value is computed for each column of results: what is made of sums is not there earlier, also where all
        columns are equal."""
        return self.varies(name) or self.avail[name] > 0 and self.by_name[name].kind != "reduce"

    def _spills(self, passes: int, stores: dict[int, list[Statement]]) -> Spills:
        """Expensive values that several passes need are kept in an output row until that row's own values come:
        {name: (pass that computes it, access)}."""
        spills: Spills = {}
        taken: set[int] = set()
        uses: dict[str, list[int]] = {}
        for p in range(passes + 1):
            for s in self.closure(self.needed_in(p, stores), self.varies):
                uses.setdefault(s.name, []).append(p)
        every = [(p, s) for p in stores for s in stores[p] if self.param(s).use == "out"]
        for name, at in uses.items():
            s = self.by_name[name]
            if len(at) < 2 or s.kind != "op" or s.prim not in ELEMENTARY:
                continue
            for p, store in every:
                assert store.access is not None
                own = store.args[0] == name
                fits = store.dtype == s.dtype and store.access.param not in taken and (own or p >= at[-1])
                if fits:
                    spills[name] = (at[0], store.access)
                    taken.add(store.access.param)
                    break
        return spills

    # what all kinds of kernel are made of --------------------------------------------------------------------------
    def write(self) -> None:
        """Writes the whole kernel; what its kind asks for stands in the subclass's method of that name."""
        for s in self.kernel.body:
            if s.kind == "scalar":
                self._scalar(s)
        for s in self._where(self._hoisted):
            self.statement(s)
        getattr(self, "_" + self.kernel.kind)()

    def finish(self, text: Text) -> None:
        """Gives the kernel its whole text, and the size arguments that it takes."""
        self.kernel.source, self.kernel.origins = "\n".join(text.lines) + "\n", text.origins
        self.kernel.sizes = self.slot_sizes

    def _hoisted(self, name: str) -> bool:
        """Whether a value is computed once, before the loop over items."""
        return not self.deps[name] and not self.avail[name]

    def _where(self, test: Callable[[str], Any]) -> list[Statement]:
        """The statements, but scalars and reductions, whose names pass the test."""
        return [s for s in self.kernel.body if s.name and s.kind not in ("scalar", "reduce") and test(s.name)]

    def _stores(self, level: str) -> list[Statement]:
        return [s for s in self.kernel.body if s.kind == "store" and s.level == level]

    def _loops(self, role: str) -> list[int]:
        return [k for k, loop in enumerate(self.kernel.loops) if loop.role == role]

    def _item_indices(self, loops: list[int], item: str = "q") -> None:
        """Takes the item number apart into one index per loop, the last running fastest."""
        for k in reversed(loops[1:]):
            n = self.extent(k)
            self.text.line(f"t{k} = quotient({item}, {n})")
            self.text.line(f"i{k} = {item} - t{k} * {n}")
            item = f"t{k}"
        if loops:
            self.text.line(f"i{loops[0]} = {item}")

    def _all(self, statements: list[Statement], stores: list[Statement]) -> None:
        """One point of a map."""
        for s in statements:
            self.statement(s)
        for s in stores:
            self.store(s)

    def _row_statements(self, p: int) -> None:
        """Values of the item itself that become available before pass p."""
        for s in self._where(lambda n: self.avail[n] == p and not self.varies(n) and not self._hoisted(n)):
            self.statement(s)

    def _reductions(self, p: int) -> list[Statement]:
        """The reductions that pass p carries out."""
        return [s for s in self.kernel.body if s.kind == "reduce" and self.avail[s.name] == p + 1]

    def _pass_body(self, p: int, stores: dict[int, list[Statement]], spills: Spills, step: Callable[[Statement], None]) -> None:
        """One point of the reduce loops in pass p: its statements, `step(s)` for every reduction, its stores."""
        later = {n for n, (at, _) in spills.items() if at < p}
        inside = self.closure(self.needed_in(p, stores), self.varies)
        if later:
            inside = self._without(inside, later, self.needed_in(p, stores))
        for s in inside:
            if s.name in later:
                self.text.line(f"{s.name} = {scalars.loaded(self._place(spills[s.name][1]), s.dtype)}", s.node)
                continue
            self.statement(s)
            if s.name in spills and spills[s.name][0] == p:
                self.text.line(f"{self._place(spills[s.name][1])} = {scalars.stored(s.name, s.dtype)}", s.node)
        for s in self._reductions(p):
            step(s)
        for s in stores.get(p, ()):
            own = s.args[0] in spills and spills[s.args[0]][1] is s.access
            if not own:
                self.store(s)

    def _place(self, access: Access) -> str:
        return f"{self.kernel.params[access.param].name}[{self.index(access)}]"

    def _without(self, needed: list[Statement], later: set[str], sinks: list[str]) -> list[Statement]:
        """The statements of a pass when the values in `later` are reloaded instead of computed."""
        names = {s.name for s in needed}
        keep = self.closure(sinks, lambda n: n in names and n not in later)
        reloaded = {a for s in keep for a in s.args if a in later} | {n for n in sinks if n in later}
        wanted = {s.name for s in keep} | reloaded
        return [s for s in needed if s.name in wanted]

    # accumulators ----------------------------------------------------------------------------------------------
    def accumulator(self, s: Statement) -> str:
        """The code of what carries a reduction."""
        return scalars.accumulator_code(s.prim, self.types[s.args[0]])

    def _start(self, s: Statement) -> None:
        """Writes the start values of a reduction's accumulator."""
        code = self.accumulator(s)
        self.text.line(f"{s.name}_acc = {scalars.reduction(s.prim, code)[0]}", s.node)
        if len(s.args) > 1:
            self.text.line(f"{s.name}_at = 0", s.node)

    def _step(self, s: Statement, alone: bool = True) -> None:
        """Writes the combination of an accumulator with one more value; `alone`: see `scalars.reduction`."""
        source = self.types[s.args[0]]
        code = self.accumulator(s)
        acc, x = f"{s.name}_acc", scalars.cast(s.args[0], source, code)
        if len(s.args) > 1:
            sign = ">" if s.prim == "argmax" else "<"
            self.text.line(f"{s.name}_new = {x} {sign} {acc}", s.node)
            self.text.line(f"{s.name}_at = select({s.name}_new, {s.args[1]}, {s.name}_at)", s.node)
            self.text.line(f"{acc} = select({s.name}_new, {x}, {acc})", s.node)
        else:
            self.text.line(f"{acc} = " + scalars.reduction(s.prim, code, alone)[1].format(acc=acc, x=x), s.node)

    def _finish(self, s: Statement) -> None:
        """Writes a reduction's value, from its accumulator."""
        if len(s.args) > 1:
            self.text.line(f"{s.name} = {s.name}_at", s.node)
            return
        code = self.accumulator(s)
        self.text.line(f"{s.name} = {scalars.cast(f'{s.name}_acc', code, s.dtype)}", s.node)
