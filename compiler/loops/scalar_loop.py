"""Loops over scalars as one kernel: a While whose condition and body are elementwise becomes a Python `while`.

All variables live in registers.  Branches and inner loops inside become `if` and `while` too.  A kernel works off a
number of iterations at most, so that Python gets a chance to react to signals, and says how it ended (see ENDED ...).

Where a few iterations bring integers into a range in which a remainder needs no division, whatever they were before
(after `b = (a + b) % m`, b is in [0, m)), these iterations come first, and then a loop that makes use of it.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jitgraph.control.frames.structure import FRAME_OPS
from jitgraph.declare.prim import CHECKED
from jitgraph.graph.build import group_inputs
from jitgraph.graph.calls import bodies
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.function_graph import BRANCHING, CALLS, FunctionGraph, is_state
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from .. import ranges
from ..builder import Builder
from ..emit import scalars
from ..ir import Node, Value
from ..kernel import CODES, DTYPE_NAMES, Kernel, Param, Statement
from ..order import body_variables, order, variable_of
from ..primitives.elementwise import CAST, MAP
from ..primitives.memory import CONST, INPUT
from ..program import Program
from ..prune import prune

ENDED, UNFINISHED, GAVE_UP = 0, 1, 2        # what a kernel returns; it gives up at an iteration that would fail
SETTLED = 3             # in a kernel: integers are in their ranges
SETTLING = 4            # iterations after which they are, at most
LARGEST = 400           # statements
DIVISIONS = CHECKED - {"pow"}
DTYPES = {code: as_dtype(name) for code, name in DTYPE_NAMES.items()}


class NotScalar(Exception):
    """The loop holds something that is no elementwise operation on scalars."""


class ScalarLoop(NamedTuple):
    """A kernel of one value in each buffer.  Buffers: one per input of the While (variables are updated in place), then one per
    entry of `constants`."""

    kernel: Kernel
    constants: list[np.ndarray]

    @property
    def codes(self) -> list[str]:
        """The dtype code of every buffer."""
        return [param.dtype for param in self.kernel.params]


def scalar_loop(op: Operation) -> ScalarLoop | None:
    """The kernel of a While, or None if its functions are not made of elementwise operations on scalars."""
    if any(writes for _, writes in body_variables(op)):
        return None
    try:
        return _Writer(op).write()
    except NotScalar:
        return None


class _Writer:
    def __init__(self, op: Operation) -> None:
        self.op, self.depth, self.count = op, 1, 0
        self.lines: list[str] = []
        self.constants: list[tuple[np.ndarray, str]] = []      # (value, dtype code)
        self.types: dict[str, str] = {}
        self.ranges: dict[str, tuple[int, int]] = {}        # of integers, as far as they are known
        self.can_fail = False
        self.spared = 0         # divisions

    def write(self) -> ScalarLoop:
        cond, body = bodies(self.op)
        names = [self._name("v", _code(t)) for t in body.inputs]
        codes = [self.types[n] for n in names]
        changes = [k for k, t in enumerate(body.outputs) if t is not body.inputs[k]]
        settled = self._settled(body)
        for name in ("ticks", "err", "code"):
            self.line(f"{name} = i64(0)")
        if settled is None:
            self._iterations(cond, body, names, changes, "end", UNFINISHED)
        else:
            count, found = settled
            self._iterations(cond, body, names, changes, f"smaller(end, {count})", SETTLED)
            self.line(f"if code == {SETTLED}:")
            self.depth += 1
            self.line("code = i64(0)")
            self.ranges.update({name: r for name, r in zip(names, found) if r is not None})
            self._iterations(cond, body, names, changes, "end", UNFINISHED)
            self.depth -= 1
        return self._finish(names, codes, changes)

    def _settled(self, body: FunctionGraph) -> tuple[int, list[ranges.Range]] | None:
        """(number of iterations, ranges of the variables after them), or None where knowing these spares no division."""
        found: list[ranges.Range] = [None] * len(body.inputs)
        for count in range(SETTLING + 1):
            trial = _Writer(self.op)
            names = [trial._name("v", _code(t)) for t in body.inputs]
            trial.ranges.update({name: r for name, r in zip(names, found) if r is not None})
            results = trial._function(body, names)
            if trial.spared:
                return count, found
            before, found = found, [trial.ranges.get(name) for name in results]
            if found == before:         # and so for ever
                break
        return None

    def _iterations(self, cond: FunctionGraph, body: FunctionGraph, names: list[str], changes: list[int], limit: str,
                    code: int) -> None:
        """The loop, up to `limit` iterations, after which it ends with `code`."""
        self.line("while True:")
        self.depth += 1
        holds, = self._function(cond, names)
        self.line(f"if not_({holds}):")
        self.line("    break")
        self.line(f"if ticks >= {limit}:")
        self.line(f"    code = i64({code})")
        self.line("    break")
        self.line("ticks = ticks + i64(1)")
        results = self._function(body, names)
        if self.can_fail:
            self.line("if err != 0:")
            self.line(f"    code = i64({GAVE_UP})")
            self.line("    break")
        self._assign([names[k] for k in changes], [results[k] for k in changes])
        self.depth -= 1

    def _finish(self, names: list[str], codes: list[str], changes: list[int]) -> ScalarLoop:
        buffers = [f"b{k}" for k in range(len(names))]
        fixed = [f"k{k}" for k in range(len(self.constants))]
        head = [f"def scalar_loop({', '.join([*buffers, *fixed])}, sizes, begin, end):"]
        for name, buffer, code in zip(names, buffers, codes):
            head.append(f"    {name} = {buffer}[0]" + (" != 0" if code == "b1" else ""))
        for k, (_, code) in enumerate(self.constants):
            head.append(f"    c{k} = k{k}[0]" + (" != 0" if code == "b1" else ""))
        tail = [f"    b{k}[0] = " + (f"u8({names[k]})" if codes[k] == "b1" else names[k]) for k in changes]
        source = "\n".join([*head, *self.lines, *tail, "    return code", ""])
        params = [Param(buffer, code, "inout") for buffer, code in zip(buffers, codes)]
        params += [Param(buffer, code, "in") for buffer, (_, code) in zip(fixed, self.constants)]
        return ScalarLoop(Kernel("scalar_loop", [], params, name="scalar_loop", source=source), [a for a, _ in self.constants])

    # text ------------------------------------------------------------------------------------------------------
    def line(self, text: str) -> None:
        if len(self.lines) > LARGEST:
            raise NotScalar
        self.lines.append("    " * self.depth + text)

    def _name(self, prefix: str, code: str) -> str:
        name = f"{prefix}{self.count}"
        self.count += 1
        self.types[name] = code
        return name

    def _assign(self, names: list[str], values: list[str]) -> None:
        """names = values, all at once."""
        fresh = [self._name("w", self.types[v]) for v in values]
        for name, value in zip(fresh, values):
            self.line(f"{name} = {value}")
        for name, value in zip(names, fresh):
            self.line(f"{name} = {value}")

    def _constant(self, array: np.ndarray, code: str) -> str:
        for k, (known, known_code) in enumerate(self.constants):
            if known_code == code and known.tobytes() == array.tobytes():
                return f"c{k}"
        self.constants.append((array, code))
        self.types[f"c{len(self.constants) - 1}"] = code
        return f"c{len(self.constants) - 1}"

    # functions -------------------------------------------------------------------------------------------------
    def _function(self, graph: FunctionGraph, arguments: list[str]) -> list[str]:
        """Writes a function for arguments in these names; returns the names of its results."""
        return _Block(self, graph, arguments).write()

    def call(self, op: Operation, arguments: list[str]) -> list[str]:
        """Writes an If, Case or While inside; returns the names of its results."""
        if any(writes for _, writes in body_variables(op)):
            raise NotScalar
        if op.type in BRANCHING:
            return self._branches(op, arguments)
        if op.opdef.type in CALLS:
            return self._function(bodies(op)[0], arguments)
        return self._loop(op, arguments)

    def _branches(self, op: Operation, arguments: list[str]) -> list[str]:
        index, *arguments = arguments
        functions = bodies(op)
        results = [self._name("r", _code(t)) for t in op.outputs]
        for k, function in enumerate(functions):
            if k == len(functions) - 1:
                self.line("else:")
            else:
                test = index if op.type != "Case" else f"{index} == {k}"
                self.line(f"{'if' if k == 0 else 'elif'} {test}:")
            self.depth += 1
            for name, value in zip(results, self._function(function, arguments)):
                self.line(f"{name} = {value}")
            self.depth -= 1
        return results

    def _loop(self, op: Operation, arguments: list[str]) -> list[str]:
        cond, body = bodies(op)
        names = [self._name("u", self.types[a]) for a in arguments]
        for name, value in zip(names, arguments):
            self.line(f"{name} = {value}")
        self.can_fail = True
        self.line("while True:")
        self.depth += 1
        holds, = self._function(cond, names)
        self.line(f"if not_({holds}):")
        self.line("    break")
        self.line("if ticks >= end + end:")         # too long for one go; and after a failure it need not end at all
        self.line("    err = i64(1)")
        self.line("    break")
        self.line("ticks = ticks + i64(1)")
        results = self._function(body, names)
        self._assign(names, results)
        self.depth -= 1
        return names


class _Block:
    """One function of scalars being written: its operations become primitives, each primitive a line."""

    def __init__(self, writer: _Writer, graph: FunctionGraph, arguments: list[str]) -> None:
        self.writer, self.graph = writer, graph
        self.b = Builder()
        self.names: dict[Value, str] = {}               # value -> name
        self.values: dict[Tensor, Value] = {}           # tensor -> value
        for tensor, name in zip(graph.inputs, arguments):
            self.values[tensor] = self._given(name)

    def _given(self, name: str) -> Value:
        value = self.b.node(INPUT, [], [((), DTYPES[self.writer.types[name]])]).out
        self.names[value] = name
        return value

    def write(self) -> list[str]:
        if self.graph.control_outputs:
            raise NotScalar
        program = Program(self.graph, self.graph.outputs, [], dict.fromkeys(self.graph.inputs, ()))
        prune(program)
        while any(outputs is not None for outputs in program.wanted.values()):     # all of them are scalars
            program.targets = list(program.wanted)
            prune(program)
        if any(op.type in FRAME_OPS for op in program.ops):
            raise NotScalar
        order(program)
        for op in program.ops:
            self._operation(op)
        return [self._named(self.values[t]) for t in self.graph.outputs]

    def _operation(self, op: Operation) -> None:
        opdef = op.opdef
        if op.type in ("NoOp", "ControlTrigger") or op.outputs and all(t in self.values for t in op.outputs):
            return
        if opdef is None or any(t._shape != () or t.dtype.base_dtype.name not in CODES for t in op.outputs):
            raise NotScalar
        inputs = [self.values[t] for t in op.inputs]
        if opdef.calls:
            found = self.writer.call(op, [self._named(v) for v in inputs])
            results = [self._given(name) for name in found]
        elif opdef.forwards:
            results = inputs
        elif op.type == "Const":
            results = [self.b.const(op.attrs["value"], op.outputs[0].dtype)]
        else:
            results = self._primitives(op, inputs)
        self.values.update(zip(op.outputs, results))

    def _primitives(self, op: Operation, inputs: list[Value]) -> list[Value]:
        opdef = op.opdef
        function = opdef.scalar or opdef.lower
        if opdef.host or opdef.state or opdef.stateful or opdef.dynamic or function is None or not inputs:
            raise NotScalar
        start, builder = len(self.b.nodes), () if opdef.scalar is not None else (self.b,)
        try:
            results = function(*builder, *group_inputs(opdef, inputs, op.attrs), **opdef.arguments(function, op.attrs))
        except (NotImplementedError, ValueError):
            raise NotScalar from None
        if results is NotImplemented:
            raise NotScalar
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        results = [r if hasattr(r, "node") else self.b.const(r, t.dtype) for r, t in zip(results, op.outputs)]
        for node in self.b.nodes[start:]:
            self._line(node)
        if any(v.shape != () for v in results):
            raise NotScalar
        return results

    def _line(self, node: Node) -> None:
        """Writes one primitive."""
        known_value = node.out.constant
        if known_value is not None and node.kind is CONST and not node.out.rank and known_value.dtype != object:
            return
        if node.kind not in (MAP, CAST) or node.out.shape != () or node.out.dtype.name not in CODES:
            raise NotScalar
        prim = node.attrs["prim"] if node.kind is MAP else "cast"
        args, code = tuple(self._named(v) for v in node.inputs), CODES[node.out.dtype.name]
        writer = self.writer
        if not scalars.supported(prim, writer.types[args[-1]]):
            raise NotScalar
        divisor = node.inputs[1].constant if prim in DIVISIONS and code[0] in "iu" else None
        if divisor is not None and divisor.dtype != object and divisor != 0:
            known = writer._name("d", code)         # to LLVM this division is a multiplication; and it cannot fail
            writer.line(f"{known} = {code}({int(divisor)})")
            args = (args[0], known)
            if self._remainder(node, prim, args, code, int(divisor)):
                return
        elif prim in CHECKED and code[0] in "iu":
            writer.can_fail = True
            if prim != "pow":
                writer.line(f"err |= i64({args[1]} == 0)")
            elif code[0] == "i":
                writer.line(f"err |= i64({args[1]} < 0)")
        name = self.names[node.out] = writer._name("n", code)
        statement = Statement("op", name=name, prim=prim, args=args, dtype=code)
        writer.line(f"{name} = {scalars.expression(statement, writer.types)}")
        found = ranges.of_primitive(prim, [writer.ranges.get(a) for a in args], [writer.types[a] for a in args], code)
        if found is not None:
            writer.ranges[name] = found

    def _remainder(self, node: Node, prim: str, args: tuple[str, ...], code: str, divisor: int) -> bool:
        """Writes a remainder without a division, where the range of the number allows it."""
        writer = self.writer
        writer.ranges[args[1]] = (divisor, divisor)
        known = writer.ranges.get(args[0])
        text = ranges.remainder(prim, known, divisor) if prim in ("floor_mod", "trunc_mod") else None
        if text is None:
            return False
        writer.spared += 1
        name = self.names[node.out] = writer._name("n", code)
        writer.line(f"{name} = {text.format(x=args[0], d=args[1], code=code)}")
        found = ranges.of_primitive(prim, [known, (divisor, divisor)], [code, code], code)
        if found is not None:
            writer.ranges[name] = found
        return True

    def _named(self, value: Value) -> str:
        name = self.names.get(value)
        if name is None:
            known = value.constant
            if known is None or value.node.kind is not CONST or value.rank or known.dtype == object:
                raise NotScalar
            code = CODES.get(value.dtype.name)
            if code is None:
                raise NotScalar
            array: np.ndarray = np.asarray(known, value.dtype.as_numpy_dtype)
            name = self.names[value] = self.writer._constant(array, code)
            if code[0] in "iu":
                self.writer.ranges[name] = (int(array), int(array))
        return name


def _code(tensor: Tensor) -> str:
    """The dtype code of a scalar, or of the scalar variable that a tensor stands for."""
    variable = variable_of(tensor) if is_state(tensor) else None
    shape = tensor._shape if variable is None else variable.attrs["shape"]
    dtype = tensor.dtype.base_dtype if variable is None else variable.attrs["dtype"].base_dtype
    if shape is None or tuple(shape) != () or dtype.name not in CODES:
        raise NotScalar
    return CODES[dtype.name]
