"""specialize: fix dtypes and shapes from the feeds, and fold what is then constant.

Every tensor of the run gets an `Info`: its shape in known or symbolic sizes, and its value where that is known, which
may hold symbolic sizes too: `tf.shape` arithmetic disappears here.  Where a shape depends on values that only the run
will tell, the program ends; the operations after that point are left to the next segment.
"""
from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import operator
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.graph.constant_value import partial_value
from jitgraph.graph.elements import Elements
from jitgraph.graph.errors import InvalidArgumentError, OpError
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from . import sizes
from .called_shapes import called_shapes, joined
from .duplicates import added_up, are_few
from .infer import MISUSED, PIN_LIMIT, Context, Info, apply_rule, shape_error
from .masked import masked
from .open_variables import has_full_shape, is_open, uninitialized, used_after
from .order import is_transparent, is_variable, seen_through, variable_of
from .prune import Reached
from .sizes import Shape
from .waiting import Found, Waiting

if TYPE_CHECKING:
    from .divide import Call
    from .program import Program

FOLD_LIMIT = 4096       # elements of a value that is worth knowing


def specialize(program: Program) -> None:
    """Fixes dtypes and shapes from the feed signature, and folds what is then constant."""
    _Specializer(program).run()


class _Specializer:
    def __init__(self, program: Program) -> None:
        self.program, self.infos = program, program.infos
        # whether what the graph states of shapes may be wrong
        self.reshaped = any(has_full_shape(v) for v in program.variable_shapes)
        if program.doubted is None:
            program.doubted = contradicted(program.ops, program.feeds, program.contrary)
        if program.repeated is None:
            program.repeated = repeated(program.ops, program.feeds)
        if program.masked is None:
            given = {*program.feeds, *program.known, *program.sized, *program.doubted}
            program.added_up = added_up(program.ops, {*program.fetches, *program.targets}, given, program.target) \
                if program.options.uses("added_up_rows") else set()
            program.masked = masked(program.ops if program.options.uses("masked_places") else (),
                                    [*program.fetches, *program.targets], given)
            program.ops = [op for op in program.ops if op not in program.masked.gone] if program.masked.gone else program.ops

    def run(self) -> None:
        program = self.program
        for tensor, shape in program.feeds.items():
            self.infos[tensor] = Info(tensor.dtype.base_dtype, self._feed_shape(tensor, shape))
        for tensor, value in program.known.items():
            self.infos[tensor] = Info(tensor.dtype.base_dtype, value.shape, value)
        for tensor, value in program.sized.items():
            self._know(tensor, program.space.symbols_for(value))
        for position, op in enumerate(program.ops):
            known = self._visit(op)
            if not known or self._reshapes(op) and used_after(variable_of(op.inputs[0]), program.ops[position + 1:]):
                program.pins = [] if known else self._pins(op)
                end = position if program.pins else position + 1
                program.rest, program.ops = program.ops[end:], program.ops[:end]
                if not known:
                    self._join_ends()
                break
        self._find_live()

    def _join_ends(self) -> None:
        """Takes from the rest what ends other segments and could run now: dynamic operations, what computes the pins of
        others, and what these need.  Else there would be a segment for each, though they do not wait for one another."""
        program, rest = self.program, set(self.program.rest)
        free, ends, pins = self._free()
        wanted: set[Operation] = set()
        waiting = [*ends, *(t.op for t in pins if t.op in free)]
        while waiting:
            op = waiting.pop()
            if op not in wanted:
                wanted.add(op)
                waiting.extend(n for n in (*op.control_inputs, *(t.op for t in self._taken(op))) if n in free)
        for op in [op for op in program.rest if op in wanted]:
            # what is in the rest has no value yet, even where its shape is known
            if all(t in self.infos and (t in program.feeds or t.op not in rest) for t in self._taken(op)) \
                    and all(c not in rest for c in op.control_inputs) and (self._visit(op) or self._is_dynamic(op)):
                program.ops.append(op)
                rest.remove(op)
        program.rest = [op for op in program.rest if op in rest]
        program.pins = list(dict.fromkeys([*program.pins, *(t for t in pins if t.op not in rest)]))

    def _free(self) -> tuple[set[Operation], set[Operation], list[Tensor]]:
        """Of the rest: the operations that may run now and whose shapes are known already, with the dynamic ones that need
        nothing else; the latter alone; the pins of those that wait for nothing but the values of small integers."""
        program, rest, pins = self.program, set(self.program.rest), list[Tensor]()
        before = set[Operation]() if program.looked is None else program.looked.free & rest

        def visit(op: Operation) -> Found:
            self._inform(op, before)
            if any(self._info_of(t) is None for t in self._taken(op)):
                return Found.NOT_KNOWN
            try:
                known = self._visit(op)
            except InvalidArgumentError:        # which the segment says that comes to it
                return Found.UNSETTLED
            if not known and self._is_dynamic(op):
                return Found.END
            if not known:
                pins.extend(self._pins(op))
            return Found.KNOWN if known else Found.UNSETTLED

        program.looked = looked = self.waiting().free(rest, list(self.infos), visit, program.looked)
        return looked.free | looked.ends, looked.ends, pins

    def _inform(self, op: Operation, free: Container[Operation]) -> None:
        """Finds out of an operation's inputs what an earlier segment knew of those that are `free`."""
        stack, seen = [op], {op}
        while stack:
            last = stack[-1]
            missing = [t.op for t in self._taken(last) if t.op in free and t.op not in seen and self._info_of(t) is None]
            if missing:
                seen.update(missing)
                stack += missing
                continue
            stack.pop()
            if last is not op:
                with contextlib.suppress(InvalidArgumentError):
                    self._visit(last)

    def waiting(self) -> Waiting:
        """The plan's operations, in their order."""
        if self.program.waiting is None:
            assert self.program.masked is not None
            self.program.waiting = Waiting.of([*self.program.ops, *self.program.rest], self._taken)
        return self.program.waiting

    def _is_dynamic(self, op: Operation) -> bool:
        assert self.program.repeated is not None and self.program.masked is not None
        return op.opdef.dynamic and op not in self.program.repeated and op not in self.program.masked.others \
            and not self._is_added_up(op)

    def _is_added_up(self, op: Operation) -> bool:
        """Whether rows are added up for the equal elements that an operation looks for, of which there are not too many."""
        of = self._info_of(op.inputs[0]) if self.program.added_up and op in self.program.added_up else None
        return of is not None and are_few(of.shape)

    def _pins(self, op: Operation) -> list[Tensor]:
        """Small integer inputs whose values would tell the shapes: in the next segment they are sizes."""
        if self._is_dynamic(op) or op.opdef.shape is None or op.opdef.calls:
            return []
        context = Context(op, [self._info_of(t) for t in op.inputs])
        with contextlib.suppress(*MISUSED):
            op.opdef.shape(context)
        unknown = [t for k, t in enumerate(op.inputs) if k in context.asked and t in self.infos and self.infos[t].value is None]
        return [t for t in unknown if self.infos[t].dtype.is_integer
                and sizes.count(self.infos[t].shape) <= PIN_LIMIT]

    def _find_live(self) -> None:
        """Tensors that a later segment, or a fetch in it, takes from this one, in the order in which they are taken."""
        program = self.program
        if not program.rest:
            program.live = []
            return
        waiting, rest, calls = self.waiting(), set(program.rest), program.calls

        def needs(op: Operation, k: int) -> bool:
            return op not in calls or calls[op].needs(k)

        fetched = {t: (math.inf, k) for k, t in enumerate(program.fetches)}
        made = [t for op in program.ops for t in op.outputs if t not in program.known]
        found = []
        for tensor in dict.fromkeys([*program.feeds, *program.sized, *made]):
            if tensor in program.feeds or not (is_transparent(tensor.op) or is_variable(tensor.op)):
                use = waiting.first_use(tensor, rest, needs) or fetched.get(tensor)
                if use is not None:
                    found.append((use, tensor))
        program.live = [tensor for _, tensor in sorted(found, key=operator.itemgetter(0))]
        # what was computed from sizes here is not known to later segments unless they take it for sizes, too
        program.pins += [t for t in program.live if t not in program.pins and self._holds_sizes(t)]

    def _holds_sizes(self, tensor: Tensor) -> bool:
        info = self.infos.get(tensor)
        return (info is not None and info.value is not None and info.value.dtype == object and info.dtype.is_integer
                and info.value.size <= PIN_LIMIT)

    def _feed_shape(self, tensor: Tensor, shape: Sequence[Any]) -> Shape:
        static = tensor._shape
        if static is None or len(static) != len(shape):     # the latter: it comes of a variable that was reshaped
            return tuple(self.program.space.symbol(d) for d in shape)
        return tuple(self.program.space.symbol(d) if s is None else d for s, d in zip(static, shape))

    def _visit(self, op: Operation) -> bool:
        """Infers one operation; False if its outputs' shapes are known only at run time."""
        if all(t in self.infos for t in op.outputs) and op.outputs:
            return True
        if is_variable(op):
            self._variable(op)
            first = variable_of(op.outputs[0])
            assert first is not None
            if first.outputs[0] not in self.infos:      # another operation of the same shared name stands for it
                self._variable(first)
            return True
        inputs = [self._info_of(t) for t in op.inputs]
        self._check_open(op)
        if op.opdef is not None and op.opdef.state and op.opdef.forwards:      # a moment of its own, whoever uses the value
            self._measure(op)
        if op.opdef is not None and op.opdef.of_shape is not None and all(i is not None for i in inputs):
            self._from_shapes(op, inputs)
            self._measure(op)
            return True
        if op.opdef is not None and op.opdef.of_elements is not None and inputs[-1] is not None \
                and inputs[-1].elements is not None and (value := op.opdef.of_elements(inputs[-1].elements)) is not None:
            self._know(op.outputs[0], _object_array([value]).reshape(()))
            return True
        assert self.program.repeated is not None and self.program.masked is not None
        if op in self.program.masked.others:
            return self._masked(op)
        if op.type == "Const":
            value = op.attrs["value"]
            self._note(op.outputs[0], Info(op.outputs[0].dtype.base_dtype, value.shape, value))
            return True
        folded = self._fold(op, inputs)
        if folded:
            return True
        of = inputs[0] if op in self.program.repeated or self._is_added_up(op) else None
        if of is not None:
            found: list[Any] = [(of.shape, None)] * len(op.outputs)
        else:
            found = self._infer(op, inputs)
        ok, call = True, self.program.calls.get(op)
        for number, (tensor, (shape, elements)) in enumerate(zip(op.outputs, found)):
            if not _is_full(shape):
                ok = ok and (tensor in self.program.feeds or call is not None and not call.gives(number))
            else:
                self._note(tensor, Info(tensor.dtype.base_dtype, self._settled(op, inputs, shape), elements=elements))
        return ok

    def _masked(self, op: Operation) -> bool:
        """Infers an operation that is done another way, for a mask; False if a shape is not known."""
        assert self.program.masked is not None
        infos = [info for t in self._taken(op) if (info := self._info_of(t)) is not None]
        if len(infos) < len(self._taken(op)):
            return False
        for tensor, info in zip(op.outputs, self.program.masked.infos(op, infos)):
            if info is not None and info.value is not None:
                self._know(tensor, info.value)
            elif info is not None:
                self._note(tensor, info)
        return True

    def _taken(self, op: Operation) -> Sequence[Tensor]:
        assert self.program.masked is not None
        return self.program.masked.taken(op)

    def _settled(self, op: Operation, infos: Sequence[Info | None], shape: Sequence[Any]) -> sizes.Shape:
        """A shape of known and symbolic sizes.  Raises InvalidArgumentError where one is negative."""
        shape = sizes.settled(shape)
        least = min((d for d in shape if not isinstance(d, sizes.Size)), default=0)
        if least < 0:
            raise shape_error(op, infos, ValueError(f"Dimension {least} must be >= 0"))
        return shape

    def _note(self, tensor: Tensor, info: Info) -> None:
        """Records what is known of a tensor; of a fed one, that is what the feed says."""
        if tensor not in self.program.feeds:
            self.infos[tensor] = info

    def _info_of(self, tensor: Tensor) -> Info | None:
        info = self.infos.get(tensor, self.infos.get(seen_through(tensor)))
        if info is None:
            variable = variable_of(tensor)
            if variable is not None:
                if variable.outputs[0] not in self.infos:       # made in an earlier segment
                    self._variable(variable)
                info = self.infos.get(variable.outputs[0])
        return info

    def _variable(self, op: Operation) -> None:
        variable = variable_of(op.outputs[0])
        shape = None if variable is None else self.program.variable_shapes.get(variable)
        if shape is None:               # of a closed variable, or of one that has no value yet
            shape = op.attrs["shape"] if has_full_shape(op) else ()
        self.infos[op.outputs[0]] = Info(op.attrs["dtype"].base_dtype, tuple(shape))

    def _measure(self, op: Operation) -> None:
        self.program.measured.extend(v for v in map(variable_of, op.inputs) if v is not None)

    def _check_open(self, op: Operation) -> None:
        """Raises for an open variable without a value, of whose shape nothing is known."""
        if op.opdef is None or not op.opdef.needs_value or op.opdef.assigns or is_transparent(op) or op.opdef.calls:
            return
        for variable in (variable_of(t) for t in op.inputs if seen_through(t) not in self.program.feeds):
            if variable is not None and is_open(variable, self.program) \
                    and self.program.variable_shapes.get(variable) is None:
                raise uninitialized(variable, op)

    def _reshapes(self, op: Operation) -> bool:
        """Whether an operation gives an open variable another shape, or its first value."""
        variable = variable_of(op.inputs[0]) if op.opdef is not None and op.opdef.assigns else None
        if variable is None or not is_open(variable, self.program):
            return False
        present, value = self.program.variable_shapes.get(variable), self.infos.get(op.inputs[1])
        return present is None or value is None or tuple(value.shape) != tuple(present)

    def _infer(self, op: Operation, infos: Sequence[Info | None]) -> list[tuple[Sequence[Any] | None, Elements | None]]:
        """(shape, what is known of the elements if it is the flow of a TensorArray) of each output; of a shape None, or one with
        None in it, if only the run tells."""
        if op.opdef is None:
            raise InvalidArgumentError(None, op, f"Op type not registered '{op.type}' (node '{op.name}')")
        assert self.program.doubted is not None
        doubted = not self.program.doubted.isdisjoint(op.outputs)
        holds = not (self.reshaped or doubted)
        if op.opdef.shape is None or op.opdef.calls and not holds:
            return [(t._shape if holds and not op.opdef.dynamic else None, None) for t in op.outputs]
        shapes = apply_rule(op, infos)
        hoped = op.opdef.dynamic and not op.opdef.host      # by a program's set_shape; what the host gives is looked at
        if not (doubted or hoped):
            shapes = [_merged(s, t._shape) for s, t in zip(shapes, op.outputs)]
        known: list[Elements | None] = [None] * len(shapes)
        if op.opdef.calls and not (all(map(_is_full, shapes)) and all(i is None or i.elements is None for i in infos)):
            look = functools.partial(self._look, call=self.program.calls.get(op))
            for k, (shape, elements) in enumerate(called_shapes(op, infos, look)):
                shapes[k], known[k] = shapes[k] if shape is None else shape, elements
        elif op.opdef.elements is not None:
            known[[t.dtype.name for t in op.outputs].index("variant")] = joined(op.opdef.elements(Context(op, infos)))
        elif op.opdef.forwards and infos and infos[0] is not None:
            known[0] = infos[0].elements
        return list(zip(shapes, known))

    def _look(self, function: FunctionGraph, given: Mapping[Tensor, Info],
              call: Call | None = None) -> tuple[Mapping[Tensor, Info], bool]:
        """What is known of the tensors of a function, from what is known of its inputs; and whether what a `call` wants of it
        can only fail."""
        inside = _Specializer(dataclasses.replace(self.program, infos=dict(given), measured=[]))
        needed, certain = Reached(), Reached()
        needed.want(function.outputs)
        certain.want([t for k, t in enumerate(function.outputs) if call is not None and call.gives(k)])
        fails = False
        for op in function.get_operations():
            if op in needed.ops:
                try:
                    inside._visit(op)
                except InvalidArgumentError:                # the branch may not be taken, and says it itself if it is
                    fails = fails or op in certain.ops
                except OpError:
                    continue
        return inside.infos, fails

    # folding ---------------------------------------------------------------------------------------------------
    def _from_shapes(self, op: Operation, inputs: Sequence[Any]) -> None:
        for tensor, info in zip(op.outputs, inputs):
            value = op.opdef.of_shape(info.shape)
            self._know(tensor, _object_array(value) if isinstance(value, list) else _object_array([value]).reshape(()))

    def _know(self, tensor: Tensor, value: np.ndarray) -> None:
        """Records a known value, as plain numbers where no symbolic size is left in it."""
        dtype = tensor.dtype.base_dtype
        if value.dtype == object and dtype.is_integer:
            value = _wrapped(value, np.iinfo(dtype.as_numpy_dtype))
        if value.dtype == object and dtype.name != "string" and not any(
                isinstance(x, sizes.Size) for x in value.ravel()):
            value = value.astype(dtype.as_numpy_dtype)
        elif value.dtype != object:
            value = value.astype(dtype.as_numpy_dtype, copy=False)
        self._note(tensor, Info(dtype, value.shape, value))

    def _fold(self, op: Operation, inputs: Sequence[Any]) -> bool:
        opdef = op.opdef
        if (opdef is None or opdef.stateful or opdef.state or opdef.context or not op.inputs or not op.outputs
                or opdef.value is None
                or any(i is None or i.value is None for i in inputs)
                or sum(i.value.size for i in inputs) > FOLD_LIMIT):
            return False
        if op.control_inputs:
            return False
        symbolic = any(i.value.dtype == object and i.dtype.name != "string" for i in inputs)
        if symbolic and not opdef.symbolic:
            return False
        if not symbolic and not self._cheap(op, inputs):
            return False
        try:
            with self.program.space.kept_open():            # how large a value is may not come to be part of the plan
                values = self._evaluated(op, [i.value for i in inputs], symbolic)
        except OpError:
            return False                       # the run will report it, and only if the operation really runs
        except (TypeError, ValueError, IndexError, ZeroDivisionError):
            return False
        arrays = [np.asarray(v) for v in values]
        if any(a.size > FOLD_LIMIT for a in arrays):
            return False
        for tensor, array in zip(op.outputs, arrays):
            self._know(tensor, array)
        return True

    def _evaluated(self, op: Operation, arrays: list[np.ndarray], symbolic: bool) -> Sequence[Any]:
        opdef = op.opdef
        if symbolic and callable(opdef.symbolic):
            return (opdef.symbolic(*opdef.group(arrays)),)
        if symbolic and opdef.scalar is not None:           # the expression itself, on arrays of sizes
            return (opdef.scalar(*opdef.group(arrays), **opdef.arguments(opdef.scalar, op.attrs)),)
        return opdef.evaluate(arrays, op.attrs)

    def _cheap(self, op: Operation, inputs: Sequence[Any]) -> bool:
        """Folded are integer (shape) computations and small constants; large results are left to kernels."""
        if op.opdef.host or op.opdef.dynamic:
            return all(i.dtype.is_integer for i in inputs)
        return all(s is not None and _is_full(s) and sizes.count(s) <= 64 or t.dtype.is_integer
                   for (s, _), t in zip(self._infer(op, inputs), op.outputs))


def repeated(ops: Iterable[Operation], feeds: Container[Tensor]) -> set[Operation]:
    """Those that look for equal elements in a vector of which an operation before has found none: of what a lookup finds once
    per row, the gradient comes for each row once."""
    found = set()
    for op in ops:
        if op.opdef is not None and op.opdef.distinct == "made" and op.inputs[0].dtype.is_integer \
                and len(op.inputs[0]._shape or ()) == 1:
            tensor = op.inputs[0]
            while tensor not in feeds and tensor.op.opdef is not None and tensor.op.inputs \
                    and (tensor.op.opdef.forwards or tensor.op.opdef.distinct == "kept"):
                tensor = tensor.op.inputs[0]
            of = tensor.op.opdef
            if tensor not in feeds and of is not None and of.distinct == "made" and tensor is tensor.op.outputs[0]:
                found.add(op)
    return found


def contradicted(ops: Iterable[Operation], feeds: Iterable[Tensor], contrary: Iterable[Tensor]) -> set[Tensor]:
    """The tensors whose stated shapes need not hold: they follow from values that the graph knows and that are fed
    otherwise, ``tf.ones([tf.shape(x)[0], 3])`` where the size is fed."""
    found = {t for t in feeds if t.dtype.is_integer and not _is_placeholder(t.op) and partial_value(t) is not None}
    found.update(contrary)
    if found:
        for op in ops:
            if not found.isdisjoint(op.inputs):
                found.update(op.outputs)
    return found


def _is_placeholder(op: Operation) -> bool:
    return op.opdef is not None and op.opdef.placeholder


def _is_full(shape: Sequence[Any] | None) -> bool:
    return shape is not None and all(d is not None for d in shape)


def _merged(shape: Sequence[Any] | None, static: tuple[int | None, ...] | None) -> Sequence[Any] | None:
    """A rule's answer, completed by what the graph knows (set_shape)."""
    if shape is None:
        return static
    if static is None or len(static) != len(shape):
        return shape
    return tuple(s if d is None else d for d, s in zip(shape, static))


def _wrapped(value: np.ndarray, limits: np.iinfo) -> np.ndarray:
    """Sizes as numbers of an integer dtype with these `limits`: those that leave them wrap around, as in any arithmetic.

    A size that stays within them stays symbolic; the plan holds for other sizes only if they stay there, too.
    """
    wrapped = np.empty(value.shape, object)
    for place, x in np.ndenumerate(value):
        plain = isinstance(x, sizes.Size) and x.is_plain() and limits.bits >= 32 and limits.min < 0
        if not plain and not limits.min <= x <= limits.max:
            x = (int(x) - limits.min) % (1 << limits.bits) + limits.min
        wrapped[place] = x
    return wrapped


def _object_array(items: list[Any]) -> np.ndarray:
    out = np.empty(len(items), dtype=object)
    for k, item in enumerate(items):
        out[k] = item
    return out
