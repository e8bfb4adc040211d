"""SummaryAtEndHook: an evaluation leaves one file of events, with the graph, whether it has summaries or not."""
import pytest


@pytest.mark.parametrize("with_summary", [False, True])
def test_the_file_has_the_graph_and_the_last_summaries(tf, tmp_path, with_summary):
    step = tf.train.get_or_create_global_step()
    advance = step.assign_add(1)
    if with_summary:
        tf.summary.scalar("double", 2 * step)
    with tf.train.MonitoredSession(hooks=[tf.contrib.training.SummaryAtEndHook(str(tmp_path))]) as session:
        session.run(advance)
        session.run(advance)
    path, = tmp_path.iterdir()
    events = list(tf.train.summary_iterator(str(path)))
    assert sum(event.HasField("graph_def") for event in events) == 1
    found = [(event.step, value.tag, value.simple_value) for event in events for value in event.summary.value]
    assert found == ([(2, "double", 4.0)] if with_summary else [])
