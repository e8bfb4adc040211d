"""lower: operations become primitives, and the state rule becomes edges between them.

Reading a variable gives a value of some version of its buffer; a write makes the next version.  Nodes that use a version
must run before the write that replaces it; where one comes later in the order (the old value is still wanted after
the write), a copy is made before the write.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.build import group_inputs
from jitgraph.graph.errors import InvalidArgumentError, OpError
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from . import sizes
from .builder import Builder
from .duplicates import are_few, first_of_equals
from .infer import MISUSED, Info, shape_error
from .ir import Node, Value, shape_key
from .kernel import CODES, HALVES
from .lowered import expressible, live_nodes, narrowed
from .open_variables import is_open
from .order import body_variables, is_transparent, is_variable, ref_inputs, seen_through, variable_of
from .primitives.elementwise import CAST
from .primitives.host import HOST
from .primitives.memory import CONST, INPUT
from .primitives.rows import UPDATE
from .prune import changes_something, chooses, has_effect, is_idle, must_be_fed
from .targets import HOST as HOST_MEMORY
from .views import is_contiguous, is_plain, resolve

if TYPE_CHECKING:
    from jitgraph.graph.dtypes import DType

    from .program import Program
    from .sizes import Shape


def lower(program: Program) -> None:
    """Operations become primitives; reads and writes of variables become values of versions."""
    _Lowering(program).run()


class _Lowering:
    def __init__(self, program: Program) -> None:
        self.program, self.infos = program, program.infos
        self.b = Builder(program.options.unused, program.target.tuning,
                         program.target.place_of if program.target.has_memory else None, program.options.tf32)
        self.values: dict[Tensor, Value] = {}              # tensor -> Value
        self.held: dict[Value, list[Tensor]] = {}          # and the other way round
        self.current: dict[Operation, Value] = {}             # variable -> Value of its present version
        self.versions: dict[Operation, int] = {}            # variable -> number of writes so far
        self.writers: dict[Operation, Node] = {}             # variable -> the node of the last of them
        self.checks: list[Node] = []        # nodes that may fail
        self.effects: list[Node] = []       # writes and host operations with effects, in order
        self.last_host: Node | None = None
        self.wanted = set(program.fetches) | set(program.live)

    def run(self) -> None:
        program = self.program
        for tensor in program.feeds:
            info = self.infos[tensor]
            self._hold(tensor, self.b.node(INPUT, [], [(info.shape, info.dtype)], tensor=tensor).out)
        for op in program.ops:
            self.b.op, self.b.position = op, op._id
            before = len(self.b.nodes)
            self._lower(op)
            self._note_effects(before)
            for tensor in op.outputs:
                if tensor in self.wanted and tensor not in program.feeds:
                    self._keep(tensor)
        for tensor in self.wanted:
            if tensor in program.feeds or tensor not in program.results and (
                    tensor in program.known or tensor in program.sized):
                program.results[tensor] = self._value(tensor)
        program.nodes = live_nodes(self.b.nodes, list(program.results.values()), list(self.values.values()))
        program.outputs = [v for v in program.results.values() if not v.node.kind.is_given]

    # values ----------------------------------------------------------------------------------------------------
    def _value(self, tensor: Tensor) -> Value:
        """The value of a tensor at this point of the order; for a variable, that of its present version."""
        found = self.values.get(tensor, self.values.get(seen_through(tensor)))
        if found is not None:
            return found
        info = self.infos.get(tensor)
        if info is not None and info.value is not None:
            return self._constant(info)
        variable = variable_of(tensor)
        if variable is not None:
            return self._read(variable)
        raise InvalidArgumentError(None, tensor.op, f"tensor {tensor.name} has no value in this run")

    def _constant(self, info: Info) -> Value:
        if info.value.dtype == object and info.dtype.name != "string":
            return self.b.size(info.value, info.dtype)
        if info.dtype.name in self.program.target.elements or info.dtype.is_complex:
            return self.b.const(info.value, info.dtype)
        return self.b.node(CONST, [], [(info.shape, info.dtype)], array=info.value).out

    def _read(self, variable: Operation) -> Value:
        if variable not in self.current:
            info = self.infos[variable.outputs[0]]
            self.current[variable] = self.b.read(variable, 0, info.shape, info.dtype)
        return self.current[variable]

    def _keep(self, tensor: Tensor) -> None:
        """Records the value of a fetched or live tensor as it is now; what is not computed into a buffer is copied."""
        value = self._value(tensor)
        base = resolve(value)
        plain = value.node.kind.is_given or (
            base is not None and base[0] is value and not (value.node.kind.is_state or value.node.kind.is_index))
        if not plain and value.dtype.name in self.program.target.elements_at(self.b.op):
            value = self.b.node(CAST, [value], [(value.shape, value.dtype)], alone=True).out
        elif not plain:
            value = self._host_copy(value)
        self.program.results[tensor] = value

    def _host_copy(self, value: Value) -> Value:
        return self.b.host(np.array, [value], value.shape, value.dtype)

    def _give(self, op: Operation, results: Iterable[Value | None]) -> None:
        """Records the values of an operation's outputs; what is fed keeps the value that was fed."""
        for tensor, value in zip(op.outputs, results):
            if value is not None and tensor not in self.program.feeds:
                self._hold(tensor, value)

    # operations ------------------------------------------------------------------------------------------------
    def _lower(self, op: Operation) -> None:
        if is_variable(op) or is_idle(op) or is_transparent(op):
            return
        if is_given(op, lambda tensor: tensor in self.values or self._is_known(tensor)) or self._passes(op):
            return
        if must_be_fed(op):
            raise missing_feed(op)
        if op.opdef is not None and op.opdef.forwards:
            self._give(op, [self._value(op.inputs[0])])
            return
        if op.opdef is not None and op.opdef.calls:
            self._call(op)
            return
        refs = state_inputs(op)
        if refs:
            try:
                self._on_state(op, refs)
            except MISUSED as error:
                raise shape_error(op, [self.infos.get(t) for t in op.inputs], error) from None
            return
        terms = self.program.early.get(op)
        if terms is not None and terms.tensor in self.values:
            self._give(op, [terms.lower(self.b, self.values[terms.tensor], self._value)])
            return
        if self.program.masked is not None and op in self.program.masked.others:
            self._give(op, self.program.masked.lower(op, self.b, [self._value(t) for t in self.program.masked.taken(op)]))
            return
        inputs = [self._value(t) for t in op.inputs]
        if self.program.repeated and op in self.program.repeated:
            self._give(op, [inputs[0], self.b.iota(inputs[0].shape, 0, op.outputs[1].dtype)])
            return
        if self.program.added_up and op in self.program.added_up and are_few(inputs[0].shape):
            self._give(op, first_of_equals(self.b, inputs[0], op.outputs[1].dtype))
            return
        try:
            results = self._primitives(op, inputs)
        except MISUSED as error:
            raise shape_error(op, [self.infos.get(t) for t in op.inputs], error) from None
        if results is NotImplemented:
            results = self._host(op, inputs)
        self._give(op, results)

    def _passes(self, op: Operation) -> bool:
        """Whether an operation is a check that is certain to pass."""
        if op.opdef is None or op.opdef.passes is None:
            return False
        return bool(op.opdef.passes(*(self.infos[t].value if t in self.infos else None for t in op.inputs)))

    def _is_known(self, tensor: Tensor) -> bool:
        info = self.infos.get(tensor)
        return info is not None and info.value is not None

    def _primitives(self, op: Operation, inputs: list[Value]) -> list[Value] | Any:
        """The op in primitives, or NotImplemented where it has none for these dtypes."""
        opdef = op.opdef
        if opdef.on_device is not None and self.program.target.place_of(op) != HOST_MEMORY:
            if all(t.dtype.base_dtype.name in CODES for t in (*op.inputs, *op.outputs)):
                return self._lowered(op, inputs, op.attrs)
            return NotImplemented
        if opdef.host or opdef.state == "write" or (opdef.stateful and not opdef.stream and not opdef.state) \
                or (opdef.lower is None and opdef.scalar is None):
            return NotImplemented
        known = self.program.target.elements_at(op)
        if any(v.dtype.name not in known for v in inputs) or any(t.dtype.base_dtype.name not in known for t in op.outputs):
            return self._views(op, inputs)
        found = self._lowered(op, inputs, op.attrs)
        halves = {v.dtype.name for v in inputs} | {t.dtype.base_dtype.name for t in op.outputs}
        # what has kernels for float32 alone is computed in that; random numbers of 16 bits are others than those of 32
        if found is NotImplemented and not opdef.stream and not halves.isdisjoint(HALVES):
            inputs = [self.b.cast(v, dtypes.float32) if v.dtype.name in HALVES else v for v in inputs]
            wide = {k: dtypes.float32 if isinstance(a, dtypes.DType) and a.name in HALVES else a for k, a in op.attrs.items()}
            found = self._lowered(op, inputs, wide)
        return found

    def _views(self, op: Operation, inputs: list[Value]) -> list[Value] | Any:
        """What an operation that only sees strings in another way gives, else NotImplemented."""
        start = len(self.b.nodes)
        if op.opdef.lower is None or any(t.dtype.base_dtype.name != "string" for t in op.outputs):
            return NotImplemented
        found = self._lowered(op, inputs, op.attrs)
        if not all(node.kind.is_view and resolve(node.out) for node in self.b.nodes[start:]):
            self.b.forget(self.b.nodes[start:])
            return NotImplemented
        return found

    def _lowered(self, op: Operation, inputs: list[Value], attrs: dict[str, Any]) -> list[Value] | Any:
        """What the op's own lowering gives for inputs and attributes, or NotImplemented."""
        opdef, start = op.opdef, len(self.b.nodes)
        try:
            grouped = opdef.group(inputs) if len([a for a in opdef.inputs if a.is_list]) < 2 else \
                group_inputs(opdef, inputs, attrs)
            if opdef.scalar is not None:
                results = opdef.scalar(*grouped, **opdef.arguments(opdef.scalar, attrs))
            elif opdef.host:
                results = opdef.on_device(self.b, *grouped, **opdef.arguments(opdef.on_device, attrs))
            else:
                results = opdef.lower(self.b, *grouped, **opdef.arguments(opdef.lower, attrs))
        except (NotImplementedError, OpError):     # what the operation refuses, the host says, and only if it really runs
            results = NotImplemented
        if results is not NotImplemented:
            flat = _flatten(results)
            flat = [self._conform(op, t, v) for t, v in zip(op.outputs, flat)]
            # a lowering that gives another shape than the op's rule was given what does not go together: the host says what
            fits = all(t not in self.infos or v.shape == self.infos[t].shape for t, v in zip(op.outputs, flat))
            if fits and expressible(self.b.nodes[start:], self.program.target.name):
                return flat
        self.b.forget(self.b.nodes[start:])
        return NotImplemented

    def _conform(self, op: Operation, tensor: Tensor, value: Any) -> Value:
        """Numbers become constants; a scalar expression that ignores an input still has the broadcast shape."""
        dtype = tensor.dtype.base_dtype
        value = value if isinstance(value, Value) else self.b.const(value, dtype)
        if dtype.name in HALVES:
            value = narrowed(self.b, value, dtype)
        info = self.infos.get(tensor)
        if op.opdef.scalar is not None and info is not None and value.shape != info.shape:
            value = self.b.broadcast(value, info.shape)
        return value

    def _host(self, op: Operation, inputs: list[Value]) -> list[Value]:
        inputs = [self._together(v) if k in op.opdef.keeps else v for k, v in enumerate(inputs)]
        outputs = [(self.infos[t].shape if t in self.infos else None, t.dtype.base_dtype) for t in op.outputs]
        computation = _computation(op, outputs)
        node = self.b.node(HOST, inputs, [(s or (), d) for s, d in outputs], alone=computation is None,
                           computation=computation, call="op")
        node.attrs["open"] = [s is None for s, _ in outputs]
        if op.opdef.stateful or op.opdef.state or not op.outputs:
            node.after.extend(self.effects)
            self.effects.append(node)
            self.last_host = node
        return node.outputs

    def _together(self, value: Value) -> Value:
        """What a step of the host hands on without looking at it: where a device may have it, but not as it lies, a copy."""
        found = resolve(value)
        return value if found is None or is_contiguous(value.shape, found[1]) else self._copied(value)

    def _whole(self, value: Value) -> Value:
        """What is given to a function that an operation calls: of a part a copy, else it came from the host in every round of a
        loop."""
        found = resolve(value)
        if found is None or not value.dtype.is_floating:
            return value
        whole = is_plain(value) and sizes.same(sizes.product(value.shape), sizes.product(found[0].shape))
        return value if whole else self._copied(value)

    def _copied(self, value: Value) -> Value:
        """A copy that lies together on the device of the operation, where that is one; else the value."""
        target = self.program.target
        if target.place_of(self.b.op) == HOST_MEMORY or value.dtype.name not in target.elements_at(self.b.op):
            return value
        return self.b.node(CAST, [value], [(value.shape, value.dtype)], alone=True).out

    def _call(self, op: Operation) -> None:
        """An operation that calls functions: a step on the host, which touches the variables that they touch."""
        call = self.program.calls[op]
        results = self._host(op, [self._whole(self._value(op.inputs[k])) if call.needs(k) else self._nothing(op.inputs[k])
                                  for k in call.by_value])
        node = results[0].node if results else self.b.nodes[-1]
        if changes_something(op) or not chooses(op):       # what it does, or a whole function, whatever is looked at in the end
            node.attrs["wanted"] = frozenset(range(len(op.outputs))) if call.outputs is None else call.outputs
        for variable, writes in body_variables(op):
            self._after_last_write(node, variable)
            if writes and variable.outputs[0] in self.infos:
                self._advance(variable, node)
        self._give(op, results)

    def _nothing(self, tensor: Tensor) -> Value:
        """What stands for an input on which nothing depends that is asked for."""
        dtype = tensor.dtype.base_dtype
        array: np.ndarray = np.zeros([0] * len(tensor._shape or ()), dtype.as_numpy_dtype)
        return self.b.node(CONST, [], [(array.shape, dtype)], array=array).out

    # state -----------------------------------------------------------------------------------------------------
    def _on_state(self, op: Operation, refs: dict[int, Operation]) -> None:
        """An operation on variables themselves: in primitives where it has them, else on the host with the buffers."""
        opdef = op.opdef
        function = getattr(opdef, "updates", None) or (opdef.lower if opdef.state == "write" else None)
        others = [self._value(t) for k, t in enumerate(op.inputs) if k not in refs]
        if opdef.state == "read" and self._look_into(op, refs):
            return
        target = self.program.target
        known = min((target.elements_at(one) for one in (op, *refs.values())), key=len)
        fits = function is not None and all(self._has_shape(v) for v in refs.values()) \
            and all(v.dtype.name in known for v in others) \
            and all(v.attrs["dtype"].base_dtype.name in known for v in refs.values())
        if fits and opdef.assigns:     # what changes the shape is the host's
            fits = tuple(others[0].shape) == tuple(self.infos[refs[0].outputs[0]].shape)
        if fits and len(set(refs.values())) == len(refs) and self._update(op, function, refs):
            return
        results = self._host(op, others)
        node = results[0].node if results else self.b.nodes[-1]
        node.attrs["refs"] = refs
        for variable in refs.values():
            self._after_last_write(node, variable)
        if opdef.state == "write":
            for variable in dict.fromkeys(refs.values()):
                self._advance(variable, node)
        self._give(op, results)

    def _look_into(self, op: Operation, refs: dict[int, Operation]) -> bool:
        """What an operation reads of variables, in primitives of their present versions; False if it has none."""
        if op.opdef.lower is None or not all(self._has_shape(v) for v in refs.values()):
            return False
        results = self._primitives(op, [self._read(refs[k]) if k in refs else self._value(t) for k, t in enumerate(op.inputs)])
        if results is NotImplemented:
            return False
        self._give(op, results)
        return True

    def _has_shape(self, variable: Operation) -> bool:
        return not is_open(variable, self.program) or self.program.variable_shapes.get(variable) is not None

    def _update(self, op: Operation, function: Any, refs: dict[int, Operation]) -> bool:
        """Pure expressions for the new values of the operation's variables, written in place; False if there are none."""
        inputs = [self._value(t) if k not in refs else self._read(refs[k]) for k, t in enumerate(op.inputs)]
        builder = () if function is getattr(op.opdef, "updates", None) else (self.b,)
        try:
            new = function(*builder, *inputs, **op.opdef.arguments(function, op.attrs))
        except NotImplementedError:
            return False
        if isinstance(new, Node):       # rows of the variables, written in place
            self._before_write(new)
            for variable in refs.values():
                self._advance(variable, new)
            self._give(op, [self.current[refs[0]]] * len(op.outputs))
            return True
        written = []
        for variable, value in zip(refs.values(), new if isinstance(new, tuple) else (new,)):
            shape = self.infos[variable.outputs[0]].shape
            if value.rank != len(shape):
                value = self.b.broadcast(value, shape)
            if tuple(value.shape) != tuple(shape):
                error = ValueError(f"{variable.name} and its update must have the same shape")
                raise shape_error(op, [self.infos.get(t) for t in op.inputs], error)
            written.append(self._write(variable, value))
        self._give(op, [written[0]] * len(op.outputs))
        return True

    def _write(self, variable: Operation, value: Value) -> Value:
        version = self.versions.get(variable, 0) + 1
        written = self.b.write(variable, version, value)
        self._before_write(written.node)
        self._advance(variable, written.node)
        self.current[variable] = written
        return written

    def _before_write(self, node: Node) -> None:
        """What may fail runs before state changes, and effects keep their order."""
        node.after.extend(n for n in self.checks if n not in node.after)
        if self.last_host is not None:
            node.after.append(self.last_host)
        self.effects.append(node)

    def _advance(self, variable: Operation, writer: Node) -> None:
        """The variable's next version begins at `writer`: every user of the version before runs earlier."""
        self.versions[variable] = self.versions.get(variable, 0) + 1
        self._after_last_write(writer, variable)
        old = self.current.pop(variable, None)
        if old is not None:
            self._settle(old, writer)
        self.writers[variable] = writer
        if writer.kind in (HOST, UPDATE):
            info = self.infos[variable.outputs[0]]
            fresh = self.b.read(variable, self.versions[variable], info.shape, info.dtype)
            fresh.node.after.append(writer)
            self.current[variable] = fresh

    def _after_last_write(self, node: Node, variable: Operation) -> None:
        """The node runs after the last writer of the variable, whether anything reads what that wrote or not."""
        writer = self.writers.get(variable)
        if writer is not None and writer is not node:
            node.after.append(writer)

    def _settle(self, old: Value, writer: Node) -> None:
        """Users of the old version go before the writer; tensors that still hold the old value get a copy of it, and so
        does a writer that is passed the old value beside the buffer that it changes."""
        stale, users, waiting = {old: None}, [], [old]      # in the order in which they are met
        while waiting:
            for n in self.b.users.get(waiting.pop(), ()):
                if n.kind.is_view:
                    seen = [v for v in n.outputs if v not in stale and resolve(v) is not None]
                    stale.update(dict.fromkeys(seen))
                    waiting.extend(seen)
                elif n is not writer and n not in users:
                    users.append(n)
        copies: dict[Value, Value] = {}

        def copy(value: Value) -> Value:
            if value not in copies:
                at = self.b.nodes.index(writer)
                copies[value] = self.b.node(CAST, [value], [(value.shape, value.dtype)], alone=True).out
                node = self.b.nodes.pop()
                self.b.nodes.insert(at, node)
                users.append(node)
            return copies[value]

        for value in stale:
            for tensor in [t for t in self.held.get(value, ()) if self._used_later(t)]:
                self.held[value].remove(tensor)
                self._hold(tensor, copy(value))
        first = len(writer.attrs["step"].results) if writer.kind is UPDATE else 0
        if writer.kind in (HOST, UPDATE):
            for k in range(first, len(writer.inputs)):
                if writer.inputs[k] in stale:
                    writer.inputs[k] = copy(writer.inputs[k])
        writer.after.extend(users)

    def _hold(self, tensor: Tensor, value: Value) -> None:
        self.values[tensor] = value
        self.held.setdefault(value, []).append(tensor)

    def _used_later(self, tensor: Tensor) -> bool:
        """Whether an operation that is not lowered yet (or a later segment) uses the tensor."""
        done = self.b.op
        assert done is not None
        place = self._places
        now = place[done]
        later = set(self.program.rest)
        return any(place.get(c, -1) > now or c in later for c in tensor.consumers())

    @functools.cached_property
    def _places(self) -> dict[Operation, int]:
        return {op: i for i, op in enumerate(self.program.ops)}

    def _note_effects(self, before: int) -> None:
        for node in self.b.nodes[before:]:
            if node.kind.may_fail(node):
                self.checks.append(node)


def is_given(op: Operation, known: Callable[[Tensor], bool]) -> bool:
    """Whether an operation need not run, since all of its outputs are `known`: fed or folded.  One with an effect runs all
    the same: it is there for a control edge, or as a target."""
    return bool(op.outputs) and all(map(known, op.outputs)) and (must_be_fed(op) or not has_effect(op))


def state_inputs(op: Operation, chosen: Mapping[Operation, int] | None = None) -> dict[int, Operation]:
    """{input position: variable} for the inputs through which an operation works on variables themselves.  `chosen`: see
    ``variable_of``."""
    if op.opdef is None or not op.opdef.state:
        return {}
    found = {}
    for k, (is_ref, tensor) in enumerate(zip(ref_inputs(op), op.inputs)):
        if is_ref or tensor.dtype.name == "resource":       # a reference may also be passed for its value
            variable = variable_of(tensor, chosen)
            if variable is not None:
                found[k] = variable
    return found


def missing_feed(op: Operation) -> InvalidArgumentError:
    """The error for a placeholder that the run needs and nobody fed."""
    shape = op.outputs[0].shape
    dtype = op.outputs[0].dtype.name
    text = f" and shape {shape}" if shape.ndims else ""
    name = {"float32": "float", "float64": "double"}.get(dtype, dtype)
    return InvalidArgumentError(None, op, f"You must feed a value for placeholder tensor '{op.name}' with dtype "
                                          f"{name}{text}")


def _flatten(results: Any) -> list[Any]:
    if not isinstance(results, (tuple, list)):
        return [results]
    return [v for r in results for v in (r if isinstance(r, (tuple, list)) else (r,))]


def _computation(op: Operation, outputs: list[tuple[Shape | None, DType]]) -> tuple[Any, ...] | None:
    """What operations have in common that give equal values for equal inputs; None for one that must run by itself."""
    opdef = op.opdef
    if opdef is None or not opdef.pure or any("tensor" in attr.kind or "func" in attr.kind for attr in opdef.attrs.values()):
        return None
    attrs = [(name, repr(op.attrs.get(name))) for name in opdef.attrs]
    shapes = [None if s is None else shape_key(s) for s, _ in outputs]
    return op.type, tuple(attrs), tuple(shapes), tuple(repr(t._shape) for t in op.outputs)
