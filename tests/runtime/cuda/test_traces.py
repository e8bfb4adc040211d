"""What traces and `session.explain` say of runs on devices."""
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def two(monkeypatch):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator:2")


@pytest.fixture
def on_both(tf):
    """(placeholder, what a GPU and then the CPU make of it)."""
    x = tf.placeholder(tf.float32, [40], name="x")
    with tf.device("/gpu:1"):
        y = tf.sqrt(tf.exp(x) + 2.0, name="y")
    with tf.device("/cpu:0"):
        return x, tf.sqrt(y + 1.0, name="z")


def test_each_step_stands_under_its_own_device(tf, on_both):
    x, z = on_both
    metadata = tf.RunMetadata()
    with tf.Session(jit="always") as session:
        session.run(z, {x: np.ones(40)}, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    found = {one.device: [node.node_name for node in one.node_stats] for one in metadata.step_stats.dev_stats}
    task = "/job:localhost/replica:0/task:0"
    assert found[task + "/device:CPU:0"] == ["z"]
    assert found[task + "/device:GPU:1"] == found["/device:GPU:1/stream:all"] == ["y"]       # asked for, and done
    copies = {one.device: [node.timeline_label.split()[0] for node in one.node_stats] for one in metadata.step_stats.dev_stats}
    assert copies["/device:GPU:1/memcpy"] == ["MEMCPYHtoD", "MEMCPYDtoH"]      # the feed; y


def test_explain_names_devices_and_copies(tf, on_both):
    x, z = on_both
    with tf.Session(jit="always") as session:
        found = session.explain(z, {x: np.ones(40)}, runs=2)
    kernel, = (line for line in found.lines if line.name.endswith(" on GPU:1"))
    assert kernel.kind == "kernel" and kernel.calls == 2 and kernel.bytes == 2 * 2 * 160
    copied, = (line for line in found.lines if line.name == "copies from GPU:1")
    assert copied.calls == 2 and copied.bytes >= 2 * 160
    assert "the host does 1 of 2 steps; 2 copies of " in str(found) and "simulated devices" in str(found)


def test_inspect_tells_the_share_of_the_host(tf, on_both):
    from jitgraph.compiler import show

    x, z = on_both
    show.record()
    with tf.Session(jit="always") as session:
        session.run(z, {x: np.ones(40)})
    description, = show.recorded()
    assert description["share"] == "the host does 1 of 2 steps, 2 copies of 320 bytes in all"


def test_equal_expressions_are_computed_on_the_device_of_each(tf):
    x = tf.placeholder(tf.float32, [40])
    made = []
    for device in ("/gpu:0", "/gpu:1", "/gpu:1", "/cpu:0"):
        with tf.device(device):
            made.append(tf.sqrt(tf.exp(x) + 2.0))
    with tf.Session(jit="always") as session:
        found = session.run(made, {x: np.ones(40)})
        compiled, = session.plans[0].compiled
        assert sorted(step.device for step in compiled.launches) == [0, 1] and len(compiled.kernels) == 1
    for one in found[1:]:
        np.testing.assert_allclose(one, found[0], rtol=1e-6)
