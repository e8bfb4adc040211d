"""Rows picked from and added to tables, and a trained embedding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..workload import Workload, jitted

ROWS = {"rows": 100_000, "width": 128, "ids": 100_000}
FEW_ROWS = {"rows": 100, "width": 8, "ids": 50}


def _table(rows: int, width: int, ids: int) -> tuple[Any, Any, Any]:
    import numpy as np

    generator = np.random.default_rng(0)
    table = generator.standard_normal((rows, width), dtype=np.float32)
    chosen = generator.integers(0, rows, ids, dtype=np.int32)
    return table, chosen, generator.standard_normal((ids, width), dtype=np.float32)


gather = Workload("gather", "gather 100k of 100k x 128", ROWS, FEW_ROWS, goals={"jax": 0.4})


@gather.tf1
def _(tf: Any, **size: int) -> Callable[[], Any]:
    table, ids, _ = _table(**size)
    a, i = tf.placeholder(tf.float32, table.shape), tf.placeholder(tf.int32, ids.shape)
    rows = tf.gather(a, i)
    session = tf.Session()
    return lambda: session.run(rows, {a: table, i: ids})


@gather.on("numpy")
def _(**size: int) -> Callable[[], Any]:
    table, ids, _ = _table(**size)
    return lambda: table[ids]


@gather.on("jax")
def _(**size: int) -> Callable[[], Any]:
    table, ids, _ = _table(**size)
    return jitted(lambda a, i: a[i], table, ids)


@gather.torch
def _(torch: Any, compiled: Any, **size: int) -> Callable[[], Any]:
    table, ids, _ = (torch.from_numpy(array) for array in _table(**size))
    function = compiled(lambda a, i: a.index_select(0, i))
    return lambda: function(table, ids)


scatter = Workload("scatter-add", "scatter_add 100k x 128 into 100k", ROWS, FEW_ROWS, goals={"jax": 0.4})


@scatter.tf1
def _(tf: Any, **size: int) -> Callable[[], Any]:
    table, ids, updates = _table(**size)
    i, u = tf.placeholder(tf.int32, ids.shape), tf.placeholder(tf.float32, updates.shape)
    total = tf.unsorted_segment_sum(u, i, table.shape[0])
    session = tf.Session()
    return lambda: session.run(total, {i: ids, u: updates})


@scatter.on("numpy")
def _(**size: int) -> Callable[[], Any]:
    import numpy as np

    table, ids, updates = _table(**size)

    def add() -> Any:
        total = np.zeros_like(table)
        np.add.at(total, ids, updates)
        return total

    return add


@scatter.on("jax")
def _(**size: int) -> Callable[[], Any]:
    import jax

    table, ids, updates = _table(**size)
    return jitted(lambda i, u: jax.ops.segment_sum(u, i, table.shape[0]), ids, updates)


@scatter.torch
def _(torch: Any, compiled: Any, **size: int) -> Callable[[], Any]:
    table, ids, updates = (torch.from_numpy(array) for array in _table(**size))
    function = compiled(lambda i, u: torch.zeros_like(table).index_add(0, i, u))
    return lambda: function(ids, updates)


embedding = Workload(
    "embedding",
    "embedding 100k x 128, 4096 ids, sparse SGD",
    {"rows": 100_000, "width": 128, "ids": 4096},
    FEW_ROWS,
    goals={"jax": 0.5},
)


@embedding.tf1
def _(tf: Any, **size: int) -> Callable[[], Any]:
    table, ids, _ = _table(**size)
    variable = tf.Variable(tf.zeros(table.shape))
    i = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(variable, i) - 1.0))
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run([step, loss], {i: ids})[1]


@embedding.on("jax")
def _(**size: int) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    table, ids, _ = _table(**size)

    def step(variable: Any, i: Any) -> Any:
        rows = variable[i]
        loss, gradient = jax.value_and_grad(lambda r: jnp.sum(jnp.square(r - 1.0)))(rows)
        return variable.at[i].add(-0.01 * gradient), loss

    compiled = jax.jit(step, donate_argnums=0)
    state = [jnp.zeros(table.shape)]

    def call() -> Any:
        state[0], loss = compiled(state[0], ids)
        return jax.block_until_ready(loss)

    return call


@embedding.torch
def _(torch: Any, compiled: Any, **size: int) -> Callable[[], Any]:
    table, ids, _ = (torch.from_numpy(array) for array in _table(**size))
    layer = torch.nn.Embedding(*table.shape, sparse=True)
    layer.weight.data.zero_()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
    forward = compiled(lambda i: torch.square(layer(i) - 1.0).sum())

    def call() -> Any:
        optimizer.zero_grad()
        loss = forward(ids)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return call
