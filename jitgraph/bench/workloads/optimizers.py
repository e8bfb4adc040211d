"""Optimizer updates of 5 million parameters: the gradients are fed, the state stays where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..workload import Workload

PARAMETERS, FEW = {"n": 5_000_000}, {"n": 1000}
B1, B2, EPSILON, RATE = 0.9, 0.999, 1e-8, 1e-3


def _gradient(n: int) -> Any:
    import numpy as np

    return np.random.default_rng(0).standard_normal(n, dtype=np.float32)


def _adam(xp: Any, p: Any, m: Any, v: Any, g: Any, t: Any) -> tuple[Any, ...]:
    m = B1 * m + (1 - B1) * g
    v = B2 * v + (1 - B2) * g * g
    rate = RATE * (1 - B2**t) ** 0.5 / (1 - B1**t)
    return p - rate * m / (xp.sqrt(v) + EPSILON), m, v


def _momentum(xp: Any, p: Any, m: Any, v: Any, g: Any, t: Any) -> tuple[Any, ...]:
    m = 0.9 * m + g
    return p - RATE * m, m, v


def _rmsprop(xp: Any, p: Any, m: Any, v: Any, g: Any, t: Any) -> tuple[Any, ...]:
    v = 0.9 * v + 0.1 * g * g
    m = RATE * g / xp.sqrt(v + 1e-10)
    return p - m, m, v


def _optimizer(name: str, title: str, tf1: Any, update: Callable[..., Any], torch_name: str, slots: int) -> None:
    """Declare the update of one optimizer; `slots` of its arrays of state are read and written."""
    workload = Workload(name, title, PARAMETERS, FEW, goals={"copy": 1.2, "jax": 1.0}, noise=None)

    @workload.tf1
    def _(tf: Any, n: int) -> Callable[[], Any]:
        gradient = _gradient(n)
        variable = tf.Variable(tf.zeros([n]))
        fed = tf.placeholder(tf.float32, [n])
        step = tf1(tf).apply_gradients([(fed, variable)])
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        return lambda: session.run(step, {fed: gradient})

    @workload.on("jax")
    def _(n: int) -> Callable[[], Any]:
        import jax
        import jax.numpy as jnp

        gradient = jax.device_put(_gradient(n))
        step = jax.jit(lambda p, m, v, g, t: update(jnp, p, m, v, g, t), donate_argnums=(0, 1, 2))
        state: list[Any] = [tuple(jnp.full(n, value, jnp.float32) for value in (0, 0, 1)), 0]

        def call() -> None:
            state[1] += 1
            state[0] = jax.block_until_ready(step(*state[0], gradient, float(state[1])))

        return call

    @workload.torch
    def _(torch: Any, compiled: Any, n: int) -> Callable[[], Any]:
        parameter = torch.zeros(n, requires_grad=True)
        parameter.grad = torch.from_numpy(_gradient(n))
        if torch_name == "Adam":
            optimizer = torch.optim.Adam([parameter], lr=RATE, fused=compiled is not torch.compile)
        elif torch_name == "SGD":
            optimizer = torch.optim.SGD([parameter], lr=RATE, momentum=0.9)
        else:
            optimizer = torch.optim.RMSprop([parameter], lr=RATE, alpha=0.9)
        step = compiled(optimizer.step)
        return lambda: step()

    @workload.on("numpy")
    def _(n: int) -> Callable[[], Any]:
        import numpy as np

        gradient = _gradient(n)
        state: list[Any] = [tuple(np.full(n, value, np.float32) for value in (0, 0, 1)), 0]

        def call() -> None:
            state[1] += 1
            state[0] = update(np, *state[0], gradient, state[1])

        return call

    @workload.on("copy")
    def _(n: int) -> Callable[[], Any]:
        import numpy as np

        moved = 4 * n * (1 + 2 + 2 * slots)  # the gradient read; parameter and slots read and written
        source, target = np.ones(moved // 8, np.float32), np.zeros(moved // 8, np.float32)
        return lambda: np.copyto(target, source)


_optimizer("adam", "Adam on 5M parameters", lambda tf: tf.train.AdamOptimizer(RATE), _adam, "Adam", 2)
_optimizer(
    "momentum", "momentum on 5M parameters", lambda tf: tf.train.MomentumOptimizer(RATE, 0.9), _momentum, "SGD", 1
)
_optimizer("rmsprop", "RMSProp on 5M parameters", lambda tf: tf.train.RMSPropOptimizer(RATE), _rmsprop, "RMSprop", 2)
