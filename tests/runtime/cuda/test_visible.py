"""What a session sees of the devices, and what it says of them."""
import subprocess
import sys

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def four(monkeypatch):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator:4")


def devices_of(tf, fetch, **config):
    """The ordinals of the devices on which the kernels of a run lie."""
    with tf.Session(jit="always", config=tf.ConfigProto(**config)) as session:
        session.run(fetch)
        ordinals = session._state.target.ordinals
        return {ordinals[step.device] for plan in session.plans for c in plan.compiled for step in c.launches}


def computed(tf):
    return tf.exp(tf.Variable(tf.ones([3]), collections=[]).initial_value + tf.random_uniform([3]))


@pytest.mark.parametrize("device, ordinals", [
    (None, {0}), ("/gpu:0", {0}), ("/device:GPU:2", {2}), ("/gpu:*", {0}), ("/cpu:0", set()),
    ("/job:localhost/replica:0/task:0/device:GPU:3", {3}), (lambda op: "/gpu:1", {1})])
def test_devices_of_graphs(tf, device, ordinals):
    with tf.device(device):
        y = computed(tf)
    assert devices_of(tf, y) == ordinals


def test_the_config_says_which_are_seen(tf):
    with tf.device("/gpu:1"):
        y = computed(tf)
    assert devices_of(tf, y, gpu_options=tf.GPUOptions(visible_device_list="3,2")) == {2}
    assert devices_of(tf, y, device_count={"GPU": 0}, allow_soft_placement=True) == set()
    assert devices_of(tf, y, device_count={"GPU": 1}, allow_soft_placement=True) == {0}
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"available devices are \[ .*device:CPU:0, .*device:GPU:0 \]"):
        devices_of(tf, y, device_count={"GPU": 1})


@pytest.mark.parametrize("listed, words", [
    ("0,9", "'visible_device_list' listed an invalid GPU id '9' but visible device count is 4"),
    ("x", "Could not parse entry in 'visible_device_list': 'x'. visible_device_list = x"),
    ("1,1", "visible_device_list contained a duplicate entry: 1,1")])
def test_lists_that_mean_nothing(tf, listed, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words.replace("(", r"\(")):
        tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(visible_device_list=listed)))


def test_a_share_of_the_memory(tf):
    from jitgraph.runtime.cuda.machine import machine_of

    y = tf.exp(tf.random_uniform([1000, 1000]))
    with tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=1e-6))) as session:
        try:
            with pytest.raises(tf.errors.ResourceExhaustedError, match="per_process_gpu_memory_fraction"):
                [session.run(y) for _ in range(2)]
        finally:
            for device in machine_of(session._state.target).devices:
                device.limit = float("inf")


def test_all_of_the_memory_is_no_limit(tf, monkeypatch):
    """What there is not is told as such, whether a session may take all or, as TensorFlow lets it, more than all."""
    from jitgraph.runtime.cuda import machine
    from jitgraph.runtime.cuda.fake import FakeDriver
    from jitgraph.runtime.cuda.machine import Machine

    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    monkeypatch.setitem(machine._MACHINES, 1, Machine(FakeDriver(memory=1 << 20)))
    y = tf.exp(tf.random_uniform([1000, 1000]))
    for share in (0.5, 1.0, 1.5):
        with tf.Session(jit="always", config=tf.ConfigProto(
                gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=share))) as session:
            with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allocating .* bytes on /device:GPU:0") as raised:
                session.run(y)
        assert ("per_process_gpu_memory_fraction leaves" in str(raised.value)) == (share < 1)


@pytest.mark.parametrize("share", [-0.5, float("nan")])
def test_a_share_of_memory_that_means_nothing(tf, share):
    config = tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=share))
    with pytest.raises(tf.errors.InvalidArgumentError, match="per_process_gpu_memory_fraction is .* 0.5 for half"):
        tf.Session(config=config)


def test_the_log_of_placement(tf, capsys):
    with tf.device("/gpu:2"):
        y = tf.exp(tf.placeholder_with_default([1.0], [1], name="x"), name="y")
    s = tf.string_join(["a", "b"], name="s")
    with tf.device("/cpu:0"):
        z = tf.exp(y, name="z")
    with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as session:
        session.run([z, s])
    lines = capsys.readouterr().out.splitlines()
    task = "/job:localhost/replica:0/task:0/device:"
    assert lines[:2] == ["Device mapping:", task + "GPU:0 -> device: 0, name: Simulated GPU 0, pci bus id: 0000:00:00.0, "
                                            "compute capability: 9.0"]
    assert {f"y: (Exp): {task}GPU:2", f"s: (StringJoin): {task}CPU:0", f"z: (Exp): {task}CPU:0"} <= set(lines)


def test_lists_of_devices(tf):
    from jitgraph.graph.devices import list_local_devices

    with tf.Session() as session:
        assert [d.name.split("/")[-1] for d in session.list_devices()] == ["device:CPU:0", *(f"device:GPU:{k}" for k in range(4))]
    found = list_local_devices(tf.ConfigProto(gpu_options=tf.GPUOptions(visible_device_list="2")))
    assert [(d.name, d.device_type) for d in found] == [("/device:CPU:0", "CPU"), ("/device:GPU:0", "GPU")]
    assert found[1].physical_device_desc.startswith("device: 0, name: Simulated GPU 2") and found[1].memory_limit == 1 << 34
    assert tf.test.is_gpu_available() and tf.test.gpu_device_name() == "/device:GPU:0"
    assert tf.test.is_gpu_available(min_cuda_compute_capability=(9, 0))
    assert not tf.test.is_gpu_available(min_cuda_compute_capability=(9, 1))


def test_devices_are_told_before_there_is_a_session():
    code = ("import jitgraph as tf\nfrom jitgraph.compat import install\ninstall()\n"
            "from tensorflow.python.client import device_lib\n"
            "print(tf.test.is_gpu_available(), tf.test.gpu_device_name(), len(device_lib.list_local_devices()))")
    for asked in (code, code.replace("tf.test.is_gpu_available()", "True")):
        assert subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True).stdout == "True /device:GPU:0 5\n"


def test_without_gpus_there_is_none(tf, monkeypatch):
    monkeypatch.setenv("JITGRAPH_TARGET", "cpu")
    assert not tf.test.is_gpu_available() and tf.test.gpu_device_name() == ""


@pytest.mark.parametrize("given", ["cuda-simulator:0", "cuda-simulator:65", "cuda-simulator:two", "cuda:1", "cpu:0"])
def test_a_number_of_devices_that_means_nothing(tf, monkeypatch, given):
    monkeypatch.setenv("JITGRAPH_TARGET", given)
    with pytest.raises(ValueError, match=f"cannot be '{given}': only cuda-simulator takes a number, .* visible_device_list"):
        tf.Session()


@pytest.mark.parametrize("make, value", [
    (lambda tf, text, zero: tf.strings.length(text, name="n"), 1),
    (lambda tf, text, zero: tf.py_func(np.sin, [zero], tf.float32, name="n"), 0)])
def test_what_has_no_kernel_for_a_gpu_needs_soft_placement_to_run_on_the_cpu(tf, make, value):
    """TensorFlow 1.15.5 refuses operations on XLA_CPU:0, which its machine has, with these words."""
    with tf.device("/cpu:0"):
        text, zero = tf.placeholder_with_default("a", []), tf.constant(0.0)
    with tf.device("/gpu:0"):
        made = make(tf, text, zero)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=(
            "Cannot assign a device for operation n: Could not satisfy explicit device specification '/device:GPU:0' "
            "because no supported kernel for GPU devices is available")):
        session.run(made)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(made) == value


def test_what_tensorflow_runs_on_a_gpu_runs_though_its_kernel_is_one_of_the_host(tf):
    with tf.device("/gpu:0"):
        y = tf.linalg.cholesky([[4.0]])
        array = tf.TensorArray(tf.float32, 1).write(0, 2.0).stack()
    with tf.Session() as session:
        assert [found.tolist() for found in session.run([y, array])] == [[[2.0]], [2.0]]
