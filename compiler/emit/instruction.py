"""Names that kernels use, as LLVM instructions placed in the kernel itself: no function call, no inlining decision.

Types are dtype codes: `f32`, `i64`, `b1` for truth values, with a star for a pointer; the empty code is no value at all.
Nothing here needs Numba; `numba_intrinsic` makes an instruction known to it, for what Numba compiles.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..kernel import COMPLEX, DTYPE_NAMES, is_complex, part_code

if TYPE_CHECKING:
    from llvmlite import ir


Write = Callable[..., Any]          # write(builder, *values) -> the value
WriteTyped = Callable[..., Any]     # write(builder, code, *values) -> the value
Codegen = Callable[[Any, "ir.IRBuilder", Any, Sequence[Any]], Any]     # (context, builder, signature, arguments) -> the value
Typed = Callable[..., tuple[str, Write] | None]


@dataclass(frozen=True, eq=False)
class Instruction:
    """`typed(*codes of the arguments)` gives the code of the result and what writes it, or None for other types.
    `heavy`: beside it the kernel's own loops take no time, they are compiled for size."""

    arity: int
    typed: Typed
    heavy: bool = False


class Form(Protocol):
    """An instruction of which there are many, by sizes and types: a named tuple of these.  A kernel keeps the forms that its
    text names."""

    @property
    def name(self) -> str:
        """The name in kernels' texts, another for every form."""

    def instruction(self) -> Instruction:
        """What the name stands for."""


def of_same(arity: int) -> Callable[[WriteTyped], Instruction]:
    """Makes write(builder, code, *values) an instruction on arguments of one type, which it also gives."""
    def made(write: WriteTyped) -> Instruction:
        def typed(*codes: str) -> tuple[str, Write] | None:
            return (codes[0], functools.partial(_with_code, write, codes[0])) if len(set(codes)) == 1 else None

        return Instruction(arity, typed)

    return made


def _with_code(write: WriteTyped, code: str, builder: ir.IRBuilder, *values: Any) -> Any:
    return write(builder, code, *values)


def fixed(result: str, *codes: str, heavy: bool = False) -> Callable[[Write], Instruction]:
    """Makes write(builder, *values) an instruction on arguments of these types."""
    return lambda write: Instruction(len(codes), lambda *given: (result, write) if given == codes else None, heavy)


def is_float(code: str) -> bool:
    return code in ("f32", "f64")


def is_signed(code: str) -> bool:
    return code[0] == "i"


def llvm_type(code: str) -> Any:
    """LLVM's type for a code."""
    from llvmlite import ir

    if code.endswith("*"):
        return llvm_type(code[:-1]).as_pointer()
    if code and is_complex(code):
        return ir.LiteralStructType([llvm_type(part_code(code))] * 2)
    return {"": ir.VoidType, "f32": ir.FloatType, "f64": ir.DoubleType}.get(code, lambda: ir.IntType(int(code[1:])))()


@functools.cache
def numba_intrinsic(instruction: Instruction) -> Any:
    """An instruction as an intrinsic of Numba's."""
    from numba.core.extending import intrinsic

    def typed(*types: Any) -> tuple[Any, Codegen] | None:
        codes = tuple(code_of(ty) for ty in types)
        found = None if None in codes else instruction.typed(*codes)
        if found is None:
            return None
        result, write = found

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
            value = write(builder, *args)
            return value if result else context.get_dummy_value()

        return numba_type(result)(*types), codegen

    parameters = ", ".join(f"x{k}" for k in range(instruction.arity))
    scope = {"typed": typed}
    exec(f"def made(typingctx, {parameters}):\n    return typed({parameters})", scope)
    return intrinsic(scope["made"])


@functools.cache
def _numba_names() -> dict[str, str]:
    return {**DTYPE_NAMES, **{code: name for name, code in COMPLEX.items()}, "b1": "boolean", "": "none"}


def numba_type(code: str) -> Any:
    """Numba's type for a code."""
    from numba.core import types

    return types.CPointer(numba_type(code[:-1])) if code.endswith("*") else getattr(types, _numba_names()[code])


def type_names() -> dict[str, Any]:
    """Numba's types by the names that casts have in a kernel's text."""
    return {code: numba_type(code) for code in _numba_names() if code not in ("", "b1")}


def code_of(ty: Any) -> str | None:
    """The code of a Numba type; None for types that kernels do not know."""
    from numba.core import types

    if isinstance(ty, types.CPointer):
        inner = code_of(ty.dtype)
        return None if inner is None else inner + "*"
    return _codes_of_types().get(ty.literal_type if isinstance(ty, types.Literal) else ty)


@functools.cache
def _codes_of_types() -> dict[Any, str]:
    return {numba_type(code): code for code in _numba_names()}
