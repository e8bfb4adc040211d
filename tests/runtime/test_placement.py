"""Where operations may run, and what says so."""
import pytest


def run_on(tf, device, **config):
    one = tf.constant(1.0)
    with tf.device(device):
        x = tf.add(one, one, name="x")
    with tf.Session(config=tf.ConfigProto(**config)) as session:
        return [session.run(x) for _ in range(2)]


@pytest.mark.parametrize("device", ["/gpu:0", "/cpu:3", "/device:FOO:0"])
def test_a_device_that_is_not_there_needs_soft_placement(tf, device):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Cannot assign a device for operation x.*explicitly assigned to "):
        run_on(tf, device)
    assert run_on(tf, device, allow_soft_placement=True) == [2, 2]


@pytest.mark.parametrize("device", ["/job:worker/task:7", "/job:localhost/task:1", "/replica:1", "/job:ps/gpu:0"])
@pytest.mark.parametrize("soft", [False, True])
def test_another_task_is_not_there_in_any_case(tf, device, soft):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
        run_on(tf, device, allow_soft_placement=soft)


@pytest.mark.parametrize("device", [
    "/cpu:0", "/cpu:*", "/task:0", "/job:localhost", "/job:localhost/replica:0/task:0/device:CPU:0", None])
def test_this_task_and_its_cpu_are(tf, device):
    assert run_on(tf, device) == [2, 2]


def test_there_are_as_many_cpus_as_the_config_says(tf):
    assert run_on(tf, "/cpu:3", device_count={"CPU": 4}) == [2, 2]


def test_the_message_names_device_and_way_out(tf):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run_on(tf, "/gpu:1")
    message = str(caught.value)
    assert "/device:GPU:1" in message and "[ /job:localhost/replica:0/task:0/device:CPU:0 ]" in message
    assert "allow_soft_placement=True" in message and caught.value.op.device == "/device:GPU:1"


def test_bodies_partial_runs_and_callables_are_placed_too(tf):
    x = tf.placeholder(tf.float32, [])

    def on_gpu():
        with tf.device("/gpu:0"):
            return x + 1.0

    y = tf.cond(x > 0, on_gpu, lambda: x)
    with tf.Session() as session:
        for go in (lambda: session.run(y, {x: 1.0}), lambda: session.make_callable(y, [x]),
                   lambda: session.partial_run_setup([y], [x])):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
                go()
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(y, {x: 1.0}) == 2


def test_placement_is_logged_once(tf, capsys):
    with tf.device("/cpu:0"):
        x = tf.add(tf.constant(1.0, name="a"), 1.0, name="x")
    with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as session:
        for _ in range(3):
            session.run(x)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Device mapping:"
    assert sorted(lines[1:]) == [f"{node}: /job:localhost/replica:0/task:0/device:CPU:0"
                                 for node in ("a: (Const)", "x/y: (Const)", "x: (Add)")]


@pytest.mark.parametrize("target, error", [
    ("grpc://localhost:2222", "UnimplementedError"), ("grpc+verbs://h:1", "UnimplementedError"), ("foo", "NotFoundError"),
    (b"bar://x", "NotFoundError")])
def test_targets_that_are_not_there_do_not_compute_here(tf, target, error):
    with pytest.raises(getattr(tf.errors, error)):
        tf.Session(target)
    with pytest.raises(getattr(tf.errors, error)):
        tf.InteractiveSession(target)
