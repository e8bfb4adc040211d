"""Staging areas: what is put in one run is gotten in a later one."""
import pytest


@pytest.fixture
def area(tf):
    return tf.contrib.staging.StagingArea([tf.float32, tf.int32], shapes=[[2], []], capacity=1)


def test_an_element_comes_a_run_later(tf, area):
    x, n = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int32, [])
    put, got, size = area.put([x, n]), area.get(), area.size()
    assert [one.shape.as_list() for one in got] == [[2], []]
    with tf.Session() as session:
        session.run(put, {x: [1, 2], n: 1})
        assert session.run(size) == 1
        for step in (1, 2, 3):
            (row, number), _ = session.run([got, put], {x: [step + 1] * 2, n: step + 1})
            assert number == step and row[1] == max(step, 2)
        assert session.run(size) == 1


def test_dictionaries(tf):
    area = tf.contrib.staging.StagingArea([tf.float32, tf.int32], names=["a", "b"])
    put, got = area.put({"b": tf.constant(3), "a": tf.constant(2.0)}), area.get()
    assert sorted(got) == ["a", "b"]
    with tf.Session() as session:
        session.run(put)
        assert session.run(got) == {"a": 2.0, "b": 3}


def test_clear(tf):
    area = tf.contrib.staging.StagingArea([tf.float32])
    put, clear, size = area.put(tf.constant(1.0)), area.clear(), area.size()
    with tf.Session() as session:
        session.run(put)
        session.run(put)
        assert session.run(size) == 2
        session.run(clear)
        assert session.run(size) == 0


def test_refused(tf, area):
    with pytest.raises(ValueError, match="Datatypes do not match"):
        area.put([tf.zeros([2], tf.int32), tf.constant(1)])
    with pytest.raises(ValueError, match="incompatible"):
        area.put([tf.zeros([3]), tf.constant(1)])
    with pytest.raises(ValueError, match="Unexpected number"):
        area.put(tf.zeros([2]))
    with pytest.raises(ValueError, match="must have names"):
        area.put({"a": tf.zeros([2])})
    with pytest.raises(ValueError, match="same length"):
        tf.contrib.staging.StagingArea([tf.float32], names=["a", "b"])
    with pytest.raises(ValueError, match="must be a string"):
        tf.contrib.staging.StagingArea([tf.float32], shared_name=1)
    with pytest.raises(NotImplementedError, match="put it back"):
        area.peek(0)
