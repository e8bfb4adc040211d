"""Order among many numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernel import kernel
from ..workload import Workload, jitted

MILLION, FEW = [(1_000_000,)], [(500,)]


def _top_numpy(x: Any) -> Any:
    import numpy as np

    best = np.argpartition(x, -100)[-100:]
    return np.sort(x[best])[::-1]


kernel(
    "top-k",
    "top_k 100 of 1M",
    MILLION,
    FEW,
    tf1=lambda tf, x: tf.nn.top_k(x, 100)[0],
    numpy=_top_numpy,
    jax=lambda jax, x: jax.lax.top_k(x, 100)[0],
    torch=lambda torch, x: torch.topk(x, 100)[0],
    goals={"numpy": 1.0, "jax": 1.0},
)
kernel(
    "sort",
    "sort 1M",
    MILLION,
    FEW,
    tf1=lambda tf, x: tf.sort(x),
    numpy=lambda x: __import__("numpy").sort(x),
    jax=lambda jax, x: jax.numpy.sort(x),
    torch=lambda torch, x: torch.sort(x)[0],
    pytensor=lambda pt, x: pt.sort(x),
    goals={"numpy": 1.0, "jax": 1.0},
)

unique = Workload(
    "unique", "unique of 1M int32 out of 1000", {"n": 1_000_000}, {"n": 500}, goals={"numpy": 1.0}, noise=1e-6
)


def _numbers(n: int) -> Any:
    import numpy as np

    return np.random.default_rng(0).integers(0, 1000, n, dtype=np.int32)


@unique.tf1
def _(tf: Any, n: int) -> Callable[[], Any]:
    values = _numbers(n)
    x = tf.placeholder(tf.int32, [None])
    found, _ = tf.unique(x)
    session = tf.Session()
    return lambda: session.run(found, {x: values})


@unique.on("numpy")
def _(n: int) -> Callable[[], Any]:
    import numpy as np

    values = _numbers(n)
    return lambda: np.unique(values)


@unique.on("jax")
def _(n: int) -> Callable[[], Any]:
    import jax.numpy as jnp

    count = len(set(_numbers(n).tolist()))
    return jitted(lambda x: jnp.unique(x, size=count), _numbers(n))


@unique.torch
def _(torch: Any, compiled: Any, n: int) -> Callable[[], Any]:
    values = torch.from_numpy(_numbers(n))
    return lambda: torch.unique(values)
