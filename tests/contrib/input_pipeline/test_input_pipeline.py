"""The elements of a list of strings in turn: what TensorFlow's own tests of tf.contrib.input_pipeline ask for."""
import pytest


@pytest.mark.parametrize("jit", ["off", "always"])
def test_the_next_element_is_that_after_where_the_variable_stands(tf, jit):
    counter = tf.Variable(-1, dtype=tf.int64, use_resource=False)
    found = tf.contrib.input_pipeline.obtain_next(tf.constant(["a", "b"]), counter)
    assert (found.op.type, found.name, found.dtype, found.shape.as_list()) == ("ObtainNext", "ObtainNext:0", tf.string, [])
    with tf.Session(jit=jit) as session:
        session.run(counter.initializer)
        for element, place in ((b"a", 0), (b"b", 1), (b"a", 0)):
            assert (session.run(found), session.run(counter)) == (element, place)
        with pytest.raises(tf.errors.InvalidArgumentError, match="empty"):
            session.run(tf.contrib.input_pipeline.obtain_next(tf.constant([], tf.string), counter))


def test_wrong_ranks(tf):
    counter = tf.Variable(-1, dtype=tf.int64, use_resource=False)
    with pytest.raises(ValueError, match="rank 1 but is rank 0"):
        tf.contrib.input_pipeline.obtain_next(tf.constant("a"), counter)
    with pytest.raises(ValueError, match="rank 0 but is rank 1"):
        tf.contrib.input_pipeline.obtain_next(tf.constant(["a"]), tf.Variable([1], dtype=tf.int64, use_resource=False))


@pytest.mark.parametrize("epochs", [None, 1, 3])
def test_a_list_is_read_so_many_times(tf, epochs):
    element = tf.contrib.input_pipeline.seek_next(["a", "b", "c"], num_epochs=epochs)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(element) for _ in range(3 * (epochs or 4))] == [b"a", b"b", b"c"] * (epochs or 4)
        if epochs:
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)


def test_each_epoch_may_have_an_order_of_its_own(tf):
    element = tf.contrib.input_pipeline.seek_next(["a", "b", "c"], shuffle=True, seed=3, num_epochs=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run(element) for _ in range(6)]
    assert sorted(found[:3]) == sorted(found[3:]) == [b"a", b"b", b"c"]
