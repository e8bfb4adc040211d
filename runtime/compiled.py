"""A compiled program with its kernels loaded, before its sizes are known."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler import show, sizes
from jitgraph.compiler.emit.bind import Numbers, compile_guards
from jitgraph.compiler.kernel import Kernel
from jitgraph.compiler.order import seen_through
from jitgraph.compiler.place import CopyStep, DeviceStep, HostStep, Slot, temp_bytes
from jitgraph.compiler.primitives.memory import READ, WRITE
from jitgraph.compiler.program import Program
from jitgraph.compiler.views import is_contiguous

from .arguments import SizeArguments
from .binding import ADDRESS, ARGUMENTS, CUTTABLE, SIZES, Binding
from .hostcall import HostCall
from .interpreter import ROW
from .library import LIBRARY, Tell
from .memory import Arenas, Arrangements, address_of

if TYPE_CHECKING:
    from jitgraph.graph.operation import Operation
    from jitgraph.graph.tensor import Tensor

    from .cuda.launch import Launch
    from .state import State
    from .variable import Variable

Stretch = tuple[Any, ...]       # (first row, number of rows), (host step, views, variables, call) or (device step,)


class Compiled:
    """A program with its kernels loaded: makes a Binding for every set of sizes that its guards admit.

    `tell`: see `Library.addresses`; `numbers`: the number that each feed it looks at has among what a run is given, where that
    is not that of all feeds in their order.  `results`: the tensors that a run gives, in order."""

    def __init__(self, program: Program, state: State, tell: Tell | None = None, numbers: dict[Tensor, int] | None = None) -> None:
        self.program, self.state = program, state
        self.given = {t: n for n, t in enumerate(program.feeds)} if numbers is None else numbers
        self.bound = 0              # how often
        layout = program.layout
        self.numbers = Numbers()
        kernels = [step[0] for step in layout.steps if isinstance(step, tuple)]
        called = [kernel.joins[0] for kernel in kernels if kernel.joins is not None]
        self.kernels = list(zip(kernels, LIBRARY.addresses([*kernels, *called], program.options.compiler, tell)))
        self._collect()
        self.symbols = list(program.space.symbols)
        self.dims = self.numbers.compile(self.symbols)
        self._stretch()
        self._find_rows()
        self.valid = compile_guards(program.space)
        self.match = _matcher(program, program.feeds if numbers is None else looked_at(program))
        self._find_variables()
        self._find_slots()
        self.arenas = Arenas()
        self.arrangements = Arrangements([(program.layout.slots[k].first, program.layout.slots[k].last) for k in self.temps])
        show.observe(program, lambda kernel: LIBRARY.fact(kernel, program.options.compiler))

    def _collect(self) -> None:
        """Gives every size expression of the plan its number."""
        add = self.numbers.add
        self.slot_bytes: list[Any] = [add(temp_bytes(s)) if s.kind in ("temp", "kept", "output") else None
                           for s in self.program.layout.slots]
        slots = self.program.layout.slots
        self.consts = {k: _const_array(s) for k, s in enumerate(slots) if s.kind == "const"}
        self.size_values = {k: [(add(x) if isinstance(x, (sizes.Size, int)) else x) for x in
                                s.value.node.attrs["array"].ravel()] for k, s in enumerate(slots) if s.kind == "size"}
        self.words = SizeArguments(self.numbers, self.program.options.compiler)
        self.kernel_numbers: list[tuple[int, int, float, int]] = []
        for kernel, _ in self.kernels:
            work, per_item = kernel.cost
            self.kernel_numbers.append((len(self.words.numbers), add(kernel.items), work, add(per_item)))
            self.words.add(kernel.sizes)
        self.shapes = _Shapes(tuple(add(d) for d in s.shape) for s in self.program.layout.slots)
        self.host_views = [[(slot, tuple(map(add, shape)), tuple(map(add, strides)), add(offset),
                             _is_whole(slots[slot], shape, strides, offset)) for slot, shape, strides, offset in step.inputs]
                           for step in self.program.layout.steps if isinstance(step, HostStep)]
        self.seen = {slot for views in self.host_views for slot, *_ in views}     # by host steps, and copies
        self.seen |= {step.slot for step in self.program.layout.steps if isinstance(step, CopyStep)}
        self.launches: dict[DeviceStep, Launch] = {}
        if self.state.machine is not None:
            from .cuda.launch import launches

            self.launches = launches(self.program, self.numbers, self.state.machine)

    def _find_variables(self) -> None:
        """`variables`: (slot, variable); `changed`: those that kernels write; `decisive`: those of which kept values are made;
        `reads`: {variable that must be initialised before the run: (its declaration, the operation that needs it)}; `writes`:
        variables that the run initialises."""
        program, variable = self.program, self.state.variable
        reads: dict[Operation, Operation | None] = {}
        writes: list[Operation] = []
        for node in program.nodes:
            if node.kind is READ and node.attrs["version"] == 0:
                reads.setdefault(node.attrs["variable"], node.op)
            if node.kind is WRITE and node.attrs["variable"] not in writes:
                writes.append(node.attrs["variable"])
        # TensorFlow asks a value for its shape: a variable without one fails (tf.assert_variables_initialized lives on that)
        touched = {*reads, *writes, *(n.attrs["variable"] for n in program.nodes if n.kind is READ),
                   *(v for n in program.nodes for v in n.attrs.get("refs", {}).values())}
        reads.update((v, None) for v in program.measured if v not in touched)
        self.reads = {variable(declaration): (declaration, op) for declaration, op in reads.items()}
        self.writes = [variable(declaration) for declaration in writes]
        slots = program.layout.slots
        self.variables = [(k, variable(s.key)) for k, s in enumerate(slots) if s.kind == "variable"]
        steps = [step for step in program.layout.steps if isinstance(step, tuple)]
        changed = {k for kernel, used in steps for param, k in zip(kernel.params, used) if param.use != "in"}
        decisive = {k for _, used in steps[:program.kept] for k in used}
        self.changed = [v for k, v in self.variables if k in changed]
        self.decisive = [v for k, v in self.variables if k in decisive]

    def _find_slots(self) -> None:
        """`temps`: the slots of temporaries; `kept`: of what stays from run to run; `feeds`: (number, slot, dtype, whether kernels
        can read it) of feeds that have one; `outputs`: (slot, dtype) of what kernels write for the caller; `readers`: how each
        result is read out, see `Frame._read`; `first_arrays`, `first_slots`: what a frame begins with in its slots."""
        slots, feeds = self.program.layout.slots, self.given
        host = self.seen.union(*(step[1] for step in self.program.layout.steps if isinstance(step, tuple)))
        self.temps = [k for k, s in enumerate(slots) if s.kind == "temp" and k in host]     # others are on devices alone
        self.kept = [k for k, s in enumerate(slots) if s.kind == "kept"]
        self.outputs: list[tuple[int, np.dtype]] = [
            (k, np.dtype(s.dtype.as_numpy_dtype)) for k, s in enumerate(slots) if s.kind == "output"]
        slot_of = {s.key: k for k, s in enumerate(slots) if s.kind == "feed"}
        self.feeds: list[tuple[int, int, np.dtype, bool]] = [
            (number, k, np.dtype(slots[k].dtype.as_numpy_dtype), slots[k].dtype.name in self.program.target.elements)
            for tensor, number in feeds.items() if (k := slot_of.get(tensor)) is not None]
        handed_on, found = set(self.program.live), self.program.layout.results
        # what a segment was given itself, the next one takes from where it was
        self.results = [tensor for tensor in found if not (self.program.rest and tensor in self.program.feeds)]
        self.readers = [(("passed" if tensor in handed_on else "feed"), feeds[tensor if tensor in feeds else slots[slot].key])
                        if slots[slot].kind == "feed" else ("copy" if slots[slot].kind in ("const", "size") else "given", slot)
                        for tensor, slot in ((tensor, found[tensor][0]) for tensor in self.results)]
        self.first_arrays = [self.consts.get(k) for k in range(len(slots))]
        self.first_slots = np.zeros(len(slots) + 1, np.int64)
        for k, array in self.consts.items():
            if array.dtype != object:
                self.first_slots[k] = address_of(array)

    def _stretch(self) -> None:
        """The parts of the plan that do not depend on sizes: stretches of kernels (first row, number of rows) between
        host steps (step, views, variables written before it, what calls its operation), the arguments of every kernel,
        where they begin, and whether the kernel may be left halfway.  Kernels of kept values are in no stretch."""
        self.stretches: list[Stretch] = []
        self.first_argument: list[int] = []
        index: list[int] = []
        self.cuttable: list[bool] = []
        slots = self.program.layout.slots
        start, rows, views = 0, 0, iter(self.host_views)
        written: list[Variable] = []
        for step in self.program.layout.steps:
            if not isinstance(step, tuple):
                if rows > start:
                    self.stretches.append((start, rows - start))
                start = rows
                if isinstance(step, HostStep):
                    self.stretches.append((step, next(views), tuple(written), self._host_call(step)))
                else:
                    self.stretches.append((step,))
                    written += self._written_by(step.kernel) if isinstance(step, DeviceStep) else []
                continue
            written += self._written_by(step[0])
            self.first_argument.append(len(index))
            index.extend(step[1])
            self.cuttable.append(not any(param.use != "in" and slots[k].kind == "variable"
                                         for param, k in zip(step[0].params, step[1])))
            rows += 1
            if rows == self.program.kept:
                start = rows
        if rows > start:
            self.stretches.append((start, rows - start))
        self.arguments = len(index)
        self.touched = set(index)           # slots of which kernels of the host know where they lie
        self.index = np.array([*index, 0], np.int64)

    def _find_rows(self) -> None:
        """`rows`: of the interpreter's table what does not depend on sizes, the nanoseconds of a unit of work of each kernel, and
        the numbers of its items and of the units that one takes."""
        count = len(self.first_argument)
        rows = np.zeros((count, ROW), np.int64)
        rows[:, ADDRESS] = [address for _, address in self.kernels[:count]]
        rows[:, ARGUMENTS], rows[:, CUTTABLE] = self.first_argument, self.cuttable
        numbers = self.kernel_numbers
        rows[:, SIZES] = [at for at, *_ in numbers]
        self.rows = (rows, np.array([work for _, _, work, _ in numbers], np.float64),
                     np.array([items for _, items, _, _ in numbers], np.int64),
                     np.array([per_item for *_, per_item in numbers], np.int64))

    def _host_call(self, step: HostStep) -> HostCall | None:
        node, op = step.node, step.node.op
        if node.attrs.get("call") != "op" or step.call is not None or "refs" in node.attrs:
            return None
        return HostCall(op, self.state) if op is not None and op.opdef is not None and op.opdef.value is not None else None

    def _written_by(self, kernel: Kernel) -> list[Variable]:
        """The variables that a kernel writes."""
        return [self.state.variable(n.attrs["variable"]) for n in kernel.nodes if n.kind is WRITE]

    def bind(self, shapes: Sequence[tuple[int, ...]], pins: Sequence[tuple[int, ...]] = ()) -> Binding | None:
        """The Binding for these feed shapes and values of its `sized` tensors (as by `measured`), or None if the program
        does not hold for them."""
        values = self.match((*shapes, *pins))
        if values is None or not self.valid(*values):
            return None
        self.bound += 1
        return Binding(self, self.dims(*values), dict(zip(self.symbols, values)))


def _is_whole(slot: Slot, shape: sizes.Shape, strides: list[sizes.Dim], offset: sizes.Dim) -> bool:
    """Whether a view is all of a slot as that lies, whatever the sizes."""
    return sizes.same(offset, 0) and sizes.same_shape(shape, slot.shape) and is_contiguous(shape, strides)


def _picked(places: tuple[int, ...]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """A function of a tuple that gives the tuple of what is at these places."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))          # of one place it would give no tuple


class _Shapes:
    """The shapes of a program's slots, each distinct one made once; `places` has the numbers of the sizes of each."""

    def __init__(self, places: Iterable[tuple[int, ...]]) -> None:
        numbers: dict[tuple[int, ...], int] = {}
        self.which = [numbers.setdefault(shape, len(numbers)) for shape in places]
        self.distinct = [_picked(shape) for shape in numbers]

    def __call__(self, numbers: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The shape of every slot where the sizes come to these numbers."""
        found = [shape(numbers) for shape in self.distinct]
        return [found[k] for k in self.which]


def looked_at(program: Program) -> list[Tensor]:
    """The feeds that a program uses itself; others are there for a later segment alone."""
    if not program.rest:
        return list(program.feeds)
    used = {t for op in program.ops for k in op.inputs for t in (k, seen_through(k))}.union(program.pins)
    return [t for t in program.feeds if t in used]


def _matcher(program: Program, used: Iterable[Tensor]) -> Callable[[Sequence[tuple[int, ...]]], tuple[int, ...] | None]:
    """A function of the shapes of all feeds, and what `measured` gives for sized tensors, that gives the symbols' values, or None
    where those of the `used` feeds do not fit.  Symbols of others keep the values that they were compiled with."""
    numbers = {t: n for n, t in enumerate(program.feeds)}
    expected = [(numbers[t], program.infos[t].shape) for t in used]
    expected += [(n, measured(program.infos[t].value)) for n, t in enumerate(program.sized, len(numbers))]
    names, hints = list(program.space.symbols), dict(program.space.symbols)
    picked, ranks = _picked(tuple([n for n, _ in expected])), tuple([len(shape) for _, shape in expected])
    fixed: dict[int, int] = {}          # place in all of these shapes, one after the other -> the only size that fits
    places: dict[str, list[int]] = {}   # symbol -> where its value stands
    for place, size in enumerate(d for _, shape in expected for d in shape):
        if isinstance(size, sizes.Size):
            places.setdefault(size.terms[0][0][0][1], []).append(place)
        else:
            fixed[place] = size
    stated, wanted = _picked(tuple(fixed)), tuple(fixed.values())
    firsts = _picked(tuple(place for of in places.values() for place in of[:1] * (len(of) - 1)))
    others = _picked(tuple(place for of in places.values() for place in of[1:]))
    found = _picked(tuple(places[s][0] if s in places else k for k, s in enumerate(names, sum(ranks))))
    rest = tuple(hints[s] for s in names)

    def match(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
        have = picked(tuple(shapes))
        if tuple(map(len, have)) != ranks:
            return None
        flat = tuple(itertools.chain.from_iterable(have))
        if stated(flat) != wanted or firsts(flat) != others(flat):
            return None
        return found(flat + rest)

    return match


def measured(value: np.ndarray) -> tuple[int, ...]:
    """An array of sizes as a shape is: its rank, its own shape, its elements."""
    return (value.ndim, *value.shape, *value.ravel().tolist())


def _const_array(slot: Slot) -> np.ndarray:
    assert slot.value is not None
    return np.asarray(slot.value.node.attrs["array"], order="C")
