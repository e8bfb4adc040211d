"""The words of networks in torch; see `net_tf1`.  Images are NCHW by their shape and NHWC in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from .parameters import Parameters


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
        made = torch.from_numpy(np.ascontiguousarray(value()))
        if made.ndim == 4:
            made = made.contiguous(memory_format=torch.channels_last)
        self.made.append(made.requires_grad_())
        return self.made[-1]

    def weight(self, *shape: int, scale: float | None = None, axes: tuple[int, ...] | None = None) -> Any:
        draw = lambda: self._draw.normal(shape, scale)
        return self._parameter(draw if axes is None else lambda: draw().transpose(axes))

    def filled(self, value: float, *shape: int) -> Any:
        return self._parameter(lambda: np.full(shape, value, np.float32))

    # -- images --------------------------------------------------------------------------------------------------------

    def channels(self, x: Any) -> int:
        return x.shape[1]

    def conv(self, x: Any, filters: int, kernel: int | tuple[int, int], stride: int = 1, padding: str = "SAME",
             bias: bool = False, dilation: int = 1) -> Any:
        kernel = (kernel, kernel) if isinstance(kernel, int) else kernel
        weights = self.weight(*kernel, x.shape[1], filters, axes=(3, 2, 0, 1))
        x, pads = _padded(x, kernel, stride, padding, dilation)
        bias_of = self.filled(0, filters) if bias else None
        return functional.conv2d(x, weights, bias_of, stride=stride, padding=pads, dilation=dilation)

    def depthwise(self, x: Any, kernel: int, stride: int = 1) -> Any:
        depth = x.shape[1]
        weights = self.weight(kernel, kernel, depth, 1, scale=(2 / kernel**2) ** 0.5, axes=(2, 3, 0, 1))
        x, pads = _padded(x, (kernel, kernel), stride, "SAME", 1)
        return functional.conv2d(x, weights, stride=stride, padding=pads, groups=depth)

    def conv_transposed(self, x: Any, filters: int, kernel: int, stride: int) -> Any:
        depth = x.shape[1]
        weights = self.weight(kernel, kernel, filters, depth, scale=(2 / (kernel**2 * depth)) ** 0.5, axes=(3, 2, 0, 1))
        height, width = (side * stride for side in x.shape[2:])
        x = functional.conv_transpose2d(x, weights, stride=stride, padding=(kernel - stride) // 2)
        return x[:, :, :height, :width]             # TensorFlow's SAME leaves an odd row of padding at the end

    def conv3d(self, x: Any, filters: int, kernel: int, stride: int = 1) -> Any:
        weights = self.weight(kernel, kernel, kernel, x.shape[1], filters, axes=(4, 3, 0, 1, 2))
        return functional.conv3d(x, weights, self.filled(0, filters), stride=stride, padding=kernel // 2)

    def max_pool3d(self, x: Any, size: int) -> Any:
        return functional.max_pool3d(x, size, ceil_mode=True)

    def batch_norm(self, x: Any, epsilon: float = 1e-3) -> Any:
        depth = x.shape[1]
        gamma, beta = self.filled(1, depth), self.filled(0, depth)
        averages = [next(self._averages, None) for _ in (0, 1)]
        if averages[0] is None:
            averages = [torch.zeros(depth), torch.ones(depth)]
            self.averages += averages
        return functional.batch_norm(x, *averages, gamma, beta, self.training, 0.01, epsilon)

    def max_pool(self, x: Any, size: int, stride: int, padding: str = "SAME") -> Any:
        x, pads = _padded(x, (size, size), stride, padding, 1, -float("inf"))
        return functional.max_pool2d(x, size, stride, pads)

    def avg_pool(self, x: Any, size: int, stride: int, padding: str = "SAME") -> Any:
        return functional.avg_pool2d(x, size, stride, size // 2 if padding == "SAME" and stride == 1 else 0,
                                     count_include_pad=False)

    def global_pool(self, x: Any) -> Any:
        return x.mean((2, 3))

    def gated(self, x: Any, gates: Any) -> Any:
        """Images times a number for each channel."""
        return x * gates[:, :, None, None]

    def join(self, parts: Sequence[Any]) -> Any:
        return torch.cat(list(parts), 1)

    def flatten(self, x: Any) -> Any:
        axes = (0, *range(2, x.ndim), 1)            # as NHWC, so that weights mean the same as everywhere
        return x.permute(axes).reshape(x.shape[0], -1)

    def images(self, x: Any, height: int, width: int) -> Any:
        return x.reshape(x.shape[0], height, width, -1).permute(0, 3, 1, 2)

    def pixels(self, x: Any, channels: int) -> Any:
        return x.permute(0, 2, 3, 1).reshape(x.shape[0], -1, channels)

    def depth_to_space(self, x: Any, block: int) -> Any:
        n, c, h, w = x.shape                        # TensorFlow's order of channels: the block first
        x = x.reshape(n, block, block, c // block**2, h, w).permute(0, 3, 4, 1, 5, 2)
        return x.reshape(n, c // block**2, h * block, w * block)

    def enlarge(self, x: Any, factor: int) -> Any:
        return functional.interpolate(x, scale_factor=factor, mode="nearest")

    # -- rows ----------------------------------------------------------------------------------------------------------

    def dense(self, x: Any, units: int, bias: bool = True) -> Any:
        weights = self.weight(x.shape[-1], units, scale=x.shape[-1] ** -0.5, axes=(1, 0))
        return functional.linear(x, weights, self.filled(0, units) if bias else None)

    def layer_norm(self, x: Any, epsilon: float = 1e-5) -> Any:
        return functional.layer_norm(x, x.shape[-1:], self.filled(1, x.shape[-1]), self.filled(0, x.shape[-1]), epsilon)

    def gather(self, table: Any, ids: Any) -> Any:
        return functional.embedding(ids, table) if table.ndim == 2 else table[ids]

    def beside(self, parts: Sequence[Any]) -> Any:
        return torch.cat(list(parts), -1)

    def split(self, x: Any, parts: int) -> Any:
        return x.chunk(parts, -1)

    def reshape(self, x: Any, *shape: int) -> Any:
        return x.reshape(shape)

    def transpose(self, x: Any, *axes: int) -> Any:
        return x.permute(axes)

    def product(self, a: Any, b: Any, transposed: bool = False) -> Any:
        return a @ (b.transpose(-1, -2) if transposed else b)

    def causal(self, length: int) -> Any:
        return torch.triu(torch.full((length, length), -1e9), 1)

    # -- numbers -------------------------------------------------------------------------------------------------------

    relu = staticmethod(functional.relu)
    relu6 = staticmethod(functional.relu6)
    elu = staticmethod(functional.elu)
    tanh = staticmethod(torch.tanh)
    sigmoid = staticmethod(torch.sigmoid)
    exp = staticmethod(torch.exp)
    log = staticmethod(torch.log)
    sqrt = staticmethod(torch.sqrt)
    square = staticmethod(torch.square)

    def leaky_relu(self, x: Any) -> Any:
        return functional.leaky_relu(x, 0.2)

    def gelu(self, x: Any) -> Any:
        return functional.gelu(x, approximate="tanh")

    def softmax(self, x: Any) -> Any:
        return functional.softmax(x, -1)

    def log_softmax(self, x: Any) -> Any:
        return functional.log_softmax(x, -1)

    def mean(self, x: Any, axis: int | None = None) -> Any:
        return x.mean() if axis is None else x.mean(axis)

    def sum(self, x: Any, axis: int | None = None) -> Any:
        return x.sum() if axis is None else x.sum(axis)

    def max(self, x: Any, axis: int) -> Any:
        return x.amax(axis)

    def stop(self, x: Any) -> Any:
        return x.detach()

    def one_hot(self, ids: Any, depth: int) -> Any:
        return functional.one_hot(ids, depth).float()

    def real(self, x: Any) -> Any:
        return x.float()

    # -- losses --------------------------------------------------------------------------------------------------------

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        return functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))

    def sigmoid_cross_entropy(self, logits: Any, labels: Any) -> Any:
        return functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")

    def gradient(self, function: Callable[[Any], Any], x: Any) -> Any:
        x = x.detach().requires_grad_()
        return torch.autograd.grad(function(x), x, create_graph=True)[0]

    # -- linear algebra and recurrence ---------------------------------------------------------------------------------

    cholesky = staticmethod(torch.linalg.cholesky)
    diagonal = staticmethod(torch.diagonal)

    def triangular_solve(self, lower: Any, right: Any) -> Any:
        return torch.linalg.solve_triangular(lower, right, upper=False)

    def unstack(self, x: Any, axis: int) -> list[Any]:
        return list(x.unbind(axis))

    def stack(self, parts: Sequence[Any], axis: int) -> Any:
        return torch.stack(list(parts), axis)

    def lstm(self, x: Any, units: int, unrolled: bool = False) -> Any:
        """torch's own; its gates stand in the order i, f, j, o, and it has two biases."""
        depth = x.shape[-1]
        drawn: Any = self._draw.normal((depth + units, 4 * units), (depth + units) ** -0.5) if self._given is None else None
        ordered = lambda: np.concatenate([drawn.T[units * k : units * (k + 1)] for k in (0, 2, 1, 3)])
        inputs = self._parameter(lambda: ordered()[:, :depth])
        state = self._parameter(lambda: ordered()[:, depth:])
        bias = self._parameter(lambda: np.repeat(np.array([0, 1, 0, 0], np.float32), units))
        zero = torch.zeros(1, x.shape[0], units)
        weights = [inputs, state, bias, torch.zeros(4 * units)]
        return torch.lstm(x, (zero, zero), weights, True, 1, 0.0, self.training, False, True)[0]


def _padded(x: Any, kernel: tuple[int, int], stride: int, padding: str, dilation: int, value: float = 0.0) -> tuple[Any, Any]:
    """What TensorFlow's SAME adds: what can be left to the operation as its padding, and the images padded where not."""
    if padding == "VALID":
        return x, 0
    totals = [max((-(-side // stride) - 1) * stride + (k - 1) * dilation + 1 - side, 0) for side, k in zip(x.shape[2:], kernel)]
    if all(total % 2 == 0 for total in totals):
        return x, tuple(total // 2 for total in totals)
    (top, left) = (total // 2 for total in totals)
    return functional.pad(x, (left, totals[1] - left, top, totals[0] - top), value=value), 0


def given(model: Any, training: bool, batch: int) -> list[Any]:
    """The data of a model as torch wants them."""
    values = [torch.from_numpy(v) for v in (model.data(batch) if training else model.data(batch)[: model.used])]
    values = [v.long() if v.dtype == torch.int32 else v for v in values]
    return [v.movedim(-1, 1) if v.ndim in (4, 5) else v for v in values]


def prepare(model: Any, compiled: Callable[[Any], Any], training: bool, batch: int) -> Callable[[], Any]:
    """Return the call of a run of `model`; see `net_tf1.prepare`."""
    values = given(model, training, batch)
    first = Net(training)
    (model.loss if training else model.forward)(first, *values)
    if not training:
        forward = compiled(lambda *given: model.forward(Net(False, first.made, first.averages), *given))

        def infer() -> Any:
            with torch.inference_mode():
                result = forward(*values)
                return result.movedim(1, -1) if result.ndim in (4, 5) and values[0].ndim in (4, 5) else result

        return infer
    kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "momentum": torch.optim.SGD}
    optimizer = kinds[model.optimizer](first.made, lr=model.rate, **({"momentum": 0.9} if model.optimizer == "momentum" else {}))
    loss_of = compiled(lambda *given: model.loss(Net(True, first.made, first.averages), *given))
    for average, value in zip(first.averages, (0.0, 1.0) * len(first.averages)):
        average.fill_(value)

    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of(*values)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step
