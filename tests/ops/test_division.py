"""Integers divided by zero: an error of the elements that are divided, and of nothing else."""
from __future__ import annotations

import numpy as np
import pytest

DIVISIONS = ["floordiv", "floormod", "truncatediv", "truncatemod", "div", "floor_div", "mod"]


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("name", DIVISIONS)
def test_nothing_can_be_divided_by_zero(tf, name, dtype, jit):
    x = tf.placeholder(dtype, [None, 3])
    y = tf.placeholder(dtype, None)
    try:
        z = getattr(tf, name)(x, y)
    except TypeError:
        pytest.skip(f"{name} has no {dtype}")
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            assert session.run(z, {x: np.zeros((0, 3)), y: 0}).shape == (0, 3)
            assert session.run(z, {x: np.zeros((0, 3)), y: [0, 1, 0]}).shape == (0, 3)
            with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
                session.run(z, {x: np.ones((1, 3)), y: 0})


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_nothing_can_have_a_negative_power(tf, jit):
    x, y = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [])
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            assert session.run(tf.pow(x, y), {x: [], y: -1}).shape == (0,)


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_the_linear_regression_of_every_tutorial(tf, jit):
    """Placeholders of unknown rank, fed scalars: the gradient's shape arithmetic divides nothing by nothing."""
    x, y = tf.placeholder("float"), tf.placeholder("float")
    w, b = tf.Variable(0.3), tf.Variable(-0.1)
    cost = tf.reduce_sum(tf.pow(tf.add(tf.multiply(x, w), b) - y, 2)) / 34
    step = tf.train.GradientDescentOptimizer(0.01).minimize(cost)
    numbers = np.arange(17.0)
    with tf.Session(jit=jit) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(20):
            for one in numbers:
                session.run(step, {x: one, y: 2 * one})
        assert session.run(cost, {x: numbers, y: 2 * numbers}) < 1e-3
