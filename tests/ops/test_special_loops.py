"""Incomplete gamma and zeta functions of float32 by compiled loops, beside SciPy's in float64."""
import numpy as np
import pytest
import scipy.special

from jitgraph.ops.elementwise import special_loops
from jitgraph.runtime import host_loops  # noqa: F401  (which compiles)


def numbers(name):
    draw = np.random.RandomState(0)
    edges = [1e-30, 1e-9, 1e-3, .1, .39, .41, .5, .75, 1, 1.1, 1.2, 5, 30, 1e3, 9e4]
    first, second = (np.concatenate([np.exp(draw.randn(3000) * 3), one.ravel()]) for one in np.meshgrid(edges, edges))
    first, second = (np.minimum(v, special_loops.MOST) for v in (first, second))
    return np.float32(first + 1.001 if name == "zeta" else first), np.float32(second)


@pytest.mark.parametrize("name", ["gammainc", "gammaincc", "zeta"])
def test_they_are_rounded_right_but_for_rare_last_bits(name):
    first, second = numbers(name)
    special_loops.computed(name, first, second)
    found = special_loops.computed(name, first, second)
    assert found is not None
    wanted = getattr(scipy.special, name)(*(v.astype(np.float64) for v in (first, second)))
    normal = (wanted > np.finfo(np.float32).tiny) & (wanted < np.finfo(np.float32).max)
    np.testing.assert_allclose(found[normal].astype(np.float32), wanted[normal], rtol=2 ** -24 * 1.02)
    np.testing.assert_allclose(found[~normal], wanted[~normal], rtol=1e-6, atol=1e-45)


@pytest.mark.parametrize("name", ["gammainc", "gammaincc", "zeta"])
@pytest.mark.parametrize("a, x", [(np.nan, 1), (2, np.inf), (-1, 1), (2, -1), (0, 1)])
def test_what_is_outside_of_the_domain_is_left_to_scipy(name, a, x):
    for _ in range(2):
        assert special_loops.computed(name, np.float32([2, a]), np.float32([.5, x])) is None


@pytest.mark.parametrize("name", ["igamma", "igammac", "zeta", "polygamma"])
def test_operations_give_the_same_in_first_and_later_runs(tf, name):
    a, x = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    found = getattr(tf, name)(a, x)
    function = {"igamma": "gammainc", "igammac": "gammaincc"}.get(name, name)
    first = np.float32([2, 3, 4, 1, 2, 5] if name == "polygamma" else [1.5, 2.5, 3, 9, 1.25, 40])
    second = np.float32([.25, 1, 3, 8, 30, .5])
    wide = first.astype(int if name == "polygamma" else float)
    wanted = getattr(scipy.special, function)(wide, second.astype(float))
    with tf.Session() as session:
        for _ in range(3):
            np.testing.assert_allclose(session.run(found, {a: first, x: second}), wanted, rtol=2e-7, atol=1e-45)
        np.testing.assert_allclose(session.run(found, {a: first[:0], x: second[:0]}), wanted[:0])
