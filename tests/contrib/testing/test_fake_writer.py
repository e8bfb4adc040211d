"""A writer of summaries that keeps them, and what tests ask of event files."""
import pytest


def test_a_fake_writer_takes_the_place_of_the_real_one(tf, tmp_path):
    fake = tf.contrib.testing.FakeSummaryWriter
    fake.install()
    try:
        with pytest.raises(ValueError, match="already installed"):
            fake.install()
        tf.summary.scalar("loss", tf.constant(2.0))
        writer = tf.summary.FileWriterCache.get(str(tmp_path))
        assert isinstance(writer, fake)
        with tf.Session() as session:
            writer.add_summary(session.run(tf.summary.merge_all()), 3)
        writer.assert_summaries(tf.test.TestCase(), expected_logdir=str(tmp_path), expected_summaries={3: {"loss": 2.0}},
                                expected_added_graphs=[], expected_session_logs=[])
        with pytest.raises(AssertionError, match="Missing step 4"):
            writer.assert_summaries(tf.test.TestCase(), expected_summaries={4: {}})
        with pytest.raises(ValueError, match="Invalid global_step -1"):
            writer.add_graph(tf.get_default_graph(), -1)
    finally:
        fake.uninstall()
        tf.summary.FileWriterCache.clear()
    with pytest.raises(ValueError, match="not installed"):
        fake.uninstall()


def test_what_stands_in_the_newest_event_file(tf, tmp_path):
    T = tf.contrib.testing
    assert T.latest_event_file(str(tmp_path)) is None and T.latest_summaries(str(tmp_path)) == []
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        for step, value in ((1, 5.0), (2, 3.0)):
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=value)]), step)
    summaries = T.latest_summaries(str(tmp_path))
    assert [event.step for event in summaries] == [1, 2]
    assert T.simple_values_from_events(summaries, ["a"]) == {"a": 3.0}
    T.assert_summary(["a"], {"a": 3.001}, summaries[1].summary)
    with pytest.raises(ValueError, match="Expected tags"):
        T.assert_summary(["b"], {}, summaries[1].summary)
    assert T.to_summary_proto(summaries[0].summary.SerializeToString()) == summaries[0].summary
