"""Elementary functions that vectorise: the same Python for NumPy arrays, CPU kernels and CUDA kernels.

`FUNCTIONS` maps a name to `function(m, x)` (pow and atan2: `function(m, x, y)`), written for a machine `m` of
`machine.py`. `machine.evaluate(exp, array)` computes it with NumPy, `emit.intrinsics.elementary_instruction(exp, ...)` makes an
instruction of kernels of it. All take and return float32 or float64.

Each docstring states the largest error found, in ULP, over millions of arguments in float32 and thousands in float64
against mpmath (`python tests/compiler/test_elementary.py`). Zeros keep their signs, NaN stays NaN, results may be
denormal, and nothing calls libm. On CPUs without fma, where each fused step is rounded twice, errors are up to 1.5 ULP
larger.
"""

from __future__ import annotations

from .elementary_circular import acos, asin, atan, atan2, cos, sin, tan
from .elementary_exponential import acosh, asinh, atanh, cosh, exp, expm1, log, log1p, sigmoid, sinh, tanh
from .elementary_gamma import digamma, lgamma
from .elementary_power import pow, rsqrt, sqrt
from .elementary_special import erf, erfc

FUNCTIONS = {
    function.__name__: function
    for function in (
        (exp, expm1, log, log1p, sigmoid, tanh, sinh, cosh, asinh, acosh, atanh)
        + (sin, cos, tan, asin, acos, atan, atan2)
        + (pow, sqrt, rsqrt)
        + (erf, erfc, lgamma, digamma)
    )
}
