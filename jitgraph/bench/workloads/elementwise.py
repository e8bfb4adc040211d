"""Maps over many numbers, bound by memory or by the elementary functions."""

from __future__ import annotations

from typing import Any

from ..kernel import kernel

BIG, SMALL = [(10_000_000,)], [(10_000,)]

kernel(
    "affine",
    "2x+1 on 10M",
    BIG,
    SMALL,
    tf1=lambda tf, x: 2.0 * x + 1.0,
    numpy=lambda x: 2 * x + 1,
    jax=lambda jax, x: 2 * x + 1,
    torch=lambda torch, x: 2 * x + 1,
    pytensor=lambda pt, x: 2 * x + 1,
    goals={"copy": 1.3},
)


def _sigmoid(x: Any) -> Any:
    import numpy as np

    return 1 / (1 + np.exp(-x))


def _fused_numpy(x: Any) -> Any:
    import numpy as np

    return _sigmoid(2 * x + 1) * np.tanh(x) - np.exp(-x * x)


def _fused_jax(jax: Any, x: Any) -> Any:
    return jax.nn.sigmoid(2 * x + 1) * jax.numpy.tanh(x) - jax.numpy.exp(-x * x)


kernel(
    "fused",
    "sigmoid(2x+1)*tanh(x)-exp(-x*x) on 10M",
    BIG,
    SMALL,
    tf1=lambda tf, x: tf.sigmoid(2.0 * x + 1.0) * tf.tanh(x) - tf.exp(-x * x),
    numpy=_fused_numpy,
    jax=_fused_jax,
    torch=lambda torch, x: torch.sigmoid(2 * x + 1) * torch.tanh(x) - torch.exp(-x * x),
    pytensor=lambda pt, x: pt.sigmoid(2 * x + 1) * pt.tanh(x) - pt.exp(-x * x),
    goals={"copy": 1.7, "jax": 0.2},
)

kernel(
    "fused-sum",
    "the same, summed",
    BIG,
    SMALL,
    tf1=lambda tf, x: tf.reduce_sum(tf.sigmoid(2.0 * x + 1.0) * tf.tanh(x) - tf.exp(-x * x)),
    numpy=lambda x: _fused_numpy(x).sum(),
    jax=lambda jax, x: _fused_jax(jax, x).sum(),
    torch=lambda torch, x: (torch.sigmoid(2 * x + 1) * torch.tanh(x) - torch.exp(-x * x)).sum(),
    pytensor=lambda pt, x: (pt.sigmoid(2 * x + 1) * pt.tanh(x) - pt.exp(-x * x)).sum(),
    goals={"jax": 0.2},
)

_GELU = 0.7978845608028654  # sqrt(2 / pi)


def _gelu_tf(tf: Any, x: Any) -> Any:
    return 0.5 * x * (1.0 + tf.tanh(_GELU * (x + 0.044715 * x * x * x)))


def _gelu_numpy(x: Any) -> Any:
    import numpy as np

    return 0.5 * x * (1 + np.tanh(np.float32(_GELU) * (x + np.float32(0.044715) * x * x * x)))


for _gradient in (False, True):
    _n, _tiny = ([*BIG, *BIG], [*SMALL, *SMALL]) if _gradient else (BIG, SMALL)
    kernel(
        "gelu-gradient" if _gradient else "gelu",
        "gradient of gelu on 10M" if _gradient else "gelu (tanh form) on 10M",
        _n,
        _tiny,
        tf1=_gelu_tf,
        numpy=None if _gradient else _gelu_numpy,
        jax=lambda jax, x: jax.nn.gelu(x, approximate=True),
        torch=lambda torch, x: torch.nn.functional.gelu(x, approximate="tanh"),
        pytensor=lambda pt, x: 0.5 * x * (1 + pt.tanh(_GELU * (x + 0.044715 * x * x * x))),
        gradient=_gradient,
        goals={"copy": 1.3},
    )
