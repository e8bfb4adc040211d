"""Workloads that are one expression: arrays in, arrays out, said once per language.

    kernel("gelu", "gelu, 10M", [(10_000_000,)], [(1000,)], tf1=lambda tf, x: ..., numpy=lambda x: ...)

The inputs are standard normal float32 arrays. They are fed as NumPy arrays to the TensorFlow 1 programs, and lie where
the other peers like them to lie. `copy` is the time in which NumPy copies as many bytes in place as the inputs and
outputs have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .workload import Workload, jitted

Expression = Callable[..., Any]
Shapes = Sequence[tuple[int, ...]]


def kernel(
    name: str,
    title: str,
    shapes: Shapes,
    small: Shapes,
    tf1: Expression,
    numpy: Expression | None = None,
    jax: Expression | None = None,
    torch: Expression | None = None,
    pytensor: Expression | None = None,
    gradient: bool = False,
    goals: dict[str, float] | None = None,
    noise: float | None = 1e-3,
) -> Workload:
    """Declare a workload from one expression per language; each but `numpy` takes its module first, then the inputs.

    With `gradient`, the last input is the gradient of the output, and what is computed is that of the first input.
    """
    workload = Workload(name, title, {"shapes": shapes}, {"shapes": small}, goals=goals, noise=noise)
    workload.tf1(_as_tf1(tf1, gradient))
    workload.on("copy")(_as_copy(numpy, gradient))
    if numpy is not None:
        workload.on("numpy")(_as_numpy(numpy))
    if jax is not None:
        workload.on("jax")(_as_jax(jax, gradient))
    if torch is not None:
        workload.torch(_as_torch(torch, gradient))
    if pytensor is not None:
        workload.on("pytensor")(_as_pytensor(pytensor, gradient))
    return workload


# What each peer makes of an expression: a function of the shapes that prepares everything and returns the call.


def _as_tf1(expression: Expression, gradient: bool) -> Expression:
    def prepare(tf: Any, shapes: Shapes) -> Callable[[], Any]:
        values = inputs(shapes)
        fed = [tf.placeholder(tf.float32, shape) for shape in shapes]
        if gradient:
            fetched = tf.gradients(expression(tf, *fed[:-1]), fed[0], fed[-1])[0]
        else:
            fetched = expression(tf, *fed)
        session = tf.Session()
        feed = dict(zip(fed, values))
        return lambda: session.run(fetched, feed)

    return prepare


def _as_copy(expression: Expression | None, gradient: bool) -> Expression:
    def prepare(shapes: Shapes) -> Callable[[], Any]:
        import numpy as np

        values = inputs(shapes)
        results = values[0] if gradient or expression is None else expression(*values)
        moved = sum(np.asarray(array).nbytes for array in [*values, results])
        source, target = np.ones(moved // 8, np.float32), np.zeros(moved // 8, np.float32)
        return lambda: np.copyto(target, source)

    return prepare


def _as_numpy(expression: Expression) -> Expression:
    def prepare(shapes: Shapes) -> Callable[[], Any]:
        values = inputs(shapes)
        return lambda: expression(*values)

    return prepare


def _as_jax(expression: Expression, gradient: bool) -> Expression:
    def prepare(shapes: Shapes) -> Callable[[], Any]:
        import jax

        def backward(*values: Any) -> Any:
            return jax.vjp(lambda x: expression(jax, x, *values[1:-1]), values[0])[1](values[-1])[0]

        return jitted(backward if gradient else lambda *values: expression(jax, *values), *inputs(shapes))

    return prepare


def _as_torch(expression: Expression, gradient: bool) -> Expression:
    def prepare(torch: Any, compiled: Any, shapes: Shapes) -> Callable[[], Any]:
        values = [torch.from_numpy(value) for value in inputs(shapes)]
        function = compiled(lambda *given: expression(torch, *given))
        if gradient:
            values[0].requires_grad_()
            return lambda: torch.autograd.grad(function(*values[:-1]), values[0], values[-1])[0]

        def call() -> Any:
            with torch.no_grad():
                return function(*values)

        return call

    return prepare


def _as_pytensor(expression: Expression, gradient: bool) -> Expression:
    def prepare(shapes: Shapes) -> Callable[[], Any]:
        import pytensor
        import pytensor.tensor as pt

        fed = [pt.tensor(dtype="float32", shape=(None,) * len(shape)) for shape in shapes]
        if gradient:
            result = pt.grad(None, fed[0], known_grads={expression(pt, *fed[:-1]): fed[-1]})
        else:
            result = expression(pt, *fed)
        function = pytensor.function(fed, result, mode="NUMBA", on_unused_input="ignore")
        function.trust_input = True
        values = inputs(shapes)
        return lambda: function(*values)

    return prepare


def inputs(shapes: Shapes) -> list[Any]:
    """Return a standard normal float32 array for each shape, the same in every process."""
    import numpy as np

    generator = np.random.default_rng(0)
    return [generator.standard_normal(shape, dtype=np.float32) for shape in shapes]
