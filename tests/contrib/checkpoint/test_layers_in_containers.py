"""Containers that hold layers have what these have."""


def test_lists_of_layers(tf):
    first, second = tf.layers.Dense(2), tf.layers.BatchNormalization()
    held = tf.contrib.checkpoint.List([first, tf.Variable(1.0, name="own"), tf.contrib.checkpoint.List([second])])
    second(first(tf.ones([1, 3])), training=True)
    assert held.layers == [first, second] and held.losses == [] and held.updates == second.updates != []
    assert [v.op.name.rpartition("/")[2] for v in held.trainable_variables] == ["kernel", "bias", "gamma", "beta", "own"]
    assert held.non_trainable_variables == second.non_trainable_variables
    held.trainable = False
    assert held.trainable_weights == [] and len(held.weights) == len(held.variables) == 7
    assert tf.contrib.checkpoint.Mapping(a=first).layers == [first] and tf.contrib.checkpoint.UniqueNameTracker().layers == []
