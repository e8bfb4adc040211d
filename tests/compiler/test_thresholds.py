"""Sizes around those at which kernels, or whole plans, are made another way: compiled and by reference."""
import math

import numpy as np
import pytest

from jitgraph.compiler.emit import contract, cpu, cpu_features, philox, product_code, products, sequential, turn
from jitgraph.compiler.tuning import CPU
from jitgraph.runtime import frame


def around(*thresholds):
    """The sizes next to each threshold."""
    return sorted({max(t + step, 0) for t in thresholds for step in (-1, 0, 1)})


def draw(*shape, seed=0):
    return np.random.RandomState(seed).randint(-8, 9, shape).astype(np.float32) / 8


def check(tf, function, *arrays, exact=False):
    """function(*tensors) -> tensors, of known and of unknown sizes, gives the same compiled and by reference."""
    for known in (True, False):
        feeds = {tf.placeholder(a.dtype, a.shape if known else [None] * a.ndim): a for a in arrays}
        fetches = function(*feeds)
        fetches = fetches if isinstance(fetches, list) else [fetches]
        with tf.Session(jit="always") as session, tf.Session(jit="off") as reference:
            for found, wanted in zip(session.run(fetches, feeds), reference.run(fetches, feeds), strict=True):
                assert found.shape == wanted.shape and found.dtype == wanted.dtype
                if exact:
                    np.testing.assert_array_equal(found, wanted)
                else:
                    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


LANES = cpu_features.vector_bytes() // 4


@pytest.mark.parametrize("code", ["f32", "f64"])
def test_no_block_of_a_product_is_higher_than_the_arrays_that_hold_its_rows(code):
    for rows in range(1, 4000):
        tall = products._tall(rows)
        for columns in (40, 300, 768, 1024, 3000):
            _, blocks = products._cut(rows, columns, 512, 1, code, tall)
            assert math.ceil(math.ceil(rows / tall) / blocks) * tall <= product_code.highest(code), (rows, columns)


@pytest.mark.parametrize("m, k, n", [(1, 63, 90), (63, 90, 1), (1, 130, 1), (90, 1, 63), (3000, 63, 1), (1, 63, 3000), (33, 129, 1),
                                     (40, 200, 50)])
def test_products_of_views(tf, m, k, n):
    """Factors that a program has transposed, by a flag of the product, or both."""
    def products(a, b):
        lefts = [(a, False), (tf.transpose(a), True), (tf.transpose(tf.identity(tf.transpose(a))), False)]
        rights = [(b, False), (tf.transpose(b), True), (tf.transpose(tf.identity(tf.transpose(b))), False)]
        return [tf.matmul(x, y, ta, tb) for x, ta in lefts for y, tb in rights]

    check(tf, products, draw(m, k), draw(k, n, seed=1))


@pytest.mark.parametrize("m, k, n", [(1, 63, 90), (63, 90, 1), (3000, 63, 1), (1, 63, 3000)])
def test_products_of_views_of_feeds(tf, m, k, n):
    """The same of what is fed the other way round."""
    check(tf, lambda a, b: [tf.matmul(tf.transpose(a), tf.transpose(b)), tf.matmul(a, b, True, True)], draw(k, m),
          draw(n, k, seed=1))


@pytest.mark.parametrize("m", [717, 720, 960])
def test_products_whose_blocks_are_as_high_as_can_be(tf, m):
    """Blocks of such products with many columns are made aside."""
    check(tf, lambda a, b: [tf.matmul(a, b)], draw(m, 300), draw(300, 1024, seed=1))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", around(1, LANES, products.LEAST, products.FEW, contract.MIN_ROWS, products.ROWS,
                                     product_code.TURNED_ROWS, product_code.DEPTH))
@pytest.mark.parametrize("ta, tb", [(False, False), (True, False), (False, True), (True, True)])
def test_products(tf, n, ta, tb):
    """Each of the three sizes of a product in turn, beside sizes of other kinds, and with an epilogue."""
    for m, k, p in ((n, 33, 40), (65, n, 40), (65, 33, n), (1, n, 1), (n, 1, n), (n, 2, 1)):
        a, b = draw(*((k, m) if ta else (m, k))), draw(*((p, k) if tb else (k, p)), seed=1)
        check(tf, lambda a, b: [tf.matmul(a, b, ta, tb), tf.nn.relu(tf.matmul(a, b, ta, tb) + 1.0)], a, b)


@pytest.mark.parametrize("n", around(1, 2, LANES, products.LEAST))
def test_batches_of_products(tf, n):
    for x, y in (((n, 3, 4), (n, 4, 5)), ((3, n, 4), (3, 4, n)), ((3, 4, n), (1, n, 5)), ((n, 1, 3, 4), (1, 2, 4, 3))):
        check(tf, tf.matmul, draw(*x), draw(*y, seed=1))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", around(1, turn.TILE, turn.BLOCK, 2 * turn.BLOCK))
def test_transposes(tf, n):
    for shape in ((n, 40), (40, n), (3, n, 37), (n, 3, 37), (37, 3, n), (1, n), (n, 1, n)):
        check(tf, lambda x: [tf.transpose(x) + 1.0, tf.transpose(x), tf.reduce_sum(tf.transpose(x) * 2.0, 0)], draw(*shape))


@pytest.mark.parametrize("rows", around(1, sequential.GROUP, 2 * sequential.GROUP, sequential.LARGE,
                                        sequential.LARGE + 2 * sequential.GROUP))
def test_rows_of_a_table(tf, rows):
    ids = np.random.RandomState(0).randint(0, max(rows, 1), 300 if rows else 0).astype(np.int32)
    for columns in (1, sequential.BLOCK + 1):
        updates = draw(len(ids), columns)
        check(tf, lambda i, u, columns=columns: [
            tf.unsorted_segment_sum(u, i, rows), tf.unsorted_segment_max(u, i, rows),
            tf.scatter_nd(tf.expand_dims(i, 1), u, [rows, columns])], ids, updates, exact=True)


@pytest.mark.parametrize("columns", around(1, sequential.BLOCK, sequential.WIDE, 2 * sequential.WIDE))
def test_columns_of_a_table(tf, columns):
    ids = np.random.RandomState(0).randint(0, sequential.LARGE, 30).astype(np.int32)
    for rows in (5, sequential.LARGE):
        check(tf, lambda i, u, rows=rows: [tf.unsorted_segment_sum(u, i % rows, rows), tf.gather(tf.cumsum(u), i % 30)],
              ids, draw(30, columns), exact=True)


@pytest.mark.parametrize("n", around(1, sequential.SEARCH_BLOCK, cpu.COLUMNS))
def test_lines_in_order(tf, n):
    x = np.random.RandomState(0).permutation(3 * n).astype(np.float32).reshape(3, n)
    check(tf, lambda x: [*tf.nn.top_k(x, tf.minimum(tf.shape(x)[1], 5)), tf.cumsum(x, 1, reverse=True),
                         tf.cumsum(x, 0, exclusive=True)] if n else [tf.cumsum(x, 1)], x, exact=True)


@pytest.mark.parametrize("n", around(CPU.ahead, CPU.large, frame.SMALL // 4, CPU.cached))
def test_values_that_are_kept_or_computed_again(tf, n):
    def function(x):
        mask = tf.cast(x > 0.0, tf.float32)
        wide = tf.broadcast_to(x[:1], tf.shape(x))
        return [tf.reduce_sum(x * mask), tf.reduce_max(x - tf.reduce_mean(x)), mask * 2.0, tf.tanh(wide) + x]
    check(tf, function, draw(n))


@pytest.mark.parametrize("n", around(1, 4 * philox.BLOCKS, 8 * philox.BLOCKS))
def test_random_numbers(tf, n):
    check(tf, lambda x: [tf.random_uniform(tf.shape(x), seed=1), tf.random_uniform([n, 1], seed=2) + 1.0], draw(n), exact=True)


@pytest.mark.parametrize("n", around(1, 4, 4 * philox.BLOCKS, 8 * philox.BLOCKS))
def test_random_numbers_by_rejection_and_by_remainder(tf, n):
    """Of a few thousand normal numbers some groups of four find only the third block of their sequence good enough."""
    def function(x):
        return [tf.truncated_normal(tf.shape(x), seed=1), tf.truncated_normal([n], seed=2) * 2.0,
                tf.random_uniform([n, 1], -5, 17, tf.int32, seed=3), tf.random_uniform([n], -5, 2 ** 40, tf.int64, seed=4),
                tf.random_uniform([n], -2 ** 31, 2 ** 31 - 1, tf.int32, seed=5),
                tf.random_shuffle(tf.range(n), seed=6), tf.random_shuffle(tf.reshape(x, [n, 1]), seed=7),
                tf.random_normal([3], seed=8)]

    check(tf, function, draw(n), exact=True)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", around(1, CPU.chunks // 2, CPU.chunks, 2 * CPU.chunks))
def test_batches_of_images(tf, n):
    def function(x, w):
        y = tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME")
        z = tf.nn.depthwise_conv2d(x, w[:, :, :, :2], [1, 1, 1, 1], "VALID")
        pooled = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        loss = tf.reduce_sum(tf.square(y)) + tf.reduce_sum(tf.square(z)) + tf.reduce_sum(pooled)
        return [y, z, *tf.gradients(loss, [x, w])]
    for channels in (1, LANES, LANES + 1):
        check(tf, function, draw(n, 5, 7, channels), draw(3, 3, channels, 3, seed=1))
