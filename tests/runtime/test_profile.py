"""RunOptions and RunMetadata: traces, limits, partition graphs; the timeline made of a trace."""

import json
import time

import numpy as np
import pytest

from jitgraph.app import timeline
from jitgraph.protobuf.messages import StepStats


@pytest.fixture(params=["always", "off"])
def jit(request, monkeypatch):
    monkeypatch.setenv("JITGRAPH_JIT", request.param)
    return request.param


def traced(tf, session, fetch, **options):
    metadata = tf.RunMetadata()
    run_options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, **options)
    return session.run(fetch, options=run_options, run_metadata=metadata), metadata


def test_a_trace_has_an_entry_per_step(tf, jit):
    x = tf.random_uniform([64, 64], seed=1)
    y = tf.py_func(lambda a: a, [tf.matmul(x, x)], tf.float32, name="host")
    y.set_shape([64, 64])
    z = tf.reduce_sum(tf.exp(y), name="total")
    with tf.Session() as session:
        before = time.time()
        got, metadata = traced(tf, session, z)
        assert got > 0
    device, = metadata.step_stats.dev_stats
    names = [node.node_name for node in device.node_stats]
    assert device.device.endswith("CPU:0") and "host" in names and "total" in names
    for node in device.node_stats:
        assert abs(node.all_start_micros / 1e6 - before) < 60 and node.all_end_rel_micros >= 1
    host = device.node_stats[names.index("host")]
    assert host.timeline_label == "host = PyFunc(MatMul)"
    assert host.output[0].tensor_description.allocation_description.requested_bytes == 64 * 64 * 4


def test_without_tracing_nothing_is_recorded(tf, jit):
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        options = tf.RunOptions(timeout_in_ms=10000)
        assert session.run(tf.constant(1), options=options, run_metadata=metadata) == 1
        assert session.run(tf.constant(2), run_metadata=metadata) == 2
    assert not metadata.step_stats.dev_stats


def test_partition_graphs(tf):
    y = tf.add(1.0, 2.0, name="y")
    tf.add(y, 1.0, name="not_needed")
    with tf.Session() as session:
        _, metadata = traced(tf, session, y, output_partition_graphs=True)
    graph, = metadata.partition_graphs
    assert [node.name for node in graph.node] == ["y/x", "y/y", "y"]


def test_a_run_that_is_late_stops_between_two_steps(tf, jit):
    slow = tf.py_func(lambda: time.sleep(0.2) or np.float32(1), [], tf.float32)
    calls = []
    after = tf.py_func(lambda x: calls.append(1) or x, [slow], tf.float32)
    with tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(after, options=tf.RunOptions(timeout_in_ms=50))
        assert not calls
        assert session.run(after, options=tf.RunOptions(timeout_in_ms=5000)) == 1.0
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=50)) as session, \
            pytest.raises(tf.errors.DeadlineExceededError):
        session.run(after)


def test_a_callable_takes_options(tf, jit):
    x = tf.placeholder(tf.float32, [])
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        function = session.make_callable(tf.exp(x), [x], accept_options=True)
        options = tf.RunOptions(trace_level=tf.RunOptions.SOFTWARE_TRACE)
        assert function(0.0, options=options, run_metadata=metadata) == 1.0
    assert metadata.step_stats.dev_stats[0].node_stats


# -- timeline ------------------------------------------------------------------------------------------------------

def statistics(*nodes):
    stats = StepStats()
    device = stats.dev_stats.add(device="/cpu:0")
    for name, label, start, duration, outputs in nodes:
        node = device.node_stats.add(node_name=name, timeline_label=label, all_start_micros=start,
                                     all_end_rel_micros=duration)
        for slot, size in outputs:
            memory = node.output.add(slot=slot).tensor_description.allocation_description
            memory.requested_bytes, memory.allocator_name = size, "cpu"
    return stats


STATS = statistics(("a", "a = Const()", 110, 10, [(0, 8)]), ("s", "s = Split(a, b)", 125, 10, [(0, 4), (1, 4)]),
                   ("c", "c = Add(s:1, a)", 130, 20, [(0, 16)]), ("w", "no label", 170, 3, []))


def events(phase, **options):
    trace = json.loads(timeline.Timeline(STATS).generate_chrome_trace_format(**options))["traceEvents"]
    return [event for event in trace if event["ph"] == phase]


def test_timeline_lanes_and_arguments():
    assert [event["args"]["name"] for event in events("M")] == ["Allocators", "/cpu:0 Compute", "/cpu:0 Tensors"]
    assert [(e["args"]["name"], e["name"], e["tid"], e["ts"], e["dur"]) for e in events("X")] == [
        ("a", "Const", 0, 110, 10), ("s", "Split", 0, 125, 10), ("c", "Add", 1, 130, 20), ("w", "unknown", 0, 170, 3)]
    assert events("X")[1]["args"] == {"name": "s", "op": "Split", "input0": "a", "input1": "b"}


def test_timeline_arrows_join_lanes():
    assert [(e["name"], e["tid"], e["ts"]) for e in events("s")] == [("s:1", 0, 135), ("a", 0, 120)]
    assert [(e["name"], e["tid"], e["ts"]) for e in events("t")] == [("s:1", 1, 130), ("a", 1, 130)]
    assert not events("s", show_dataflow=False)


def test_timeline_memory():
    assert [(e["name"], e["ts"]) for e in events("D", show_memory=True)] == [
        ("a", 149), ("s", 135), ("s:1", 149), ("c", 150)]
    assert [e["args"]["cpu"] for e in events("C", show_memory=True)] == [8, 12, 16, 32, 28, 20, 16, 0]
    analysis = timeline.Timeline(STATS).analyze_step_stats()
    assert analysis.allocator_maximums["cpu"] == (130, 32, {"a", "s", "s:1", "c"})
