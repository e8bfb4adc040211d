"""What moves memory on a device: values stay there from call to call, and `moves` says how many bytes each call must move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..workload import Workload

MANY, FEW = 1 << 28, 1 << 9
ROWS = ((65536, 1024), (16384, 4096), (4096, 32768))


def _declare(
    name: str,
    title: str,
    full: dict[str, int],
    small: dict[str, int],
    moves: Callable[..., int],
    function: Callable[..., Any],
    shapes: Callable[..., list[tuple[int, ...]]],
    result: Callable[..., tuple[int, ...]] | None = None,
    dtype: str = "float32",
) -> None:
    """Declare result = function(xp, *inputs), which each peer computes from inputs that lie on the device.

    `xp` offers tanh, exp, sqrt, max, sum, transpose, relu, product and convolve by the same names for all peers; `result` is the
    shape, else the first input's.
    """
    workload = Workload(name, title, full, small, noise=None)
    workload.moves = moves

    @workload.tf1
    def _(tf: Any, **size: int) -> Callable[[], Any]:
        start = tf.random_uniform_initializer(0.5, 1.5, dtype=dtype)
        inputs = [tf.get_variable(f"x{k}", shape, dtype, start) for k, shape in enumerate(shapes(**size))]
        made = function(_TF1(tf), *inputs)
        shape = (result or (lambda **size: shapes(**size)[0]))(**size)
        kept = tf.get_variable("kept", shape, dtype, tf.zeros_initializer())
        step = kept.assign(made).op
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        return lambda: session.run(step)

    @workload.torch
    def _(torch: Any, compiled: Any, **size: int) -> Callable[[], Any]:
        inputs = [(torch.rand(shape) + 0.5).to(getattr(torch, dtype)) for shape in shapes(**size)]
        call = compiled(lambda *inputs: function(_Torch(torch), *inputs))
        return lambda: call(*inputs)

    @workload.on("jax")
    def _(**size: int) -> Callable[[], Any]:
        import jax
        import numpy as np

        inputs = [jax.device_put(np.full(shape, 0.75, dtype)) for shape in shapes(**size)]
        call = jax.jit(lambda *inputs: function(_JAX(jax), *inputs))
        return lambda: jax.block_until_ready(call(*inputs))


class _TF1:
    def __init__(self, tf: Any) -> None:
        self.tanh, self.exp, self.sqrt = tf.tanh, tf.exp, tf.sqrt
        self.max = lambda x, axis: tf.reduce_max(x, axis, keepdims=True)
        self.sum = lambda x, axis, keep=True: tf.reduce_sum(x, axis, keepdims=keep)
        self.transpose = lambda x: tf.transpose(x, [1, 0])
        self.relu, self.product = tf.nn.relu, tf.matmul
        self.convolve = lambda x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")


class _Torch:
    def __init__(self, torch: Any) -> None:
        self.tanh, self.exp, self.sqrt = torch.tanh, torch.exp, torch.sqrt
        self.max = lambda x, axis: torch.amax(x, axis, keepdim=True)
        self.sum = lambda x, axis, keep=True: torch.sum(x, axis, keepdim=keep)
        self.transpose = lambda x: x.t()
        self.relu, self.product = torch.relu, torch.matmul
        self.convolve = self._convolve

    def _convolve(self, x: Any, w: Any) -> Any:
        """Images [n, h, w, in] with a filter [kh, kw, in, out], which torch sees as such with their channels last."""
        import torch

        return torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), padding="same").permute(0, 2, 3, 1)


class _JAX:
    def __init__(self, jax: Any) -> None:
        self.tanh, self.exp, self.sqrt = jax.numpy.tanh, jax.numpy.exp, jax.numpy.sqrt
        self.max = lambda x, axis: jax.numpy.max(x, axis, keepdims=True)
        self.sum = lambda x, axis, keep=True: jax.numpy.sum(x, axis, keepdims=keep)
        self.transpose = lambda x: x.T
        self.relu, self.product = jax.nn.relu, jax.numpy.matmul
        self.convolve = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _softmax(xp: Any, x: Any) -> Any:
    e = xp.exp(x - xp.max(x, 1))
    return e / xp.sum(e, 1)


def _layer_norm(xp: Any, x: Any, scale: Any, shift: Any) -> Any:
    mean = xp.sum(x, 1) / float(x.shape[1])
    centred = x - mean
    variance = xp.sum(centred * centred, 1) / float(x.shape[1])
    return centred / xp.sqrt(variance + 1e-5) * scale + shift


_declare("device-copy", "x + 1: as many bytes as a copy", {"n": MANY}, {"n": FEW}, lambda n: 8 * n, lambda xp, x: x + 1.0,
         lambda n: [(n,)])
_declare("device-chain", "tanh(x*w + 1) / 2 + x", {"n": MANY}, {"n": FEW}, lambda n: 12 * n,
         lambda xp, x, w: xp.tanh(x * w + 1.0) * 0.5 + x, lambda n: [(n,), (n,)])
for _rows, _columns in ROWS:
    _size, _tiny = {"rows": _rows, "columns": _columns}, {"rows": 3, "columns": min(_columns, 1100)}
    _declare(f"device-softmax-{_columns}", f"softmax [{_rows}, {_columns}]", _size, _tiny, lambda rows, columns: 8 * rows * columns,
             _softmax, lambda rows, columns: [(rows, columns)])
    _declare(f"device-layernorm-{_columns}", f"layer norm [{_rows}, {_columns}]", _size, _tiny,
             lambda rows, columns: 8 * rows * columns, _layer_norm, lambda rows, columns: [(rows, columns), (columns,), (columns,)])
    _declare(f"device-columns-{_columns}", f"sums of columns [{_rows}, {_columns}]", _size, {"rows": 70, "columns": 40},
             lambda rows, columns: 4 * rows * columns, lambda xp, x: xp.sum(x, 0, False), lambda rows, columns: [(rows, columns)],
             lambda rows, columns: (columns,))
_declare("device-transpose", "transposed + 1 [16384, 16384]", {"rows": 16384}, {"rows": 40}, lambda rows: 8 * rows * rows,
         lambda xp, x: xp.transpose(x) + 1.0, lambda rows: [(rows, rows)])

for _dtype in ("float32", "float16"):
    _declare(f"device-product-{_dtype}", f"relu(x @ w + b) {_dtype} [4096, 4096]", {"n": 4096}, {"n": 16}, lambda n: 0,
             lambda xp, x, w, b: xp.relu(xp.product(x, w) * (1 / 4096) + b), lambda n: [(n, n), (n, n), (n,)], dtype=_dtype)
    _declare(f"device-convolve-{_dtype}", f"relu(3x3 convolution) {_dtype} [64, 56, 56, 64]", {"n": 64, "size": 56, "channels": 64},
             {"n": 1, "size": 3, "channels": 8}, lambda n, size, channels: 0, lambda xp, x, w: xp.relu(xp.convolve(x, w)),
             lambda n, size, channels: [(n, size, size, channels), (3, 3, channels, channels)], dtype=_dtype)

adam = Workload("device-adam", "Adam on 128M parameters", {"n": 1 << 27}, {"n": FEW}, noise=None)
adam.moves = lambda n: 28 * n


@adam.tf1
def _(tf: Any, n: int) -> Callable[[], Any]:
    parameters = tf.get_variable("p", [n], initializer=tf.zeros_initializer())
    gradient = tf.get_variable("g", [n], initializer=tf.random_uniform_initializer(0.5, 1.5), trainable=False)
    step = tf.train.AdamOptimizer(1e-3).apply_gradients([(gradient.read_value(), parameters)])
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run(step)


@adam.torch
def _(torch: Any, compiled: Any, n: int) -> Callable[[], Any]:
    parameters = torch.nn.Parameter(torch.zeros(n))
    parameters.grad = torch.rand(n) + 0.5
    optimizer = torch.optim.Adam([parameters], fused=parameters.is_cuda)
    return optimizer.step


@adam.on("jax")
def _(n: int) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    def update(p: Any, m: Any, v: Any, g: Any) -> tuple[Any, ...]:
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        return p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v

    gradient, step = jnp.full(n, 0.75, jnp.float32), jax.jit(update, donate_argnums=(0, 1, 2))
    state = [tuple(jnp.zeros(n, jnp.float32) for _ in range(3))]

    def call() -> Any:
        state[0] = step(*state[0], gradient)
        return jax.block_until_ready(state[0])

    return call


dispatch = Workload("device-run", "one Session.run of a counter", unit="us", noise=None)


@dispatch.tf1
def _(tf: Any) -> Callable[[], Any]:
    counter = tf.get_variable("counter", [32], initializer=tf.zeros_initializer())
    step = counter.assign_add(tf.ones([32])).op
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run(step)


@dispatch.torch
def _(torch: Any, compiled: Any) -> Callable[[], Any]:
    counter = torch.zeros(32)
    return lambda: counter.add_(1.0)
