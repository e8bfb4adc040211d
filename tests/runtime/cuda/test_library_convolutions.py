"""Sessions whose convolutions a library makes, on a simulated device."""

import numpy as np
import pytest

RNG = np.random.default_rng(2)
CASES = {
    # images, filter's rows, columns and results, stride, gap, padding
    "any": ((2, 5, 6, 3), (3, 3, 5), 1, 1, "SAME"),
    "steps": ((2, 7, 9, 4), (3, 3, 8), 2, 1, "SAME"),
    "steps, more zeros after than before": ((2, 8, 8, 4), (3, 3, 8), 2, 1, "SAME"),
    "step larger than the filter": ((1, 8, 10, 4), (2, 2, 7), 3, 1, "VALID"),
    "rows that no tap reaches": ((2, 6, 6, 8), (1, 1, 4), 2, 1, "SAME"),
    "gaps": ((1, 8, 7, 4), (3, 3, 4), 1, 2, "SAME"),
    "explicit": ((2, 6, 7, 3), (4, 4, 7), 2, 1, [[0, 0], [1, 2], [0, 3], [0, 0]]),
}
ALL = ["convolution_forward by engine 3", "convolution_backward_data by engine 3", "convolution_backward_filter by engine 3"]


@pytest.fixture
def session(tf, monkeypatch, all_are_large):
    """session(): one on a simulated device; `convolved` is what its library has computed."""
    from jitgraph.compiler import targets
    from jitgraph.runtime.cuda.machine import machine_of

    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")

    def make():
        library = machine_of(targets.present()).driver.library(0, "library_convolutions")
        library.convolved.clear()
        make.convolved = library.convolved
        return tf.Session(jit="always")

    return make


def program(tf, case, dtype="float32"):
    """(a convolution and its gradients, feeds)"""
    size, (kh, kw, out), step, gap, padding = CASES[case]
    x, w = tf.placeholder(dtype, [None, *size[1:]]), tf.placeholder(dtype, [kh, kw, size[3], out])
    y = tf.nn.conv2d(x, w, [1, step, step, 1], padding, dilations=[1, gap, gap, 1])
    feeds = {t: RNG.standard_normal(shape).astype(dtype) for t, shape in ((x, size), (w, w.shape.as_list()))}
    return [y, *tf.gradients(tf.square(y), [x, w])], feeds


def near(found, wanted, share=2e-6):
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        a, b = a.astype(np.float64), b.astype(np.float64)
        np.testing.assert_allclose(a, b, rtol=0, atol=share * np.abs(b).max())


@pytest.mark.parametrize("case", CASES)
def test_the_library_and_what_it_declines_give_what_the_reference_gives(tf, session, monkeypatch, case):
    from jitgraph.runtime.cuda.convolutions import Convolutions

    fetches, feeds = program(tf, case)
    with tf.Session(jit="off") as reference:
        wanted = reference.run(fetches, feeds)
    with session() as s:
        near(s.run(fetches, feeds), wanted)
    assert session.convolved == ALL
    monkeypatch.setattr(Convolutions, "prepare", lambda self, asked, near: None)
    with session() as s:
        near(s.run(fetches, feeds), wanted)
    assert session.convolved == []


@pytest.mark.parametrize("dtype, share", [("float64", 1e-14), ("float16", 1e-3), ("bfloat16", 1e-2)])
def test_other_floats(tf, session, monkeypatch, dtype, share):
    """Those of 16 bits are rounded once by both, after sums in float32."""
    from jitgraph.runtime.cuda.convolutions import Convolutions

    fetches, feeds = program(tf, "steps", dtype)
    with tf.Session(jit="off") as reference:
        wanted = reference.run(fetches, feeds)
    with session() as s:
        near(s.run(fetches, feeds), wanted, share)
    assert len(session.convolved) == 3
    monkeypatch.setattr(Convolutions, "prepare", lambda self, asked, near: None)
    with session() as s:
        near(s.run(fetches, feeds), wanted, share)


def test_any_number_of_images(tf, session):
    (y, *_), feeds = program(tf, "any")
    x, w = feeds
    with session() as s:
        for count in (3, 3, 3, 1, 2):
            fed = {x: RNG.standard_normal((count, 5, 6, 3)).astype(np.float32), w: feeds[w]}
            with tf.Session(jit="off") as reference:
                near([s.run(y, fed)], [reference.run(y, fed)])
        assert s.run(y, {**feeds, x: np.zeros((0, 5, 6, 3), np.float32)}).shape == (0, 5, 6, 5)
    assert session.convolved == ALL[:1] * 5         # of no images, nothing


def test_steps_of_training_are_the_same_as_on_the_cpu(tf, session, monkeypatch):
    """A bias, a ReLU, a second convolution and momentum's update of filters whose gradients lie with their columns first."""
    rng = np.random.default_rng(3)
    x, wanted = tf.placeholder(tf.float32, [2, 6, 6, 3]), tf.placeholder(tf.float32, [2, 3, 3, 4])
    filters = [tf.Variable(rng.standard_normal(shape).astype(np.float32)) for shape in ((3, 3, 3, 4), (3, 3, 4, 4))]
    h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, filters[0], [1, 1, 1, 1], "SAME"), tf.Variable(tf.ones([4]))))
    loss = tf.reduce_mean(tf.square(tf.nn.conv2d(h, filters[1], [1, 2, 2, 1], "SAME") - wanted))
    step = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    feeds = {x: rng.standard_normal((2, 6, 6, 3)), wanted: rng.standard_normal((2, 3, 3, 4))}
    found = []
    for target in ("cuda-simulator", "cpu"):
        monkeypatch.setenv("JITGRAPH_TARGET", target)
        with session() if target != "cpu" else tf.Session(jit="always") as s:
            s.run(tf.global_variables_initializer())
            for _ in range(4):
                s.run(step, feeds)
            found.append(s.run([*filters, loss], feeds))
    near(*found, share=2e-5)
    assert len(session.convolved) == 4 * 5 + 2         # the images of the first have no gradient


@pytest.mark.parametrize("without", [True, False])
def test_switched_off_or_not_there(tf, session, monkeypatch, without):
    from jitgraph.compiler import targets
    from jitgraph.runtime.cuda.machine import machine_of

    if without:
        monkeypatch.setenv("JITGRAPH_WITHOUT", "library_convolutions")
    else:
        monkeypatch.setattr(machine_of(targets.present()), "libraries", frozenset())
    fetches, feeds = program(tf, "any")
    with tf.Session(jit="off") as reference, session() as s:
        near(s.run(fetches, feeds), reference.run(fetches, feeds))
    assert session.convolved == []
