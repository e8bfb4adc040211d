"""What one call costs, what a loop's iteration costs, and graphs of very many small ops."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..workload import FIRST_NAMES, Workload, jitted

dispatch = Workload(
    "dispatch", "Session.run of 3 scalar ops, 2 fed floats", unit="us", goals={"tensorflow": 0.03, "jax": 0.3}
)


def _three_ops(a: Any, b: Any) -> Any:
    return (a + b) * a - b


@dispatch.tf1
def _(tf: Any) -> Callable[[], Any]:
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    fetched = _three_ops(a, b)
    session = tf.Session()
    return lambda: session.run(fetched, {a: 2.0, b: 3.0})


@dispatch.on("jax")
def _() -> Callable[[], Any]:
    import jax

    compiled = jax.jit(_three_ops)
    return lambda: compiled(2.0, 3.0).block_until_ready()


@dispatch.on("numpy")
def _() -> Callable[[], Any]:
    import numpy as np

    return lambda: _three_ops(np.float32(2), np.float32(3))


@dispatch.torch
def _(torch: Any, compiled: Any) -> Callable[[], Any]:
    function = compiled(_three_ops)
    a, b = torch.tensor(2.0), torch.tensor(3.0)
    return lambda: function(a, b)


@dispatch.on("pytensor")
def _() -> Callable[[], Any]:
    import pytensor

    a, b = pytensor.tensor.fscalar(), pytensor.tensor.fscalar()
    function = pytensor.function([a, b], _three_ops(a, b), mode="NUMBA")
    return lambda: function(2.0, 3.0)


callable_ = Workload("callable", "make_callable of the same with arrays", unit="us")


@callable_.tf1
def _(tf: Any) -> Callable[[], Any]:
    import numpy as np

    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    call = tf.Session().make_callable(_three_ops(a, b), [a, b])
    x, y = np.array(2, np.float32), np.array(3, np.float32)
    return lambda: call(x, y)


@callable_.on("jax")
def _() -> Callable[[], Any]:
    import numpy as np

    return jitted(_three_ops, np.float32(2), np.float32(3))


@callable_.on("pytensor")
def _() -> Callable[[], Any]:
    import numpy as np
    import pytensor

    a, b = pytensor.tensor.fscalar(), pytensor.tensor.fscalar()
    function = pytensor.function([a, b], _three_ops(a, b), mode="NUMBA")
    function.trust_input = True
    x, y = np.array(2, np.float32), np.array(3, np.float32)
    return lambda: function(x, y)


loop = Workload(
    "while-loop",
    "scalar while_loop, 10,000 iterations",
    {"n": 10_000},
    {"n": 100},
    goals={"jax": 0.5, "tensorflow": 0.001},
)
_MODULUS = 1_000_003


@loop.tf1
def _(tf: Any, n: int) -> Callable[[], Any]:
    start = tf.placeholder(tf.int32, [])
    result = tf.while_loop(
        lambda i, a, b: i < n, lambda i, a, b: (i + 1, b, (a + b) % _MODULUS), (tf.constant(0), start, tf.constant(1))
    )
    session = tf.Session()
    return lambda: session.run(result[2], {start: 0})


@loop.on("jax")
def _(n: int) -> Callable[[], Any]:
    import jax

    def run(start: Any) -> Any:
        body = lambda state: (state[0] + 1, state[2], (state[1] + state[2]) % _MODULUS)
        return jax.lax.while_loop(lambda state: state[0] < n, body, (0, start, 1))[2]

    return jitted(run, 0)


@loop.on("numpy")
def _(n: int) -> Callable[[], Any]:
    def run() -> int:
        a, b = 0, 1
        for _ in range(n):
            a, b = b, (a + b) % _MODULUS
        return b

    return run


# Graphs of very many ops: building one, its first run, and a run. The TensorFlow 1 programs are given as
# (tf, n) -> (fed, fetched, value), the JAX ones as (n) -> (function, value).


def _slices_tf1(tf: Any, n: int) -> tuple[Any, Any, Any]:
    import numpy as np

    x = tf.placeholder(tf.float32, [n, 32])
    total = x[0]
    for i in range(1, n):
        total = total + x[i]
    return x, total, np.ones((n, 32), np.float32)


def _slices_jax(n: int) -> tuple[Any, Any]:
    import numpy as np

    def add(x: Any) -> Any:
        total = x[0]
        for i in range(1, n):
            total = total + x[i]
        return total

    return add, np.ones((n, 32), np.float32)


def _chain_tf1(tf: Any, n: int) -> tuple[Any, Any, Any]:
    import numpy as np

    x = tf.placeholder(tf.float32, [64])
    scale, shift = tf.constant(0.999), tf.constant(0.01)
    value = x
    for _ in range(n // 2):
        value = tf.add(tf.multiply(value, scale), shift)
    return x, value, np.ones(64, np.float32)


def _chain_jax(n: int) -> tuple[Any, Any]:
    import numpy as np

    def chain(x: Any) -> Any:
        for _ in range(n // 2):
            x = x * 0.999 + 0.01
        return x

    return chain, np.ones(64, np.float32)


def _large_graph(name: str, title: str, n: int, tf1: Callable[..., Any], jax_program: Callable[..., Any]) -> None:
    """Declare the three workloads of a graph of `n` ops."""
    building = Workload(f"{name}-build", f"{title}: build", {"n": n}, {"n": 40}, kind="once")
    first = Workload(f"{name}-first", f"{title}: first run", {"n": n}, {"n": 40}, kind="once")
    steady = Workload(name, f"{title}: run", {"n": n}, {"n": 40}, goals={"tensorflow": 0.02})

    @building.tf1
    def _(tf: Any, n: int) -> float:
        for first in FIRST_NAMES["jitgraph"]:       # what comes with them is part of the workload "import"
            getattr(tf, first)
        begun = time.perf_counter()
        tf1(tf, n)
        return time.perf_counter() - begun

    def first_call(tf: Any, n: int) -> tuple[float, Callable[[], Any]]:
        fed, fetched, value = tf1(tf, n)
        session = tf.Session()
        call = lambda: session.run(fetched, {fed: value})
        begun = time.perf_counter()
        call()
        return time.perf_counter() - begun, call

    first.tf1(lambda tf, n: first_call(tf, n)[0])
    steady.tf1(lambda tf, n: first_call(tf, n)[1])

    @steady.on("jax")
    def _(n: int) -> Callable[[], Any]:
        function, value = jax_program(n)
        return jitted(function, value)

    @first.on("jax")
    def _(n: int) -> float:
        function, value = jax_program(n)
        call = jitted(function, value)
        begun = time.perf_counter()
        call()
        return time.perf_counter() - begun


_large_graph("slices", "500 row slices added one by one", 500, _slices_tf1, _slices_jax)
_large_graph("chain", "chain of 15,000 ops", 15_000, _chain_tf1, _chain_jax)
