"""Convolutional and recurrent networks, and k-means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..workload import Workload, jitted

RATE = 1e-3

cnn = Workload(
    "cnn",
    "CNN step (5x5x32, pool, 5x5x64, pool, 1024, Adam), batch 128",
    {"batch": 128},
    {"batch": 4},
    goals={"tensorflow": 0.42},
    noise=2e-2,
)
CNN_SHAPES = ((5, 5, 1, 32), (5, 5, 32, 64), (3136, 1024), (1024, 10))


@cnn.arithmetic
def _(batch: int) -> float:
    first, second = 28 * 28 * 25 * 32, 14 * 14 * 25 * 32 * 64 * 36 / 100     # Winograd multiplies 36 times instead of 100
    dense = 3136 * 1024 + 1024 * 10
    return 2 * batch * (2 * first + 3 * second + 3 * dense)     # no gradient of the images



def _cnn_data(batch: int) -> tuple[Any, ...]:
    """Return images [batch, 28, 28, 1], digits [batch] and the list of weights."""
    import numpy as np

    generator = np.random.default_rng(0)
    images = generator.random((batch, 28, 28, 1), dtype=np.float32)
    digits = generator.integers(0, 10, batch, dtype=np.int32)
    scale = lambda shape: np.float32((2 / np.prod(shape[:-1])) ** 0.5)
    weights = [generator.standard_normal(shape, dtype=np.float32) * scale(shape) for shape in CNN_SHAPES]
    return images, digits, weights


def cnn_tf1(tf: Any, batch: int) -> Callable[[], Any]:
    images, digits, weights = _cnn_data(batch)
    x, y = tf.placeholder(tf.float32, [None, 28, 28, 1]), tf.placeholder(tf.int32, [None])
    h = x
    for index, value in enumerate(weights):
        w, b = tf.Variable(value), tf.Variable(tf.zeros([value.shape[-1]]))
        if index < 2:
            h = tf.nn.relu(tf.nn.conv2d(h, w, strides=[1, 1, 1, 1], padding="SAME") + b)
            h = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
        else:
            h = tf.matmul(tf.reshape(h, [-1, int(value.shape[0])]), w) + b
            h = tf.nn.relu(h) if index == 2 else h
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=h))
    step = tf.train.AdamOptimizer(RATE).minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run([step, loss], {x: images, y: digits})[1]


def cnn_jax(batch: int) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    images, digits, weights = _cnn_data(batch)

    def loss_of(parameters: Any, x: Any, y: Any) -> Any:
        for w, b in parameters[:2]:
            x = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = jax.nn.relu(x + b)
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
        x = jax.nn.relu(x.reshape(len(x), -1) @ parameters[2][0] + parameters[2][1])
        logits = x @ parameters[3][0] + parameters[3][1]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))

    def step(state: Any, x: Any, y: Any) -> Any:
        parameters, means, squares, t = state
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, y)
        t = t + 1
        rate = RATE * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, gradients)
        squares = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, squares, gradients)
        update = lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8)
        return (jax.tree.map(update, parameters, means, squares), means, squares, t), loss

    compiled = jax.jit(step, donate_argnums=0)
    parameters = [(jnp.asarray(w), jnp.zeros(w.shape[-1])) for w in weights]
    zeros = lambda: jax.tree.map(jnp.zeros_like, parameters)
    state = [(parameters, zeros(), zeros(), jnp.float32(0))]

    def call() -> Any:
        state[0], loss = compiled(state[0], images, digits)
        return jax.block_until_ready(loss)

    return call


def cnn_torch(torch: Any, compiled: Any, batch: int) -> Callable[[], Any]:
    images, digits, weights = _cnn_data(batch)
    functional = torch.nn.functional
    order = [(3, 2, 0, 1), (3, 2, 0, 1), (1, 0), (1, 0)]
    layers = [torch.from_numpy(w.transpose(axes).copy()).requires_grad_() for w, axes in zip(weights, order)]
    biases = [torch.zeros(w.shape[-1], requires_grad=True) for w in weights]
    optimizer = torch.optim.Adam([*layers, *biases], lr=RATE)
    x, y = torch.from_numpy(images).permute(0, 3, 1, 2), torch.from_numpy(digits).long()

    def forward(x: Any, y: Any) -> Any:
        for w, b in zip(layers[:2], biases):
            x = functional.max_pool2d(functional.relu(functional.conv2d(x, w, b, padding=2)), 2)
        # Flattened as NHWC, so that the weights mean the same as everywhere.
        x = functional.relu(functional.linear(x.permute(0, 2, 3, 1).reshape(len(x), -1), layers[2], biases[2]))
        return functional.cross_entropy(functional.linear(x, layers[3], biases[3]), y)

    run = compiled(forward)

    def call() -> Any:
        optimizer.zero_grad()
        loss = run(x, y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return call


cnn.tf1(cnn_tf1)
cnn.on("jax")(cnn_jax)
cnn.torch(cnn_torch)


text = Workload(
    "text-cnn",
    "text CNN step (56 words x 128, filters over 3, 4 and 5 words, Adam), batch 64",
    {"batch": 64, "words": 56, "width": 128, "filters": 128},
    {"batch": 4, "words": 9, "width": 8, "filters": 6},
    goals={"tensorflow": 1.0},
    noise=2e-2,
)
TEXT_SPANS, VOCABULARY = (3, 4, 5), 1000


def _text_data(batch: int, words: int, width: int, filters: int) -> tuple[Any, ...]:
    """Return words [batch, words], labels [batch] and the weights: the embedding, one filter per span, the last layer."""
    import numpy as np

    generator = np.random.default_rng(0)
    normal = lambda *shape: generator.standard_normal(shape, dtype=np.float32) * np.float32(0.1)
    ids = generator.integers(0, VOCABULARY, (batch, words), dtype=np.int32)
    labels = generator.integers(0, 2, batch, dtype=np.int32)
    weights = [
        normal(VOCABULARY, width),
        *(normal(span, width, 1, filters) for span in TEXT_SPANS),
        normal(filters * len(TEXT_SPANS), 2),
    ]
    return ids, labels, weights


@text.tf1
def _(tf: Any, **size: int) -> Callable[[], Any]:
    ids, labels, values = _text_data(**size)
    x, y = tf.placeholder(tf.int32, [None, size["words"]]), tf.placeholder(tf.int32, [None])
    embedding, *filters, last = (tf.Variable(value) for value in values)
    image = tf.expand_dims(tf.nn.embedding_lookup(embedding, x), -1)
    maxima = [
        tf.reduce_max(tf.nn.relu(tf.nn.conv2d(image, f, strides=[1, 1, 1, 1], padding="VALID")), [1, 2]) for f in filters
    ]
    logits = tf.matmul(tf.concat(maxima, 1), last)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    step = tf.train.AdamOptimizer(RATE).minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run([step, loss], {x: ids, y: labels})[1]


resnet = Workload(
    "resnet-block",
    "ResNet block 3x3, 64 channels 32x32, batch 32, forward + backward",
    {"batch": 32, "side": 32, "channels": 64},
    {"batch": 2, "side": 8, "channels": 16},
    goals={"torch": 1.1},
    noise=2e-2,
)


@resnet.arithmetic
def _(batch: int, side: int, channels: int) -> float:
    return 2 * 3 * 2 * batch * side**2 * 9 * channels**2 * 36 / 144      # Winograd multiplies 36 times instead of 144


def _resnet_data(batch: int, side: int, channels: int) -> tuple[Any, ...]:
    """Return an image batch in NHWC and two 3x3 filters in HWIO."""
    import numpy as np

    generator = np.random.default_rng(0)
    x = generator.standard_normal((batch, side, side, channels), dtype=np.float32)
    scale = np.float32((2 / (9 * channels)) ** 0.5)
    return x, *(generator.standard_normal((3, 3, channels, channels), dtype=np.float32) * scale for _ in range(2))


@resnet.tf1
def _(tf: Any, **size: int) -> Callable[[], Any]:
    image, *filters = _resnet_data(**size)
    x = tf.placeholder(tf.float32, [None, *image.shape[1:]])
    f, g = (tf.Variable(value) for value in filters)
    conv = lambda inputs, weights: tf.nn.conv2d(inputs, weights, strides=[1, 1, 1, 1], padding="SAME")
    out = tf.nn.relu(x + conv(tf.nn.relu(conv(x, f)), g))
    gradients = tf.gradients(tf.reduce_mean(out), [x, f, g])
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run(gradients, {x: image})


@resnet.on("jax")
def _(**size: int) -> Callable[[], Any]:
    import jax

    def loss(x: Any, f: Any, g: Any) -> Any:
        conv = lambda a, w: jax.lax.conv_general_dilated(
            a, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        return jax.nn.relu(x + conv(jax.nn.relu(conv(x, f)), g)).mean()

    return jitted(jax.grad(loss, argnums=(0, 1, 2)), *_resnet_data(**size))


@resnet.torch
def _(torch: Any, compiled: Any, **size: int) -> Callable[[], Any]:
    image, *filters = _resnet_data(**size)
    functional = torch.nn.functional
    x = torch.from_numpy(image).permute(0, 3, 1, 2).requires_grad_()  # NCHW by its shape, NHWC in memory
    weights = [
        torch.from_numpy(w.transpose(3, 2, 0, 1).copy()).contiguous(memory_format=torch.channels_last).requires_grad_()
        for w in filters
    ]

    def loss(x: Any, f: Any, g: Any) -> Any:
        inner = functional.relu(functional.conv2d(x, f, padding=1))
        return functional.relu(x + functional.conv2d(inner, g, padding=1)).mean()

    run = compiled(loss)

    def call() -> Any:
        dx, df, dg = torch.autograd.grad(run(x, *weights), [x, *weights])
        return dx.permute(0, 2, 3, 1), df.permute(2, 3, 1, 0), dg.permute(2, 3, 1, 0)

    return call


lstm = Workload(
    "lstm",
    "LSTM, 64 steps, batch 32, hidden 256, forward + backward + SGD",
    {"steps": 64, "batch": 32, "hidden": 256},
    {"steps": 4, "batch": 2, "hidden": 8},
    goals={"jax": 0.7},
    noise=1e-2,
)


@lstm.arithmetic
def _(steps: int, batch: int, hidden: int) -> float:
    forward, state = 2 * hidden * 4 * hidden, hidden * 4 * hidden
    return 2 * steps * batch * (2 * forward + state)        # no gradient of the inputs


def _lstm_data(steps: int, batch: int, hidden: int) -> tuple[Any, Any]:
    """Return inputs [steps, batch, hidden] and the weights [2 hidden, 4 hidden] of the gates i, j, f, o."""
    import numpy as np

    generator = np.random.default_rng(0)
    x = generator.standard_normal((steps, batch, hidden), dtype=np.float32)
    return x, generator.standard_normal((2 * hidden, 4 * hidden), dtype=np.float32) * np.float32(hidden**-0.5)


@lstm.tf1
def _(tf: Any, steps: int, batch: int, hidden: int) -> Callable[[], Any]:
    values, weights = _lstm_data(steps, batch, hidden)
    x = tf.placeholder(tf.float32, values.shape)
    w = tf.Variable(weights)
    inputs = tf.TensorArray(tf.float32, steps).unstack(x)
    outputs = tf.TensorArray(tf.float32, steps)

    def cell(t: Any, h: Any, c: Any, outputs: Any) -> tuple[Any, ...]:
        i, j, f, o = tf.split(tf.matmul(tf.concat([inputs.read(t), h], 1), w), 4, 1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
        return t + 1, h, c, outputs.write(t, h)

    zero = tf.zeros([batch, hidden])
    final = tf.while_loop(lambda t, *_: t < steps, cell, (tf.constant(0), zero, zero, outputs))
    loss = tf.reduce_mean(tf.square(final[3].stack()))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run([step, loss], {x: values})[1]


@lstm.on("jax")
def _(steps: int, batch: int, hidden: int) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    values, weights = _lstm_data(steps, batch, hidden)

    def loss_of(w: Any, x: Any) -> Any:
        def cell(state: Any, inputs: Any) -> Any:
            h, c = state
            i, j, f, o = jnp.split(jnp.concatenate([inputs, h], 1) @ w, 4, 1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(j)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((batch, hidden))
        return jnp.mean(jnp.square(jax.lax.scan(cell, (zero, zero), x)[1]))

    def step(w: Any, x: Any) -> Any:
        loss, gradient = jax.value_and_grad(loss_of)(w, x)
        return w - 0.1 * gradient, loss

    compiled = jax.jit(step, donate_argnums=0)
    state = [jnp.asarray(weights)]

    def call() -> Any:
        state[0], loss = compiled(state[0], values)
        return jax.block_until_ready(loss)

    return call


@lstm.torch
def _(torch: Any, compiled: Any, steps: int, batch: int, hidden: int) -> Callable[[], Any]:
    import numpy as np

    values, weights = _lstm_data(steps, batch, hidden)
    i, j, f, o = np.split(weights.T, 4)
    gates = torch.from_numpy(np.concatenate([i, f, j, o]))  # torch's order
    layer = torch.nn.LSTM(hidden, hidden)
    layer.weight_ih_l0.data, layer.weight_hh_l0.data = gates[:, :hidden].clone(), gates[:, hidden:].clone()
    layer.bias_ih_l0.data.zero_()[hidden : 2 * hidden] = 1.0
    layer.bias_hh_l0.data.zero_()
    optimizer = torch.optim.SGD([layer.weight_ih_l0, layer.weight_hh_l0], lr=0.1)
    x = torch.from_numpy(values)
    run = compiled(lambda a: torch.square(layer(a)[0]).mean())

    def call() -> Any:
        optimizer.zero_grad()
        loss = run(x)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return call


kmeans = Workload(
    "k-means",
    "k-means step, 10,000 x 64 to 25 centres",
    {"n": 10_000, "d": 64, "k": 25},
    {"n": 50, "d": 4, "k": 3},
    goals={"jax": 0.7},
)


def _points(n: int, d: int, k: int) -> tuple[Any, Any]:
    import numpy as np

    points = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    return points, points[:k].copy()


@kmeans.tf1
def _(tf: Any, n: int, d: int, k: int) -> Callable[[], Any]:
    points, start = _points(n, d, k)
    x, c = tf.placeholder(tf.float32, [None, d]), tf.placeholder(tf.float32, [k, d])
    distances = tf.reduce_sum(tf.square(tf.expand_dims(x, 1) - tf.expand_dims(c, 0)), 2)
    nearest = tf.argmin(distances, 1)
    totals = tf.unsorted_segment_sum(x, nearest, k)
    counts = tf.unsorted_segment_sum(tf.ones_like(x[:, :1]), nearest, k)
    moved = totals / tf.maximum(counts, 1.0)
    session = tf.Session()
    return lambda: session.run(moved, {x: points, c: start})


@kmeans.on("jax")
def _(n: int, d: int, k: int) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    def step(x: Any, c: Any) -> Any:
        nearest = jnp.argmin(jnp.sum(jnp.square(x[:, None] - c[None]), 2), 1)
        totals = jax.ops.segment_sum(x, nearest, k)
        return totals / jnp.maximum(jax.ops.segment_sum(jnp.ones((n, 1)), nearest, k), 1)

    return jitted(step, *_points(n, d, k))


@kmeans.torch
def _(torch: Any, compiled: Any, n: int, d: int, k: int) -> Callable[[], Any]:
    points, centres = (torch.from_numpy(array) for array in _points(n, d, k))

    def step(x: Any, c: Any) -> Any:
        nearest = torch.cdist(x, c).argmin(1)
        totals = torch.zeros(k, d).index_add(0, nearest, x)
        return totals / torch.bincount(nearest, minlength=k).clamp(min=1)[:, None]

    run = compiled(step)
    return lambda: run(points, centres)


@kmeans.on("numpy")
def _(n: int, d: int, k: int) -> Callable[[], Any]:
    import numpy as np

    x, c = _points(n, d, k)

    def step() -> Any:
        nearest = ((c * c).sum(1) - 2 * x @ c.T).argmin(1)
        totals = np.zeros((k, d), np.float32)
        np.add.at(totals, nearest, x)
        return totals / np.maximum(np.bincount(nearest, minlength=k), 1)[:, None]

    return step
