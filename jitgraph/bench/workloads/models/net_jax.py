"""The words of networks in JAX; see `net_tf1`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .parameters import Parameters

IMAGES = ("NHWC", "HWIO", "NHWC")
VOLUMES = ("NDHWC", "DHWIO", "NDHWC")


class Net:
    """One call of a network: parameters and averages are those given, in the order in which they are asked for.

    Without any, they are drawn, and found in `made` and `averages`.
    """

    def __init__(self, training: bool, parameters: Sequence[Any] | None = None, averages: Sequence[Any] | None = None):
        self.training = training
        self._given = None if parameters is None else iter(parameters)
        self._averages, self._draw = iter(averages or ()), Parameters()
        self.made: list[Any] = []
        self.averages: list[Any] = []

    def _parameter(self, value: Callable[[], Any]) -> Any:
        if self._given is not None:
            return next(self._given)
        self.made.append(jnp.asarray(value()))
        return self.made[-1]

    def weight(self, *shape: int, scale: float | None = None) -> Any:
        return self._parameter(lambda: self._draw.normal(shape, scale))

    def filled(self, value: float, *shape: int) -> Any:
        return self._parameter(lambda: np.full(shape, value, np.float32))

    # -- images --------------------------------------------------------------------------------------------------------

    def channels(self, x: Any) -> int:
        return x.shape[-1]

    def conv(self, x: Any, filters: int, kernel: int | tuple[int, int], stride: int = 1, padding: str = "SAME",
             bias: bool = False, dilation: int = 1) -> Any:
        height, width = (kernel, kernel) if isinstance(kernel, int) else kernel
        weights = self.weight(height, width, x.shape[-1], filters)
        x = lax.conv_general_dilated(x, weights, (stride, stride), padding, rhs_dilation=(dilation, dilation),
                                     dimension_numbers=IMAGES)
        return x + self.filled(0, filters) if bias else x

    def depthwise(self, x: Any, kernel: int, stride: int = 1) -> Any:
        depth = x.shape[-1]
        weights = self.weight(kernel, kernel, depth, 1, scale=(2 / kernel**2) ** 0.5).reshape(kernel, kernel, 1, depth)
        return lax.conv_general_dilated(x, weights, (stride, stride), "SAME", dimension_numbers=IMAGES,
                                        feature_group_count=depth)

    def conv_transposed(self, x: Any, filters: int, kernel: int, stride: int) -> Any:
        depth = x.shape[-1]
        weights = self.weight(kernel, kernel, filters, depth, scale=(2 / (kernel**2 * depth)) ** 0.5)
        return lax.conv_transpose(x, weights, (stride, stride), "SAME", dimension_numbers=IMAGES, transpose_kernel=True)

    def conv3d(self, x: Any, filters: int, kernel: int, stride: int = 1) -> Any:
        weights = self.weight(kernel, kernel, kernel, x.shape[-1], filters)
        x = lax.conv_general_dilated(x, weights, (stride,) * 3, "SAME", dimension_numbers=VOLUMES)
        return x + self.filled(0, filters)

    def max_pool3d(self, x: Any, size: int) -> Any:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, size, 1), (1, size, size, size, 1), "SAME")

    def batch_norm(self, x: Any, epsilon: float = 1e-3) -> Any:
        gamma, beta = self.filled(1, x.shape[-1]), self.filled(0, x.shape[-1])
        averages = [next(self._averages, jnp.full(x.shape[-1], value, jnp.float32)) for value in (0, 1)]
        if self.training:
            axes = tuple(range(x.ndim - 1))
            mean = x.mean(axes)
            variance = jnp.square(x).mean(axes) - mean * mean
            count = x.size // x.shape[-1]
            given = mean, variance * (count / max(count - 1, 1))
            self.averages += [old - (old - new) * 0.01 for old, new in zip(averages, map(lax.stop_gradient, given))]
        else:
            mean, variance = averages
            self.averages += averages
        return (x - mean) * (lax.rsqrt(variance + epsilon) * gamma) + beta

    def max_pool(self, x: Any, size: int, stride: int, padding: str = "SAME") -> Any:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, stride, stride, 1), padding)

    def avg_pool(self, x: Any, size: int, stride: int, padding: str = "SAME") -> Any:
        windows = lambda a: lax.reduce_window(a, 0.0, lax.add, (1, size, size, 1), (1, stride, stride, 1), padding)
        return windows(x) / (size**2 if padding == "VALID" else windows(np.ones((1, *x.shape[1:3], 1), np.float32)))

    def global_pool(self, x: Any) -> Any:
        return x.mean((1, 2))

    def gated(self, x: Any, gates: Any) -> Any:
        """Images times a number for each channel."""
        return x * gates[:, None, None]

    def join(self, parts: Sequence[Any]) -> Any:
        return jnp.concatenate(list(parts), -1)

    def flatten(self, x: Any) -> Any:
        return x.reshape(x.shape[0], -1)

    def images(self, x: Any, height: int, width: int) -> Any:
        return x.reshape(x.shape[0], height, width, -1)

    def pixels(self, x: Any, channels: int) -> Any:
        return x.reshape(x.shape[0], -1, channels)

    def depth_to_space(self, x: Any, block: int) -> Any:
        n, h, w, _ = x.shape
        return x.reshape(n, h, w, block, block, -1).transpose(0, 1, 3, 2, 4, 5).reshape(n, h * block, w * block, -1)

    def enlarge(self, x: Any, factor: int) -> Any:
        return x.repeat(factor, 1).repeat(factor, 2)

    # -- rows ----------------------------------------------------------------------------------------------------------

    def dense(self, x: Any, units: int, bias: bool = True) -> Any:
        x = x @ self.weight(x.shape[-1], units, scale=x.shape[-1] ** -0.5)
        return x + self.filled(0, units) if bias else x

    def layer_norm(self, x: Any, epsilon: float = 1e-5) -> Any:
        mean = x.mean(-1, keepdims=True)
        variance = jnp.square(x - mean).mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + epsilon) * self.filled(1, x.shape[-1]) + self.filled(0, x.shape[-1])

    def gather(self, table: Any, ids: Any) -> Any:
        return table[ids]

    def beside(self, parts: Sequence[Any]) -> Any:
        return jnp.concatenate(list(parts), -1)

    def split(self, x: Any, parts: int) -> Any:
        return jnp.split(x, parts, -1)

    def reshape(self, x: Any, *shape: int) -> Any:
        return x.reshape(shape)

    def transpose(self, x: Any, *axes: int) -> Any:
        return x.transpose(axes)

    def product(self, a: Any, b: Any, transposed: bool = False) -> Any:
        return a @ (b.swapaxes(-1, -2) if transposed else b)

    def causal(self, length: int) -> Any:
        return np.triu(np.full((length, length), -1e9, np.float32), 1)

    # -- numbers -------------------------------------------------------------------------------------------------------

    relu = staticmethod(jax.nn.relu)
    relu6 = staticmethod(jax.nn.relu6)
    elu = staticmethod(jax.nn.elu)
    tanh = staticmethod(jnp.tanh)
    sigmoid = staticmethod(jax.nn.sigmoid)
    exp = staticmethod(jnp.exp)
    log = staticmethod(jnp.log)
    sqrt = staticmethod(jnp.sqrt)
    square = staticmethod(jnp.square)
    gelu = staticmethod(jax.nn.gelu)
    softmax = staticmethod(jax.nn.softmax)
    log_softmax = staticmethod(jax.nn.log_softmax)
    mean = staticmethod(jnp.mean)
    sum = staticmethod(jnp.sum)
    max = staticmethod(jnp.max)
    stop = staticmethod(lax.stop_gradient)
    one_hot = staticmethod(jax.nn.one_hot)

    def leaky_relu(self, x: Any) -> Any:
        return jax.nn.leaky_relu(x, 0.2)

    def real(self, x: Any) -> Any:
        return x.astype(jnp.float32)

    # -- losses --------------------------------------------------------------------------------------------------------

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))

    def sigmoid_cross_entropy(self, logits: Any, labels: Any) -> Any:
        return jnp.maximum(logits, 0) - logits * labels + jnp.log1p(jnp.exp(-jnp.abs(logits)))

    def gradient(self, function: Callable[[Any], Any], x: Any) -> Any:
        return jax.grad(function)(x)

    # -- linear algebra and recurrence ---------------------------------------------------------------------------------

    cholesky = staticmethod(jnp.linalg.cholesky)
    diagonal = staticmethod(jnp.diagonal)

    def triangular_solve(self, lower: Any, right: Any) -> Any:
        return jax.scipy.linalg.solve_triangular(lower, right, lower=True)

    def unstack(self, x: Any, axis: int) -> list[Any]:
        return list(jnp.moveaxis(x, axis, 0))

    def stack(self, parts: Sequence[Any], axis: int) -> Any:
        return jnp.stack(list(parts), axis)

    def lstm(self, x: Any, units: int, unrolled: bool = False) -> Any:
        depth = x.shape[-1]
        kernel, bias = self.weight(depth + units, 4 * units, scale=(depth + units) ** -0.5), self.filled(0, 4 * units)

        def cell(state: Any, inputs: Any) -> Any:
            c, h = state
            i, j, f, o = jnp.split(jnp.concatenate([inputs, h], 1) @ kernel + bias, 4, 1)
            c = c * jax.nn.sigmoid(f + 1.0) + jax.nn.sigmoid(i) * jnp.tanh(j)
            h = jnp.tanh(c) * jax.nn.sigmoid(o)
            return (c, h), h

        zero = jnp.zeros((x.shape[0], units))
        return lax.scan(cell, (zero, zero), x.swapaxes(0, 1))[1].swapaxes(0, 1)

    def bidirectional_gru(self, x: Any, lengths: Any, units: int) -> Any:
        depth = x.shape[-1]
        weights = [
            (self.weight(depth + units, 2 * units, scale=(depth + units) ** -0.5), self.filled(1, 2 * units),
             self.weight(depth + units, units, scale=(depth + units) ** -0.5), self.filled(0, units))
            for _ in range(2)
        ]
        steps = jnp.arange(x.shape[1])
        valid = (steps < lengths[:, None])[:, :, None]
        turned = jnp.where(valid[..., 0], lengths[:, None] - 1 - steps, steps)      # the first `length` steps backwards

        def run(values: Any, gates: Any, gates_bias: Any, kernel: Any, bias: Any) -> Any:
            def cell(state: Any, given: Any) -> Any:
                inputs, counts = given
                r, u = jnp.split(jax.nn.sigmoid(jnp.concatenate([inputs, state], 1) @ gates + gates_bias), 2, 1)
                new = jnp.tanh(jnp.concatenate([inputs, r * state], 1) @ kernel + bias)
                new = jnp.where(counts, u * state + (1 - u) * new, state)
                return new, jnp.where(counts, new, 0)

            zero = jnp.zeros((values.shape[0], units))
            return lax.scan(cell, zero, (values.swapaxes(0, 1), valid.swapaxes(0, 1)))[1].swapaxes(0, 1)

        back = jnp.take_along_axis(x, turned[..., None], 1)
        back = jnp.take_along_axis(run(back, *weights[1]), turned[..., None], 1)
        return jnp.concatenate([run(x, *weights[0]), back], 2)


def _updated(name: str, rate: float, parameters: Any, slots: Any, gradients: Any, t: Any) -> tuple[Any, Any]:
    """Parameters and slots after a step of TensorFlow's optimizer of this name."""
    if name == "sgd":
        return [p - rate * g for p, g in zip(parameters, gradients)], slots
    if name == "momentum":
        slots = [[0.9 * m + g] for (m,), g in zip(slots, gradients)]
        return [p - rate * m for p, (m,) in zip(parameters, slots)], slots
    rate = rate * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    slots = [[0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g] for (m, v), g in zip(slots, gradients)]
    return [p - rate * m / (jnp.sqrt(v) + 1e-8) for p, (m, v) in zip(parameters, slots)], slots


def prepare(model: Any, training: bool, batch: int) -> Callable[[], Any]:
    """Return the call of a run of `model`; see `net_tf1.prepare`."""
    values = [jnp.asarray(value) for value in (model.data(batch) if training else model.data(batch)[: model.used])]
    first = Net(training)
    whole = model.loss if training else model.forward
    whole(first, *values)
    if not training:
        forward = jax.jit(lambda parameters, averages, *given: model.forward(Net(False, parameters, averages), *given))
        return lambda: jax.block_until_ready(forward(first.made, first.averages, *values))

    def loss_of(parameters: Any, averages: Any, *given: Any) -> Any:
        net = Net(True, parameters, averages)
        return model.loss(net, *given), net.averages

    def step(parameters: Any, slots: Any, averages: Any, t: Any, *given: Any) -> Any:
        (loss, averages), gradients = jax.value_and_grad(loss_of, has_aux=True)(parameters, averages, *given)
        parameters, slots = _updated(model.optimizer, model.rate, parameters, slots, gradients, t + 1)
        return (parameters, slots, averages, t + 1), loss

    compiled = jax.jit(step, donate_argnums=(0, 1, 2, 3))
    count = {"sgd": 0, "momentum": 1, "adam": 2}[model.optimizer]
    fresh = [jnp.zeros(a.shape) + v for a, v in zip(first.averages, (0.0, 1.0) * len(first.averages))]
    state = [(first.made, [[jnp.zeros_like(p) for _ in range(count)] for p in first.made], fresh, jnp.float32(0))]

    def call() -> Any:
        state[0], loss = compiled(*state[0], *values)
        return jax.block_until_ready(loss)

    return call
