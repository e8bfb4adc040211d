"""Kernel text -> LLVM instructions.

A kernel's text is Python, and Numba compiles it; but it is very little of Python: numbers and pointers with known types,
`for` over ranges, `while`, `if`, and names that are instructions already.  Written straight into LLVM's hands it takes a
tenth of the time that Numba's type inference takes, and Numba need not be imported.  The meaning is Numba's: integers
narrower than 64 bits become 64 bits wide in arithmetic, the type of a variable is that of its first value.

What is not in this subset raises `Untranslatable`.
"""
from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from jitgraph.graph.syntax import parse

from ..kernel import CODES, LITERAL_EXTENT
from .instruction import Instruction, is_float, is_signed, llvm_type
from .words import counted, mark_loop

CASTS = tuple(code for code in CODES.values() if code != "b1")
I64 = ir.IntType(64)


class Untranslatable(Exception):
    """The text holds something that is not in the subset."""


@dataclass
class Typed:
    """A value: an LLVM value of the type `code`, or (code "literal") a Python integer, which takes the type it meets."""

    code: str
    value: Any


def translate(source: str, name: str, codes: list[str], symbol: str, names: dict[str, Instruction]) -> ir.Module:
    """The module of the kernel `name(*buffers, sizes, begin, end)`, with its buffers' dtype codes, as the function

        int64 symbol(int64 *buffers, int64 *sizes, int64 begin, int64 end)
    """
    module = ir.Module(symbol)
    definition = parse(source).body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise Untranslatable("no function")
    types = [llvm_type(code + "*") for code in codes] + [I64.as_pointer(), I64, I64]
    function = ir.Function(module, ir.FunctionType(I64, types), f"{symbol}.{name}")
    function.linkage = "internal"
    for argument in function.args[:len(codes) + 1]:
        argument.add_attribute("noalias")           # LLVM may then reorder loads and stores of different buffers
    given = [*(code + "*" for code in codes), "i64*", "i64", "i64"]
    translator = _Translator(function, names)
    assigned = {n.id for n in ast.walk(definition) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for argument, code, value in zip(definition.args.args, given, function.args):
        translator.variables[argument.arg] = _Variable(code, None, value)
        if argument.arg in assigned:                # it has a place from the start: a loop may read it before it assigns it
            translator.assign(argument.arg, Typed(code, value))
    translator.block(definition.body)
    if not translator.b.block.is_terminated:
        translator.b.unreachable()
    if not translator.unrolls:                      # put into its entry, it is optimised twice; unrolled loops gain by that
        function.attributes.add("noinline")
    _write_entry(module, symbol, function)
    return module


def _write_entry(module: ir.Module, symbol: str, kernel: ir.Function) -> None:
    """The function that all kernels have in common: it takes the buffers' addresses from an array."""
    pointer = I64.as_pointer()
    entry = ir.Function(module, ir.FunctionType(I64, [pointer, pointer, I64, I64]), symbol)
    for attribute in kernel.attributes:             # LLVM may put the kernel into this function
        entry.attributes.add(attribute)
    b = ir.IRBuilder(entry.append_basic_block())
    buffers, *others = entry.args
    kinds = [a.type for a in kernel.args[:-3]]
    addresses = [b.inttoptr(b.load(b.gep(buffers, [I64(k)])), kind) for k, kind in enumerate(kinds)]
    b.ret(b.call(kernel, [*addresses, *others]))


def _literal_extent(arguments: list[ast.expr]) -> int | None:
    """How many iterations a loop over range(*arguments) has, where the text says so."""
    bounds = [a.value for a in arguments if isinstance(a, ast.Constant) and isinstance(a.value, int)]
    return len(range(*bounds)) if len(bounds) == len(arguments) else None


def _carries(body: list[ast.stmt]) -> bool:
    """Whether an iteration reads a number before it gives it a value: it waits for the one before, as those of a sum do."""
    names = [n for statement in body for n in ast.walk(statement) if isinstance(n, ast.Name)]
    stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    given: set[str] = set()
    for statement in body:
        read = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            read.add(statement.target.id)
        if (read & stored) - given:
            return True
        if isinstance(statement, ast.Assign):
            given |= {n.id for target in statement.targets for n in ast.walk(target)
                      if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return False


@dataclass
class _Variable:
    """A local variable in memory (LLVM keeps it in a register), or an argument, which has a value until it is assigned."""

    code: str
    place: Any
    value: Any = None


class _Translator:
    """Writes one function; a method `stmt_X` or `expr_X` for every node X of Python's syntax in the subset."""

    def __init__(self, function: ir.Function, names: dict[str, Instruction]):
        self.names = names
        self.variables: dict[str, _Variable] = {}
        self.unrolls = False                        # whether some loop is written out
        self.entry = function.append_basic_block("entry")
        self.b = ir.IRBuilder(function.append_basic_block("start"))
        with self.b.goto_block(self.entry):
            self.b.branch(self.b.function.blocks[1])
        self.loops: list[tuple[ir.Block, ir.Block]] = []      # (block for continue, block for break) of the loops around

    # statements ------------------------------------------------------------------------------------------------
    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self.b.block.is_terminated:          # after a break or a return
                return
            self._method("stmt", statement)(statement)

    def _method(self, prefix: str, node: Any) -> Callable[[Any], Any]:
        method = getattr(self, f"{prefix}_{type(node).__name__}", None)
        if method is None:
            raise Untranslatable(type(node).__name__)
        return method

    def stmt_Assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        if not isinstance(target, ast.Tuple):
            self._assign(target, self.expression(node.value))
            return
        if not isinstance(node.value, ast.Tuple):
            raise Untranslatable(ast.unparse(node))
        values = [self.expression(e) for e in node.value.elts]
        for one, value in zip(target.elts, values):
            self._assign(one, value)

    def stmt_AugAssign(self, node: ast.AugAssign) -> None:
        old = self._load(node.target) if isinstance(node.target, ast.Subscript) else self.expr_Name(node.target)
        self._assign(node.target, self._binary(node.op, old, self.expression(node.value), node))

    def _assign(self, target: Any, value: Typed) -> None:
        if isinstance(target, ast.Subscript):
            place, code = self._element(target)
            self.b.store(self._stored(value, code), place)
            return
        self.assign(target.id, self._definite(value))

    def assign(self, name: str, value: Typed) -> None:
        """Gives a variable a value; its type is that of the first."""
        variable = self.variables.setdefault(name, _Variable(value.code, None))
        if variable.code != value.code:
            raise Untranslatable(f"{name} is {variable.code} and becomes {value.code}")
        if variable.place is None:
            with self.b.goto_block(self.entry):
                self.b.position_before(self.entry.terminator)
                variable.place = self.b.alloca(llvm_type(value.code))
        self.b.store(value.value, variable.place)

    def _stored(self, value: Typed, code: str) -> Any:
        if value.code == "literal" and not is_float(code):
            return llvm_type(code)(value.value)
        if value.code != code and (value.code == "b1" or is_float(value.code) != is_float(code)):
            raise Untranslatable(f"{value.code} is stored as {code}")
        return self._cast(value, code).value

    def stmt_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):        # a docstring
            self.expression(node.value)

    def stmt_Return(self, node: ast.Return) -> None:
        self.b.ret(self._cast(self._definite(self.expression(node.value)), "i64").value)

    def stmt_If(self, node: ast.If) -> None:
        then, other, after = (self.b.append_basic_block(name) for name in ("then", "else", "after"))
        self.b.cbranch(self._truth(self.expression(node.test)), then, other)
        for block, statements in ((then, node.body), (other, node.orelse)):
            self.b.position_at_end(block)
            self.block(statements)
            if not self.b.block.is_terminated:
                self.b.branch(after)
        self.b.position_at_end(after)

    def stmt_While(self, node: ast.While) -> None:
        if node.orelse:
            raise Untranslatable("else after a loop")
        head, body, after = (self.b.append_basic_block(name) for name in ("while", "body", "after"))
        self.b.branch(head)
        self.b.position_at_end(head)
        self.b.cbranch(self._truth(self.expression(node.test)), body, after)
        self.b.position_at_end(body)
        self._body(node.body, head, after)
        if not self.b.block.is_terminated:
            self.b.branch(head)
        self.b.position_at_end(after)

    def stmt_For(self, node: ast.For) -> None:
        if not (isinstance(node.iter, ast.Call) and getattr(node.iter.func, "id", "") == "range" and not node.orelse):
            raise Untranslatable(ast.unparse(node))
        bounds = [self._word(self.expression(a)) for a in node.iter.args]
        start, stop = (I64(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else I64(1)
        with counted(self.b, start, stop, step) as (index, following, after):
            self._assign(node.target, Typed("i64", index))
            self._body(node.body, following, after)
        if not any(isinstance(n, (ast.For, ast.While)) for s in node.body for n in ast.walk(s)):
            extent, carries = _literal_extent(node.iter.args), _carries(node.body)
            if extent is not None and extent <= LITERAL_EXTENT and carries:
                mark_loop(following.terminator, "unroll.full")
                self.unrolls = True
            elif extent is None and not carries:
                mark_loop(following.terminator, "interleave.count", 1)

    def _body(self, statements: list[ast.stmt], again: ir.Block, after: ir.Block) -> None:
        self.loops.append((again, after))
        self.block(statements)
        self.loops.pop()

    def stmt_Break(self, node: ast.Break) -> None:
        self.b.branch(self.loops[-1][1])

    def stmt_Continue(self, node: ast.Continue) -> None:
        self.b.branch(self.loops[-1][0])

    def stmt_Pass(self, node: ast.Pass) -> None:
        pass

    # expressions -----------------------------------------------------------------------------------------------
    def expression(self, node: Any) -> Typed:
        return self._method("expr", node)(node)

    def expr_Constant(self, node: ast.Constant) -> Typed:
        if isinstance(node.value, bool):
            return Typed("b1", ir.IntType(1)(node.value))
        if isinstance(node.value, int):
            return Typed("literal", node.value)
        if isinstance(node.value, float):
            return Typed("f64", ir.DoubleType()(node.value))
        raise Untranslatable(ast.unparse(node))

    def expr_Name(self, node: Any) -> Typed:
        variable = self.variables.get(node.id)
        if variable is None:
            raise Untranslatable(f"unknown name {node.id}")
        return Typed(variable.code, variable.value if variable.place is None else self.b.load(variable.place))

    def expr_Subscript(self, node: ast.Subscript) -> Typed:
        return self._load(node)

    def _load(self, node: ast.Subscript) -> Typed:
        place, code = self._element(node)
        return Typed(code, self.b.load(place))

    def _element(self, node: ast.Subscript) -> tuple[ir.Value, str]:
        array = self.expression(node.value)
        if not array.code.endswith("*"):
            raise Untranslatable(ast.unparse(node))
        return self.b.gep(array.value, [self._word(self.expression(node.slice))]), array.code[:-1]

    def expr_BinOp(self, node: ast.BinOp) -> Typed:
        return self._binary(node.op, self.expression(node.left), self.expression(node.right), node)

    def expr_UnaryOp(self, node: ast.UnaryOp) -> Typed:
        value = self.expression(node.operand)
        if isinstance(node.op, ast.USub):
            if value.code == "literal":
                return Typed("literal", -value.value)
            if is_float(value.code):
                return Typed(value.code, self.b.fneg(value.value))
            value = self._wide(value)
            return Typed(value.code, self.b.neg(value.value))
        if isinstance(node.op, ast.Invert) and value.code != "b1":
            value = self._wide(value)
            return Typed(value.code, self.b.not_(value.value))
        raise Untranslatable(ast.unparse(node))

    def expr_Compare(self, node: ast.Compare) -> Typed:
        if len(node.ops) != 1:
            raise Untranslatable(ast.unparse(node))
        sign = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}.get(type(node.ops[0]))
        a, b = self.expression(node.left), self.expression(node.comparators[0])
        if sign is None:
            raise Untranslatable(ast.unparse(node))
        a, b = self._alike(a, b, node)
        if is_float(a.code):
            compare = self.b.fcmp_unordered if sign == "!=" else self.b.fcmp_ordered
        else:
            compare = self.b.icmp_signed if is_signed(a.code) else self.b.icmp_unsigned
        return Typed("b1", compare(sign, a.value, b.value))

    def _alike(self, a: Typed, b: Typed, node: ast.AST) -> tuple[Typed, Typed]:
        """Two numbers as one type in which comparing them means what it means to mathematicians."""
        if a.code == "literal" and b.code != "literal":
            b, a = self._alike(b, a, node)
        elif b.code == "literal" and a.code != "literal" and a.code != "b1" and (b.value >= 0 or a.code[0] != "u"):
            if not is_float(a.code):
                a = self._wide(a)
            b = Typed(a.code, llvm_type(a.code)(float(b.value) if is_float(a.code) else b.value))
        elif a.code != b.code:
            a, b = self._definite(a), self._definite(b)
            if is_float(a.code) or is_float(b.code):
                raise Untranslatable(ast.unparse(node))
            a, b = self._wide(a), self._wide(b)
            if a.code != b.code:
                raise Untranslatable(ast.unparse(node))
        else:
            a, b = self._definite(a), self._definite(b)
        return a, b

    def expr_Call(self, node: ast.Call) -> Typed:
        name = getattr(node.func, "id", "")
        arguments = [self.expression(a) for a in node.args]
        if name in CASTS and len(arguments) == 1:
            return self._cast(arguments[0], name)
        arguments = [self._definite(a) for a in arguments]
        instruction = self.names.get(name)
        found = None
        if instruction is not None and instruction.arity == len(arguments) and not node.keywords:
            found = instruction.typed(*(a.code for a in arguments))
        if instruction is None or found is None:
            raise Untranslatable(f"{ast.unparse(node)} of {', '.join(a.code for a in arguments)}")
        code, write = found
        if instruction.heavy:
            self.b.function.attributes.add("optsize")
        return Typed(code, write(self.b, *(a.value for a in arguments)))

    # numbers ---------------------------------------------------------------------------------------------------
    def _binary(self, op: ast.operator, a: Typed, b: Typed, node: ast.AST) -> Typed:
        kind = type(op)
        if a.code == b.code == "literal" and kind in _ON_LITERALS:
            return Typed("literal", _ON_LITERALS[kind](a.value, b.value))
        if kind in (ast.Mod, ast.FloorDiv) and b.code == "literal" and b.value > 0:
            a = self._wide(self._definite(a))
            rest = self._modulo(a, b.value)
            return rest if kind is ast.Mod else self._quotient(a, rest, b.value)
        a, b = self._definite(a), self._definite(b)
        if a.code == b.code and is_float(a.code) and kind in _ON_FLOATS:
            return Typed(a.code, getattr(self.b, _ON_FLOATS[kind])(a.value, b.value))
        if a.code == b.code == "b1" and kind in _ON_BITS:
            return Typed("b1", getattr(self.b, _ON_BITS[kind])(a.value, b.value))
        if a.code in ("b1", "") or b.code in ("b1", "") or a.code[0] not in "iu" or b.code[0] not in "iu":
            raise Untranslatable(ast.unparse(node))
        if kind is ast.Div:
            return Typed("f64", self.b.fdiv(self._cast(a, "f64").value, self._cast(b, "f64").value))
        a, b = self._wide(a), self._wide(b)
        if kind in _SHIFTS:
            name = "shl" if kind is ast.LShift else "ashr" if is_signed(a.code) else "lshr"
            return Typed(a.code, getattr(self.b, name)(a.value, b.value))
        if a.code != b.code or kind not in {**_ON_INTEGERS, **_ON_BITS}:
            raise Untranslatable(ast.unparse(node))
        return Typed(a.code, getattr(self.b, {**_ON_INTEGERS, **_ON_BITS}[kind])(a.value, b.value))

    def _modulo(self, a: Typed, divisor: int) -> Typed:
        """The remainder with the sign of the divisor, as Python has it."""
        b, n = self.b, a.value.type(divisor)
        if not is_signed(a.code):
            return Typed(a.code, b.urem(a.value, n))
        rest = b.srem(a.value, n)
        return Typed(a.code, b.select(b.icmp_signed("<", rest, rest.type(0)), b.add(rest, n), rest))

    def _quotient(self, a: Typed, rest: Typed, divisor: int) -> Typed:
        """The quotient that belongs to such a remainder."""
        divide = self.b.sdiv if is_signed(a.code) else self.b.udiv
        return Typed(a.code, divide(self.b.sub(a.value, rest.value), a.value.type(divisor)))

    def _definite(self, value: Typed) -> Typed:
        """A value whose type is settled: literals become int64."""
        return Typed("i64", I64(value.value)) if value.code == "literal" else value

    def _wide(self, value: Typed) -> Typed:
        """An integer in 64 bits, as Numba computes with it: int64 but for what is unsigned."""
        if value.code not in CASTS or is_float(value.code):
            raise Untranslatable(f"arithmetic on {value.code}")
        return self._cast(value, "u64" if value.code[0] == "u" else "i64")

    def _word(self, value: Typed) -> Any:
        value = self._definite(value)
        if value.code[0] not in "iu" or value.code.endswith("*"):
            raise Untranslatable(f"an index of type {value.code}")
        return self._cast(value, "i64").value

    def _truth(self, value: Typed) -> Any:
        if value.code == "b1":
            return value.value
        raise Untranslatable(f"a condition of type {value.code}")

    def _cast(self, value: Typed, code: str) -> Typed:
        """Conversion as C does it."""
        if value.code == code:
            return value
        kind = llvm_type(code)
        if value.code == "literal":
            return Typed(code, kind(float(value.value) if is_float(code) else value.value))
        if value.code not in (*CASTS, "b1"):
            raise Untranslatable(f"{value.code} as {code}")
        b, x = self.b, value.value
        if is_float(value.code) and is_float(code):
            return Typed(code, b.fpext(x, kind) if code == "f64" else b.fptrunc(x, kind))
        if is_float(value.code):
            return Typed(code, b.fptosi(x, kind) if is_signed(code) else b.fptoui(x, kind))
        if is_float(code):
            return Typed(code, b.sitofp(x, kind) if is_signed(value.code) else b.uitofp(x, kind))
        if x.type.width >= kind.width:
            return Typed(code, b.trunc(x, kind) if x.type.width > kind.width else x)
        return Typed(code, b.sext(x, kind) if is_signed(value.code) else b.zext(x, kind))


_ON_FLOATS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_ON_INTEGERS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_ON_BITS = {ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}
_SHIFTS = (ast.LShift, ast.RShift)
_ON_LITERALS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Mod: lambda a, b: a % b,
    ast.FloorDiv: lambda a, b: a // b}
