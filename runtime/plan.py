"""A plan: everything a session keeps for one signature of fetches and feeds.

The first run is done by the reference, after which the kernels compile in the background, unless that would take long
(`tiers`); from the second run on it is compiled.  Which tier runs is decided by the number of runs and static facts alone, so
that a program gives the same bits with a cold and with a warm store.
"""
from __future__ import annotations

import functools
import threading
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler import Program, compile
from jitgraph.compiler.lower import is_given, state_inputs
from jitgraph.compiler.open_variables import is_closed
from jitgraph.compiler.order import counts, is_variable, variable_of, waits_for_room, writes_what_a_run_chooses
from jitgraph.compiler.prune import has_effect, is_idle, must_be_fed, prune
from jitgraph.graph.calls import bodies
from jitgraph.graph.errors import InvalidArgumentError, OpError, ResourceExhaustedError
from jitgraph.graph.function_graph import is_state
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from . import check, hostcall, progress, reference, stored_programs, tiers, watch
from .background import BACKGROUND
from .binding import Binding
from .compiled import Compiled, looked_at, measured
from .frame import KernelFailure
from .memory import Elsewhere, on_host
from .postponed import postponing
from .state import State
from .variable import Variable

if TYPE_CHECKING:
    from jitgraph.compiler.loops.row_products import EarlyTerms

Shapes = tuple[tuple[int, ...], ...]                    # of feeds, or of what a segment has taken
Place = tuple[int, int]                                 # the number of a list of values, the place in it
VariableShapes = tuple[tuple[int, ...] | None, ...]     # of open variables; None for one without a value

MAX_VARIANTS = 64           # programs kept per segment, for feeds of different structure
STARTS = 10                 # runs of what looks like an initialiser: one for each fold of a cross-validation ...
UPDATES = 2                 # ... and of one that looks at variables, as a target network's update does


class Plan:
    """Runs one signature: `run(feed arrays in order)` -> values of the fetched tensors in order, perhaps more after them.

    `known`: {tensor: array} of further tensors whose values are the same in all runs; `contrary`, `early`: see `Program`.
    """

    def __init__(self, graph: Graph, fetches: list[Tensor], targets: list[Operation], feeds: list[Tensor], state: State, jit: str,
                 checked: bool = False, known: dict[Tensor, Any] | None = None, contrary: tuple[Tensor, ...] = (),
                 early: dict[Operation, EarlyTerms] | None = None) -> None:
        self.state, self.jit, self.runs, self.contrary, self.early = state, jit, 0, contrary, early or {}
        self.check = not checked and check.wanted()
        self.options = state.options
        given = [*feeds, *(known or ())]
        ordered = compile(graph, fetches, targets, dict.fromkeys(given, ()), until="divide", options=self.options)
        # of the graph, or what stands for it in the graph that it was raised to
        self.graph, self.fetches, self.targets, self.ops = ordered.graph, ordered.fetches, ordered.targets, ordered.ops
        if any(map(writes_what_a_run_chooses, self.ops)):       # kernels write to buffers that are known before
            self.jit = "off"
        held = (op for op in ordered.ops if op.opdef is not None and op.opdef.holds)
        self.outliving = ordered.outliving
        self.calls, self.postponed = ordered.calls, {*waits_for_room(ordered.ops), *held}
        # a target without effects is executed as well, for it may fail: its values follow those that were asked for
        self.fetches += [t for op in self.targets if not has_effect(op) for t in op.outputs
                         if t not in ordered.feeds and t not in self.fetches]
        given = list(ordered.feeds)
        self.feeds, self.known = given[:len(feeds)], dict(zip(given[len(feeds):], (known or {}).values()))
        self.open_variables: list[Any] = list(dict.fromkeys(
            variable_of(op.outputs[0]) for op in self.ops if is_variable(op) and not is_closed(op)))
        self.counts = [(self.fetches.index(t), variable) for t, variable in counts(ordered).items()]
        self.segment = Segment(self, None)
        self.lock = threading.Lock()
        self.resident = False           # whether it takes and gives values where they are, on the host or on devices
        self.settled = False            # whether all further runs are compiled ones

    # tiers -----------------------------------------------------------------------------------------------------
    def run(self, feeds: Sequence[np.ndarray]) -> list[Any]:
        """Values of the fetched tensors for feed arrays of the declared dtypes, contiguous."""
        if self.postponed:
            with postponing(self.postponed, self.state.wait):
                results = self._run(feeds)
        else:
            results = self._run(feeds)
        for k, variable in self.counts:
            results[k] = np.array(self.state.read(variable))
        return results

    def _run(self, feeds: Sequence[np.ndarray]) -> list[Any]:
        self.runs += 1
        if self.settled:
            return self.segment.run(feeds)
        if self.check and self.jit != "off":
            check.check(self, feeds)
        if self.jit != "always" and self._by_reference(feeds):
            results = self.reference(feeds)
            if self.jit != "off" and self.runs == self.starts:
                # only now: beside a compiler, NumPy would take three times as long
                BACKGROUND.submit(lambda: self.prepare([a.shape for a in feeds]))
            return results
        self.settled = not self.check
        return self.segment.run(feeds)

    def reference(self, feeds: Sequence[np.ndarray]) -> list[Any]:
        """One run by the reference."""
        found = reference.run(self.ops, self._given(feeds), self.fetches, self.state, self.calls, self.outliving)
        return [found[t] for t in self.fetches]

    def _by_reference(self, feeds: Sequence[np.ndarray]) -> bool:
        """Whether this run is the reference's: all with jit="off"; the first otherwise, before the kernels compile, and some of
        what may be an initialiser."""
        if self.jit == "off":
            return True
        if self.starts > 1:
            return self.runs <= self.starts and not self.draws_first
        if self.runs > 1:
            return False
        return not self._compile_first(feeds) and not self._stays(self.fetches)

    def _stays(self, fetches: Sequence[Tensor]) -> bool:
        """Whether the caller wants what is fetched to stay on devices, where only kernels leave something."""
        if self.state.machine is None or not fetches:
            return False
        from .cuda.array import staying

        return staying()

    @functools.cached_property
    def starts(self) -> int:
        """The runs by the reference before kernels are compiled: one, or some where this looks like an initialiser, or like what
        restores a checkpoint: no fetched value, no feeds but names, and it overwrites without reading what is there."""
        if self.fetches or any(fed.dtype.base_dtype.name != "string" for fed in self.feeds):
            return 1
        kinds = [(op, op.opdef) for op in self.ops if op.opdef is not None]
        if any(kind.state == "write" and not kind.assigns or kind.updates is not None or kind.recurring for _, kind in kinds):
            return 1
        looks = any(kind.state != "write" and kind.needs_value and any(map(is_state, op.inputs)) for op, kind in kinds)
        return UPDATES if looks else STARTS

    @functools.cached_property
    def draws_first(self) -> bool:
        """Whether what looks like an initialiser waits for kernels all the same, by a static estimate."""
        return tiers.draws_first(self.ops)

    def _compile_first(self, feeds: Sequence[np.ndarray]) -> bool:
        """Whether the first run waits for kernels, by a static estimate."""
        return tiers.compiles_first(self.ops, max((a.shape[0] for a in feeds if a.ndim), default=1))

    @property
    def compiled(self) -> list[Compiled]:
        """The programs compiled so far, in all segments."""
        found: list[Compiled] = []
        segments = [self.segment]
        while segments:
            segment = segments.pop()
            found.extend(c for known in list(segment.variants.values()) for c in known)
            segments.extend(after for known in list(segment.next.values()) for after in known.values())
        return found

    def prepare(self, shapes: Iterable[tuple[int, ...]]) -> None:
        """Compiles for these feed shapes, ahead of the run that needs it.  Raises what that run would raise."""
        self.segment.variant(tuple(shapes), (), aloud=False)

    def close(self) -> None:
        """Frees the memory of runs and what was compiled."""
        self.segment.close()

    def explain(self, failure: KernelFailure, feeds: Sequence[np.ndarray]) -> Exception:
        """The operation's own error for a failed check."""
        ops = [n.op for n in failure.kernel.nodes if n.op is not None]
        what = {1: "an index is out of range", 2: "Integer division by zero",
                4: "Integers to negative integer powers are not allowed"}.get(failure.code, "a check failed")
        return self._own_error(dict.fromkeys(ops), feeds) or InvalidArgumentError(None, ops[0] if ops else None, what)

    def reworded(self, refusal: InvalidArgumentError, feeds: Sequence[np.ndarray]) -> Exception:
        """What the operation itself says of operands that the compiler refused, as it would in a first run."""
        return refusal.op is not None and self._own_error([refusal.op], feeds) or refusal

    def _own_error(self, failed: Iterable[Operation], feeds: Sequence[np.ndarray]) -> Exception | None:
        """The error of the first of the `failed` operations that fails when its ancestors run by the reference.  None if none
        does, or if one of the ancestors would notice that it runs once more."""
        for op in failed:
            program = Program(self.graph, [], [op], dict.fromkeys([*self.feeds, *self.known], ()))
            prune(program)
            order = {o: i for i, o in enumerate(self.ops)}
            mine = sorted((o for o in program.ops if o in order), key=lambda o: order[o])
            mine = [o for o in mine if not (o.opdef and o.opdef.state == "write")]
            if not all(_is_repeatable(o) for o in mine if o is not op and not is_variable(o)):
                continue
            try:
                self._refer(mine, op, feeds)
            except InvalidArgumentError as error:
                return error
            except OpError as error:
                if error.op is op:
                    return error
            except MemoryError:
                continue
        return None

    def _given(self, feeds: Sequence[np.ndarray]) -> dict[Tensor, Any]:
        """All values that a run begins with."""
        return {**dict(zip(self.feeds, map(on_host, feeds))), **self.known}

    def _refer(self, ops: list[Operation], failed: Operation, feeds: Sequence[np.ndarray]) -> None:
        """Runs `ops` by the reference and, of a failed operation that writes state, the checks of its arguments."""
        refs = state_inputs(failed) if failed not in ops else {}
        others = [t for k, t in enumerate(failed.inputs) if k not in refs] if refs else []
        found = reference.run(ops, self._given(feeds), others, self.state, self.calls, self.outliving)
        if refs:
            values = [self.state.read(refs[k]) if k in refs else found[t] for k, t in enumerate(failed.inputs)]
            hostcall.check(failed, values)


def _is_repeatable(op: Operation) -> bool:
    """Whether nobody notices that an operation runs once more: it computes, waits, checks, or calls what does."""
    if not has_effect(op) or is_idle(op) or op.type == "Assert":
        return True
    return bool(op.opdef and op.opdef.calls) and all(
        _is_repeatable(node) or must_be_fed(node) for function in bodies(op) for node in function.get_operations())


class Refusal(Exception):
    """The compiler found that operands of an operation do not go together; the plan words it as the operation does."""

    def __init__(self, error: InvalidArgumentError):
        super().__init__(error)
        self.error = error


class Segment:
    """A stretch of a plan whose sizes are known when it starts.  The first begins with the feeds; each further one with
    the values that the one before left (`program.live`), once per structure: its sizes are those of the ones it has `taken`,
    which are neither `known` nor pinned, and the elements of the pinned ones.

    `before`: the tensors that the run has when it starts, the feeds with `plan.outliving` and what each segment before it gave,
    in order; `outlived`: those of `plan.outliving` whose variables have other buffers now than when the run began.

    What only a segment after it uses is not given to it: its sizes need not be bound.  `picks`: the places of those that any of its
    programs looks at, in the order in which the first did."""

    def __init__(self, plan: Plan, previous: Program | None, before: Sequence[Sequence[Tensor]] = (),
                 outlived: Sequence[Tensor] = ()):
        self.plan, self.previous, self.before = plan, previous, before or [[*plan.feeds, *plan.outliving]]
        self.known: dict[Tensor, Any] = {} if previous is None else _constants(previous)
        self.taken: list[Tensor] = [] if previous is None else [
            *(t for t in previous.live if t not in self.known and t not in previous.pins and t not in plan.outliving), *outlived]
        places = _places(self.before)
        self.sources = [places[t] for t in self.taken]
        self.picks: list[Place] = []
        self.numbers: dict[Tensor, int] | None = None if previous is None else {}       # of what has been picked
        self.pinned = [(t, places.get(t)) for t in (previous.pins if previous is not None else ())]
        self.fetched: dict[Compiled, list[Place]] = {}
        self.bindings: dict[tuple[Any, ...], Binding] = {}
        self.variants: dict[VariableShapes, list[Compiled]] = {}
        self.next: dict[Compiled, dict[tuple[Tensor, ...], Segment]] = {}
        self.lock = threading.Lock()
        self.progress = progress.Progress()

    def run(self, feeds: Sequence[np.ndarray]) -> list[Any]:
        shapes = tuple([a.shape for a in feeds])
        try:
            binding = self.bindings.get(shapes) or self.binding(shapes)         # a key that says more is never found so
            begun = self._begun() if self.plan.outliving else ()
            results = binding.run(feeds)
            if binding.plain:
                return results
            return self._answers(self._continue(binding, results, [*feeds, *begun], begun))
        except KernelFailure as failure:
            raise self.plan.explain(failure, feeds) from None
        except Refusal as refusal:
            raise self.plan.reworded(refusal.error, feeds) from None
        except MemoryError as error:
            raise ResourceExhaustedError(None, None, f"OOM when allocating the tensors of this run: {error}") from None

    def _begun(self) -> list[np.ndarray | None]:
        """The present buffers of `plan.outliving`, None where there is none."""
        found = [self._variable(t) for t in self.plan.outliving]
        return [v.value() if v.initialized else None for v in found]

    def _variable(self, tensor: Tensor) -> Variable:
        variable = variable_of(tensor)
        assert variable is not None
        return self.plan.state.variable(variable)

    def _continue(self, binding: Binding, results: list[Any], feeds: Sequence[Any], begun: Sequence[Any]) -> list[Any]:
        """Runs the segments after this one; the values of the plan's fetches.  `begun`: see `_begun`."""
        segment, values = self, [feeds, results]
        while binding.compiled.program.rest:
            segment = segment._after(binding.compiled, tuple(
                t for t, array in zip(self.plan.outliving, begun) if array is not None and self._variable(t).array is not array))
            binding, arrays = segment._bound(values)
            values.append(binding.run(arrays))
        return [values[d][k] for d, k in segment._fetched(binding.compiled)]

    def _fetched(self, compiled: Compiled) -> list[Place]:
        """Where the plan's fetches are once this segment, the last one, has run `compiled`."""
        found = self.fetched.get(compiled)
        if found is None:
            places = _places([*self.before, compiled.results])
            found = self.fetched[compiled] = [places[t] for t in self.plan.fetches]
        return found

    def _answers(self, results: list[Any]) -> list[Any]:
        if not self.plan.resident and self.plan.state.machine is not None:
            from .cuda.array import given

            return [given(result) for result in results]
        return results

    def _present(self, tensor: Tensor) -> np.ndarray:
        """The value of a variable whose read has no time of its own."""
        variable = variable_of(tensor)
        assert variable is not None
        return np.array(self.plan.state.read(variable))

    def _after(self, compiled: Compiled, outlived: tuple[Tensor, ...]) -> Segment:
        known = self.next.get(compiled)
        found = None if known is None else known.get(outlived)
        if found is None:
            with self.lock:
                found = self.next.setdefault(compiled, {}).setdefault(outlived, Segment(
                    self.plan, compiled.program, [*self.before, compiled.results], outlived))
        return found

    def close(self) -> None:
        for binding in list(self.bindings.values()):
            binding.frames.clear()
        for known in list(self.next.values()):
            for segment in list(known.values()):
                segment.close()
        self.bindings.clear()
        self.variants.clear()
        self.fetched.clear()
        self.next.clear()

    # choosing and compiling ------------------------------------------------------------------------------------
    def binding(self, shapes: Shapes) -> Binding:
        """The first segment's binding for these shapes of the feeds."""
        key: tuple[Any, ...] = (shapes, self._variable_shapes()) if self.plan.open_variables else shapes
        return self.bindings.get(key) or self._remember(key, self.variant(shapes, ()))

    def _bound(self, values: Sequence[Sequence[Any]]) -> tuple[Binding, list[Any]]:
        """A later segment's binding for what the run has come to so far, and the arrays that it is given."""
        pins: list[np.ndarray] = []
        if self.pinned:
            found = [(t, None if at is None else values[at[0]][at[1]]) for t, at in self.pinned]
            pins = [np.asarray(self._present(t) if value is None else value) for t, value in found]
        arrays, key = self._given(values, pins)
        binding = self.bindings.get(key)
        if binding is None:
            binding = self.variant(tuple([np.shape(values[d][k]) for d, k in self.sources]), pins)
            if len(arrays) < len(self.picks):           # a new program looks at more
                arrays, key = self._given(values, pins)
            self._remember(key, binding)
        return binding, arrays

    def _given(self, values: Sequence[Sequence[Any]], pins: Sequence[np.ndarray]) -> tuple[list[Any], tuple[Any, ...]]:
        """(the arrays that a later segment is given, the key of the binding for them)"""
        # an array that a segment gives is one that kernels can read, if they are to
        arrays = [a if type(a := values[d][k]) is np.ndarray else _array(a) for d, k in self.picks]
        shapes = tuple([a.shape for a in arrays])
        if pins or self.plan.open_variables:
            return arrays, (shapes, tuple(map(measured, pins)), self._variable_shapes())
        return arrays, shapes

    def _remember(self, key: tuple[Any, ...], binding: Binding) -> Binding:
        if len(self.bindings) > 4 * MAX_VARIANTS:
            self.bindings.clear()
        self.bindings[key] = binding
        return binding

    def _variable_shapes(self) -> VariableShapes:
        state = self.plan.state
        present = [state.variable(op) for op in self.plan.open_variables]
        return tuple(v.array.shape if v.initialized and v.array is not None else None for v in present)

    def variant(self, shapes: Shapes, pins: Sequence[np.ndarray], aloud: bool = True) -> Binding:
        """Binds a compiled program to these shapes; compiles one if none holds for them.  `aloud`: whether somebody waits,
        who is told on a terminal that it takes long."""
        key, numbers = self._variable_shapes(), tuple(map(measured, pins))
        if not self.lock.acquire(blocking=False):           # another thread is compiling
            with progress.line(self.progress) if aloud else nullcontext():
                self.lock.acquire()
        try:
            known = self.variants.setdefault(key, [])
            for compiled in known:
                binding = compiled.bind(shapes, numbers)
                if binding is not None:
                    return self._plain(binding)
            with progress.line(self.progress) if aloud else nullcontext():
                compiled = self._make(shapes, pins)
            known.append(compiled)
            if len(known) > MAX_VARIANTS:
                oldest = known.pop(0)
                self.next.pop(oldest, None)
                self.fetched.pop(oldest, None)
            if len(self.variants) > MAX_VARIANTS:
                self.variants.pop(next(iter(self.variants)))
            binding = compiled.bind(shapes, numbers)
            assert binding is not None, "a program must hold for the sizes it was compiled for"
            return self._plain(binding)
        finally:
            self.lock.release()

    def _make(self, shapes: Shapes, pins: Sequence[np.ndarray]) -> Compiled:
        watched = watch.present()
        trace = None if watched is None else watched.trace
        begin = 0 if trace is None else trace.now()
        try:
            program = self._program(shapes, pins)
            self.progress.start(len(program.ops))
            program, store = stored_programs.compiled(program, self.progress.passed)
        except InvalidArgumentError as error:
            raise Refusal(error) from None
        self.progress.made(0, len(program.layout.steps))
        compiled = Compiled(program, self.plan.state, self.progress.made, self._picked(program))
        if store is not None:           # only now: compiling kernels keeps all processors busy
            BACKGROUND.submit(store, kept=True)
        if trace is not None:
            trace.compiled(begin)
        return compiled

    def _picked(self, program: Program) -> dict[Tensor, int] | None:
        """The number that each feed has among what a run of the program is given; None: all, in order."""
        if self.numbers is None:
            return None
        used = {*looked_at(program)}
        for tensor, source in zip(self.taken, self.sources):
            if tensor in used and tensor not in self.numbers:
                self.numbers[tensor] = len(self.picks)
                self.picks.append(source)
        return self.numbers

    def _plain(self, binding: Binding) -> Binding:
        last = not binding.compiled.program.rest
        binding.resident = self.plan.resident or self.plan.state.machine is not None and not (last and self.previous is None)
        binding.plain = last and (self.plan.resident or not binding.resident) and binding.compiled.results == self.plan.fetches
        return binding

    def _program(self, shapes: Shapes, pins: Sequence[np.ndarray]) -> Program:
        """What is to be compiled for these shapes."""
        plan = self.plan
        open_shapes = dict(zip(plan.open_variables, self._variable_shapes()))
        if self.previous is None:
            program = Program(plan.graph, plan.fetches, plan.targets, dict(zip(plan.feeds, shapes)),
                              variable_shapes=open_shapes, known=dict(plan.known), contrary=plan.contrary,
                              early=plan.early, options=plan.options, target=plan.state.target)
            program.ops, program.calls = list(plan.ops), plan.calls
            return program
        before = self.previous
        fetches = [t for t in plan.fetches if t not in before.results or t in before.live]
        program = Program(plan.graph, fetches, plan.targets, dict(zip(self.taken, shapes)), variable_shapes=open_shapes,
                          known=dict(self.known), sized=dict(zip(before.pins, pins)), options=plan.options,
                          target=plan.state.target, doubted=before.doubted, repeated=before.repeated, added_up=before.added_up,
                          masked=before.masked,
                          waiting=before.waiting, looked=before.looked,
                          numbered=before.numbered)
        program.ops, program.calls = list(before.rest), plan.calls
        if len(self.before) == 2:       # after the first, a placeholder may be left that is there for a control edge alone
            fed = frozenset(plan.feeds)
            program.ops = [op for op in before.rest if not is_given(op, fed.__contains__)]
        return program


def _places(tensors: Sequence[Sequence[Tensor]]) -> dict[Tensor, Place]:
    """Where the values of tensors stand in lists of values like these lists: the last place of each."""
    return {t: (d, k) for d, part in enumerate(tensors) for k, t in enumerate(part)}


def _constants(program: Program) -> dict[Tensor, Any]:
    """Values that a segment knows before it runs, for the segments after it."""
    found = dict(program.known)
    for t in program.live:
        value = program.infos[t].value if t in program.infos else None
        if value is not None and (value.dtype != object or t.dtype.name == "string"):
            found[t] = value
    return found


def _array(value: Any) -> Any:
    return value if isinstance(value, Elsewhere) else np.asarray(value, order="C")
