"""`synchronization` and `aggregation` of variables: what they decide, and what graph files keep of them."""
import pytest


@pytest.fixture
def on_read(tf):
    return tf.VariableSynchronization.ON_READ


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("stated, trainable", [(None, False), (False, False), (True, True)])
def test_what_is_made_equal_on_reading_is_not_trained(tf, on_read, use_resource, stated, trainable):
    made = [tf.Variable(1.0, trainable=stated, synchronization=on_read, use_resource=use_resource),
            tf.get_variable("v", [], trainable=stated, synchronization=on_read, use_resource=use_resource)]
    assert [v.trainable for v in made] == [trainable] * 2
    assert tf.trainable_variables() == (made if trainable else [])
    assert tf.global_variables() == made


@pytest.mark.parametrize("use_resource", [False, True])
def test_optimizers_leave_it_alone(tf, on_read, use_resource):
    count = tf.Variable(1.0, synchronization=on_read, use_resource=use_resource)
    weight = tf.Variable(2.0, use_resource=use_resource)
    step = tf.train.GradientDescentOptimizer(0.5).minimize(count * weight)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run([count, weight]) == [1.0, 1.5]


def test_modes_may_be_given_as_numbers_or_not_at_all(tf, on_read):
    v = tf.Variable(1.0, synchronization=3, aggregation=None)
    assert (v.synchronization, v.aggregation, v.trainable) == (on_read, tf.VariableAggregation.NONE, False)
    assert tf.Variable(1.0, synchronization=None).synchronization is tf.VariableSynchronization.AUTO
    with pytest.raises(ValueError, match="Invalid variable aggregation mode: x for variable: v"):
        tf.Variable(1.0, aggregation="x", name="v")
    with pytest.raises(ValueError, match="Invalid variable synchronization mode: x for variable: v"):
        tf.get_variable("v", [], synchronization="x")


@pytest.mark.parametrize("use_resource", [False, True])
def test_descriptions_keep_the_modes(tf, on_read, use_resource):
    v = tf.get_variable("v", [], synchronization=on_read, aggregation=tf.VariableAggregation.SUM, use_resource=use_resource)
    definition = v.to_proto()
    assert (definition.synchronization, definition.aggregation, definition.trainable) == (3, 1, False)
    again = tf.Variable.from_proto(definition)
    assert (again.synchronization, again.aggregation, again.trainable) == (on_read, tf.VariableAggregation.SUM, False)
