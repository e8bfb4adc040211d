"""Clusters within one process: tasks, servers, devices, and workers that step together."""
import threading

import pytest


@pytest.mark.parametrize("given, text, jobs", [
    ({"a": ["x:1"]}, "ClusterSpec({'a': ['x:1']})", {"a": ["x:1"]}),
    ({"a": {1: "x:1"}}, "ClusterSpec({'a': {1: 'x:1'}})", {"a": {1: "x:1"}}),
    ({"b": (), "a": ["x:1", "y:2"]}, "ClusterSpec({'a': ['x:1', 'y:2'], 'b': {}})", {"b": {}, "a": ["x:1", "y:2"]}),
])
def test_a_cluster_spec(tf, given, text, jobs):
    spec = tf.train.ClusterSpec(given)
    assert (str(spec), spec.as_dict()) == (text, jobs)
    assert tf.train.ClusterSpec(spec.as_cluster_def()) == spec == tf.train.ClusterSpec(spec)


@pytest.mark.parametrize("given, message", [
    ({"a": 5}, "The tasks for job 'a' must be a list or a dictionary from integers to strings."),
    (5, "`cluster` must be a dictionary mapping one or more job names"), ({"a": [1]}, "Task address 1 must be bytes or unicode"),
    ({1: ["x"]}, "Job name 1 must be bytes or unicode"),
])
def test_what_is_no_cluster(tf, given, message):
    with pytest.raises(TypeError, match=message):
        tf.train.ClusterSpec(given)


def test_questions_to_a_cluster(tf):
    spec = tf.train.ClusterSpec({"a": ["x:1"], "b": {3: "y:2"}})
    assert spec.job_tasks("b") == [None, None, None, "y:2"] and spec.task_indices("b") == [3]
    assert spec == {"a": {0: "x:1"}, "b": {3: "y:2"}} and not tf.train.ClusterSpec({})
    for call, message in [(lambda: spec.num_tasks("z"), "No such job in cluster: 'z'"),
                          (lambda: spec.task_address("a", 4), "No task with index 4 in job 'a'"),
                          (lambda: tf.train.Server(spec), "explicit `job_name`"),
                          (lambda: tf.train.Server({"a": ["x:1", "y:2"]}, "a"), "explicit `task_index`")]:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(tf.errors.InvalidArgumentError, match='Task 7 was not defined in job "a"'):
        tf.train.Server(spec, "a", 7)
    with pytest.raises(TypeError, match="Could not convert"):
        tf.train.Server(5)


def test_sessions_on_a_server_share_variables(tf):
    server, other = tf.train.Server.create_local_server(), tf.train.Server.create_local_server()
    v = tf.Variable(3.0, name="v")
    queue = tf.FIFOQueue(3, tf.int32, shapes=[[]], shared_name="q")
    put, get = queue.enqueue(7), queue.dequeue()
    first, second, third = tf.Session(server.target), tf.Session(server.target), tf.Session(other.target)
    first.run([v.initializer, put])
    assert second.run(v) == 3
    second.run(v.assign(4.0))
    first.close()
    assert second.run([v, get]) == [4, 7]
    with pytest.raises(tf.errors.FailedPreconditionError):
        third.run(v)
    assert second.list_devices()[0].name == "/job:local/replica:0/task:0/device:CPU:0"


def test_a_buffer_that_moves_is_seen_by_all_sessions(tf):
    server = tf.train.Server.create_local_server()
    size = tf.placeholder(tf.int32, [])
    v = tf.Variable(tf.zeros([1]), validate_shape=False)
    grow, total = tf.assign(v, tf.ones([size]), validate_shape=False), tf.reduce_sum(v)
    with tf.Session(server.target) as first, tf.Session(server.target) as second:
        for count in (1, 5, 3, 50_000):
            first.run(grow, {size: count})
            assert second.run(total) == count


def test_devices_of_other_tasks(tf):
    server = tf.train.Server.create_local_server()
    away = tf.train.Server({"worker": ["localhost:0"], "ps": ["elsewhere:1"]}, "worker", 0)
    with tf.device("/job:ps/task:0"):
        x = tf.constant(1.0) + 1
    with tf.Session(server.target) as session, pytest.raises(tf.errors.InvalidArgumentError, match="job:local"):
        session.run(x)
    with tf.Session(away.target) as session, pytest.raises(tf.errors.UnimplementedError, match="elsewhere:1.*one process"):
        session.run(x)
    with pytest.raises(tf.errors.UnimplementedError, match="no tf.train.Server of this process"):
        tf.Session("grpc://localhost:1")


def free_ports(count):
    import socket

    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return [f"localhost:{port}" for port in ports]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")    # the chief's thread still waits then
def test_two_workers_step_together(tf):
    """The mean of two gradients is applied once a step, by the chief.

    Two tokens a step let both go on, and whoever is quick may take both (in TensorFlow too): the workers wait for each other here,
    so that each takes one.
    """
    ps, first, second = free_ports(3)
    cluster = {"ps": [ps], "worker": [first, second]}
    servers = [tf.train.Server(cluster, "ps", 0), tf.train.Server(cluster, "worker", 0), tf.train.Server(cluster, "worker", 1)]
    with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
        tf.train.Server(cluster, "ps", 0)
    results, failures = {}, []
    both_have_stepped = threading.Barrier(2, timeout=20)

    def work(task):
        try:
            with tf.Graph().as_default():
                with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{task}", cluster=cluster)):
                    step = tf.train.get_or_create_global_step()
                    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
                    target = tf.constant([2.0, 4.0][task])
                    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), 2)
                    train = optimizer.minimize(tf.square(w - target) / 2, global_step=step)
                hooks = [optimizer.make_session_run_hook(task == 0, num_tokens=0), tf.train.StopAtStepHook(last_step=4)]
                creator = tf.train.ChiefSessionCreator(master=servers[1].target) if task == 0 else \
                    tf.train.WorkerSessionCreator(master=servers[2].target, max_wait_secs=20)
                if task:
                    creator._get_session_manager = quick_manager(tf, creator)
                with tf.train.MonitoredSession(creator, hooks, stop_grace_period_secs=0.2) as session:
                    while not session.should_stop():
                        session.run(train)
                        both_have_stepped.wait()
                    results[task] = session._tf_sess().run([w, step])
        except Exception as error:
            failures.append(error)
    threads = [threading.Thread(target=work, args=(task,), daemon=True) for task in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not failures and len(results) == 2
    assert [int(step) for _, step in results.values()] == [4, 4]
    assert all(abs(float(w) - 3 * (1 - 0.5 ** 4)) < 1e-6 for w, _ in results.values())


def quick_manager(tf, creator):
    """A worker looks for the chief ten times a second, not twice a minute."""
    def manager():
        scaffold = creator._scaffold
        return tf.train.SessionManager(local_init_op=scaffold.local_init_op, ready_op=scaffold.ready_op,
                                       ready_for_local_init_op=scaffold.ready_for_local_init_op, recovery_wait_secs=0.1)
    return manager


def test_isolated_sessions_keep_things_of_their_own(tf):
    server = tf.train.Server.create_local_server()
    v = tf.Variable(3.0, name="v")
    queue = tf.FIFOQueue(3, tf.int32, shapes=[[]], shared_name="q")
    put, size = queue.enqueue(7), queue.size()
    shared = tf.Session(server.target)
    alone, other = [tf.Session(server.target, config=tf.ConfigProto(isolate_session_state=True)) for _ in range(2)]
    shared.run([v.initializer, put])
    for session in (alone, other):
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(v)
        assert session.run(size) == 0
    alone.run([v.assign(5.0), put])
    alone.run(put)
    assert (shared.run([v, size]), alone.run([v, size])) == ([3, 1], [5, 2])
    with pytest.raises(tf.errors.FailedPreconditionError):
        other.run(v)


@pytest.mark.parametrize("containers", [None, ["a"]])
def test_a_server_is_reset(tf, containers):
    server, beside = tf.train.Server.create_local_server(), tf.train.Server.create_local_server()
    with tf.container("a"):
        v = tf.Variable(1.0)
    w = tf.Variable(2.0)
    session, further, local = tf.Session(server.target), tf.Session(beside.target), tf.Session()
    for each in (session, further, local):
        each.run([v.initializer, w.initializer])
    call = session.make_callable(w)
    tf.Session.reset(server.target, containers)
    for use in (lambda: session.run(w), call):
        with pytest.raises(tf.errors.AbortedError, match="Session is not found"):
            use()
    assert further.run([v, w]) == local.run([v, w]) == [1, 2]
    again = tf.Session(server.target)
    with pytest.raises(tf.errors.FailedPreconditionError):
        again.run(v)
    if containers:
        assert again.run(w) == 2
    else:
        with pytest.raises(tf.errors.FailedPreconditionError):
            again.run(w)


def test_sessions_without_a_server_are_ended_by_a_reset(tf):
    v = tf.Variable(1.0)
    server = tf.train.Server.create_local_server()
    session, served = tf.Session(), tf.Session(server.target)
    for each in (session, served):
        each.run(v.initializer)
    tf.Session.reset("")
    with pytest.raises(tf.errors.CancelledError, match="Session has been closed"):
        session.run(v)
    assert served.run(v) == 1
    with pytest.raises(tf.errors.NotFoundError, match="No session factory registered"):
        tf.Session.reset("nowhere")
