"""Data in memory: how many rows a thread puts into its queue in one go, and that they come out as one batch at a time would."""
import numpy as np
import pytest

from jitgraph.estimator import feeding
from jitgraph.estimator.feeding import enqueued


def first_go(tf, data, **options):
    """The elements in the queue after one run of its thread's operation, and what they are."""
    queue = enqueued(data, **options)
    runner, = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    with tf.Session() as session:
        runner._enqueuing(session, runner.enqueue_ops[0])()
        count = session.run(queue.size())
        session.run(queue.close())
        return count, session.run(queue.dequeue_up_to(count))


@pytest.mark.parametrize("capacity, batch, rows", [(1000, 64, 448), (1000, 600, 600), (100, 10, 50), (10, 8, 8)])
def test_small_rows_go_together(tf, capacity, batch, rows):
    data = np.arange(5000, dtype=np.float32)
    count, (numbers, values) = first_go(tf, data, capacity=capacity, enqueue_size=batch)
    assert count == rows
    np.testing.assert_array_equal(numbers, np.arange(rows))
    np.testing.assert_array_equal(values, data[:rows])


def test_large_rows_go_batch_by_batch(tf):
    count, _ = first_go(tf, np.zeros((64, 100, 100), np.float32), capacity=1000, enqueue_size=8)
    assert count == 8


def test_what_is_kept_to_shuffle_is_no_room(tf):
    count, _ = first_go(tf, np.zeros(5000, np.float32), capacity=1000, enqueue_size=64, shuffle=True, min_after_dequeue=600)
    assert count == 192


def test_epochs_end_with_what_is_left(tf):
    features = tf.estimator.inputs.numpy_input_fn({"x": np.arange(10)}, batch_size=4, num_epochs=2, shuffle=False)()
    with tf.train.MonitoredSession() as session:
        found = []
        while not session.should_stop():
            found.append(session.run(features["x"]).tolist())
    assert found == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1], [2, 3, 4, 5], [6, 7, 8, 9]]


def test_a_frame_is_fed_as_arrays_are(tf):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": np.arange(500), "b": np.arange(500) * 0.5})
    count, (index, a, b) = first_go(tf, frame, capacity=200, enqueue_size=16)
    assert count == 96
    np.testing.assert_array_equal(a, np.arange(96))
    np.testing.assert_array_equal(b, index * 0.5)


def test_texts_come_as_bytes(tf, monkeypatch):
    monkeypatch.setattr(feeding, "_TEXTS", 16)
    texts = np.array([["a", f"ä{k % 5}"] for k in range(100)])
    count, (_, found) = first_go(tf, texts, capacity=100, enqueue_size=50)
    np.testing.assert_array_equal(found, np.array([[one.encode() for one in row] for row in texts[:count].tolist()], object))


def test_texts_of_a_frame_come_as_bytes(tf):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["a", b"b", 1]] * 9, index=[f"row {k}" for k in range(9)], columns=["x", "y", "z"])
    _, (index, x, y, z) = first_go(tf, frame, capacity=8, enqueue_size=4)
    assert (index[0], x[0], y[0], z[0]) == (b"row 0", b"a", b"b", 1)


def test_what_is_no_text_is_refused_when_it_is_fed(tf):
    with pytest.raises(tf.errors.InternalError, match="Unsupported object type float"):
        first_go(tf, np.array(["a", 0.5, "b"], object), capacity=8, enqueue_size=3)
