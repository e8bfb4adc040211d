"""Convolutions by Winograd's minimal filtering: the same results as adding up term by term, but for rounding."""
from fractions import Fraction

import numpy as np
import pytest

from jitgraph.compiler import winograd
from jitgraph.compiler import winograd_matrices as matrices

RNG = np.random.RandomState(0)

CASES = {
    "three by three": ((2, 12, 12, 32), (3, 3, 64), "SAME"),
    "four by four": ((2, 12, 9, 16), (4, 4, 48), "SAME"),
    "five by five": ((3, 14, 14, 32), (5, 5, 64), "SAME"),
    "oblong": ((2, 10, 16, 16), (3, 5, 32), "SAME"),
    "tiles reach over the end": ((2, 7, 13, 16), (3, 3, 32), "SAME"),
    "valid": ((2, 14, 18, 32), (3, 3, 32), "VALID"),
    "explicit": ((2, 11, 13, 16), (3, 3, 16), [[0, 0], [1, 2], [0, 2], [0, 0]]),
    "wider border than the filter": ((2, 11, 13, 16), (3, 3, 16), [[0, 0], [4, 2], [3, 5], [0, 0]]),
    "several blocks of channels": ((1, 8, 8, 160), (3, 3, 96), "SAME"),
    "many channels": ((1, 8, 8, 512), (3, 3, 16), "SAME"),
}


@pytest.fixture(autouse=True)
def few_images(tuned):
    """As if transforming a filter cost nothing: otherwise that would not pay for a few small images."""
    tuned(winograd_once=0)


def with_gradients(tf, size, taps, padding, dtype=np.float32, layout="NHWC"):
    """Placeholders of images, filter and gradient, and the convolution with its two gradients."""
    kh, kw, out = taps
    if layout == "NCHW" and isinstance(padding, list):
        padding = [padding[i] for i in (0, 3, 1, 2)]
    shape = [None, *size[1:]] if layout == "NHWC" else [None, size[3], *size[1:3]]
    x, w = tf.placeholder(dtype, shape), tf.placeholder(dtype, [kh, kw, size[3], out])
    y = tf.nn.conv2d(x, w, 1, padding, data_format=layout)
    dy = tf.placeholder(dtype, y.shape)
    feeds = {fed: RNG.standard_normal([size[0] if d is None else d for d in fed.shape.as_list()]).astype(dtype)
             for fed in (x, w, dy)}
    return feeds, [y, *tf.gradients(y, [x, w], [dy])]


@pytest.mark.parametrize("taps", [3, 4, 5])
def test_the_matrices_give_exactly_what_adding_up_gives(taps):
    count = winograd.SIZE + 1 - taps
    x = [Fraction(k * k - 7, 3) for k in range(winograd.SIZE)]
    w = [Fraction(5 - 3 * k, 7) for k in range(taps)]
    times = lambda matrix, vector: [sum(a * b for a, b in zip(row, vector)) for row in matrix]
    products = [a * b for a, b in zip(times(matrices.weights(taps), w), times(matrices.pixels(), x))]
    assert times(matrices.result(count), products) == [sum(x[i + k] * w[k] for k in range(taps)) for i in range(count)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("case", list(CASES))
def test_forward_and_both_gradients(tf, agree, case, layout, dtype):
    feeds, fetches = with_gradients(tf, *CASES[case], dtype, layout)
    kernels = agree(fetches, feeds, dtype)
    code = "f32" if dtype == np.float32 else "f64"
    assert {f"winograd_{code}", f"winograd_filter_{code}"} <= set(kernels)


def test_vectors_of_other_machines(tf, agree, narrow):
    feeds, fetches = with_gradients(tf, *CASES["tiles reach over the end"])
    agree(fetches, feeds, np.float32)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan, 1e38])
@pytest.mark.parametrize("which", ["images", "filter", "gradient"])
def test_infinities_and_nan_stay_where_they_belong(tf, which, bad):
    """A tile of six pixels is not a filter of three: outside of the filter's window, results are as if nothing was there."""
    feeds, fetches = with_gradients(tf, (2, 12, 12, 16), (3, 3, 32), "VALID" if which == "filter" else "SAME")
    images, filters, gradient = feeds.values()
    if which == "filter":
        filters[1, 2, 5, 7] = bad
        fetches = fetches[:1]           # the gradient for the input also multiplies the zeros around `dy`
    else:
        (images if which == "images" else gradient)[-1, 1, 2, 5] = bad
    with tf.Session(jit="off") as reference, tf.Session(jit="always") as session:
        wanted, found = reference.run(fetches, feeds), session.run(fetches, feeds)
    for a, b in zip(wanted, found):
        np.testing.assert_array_equal(np.isfinite(a), np.isfinite(b))
        np.testing.assert_array_equal(a[~np.isfinite(a)], b[~np.isfinite(a)])
        small = np.abs(a) < 1e30
        np.testing.assert_allclose(a[small], b[small], rtol=0, atol=1e-5 * np.abs(a[small]).max())


@pytest.mark.parametrize("taps", [3, 4, 5])
def test_rounding_is_about_twice_that_of_adding_up(tf, monkeypatch, taps):
    feeds, fetches = with_gradients(tf, (4, 12, 12, 32), (taps, taps, 32), "SAME")
    exact, wide = with_gradients(tf, (4, 12, 12, 32), (taps, taps, 32), "SAME", np.float64)
    with tf.Session(jit="off") as session:
        wanted = session.run(wide, dict(zip(exact, feeds.values())))
    errors = []
    for without in ("", "winograd"):
        monkeypatch.setenv("JITGRAPH_WITHOUT", without)
        with tf.Session(jit="always") as session:
            found = session.run(fetches, feeds)
        errors.append([np.sqrt(np.mean((a - b) ** 2) / np.mean(b ** 2)) for a, b in zip(found, wanted)])
    for tiles, terms in zip(*errors):
        assert tiles < 1.5e-6 and tiles < 4 * terms


def test_a_batch_gives_the_same_bits_with_any_number_of_threads(tf, monkeypatch):
    feeds, fetches = with_gradients(tf, (16, 14, 14, 16), (5, 5, 32), "SAME")
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("JITGRAPH_THREADS", threads)
        with tf.Session(jit="always") as session:
            found.append(session.run(fetches, feeds))
    for other in found[1:]:
        for a, b in zip(found[0], other):
            np.testing.assert_array_equal(a, b)


def test_no_images_and_batches_of_other_sizes(tf, agree):
    feeds, fetches = with_gradients(tf, (4, 8, 8, 16), (3, 3, 16), "SAME")
    x, _, dy = feeds
    for batch in (4, 0, 1, 7):
        more = {fed: RNG.standard_normal((batch, 8, 8, 16)) for fed in (x, dy)}
        agree(fetches, {**feeds, **more}, np.float32)


def test_sizes_that_only_the_run_knows(tf):
    x, w = tf.placeholder(tf.float32, [None, None, None, 16]), tf.placeholder(tf.float32, [3, 3, 16, 32])
    y = tf.nn.conv2d(x, w, 1, "SAME")
    fetches = [y, *tf.gradients(tf.square(y), [x, w])]
    with tf.Session(jit="off") as reference, tf.Session(jit="always") as session:
        for size in ((2, 20, 31, 16), (2, 8, 12, 16), (3, 41, 40, 16), (1, 3, 4, 16), (1, 1, 2, 16)):
            feeds = {x: RNG.standard_normal(size), w: RNG.standard_normal((3, 3, 16, 32))}
            for a, b in zip(reference.run(fetches, feeds), session.run(fetches, feeds)):
                np.testing.assert_allclose(a, b, rtol=0, atol=2e-5 * np.abs(a).max())
        kernels = [[kernel.name for kernel, _ in compiled.kernels] for plan in session.plans for compiled in plan.compiled]
        assert {"winograd_f32", "winograd_filter_f32"} <= set(kernels[0])


@pytest.mark.parametrize("channels, batch, transformed", [(32, 1, False), (32, 16, True), (512, 1, False), (512, 8, True)])
def test_a_filter_is_transformed_for_enough_images(tf, monkeypatch, channels, batch, transformed):
    monkeypatch.undo()
    x, w = tf.placeholder(tf.float32, [None, 8, 8, channels]), tf.placeholder(tf.float32, [3, 3, channels, channels])
    with tf.Session(jit="always") as session:
        session.run(tf.nn.conv2d(x, w, 1, "SAME"), {x: np.zeros((batch, 8, 8, channels)), w: np.zeros(w.shape)})
        names = [kernel.name for plan in session.plans for compiled in plan.compiled for kernel, _ in compiled.kernels]
    assert ("winograd_f32" in names) == transformed


@pytest.mark.parametrize("size, taps, step, gap", [
    ((2, 12, 12, 8), (3, 3, 32), 1, 1), ((2, 12, 12, 32), (3, 3, 20), 1, 1), ((2, 12, 12, 32), (2, 2, 32), 1, 1),
    ((2, 12, 12, 32), (7, 7, 32), 1, 1), ((2, 12, 12, 32), (3, 3, 32), 2, 1), ((2, 12, 12, 16), (3, 3, 16), 1, 2),
    ((2, 2, 2, 32), (3, 3, 32), 1, 1), ((3, 8, 8, 528), (3, 3, 528), 1, 1)])
def test_where_it_would_not_pay_terms_are_added_up(tf, size, taps, step, gap):
    x, w = tf.placeholder(tf.float32, [None, *size[1:]]), tf.placeholder(tf.float32, [*taps[:2], size[3], taps[2]])
    y = tf.nn.conv2d(x, w, step, "SAME", dilations=[1, gap, gap, 1])
    with tf.Session(jit="always") as session:
        session.run(y, {x: np.zeros(size), w: np.zeros(w.shape)})
        names = [kernel.name for plan in session.plans for compiled in plan.compiled for kernel, _ in compiled.kernels]
    assert "convolve_f32" in names and "winograd_f32" not in names
