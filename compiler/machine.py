"""The tiny machine that elementary functions are written for, and its two makes.

A function of `elementary.py` is ordinary Python over values and a machine `m`:

    def rsqrt(m, x):
        return 1.0 / m.sqrt(x)

Run with `NumPyMachine` it computes arrays (the reference meaning, the tests, the GPU simulator); run with `LLVMMachine`
it writes scalar or vector LLVM IR (CPU and NVVM), with no call to libm and no fast-math flag anywhere, so that LLVM's
loop vectoriser can widen it. Both makes round the same operations in the same places: their results agree bit for bit.

Values have the operators `+ - * /` and unary `-` (float), `+ - * & | ^ ~ <<` (integer) and `& | ~` (truth values); a
Python number beside a value takes its type. Everything else is a method of the machine:

    fma(a, b, c)                        a*b + c with one rounding (two roundings where `has_fma` is false)
    ldexp(x, n)                         x * 2**n with one rounding; only where `has_ldexp` is true
    abs floor rint sqrt                 one float each; rint rounds ties to even
    min(a, b)  max(a, b)                a if a < b (a > b) else b: the SECOND is the answer where either is NaN
    lt le gt ge eq ne isnan             truth values; all but ne are false for NaN
    select(c, a, b)                     a where c holds, else b; both are computed
    bits(x)  from_bits(i)               the same bits as integer of the same width, and back
    shr(i, n)  sar(i, n)                shift right, logical and arithmetic
    to_float(i)  to_int(x)              integer <-> float of the same width; x has an integral value. For 64 bits
                                        |value| <= 2**51, the price of vectorising without AVX-512
    widen(x)  narrow(x)                 float32 -> float64 and back
    extend(i)  low(i)                   int32 -> int64 with sign; the low half of an int64 as int32
    rarely(test, slow, fast, *xs)       slow(m, *xs) where test(m, *xs) holds, else the value `fast`: for arguments so
                                        rare that the slow way should cost the others nothing (a branch that does not
                                        keep loops from vectorising); `slow` is a function of its own name
    table(values, i)                    values[i], a float64, of a constant tuple; only inside the slow way of `rarely`
    const(value, like)                  a constant of the type of `like`
    width(x)                            32 or 64: the bits of x

Derived from these, once, for both makes: `copysign`, `round_shift`, `two_sum`, `fast_two_sum`, `two_product`,
`horner`, `polynomial`.
"""

from __future__ import annotations

from .machine_base import Machine
from .machine_llvm import LLVMMachine, Value
from .machine_numpy import NumPyMachine, evaluate

__all__ = ["LLVMMachine", "Machine", "NumPyMachine", "Value", "evaluate"]
