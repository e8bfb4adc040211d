"""Repeating what a function did, for its gradient: a copy of its nodes that gives the same values again.

What random ops and other stateful ones gave cannot be computed a second time; it is *recorded* by the first execution
as one more result of the function, and the copy takes it from there.
"""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph import raw_ops as raw
from jitgraph.control.frames.structure import FRAME_OPS
from jitgraph.graph import dtypes
from jitgraph.graph.calls import bodies
from jitgraph.graph.counting import uncounted
from jitgraph.graph.function_graph import (
    LOOPS,
    FunctionGraph,
    add_output,
    first_argument,
    is_implicit_read,
    is_state,
    is_variable,
    note_change,
    notes,
)
from jitgraph.graph.gradient_registry import NOT_DIFFERENTIABLE
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor
from jitgraph.tensor_arrays.in_place_ops import is_in_place, refuse_second_gradient
from jitgraph.tensor_arrays.tensor_list_ops import empty_list, popped

PASSING = ("Print", "PrintV2")      # their value is their input: repeated as an Identity, so that nothing is shown twice


class Replay:
    """Copies nodes of the function `source` into `target`, as far as tensors are asked for.

    `known`: {tensor of the source: tensor of the target}; at least all inputs of the function.  `copies`: {operation of
    the source: its copy}.  `strict`: refuse reads whose values are lost, see ``_refuse_lost_reads``.
    """

    def __init__(self, source: FunctionGraph, target: FunctionGraph, known: dict[Tensor, Tensor], strict: bool = True):
        self.source, self.target, self.known = source, target, known
        self.copies: dict[Operation, Operation] = {}
        self._written: set | None = None if strict else set()
        target.replay = self

    def __call__(self, tensor: Tensor) -> Tensor:
        """The tensor of the target that has the value of `tensor`."""
        found = self.known.get(tensor)
        if found is None:
            count = self.target._ids.last           # TensorFlow's gradients take the values themselves
            order = _ancestors(tensor.op, self.known, self.copies)
            _refuse_frames(order)
            for op in order:
                self.copies[op] = self._copy(op)
                for mine, theirs in zip(self.copies[op].outputs, op.outputs):
                    self.known.setdefault(theirs, mine)
            self.target._ids.last = count
            found = self.known[tensor]
        return found

    def _copy(self, op: Operation) -> Operation:
        self._refuse_lost_reads(op)
        inputs = [self.known[t] for t in op.inputs]
        if op.type in PASSING:
            with self.target.as_default():
                return raw.Identity(inputs[0], name=op.name + "/").op
        attrs = dict(op.attrs)
        if op.opdef is not None and op.opdef.calls:
            attrs, inputs = self._functions(op, attrs, inputs)
        names = self.target._names
        scope, names.scope = names.scope, ""
        try:
            name = self.target.unique_name(op.name)
        finally:
            names.scope = scope
        control = [self.copies[c] for c in op.control_inputs if c in self.copies]
        results = [(t.dtype, t._shape) for t in op.outputs]
        if len(inputs) > len(op.inputs) and op.type in LOOPS:
            results.append((dtypes.variant, ()))        # a loop gives back all of its variables
        copy = self.target.add_op(op.opdef, op.type, name, inputs, attrs, [dtype for dtype, _ in results],
                                  [shape for _, shape in results], control)
        copy._frames, copy._device, copy.annotations = op._frames, op._device, op.annotations
        copy._gradient_function = op._gradient_function
        copy.replays = True
        if op.opdef is not None and op.opdef.calls:
            notes(copy).back_prop = notes(op).back_prop
        iterations = notes(op).iterations if op.type in LOOPS else None
        if iterations is not None and iterations in self.known:
            repeat(copy, iterations.value_index, self.known[iterations])
        return copy

    def _refuse_lost_reads(self, op: Operation) -> None:
        """Raises TypeError for a read of a reference variable that the function writes: a reference has no moment of its
        own that could be recorded, and by now the variable has another value."""
        if self._written is None:
            self._written = _written(self.source)
        if not self._written or op.opdef is None or op.opdef.calls or op.opdef.state == "write":
            return
        for tensor in op.inputs:
            if (tensor.dtype._is_ref_dtype or is_implicit_read(tensor.op)) and _name(_source(tensor)) in self._written:
                name = _name(_source(tensor))
                raise TypeError(f"No gradient can be taken through '{op.name}' ({op.type}): it reads the variable '{name}', "
                                "which the same loop or branch writes.  Read it with read_value(), or make it with "
                                "use_resource=True: such reads have a moment of their own.")

    def _functions(self, op: Operation, attrs: dict[str, Any], inputs: list[Tensor]) -> tuple[dict, list]:
        """Copies of the functions that `op` calls, which replay what it recorded."""
        exposed = notes(op).record
        record = None if exposed is None else self.known.get(exposed)
        offset, loop = first_argument(op), op.type in LOOPS
        if record is not None:
            with self.target.as_default():
                inputs = [*inputs, raw.ReversedList(record) if loop else record]
        for name in op.opdef.calls:
            functions = attrs[name] if isinstance(attrs[name], list) else [attrs[name]]
            # a loop's condition is asked again, but how often the loop runs is recorded where that matters
            copies = [cloned(f, self.target, inputs[offset:], record is not None, loop, strict=not (loop and name == "cond"))
                      for f in functions]
            attrs[name] = copies if isinstance(attrs[name], list) else copies[0]
        if record is not None:
            kinds = "T" if loop else "Tin"
            attrs[kinds] = [*attrs[kinds], dtypes.variant]
            if loop:
                attrs["output_shapes"] = [*attrs["output_shapes"], ()]
        return attrs, inputs


def _refuse_frames(operations: list[Operation]) -> None:
    """Raises LookupError if there are nodes of the control flow of graph files."""
    for op in operations:
        if op.type in FRAME_OPS:
            raise LookupError(f"No gradient is defined for '{op.name}' ({op.type}), which stands in a function: control flow of "
                              "graph files takes gradients where it is part of the graph itself, as after "
                              "tf.saved_model.load(session, tags, folder) or tf.import_graph_def.")


def _ancestors(goal: Operation, known: dict, copies: dict) -> list[Operation]:
    """`goal` and the operations behind it that have no copy yet, each after those that it depends on."""
    order: list[Operation] = []
    state: dict[Operation, bool] = {}       # False: being visited, True: done
    stack = [goal]
    while stack:
        op = stack[-1]
        if op in state or op in copies:
            stack.pop()
            if op in state and not state[op]:
                state[op] = True
                order.append(op)
            continue
        state[op] = False
        stack.extend(t.op for t in op.inputs if t not in known and t.op not in state and t.op not in copies)
    return order


def cloned(function: FunctionGraph, outer: Graph, inputs: list[Tensor], replays: bool = False,
           loop: bool = False, strict: bool = True) -> FunctionGraph:
    """A copy of a function for a call from the graph `outer` with these inputs.

    With `replays` the last input holds what the function recorded: a record, or for a `loop` a list of records.
    """
    copy = FunctionGraph(function.name, outer)
    known = copy.take_inputs(function, inputs)
    captured = set(function.captures.values())
    for theirs, tensor in zip(function.inputs, inputs):
        if theirs in captured and not is_state(theirs):
            copy.sources[known[theirs]] = tensor
    rest = None
    if replays:
        given = copy.add_input(dtypes.variant, ())
        if function.record is not None:
            if loop:
                with copy.as_default():
                    rest, given = popped(given, given)
            known.update(replayed(function, copy, given))
    replay = Replay(function, copy, known, strict)
    if replays:
        copy.reads = {known[value]: read.replayed(replay) for value, read in recorded_reads(function).items()}
    copy.outputs = [replay(t) for t in function.outputs]
    copy.control_outputs = [replay(op.outputs[0]).op for op in function.control_outputs if op.outputs]
    if rest is not None:
        copy.outputs.append(rest)
    return copy


# -- recording ---------------------------------------------------------------------------------------------------------

def record_of(function: FunctionGraph) -> Tensor | None:
    """The record of what a function cannot compute again, a tensor of its graph; None if there is nothing.

    ``function.recorded`` is then the list of the recorded tensors.
    """
    if function.recorded is not None:
        return function.record
    written = _written(function)
    values: list[Tensor] = []
    for op in needed_operations(function):
        if is_variable(op) or op.type in PASSING or not op.outputs or op.opdef is None:
            continue
        if op.opdef.element == "pop":
            refuse_second_gradient(op)
        if op.opdef.calls:
            exposed = expose(op)
            values.extend([] if exposed is None else [exposed])
            if op.type in LOOPS and _condition_varies(op):
                values.append(counter(op))
        elif _is_lost_read(op, written) or (
                (op.opdef.stateful or op.opdef.state) and not _same_again(op, written) and not is_in_place(op)):
            values.extend(op.outputs)
    function.recorded = values
    if values:
        with function.as_default():
            plain = [raw.Identity(t) if t.dtype._is_ref_dtype else t for t in values]
            function.record = raw.Record(plain)
    return function.record


class Read(NamedTuple):
    """A read of a resource variable: what its gradient function asks of an operation."""

    opdef: Any
    attrs: dict[str, Any]
    inputs: list[Tensor]            # the handle, and where it reads

    def replayed(self, replay: Replay) -> Read:
        """The same in another graph."""
        return self._replace(inputs=[replay(tensor) for tensor in self.inputs])


def recorded_reads(function: FunctionGraph) -> dict[Tensor, Read]:
    """{recorded value of a resource variable: how it was read}: what arrives at the one is a gradient of the other."""
    ops = {tensor: tensor.op for tensor in function.recorded or ()}
    return {**function.reads, **{
        tensor: Read(op.opdef, op.attrs, list(op.inputs)) for tensor, op in ops.items() if op.opdef is not None
        and op.opdef.state == "read" and op.opdef.grad not in (None, NOT_DIFFERENTIABLE) and op.inputs[0].dtype is dtypes.resource}}


def _condition_varies(op: Operation) -> bool:
    """Whether the condition of a loop may hold another number of times when the loop is repeated."""
    cond, body = bodies(op)
    return _varies(cond, _written(cond) | _written(body))


def _varies(function: FunctionGraph, written: set) -> bool:
    for op in needed_operations(function):
        if any(_varies(inner, written) for inner in bodies(op)):
            return True
        if any(t.dtype._is_ref_dtype and _name(_source(t)) in written for t in op.inputs):
            return True
        if op.opdef is not None and not op.opdef.calls and not is_variable(op) and op.type not in PASSING and (
                op.opdef.stateful or op.opdef.state) and not _same_again(op, written):
            return True
    return False


def replayed(function: FunctionGraph, target: FunctionGraph, record: Tensor) -> dict[Tensor, Tensor]:
    """{recorded tensor: its value in `target`}, and the record itself."""
    values = function.recorded or []
    assert function.record is not None
    with target.as_default():
        parts = raw.Recorded(record, T=[t.dtype.base_dtype for t in values], shapes=[t._shape for t in values])
    return {**dict(zip(values, parts)), function.record: record}


def expose(op: Operation) -> Tensor | None:
    """The record of an operation that calls functions, as an output of it; None if there is nothing to record."""
    known, functions = notes(op), bodies(op)
    if known.exposed:
        return known.record
    known.exposed = True
    if op.type not in LOOPS:
        with uncounted(functions):          # TensorFlow's gradients take the values themselves
            records = [record_of(f) for f in functions]
            if any(r is not None for r in records):
                for function, record in zip(functions, records):
                    with function.as_default():
                        function.outputs.append(raw.Record([]) if record is None else record)
                known.record = add_output(op, dtypes.variant, ())
    else:
        body = functions[1]
        record = record_of(body)
        if record is not None:
            known.record = accumulate(op, record)
    return known.record


def needed_operations(function: FunctionGraph) -> list[Operation]:
    """The operations that the results of a function depend on, in the order of creation."""
    needed: set[Operation] = set()
    stack = [t.op for t in function.outputs] + list(function.control_outputs)
    while stack:
        op = stack.pop()
        if op not in needed:
            needed.add(op)
            stack.extend(t.op for t in op.inputs)
            stack.extend(op.control_inputs)
    return sorted(needed, key=lambda op: op._id)


def _source(tensor: Tensor) -> Operation:
    """The variable behind a reference or handle."""
    op = tensor.op
    while op.inputs and not is_variable(op):
        op = op.inputs[0].op
    return op


def _written(function: FunctionGraph) -> set:
    """The shared names of the variables that a function, or one that it calls, writes."""
    found: set = set()
    for op in function._nodes_by_id:
        for inner in bodies(op):
            found |= _written(inner)
        if op.opdef is not None and op.opdef.state == "write":
            found.update(_name(_source(t)) for t in op.inputs if t.dtype._is_ref_dtype or t.dtype.name == "resource")
    return found


def _name(variable: Operation) -> str:
    return variable.attrs.get("shared_name") or variable.name


def _same_again(op: Operation, written: set) -> bool:
    """Whether a stateful operation gives the same value again: a read of a variable that nobody writes here."""
    if op.opdef is None or op.opdef.state != "read":
        return False
    return not any(_name(_source(t)) in written for t in op.inputs)


def _is_lost_read(op: Operation, written: set) -> bool:
    """Whether an operation is an explicit read of a reference variable that is written here."""
    return op.type == "Identity" and op.inputs[0].dtype._is_ref_dtype and not is_implicit_read(op) \
        and is_variable(op.inputs[0].op) and _name(_source(op.inputs[0])) in written


# -- what loops save ---------------------------------------------------------------------------------------------------

def add_loop_variable(op: Operation, first: Tensor, following: Any) -> Tensor:
    """Gives a While one more variable, from `first` on; ``following(variable)`` builds its next value in the body."""
    cond, body = bodies(op)
    cond.add_input(first.dtype, first._shape)
    inner = body.add_input(first.dtype, first._shape)
    notes(op).added.add(inner)
    with body.as_default():
        body.outputs.append(following(inner))
    assert len(body.inputs) == len(cond.inputs) == len(op.inputs) + 1, "a loop's functions take the same inputs"
    stated = op.attrs["output_shapes"] or [t._shape for t in op.outputs]
    op.inputs.append(first)
    first._consumers.append(op)
    output = Tensor(op, len(op.outputs), first.dtype, first._shape)
    op.outputs.append(output)
    op.attrs["T"] = [*op.attrs["T"], first.dtype]
    op.attrs["output_shapes"] = [*stated, first._shape]
    note_change(op.graph)
    return output


def repeat(op: Operation, variable: int, count: Tensor) -> None:
    """Lets a While run until its loop variable number `variable`, which counts iterations, is `count`."""
    add_loop_variable(op, count, lambda inner: inner)
    cond = bodies(op)[0]
    with cond.as_default():
        cond.outputs = [cond.inputs[variable] < cond.inputs[-1]]


def accumulate(op: Operation, tensor: Tensor) -> Tensor:
    """The list of the values that `tensor`, of the body of a While, has in all iterations: an output of the While."""
    saved = notes(op).saved
    if tensor not in saved:
        with op.graph.as_default(), op.graph.control_dependencies(None):    # which may wait for the loop
            first = empty_list(tensor.dtype.base_dtype)
        saved[tensor] = add_loop_variable(op, first, lambda inner: raw.TensorListPushBack(inner, tensor))
    return saved[tensor]


def counter(op: Operation) -> Tensor:
    """The number of iterations that a While has made: an int32 output of it."""
    known = notes(op)
    if known.iterations is None:
        with op.graph.as_default(), op.graph.control_dependencies(None):
            first = raw.Identity(0, name="iterations")
        known.iterations = add_loop_variable(op, first, lambda count: count + 1)
    return known.iterations
