"""A program in a file: what the passes made of one, for a process that would have them make the same.

The address of a program is a hash of all that the passes look at: its operations with their attributes, what they are made of
up to the beginnings of the graph, and functions that they call; the shapes of feeds; values that are known; options; the sources of
the compiler and of the operations.  In the file, operations, tensors and large constants are numbers: they are those of the graph
that reads it.  Primitives have numbers, too, so that a deep graph needs no deep recursion.
"""
from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import io
import os
import pickle
import sys
import types
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jitgraph.graph.dtypes import DType
from jitgraph.graph.function_graph import is_implicit_read, is_variable
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor

from .builder import Builder
from .collecting import collecting_later
from .divide import Call, divided
from .emit import native
from .ir import Node, Value
from .options import Options
from .order import variable_of
from .program import Program
from .targets import CPU, Target

LEAST = 64              # operations from which on a file is worth while
MOST = 64 << 20         # bytes of a file
LARGE = 1 << 10         # bytes of a constant that is left in the graph
MADE = ("space", "measured", "pins", "live", "results", "outputs", "kept", "layout")
"""The fields that passes fill in and that runs look at, besides `ops`, `rest`, `nodes` and `infos`."""

NAMED = {("builtins", "set"), ("builtins", "frozenset"), ("builtins", "complex"), ("builtins", "slice"), ("functools", "partial")}
"""What a file may name besides what is of jitgraph, NumPy and its further dtypes."""


class Unknown(Exception):
    """Something of a program whose meaning a file cannot tell."""


def _number(numbers: dict[Operation, int], op: Operation) -> int:
    """The number of an operation.  Raises Unknown for one of a graph around, which is meant without being an input."""
    if op not in numbers:
        raise Unknown(op.name)
    return numbers[op]


class Numbered:
    """The operations of a plan and all that they are made of, by number.  `described`: a hash of what the passes can see of them,
    None where a file cannot tell something of it.  The segments of a plan share it."""

    def __init__(self, program: Program) -> None:
        self.table = _with_sources(program)
        self.numbers = {op: number for number, op in enumerate(self.table)}
        self.described: str | None = None
        self.description = _Description(self.numbers)
        with contextlib.suppress(Unknown):
            self.described = _hash([self.description.operation(op) for op in self.table])


class Stored:
    """What stands for one program, which is ordered and no further compiled, in a file: its `address`, None for one that no file is
    kept of, and the operations by number."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.address: str | None = None
        if program.target is not CPU or program.early or len(program.ops) < LEAST and not program.options.verify:
            return
        with collecting_later():
            if program.numbered is None:
                program.numbered = Numbered(program)
            self.table, self.numbers = program.numbered.table, program.numbered.numbers
            with contextlib.suppress(Unknown):
                self.address = self._address(program.numbered)

    def _address(self, numbered: Numbered) -> str | None:
        if numbered.described is None:
            return None
        program, describe = self.program, numbered.description
        known = [(describe.tensor(t), describe.value(v)) for t, v in program.known.items()]
        sized = [(describe.tensor(t), describe.value(v)) for t, v in program.sized.items()]
        given = [(describe.tensor(t), t.dtype.name, shape) for t, shape in program.feeds.items()]
        open_variables = [(self.number(op), shape) for op, shape in program.variable_shapes.items()]
        repeated = None if program.repeated is None else sorted(self.numbers[op] for op in self._known(program.repeated))
        doubted = None if program.doubted is None else sorted(describe.tensor(t) for t in program.doubted if t.op in self.numbers)
        masks = None if program.masked is None else sorted(self.numbers[op] for op in self._known(program.masked.others))
        calls = [(self.number(op), call.outputs and sorted(call.outputs)) for op, call in program.calls.items()]
        parts = (_sources(), sys.version_info[:2], np.__version__, sorted(native.target_key(program.options.compiler).items()),
                 _choices(program.options), numbered.described,
                 hashlib.sha256(np.array([self.numbers[op] for op in program.ops], np.int64).tobytes()).digest(),
                 [describe.tensor(t) for t in program.fetches], [self.number(op) for op in program.targets],
                 [describe.tensor(t) for t in program.contrary], given, known, sized, open_variables, repeated, masks, doubted,
                 calls)
        return _hash(parts)

    def number(self, op: Operation) -> int:
        return _number(self.numbers, op)

    def _known(self, ops: Iterable[Operation]) -> set[Operation]:
        return {op for op in ops if op in self.numbers}

    def dump(self) -> bytes | None:
        """The compiled program as bytes, None for one that has something in it that they cannot tell."""
        program, buffer = self.program, io.BytesIO()
        writer = _Writer(buffer, self)
        looked_at = (*program.feeds, *program.sized, *program.live, *program.pins)
        described = {t: program.infos[t] for t in looked_at if t in program.infos}
        try:
            with collecting_later():
                ops, rest = ([self.number(op) for op in some] for some in (program.ops, program.rest))
                writer.dump(([getattr(program, name) for name in MADE], ops, rest, described, program.nodes,
                             self._known(program.repeated or ()), {t for t in program.doubted or () if t.op in self.numbers},
                             program.masked))
                done = 0
                while done < len(writer.nodes):
                    writer.dump(_content(writer.nodes[done]))
                    done += 1
                head = pickle.dumps([len(node.outputs) for node in writer.nodes])
        except (Unknown, pickle.PicklingError, TypeError, AttributeError, RuntimeError):    # the last: changed on the way
            return None
        data = zlib.compress(head + buffer.getvalue(), 1)
        return data if len(data) <= MOST else None

    def restore(self, data: bytes) -> Program | None:
        """The program with what the passes made of it, None if the bytes do not tell it."""
        program = self.program
        try:
            with collecting_later():
                file = io.BytesIO(zlib.decompress(data))
                reader = _Reader(file, self, [_blank(count) for count in pickle.load(file)])
                made, ops, rest, infos, nodes, repeated, doubted, masked = reader.load()
                for node in reader.nodes:
                    _fill(node, *reader.load())
        except (pickle.UnpicklingError, zlib.error, EOFError, AttributeError, ImportError, LookupError, TypeError, ValueError):
            return None
        for name, value in zip(MADE, made):
            setattr(program, name, value)
        program.ops, program.rest = ([self.table[number] for number in some] for some in (ops, rest))
        program.nodes, program.repeated, program.doubted, program.masked = nodes, repeated, doubted, masked
        program.infos = infos
        return program


def _hash(things: Any) -> str:
    return hashlib.sha256(repr(things).encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _with_sources(program: Program) -> list[Operation]:
    """The program's operations, and all that they and what it is asked for and given are made of."""
    found = dict.fromkeys(program.ops)
    others = [t.op for t in (*program.feeds, *program.known, *program.sized, *program.contrary, *program.fetches)]
    waiting = [*program.variable_shapes, *program.targets, *reversed(others), *reversed(program.ops)]
    seen = set(waiting)
    while waiting:
        op = waiting.pop()
        found[op] = None
        before = [t.op for t in op.inputs]
        if is_variable(op):
            stands_for_it = variable_of(op.outputs[0])
            before += [stands_for_it] if stands_for_it is not None else []
        for source in before:
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    return list(found)


class _Description:
    """What the passes can see of operations, as values whose `repr` tells all of it."""

    def __init__(self, numbers: dict[Operation, int]) -> None:
        self.numbers = dict(numbers)            # and, below, those of functions
        self.functions: dict[int, int] = {}     # by id

    def tensor(self, tensor: Tensor) -> tuple[int, int]:
        return _number(self.numbers, tensor.op), tensor.value_index

    def operation(self, op: Operation) -> tuple[Any, ...]:
        # a token names a function of this process, perhaps another one in the next: kernels may be made of what that says
        if op.opdef is None or "token" in op.attrs and op.opdef.lower is not None:
            raise Unknown(op.type)
        numbers = self.numbers
        stands_for_it = variable_of(op.outputs[0]) if is_variable(op) else None
        return (op.type, op.name, op._id, op._device, [self.tensor(t) for t in op.inputs],
                [numbers.get(c, -1) for c in op.control_inputs],
                [(t.dtype.name, t.dtype._is_ref_dtype, t._shape) for t in op.outputs],
                self.named(op.attrs), op.annotations and self.named(op.annotations),
                None if stands_for_it is None else numbers.get(stands_for_it, stands_for_it.name),
                op.type == "Identity" and is_implicit_read(op))

    def named(self, values: dict[str, Any]) -> list[tuple[str, Any]]:
        """Attributes by name, for a graph that is read from a file has them in an order that differs from process to process."""
        return [(name, self.value(values[name])) for name in sorted(values)]

    def value(self, value: Any) -> Any:
        """An attribute's value, or a number that is known."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            return value
        if isinstance(value, DType):
            return "dtype", value.name, value._is_ref_dtype
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        if isinstance(value, TensorShape):
            return "shape", value._raw
        if isinstance(value, (np.ndarray, np.generic)):
            return self._array(np.asarray(value))
        if isinstance(value, dict):
            return "dict", [(self.value(k), self.value(v)) for k, v in value.items()]
        if isinstance(value, Graph):
            return self._function(value)
        raise Unknown(type(value).__name__)

    def _array(self, array: np.ndarray) -> tuple[Any, ...]:
        if array.dtype == object:
            return "objects", array.shape, [self.value(item) for item in array.ravel().tolist()]
        if array.nbytes < LARGE:
            return "array", array.dtype.str, array.shape, array.tobytes()
        return "array", array.dtype.str, array.shape, hashlib.blake2b(np.ascontiguousarray(array).data.cast("B")).digest()

    def _function(self, function: Any) -> tuple[Any, ...]:
        if not getattr(function, "building_function", False):
            raise Unknown("a graph")
        if id(function) in self.functions:
            return "function", self.functions[id(function)]
        self.functions[id(function)] = len(self.functions)
        ops = function.get_operations()
        for op in ops:
            self.numbers[op] = len(self.numbers)
        return ("function", [self.operation(op) for op in ops], [self.tensor(t) for t in function.inputs],
                [self.tensor(t) for t in function.outputs], [self.numbers.get(op, -1) for op in function.control_outputs])


def _choices(options: Options) -> list[tuple[str, Any]]:
    """Those of the options that change what is compiled."""
    found = ((field.name, getattr(options, field.name)) for field in dataclasses.fields(options) if field.name != "verify")
    return [(name, sorted(value) if isinstance(value, frozenset) else value) for name, value in found]


@functools.cache
def _sources() -> str:
    """What tells versions of the compiler and of the operations apart: a hash of names, sizes and times of the source files."""
    import jitgraph
    from jitgraph import compiler

    found, waiting = [], [*jitgraph.__path__, *compiler.__path__]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    waiting.append(entry.path)
                elif entry.name.endswith(".py"):
                    state = entry.stat()
                    found.append((entry.name, state.st_size, state.st_mtime_ns))
    return _hash(sorted(found))


# in the file ---------------------------------------------------------------------------------------------------------
class _Writer(pickle.Pickler):
    """Writes what is the graph's, or the program's own, as a call of what finds it in `_Reader`; `nodes`: the primitives met so
    far, in order."""

    def __init__(self, file: io.BytesIO, stored: Stored) -> None:
        super().__init__(file, protocol=5)
        self.number, self.nodes = stored.number, list[Node]()
        self.places: dict[Node, int] = {}
        self.constants = {id(op.attrs["value"]): number for number, op in enumerate(stored.table)
                          if op.type == "Const" and op.attrs["value"].nbytes >= LARGE}

    def reducer_override(self, thing: Any) -> Any:
        find = _FOUND.get(type(thing))
        if find is not None:
            return find(self, thing)
        if isinstance(thing, Call):
            return _Reader.call, (thing.op, thing.outputs)
        if isinstance(thing, (Target, Graph)):
            raise Unknown(type(thing).__name__)
        return NotImplemented

    def _node(self, found: Node) -> Any:
        place = self.places.get(found)
        if place is None:
            place = self.places[found] = len(self.nodes)
            self.nodes.append(found)
        return _Reader.node, (place,)

    def _value(self, found: Value) -> Any:
        if found.node.outputs[found.index] is not found:
            raise Unknown("a value that is no output")
        return _Reader.value, (*self._node(found.node)[1], found.index)

    def _operation(self, op: Operation) -> Any:
        return _Reader.operation, (self.number(op),)

    def _tensor(self, found: Tensor) -> Any:
        return _Reader.tensor, (self.number(found.op), found.value_index)

    def _array(self, array: np.ndarray) -> Any:
        number = self.constants.get(id(array))
        return NotImplemented if number is None else (_Reader.constant, (number,))

    def _function(self, function: types.FunctionType) -> Any:
        if not (function.__module__ or "").startswith(("jitgraph.", "numpy")):
            raise Unknown(function.__qualname__)
        return NotImplemented

    def _builder(self, builder: Builder) -> Any:
        return _Reader.builder, ()

    def _options(self, found: Options) -> Any:
        return _Reader.options, ()


_FOUND: dict[type, Any] = {
    Node: _Writer._node, Value: _Writer._value, Operation: _Writer._operation, Tensor: _Writer._tensor, np.ndarray: _Writer._array,
    types.FunctionType: _Writer._function, Builder: _Writer._builder, Options: _Writer._options}


class _Reader(pickle.Unpickler):
    """Reads what `_Writer` writes; `nodes`: those in the file, which are filled in later."""

    def __init__(self, file: io.BytesIO, stored: Stored, nodes: list[Node]) -> None:
        super().__init__(file)
        self.stored, self.nodes = stored, nodes

    def find_class(self, module: str, name: str) -> Any:
        if module == __name__:
            return getattr(self, name.rpartition(".")[2])
        if module.partition(".")[0] not in ("jitgraph", "numpy", "ml_dtypes") and (module, name) not in NAMED:
            raise pickle.UnpicklingError(f"{module}.{name} is nothing that a program names")
        return super().find_class(module, name)

    def node(self, place: int) -> Node:
        return self.nodes[place]

    def value(self, place: int, index: int) -> Value:
        return self.nodes[place].outputs[index]

    def operation(self, number: int) -> Operation:
        return self.stored.table[number]

    def tensor(self, number: int, index: int) -> Tensor:
        return self.stored.table[number].outputs[index]

    def constant(self, number: int) -> np.ndarray:
        return self.stored.table[number].attrs["value"]

    def call(self, op: Operation, outputs: frozenset[int] | None) -> Call:
        return divided(op, outputs, self.stored.program.options)

    def options(self) -> Options:
        return self.stored.program.options

    def builder(self) -> None:
        """That of values at which no pass will look any more."""


def _blank(outputs: int) -> Node:
    node = Node.__new__(Node)
    node.outputs = [Value.__new__(Value) for _ in range(outputs)]
    return node


def _content(node: Node) -> tuple[Any, ...]:
    return (node.id, node.kind, node.inputs, node.attrs, node.op, node.position, node.after,
            [(value.shape, value.dtype) for value in node.outputs])


def _fill(node: Node, id: int, kind: Any, inputs: list[Value], attrs: dict[str, Any], op: Operation | None, position: int,
          after: list[Node], outputs: Sequence[tuple[Any, DType]]) -> None:
    node.id, node.kind, node.inputs, node.attrs, node.op, node.position, node.after = id, kind, inputs, attrs, op, position, after
    for index, (value, (shape, dtype)) in enumerate(zip(node.outputs, outputs)):
        value.__init__(node, index, shape, dtype, None)     # type: ignore[misc, arg-type]
