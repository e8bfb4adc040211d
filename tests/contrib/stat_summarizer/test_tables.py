"""Tables of what the nodes of several runs took."""
import pytest


def test_the_nodes_of_two_runs_are_added_up(tf, capsys):
    x = tf.placeholder(tf.float32, [20, 20], name="x")
    y = tf.reduce_sum(tf.matmul(x, x, name="product"), name="sum")
    package = tf.contrib.stat_summarizer
    summarizer = package.NewStatSummarizer(tf.get_default_graph().as_graph_def().SerializeToString())
    assert isinstance(summarizer, package.StatSummarizer)
    with tf.Session(jit="off") as session:
        for _ in range(2):
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            session.run(y, {x: [[1.0] * 20] * 20}, options=options, run_metadata=metadata)
            summarizer.ProcessStepStatsStr(metadata.step_stats.SerializeToString())
    text = summarizer.GetOutputString()
    first, longest, kinds = (part.splitlines() for part in text.split("=\n")[1:])
    rows = {line.split("\t")[-1]: line.split() for line in first[1:] if line.startswith("\t")}
    assert rows["product"][0] == "MatMul" and rows["sum"][0] == "Sum" and rows["sum"][-2] == "2"
    shares = [float(row[4].rstrip("%")) for row in rows.values()]
    assert sum(shares) == pytest.approx(100, abs=0.1) and len(longest) > 2
    assert any(line.split()[:2] == ["MatMul", "1"] for line in kinds)
    summarizer.PrintStepStats()
    assert text in capsys.readouterr().out
    package.DeleteStatSummarizer(summarizer)
    assert "product" not in summarizer.GetOutputString()


def test_a_graph_is_given_as_bytes(tf):
    with pytest.raises(TypeError, match="expected bytes, str found"):
        tf.contrib.stat_summarizer.NewStatSummarizer("x")
