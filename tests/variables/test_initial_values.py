"""Initial values that depend on other variables: an initializer that runs alone falls back to their initial values."""
import numpy as np
import pytest


def mapped(tf, w):
    return tf.concat(tf.split(w * 1.0, 2), 0) * 2.0


def chosen(tf, w):
    return tf.cond(tf.constant(True), lambda: w * 2.0, lambda: w * 3.0)


def iterated(tf, w):
    return tf.while_loop(lambda k, a: k < 1, lambda k, a: (k + 1, a + w), [0, w])[1]


def initialized(tf, w):
    return w.initialized_value() * 2.0


VALUES = {"product": lambda tf, w: 2.0 * w, "several outputs": mapped, "tf.cond": chosen, "tf.while_loop": iterated,
          "initialized_value": initialized, "function": lambda tf, w: lambda: 2.0 * w,
          "explicit read": lambda tf, w: w.read_value() + w}


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_an_initializer_alone(tf, jit, use_resource, value):
    w = tf.Variable([1.0, 2.0], name="w", use_resource=False)
    u = tf.Variable(value(tf, w), name="u", use_resource=use_resource)
    double, other = tf.placeholder(tf.float32, [2]), tf.assign(w, [5.0, 6.0])
    with tf.Session(jit=jit) as session:
        session.run(u.initializer)
        assert session.run(u).tolist() == [2.0, 4.0]
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(w)
        session.run(tf.global_variables_initializer())
        assert [x.tolist() for x in session.run([w, u])] == [[1.0, 2.0], [2.0, 4.0]]
        session.run(other)                  # once it has a value, that counts
        session.run(u.initializer)
        assert session.run(u + double, {double: [0.0, 0.0]}).tolist() == [10.0, 12.0]


def test_only_variables_of_the_collections_fall_back_and_once(tf):
    hidden = tf.Variable(1.0, collections=[])
    local = tf.Variable(2.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    made = [tf.Variable(hidden * 2.0), tf.Variable(local * 2.0)]
    made.append(tf.Variable(made[1] * 2.0))         # falls back to a value that needs `local`
    with tf.Session() as session:
        session.run(made[1].initializer)
        assert session.run(made[1]) == 4.0
        for variable in (made[0], made[2]):
            with pytest.raises(tf.errors.FailedPreconditionError):
                session.run(variable.initializer)
        session.run([local.initializer, made[2].initializer])
        assert session.run(made[2]) == 8.0


def test_nodes_and_names_are_those_of_tensorflow(tf):
    with tf.name_scope("a"):
        w = tf.Variable([1.0, 2.0], name="w")
        value = tf.multiply(2.0, w, name="value")
    with tf.name_scope("b"):
        u = tf.Variable(value, name="u")
    assert u.initializer.inputs[1].name == "a/value_b/u:0"
    assert u.initializer.inputs[1].op.inputs[1].name == "a/w/read_b/u:0"
    assert u.initial_value is value


def test_what_changes_a_variable_is_left_as_it_is(tf):
    w = tf.Variable(1.0)
    u = tf.Variable(tf.assign_add(w, 1.0))
    with tf.Session() as session:
        session.run(w.initializer)
        session.run(u.initializer)
        assert session.run([w, u]) == [2.0, 2.0]


def test_the_normal_xavier_initializer_makes_up_for_its_tails_as_contrib_does(tf, run):
    """TensorFlow's contrib multiplies the variance by 1.3, its core divides the deviation by 0.87962566."""
    tf.set_random_seed(1)
    w = tf.get_variable("w", [2, 2], initializer=tf.contrib.layers.xavier_initializer(uniform=False, seed=3))
    glorot = tf.get_variable("g", [2, 2], initializer=tf.glorot_normal_initializer(seed=3))
    values = run([w, glorot])
    np.testing.assert_allclose(values[0] / values[1], 1.3 ** 0.5 * 0.87962566103423978, rtol=1e-6)


def test_initializers_are_told_the_part_also_of_whole_variables(tf):
    seen = []

    def initializer(shape, dtype, partition_info):
        seen.append(None if partition_info is None else partition_info.var_offset)
        return tf.zeros(shape, dtype)

    tf.get_variable("whole", [2], initializer=initializer)
    tf.layers.dense(tf.ones([1, 2]), 2, kernel_initializer=initializer)
    tf.contrib.layers.fully_connected(tf.ones([1, 2]), 2, weights_initializer=initializer)
    tf.get_variable("parted", [4], initializer=initializer, partitioner=tf.fixed_size_partitioner(2))
    assert seen == [None, None, None, [0], [2]]
