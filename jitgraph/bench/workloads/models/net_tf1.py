"""The words of networks in TensorFlow 1: each adds nodes to the default graph.

The other vocabularies, `net_jax` and `net_torch`, have the same words; a network is written once in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .parameters import Parameters

COMPUTED = "float32"
"""In which type a network computes: of "float16" its variables, statistics, norms and losses stay in float32."""


class Net:
    """One network in the making; `training` tells batch normalisation whose statistics to take."""

    def __init__(self, tf: Any, training: bool):
        self.tf, self.training = tf, training
        self.parameters = Parameters()
        self.updates: list[Any] = []

    # -- parameters ----------------------------------------------------------------------------------------------------

    def weight(self, *shape: int, scale: float | None = None) -> Any:
        return self.computed(self.tf.Variable(self.parameters.normal(shape, scale)))

    def filled(self, value: float, *shape: int) -> Any:
        return self.computed(self._statistic(value, *shape))

    def _statistic(self, value: float, *shape: int, trainable: bool = True) -> Any:
        return self.tf.Variable(np.full(shape, value, np.float32), trainable=trainable)

    def computed(self, x: Any) -> Any:
        """Numbers in the type that is computed in."""
        return x if COMPUTED == "float32" or not x.dtype.is_floating else self.tf.cast(x, COMPUTED)

    # -- images --------------------------------------------------------------------------------------------------------

    def channels(self, x: Any) -> int:
        return int(x.shape[-1])

    def conv(self, x: Any, filters: int, kernel: int | tuple[int, int], stride: int = 1, padding: str = "SAME",
             bias: bool = False, dilation: int = 1) -> Any:
        height, width = (kernel, kernel) if isinstance(kernel, int) else kernel
        weights = self.weight(height, width, self.channels(x), filters)
        x = self.tf.nn.conv2d(x, weights, strides=[1, stride, stride, 1], padding=padding, dilations=[1, dilation, dilation, 1])
        return self.tf.nn.bias_add(x, self.filled(0, filters)) if bias else x

    def depthwise(self, x: Any, kernel: int, stride: int = 1) -> Any:
        weights = self.weight(kernel, kernel, self.channels(x), 1, scale=(2 / kernel**2) ** 0.5)
        return self.tf.nn.depthwise_conv2d(x, weights, [1, stride, stride, 1], "SAME")

    def conv_transposed(self, x: Any, filters: int, kernel: int, stride: int) -> Any:
        """With as much padding as makes the result `stride` times as large."""
        weights = self.weight(kernel, kernel, filters, self.channels(x), scale=(2 / (kernel**2 * self.channels(x))) ** 0.5)
        shape = [self.tf.shape(x)[0], int(x.shape[1]) * stride, int(x.shape[2]) * stride, filters]
        return self.tf.nn.conv2d_transpose(x, weights, shape, [1, stride, stride, 1])

    def conv3d(self, x: Any, filters: int, kernel: int, stride: int = 1) -> Any:
        weights = self.weight(kernel, kernel, kernel, self.channels(x), filters)
        return self.tf.nn.bias_add(self.tf.nn.conv3d(x, weights, [1, stride, stride, stride, 1], "SAME"), self.filled(0, filters))

    def max_pool3d(self, x: Any, size: int) -> Any:
        return self.tf.nn.max_pool3d(x, [1, size, size, size, 1], [1, size, size, size, 1], "SAME")

    def batch_norm(self, x: Any, epsilon: float = 1e-3) -> Any:
        tf, channels = self.tf, self.channels(x)
        gamma, beta = self._statistic(1, channels), self._statistic(0, channels)
        mean, variance = self._statistic(0, channels, trainable=False), self._statistic(1, channels, trainable=False)
        if not self.training:
            return tf.nn.fused_batch_norm(x, gamma, beta, mean, variance, epsilon, is_training=False)[0]
        x, batch_mean, batch_variance = tf.nn.fused_batch_norm(x, gamma, beta, epsilon=epsilon)
        for average, value in ((mean, batch_mean), (variance, batch_variance)):
            self.updates.append(tf.assign_sub(average, (average - value) * 0.01))
        return x

    def max_pool(self, x: Any, size: int, stride: int, padding: str = "SAME") -> Any:
        return self.tf.nn.max_pool(x, [1, size, size, 1], [1, stride, stride, 1], padding)

    def avg_pool(self, x: Any, size: int, stride: int, padding: str = "SAME") -> Any:
        return self.tf.nn.avg_pool(x, [1, size, size, 1], [1, stride, stride, 1], padding)

    def global_pool(self, x: Any) -> Any:
        return self.tf.reduce_mean(x, [1, 2])

    def gated(self, x: Any, gates: Any) -> Any:
        """Images times a number for each channel."""
        return x * self.tf.reshape(gates, [-1, 1, 1, int(gates.shape[-1])])

    def join(self, parts: Sequence[Any]) -> Any:
        """Puts images together by their channels."""
        return self.tf.concat(list(parts), -1)

    def flatten(self, x: Any) -> Any:
        return self.tf.reshape(x, [-1, int(np.prod([int(d) for d in x.shape[1:]]))])

    def images(self, x: Any, height: int, width: int) -> Any:
        """Rows as images, the channels last."""
        return self.tf.reshape(x, [-1, height, width, int(x.shape[-1]) // (height * width)])

    def pixels(self, x: Any, channels: int) -> Any:
        """Images as rows of `channels` for each place: [batch, places * channels / `channels`, `channels`]."""
        return self.tf.reshape(x, [self.tf.shape(x)[0], -1, channels])

    def depth_to_space(self, x: Any, block: int) -> Any:
        return self.tf.depth_to_space(x, block)

    def enlarge(self, x: Any, factor: int) -> Any:
        """Each pixel `factor` times along both sides."""
        return self.tf.image.resize_nearest_neighbor(x, [int(x.shape[1]) * factor, int(x.shape[2]) * factor])

    # -- rows ----------------------------------------------------------------------------------------------------------

    def dense(self, x: Any, units: int, bias: bool = True) -> Any:
        """Of the last axis."""
        tf, depth = self.tf, int(x.shape[-1])
        weights = self.weight(depth, units, scale=depth**-0.5)
        rows = x if len(x.shape) == 2 else tf.reshape(x, [-1, depth])
        rows = tf.matmul(rows, weights)
        rows = rows + self.filled(0, units) if bias else rows
        return rows if len(x.shape) == 2 else tf.reshape(rows, [-1, *(int(d) for d in x.shape[1:-1]), units])

    def layer_norm(self, x: Any, epsilon: float = 1e-5) -> Any:
        tf, depth = self.tf, int(x.shape[-1])
        x = self.real(x)
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        return self.computed((x - mean) * tf.rsqrt(variance + epsilon) * self._statistic(1, depth) + self._statistic(0, depth))

    def gather(self, table: Any, ids: Any) -> Any:
        return self.tf.nn.embedding_lookup(table, ids)

    def beside(self, parts: Sequence[Any]) -> Any:
        """Puts rows together by their last axis."""
        return self.tf.concat(list(parts), -1)

    def below(self, parts: Sequence[Any]) -> Any:
        """Puts rows [batch, rows, n] together by their second axis."""
        return self.tf.concat(list(parts), 1)

    def suppressed(self, boxes: Any, scores: Any, most: int, overlap: float) -> Any:
        """At most so many of the boxes [n, 4], none of which overlaps a better one by more than `overlap`."""
        return self.tf.gather(boxes, self.tf.image.non_max_suppression(boxes, scores, most, overlap))

    def split(self, x: Any, parts: int) -> Any:
        """Of the last axis."""
        return self.tf.split(x, parts, -1)

    def reshape(self, x: Any, *shape: int) -> Any:
        return self.tf.reshape(x, shape)

    def transpose(self, x: Any, *axes: int) -> Any:
        return self.tf.transpose(x, axes)

    def product(self, a: Any, b: Any, transposed: bool = False) -> Any:
        """Of the last two axes; of b with these two changed if it is `transposed`."""
        return self.tf.matmul(a, b, transpose_b=transposed)

    def causal(self, length: int) -> Any:
        """[length, length]: 0 where a row may look, -1e9 where it may not."""
        return self.tf.constant(np.triu(np.full((length, length), -1e9, np.float32), 1))

    # -- numbers -------------------------------------------------------------------------------------------------------

    def relu(self, x: Any) -> Any:
        return self.tf.nn.relu(x)

    def relu6(self, x: Any) -> Any:
        return self.tf.nn.relu6(x)

    def leaky_relu(self, x: Any) -> Any:
        return self.tf.nn.leaky_relu(x, 0.2)

    def elu(self, x: Any) -> Any:
        return self.tf.nn.elu(x)

    def tanh(self, x: Any) -> Any:
        return self.tf.tanh(x)

    def sigmoid(self, x: Any) -> Any:
        return self.tf.sigmoid(x)

    def exp(self, x: Any) -> Any:
        return self.tf.exp(x)

    def log(self, x: Any) -> Any:
        return self.tf.log(x) if hasattr(self.tf, "log") else self.tf.math.log(x)

    def sqrt(self, x: Any) -> Any:
        return self.tf.sqrt(x)

    def square(self, x: Any) -> Any:
        return self.tf.square(x)

    def gelu(self, x: Any) -> Any:
        return 0.5 * x * (1 + self.tf.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * self.tf.pow(x, 3.0))))

    def softmax(self, x: Any) -> Any:
        return self.computed(self.tf.nn.softmax(self.real(x)))

    def log_softmax(self, x: Any) -> Any:
        return self.tf.nn.log_softmax(x)

    def mean(self, x: Any, axis: int | None = None) -> Any:
        return self.tf.reduce_mean(x, axis)

    def sum(self, x: Any, axis: int | None = None) -> Any:
        return self.tf.reduce_sum(x, axis)

    def max(self, x: Any, axis: int) -> Any:
        return self.tf.reduce_max(x, axis)

    def stop(self, x: Any) -> Any:
        """x, with no gradient."""
        return self.tf.stop_gradient(x)

    def one_hot(self, ids: Any, depth: int) -> Any:
        return self.tf.one_hot(ids, depth)

    def real(self, x: Any) -> Any:
        return self.tf.cast(x, self.tf.float32)

    # -- losses --------------------------------------------------------------------------------------------------------

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        """The mean; `logits` [..., classes], `labels` [...] of int32."""
        each = self.tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=self.real(logits))
        return self.tf.reduce_mean(each)

    def sigmoid_cross_entropy(self, logits: Any, labels: Any) -> Any:
        """Element by element."""
        return self.tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def gradient(self, function: Callable[[Any], Any], x: Any) -> Any:
        """Of the scalar function(x), for x; it can be differentiated again."""
        return self.tf.gradients(function(x), x)[0]


    # -- linear algebra and recurrence ---------------------------------------------------------------------------------

    def cholesky(self, x: Any) -> Any:
        return self.tf.cholesky(x) if hasattr(self.tf, "cholesky") else self.tf.linalg.cholesky(x)

    def triangular_solve(self, lower: Any, right: Any) -> Any:
        return self.tf.linalg.triangular_solve(lower, right)

    def diagonal(self, x: Any) -> Any:
        return self.tf.linalg.diag_part(x)

    def unstack(self, x: Any, axis: int) -> list[Any]:
        return self.tf.unstack(x, axis=axis)

    def stack(self, parts: Sequence[Any], axis: int) -> Any:
        return self.tf.stack(list(parts), axis)

    def lstm(self, x: Any, units: int, unrolled: bool = False) -> Any:
        """x [batch, steps, depth] -> [batch, steps, units]; gates in the order i, j, f, o, one product a step."""
        tf, depth = self.tf, int(x.shape[-1])
        cell = _LSTMCell(tf, self.weight(depth + units, 4 * units, scale=(depth + units) ** -0.5), self.filled(0, 4 * units), units)
        if not unrolled:
            return tf.nn.dynamic_rnn(cell, x, dtype=x.dtype)[0]
        state = cell.zero_state(tf.shape(x)[0], x.dtype)
        outputs = []
        for step in tf.unstack(x, axis=1):
            output, state = cell(step, state)
            outputs.append(output)
        return tf.stack(outputs, 1)

    def bidirectional_gru(self, x: Any, lengths: Any, units: int) -> Any:
        """x [batch, steps, depth], of which `lengths` steps count -> [batch, steps, 2 units]."""
        tf, depth = self.tf, int(x.shape[-1])
        cells = [
            _GRUCell(tf, self.weight(depth + units, 2 * units, scale=(depth + units) ** -0.5), self.filled(1, 2 * units),
                     self.weight(depth + units, units, scale=(depth + units) ** -0.5), self.filled(0, units), units)
            for _ in range(2)
        ]
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, lengths, dtype=x.dtype)
        return tf.concat(outputs, 2)


class _Cell:
    """What TensorFlow's loops ask of a cell."""

    def __init__(self, tf: Any, units: int, states: int):
        self.tf, self.output_size = tf, units
        self.state_size: Any = units if states == 1 else (units,) * states

    def zero_state(self, batch: Any, dtype: Any) -> Any:
        zero = self.tf.zeros(self.tf.stack([batch, self.output_size]), dtype)
        return zero if isinstance(self.state_size, int) else (zero,) * len(self.state_size)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        return self.zero_state(batch_size, dtype)


class _LSTMCell(_Cell):
    def __init__(self, tf: Any, kernel: Any, bias: Any, units: int):
        super().__init__(tf, units, 2)
        self.kernel, self.bias = kernel, bias

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        tf, (c, h) = self.tf, state
        i, j, f, o = tf.split(tf.nn.bias_add(tf.matmul(tf.concat([inputs, h], 1), self.kernel), self.bias), 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return h, (c, h)


class _GRUCell(_Cell):
    def __init__(self, tf: Any, gates: Any, gates_bias: Any, kernel: Any, bias: Any, units: int):
        super().__init__(tf, units, 1)
        self.gates, self.gates_bias, self.kernel, self.bias = gates, gates_bias, kernel, bias

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        tf = self.tf
        r, u = tf.split(tf.sigmoid(tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self.gates), self.gates_bias)), 2, 1)
        new = tf.tanh(tf.nn.bias_add(tf.matmul(tf.concat([inputs, r * state], 1), self.kernel), self.bias))
        state = u * state + (1 - u) * new
        return state, state


def optimizer(tf: Any, name: str, rate: float) -> Any:
    if name == "momentum":
        return tf.train.MomentumOptimizer(rate, 0.9)
    return {"adam": tf.train.AdamOptimizer, "sgd": tf.train.GradientDescentOptimizer}[name](rate)


def prepare(tf: Any, model: Any, training: bool, batch: int) -> Callable[[], Any]:
    """Return the call of a run of `model`: a step, which returns the loss, or a forward pass, which returns its result."""
    values = model.data(batch) if training else model.data(batch)[: model.used]
    feeds = [tf.placeholder(tf.as_dtype(v.dtype), [None, *v.shape[1:]] if v.shape[:1] == (batch,) else v.shape) for v in values]
    net = Net(tf, training)
    inputs = [net.computed(fed) for fed in feeds]
    if training:
        loss = model.loss(net, *inputs)
        with tf.control_dependencies(net.updates):
            fetched = [loss, optimizer(tf, model.optimizer, model.rate).minimize(loss)]
    else:
        fetched = [model.forward(net, *inputs)]
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run(fetched, dict(zip(feeds, values)))[0]
