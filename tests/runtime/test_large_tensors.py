"""Tensors that no memory holds: TensorFlow's error in every mode, and a session that goes on."""
from __future__ import annotations

import numpy as np
import pytest


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
@pytest.mark.parametrize("make", [lambda tf, n: tf.fill([n, n], 1.0), lambda tf, n: tf.tile(tf.ones([1, 1]) * tf.ones([1]), [n, n]),
                                  lambda tf, n: tf.fill([n, 1], 1.0) + tf.fill([1, n], 2.0)])
def test_what_no_memory_holds(tf, make, jit):
    n = tf.placeholder(tf.int32, [])
    y = make(tf, n)
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM"):
                session.run(y, {n: 10**7})
            assert session.run(y, {n: 3}).shape == (3, 3)


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_what_no_address_reaches(tf, jit):
    sizes = tf.placeholder(tf.int64, [2])
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(tf.fill(sizes, np.float32(1)), {sizes: [2**40, 2**40]})
