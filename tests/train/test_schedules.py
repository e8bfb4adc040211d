"""Learning-rate schedules against their formulas, and clipping."""
import math

import numpy as np
import pytest

STEPS = [0, 1, 7, 10, 19, 35]


def values(tf, make, steps=STEPS):
    step = tf.placeholder(tf.int64, [])
    rate = make(step)
    with tf.Session() as session:
        return [session.run(rate, {step: k}) for k in steps]


@pytest.mark.parametrize("staircase", [False, True])
def test_exponential_kinds(tf, staircase):
    quotient = [k // 10 if staircase else k / 10 for k in STEPS]
    kinds = [(tf.train.exponential_decay, lambda p: 0.5 ** p), (tf.train.natural_exp_decay, lambda p: math.exp(-0.5 * p)),
             (tf.train.inverse_time_decay, lambda p: 1 / (1 + 0.5 * p))]
    for function, formula in kinds:
        got = values(tf, lambda k, function=function: function(0.1, k, 10, 0.5, staircase=staircase))
        np.testing.assert_allclose(got, [0.1 * formula(p) for p in quotient], rtol=1e-5)


def test_polynomial_decay_can_start_anew(tf):
    def wanted(k, cycle):
        length = 10 * max(math.ceil(k / 10), 1) if cycle else 10
        return 0.9 * (1 - min(k, length) / length) ** 2 + 0.1

    for cycle in (False, True):
        got = values(tf, lambda k, cycle=cycle: tf.train.polynomial_decay(1.0, k, 10, 0.1, 2.0, cycle))
        np.testing.assert_allclose(got, [wanted(k, cycle) for k in STEPS], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("longer", [1.0, 2.0])
def test_cosine_restarts(tf, longer):
    def wanted(k):
        period, start, height = 10.0, 0.0, 1.0
        while k >= start + period:
            start, period, height = start + period, period * longer, height * 0.5
        return 0.9 * height * 0.5 * (1 + math.cos(math.pi * (k - start) / period)) + 0.1

    got = values(tf, lambda k: tf.train.cosine_decay_restarts(1.0, k, 10, longer, 0.5, 0.1))
    np.testing.assert_allclose(got, [wanted(k) for k in STEPS], rtol=1e-4, atol=1e-5)


def test_linear_cosine_decay(tf):
    def wanted(k):
        k = min(k, 20)
        return (0.1 + (20 - k) / 20) * 0.5 * (1 + math.cos(math.pi * 2 * 0.5 * k / 20)) + 0.01

    got = values(tf, lambda k: tf.train.linear_cosine_decay(1.0, k, 20, 0.5, 0.1, 0.01))
    np.testing.assert_allclose(got, [wanted(k) for k in STEPS], rtol=1e-5, atol=1e-6)
    noisy = values(tf, lambda k: tf.train.noisy_linear_cosine_decay(1.0, k, 20))
    assert len(noisy) == len(STEPS) and np.isfinite(noisy).all()


def test_piecewise_constant_checks_types(tf):
    step = tf.placeholder(tf.int32, [])
    with pytest.raises(ValueError, match="same dtype"):
        tf.train.piecewise_constant(step, [1.5], [1.0, 2.0])
    with pytest.raises(ValueError, match="same dtype"):
        tf.train.piecewise_constant(step, [1], [1.0, 2])
    with pytest.raises(ValueError, match="1 less"):
        tf.train.piecewise_constant(step, [1], [1.0])


def test_a_step_is_required(tf):
    with pytest.raises(ValueError, match="global_step is required"):
        tf.train.exponential_decay(0.1, None, 10, 0.5)


def test_global_step(tf):
    assert tf.train.get_global_step() is None
    step = tf.train.get_or_create_global_step()
    assert step.op.name == "global_step" and step.dtype.base_dtype == tf.int64 and not step.trainable
    assert tf.train.get_global_step() is step and tf.train.get_or_create_global_step() is step
    with pytest.raises(ValueError, match="already exists"):
        tf.train.create_global_step()
    with pytest.raises(TypeError, match="integer"):
        tf.train.assert_global_step(tf.constant(1.0))


def test_clipping_by_a_joint_norm_that_is_not_finite(tf, run):
    clipped, norm = tf.clip_by_global_norm([tf.constant([float("inf")]), None, tf.constant([1.0])], 1.0)
    a, b, n = run([clipped[0], clipped[2], norm])
    assert np.isnan(a).all() and np.isnan(b).all() and np.isinf(n)
    with pytest.raises(TypeError, match="sequence"):
        tf.clip_by_global_norm(1.0, 1.0)


def test_clip_by_norm_has_a_gradient_at_zero(tf, run):
    x = tf.constant([0.0, 0.0])
    assert run(tf.gradients(tf.clip_by_norm(x, 1.0), x)[0]).tolist() == [1.0, 1.0]
