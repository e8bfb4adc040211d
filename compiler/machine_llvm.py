"""The machine that writes LLVM IR through llvmlite, for CPUs (scalars or vectors) and NVVM."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from .machine_base import ROUND_MAGIC, ROUND_MAGIC_BITS, SIGN_BIT, Machine

if TYPE_CHECKING:
    from llvmlite import ir

VECTOR_LENGTHS = (2, 4, 8, 16)  # lanes for which functions of `rarely` have a vector form


class Value:
    """An LLVM value with operators, so that elementary functions read like arithmetic. `ir`: the llvmlite value."""

    __slots__ = ("machine", "ir")
    __array_ufunc__ = None

    def __init__(self, machine: LLVMMachine, ir: ir.Value) -> None:
        self.machine = machine
        self.ir = ir

    def _binary(self, other: Operand, float_name: str | None, int_name: str | None, swap: bool = False) -> Value:
        m = self.machine
        a, b = self.ir, m.operand(other, self.ir.type)
        if swap:
            a, b = b, a
        if not m.is_float(self.ir.type):
            assert int_name is not None
            return Value(m, getattr(m.builder, int_name)(a, b))
        assert float_name is not None
        if m.gpu and float_name == "fmul":
            return m.gpu_product(a, b)
        return Value(m, getattr(m.builder, float_name)(a, b))

    def __add__(self, other: Operand) -> Value:
        return self._binary(other, "fadd", "add")

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Value:
        return self._binary(other, "fsub", "sub")

    def __rsub__(self, other: Operand) -> Value:
        return self._binary(other, "fsub", "sub", swap=True)

    def __mul__(self, other: Operand) -> Value:
        return self._binary(other, "fmul", "mul")

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Value:
        return self._binary(other, "fdiv", None)

    def __rtruediv__(self, other: Operand) -> Value:
        return self._binary(other, "fdiv", None, swap=True)

    def __and__(self, other: Operand) -> Value:
        return self._binary(other, None, "and_")

    __rand__ = __and__

    def __or__(self, other: Operand) -> Value:
        return self._binary(other, None, "or_")

    __ror__ = __or__

    def __xor__(self, other: Operand) -> Value:
        return self._binary(other, None, "xor")

    __rxor__ = __xor__

    def __lshift__(self, other: Operand) -> Value:
        return self._binary(other, None, "shl")

    def __rlshift__(self, other: Operand) -> Value:
        return self._binary(other, None, "shl", swap=True)

    def __neg__(self) -> Value:
        m = self.machine
        if not m.is_float(self.ir.type):
            return Value(m, m.builder.neg(self.ir))
        if m.gpu:  # NVVM's dialect of LLVM 7 has no fneg instruction
            return -0.0 - self
        return Value(m, m.builder.fneg(self.ir))

    def __invert__(self) -> Value:
        return Value(self.machine, self.machine.builder.not_(self.ir))


Operand = Value | float                  # a Python number takes the type of the value beside it


class LLVMMachine(Machine):
    """Writes LLVM IR at an llvmlite builder's place. Values are `Value`s; `machine.value(ir_value)` makes one.

    Float types are float, double, or vectors of them. `has_fma`: the target has fused multiply-add instructions
    (without, llvm.fma would become a libm call, so mul and add are written). `has_ldexp`: one that multiplies by a power
    of two, in vectors too. `gpu`: the IR is for NVVM, whose dialect
    lacks llvm.rint, llvm.fabs and fneg, and which may not be left free to fuse multiplications.
    """

    def __init__(self, builder: ir.IRBuilder, has_fma: bool = True, gpu: bool = False, has_ldexp: bool = False) -> None:
        from llvmlite import ir

        self.ir = ir
        self.builder = builder
        self.has_fma = has_fma
        self.has_ldexp = has_ldexp
        self.gpu = gpu

    def value(self, ir_value: ir.Value) -> Value:
        return Value(self, ir_value)

    # types

    def _element(self, type_: ir.Type) -> ir.Type:
        return type_.element if isinstance(type_, self.ir.VectorType) else type_

    def _like(self, element: ir.Type, type_: ir.Type) -> ir.Type:
        """`element`, or the vector of it that is as long as `type_`."""
        return self.ir.VectorType(element, type_.count) if isinstance(type_, self.ir.VectorType) else element

    def _float(self, width: int, type_: ir.Type) -> ir.Type:
        return self._like(self.ir.FloatType() if width == 32 else self.ir.DoubleType(), type_)

    def _int(self, width: int, type_: ir.Type) -> ir.Type:
        return self._like(self.ir.IntType(width), type_)

    def is_float(self, type_: ir.Type) -> bool:
        return isinstance(self._element(type_), (self.ir.FloatType, self.ir.DoubleType))

    def width(self, x: Value) -> int:
        return self._width_of(x.ir.type)

    def _width_of(self, type_: ir.Type) -> int:
        element = self._element(type_)
        if isinstance(element, self.ir.IntType):
            return element.width
        return 32 if isinstance(element, self.ir.FloatType) else 64

    def operand(self, value: Operand, type_: ir.Type) -> ir.Value:
        """The llvmlite value of a `Value` or of a Python number, which takes `type_`."""
        if isinstance(value, Value):
            return value.ir
        value = float(value) if self.is_float(type_) else int(value)
        if isinstance(type_, self.ir.VectorType):
            return self.ir.Constant(type_, [self.ir.Constant(type_.element, value)] * type_.count)
        return self.ir.Constant(type_, value)

    def _operands(self, *values: Operand) -> list[ir.Value]:
        type_ = next(v.ir.type for v in values if isinstance(v, Value))
        return [self.operand(v, type_) for v in values]

    # operations

    def const(self, value: float, like: Value) -> Value:
        return self.value(self.operand(value, like.ir.type))

    def _intrinsic(self, name: str, *values: Operand) -> Value:
        operands = self._operands(*values)
        type_ = operands[0].type
        return self._call(f"llvm.{name}.{self._suffix(type_)}", operands)

    def _suffix(self, type_: ir.Type) -> str:
        """How LLVM's functions are named for a type: f32, v16i32 ..."""
        count = f"v{type_.count}" if isinstance(type_, self.ir.VectorType) else ""
        return f"{count}{'f' if self.is_float(type_) else 'i'}{self._width_of(type_)}"

    def _call(self, name: str, operands: list[ir.Value]) -> Value:
        function = self.builder.module.globals.get(name)
        if function is None:
            types = [operand.type for operand in operands]
            function = self.ir.Function(self.builder.module, self.ir.FunctionType(types[0], types), name)
        return self.value(self.builder.call(function, operands))

    def gpu_product(self, a: ir.Value, b: ir.Value) -> Value:
        """a * b that NVVM and ptxas may not join with an addition into an fma: it is rounded as on CPUs."""
        return self._call(f"llvm.nvvm.mul.rn.{'f' if a.type == self.ir.FloatType() else 'd'}", [a, b])

    def fma(self, a: Operand, b: Operand, c: Operand) -> Value:
        if self.has_fma:
            return self._intrinsic("fma", a, b, c)
        x, y, z = self._operands(a, b, c)
        return self.value(self.builder.fadd(self.builder.fmul(x, y), z))

    def ldexp(self, x: Value, n: Value) -> Value:
        n = n if self.width(n) == 32 else self.low(n)
        return self._call(f"llvm.ldexp.{self._suffix(x.ir.type)}.{self._suffix(n.ir.type)}", [x.ir, n.ir])

    def abs(self, x: Value) -> Value:
        # not llvm.fabs, which NVVM rejects; LLVM knows this pattern as one
        return self.from_bits(self.bits(x) & ~SIGN_BIT[self.width(x)])

    def floor(self, x: Value) -> Value:
        return self._intrinsic("floor", x)

    def sqrt(self, x: Value) -> Value:
        return self._intrinsic("sqrt", x)

    def rint(self, x: Value) -> Value:
        if not self.gpu:
            return self._intrinsic("rint", x)
        # Below 2**mantissa the sum with 2**mantissa is rounded to an integer, to even at ties; above, x is one already.
        limit = 8388608.0 if self.width(x) == 32 else 4503599627370496.0
        size = self.abs(x)
        return self.copysign(self.select(self.lt(size, limit), (size + limit) - limit, size), x)

    def _compare(self, operator: str, a: Operand, b: Operand) -> Value:
        x, y = self._operands(a, b)
        if self.is_float(x.type):
            compare = self.builder.fcmp_unordered if operator == "!=" else self.builder.fcmp_ordered
            return self.value(compare(operator, x, y))
        return self.value(self.builder.icmp_signed(operator, x, y))

    def lt(self, a: Operand, b: Operand) -> Value:
        return self._compare("<", a, b)

    def le(self, a: Operand, b: Operand) -> Value:
        return self._compare("<=", a, b)

    def gt(self, a: Operand, b: Operand) -> Value:
        return self._compare(">", a, b)

    def ge(self, a: Operand, b: Operand) -> Value:
        return self._compare(">=", a, b)

    def eq(self, a: Operand, b: Operand) -> Value:
        return self._compare("==", a, b)

    def ne(self, a: Operand, b: Operand) -> Value:
        return self._compare("!=", a, b)

    def isnan(self, x: Value) -> Value:
        return self._compare("!=", x, x)

    def min(self, a: Operand, b: Operand) -> Value:
        return self.select(self.lt(a, b), a, b)

    def max(self, a: Operand, b: Operand) -> Value:
        return self.select(self.gt(a, b), a, b)

    def select(self, c: Value, a: Operand, b: Operand) -> Value:
        return self.value(self.builder.select(c.ir, *self._operands(a, b)))

    def bits(self, x: Value) -> Value:
        return self.value(self.builder.bitcast(x.ir, self._int(self.width(x), x.ir.type)))

    def from_bits(self, i: Value) -> Value:
        return self.value(self.builder.bitcast(i.ir, self._float(self.width(i), i.ir.type)))

    def shr(self, i: Value, n: Operand) -> Value:
        return self.value(self.builder.lshr(i.ir, self.operand(n, i.ir.type)))

    def sar(self, i: Value, n: Operand) -> Value:
        return self.value(self.builder.ashr(i.ir, self.operand(n, i.ir.type)))

    def to_float(self, i: Value) -> Value:
        if self.width(i) == 32:
            return self.value(self.builder.sitofp(i.ir, self._float(32, i.ir.type)))
        return self.from_bits(i + ROUND_MAGIC_BITS[64]) - ROUND_MAGIC[64]

    def to_int(self, x: Value) -> Value:
        if self.width(x) == 32:
            return self.value(self.builder.fptosi(x.ir, self._int(32, x.ir.type)))
        return self.bits(x + ROUND_MAGIC[64]) - ROUND_MAGIC_BITS[64]

    def widen(self, x: Value) -> Value:
        return self.value(self.builder.fpext(x.ir, self._float(64, x.ir.type)))

    def narrow(self, x: Value) -> Value:
        return self.value(self.builder.fptrunc(x.ir, self._float(32, x.ir.type)))

    def extend(self, i: Value) -> Value:
        return self.value(self.builder.sext(i.ir, self._int(64, i.ir.type)))

    def low(self, i: Value) -> Value:
        return self.value(self.builder.trunc(i.ir, self._int(32, i.ir.type)))

    def rarely(self, test: Callable[..., Value], slow: Callable[..., Value], fast: Value, *xs: Value) -> Value:
        types = [x.ir.type for x in xs]
        if self.gpu:
            return self._branch(test, slow, fast, xs)
        fix = self._fix_function(test, slow, [self._element(t) for t in types])
        if isinstance(types[0], self.ir.VectorType):
            fix = self._vector_fix(fix, test, [self._element(t) for t in types], types[0].count)
        return self.value(self.builder.call(fix, [fast.ir, *(x.ir for x in xs)]))

    def _branch(self, test: Callable[..., Value], slow: Callable[..., Value], fast: Value, xs: Sequence[Value]) -> Value:
        before = self.builder.block
        with self.builder.if_then(test(self, *xs).ir, likely=False):
            slow_value = slow(self, *xs).ir
            slow_block = self.builder.block
        result = self.builder.phi(fast.ir.type)
        result.add_incoming(fast.ir, before)
        result.add_incoming(slow_value, slow_block)
        return self.value(result)

    def _fix_function(self, test: Callable[..., Value], slow: Callable[..., Value], types: list[ir.Type]) -> ir.Function:
        """fix(fast, *xs) -> slow(*xs) or fast, as a function that LLVM knows vector variants of.

        The loop vectoriser takes such a call for an instruction: it calls the variant of its vector length, which looks
        at the lanes one by one only if the test holds for any. So common lanes pay a call and a compare, not `slow`.
        """
        name = f"{slow.__name__}.f{self._width_of(types[0])}.{int(self.has_fma)}{int(self.has_ldexp)}"
        fix = self.builder.module.globals.get(name)
        if fix is not None:
            return fix
        fix, machine = self._function(name, [types[0], *types])
        fast, *xs = map(machine.value, fix.args)
        with machine.builder.if_then(test(machine, *xs).ir, likely=False):
            machine.builder.ret(slow(machine, *xs).ir)
        machine.builder.ret(fast.ir)
        variants = {count: self._vector_fix(fix, test, types, count) for count in VECTOR_LENGTHS}
        letters = "v" * len(fix.args)
        mangled = ",".join(f"_ZGV_LLVM_N{count}{letters}_{name}({f.name})" for count, f in variants.items())
        _attribute(fix, f'"vector-function-abi-variant"="{mangled}"')
        self._keep(variants.values())
        return fix

    def _vector_fix(self, fix: ir.Function, test: Callable[..., Value], types: list[ir.Type], count: int) -> ir.Function:
        """The variant of `fix` for vectors of `count` lanes."""
        name = f"{fix.name}.v{count}"
        known = self.builder.module.globals.get(name)
        if known is not None:
            return known
        vectors = [self.ir.VectorType(t, count) for t in types]
        function, machine = self._function(name, [vectors[0], *vectors])
        builder, ir = machine.builder, self.ir
        fast, *xs = map(machine.value, function.args)
        lanes = builder.bitcast(test(machine, *xs).ir, ir.IntType(count))
        with builder.if_then(builder.icmp_unsigned("!=", lanes, ir.Constant(lanes.type, 0)), likely=False):
            result = fast.ir
            for lane in range(count):
                place = ir.Constant(ir.IntType(32), lane)
                arguments = [builder.extract_element(a, place) for a in function.args]
                result = builder.insert_element(result, builder.call(fix, arguments), place)
            builder.ret(result)
        builder.ret(fast.ir)
        return function

    def _function(self, name: str, types: list[ir.Type]) -> ir.Function:
        """(function, machine that writes its body): a function of the module that gives types[0] and has no effects."""
        function = self.ir.Function(self.builder.module, self.ir.FunctionType(types[0], types), name)
        function.linkage = "linkonce_odr"  # not internal: a copy renamed by the linker would lose its vector variants
        for attribute in ("noinline", "nounwind", "readnone", "willreturn"):
            _attribute(function, attribute)
        builder = self.ir.IRBuilder(function.append_basic_block("entry"))
        return function, LLVMMachine(builder, self.has_fma, self.gpu, self.has_ldexp)

    def _keep(self, functions: Iterable[ir.Function]) -> None:
        """Lists functions in llvm.compiler.used: nothing calls them before the vectoriser does."""
        ir, module = self.ir, self.builder.module
        address = ir.IntType(8).as_pointer()
        used = module.globals.get("llvm.compiler.used")
        entries = list(used.initializer.constant) if used is not None else []
        entries += [f.bitcast(address) for f in functions]
        array = ir.ArrayType(address, len(entries))
        if used is None:
            used = ir.GlobalVariable(module, array, "llvm.compiler.used")
            used.linkage, used.section = "appending", "llvm.metadata"
        used.type, used.value_type = array.as_pointer(), array
        used.initializer = ir.Constant(array, entries)

    def table(self, values: Sequence[float], i: Value) -> Value:
        ir, module = self.ir, self.builder.module
        if isinstance(i.ir.type, ir.VectorType):
            raise TypeError("table: one index at a time")
        array = ir.ArrayType(ir.DoubleType(), len(values))
        name = f"table.{zlib.crc32(repr(values).encode()):08x}.{len(values)}"
        constant = module.globals.get(name)
        if constant is None:
            constant = ir.GlobalVariable(module, array, name, addrspace=1 if self.gpu else 0)
            constant.global_constant, constant.linkage = True, "internal"
            constant.initializer = ir.Constant(array, list(values))
        return self.value(self.builder.load(self.builder.gep(constant, [ir.Constant(ir.IntType(64), 0), i.ir])))


def _attribute(function: ir.Function, text: str) -> None:
    """Adds a function attribute that llvmlite does not list."""
    set.add(function.attributes, text)
