"""The training step of a small network, 784-256-256-10 with Adam, in its steady state and with new batch sizes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from ..workload import Workload

LAYERS = (784, 256, 256, 10)
RATE = 1e-3

Step = Callable[[int], Any]
"""A training step on the first `n` examples of the data; gives the loss."""


def data(batch: int) -> tuple[Any, Any]:
    """Return images float32 [batch, 784] and digits int32 [batch]."""
    import numpy as np

    generator = np.random.default_rng(0)
    return generator.random((batch, LAYERS[0]), dtype=np.float32), generator.integers(0, 10, batch, dtype=np.int32)


def weights() -> list[tuple[Any, Any]]:
    """Return (weights, bias) per layer, the same for each peer."""
    import numpy as np

    generator = np.random.default_rng(1)
    return [
        (generator.standard_normal((a, b), dtype=np.float32) * np.float32((2 / a) ** 0.5), np.zeros(b, np.float32))
        for a, b in zip(LAYERS, LAYERS[1:])
    ]


def mlp_tf1(tf: Any, batch: int) -> Step:
    images, digits = data(batch)
    x, y = tf.placeholder(tf.float32, [None, LAYERS[0]]), tf.placeholder(tf.int32, [None])
    h = x
    for index, (w, b) in enumerate(weights()):
        h = tf.matmul(h, tf.Variable(w)) + tf.Variable(b)
        h = tf.nn.relu(h) if index < len(LAYERS) - 2 else h
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=h))
    step = tf.train.AdamOptimizer(RATE).minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda n: session.run([step, loss], {x: images[:n], y: digits[:n]})[1]


def mlp_jax(batch: int) -> Step:
    import jax
    import jax.numpy as jnp

    images, digits = data(batch)

    def loss_of(parameters: Any, x: Any, y: Any) -> Any:
        for w, b in parameters[:-1]:
            x = jax.nn.relu(x @ w + b)
        logits = x @ parameters[-1][0] + parameters[-1][1]
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
    zeros = lambda: jax.tree.map(lambda w: jnp.zeros(w.shape), weights())
    state = [(jax.tree.map(jnp.asarray, weights()), zeros(), zeros(), jnp.float32(0))]

    def call(n: int) -> Any:
        state[0], loss = compiled(state[0], images[:n], digits[:n])
        return jax.block_until_ready(loss)

    return call


def mlp_torch(torch: Any, compiled: Any, batch: int) -> Step:
    images, digits = data(batch)
    layers: list[Any] = []
    for w, b in weights():
        layer = torch.nn.Linear(*w.shape)
        layer.weight.data, layer.bias.data = torch.from_numpy(w.T.copy()), torch.from_numpy(b)
        layers += [layer, torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    x, y = torch.from_numpy(images), torch.from_numpy(digits).long()
    forward = compiled(lambda a, b: torch.nn.functional.cross_entropy(model(a), b))

    def call(n: int) -> Any:
        optimizer.zero_grad()
        loss = forward(x[:n], y[:n])
        loss.backward()
        optimizer.step()
        return loss.detach()

    return call


def mlp_numpy(batch: int) -> Step:
    import numpy as np

    images, digits = data(batch)
    layers = weights()
    state = [[np.zeros_like(p), np.zeros_like(p)] for layer in layers for p in layer]
    steps = [0]

    def call(n: int) -> Any:
        inputs = [images[:n]]
        for w, b in layers[:-1]:
            inputs.append(np.maximum(inputs[-1] @ w + b, 0))
        logits = inputs[-1] @ layers[-1][0] + layers[-1][1]
        logits -= logits.max(axis=1, keepdims=True)
        softmax = np.exp(logits)
        softmax /= softmax.sum(axis=1, keepdims=True)
        rows = np.arange(n)
        loss = -np.log(softmax[rows, digits[:n]]).mean()
        softmax[rows, digits[:n]] -= 1
        back = softmax / np.float32(n)
        gradients: list[Any] = []
        for (w, _), x in zip(layers[::-1], inputs[::-1]):
            gradients[:0] = [x.T @ back, back.sum(axis=0)]
            back = (back @ w.T) * (x > 0)
        steps[0] += 1
        rate = np.float32(RATE * (1 - 0.999 ** steps[0]) ** 0.5 / (1 - 0.9 ** steps[0]))
        for p, g, (m, v) in zip((p for layer in layers for p in layer), gradients, state):
            m += np.float32(0.1) * (g - m)
            v += np.float32(0.001) * (g * g - v)
            p -= rate * m / (np.sqrt(v) + np.float32(1e-8))
        return loss

    return call


def mlp_pytensor(batch: int) -> Step:
    import numpy as np
    import pytensor
    import pytensor.tensor as pt

    images, digits = data(batch)
    x, y = pt.fmatrix(), pt.ivector()
    parameters = [pytensor.shared(p) for layer in weights() for p in layer]
    h = x
    for index in range(0, len(parameters), 2):
        h = pt.dot(h, parameters[index]) + parameters[index + 1]
        h = pt.maximum(h, np.float32(0)) if index < len(parameters) - 2 else h
    loss = -pt.mean(pt.special.log_softmax(h, axis=-1)[pt.arange(y.shape[0]), y])
    t = pytensor.shared(np.float32(0))
    now = t + np.float32(1)
    rate = np.float32(RATE) * pt.sqrt(1 - np.float32(0.999) ** now) / (1 - np.float32(0.9) ** now)
    updates = [(t, now)]
    for p, g in zip(parameters, pt.grad(loss, parameters)):
        m, v = (pytensor.shared(np.zeros_like(p.get_value())) for _ in range(2))
        new_m, new_v = np.float32(0.9) * m + np.float32(0.1) * g, np.float32(0.999) * v + np.float32(0.001) * g * g
        updates += [(m, new_m), (v, new_v), (p, p - rate * new_m / (pt.sqrt(new_v) + np.float32(1e-8)))]
    function = pytensor.function([x, y], loss, updates=updates, mode="NUMBA")
    function.trust_input = True
    return lambda n: function(images[:n], digits[:n])


def declare(workload: Workload, measured: Callable[[Step, int], Any], numpy: bool = True) -> None:
    """Give a workload the step of every peer: `measured(step, batch)` is what its functions return."""
    workload.tf1(lambda tf, batch: measured(mlp_tf1(tf, batch), batch))
    workload.torch(lambda torch, compiled, batch: measured(mlp_torch(torch, compiled, batch), batch))
    workload.on("jax")(lambda batch: measured(mlp_jax(batch), batch))
    workload.on("pytensor")(lambda batch: measured(mlp_pytensor(batch), batch))
    if numpy:
        workload.on("numpy")(lambda batch: measured(mlp_numpy(batch), batch))


def operations(batch: int) -> float:
    """Return how many multiplications and additions a step takes; it needs no gradient of the images."""
    products = [a * b for a, b in zip(LAYERS, LAYERS[1:])]
    return 2 * batch * (3 * sum(products) - products[0])


for _batch, _goal in ((128, 0.65), (1024, 0.75)):
    _mlp = Workload(
        f"mlp-{_batch}",
        f"MLP 784-256-256-10 Adam step, batch {_batch}",
        {"batch": _batch},
        {"batch": 16},
        goals={"jax": _goal},
    )
    _mlp.arithmetic(operations)
    declare(_mlp, lambda step, batch: lambda: step(batch))


def new_batch_sizes(step: Step, batch: int) -> list[float]:
    """Return what the first step at each of five new batch sizes costs more than a step at a known one, in seconds."""

    def timed(n: int) -> float:
        begun = time.perf_counter()
        step(n)
        return time.perf_counter() - begun

    for _ in range(5):
        step(batch)
    known = statistics.median(timed(batch) for _ in range(20))
    return [timed(batch - i) - known for i in range(1, 6)]


declare(
    Workload(
        "new-batch-size", "MLP step: a new batch size, above a known one", {"batch": 128}, {"batch": 16}, kind="once"
    ),
    new_batch_sizes,
    numpy=False,
)
