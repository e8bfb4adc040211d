"""Random operations on large tensors, compiled against the reference.

Kernels are cut into blocks, strips, tiles and parts, and are made another way from some sizes on.  Each example draws an
operation, a dtype and sizes around powers of two and of ten, up to some hundred thousand elements; its result and its gradient
must agree.  Products draw which factors are transposed, by a flag or by the program, and what follows them.
"""
import math
import os
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import jitgraph as tf

EXAMPLES = int(os.environ.get("JITGRAPH_FUZZ_EXAMPLES", "40"))
MOST = 1 << 19          # elements of a tensor
WORK = 1 << 27          # multiplications of a product

AROUND = sorted({max(n + d, 0) for n in (1, 3, 8, 16, 32, 64, 100, 112, 128, 224, 240, 256, 512, 720, 960, 1000, 1024, 2048, 4096,
                                         8192, 16384, 32768, 65536, 100_000, 131_072, 262_144) for d in (-1, 0, 1)})
DTYPES = ["float32", "float32", "float32", "float64", "float16", "int32", "int64"]
ERRORS = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-10}


def weighted(y):
    """A sum in which no two neighbours count the same, so that their gradients do not cancel."""
    return tf.reduce_sum(tf.reshape(y, [-1]) * tf.cast(tf.range(tf.size(y)) % 5 - 1, y.dtype))


def normed(x, axis):
    mean = tf.reduce_mean(x, axis, keepdims=True)
    return (x - mean) * tf.rsqrt(tf.reduce_mean(tf.square(x - mean), axis, keepdims=True) + 0.1)


# what is done to a tensor along an axis; those of FLOATING to floats alone
FLOATING = {
    "softmax": tf.nn.softmax,
    "log_softmax": tf.nn.log_softmax,
    "logsumexp": tf.reduce_logsumexp,
    "normed": normed,
    "moments": lambda x, axis: tf.nn.moments(x, [axis])[1],
    "elementwise": lambda x, axis: tf.sigmoid(x) * tf.tanh(x) - tf.exp(-x * x),
}
KINDS = FLOATING | {
    "sum": tf.reduce_sum,
    "sum of all": lambda x, axis: tf.reduce_sum(x),
    "mean": tf.reduce_mean,
    "max": tf.reduce_max,
    "min kept": lambda x, axis: x - tf.reduce_min(x, axis, keepdims=True),
    "argmax": lambda x, axis: tf.argmax(x, axis),
    "cumsum": lambda x, axis: tf.cumsum(x, axis, exclusive=True, reverse=True),
    "sort": lambda x, axis: tf.sort(x, axis),
    "top_k": lambda x, axis: tf.nn.top_k(x, min(x.shape[-1].value, 40))[0],
    "transpose": lambda x, axis: tf.transpose(x, np.roll(range(x.shape.ndims), axis + 1)) * 2,
    "sum of a transpose": lambda x, axis: tf.reduce_sum(tf.transpose(x, range(x.shape.ndims)[::-1]), axis),
    "reverse": lambda x, axis: tf.reverse(x, [axis]) + x,
    "concat": lambda x, axis: tf.concat([x, x * 2], axis),
    "split": lambda x, axis: tf.add_n(tf.split(tf.concat([x, x], axis), 2, axis)),
    "slice": lambda x, axis: x[tuple([slice(None)] * axis + [slice(1, None, 2)])],
    "pad": lambda x, axis: tf.pad(x, [[1, 2]] * x.shape.ndims),
    "gather": lambda x, axis: tf.gather(x, [0, x.shape[axis].value - 1, 0], axis=axis),
    "mask": lambda x, axis: tf.boolean_mask(x, np.arange(x.shape[0].value) % 3 != 1),
    "segments": lambda x, axis: tf.unsorted_segment_sum(x, np.arange(x.shape[0].value) * 7 % 23 - 1, 22),
    "scatter": lambda x, axis: tf.scatter_nd(np.arange(x.shape[0].value)[:, None] * 7 % 23, x, [23, *x.shape.as_list()[1:]]),
}


def compare(build, feeds, dtype, gradients):
    """`build` is given placeholders for the arrays of `feeds`, of shapes of which the graph knows as much as `feeds` says."""
    tf.reset_default_graph()
    placeholders = [tf.placeholder(array.dtype, shape) for array, shape in feeds]
    y = build(*placeholders)
    fetches = [y]
    if gradients:
        fetches += [tf.convert_to_tensor(g) for g in tf.gradients(weighted(y), placeholders) if g is not None]
    arrays = dict(zip(placeholders, [array for array, _ in feeds]))
    with tf.Session(jit="off") as reference, tf.Session(jit="always") as session:
        expected, found = reference.run(fetches, arrays), session.run(fetches, arrays)
    for want, have in zip(expected, found, strict=True):
        assert want.shape == have.shape and want.dtype == have.dtype
        if want.dtype.kind != "f":
            np.testing.assert_array_equal(have, want)
            continue
        scale = max(np.abs(want.astype(np.float64)).max(), 1.0) if want.size else 1.0
        np.testing.assert_allclose(have.astype(np.float64), want.astype(np.float64), rtol=0, atol=ERRORS[dtype] * scale)


def numbers(shape, dtype, seed):
    rng = np.random.RandomState(seed)
    return rng.randint(-50, 50, shape).astype(dtype) if dtype.startswith("int") else rng.uniform(-2, 2, shape).astype(dtype)


@st.composite
def shapes(draw):
    shape = draw(st.lists(st.sampled_from(AROUND[1:]), min_size=1, max_size=3))
    assume(math.prod(shape) <= MOST)
    return shape


class Product(NamedTuple):
    rows: int
    terms: int
    columns: int
    dtype: str
    turned: tuple[str, str]     # of each factor: "no", by a "flag" of the product, by a "view"
    dynamic: bool               # whether only the run knows the rows
    follows: str


@st.composite
def products(draw):
    rows, terms, columns = (draw(st.sampled_from([n for n in AROUND if n <= 4097])) for _ in range(3))
    assume(rows * max(terms, 1) * columns <= WORK and max(rows * columns, rows * terms, terms * columns) <= 4 * MOST)
    turned = draw(st.tuples(*[st.sampled_from(["no", "flag", "view"])] * 2))
    return Product(rows, terms, columns, draw(st.sampled_from(["float32", "float32", "float64", "float16"])), turned,
                   draw(st.booleans()), draw(st.sampled_from(["", "", "bias and relu", "sum", "sums of rows"])))


def random_cases(**cases):
    found = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck),
                     derandomize="JITGRAPH_FUZZ_EXAMPLES" not in os.environ)
    return lambda test: pytest.mark.filterwarnings("ignore")(found(given(**cases)(test)))


@random_cases(kind=st.sampled_from(sorted(KINDS)), dtype=st.sampled_from(DTYPES), shape=shapes(), axis=st.integers(0, 2),
              dynamic=st.booleans())
def test_operations_on_large_tensors(kind, dtype, shape, axis, dynamic):
    floating = not dtype.startswith("int")
    assume(floating or kind not in FLOATING)
    known = [None if dynamic and kind in FLOATING else shape[0], *shape[1:]]
    compare(lambda x: KINDS[kind](x, axis % len(shape)), [(numbers(shape, dtype, len(shape)), known)], dtype,
            gradients=floating and kind not in ("argmax", "sort", "top_k"))


@random_cases(case=products())
def test_large_products(case):
    def turned(x, how):
        return (tf.transpose(x) if how == "view" else x), how == "flag"

    def build(a, b):
        (x, ta), (y, tb) = turned(a, case.turned[0]), turned(b, case.turned[1])
        z = tf.matmul(x, y, ta, tb)
        bias = np.linspace(-1, 1, case.columns).astype(case.dtype)
        return {"": lambda: z, "bias and relu": lambda: tf.nn.relu(tf.nn.bias_add(z, bias)), "sum": lambda: z * 2 + 1,
                "sums of rows": lambda: tf.reduce_sum(z, 1)}[case.follows]()

    feeds = []
    for k, (rows, columns) in enumerate([(case.rows, case.terms), (case.terms, case.columns)]):
        size, known = [rows, columns], [None if case.dynamic and not k else rows, columns]
        turn = slice(None, None, 1 if case.turned[k] == "no" else -1)
        feeds.append((numbers(size[turn], case.dtype, k), known[turn]))
    compare(build, feeds, case.dtype, gradients=case.rows * case.terms * case.columns <= WORK // 4)
