"""Sizes that a run computes and that come out as 1 or 0, which broadcasting and emptiness treat as no other."""
import numpy as np
import pytest

FACTORS = [[1.0], [2.0], [3.0]]

# programs over x, of n rows; of x[1:] there are n - 1
PROGRAMS = {
    "broadcast_to": lambda tf, x: tf.broadcast_to(x[1:, :1], [3, 4]),
    "times": lambda tf, x: x[1:] * FACTORS,
    "times_itself": lambda tf, x: tf.expand_dims(x[1:], 0) * tf.expand_dims(x, 1),
    "select": lambda tf, x: tf.where(x[1:] > 0, x[1:], x[:-1]),
    "select_rows": lambda tf, x: tf.where(x[1:, 0] > 0, x[1:] * 2.0, x[1:]),
    "tile": lambda tf, x: tf.tile(x[1:], [3, 2]),
    "tile_gradient": lambda tf, x: tf.gradients(tf.square(tf.tile(x[1:], [3, 1])), x),
    "times_gradient": lambda tf, x: tf.gradients(tf.square(x[1:] * FACTORS), x),
    "concat": lambda tf, x: tf.concat([x[1:], x, x[1:] * 2.0], 0) + [[1.0]],
    "stack": lambda tf, x: tf.stack([x[1:], x[:-1]], 1) * 2.0,
    "pad": lambda tf, x: tf.pad(x[1:], [[1, 2], [0, 1]]) * 2.0,
    "pad_to_fours": lambda tf, x: tf.pad(x, [[0, -tf.shape(x)[0] % 4], [0, 0]]) * 2.0,
    "up_to_threes": lambda tf, x: tf.pad(x, [[-(-tf.shape(x)[0] // 3) * 3 - tf.shape(x)[0], 0], [0, 0]]) * 2.0,
    "steps": lambda tf, x: x[::2] + x[::2] * 2.0,
    "halves": lambda tf, x: tf.reshape(x[:2 * (tf.shape(x)[0] // 2)], [2, -1]) * 2.0,
    "matmul": lambda tf, x: [tf.matmul(x[1:], x[1:], transpose_b=True), tf.matmul(x[1:], x[1:], transpose_a=True),
                             tf.matmul(x, x[1:], transpose_b=True)],
    "batches": lambda tf, x: tf.matmul(tf.reshape(x[1:], [-1, 2, 2]), tf.ones([1, 2, 3])),
    "gather": lambda tf, x: tf.gather(x[1:], tf.range(tf.shape(x)[0] - 1)),
    "scatter": lambda tf, x: tf.scatter_nd(tf.expand_dims(tf.range(tf.shape(x)[0] - 1), 1), x[1:], [9, 4]),
    "segments": lambda tf, x: tf.unsorted_segment_sum(x[1:], tf.range(tf.shape(x)[0] - 1), tf.shape(x)[0] - 1),
    "reductions": lambda tf, x: [tf.reduce_sum(x[1:], 0), tf.reduce_max(x[1:] * 2.0, 0, True), tf.reduce_mean(x[1:], 1),
                                 tf.reduce_sum(tf.exp(x[1:])), *tf.nn.moments(tf.transpose(x[1:]), [0])],
    "softmax": lambda tf, x: [tf.nn.softmax(x[1:], 0), tf.nn.softmax(x[1:]), tf.nn.l2_normalize(x[1:], 0)],
    "cumsum": lambda tf, x: [tf.cumsum(x[1:]), tf.cumprod(x[1:], reverse=True, exclusive=True)],
    "reverse": lambda tf, x: tf.reverse(x[1:], [0]) + x[1:],
    "transpose": lambda tf, x: tf.transpose(x[1:]) + [[1.0], [2.0], [3.0], [4.0]],
    "filled": lambda tf, x: [tf.fill([tf.shape(x)[0] - 1, 2], 1.0) * [[2.0, 3.0]], tf.eye(tf.shape(x)[0] - 1) * 2.0],
    "range": lambda tf, x: tf.range(tf.shape(x)[0] - 1) * tf.range(tf.shape(x)[0] - 1),
    "top_k": lambda tf, x: list(tf.nn.top_k(tf.transpose(x[1:]), tf.shape(x)[0] - 1)),
    "outer": lambda tf, x: tf.meshgrid(x[1:, 0], x[:, 1]),
}


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_programs(tf, name):
    """One session meets all of them: a plan made for one size is not taken where it does not hold."""
    x = tf.placeholder(tf.float32, [None, 4])
    fetches = PROGRAMS[name](tf, x)
    for first, *others in ((4, 2, 1, 4), (2, 4, 1), (1, 2, 4)):
        with tf.Session(jit="always") as session, tf.Session(jit="off") as reference:
            for rows in (first, *others):
                feeds = {x: np.random.RandomState(rows).standard_normal((rows, 4)).astype(np.float32)}
                results, expected = (_run(tf, s, fetches, feeds) for s in (session, reference))
                assert (results is None) == (expected is None), f"{rows} rows"
                for found, wanted in zip(results or [], expected or [], strict=True):
                    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=f"{rows} rows")


def _run(tf, session, fetches, feeds):
    """The results, None for shapes that do not go together."""
    try:
        found = session.run(fetches, feeds)
    except tf.errors.InvalidArgumentError:
        return None
    return found if isinstance(found, list) else [found]


@pytest.mark.parametrize("pool", ["avg_pool", "max_pool"])
@pytest.mark.parametrize("size", [4, 5, 7, 2])
def test_a_pooling_whose_result_is_one_pixel(tf, agree, pool, size):
    x = tf.placeholder(tf.float32, [None, None, None, 2])
    y = getattr(tf.nn, pool)(x, [1, 4, 4, 1], [1, 3, 3, 1], "VALID" if size >= 4 else "SAME")
    value = np.random.RandomState(0).standard_normal((3, size, size, 2)).astype(np.float32)
    agree([y, tf.gradients(tf.square(y), x)[0]], {x: value}, np.float32)


def test_many_elements_of_one_row(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    with tf.Session(jit="always") as session:
        y = session.run(tf.broadcast_to(x[1:], [1 << 20, 4]), {x: [[0.0] * 4, [1.0, 2.0, 3.0, 4.0]]})
    assert (y == [1, 2, 3, 4]).all()


def test_other_sizes_take_the_plan_that_is_there(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    y = x[1:] * [[1.0]] + tf.reduce_sum(x[1:], 0)
    with tf.Session(jit="always") as session:
        for rows in (9, 7, 3, 30, 2, 1):
            session.run(y, {x: np.ones((rows, 4))})
        (plan,) = session.plans
        assert len(plan.compiled) == 3          # for a row, for none and for more


def test_zeros_like_sizes_are_numbers(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    rows = tf.shape(x)[0]
    like = [tf.raw_ops.ZerosLike(x=tf.stack([rows, rows + 1])), tf.raw_ops.OnesLike(x=tf.stack([rows, rows]))]
    with tf.Session(jit="always") as session:
        for n in (2, 5):
            assert [a.tolist() for a in session.run(like, {x: np.ones((n, 4))})] == [[0, 0], [1, 1]]


# what is computed of the shape [n, 4] and is a shape itself, or a part of one
SIZES = {
    "transpose": lambda tf, s: tf.reshape(tf.transpose([[1, 2], s]), [-1]),
    "range": lambda tf, s: tf.range(s[0], s[0] + 3),
    "where": lambda tf, s: tf.where([True, False], s, s + 1),
    "where_v2": lambda tf, s: tf.where_v2([[True], [False]], s, s + 1)[1],
    "add_n": lambda tf, s: tf.add_n([s, s, [1, 1]]),
    "square": lambda tf, s: tf.square(s),
    "cumsum": lambda tf, s: tf.cumsum(s),
    "pad": lambda tf, s: tf.pad(s, [[1, 0]], constant_values=0),
    "broadcast_to": lambda tf, s: tf.broadcast_to(s[:1], [2]),
    "less": lambda tf, s: tf.where(tf.less(s, s + 1), s, [1, 1]),
    "greater_equal": lambda tf, s: tf.where(tf.greater_equal(s, s), s, [1, 1]),
}


@pytest.mark.parametrize("name", list(SIZES))
def test_arithmetic_of_sizes_is_no_end_of_a_plan(tf, name):
    x = tf.placeholder(tf.float32, [None, 4])
    sizes = SIZES[name](tf, tf.shape(x))
    filled = tf.fill(sizes, 2.0) * 3.0
    with tf.Session(jit="always") as session, tf.Session(jit="off") as reference:
        for rows in (3, 5):
            feeds = {x: np.zeros((rows, 4))}
            assert session.run(filled, feeds).shape == tuple(reference.run(sizes, feeds))
        plan, = session.plans
        assert not any(compiled.program.rest for compiled in plan.compiled)


def test_the_gradient_of_a_tile_by_sizes_is_one_program(tf):
    x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, None])
    gradient, = tf.gradients(tf.square(tf.tile(x, [1, tf.shape(y)[1]])), x)
    with tf.Session(jit="always") as session:
        assert (session.run(gradient, {x: np.ones((3, 4)), y: np.ones((2, 5))}) == 10).all()
        plan, = session.plans
        assert not any(compiled.program.rest for compiled in plan.compiled)


@pytest.mark.parametrize("name", ["tile", "broadcast_to", "pad", "fill"])
def test_a_constant_stretched_to_a_batch_holds_for_every_batch(tf, name):
    x = tf.placeholder(tf.float32, [None, 2])
    rows = tf.shape(x)[0]
    stretched = {"tile": lambda: tf.tile([[1.0, 2.0]], [rows, 1]), "broadcast_to": lambda: tf.broadcast_to([[1.0, 2.0]], [rows, 2]),
                 "pad": lambda: tf.pad([[1.0, 2.0]], [[0, rows - 1], [0, 0]]), "fill": lambda: tf.fill([rows, 2], 1.0)}[name]()
    total = stretched + x
    with tf.Session(jit="always") as session:
        for n in (3, 5, 7, 9):
            assert session.run(total, {x: np.ones((n, 2))})[0].tolist() in ([2, 3], [2, 2])
        plan, = session.plans
        assert len(plan.compiled) == 1
