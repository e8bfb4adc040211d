"""tf.get_static_value and what hangs on it: folded is what TensorFlow 1.15's Python folds, and nothing more."""
from __future__ import annotations

import numpy as np
import pytest

FOLDED = {
    "tf.constant(2)": 2, "tf.shape(known)": [2, 3], "tf.size(known)": 6, "tf.rank(unknown)": 2, "tf.range(3)": [0, 1, 2],
    "tf.cast(tf.constant(2), tf.float32)": 2.0, "tf.concat([[1], [2]], 0)": [1, 2], "tf.stack([1, 2])": [1, 2],
    "tf.fill([2], 3)": [3, 3], "tf.equal(2, 3)": False, "tf.not_equal(2, 3)": True, "tf.equal(tf.rank(known), 2)": True,
}
NOT_FOLDED = ["tf.shape(unknown)", "tf.shape(known)[-1]", "tf.less(2, 3)", "tf.constant(2) + 3", "tf.identity(tf.constant(2))",
              "tf.reshape([1, 2], [2, 1])", "tf.expand_dims(1, 0)", "tf.reduce_prod([1, 2])", "tf.gather([1, 2], 0)",
              "tf.logical_and(True, False)", "tf.concat([tf.shape(known)[:1], [5]], 0)", "tf.placeholder_with_default(3, [])"]


@pytest.fixture
def scope(tf):
    return {"tf": tf, "known": tf.placeholder(tf.float32, [2, 3]), "unknown": tf.placeholder(tf.float32, [None, 3])}


@pytest.mark.parametrize("text", FOLDED)
def test_folded(tf, scope, text):
    assert np.asarray(tf.get_static_value(eval(text, scope))).tolist() == FOLDED[text]


@pytest.mark.parametrize("text", NOT_FOLDED)
def test_not_folded(tf, scope, text):
    assert tf.get_static_value(eval(text, scope)) is None


CONDITIONS = ["tf.assert_equal(tf.shape(known)[-1], 4)", "tf.assert_greater_equal(tf.shape(known)[0] - 3, 0)",
              "tf.assert_positive(tf.constant(1) - 2)", "tf.assert_rank(known, tf.constant(2) + 1)"]


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("text", CONDITIONS)
def test_an_assertion_in_a_branch_that_is_not_taken(tf, scope, text, jit):
    def checked():
        with tf.control_dependencies([eval(text, scope)]):
            return tf.identity(1.0)

    take = tf.placeholder(tf.bool, [])
    y = tf.cond(take, checked, lambda: tf.constant(2.0))
    with tf.Session(jit=jit) as session:
        feeds = {scope["known"]: np.zeros((2, 3))}
        assert session.run(y, {take: False, **feeds}) == 2.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(y, {take: True, **feeds})


@pytest.mark.parametrize("text", ["tf.assert_equal(2, 3)", "tf.assert_equal(tf.shape(known), [2, 4])", "tf.assert_less(3, 2)"])
def test_an_assertion_about_static_values_raises_at_once(tf, scope, text):
    with pytest.raises(tf.errors.InvalidArgumentError):
        eval(text, scope)


def test_programs_that_ask_the_inner_module_get_the_same(tf, scope):
    import jitgraph.compat

    jitgraph.compat.install()
    try:
        from tensorflow.python.framework import tensor_util
        assert tensor_util.constant_value(tf.shape(scope["known"])[-1]) is None
    finally:
        jitgraph.compat.uninstall()
