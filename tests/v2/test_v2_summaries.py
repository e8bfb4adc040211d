"""What ``tf.compat.v2.summary`` writes when its nodes are run: the events that TensorFlow 1.15.5 writes."""
import numpy as np
import pytest


@pytest.fixture
def written(tf, tmp_path):
    """A function that opens a writer, calls what makes summaries, runs all of them and gives [(step, tag, plugin, value)]."""
    def write(make):
        writer = tf.compat.v2.summary.create_file_writer(str(tmp_path))
        with writer.as_default():
            make(tf.compat.v2.summary)
            flush = tf.compat.v2.summary.flush()
        with tf.Session() as session:
            session.run(writer.init())
            session.run(tf.summary.all_v2_summary_ops())
            session.run(flush)
        (file,) = tmp_path.glob("events.out.tfevents.*.v2")
        return [(event.step, value.tag, value.metadata.plugin_data.plugin_name,
                 tf.make_ndarray(value.tensor).tolist() if value.HasField("tensor") else value.simple_value)
                for event in tf.train.summary_iterator(str(file)) for value in event.summary.value]

    return write


def test_numbers_and_texts(tf, written):
    def make(summary):
        summary.experimental.set_step(tf.constant(7, tf.int64))
        with tf.name_scope("in"):
            summary.scalar("loss", 3)
        summary.text("words", ["a", "b"], step=8)
        summary.write("raw", tf.constant([[1, 2]]))
        summary.experimental.write_raw_pb(tf.summary.scalar("old", 1.5))
        summary.experimental.set_step(None)

    assert sorted(written(make)) == [(7, "in/loss", "scalars", 3.0), (7, "old", "", 1.5), (7, "raw", "", [[1, 2]]),
                                     (8, "words", "text", [b"a", b"b"])]


@pytest.mark.parametrize("values, buckets", [
    (np.float32([[0, 1, 2], [3, 4, 10]]), [[0, 2.5, 3], [2.5, 5, 2], [5, 7.5, 0], [7.5, 10, 1]]),
    ([3.0, 3.0], [[2.5, 3.5, 2]]), (np.zeros([0], np.float32), [])])
def test_distributions(tf, written, values, buckets):
    assert written(lambda summary: summary.histogram("x", values, step=1, buckets=4)) == [(1, "x", "histograms", buckets)]


def test_pictures_and_sounds(tf, written):
    def make(summary):
        summary.image("picture", np.linspace(0, 1, 12, dtype=np.float32).reshape(1, 2, 2, 3), step=1, description="small")
        summary.audio("sound", np.zeros([1, 4, 2], np.float32), 8000, step=1)

    (_, _, plugin, (width, height, png)), (_, _, other, ((wav, label),)) = sorted(written(make))
    assert (plugin, width, height, png[1:4]) == ("images", b"2", b"2", b"PNG")
    assert (other, wav[:4], len(wav), label) == ("audio", b"RIFF", 60, b"")


def test_they_are_recorded_where_a_condition_holds(tf, written):
    def make(summary):
        with summary.record_if(False):
            summary.scalar("never", 1.0, step=1)
        for condition in (True, tf.constant(True), lambda: tf.constant(True)):
            with summary.record_if(condition):
                summary.scalar("always", 1.0, step=1)

    assert written(make) == [(1, "always", "scalars", 1.0)] * 3


def test_sounds_are_wav_alone(tf):
    with pytest.raises(ValueError, match="Unknown encoding: 'mp3'"):
        tf.compat.v2.summary.audio("sound", np.zeros([1, 4, 2], np.float32), 8000, step=1, encoding="mp3")


def test_traces_are_not_made_of_graphs(tf, caplog):
    tf.compat.v2.summary.trace_on()
    tf.compat.v2.summary.trace_export("t")
    tf.compat.v2.summary.trace_off()
    assert "Must enable trace in eager mode." in caplog.text
