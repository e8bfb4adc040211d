"""The derivatives of igamma and igammac with respect to a: near the exact ones, for all numbers in the same few steps."""
from __future__ import annotations

import mpmath
import numpy as np
import pytest

from jitgraph.ops.elementwise import incomplete_gamma
from jitgraph.ops.elementwise.incomplete_gamma import lower_slope


def _exact(a, x):
    with mpmath.workdps(60):
        a, x = mpmath.mpf(a), mpmath.mpf(x)
        return float(mpmath.diff(lambda t: mpmath.gammainc(t, 0, x, regularized=True), a, h=a * mpmath.mpf(10) ** -20))


def _around(threshold):
    return [np.nextafter(threshold, 0), threshold, np.nextafter(threshold, np.inf)]


def test_the_slope_is_exact_on_both_sides_of_every_threshold():
    at = [0.01, 1.0, 7.5, *_around(incomplete_gamma.SMALL_A), 40.0, 900.0]
    beside = [0.1, 5.0, *_around(incomplete_gamma.SMALL_X), 50.0, 1000.0]
    for a in at:
        for x in beside:
            wanted = _exact(a, x)
            assert lower_slope(np.array([a]), np.array([x]))[0] == pytest.approx(wanted, rel=2e-9, abs=1e-15), (a, x)


@pytest.mark.parametrize("a", [1e6, 1e12, np.nextafter(incomplete_gamma.HUGE_A, 0), 1e30, 1e300])
def test_for_large_numbers_the_slope_is_that_of_a_normal_distribution(a):
    slope = lower_slope(np.array([a]), np.array([a]))[0]
    assert slope == pytest.approx(-1 / np.sqrt(2 * np.pi * a), rel=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_infinite_arguments_are_those_of_tensorflow(tf, run, dtype):
    nan, inf = np.nan, np.inf
    a, x = tf.constant([inf, inf, 1, inf, 0, inf, 0], dtype), tf.constant([inf, 1, inf, 0, inf, -1, 0], dtype)
    np.testing.assert_array_equal(run(tf.igammac(a, x)), [0, nan, 0, 1, nan, nan, nan])
    np.testing.assert_array_equal(run(tf.igamma(a, x)), [nan, nan, 1, 0, nan, nan, 0])


@pytest.mark.parametrize("jit", ["off", "always"])
def test_gradients_without_a_value_are_those_of_tensorflow(tf, jit):
    a = tf.placeholder(tf.float64, [None])
    x = tf.placeholder(tf.float64, [None])
    of_a, of_x = tf.gradients(tf.igamma(a, x), [a, x])
    nan, inf = np.nan, np.inf
    rows = [(1, -1, nan), (-1, 1, nan), (0, 1, nan), (1, 0, 0), (0, 0, 0), (inf, 1, nan), (1, inf, 0), (nan, 1, nan), (1, nan, nan),
            (1e6, 1e5, 0), (1e6, 2e6, 0), (3, 1e8, 0), (1e8, 3, 0)]
    with tf.Session(jit=jit) as session:
        columns = np.array(rows, np.float64).T
        np.testing.assert_array_equal(session.run(of_a, {a: columns[0], x: columns[1]}), columns[2])
        assert np.isnan(session.run([of_a, of_x], {a: [-1.0, -2.0], x: [-1.0, -3.0]})).all()
        assert session.run(of_a, {a: [], x: []}).shape == (0,)


def test_an_infinite_a_is_as_in_tensorflow(tf, run):
    """Its terms give 0 below 1, and from there on infinities of both signs."""
    x = tf.constant([0.0, 0.25, 0.999, 1.0, 2.0])
    a = tf.fill([5], np.float32(np.inf))
    np.testing.assert_array_equal(run(tf.igamma(a, x)), [0, 0, 0, np.nan, np.nan])
    np.testing.assert_array_equal(run(tf.igammac(a, x)), [1, 1, 1, np.nan, np.nan])
