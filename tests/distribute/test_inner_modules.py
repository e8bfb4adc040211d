"""Names of ``tensorflow.python.distribute``: devices, places in a cluster, values of replicas."""
import pytest

from jitgraph.distribute import device_names, input_workers, replica_values, summaries
from jitgraph.train.cluster import worker_places

CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}


def test_names_of_devices(tf):
    assert device_names.canonicalize("/cpu:0") == device_names.resolve("/cpu:0") == "/replica:0/task:0/device:CPU:0"
    assert device_names.canonicalize("/gpu:1", default="/job:worker") == "/job:worker/replica:0/task:0/device:GPU:1"
    assert device_names.current() == "" and device_names.get_host_for_device("/gpu:0") == "/device:CPU:0"
    with tf.device("/job:ps/task:1"):
        assert device_names.current() == "/job:ps/task:1"
        assert device_names.resolve("/cpu:0") == "/job:ps/replica:0/task:1/device:CPU:0"
    assert device_names.local_devices_from_num_gpus(0) == ("/device:CPU:0",)
    assert device_names.local_devices_from_num_gpus(2) == ("/device:GPU:0", "/device:GPU:1")


@pytest.mark.parametrize("cluster, kind, number, chief, leader, place, count", [
    (CLUSTER, "chief", 0, True, "/job:chief/replica:0/task:0", 0, 3),
    (CLUSTER, "worker", 1, False, "/job:chief/replica:0/task:0", 2, 3),
    ({"worker": ["b:1"]}, "worker", 0, True, "/job:worker/replica:0/task:0", 0, 1),
    ({"worker": ["b:1"], "evaluator": ["e:1"]}, "evaluator", 0, True, "", 0, 1)])
def test_tasks_of_a_cluster(cluster, kind, number, chief, leader, place, count):
    assert worker_places.is_chief(cluster, kind, number) is chief
    assert worker_places.collective_leader(cluster, kind, number) == leader
    assert worker_places.id_in_cluster(cluster, kind, number) == place and worker_places.worker_count(cluster, kind) == count
    assert summaries.skip_summary() == 0 and not worker_places.has_worker_context()


@pytest.mark.parametrize("call, text", [
    (lambda: worker_places.is_chief(CLUSTER, "evaluator", 0), "'evaluator' not found in cluster_spec"),
    (lambda: worker_places.is_chief(CLUSTER, "x", 0), "Unrecognized task_type: 'x'"),
    (lambda: worker_places.is_chief(), "None of `cluster_spec`"),
    (lambda: worker_places.id_in_cluster(CLUSTER, "ps", 0), "There is no id for task_type 'ps'"),
    (lambda: worker_places.worker_count(CLUSTER, "ps"), "Unexpected `task_type` 'ps'"),
    (lambda: worker_places.id_in_cluster(CLUSTER, "worker", 5), "`task_id` 5 exceeds the maximum id of worker"),
    (lambda: worker_places.normalize_cluster_spec(3), "should be dict or a `tf.train.ClusterSpec`")])
def test_tasks_that_are_not_there(call, text):
    with pytest.raises(ValueError, match=text):
        call()
    assert worker_places.collective_leader({}, None, None) == ""


def test_values_of_replicas(tf):
    devices = replica_values.ReplicaDeviceMap(["/cpu:0", "/gpu:0"])
    value = replica_values.PerReplica(devices, (1, 2))
    assert value.get("/gpu:0") == 2 and value.get() == value.primary == 1 and value.devices == devices.all_devices
    assert str(value).splitlines()[1] == "  0 /replica:0/task:0/device:CPU:0: 1,"
    assert replica_values.select_replica(1, {"a": value, "b": 3}) == {"a": 2, "b": 3}
    together = replica_values.regroup(devices, ({"a": 1, "c": value}, {"a": 2, "c": value}))
    assert together["a"].values == (1, 2) and together["c"] is value
    with pytest.raises(TypeError, match="Expected value to be mirrored"):
        replica_values.select_device_mirrored("/cpu:0", [value])
    assert replica_values.select_device_mirrored("/gpu:0", [replica_values.Mirrored(devices, ("x", "y"))]) == ["y"]
    with pytest.raises(ValueError, match="not found in"):
        value.get("/gpu:1")


def test_variables_have_no_copies(tf):
    variable = tf.Variable(1.0)
    assert not replica_values.is_distributed_variable(variable) and replica_values.value_container(variable) is variable
    with pytest.raises(NotImplementedError, match="a session has one device"):
        replica_values.MirroredVariable()


def test_one_worker_reads(tf):
    workers = input_workers.InputWorkers(replica_values.SingleDeviceMap("/gpu:0"))
    assert workers.num_workers == 1 and workers.worker_devices == ("/replica:0/task:0/device:CPU:0",)
    assert workers.compute_devices_for_worker(0) == ("/replica:0/task:0/device:GPU:0",)
    dataset = tf.data.Dataset.range(4)
    assert input_workers.get_distributed_dataset(dataset, workers, tf.distribute.get_strategy()) is dataset
    with pytest.raises(ValueError, match="there is one replica"):
        input_workers.get_distributed_dataset(dataset, workers, None, split_batch_by=2)
    step = input_workers.MultiStepContext()
    step.set_last_step_output("loss", 3)
    step.set_non_tensor_output("seen", "x")
    assert step.last_step_outputs == {"loss": 3} and step.non_tensor_outputs == {"seen": "x"}
