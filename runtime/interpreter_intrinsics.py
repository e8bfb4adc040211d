"""The names that the interpreter's text uses, as Numba intrinsics on int64: memory, atomics, calls through addresses, waiting.

Imported only where the interpreter is really compiled.
"""
from __future__ import annotations

import platform

from llvmlite import ir
from numba.core import types
from numba.core.extending import intrinsic

WORD, INT, BYTES = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer()
WORDS = WORD.as_pointer()


def intrinsics() -> dict:
    """Everything that `interpreter.SOURCE` names."""
    return {"get": _function(2, lambda b, base, k: b.load(_word(b, base, k))), "put": _function(3, _put),
            "atomic_get": _function(2, lambda b, base, k: b.load_atomic(_word(b, base, k), "seq_cst", 8)),
            "atomic_put": _function(3, _atomic_put), "atomic_add": _function(3, _atomic_add),
            "exchange": _function(4, _exchange, types.boolean), "call_kernel": _function(5, _call_kernel),
            "call_int": _function(4, _call_int), "semaphore_wait": _function(2, _on_word("sem_wait")),
            "semaphore_post": _function(2, _on_word("sem_post")), "yield_thread": _function(0, _yield_thread),
            "pause": _function(0, _pause)}


def _function(count: int, write, result=types.int64):
    """An intrinsic of `count` int64 arguments; write(builder, *arguments) gives its value."""
    names = ", ".join(f"a{k}" for k in range(count))
    signature = result(*[types.int64] * count)
    typed = signature, lambda context, builder, signature, args: write(builder, *args)
    scope = {"typed": typed}
    exec(f"def made(typingctx{', ' if count else ''}{names}):\n    return typed", scope)
    return intrinsic(scope["made"])


def _word(builder, base, k):
    """The address of word k of the memory at `base`."""
    return builder.inttoptr(builder.add(base, builder.mul(k, WORD(8))), WORDS)


# memory --------------------------------------------------------------------------------------------------------------
def _put(builder, base, k, value):
    builder.store(value, _word(builder, base, k))
    return WORD(0)


def _atomic_put(builder, base, k, value):
    builder.store_atomic(value, _word(builder, base, k), "seq_cst", 8)
    return WORD(0)


def _atomic_add(builder, base, k, value):
    """The word before the addition."""
    return builder.atomic_rmw("add", _word(builder, base, k), value, "seq_cst")


def _exchange(builder, base, k, old, new):
    """Whether the word was `old`, and so became `new`."""
    return builder.extract_value(builder.cmpxchg(_word(builder, base, k), old, new, "seq_cst", "seq_cst"), 1)


# calls ---------------------------------------------------------------------------------------------------------------
def _call_kernel(builder, address, buffers, sizes, begin, end):
    """A kernel by its address, see `native.SIGNATURE`."""
    kernel = builder.inttoptr(address, ir.FunctionType(WORD, [WORDS, WORDS, WORD, WORD]).as_pointer())
    return builder.call(kernel, [builder.inttoptr(buffers, WORDS), builder.inttoptr(sizes, WORDS), begin, end])


def _call_int(builder, address, *arguments):
    """A C function of up to three words that returns an int."""
    function = builder.inttoptr(address, ir.FunctionType(INT, [WORD, WORD, WORD]).as_pointer())
    return builder.sext(builder.call(function, arguments), WORD)


def _external(builder, name, result, arguments):
    """A function of the C library, or of LLVM's, by its name."""
    kind = ir.FunctionType(result, [a.type for a in arguments])
    return builder.call(builder.module.globals.get(name) or ir.Function(builder.module, kind, name), arguments)


# waiting -------------------------------------------------------------------------------------------------------------
def _on_word(name):
    """Writes the call of a C function on the semaphore that begins at a word."""
    def write(builder, base, k):
        return builder.sext(_external(builder, name, INT, [builder.bitcast(_word(builder, base, k), BYTES)]), WORD)
    return write


def _yield_thread(builder):
    return builder.sext(_external(builder, "sched_yield", INT, []), WORD)


def _pause(builder):
    """The CPU's hint that this is a waiting loop; nothing on machines whose hint we do not know."""
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64"):
        _external(builder, "llvm.x86.sse2.pause", ir.VoidType(), [])
    elif machine in ("aarch64", "arm64"):
        _external(builder, "llvm.aarch64.hint", ir.VoidType(), [INT(1)])
    return WORD(0)
