"""Convolutions in register tiles, beside NumPy's: every gradient, border, step and tile shape."""
import numpy as np
import pytest

from jitgraph import compiler
from jitgraph.compiler.emit import cpu_features, tile, vectors

RNG = np.random.RandomState(0)


CASES = {
    "small": ((2, 8, 8, 3), (3, 3, 5), 1, 1, "SAME"),
    "step": ((2, 9, 7, 4), (3, 3, 32), 2, 1, "SAME"),
    "one column too many": ((3, 9, 7, 4), (3, 3, 33), 2, 1, "VALID"),
    "five by five": ((2, 14, 14, 8), (5, 5, 64), 1, 1, "SAME"),
    "gaps": ((2, 14, 14, 8), (3, 3, 40), 1, 2, "SAME"),
    "rows that no tap reaches": ((2, 14, 14, 8), (1, 1, 40), 2, 1, "SAME"),
    "matrix product": ((2, 14, 14, 8), (1, 1, 40), 1, 1, "SAME"),
    "step larger than the filter": ((1, 11, 13, 6), (2, 2, 7), 3, 1, "VALID"),
    "explicit": ((2, 11, 13, 6), (4, 4, 7), 2, 1, [[0, 0], [1, 2], [0, 3], [0, 0]]),
    "oblong": ((2, 10, 12, 3), (1, 5, 17), 1, 1, "SAME"),
    "whole image": ((1, 6, 6, 3), (6, 6, 100), 1, 1, "VALID"),
    "as wide as the image": ((3, 11, 6, 2), (4, 6, 9), 1, 1, "VALID"),
    "as wide as the image, with steps": ((3, 12, 20, 1), (3, 20, 8), 2, 1, "VALID"),
    "as high as the image": ((3, 6, 11, 2), (6, 4, 9), 1, 1, "VALID"),
    "one column": ((2, 13, 1, 5), (3, 1, 7), 1, 1, "SAME"),
    "one column, gaps": ((2, 13, 1, 5), (3, 1, 7), 1, 2, "SAME"),
    "one row": ((2, 1, 13, 5), (1, 3, 7), 1, 1, "SAME"),
    "a point": ((4, 1, 1, 5), (1, 1, 7), 1, 1, "SAME"),
    "filter larger than the cache": ((1, 5, 5, 64), (3, 3, 128), 1, 1, "SAME"),
    "large filter, steps": ((2, 9, 9, 64), (3, 3, 160), 2, 1, "SAME"),
    "large filter, gaps": ((2, 9, 9, 64), (3, 3, 160), 1, 2, "SAME"),
    "large filter, one column too many": ((2, 6, 7, 64), (3, 3, 145), 1, 1, "SAME"),
    "large filter, step larger than it": ((1, 11, 13, 128), (2, 2, 160), 3, 1, "VALID"),
    "large filter of which the gradient is cut": ((3, 4, 9, 64), (1, 5, 256), 1, 1, "SAME"),
    "few pixels": ((1, 4, 4, 256), (3, 3, 512), 1, 1, "SAME"),
    "few pixels, steps": ((2, 6, 6, 256), (3, 3, 512), 2, 1, "SAME"),
    "few pixels, gaps": ((1, 6, 6, 256), (3, 3, 512), 1, 2, "SAME"),
    "rows in several bands": ((2, 40, 40, 16), (3, 3, 33), 1, 1, "SAME"),
    "steps and gaps": ((2, 11, 12, 5), (3, 3, 7), 2, 2, "SAME"),
    "steps and gaps, inside": ((2, 13, 10, 4), (2, 3, 6), 3, 2, "VALID"),
    "phases": ((2, 14, 18, 64), (3, 3, 64), 1, 2, "SAME"), "phases, uneven": ((1, 13, 17, 64), (3, 4, 80), 1, [2, 3], "VALID"),
    "phases, with zeros around": ((2, 16, 13, 64), (3, 3, 64), 1, 4, [[0, 0], [1, 3], [5, 0], [0, 0]]),
    "rows in several bands, steps and gaps": ((2, 90, 40, 16), (3, 3, 32), [2, 1], [1, 2], "SAME"),
}


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("groups, channels, out, taps, step, gap", [
    (4, 2, 8, 3, 1, 1), (32, 4, 64, 3, 2, 1), (2, 3, 6, 1, 1, 1), (3, 1, 9, 5, 1, 2), (2, 8, 2, 3, 2, 1), (4, 2, 8, 3, 2, 3)])
def test_groups_of_channels(tf, agree, host_steps, groups, channels, out, taps, step, gap, layout):
    size = (2, 9, 8, groups * channels)
    size = size if layout == "NHWC" else tuple(size[i] for i in (0, 3, 1, 2))
    x, w = tf.placeholder(tf.float32, [None, *size[1:]]), tf.placeholder(tf.float32, [taps, taps, channels, out])
    steps, gaps = ([1, n, n, 1] if layout == "NHWC" else [1, 1, n, n] for n in (step, gap))
    y = tf.nn.conv2d(x, w, steps, "SAME", data_format=layout, dilations=gaps)
    feeds = {x: RNG.standard_normal(size).astype(np.float32), w: RNG.standard_normal(w.shape.as_list()).astype(np.float32)}
    fetches = [y, *tf.gradients(tf.square(y), [x, w])]
    agree(fetches, feeds, np.float32)
    assert not host_steps(fetches, feeds)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("case", list(CASES))
def test_forward_and_both_gradients(tf, agree, case, layout, dtype):
    size, (kh, kw, out), step, gap, padding = CASES[case]
    steps, gaps = ([1, *(n if isinstance(n, list) else [n, n]), 1] for n in (step, gap))
    if layout == "NCHW":
        if isinstance(padding, list):
            padding = [padding[i] for i in (0, 3, 1, 2)]
        steps, gaps = ([n[i] for i in (0, 3, 1, 2)] for n in (steps, gaps))
    x = RNG.standard_normal(size).astype(dtype)
    x = x if layout == "NHWC" else np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    w = RNG.standard_normal((kh, kw, size[3], out)).astype(dtype)
    fed, filters = tf.placeholder(dtype, [None, *x.shape[1:]]), tf.placeholder(dtype, w.shape)
    y = tf.nn.conv2d(fed, filters, steps, padding, data_format=layout, dilations=gaps)
    weights = tf.random.stateless_normal(tf.shape(y), [1, 2], dtype=dtype)
    fetches = [y, *tf.gradients(y * weights, [fed, filters])]
    kernels = agree(fetches, {fed: x, filters: w}, dtype)
    assert any(name.startswith(("convolve", "matmul", "winograd")) for name in kernels)


@pytest.mark.parametrize("step", [1, 2])
def test_sizes_that_only_the_run_knows(tf, agree, step):
    fed, filters = tf.placeholder(tf.float32, [None, None, None, 6]), tf.placeholder(tf.float32, [3, 3, 6, 7])
    y = tf.nn.conv2d(fed, filters, step, "SAME")
    fetches = [y, *tf.gradients(tf.square(y), [fed, filters])]
    for size in ((5, 20, 31, 6), (2, 7, 5, 6), (3, 40, 40, 6)):
        agree(fetches, {fed: RNG.standard_normal(size), filters: RNG.standard_normal((3, 3, 6, 7))}, np.float32)


def test_sentences_whose_length_only_the_run_knows(tf, agree):
    """Words as rows of an image, a filter over a few of them."""
    words, filters = tf.placeholder(tf.float32, [None, None, 24, 1]), tf.placeholder(tf.float32, [3, 24, 1, 10])
    y = tf.nn.conv2d(words, filters, 1, "VALID")
    fetches = [y, *tf.gradients(tf.square(y), [words, filters])]
    for size in ((4, 20, 24, 1), (1, 3, 24, 1), (2, 9, 24, 1)):
        agree(fetches, {words: RNG.standard_normal(size), filters: RNG.standard_normal((3, 24, 1, 10))}, np.float32)


def test_nothing_to_convolve(tf, agree):
    fed = tf.placeholder(tf.float32, [None, 8, 8, 3])
    filters = tf.constant(np.ones((3, 3, 3, 4), np.float32))
    y = tf.nn.conv2d(fed, filters, 1, "SAME")
    agree([y, *tf.gradients(y, [fed, filters])], {fed: np.zeros((0, 8, 8, 3))}, np.float32)


def test_a_batch_gives_the_same_bits_with_any_number_of_threads(tf, monkeypatch):
    x, w = RNG.standard_normal((32, 14, 14, 8)), RNG.standard_normal((5, 5, 8, 16))
    fed, filters = tf.placeholder(tf.float32, [None, 14, 14, 8]), tf.placeholder(tf.float32, w.shape)
    y = tf.nn.conv2d(fed, filters, 1, "SAME")
    fetches, found = tf.gradients(tf.square(y), [fed, filters]), []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("JITGRAPH_THREADS", threads)
        with tf.Session(jit="always") as session:
            found.append(session.run(fetches, {fed: x, filters: w}))
    for other in found[1:]:
        for a, b in zip(found[0], other):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("rows", [None, 1, 3, 7, 13, 14, 28])
def test_cuts_cover_everything_and_fit_the_registers(rows, narrow):
    lanes = vectors.lane_count("f32")
    for columns in (*range(1, 130), 500, 512, 1000):
        cuts = tile.cut("f32", rows, columns)
        assert 0 <= sum(v * count for _, v, count in cuts) * lanes - columns < lanes
        assert all(r * v + v + 1 <= cpu_features.vector_registers() for r, v, _ in cuts)
        # the last vector's missing lanes are those of one block, the last
        assert columns % lanes == 0 or cuts[-1][2] == 1


@pytest.mark.parametrize("out", [3, 20, 28, 60, 61, 64])
def test_channels_that_do_not_fill_the_last_vector(tf, agree, narrow, out):
    x, w = tf.placeholder(tf.float32, [None, 9, 9, 5]), tf.placeholder(tf.float32, [3, 3, 5, out])
    y = tf.nn.conv2d(x, w, 1, "SAME")
    fetches = [y, *tf.gradients(tf.square(y), [x, w])]
    agree(fetches, {x: RNG.standard_normal((2, 9, 9, 5)), w: RNG.standard_normal((3, 3, 5, out))}, np.float32)


def test_layers_of_other_channels_taps_and_rows_share_a_kernel(tf):
    texts = []
    for rows, channels, taps in ((28, 128, 3), (30, 160, 5)):
        x, w = (tf.placeholder(tf.float32, shape) for shape in ((2, rows, 28, channels), (taps, taps, channels, 128)))
        program = compiler.compile(tf.get_default_graph(), [tf.nn.conv2d(x, w, 2, "SAME")], [],
                                   {x: x.shape.as_list(), w: w.shape.as_list()})
        texts += [kernel.source for kernel, _ in program.layout.steps if kernel.name.startswith("convolve")]
    assert len(texts) == 2 and texts[0] == texts[1]
