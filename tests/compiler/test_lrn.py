"""Local response normalisation in kernels, beside NumPy's: shifted sums over channels, or the product with a band."""
import numpy as np
import pytest

from jitgraph.ops.nn import lrn_lowering

RNG = np.random.RandomState(0)


def normalised(tf, size, dtype=np.float32, **attrs):
    """The normalisation of images and its gradient, and what to feed."""
    fed, dy = tf.placeholder(dtype, [None, *size[1:]]), tf.placeholder(dtype, [None, *size[1:]])
    y = tf.nn.lrn(fed, **attrs)
    feeds = {v: (RNG.standard_normal(size) * 2).astype(dtype) for v in (fed, dy)}
    return [y, *tf.gradients(y, [fed], [dy])], feeds


@pytest.mark.parametrize("beta", [0.5, 0.75, 1.0, 0.6, 0.0])
@pytest.mark.parametrize("size, radius", [((2, 5, 4, 12), 2), ((2, 5, 4, 12), 0), ((2, 5, 4, 3), 5), ((3, 1, 1, 1), 1),
                                          ((2, 5, 4, 70), 16), ((2, 5, 4, 70), 17), ((2, 5, 4, 7), 40)])
def test_normalisation_and_gradient(tf, agree, host_steps, size, radius, beta):
    fetches, feeds = normalised(tf, size, depth_radius=radius, bias=1.5, alpha=0.3, beta=beta)
    kernels = agree(fetches, feeds, np.float32)
    assert any(name.startswith("matmul") for name in kernels) == (2 * radius + 1 > lrn_lowering.MOST_SHIFTS)
    assert host_steps(fetches, feeds) == []


@pytest.mark.parametrize("radius", [2, 20])
def test_sizes_that_only_the_run_knows(tf, agree, radius):
    fed = tf.placeholder(tf.float32, [None] * 4)
    y = tf.nn.lrn(fed, radius, alpha=0.1)
    fetches = [y, *tf.gradients(tf.square(y), [fed])]
    for size in ((2, 5, 4, 6), (1, 3, 3, 30), (0, 3, 3, 8), (4, 8, 8, 1)):
        agree(fetches, {fed: RNG.standard_normal(size)}, np.float32)


def test_no_power_where_roots_do(tf, agree):
    for beta, power in ((0.5, False), (0.75, False), (1.0, False), (0.6, True)):
        kernels = agree(*normalised(tf, (2, 3, 3, 8), depth_radius=1, beta=beta), np.float32)
        assert any("pow" in name for name in kernels) == power, kernels


def test_radii_below_0_stay_on_the_host(tf, host_steps):
    fetches, feeds = normalised(tf, (2, 3, 3, 8), depth_radius=-1)
    assert len(host_steps(fetches, feeds)) == 2


def test_halves_are_normalised_as_float32(tf, agree):
    agree(*normalised(tf, (2, 3, 3, 8), np.float16, depth_radius=2), np.float16)
