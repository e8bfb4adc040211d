"""What stands in a branch and is used outside of it, as TensorFlow 1 allows, which makes the branch's nodes in the graph around."""
import numpy as np
import pytest

MODES = pytest.mark.parametrize("jit", ["off", "always", "auto"])


def session(tf, jit):
    found = tf.Session(jit=jit)
    found.run(tf.global_variables_initializer())
    return found


@MODES
def test_updates_in_branches_are_waited_for(tf, jit):
    training, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [2])
    means = [tf.Variable([0.0, 0.0]) for _ in range(2)]

    def trained(mean):
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, mean.assign_add(x).op)
        return x - mean

    for mean in means:
        tf.cond(training, lambda mean=mean: trained(mean), lambda mean=mean: x + mean)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert [update.name for update in updates] == ["cond/AssignAdd", "cond_1/AssignAdd"]
    with tf.control_dependencies(updates):
        after = means[0].read_value() + means[1].read_value()
    together = tf.group(*updates)
    with session(tf, jit) as found:
        feed = {training: True, x: [1.0, 2.0]}
        for k in (1, 2):
            assert found.run(after, feed).tolist() == [2.0 * k, 4.0 * k]
        assert found.run(together, feed) is None
        assert found.run(means[1]).tolist() == [3.0, 6.0]
        assert found.run(together, {training: False, x: [1.0, 2.0]}) is None
        assert found.run(means[1]).tolist() == [3.0, 6.0]


@MODES
def test_a_tensor_of_a_branch_has_its_value_outside(tf, jit):
    first, second, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [2])
    w, made = tf.Variable([2.0, 3.0]), {}

    def inner():
        made["inner"] = made["outer"] * 3.0
        return made["inner"] + 1.0

    def outer():
        made["outer"] = tf.square(x) * w
        return tf.cond(second, inner, lambda: x)

    z = tf.cond(first, outer, lambda: x * 2.0)
    y = made["inner"] + made["outer"]
    again = tf.cond(first, lambda: made["outer"] * 10.0, lambda: x)
    gradients = tf.gradients([y, z], [w, x])
    with session(tf, jit) as found:
        for _ in range(2):
            results = found.run([y, z, again, gradients], {first: True, second: True, x: [1.0, 2.0]})
            np.testing.assert_allclose(results[0], [8.0, 48.0])
            np.testing.assert_allclose(results[1], [7.0, 37.0])
            np.testing.assert_allclose(results[2], [20.0, 120.0])
            np.testing.assert_allclose(results[3], [[7.0, 28.0], [28.0, 84.0]])
            # what is not asked for does no harm
            assert found.run(z, {first: False, second: True, x: [1.0, 2.0]}).tolist() == [2.0, 4.0]
            for choice in ({first: False, second: True}, {first: True, second: False}):
                with pytest.raises(tf.errors.InvalidArgumentError, match="Retval does not have value"):
                    found.run(y, {**choice, x: [1.0, 2.0]})


@MODES
def test_a_branch_that_captures_a_tensor_of_another_is_taken_or_not(tf, jit):
    first, second, third = (tf.placeholder(tf.bool, []) for _ in range(3))
    x, made = tf.placeholder(tf.float32, [None]), {}

    def inner():
        made["deep"] = x * 3.0
        return made["deep"] + 1.0

    def outer():
        made["flat"] = x + 5.0
        return tf.cond(second, inner, lambda: x)

    tf.cond(first, outer, lambda: x)
    y = tf.cond(third, lambda: made["deep"] * made["flat"] * made["deep"], lambda: x)
    gradient = tf.gradients(y, x)[0]
    loop = tf.while_loop(lambda i, _: i < tf.cast(x[0], tf.int32), lambda i, t: (i + 1, t + made["flat"]), [0, x])[1]
    with session(tf, jit) as found:
        for taken in ((True, True), (False, True), (True, False), (False, False)):
            feed = {first: taken[0], second: taken[1], third: False, x: [2.0]}
            assert found.run(y, feed).tolist() == [2.0]
            assert found.run(gradient, feed).tolist() == [1.0]
            feed[third] = True
            if all(taken):
                assert found.run([y, gradient], feed) == [[6.0 * 7.0 * 6.0], [2.0 * 6.0 * 3.0 * 7.0 + 36.0]]
            else:
                with pytest.raises(tf.errors.InvalidArgumentError, match="Retval does not have value: cond/"):
                    found.run(y, feed)
        assert found.run(loop, {first: True, second: True, x: [2.0]}).tolist() == [16.0]
        assert found.run(loop, {first: False, second: True, x: [0.0]}).tolist() == [0.0]


def test_names_and_draws_stay(tf):
    """What stands for it takes no name that a program may ask for, and does not count among the nodes that seeds are made of."""
    def draws(use):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            p, v, made = tf.placeholder(tf.bool, []), tf.Variable(1.0), []

            def branch():
                made.extend([v.assign_add(1.0).op, v + 1.0])
                return made[1]

            tf.cond(p, branch, lambda: 0.0)
            if use:
                group, total = tf.group(made[0]), made[1] + 1.0
            else:
                group, total = tf.no_op("group_deps"), tf.constant(1.0) + 1.0
                tf.get_default_graph()._ids.last -= 1
            drawn, same = tf.random_normal([2]), tf.identity(total)
            with tf.Session() as found:
                return group.name, same.name, found.run(drawn).tolist()

    assert draws(True) == draws(False)


def test_collections_of_branches_come_back_with_the_graph(tf):
    p, x, v = tf.placeholder(tf.bool, [], "p"), tf.placeholder(tf.float32, [], "x"), tf.Variable(1.0, name="v")

    def branch():
        tf.add_to_collection("updates", v.assign_add(x).op)
        tf.add_to_collection("values", tf.square(x))
        return x

    tf.cond(p, branch, lambda: -x)
    meta = tf.train.export_meta_graph()
    tf.reset_default_graph()
    tf.train.import_meta_graph(meta)
    update, = tf.get_collection("updates")
    value, = tf.get_collection("values")
    assert (update.name, value.name) == ("cond/AssignAdd", "cond/Square:0")
    with tf.Session() as found:
        found.run(tf.global_variables_initializer())
        assert found.run([tf.group(update), value + 1.0], {"p:0": True, "x:0": 3.0}) == [None, 10.0]
        assert found.run("v:0") == 4.0


def test_what_no_branch_has_stays_an_error(tf):
    made = []

    def body(k):
        made.append(k + 1)
        return made[0]

    tf.while_loop(lambda k: k < 3, body, [0])
    with pytest.raises(ValueError, match="tf.while_loop and has no value outside"):
        made[0] + 1
    other = tf.Graph()
    tf.cond(tf.placeholder(tf.bool, []), lambda: made.append(tf.constant(1.0)) or made[-1], lambda: 0.0)
    with other.as_default(), pytest.raises(ValueError, match="must be from the same graph"):
        tf.negative(made[-1])


def test_it_cannot_be_fetched(tf):
    made = []
    tf.cond(tf.constant(True), lambda: made.append(tf.constant(1.0)) or made[0], lambda: 0.0)
    with tf.Session() as found, pytest.raises(ValueError, match="not fetchable: it was made inside a branch"):
        found.run(made[0])


def test_what_layers_in_branches_collect(tf):
    """Batch normalization, losses, regularizers and summaries made in branches, as programs take them from the collections."""
    training, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [8, 3])

    def normalized(is_training):
        return tf.layers.batch_normalization(x, training=is_training, momentum=0.5, name="norm", reuse=not is_training)

    y = tf.cond(training, lambda: normalized(True), lambda: normalized(False))

    def of_training():
        tf.summary.scalar("mean", tf.reduce_mean(y))
        tf.losses.absolute_difference(tf.zeros([8, 3]), y)
        tf.get_variable("w", [3], initializer=tf.ones_initializer(), regularizer=lambda w: tf.reduce_sum(w) * 0.1)
        return tf.constant(0.0)

    tf.cond(training, of_training, lambda: 0.0)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        total = tf.losses.get_total_loss()
    summaries, (gradient,) = tf.summary.merge_all(), tf.gradients(total, tf.get_collection("trainable_variables", "norm/beta"))
    values = np.arange(24.0).reshape(8, 3)
    with session(tf, "always") as found:
        loss, grad, text = found.run([total, gradient, summaries], {training: True, x: values})
        np.testing.assert_allclose(loss, np.abs(values - values.mean(0)).mean() / values.std(0)[0] + 0.3, rtol=1e-4)
        np.testing.assert_allclose(grad, np.zeros(3), atol=1e-6)
        assert len(tf.Summary.FromString(text).value) == 1
        np.testing.assert_allclose(found.run("norm/moving_mean:0"), values.mean(0) / 2)
        moved = (values - values.mean(0) / 2) / np.sqrt(0.5 + values.var(0) / 2 + 1e-3)
        np.testing.assert_allclose(found.run(y, {training: False, x: values}), moved, rtol=1e-5, atol=1e-6)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Retval does not have value"):
            found.run(summaries, {training: False, x: values})


@MODES
def test_what_waits_for_a_branch_that_is_not_taken_is_dead(tf, jit):
    """As in TensorFlow 1.15, which gives the same numbers here.  So updates of moving averages that were made in a branch hold back
    a training step while another branch is taken."""
    training, deep, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [2])
    mean, steps, made = tf.Variable([0.0, 0.0]), tf.Variable(0.0), {}

    def inner():
        made["nothing"] = tf.no_op()
        return x * 2.0

    def trained():
        made["update"] = mean.assign_add(x)
        made["unused"] = steps.assign_add(100.0)
        return tf.cond(deep, inner, lambda: x) - mean

    y = tf.cond(training, trained, lambda: x + mean)
    with tf.control_dependencies([made["update"]]):         # a tensor of the branch
        step = steps.assign_add(1.0)
        value = tf.identity(x)
        ends = tf.while_loop(lambda i: i < 3.0, lambda i: i + 1.0, [0.0])
    with tf.control_dependencies([made["nothing"]]):        # an operation of a branch in a branch
        last = tf.group(steps.assign_add(10.0))
    with tf.control_dependencies([value]):
        chained = tf.identity(x) * 3.0
    merged, _ = tf.raw_ops.Merge(inputs=[value, x + 5.0])
    slope, = tf.gradients(chained, x)

    with session(tf, jit) as found:
        feed = {training: False, deep: True, x: [1.0, 2.0]}
        for _ in range(2):
            assert found.run([step.op, last, y], feed)[2].tolist() == [1.0, 2.0]
            for dead in (value, chained, step, ends):
                with pytest.raises(tf.errors.InvalidArgumentError, match="Retval does not have value"):
                    found.run(dead, feed)
            assert found.run(merged, feed).tolist() == [6.0, 7.0]
        assert found.run([steps, mean[0]]) == [0.0, 0.0]
        feed[training] = True
        assert found.run([step, value, chained, ends], feed)[1:3] == [pytest.approx([1.0, 2.0]), pytest.approx([3.0, 6.0])]
        assert found.run([steps, mean[0]]) == [1.0, 1.0]    # not "unused": nothing asks for it
        assert found.run(slope, feed).tolist() == [3.0, 3.0]
        found.run(last, {**feed, deep: False})
        assert found.run(steps) == 1.0
        found.run(last, feed)
        assert found.run(steps) == 11.0
