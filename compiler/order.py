"""order: one sequence of operations that obeys data edges, control edges and the state rule.

The state rule: operations that touch the same variable and are not ordered by data or control edges execute in the
order in which they were created.  The read that comes with a variable (`v/read`) has no time of its own: its consumer's
place decides which value it sees.  Any other read, such as that of `v.read_value()`, is an access of its own.

The one exception are counts, as the global step is: scalars in reference variables that the run itself writes, whole numbers
or such as are not trained.  Fetched, they are what they are after the run, as in TensorFlow, where programs count with them:
``while step < n: _, step = sess.run([train, global_step])``.

What puts elements into a queue comes before what takes some from it, if nothing waits for the former: TensorFlow runs both at
once, and an empty or full queue would make one wait for the other for ever.
"""
from __future__ import annotations

import heapq
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jitgraph.graph.calls import bodies
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.function_graph import FunctionGraph, first_argument, is_implicit_read, is_state, is_variable
from jitgraph.graph.operation import Operation
from jitgraph.graph.reaching import reaches
from jitgraph.graph.tensor import Tensor

from .prune import noticed

if TYPE_CHECKING:
    from .program import Program


def order(program: Program) -> None:
    """Turns control edges and the state rule into one order; leaves out what nobody would notice."""
    ops, members = program.ops, set(program.ops)
    after = {op: _predecessors(op, members, program.feeds) for op in ops}
    for put, take in _through_queues(ops):
        if put not in after[take] and not reaches(put, {take}, after.__getitem__):
            after[take].add(put)
    sequence = _sort(ops, after)
    touches = _touches(ops)
    place = {op: i for i, op in enumerate(sequence)}
    if any(place[a] > place[b] for touched in touches.values() for a, b in _conflicts(touched)):
        for touched in touches.values():
            for a, b in _conflicts(touched):
                if a not in after[b] and not reaches(a, {b}, after.__getitem__):
                    after[b].add(a)
        sequence = _sort(ops, after)
    program.ops = noticed(sequence, program)


def counts(program: Program) -> dict[Tensor, Operation]:
    """{fetched tensor: its variable} of the counts, which are read once the run is over."""
    if isinstance(program.graph, FunctionGraph):        # its results are values of one moment of the run
        return {}
    fetched = [t for t in program.fetches if is_variable(t.op) and t.dtype._is_ref_dtype and t._shape == ()
               and t not in program.feeds]
    if not all(t.dtype.is_integer for t in fetched):
        trained = {v.op for v in program.graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
        fetched = [t for t in fetched if t.dtype.is_integer or t.op not in trained]
    written = {variable for op in program.ops for variable, writes in touched_variables(op) if writes} if fetched else ()
    return {t: variable for t in fetched if (variable := variable_of(t)) in written}


def _through_queues(ops: Sequence[Operation]) -> Iterator[tuple[Operation, Operation]]:
    """Pairs of an operation that puts elements into a queue, for which no other waits, and one that takes some from it.

    The former comes first: its waiting for room is left to the end of the run (`waits_for_room`), so that neither waits for
    the other for ever.
    """
    takes: dict[tuple[str, str], list[Operation]] = {}
    for op in ops:
        if op.opdef is not None and op.opdef.moves == "out":
            takes.setdefault(_queue_of(op), []).append(op)
    if takes:
        awaited = {before for op in ops for before in op.control_inputs}
        for op in ops:
            if op.opdef is not None and op.opdef.moves == "in" and op not in awaited:
                for take in takes.get(_queue_of(op), ()):
                    yield op, take


def waits_for_room(sequence: Sequence[Operation]) -> set[Operation]:
    """The operations whose waiting for room in a queue is to be left to the end of the run: later ones take from it."""
    place = {op: k for k, op in enumerate(sequence)}
    return {put for put, take in _through_queues(sequence) if place[put] < place[take]}


def _queue_of(op: Operation) -> tuple[str, str]:
    source = op.inputs[0].op
    while source.type == "Identity":
        source = source.inputs[0].op
    return variable_key(source)


def variable_of(tensor: Tensor, chosen: Mapping[Operation, int] | None = None) -> Operation | None:
    """The variable operation whose state a tensor is: for a reference, or an Identity of one; else None.

    Operations of one container and shared name are one variable; the first of them that was asked for stands for all.
    `chosen`: the numbers of the inputs that operations have chosen in a run, for those of which the graph does not tell.
    """
    while True:
        op = tensor.op
        if op.opdef is not None and not op.inputs:
            return op.graph.per_graph("variables", dict).setdefault(variable_key(op), op) if is_variable(op) else None
        if op.opdef is not None and op.opdef.selects is not None:
            number = op.opdef.selects(op)
            if number is None:
                number = (chosen or {}).get(op)
            if number is None:
                return None
            tensor = op.inputs[number]
        elif tensor.dtype._is_ref_dtype or is_transparent(op):
            tensor = op.inputs[0]
        elif tensor.dtype.name == "resource" and op.type == "Identity":
            tensor = op.inputs[0]
        else:
            return None


def variable_key(op: Operation) -> tuple[str, str]:
    """What names the variable behind a variable operation: (container, shared name)."""
    return (op.attrs.get("container") or "", op.attrs.get("shared_name") or op.name)


def is_transparent(op: Operation) -> bool:
    """What is a name for a variable's value, not a moment: the read that comes with it, and a reference handed on."""
    if is_implicit_read(op):
        return is_variable(op.inputs[0].op)
    return op.opdef is not None and op.opdef.selects is not None and len(op.inputs) == 1 and variable_of(op.outputs[0]) is not None


def seen_through(tensor: Tensor) -> Tensor:
    """The variable's own tensor for what names its value: a feed of the one is a feed of the other."""
    while is_transparent(tensor.op):
        tensor = tensor.op.inputs[0]
    return tensor


def touched_variables(op: Operation) -> Iterator[tuple[Operation, bool]]:
    """(variable, whether the operation writes it) for each variable that the operation touches at its own place."""
    writes = op.opdef is not None and op.opdef.state == "write"
    if is_transparent(op):
        return
    if op.opdef is not None and op.opdef.calls:
        yield from body_variables(op)
        return
    for arg_is_ref, tensor in zip(ref_inputs(op), op.inputs):
        source = tensor.op
        if is_variable(source) or is_transparent(source):
            variable = variable_of(tensor)
            if variable is not None:
                yield variable, writes and arg_is_ref
        elif arg_is_ref and writes:
            for variable in candidates(tensor):
                yield variable, True


def candidates(tensor: Tensor) -> Iterator[Operation]:
    """The variables of which a reference may be one: all that an operation may choose in a run, or the one that it is."""
    variable = variable_of(tensor)
    if variable is not None:
        yield variable
    elif tensor.dtype._is_ref_dtype and tensor.op.inputs:
        for given in tensor.op.inputs[1:] if chooses_in_a_run(tensor.op) else tensor.op.inputs[:1]:
            yield from candidates(given)


def chooses_in_a_run(op: Operation) -> bool:
    """Whether an operation hands on one of several references, and only the run tells which."""
    return op.opdef is not None and op.opdef.selects is not None and op.opdef.selects(op) is None


def writes_what_a_run_chooses(op: Operation) -> bool:
    """Whether an operation writes a variable of which only the run tells which it is."""
    return op.opdef is not None and op.opdef.state == "write" and any(
        is_ref and tensor.dtype._is_ref_dtype and variable_of(tensor) is None and any(candidates(tensor))
        for is_ref, tensor in zip(ref_inputs(op), op.inputs))


def body_variables(op: Operation) -> list[tuple[Operation, bool]]:
    """(variable, whether one of them writes it) for each variable that the functions which `op` calls touch."""
    found: dict[Any, bool] = {}
    functions = bodies(op)
    for function in functions:
        for node in function.get_operations():
            for variable, writes in touched_variables(node):
                found[variable] = found.get(variable, False) or writes
    outer: dict[Any, Any] = {}
    for k, tensor in enumerate(op.inputs[first_argument(op):]):
        for function in functions:
            if is_state(function.inputs[k]):
                outer[variable_of(function.inputs[k])] = variable_of(tensor)
                found.setdefault(variable_of(function.inputs[k]), False)
    touched: dict[Any, bool] = {}
    for inner, writes in found.items():
        own = outer.get(inner, inner)
        touched[own] = touched.get(own, False) or writes
    return list(touched.items())


def ref_inputs(op: Operation) -> list[bool]:
    """For each input, whether the operation takes it as a variable and not for its value."""
    if op.opdef is None:
        return [t.dtype._is_ref_dtype for t in op.inputs]
    args = [arg for arg in op.opdef.inputs for _ in range(op.attrs[arg.number_attr] if arg.is_ref and arg.number_attr else 1)]
    flags = [arg.is_ref or tensor.dtype.name == "resource" for arg, tensor in zip(args, op.inputs)]
    return flags + [False] * (len(op.inputs) - len(flags))


def _predecessors(op: Operation, members: set[Operation], feeds: Container[Tensor]) -> set[Operation]:
    found = set()
    for tensor in op.inputs:
        if tensor in feeds:
            continue
        found.add(tensor.op)
    found.update(op.control_inputs)
    return {p for p in found if p in members and p is not op}


def _touches(ops: list[Operation]) -> dict[Operation, list[tuple[Operation, bool]]]:
    touches: dict[Operation, list[tuple[Operation, bool]]] = {}
    for op in ops:                              # in order of creation
        for variable, writes in touched_variables(op):
            touches.setdefault(variable, []).append((op, writes))
    return touches


def _conflicts(touched: list[tuple[Operation, bool]]) -> Iterator[tuple[Operation, Operation]]:
    """Pairs of operations on one variable that must not be exchanged: every reader with the writers around it."""
    writer: Operation | None = None
    readers: list[Operation] = []
    for op, writes in touched:
        if writes:
            if writer is not None and writer is not op:
                yield writer, op
            for reader in readers:
                if reader is not op:
                    yield reader, op
            writer, readers = op, []
        else:
            if writer is not None and writer is not op:
                yield writer, op
            readers.append(op)


def _sort(ops: list[Operation], after: dict[Operation, set[Operation]]) -> list[Operation]:
    """Topological order, earliest created first among those that are ready."""
    waiting = {op: len(before) for op, before in after.items()}
    users: dict[Operation, list[Operation]] = {}
    for op, before in after.items():
        for b in before:
            users.setdefault(b, []).append(op)
    ready = [(op._id, op) for op in ops if not waiting[op]]
    heapq.heapify(ready)
    sequence = []
    while ready:
        _, op = heapq.heappop(ready)
        sequence.append(op)
        for user in users.get(op, ()):
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (user._id, user))
    if len(sequence) != len(ops):
        stuck = [op for op in ops if waiting[op]]
        raise InvalidArgumentError(None, stuck[0], "The graph has a cycle through "
                                   + ", ".join(f"'{op.name}'" for op in stuck[:5]))
    return sequence
