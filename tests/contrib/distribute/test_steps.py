"""Steps of training as objects, and the strategies that one device can have."""
import numpy as np
import pytest


def _loss(tf):
    def loss(context, x):
        assert context is None
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        return tf.square(w - x)
    return loss


@pytest.mark.parametrize("iterations", [1, 2])
@pytest.mark.parametrize("name", ["ParameterServerStrategy", "CollectiveAllReduceStrategy", "MirroredStrategy"])
def test_a_monitor_runs_steps_until_the_elements_end(tf, name, iterations):
    d = tf.contrib.distribute
    strategy = getattr(d, name)()
    step = d.StandardSingleLossStep(lambda: tf.data.Dataset.from_tensors(3.0).repeat(4), _loss(tf),
                                    tf.train.GradientDescentOptimizer(0.1), strategy, iterations)
    assert step.distribution is strategy
    w = 0.0
    with tf.Session() as session:
        monitor = d.Monitor(step, session)
        monitor.run_steps()
        for _ in range(4):
            w -= 0.1 * 2 * (w - 3.0)
        np.testing.assert_allclose(session.run(tf.global_variables()), [w], rtol=1e-6)


def test_a_monitor_needs_a_session_and_a_step_says_what_it_is(tf):
    d = tf.contrib.distribute
    step = d.Step(tf.distribute.get_strategy())
    assert step.initialize() == []
    with pytest.raises(ValueError, match="Should provide a `session`"):
        d.Monitor(step)
    with pytest.raises(NotImplementedError, match="descendants"):
        step()


def test_where_code_is(tf):
    d = tf.contrib.distribute
    strategy = d.ParameterServerStrategy()
    outer = d.get_replica_context()
    d.require_replica_context(outer)
    assert d.get_cross_replica_context() is None
    with strategy.scope():
        assert d.get_cross_replica_context() is strategy
        with pytest.raises(RuntimeError, match="inside `call_for_each_replica"):
            d.require_replica_context(outer)

        def inside():
            d.require_replica_context(d.get_replica_context())
            with pytest.raises(RuntimeError, match="Mismatching tf.distribute.Strategy"):
                d.require_replica_context(outer)
        strategy.extended.call_for_each_replica(inside)


def test_a_configuration_and_more_gpus_than_there_are(tf):
    d = tf.contrib.distribute
    assert d.DistributeConfig() == (None, None, None)
    assert repr(d.DistributeConfig(1)) == "DistributeConfig(train_distribute=1, eval_distribute=None, remote_cluster=None)"
    with pytest.raises(tf.errors.UnimplementedError, match="has one device"):
        d.CollectiveAllReduceStrategy(2)
