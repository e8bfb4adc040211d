"""3-D convolutions and poolings in kernels, beside NumPy's: volumes as planes."""
import numpy as np
import pytest

RNG = np.random.RandomState(0)
TO_FRONT = (0, 4, 1, 2, 3)          # channels

# size, taps and output channels, steps, gaps, padding
CONVOLUTIONS = {
    "small": ((2, 5, 8, 7, 3), (3, 3, 3, 5), (1, 1, 1), (1, 1, 1), "SAME"),
    "inside": ((2, 5, 8, 7, 3), (3, 2, 3, 5), (1, 1, 1), (1, 1, 1), "VALID"),
    "one channel": ((2, 6, 9, 9, 1), (3, 3, 3, 4), (1, 1, 1), (1, 1, 1), "SAME"),
    "even taps": ((2, 5, 6, 6, 2), (2, 4, 2, 3), (1, 1, 1), (1, 1, 1), "SAME"),
    "step of the planes": ((2, 5, 9, 8, 3), (3, 3, 3, 5), (1, 2, 2), (1, 1, 1), "SAME"),
    "step along the depth": ((2, 7, 5, 6, 3), (3, 3, 3, 5), (2, 1, 1), (1, 1, 1), "SAME"),
    "steps that leave planes out": ((2, 9, 8, 8, 3), (2, 2, 2, 5), (3, 3, 3), (1, 1, 1), "VALID"),
    "planes that no tap meets": ((2, 8, 8, 8, 3), (1, 1, 1, 5), (2, 2, 2), (1, 1, 1), "SAME"),
    "gaps": ((2, 7, 8, 8, 3), (3, 3, 3, 5), (1, 1, 1), (2, 2, 2), "SAME"),
    "gap and step": ((2, 9, 8, 8, 3), (3, 3, 3, 5), (2, 1, 1), (2, 1, 1), "VALID"),
    "a plane at a time": ((2, 4, 8, 8, 3), (1, 3, 3, 5), (1, 1, 1), (1, 1, 1), "SAME"),
    "matrix product": ((2, 4, 5, 5, 3), (1, 1, 1, 5), (1, 1, 1), (1, 1, 1), "SAME"),
    "whole volume": ((2, 4, 5, 6, 3), (4, 5, 6, 7), (1, 1, 1), (1, 1, 1), "VALID"),
    "more taps than planes": ((2, 2, 8, 8, 3), (5, 3, 3, 4), (1, 1, 1), (1, 1, 1), "SAME"),
    "by Winograd": ((1, 4, 12, 12, 16), (3, 3, 3, 32), (1, 1, 1), (1, 1, 1), "SAME"),
}


def per_axis(numbers, layout):
    return [1, *numbers, 1] if layout == "NDHWC" else [1, 1, *numbers]


def volumes(tf, size, layout, dtype, round_to=None):
    """A placeholder of volumes, whose batch is unknown, and what to feed."""
    x = RNG.standard_normal(size)
    x = (x if round_to is None else np.round(x * round_to)).astype(dtype)
    x = x if layout == "NDHWC" else np.ascontiguousarray(x.transpose(TO_FRONT))
    return tf.placeholder(dtype, [None, *x.shape[1:]]), x


def weighted(tf, y):
    """Different gradients for the elements of y."""
    return y * tf.random.stateless_normal(tf.shape(y), [1, 2], dtype=y.dtype)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["NDHWC", "NCDHW"])
@pytest.mark.parametrize("case", list(CONVOLUTIONS))
def test_convolution_and_both_gradients(tf, agree, host_steps, case, layout, dtype):
    size, (*taps, out), steps, gaps, padding = CONVOLUTIONS[case]
    fed, x = volumes(tf, size, layout, dtype)
    w = RNG.standard_normal((*taps, size[4], out)).astype(dtype)
    filters = tf.placeholder(dtype, w.shape)
    y = tf.nn.conv3d(fed, filters, per_axis(steps, layout), padding, layout, per_axis(gaps, layout))
    fetches, feeds = [y, *tf.gradients(weighted(tf, y), [fed, filters])], {fed: x, filters: w}
    agree(fetches, feeds, dtype)
    assert host_steps(fetches[:1] + tf.gradients(y, [fed, filters]), feeds) == []


def test_sizes_that_only_the_run_knows(tf, agree):
    fed, filters = tf.placeholder(tf.float32, [None] * 4 + [3]), tf.placeholder(tf.float32, [3, 3, 3, 3, 4])
    for step in (1, 2):
        y = tf.nn.conv3d(fed, filters, [1, step, step, step, 1], "SAME")
        fetches = [y, *tf.gradients(tf.square(y), [fed, filters])]
        for size in ((2, 6, 10, 9, 3), (1, 3, 5, 4, 3), (3, 9, 12, 12, 3)):
            agree(fetches, {fed: RNG.standard_normal(size), filters: RNG.standard_normal((3, 3, 3, 3, 4))}, np.float32)


@pytest.mark.parametrize("operation", ["conv3d", "max_pool3d", "avg_pool3d"])
def test_no_volumes(tf, agree, operation):
    fed = tf.placeholder(tf.float32, [None, 4, 6, 6, 3])
    filters = tf.constant(np.ones((2, 2, 2, 3, 4), np.float32))
    y = getattr(tf.nn, operation)(fed, filters if operation == "conv3d" else 2, [1] * 5, "SAME")
    sources = [fed, filters] if operation == "conv3d" else [fed]
    agree([y, *tf.gradients(y, sources)], {fed: np.zeros((0, 4, 6, 6, 3))}, np.float32)


def test_transposed_convolution_takes_its_size(tf, agree):
    fed, filters = tf.placeholder(tf.float32, [None, 3, 4, 4, 5]), tf.placeholder(tf.float32, [3, 3, 3, 2, 5])
    y = tf.nn.conv3d_transpose(fed, filters, tf.stack([tf.shape(fed)[0], 6, 8, 8, 2]), [1, 2, 2, 2, 1], "SAME")
    agree([y, *tf.gradients(tf.square(y), [fed, filters])],
          {fed: RNG.standard_normal((2, 3, 4, 4, 5)), filters: RNG.standard_normal((3, 3, 3, 2, 5))}, np.float32)


def test_gradients_of_old_graph_files(tf, agree, host_steps):
    shapes = (None, 3, 4, 3, 2), (2, 2, 2, 2, 3), (None, 3, 4, 3, 3)
    x, w, dy = (tf.placeholder(tf.float32, shape) for shape in shapes)
    fetches = [getattr(tf.raw_ops, f"Conv3DBackprop{which}")(x, w, dy, strides=[1] * 5, padding="SAME")
               for which in ("Input", "Filter")]
    feeds = {v: RNG.standard_normal([d or 2 for d in v.shape.as_list()]).astype(np.float32) for v in (x, w, dy)}
    agree(fetches, feeds, np.float32)
    assert host_steps(fetches, feeds) == []


def test_groups_of_channels_stay_on_the_host(tf, agree, host_steps):
    fed, x = volumes(tf, (2, 4, 5, 5, 4), "NDHWC", np.float32)
    y = tf.nn.conv3d(fed, tf.constant(RNG.standard_normal((2, 2, 2, 2, 6)).astype(np.float32)), [1] * 5, "SAME")
    agree(y, {fed: x}, np.float32)
    assert len(host_steps([y], {fed: x})) == 1


# size, taps, steps, padding
POOLS = {
    "halves": ((2, 4, 8, 8, 3), (2, 2, 2), (2, 2, 2), "VALID"), "odd": ((2, 5, 9, 7, 5), (2, 2, 2), (2, 2, 2), "SAME"),
    "overlap": ((2, 6, 9, 7, 5), (3, 3, 3), (2, 2, 2), "SAME"), "inside": ((2, 7, 9, 7, 3), (3, 3, 2), (2, 1, 2), "VALID"),
    "every element": ((1, 4, 5, 6, 17), (3, 3, 3), (1, 1, 1), "SAME"), "gaps": ((2, 6, 9, 7, 3), (1, 1, 1), (2, 2, 2), "SAME"),
    "planes alone": ((2, 4, 6, 6, 3), (1, 2, 2), (1, 2, 2), "SAME"), "depth alone": ((2, 6, 5, 5, 3), (3, 1, 1), (2, 1, 1), "SAME"),
    "whole volume": ((2, 4, 7, 7, 5), (4, 7, 7), (1, 1, 1), "VALID"),
    "whole planes": ((2, 6, 7, 7, 5), (2, 7, 7), (2, 1, 1), "VALID"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind, dtype", [("max_pool3d", np.float32), ("avg_pool3d", np.float32), ("avg_pool3d", np.float64)])
@pytest.mark.parametrize("layout", ["NDHWC", "NCDHW"])
@pytest.mark.parametrize("case", list(POOLS))
def test_pools_and_their_gradients(tf, agree, host_steps, case, kind, layout, dtype):
    size, taps, steps, padding = POOLS[case]
    fed, x = volumes(tf, size, layout, dtype, round_to=2)       # with ties, which all get the gradient
    y = getattr(tf.nn, kind)(fed, per_axis(taps, layout), per_axis(steps, layout), padding, layout)
    agree([y, *tf.gradients(weighted(tf, y), [fed])], {fed: x}, dtype)
    assert not host_steps([y, *tf.gradients(y, [fed])], {fed: x})


def test_pools_of_sizes_that_only_the_run_knows(tf, agree):
    fed = tf.placeholder(tf.float32, [None] * 4 + [3])
    ys = [pool(fed, 3, 2, "SAME") for pool in (tf.nn.max_pool3d, tf.nn.avg_pool3d)]
    for size in ((2, 6, 10, 9, 3), (1, 3, 5, 4, 3)):
        agree([*ys, *tf.gradients([tf.square(y) for y in ys], [fed])], {fed: RNG.standard_normal(size)}, np.float32)


@pytest.mark.parametrize("jit", ["off", "always"])
def test_a_fed_maximum_of_a_volume_is_what_elements_are_compared_with(tf, jit):
    x = tf.placeholder(tf.float32, [1, 2, 2, 2, 1])
    y = tf.nn.max_pool3d(x, [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID")
    slope = tf.gradients(y, x)[0]
    with tf.Session(jit=jit) as session:
        fed = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2, 1)
        for top in (7, 3, 9):
            found = session.run(slope, {x: fed, y: np.full([1, 1, 1, 1, 1], top, np.float32)})
            np.testing.assert_array_equal(found, fed == top)


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("along", ["depth", "width"])
def test_what_is_near_the_maximum_of_a_volume_gets_its_gradient(tf, jit, along):
    """As TensorFlow 1.15 has it: all that differ by less than 1e-5, and infinities never."""
    window = [1, 6, 1, 1, 1] if along == "depth" else [1, 1, 1, 6, 1]
    x = tf.placeholder(tf.float32, [1, *window[1:]])
    slope = tf.gradients(tf.nn.max_pool3d(x, window, window, "VALID"), x)[0]
    near = np.nextafter(np.float32(1e-5), np.float32(0))
    with tf.Session(jit=jit) as session:
        for values, found in (([0, 1, 1, 1, 0, .5], [0, 1, 1, 1, 0, 0]), ([0, 0, 0, 0, 0, near], [1, 1, 1, 1, 1, 1]),
                              ([1, 1 - 3e-6, 1 - 9e-6, 1 - 1.1e-5, 1 - 2e-5, 0], [1, 1, 1, 0, 0, 0]),
                              ([1e-5, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]), ([np.inf, np.inf, 1, 0, 0, 0], [0] * 6),
                              ([np.nan, 1, np.nan, 0, 0, 0], [0, 1, 0, 0, 0, 0])):
            fed = np.array(values, np.float32).reshape(x.shape.as_list())
            assert session.run(slope, {x: fed}).ravel().tolist() == found, values
