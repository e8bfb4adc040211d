"""What monitored sessions promise beyond TensorFlow's records: killed processes, Ctrl-C, the way to the session, its cost."""
import collections
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

Asked = collections.namedtuple("Asked", "first second")


def counted(tf):
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


def test_training_goes_on_from_the_checkpoint_before_a_kill(tf, tmp_path):
    script = Path(__file__).parent / "interrupted_training.py"
    done = subprocess.run([sys.executable, script, str(tmp_path)], capture_output=True, timeout=150)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert done.stdout.split()[-1] == b"3"
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-2")
    values = tf.get_variable("values", initializer=np.zeros(200_000, np.float32))
    step, train = counted(tf)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), save_checkpoint_steps=1) as session:
        assert session.run(step) == 2
        assert (session.run(values) == 2).all()
        session.run(train)
    assert tf.train.load_variable(str(tmp_path), "global_step") == 3


def test_a_checkpoint_that_lacks_a_variable(tf, tmp_path):
    counted(tf)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)):
        pass
    tf.reset_default_graph()
    tf.get_variable("more", [2])
    counted(tf)
    with pytest.raises(tf.errors.NotFoundError, match="(?s)more.*not found in checkpoint") as error:
        tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path))
    assert "list_variables" in str(error.value)


def test_variables_that_an_init_op_leaves_out_are_named(tf):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(1.0, name="b")
    with pytest.raises(RuntimeError, match="(?s)Init operations did not make model ready.*Variables not initialized: b"):
        tf.train.MonitoredTrainingSession(scaffold=tf.train.Scaffold(init_op=a.initializer, local_init_op=tf.no_op(),
                                                                     ready_for_local_init_op=tf.constant([], tf.string)))
    assert b is not None


def test_ctrl_c_ends_the_threads_and_calls_no_end(tf):
    queue = tf.FIFOQueue(2, tf.int32, shapes=[[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1)]))
    taken, ended = queue.dequeue(), []

    class Hook(tf.train.SessionRunHook):
        def end(self, session):
            ended.append(1)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        with tf.train.MonitoredTrainingSession(hooks=[Hook()]) as session:
            assert session.run(taken) == 1
            raise KeyboardInterrupt
    assert not ended and threading.active_count() <= before + 1
    tf.constant(1)      # the graph may grow again


def test_the_end_of_the_input_ends_the_block(tf):
    inputs = tf.train.limit_epochs(tf.constant([1, 2]), num_epochs=3)
    seen = []
    with tf.train.MonitoredTrainingSession() as session:
        while not session.should_stop():
            seen.append(session.run(inputs).tolist())
    assert seen == [[1, 2]] * 3


@pytest.mark.parametrize("resource", [False, True])
def test_hooks_read_the_step_from_before_the_run(tf, resource):
    with tf.variable_scope("", use_resource=resource):
        _, train = counted(tf)
    stop, seen = tf.train.StopAtStepHook(last_step=100), []

    class Hook(tf.train.SessionRunHook):
        def before_run(self, run_context):
            read = stop._global_step_tensor
            return tf.train.SessionRunArgs({"a": read, "b": [read]} if len(seen) % 2 else read)

        def after_run(self, run_context, run_values):
            seen.append(run_values.results)
    with tf.train.MonitoredTrainingSession(hooks=[stop, Hook()]) as session:
        for _ in range(4):
            session.run(train)
        session.run(train, options=tf.RunOptions(timeout_in_ms=5000))
    assert seen[::2] == [0, 2, 4]
    assert [one["a"] for one in seen[1::2]] == [1, 3]


def test_options_of_hooks_and_caller_are_joined(tf):
    _, train = counted(tf)
    found = []

    class Hook(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.train.SessionRunArgs(None, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE))

        def after_run(self, run_context, run_values):
            found.append(run_values)
    with tf.train.SingularMonitoredSession(hooks=[Hook()]) as session:
        session.run(train, options=tf.RunOptions(timeout_in_ms=7000))
    assert found[0].results is None and found[0].options.timeout_in_ms == 7000
    assert found[0].run_metadata.step_stats.dev_stats


def test_the_profiler_writes_a_timeline(tf, tmp_path):
    _, train = counted(tf)
    with tf.train.SingularMonitoredSession(hooks=[tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path))]) as session:
        for _ in range(5):
            session.run(train)
    names = sorted(path.name for path in tmp_path.glob("timeline*"))
    assert names == ["timeline-2.json", "timeline-4.json"]
    assert "traceEvents" in (tmp_path / names[0]).read_text()


def test_programs_reach_the_session_inside(tf):
    _, train = counted(tf)
    with tf.train.MonitoredTrainingSession() as session:
        assert isinstance(session._sess._sess._sess._sess, tf.Session)
        assert session._sess._sess._sess._sess is session._tf_sess()
        assert session.graph is tf.get_default_graph()
    assert session.should_stop() and session.graph is None
    with pytest.raises(RuntimeError, match="closed"):
        session.run(train)
    with pytest.raises(RuntimeError, match="Session is already closed"):
        session.close()


def test_a_run_with_hooks_makes_one_plan(tf):
    step, train = counted(tf)
    hooks = [tf.train.StopAtStepHook(last_step=100), tf.train.StepCounterHook(10 ** 6), tf.train.NanTensorHook(tf.to_float(step))]
    with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
        for _ in range(3):
            session.run(train)
        inner = session._tf_sess()
        plans = len(inner.plans)
        for _ in range(20):
            session.run(train)
        assert len(inner.plans) == plans


def test_a_copied_scaffold_keeps_what_it_was_given(tf):
    init, calls = tf.no_op(), []
    first = tf.train.Scaffold(init_op=init, init_fn=lambda scaffold, session: calls.append((scaffold, session)))
    second = tf.train.Scaffold(copy_from_scaffold=first, init_feed_dict={})
    assert second.init_op is init and second.init_feed_dict == {}
    second.init_fn("session")
    assert calls == [(second, "session")]


def test_several_savers_cannot_be_chosen_from(tf):
    tf.Variable(1.0)
    for _ in range(2):
        tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
    with pytest.raises(RuntimeError, match="More than one item in collection"):
        tf.train.Scaffold().finalize()


@pytest.mark.parametrize("statement", [
    "from tensorflow.python.training.basic_session_run_hooks import NeverTriggerTimer, CheckpointSaverHook",
    "from tensorflow.python.training.training_util import _get_or_create_global_step_read, _increment_global_step",
    "from tensorflow.python.training.device_setter import STANDARD_PS_OPS",
    "from tensorflow.python.ops.resources import register_resource, initialize_resources",
    "from tensorflow.python.training.session_run_hook import SessionRunArgs",
])
def test_programs_import_hooks_from_where_they_stood(statement):
    code = f"import jitgraph.compat\njitgraph.compat.install()\n{statement}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=150)
    assert done.returncode == 0, done.stderr.decode()


def test_a_registered_resource_is_made_with_the_variables(tf):
    from jitgraph.resources.registered import register_resource

    table = tf.Variable(0.0, name="made", collections=[])
    register_resource(table.op, table.initializer, tf.is_variable_initialized(table))
    with tf.train.MonitoredTrainingSession() as session:
        assert session.run(table) == 0


def test_the_step_is_added_to_after_it_is_read(tf):
    from jitgraph.variables.global_steps import _get_or_create_global_step_read, _increment_global_step

    tf.train.create_global_step()
    more, read = _increment_global_step(3), _get_or_create_global_step_read()
    with tf.Session() as session:
        assert session.run(read) == 0       # the initial value stands in
        session.run(tf.global_variables_initializer())
        assert session.run([more, read]) == [3, 0]


def test_a_session_around_the_session_is_called_with_names(tf):
    """As programs write them: `run(self, fetches, **kwargs)`."""
    class Inner:
        def __init__(self, session):
            self.session, self.calls = session, []
            self.graph = session.graph

        def run(self, fetches, **kwargs):
            self.calls.append(kwargs)
            return self.session.run(fetches)

        def __getattr__(self, name):
            return getattr(self.session, name)

    class Creator(tf.train.SessionCreator):
        def create_session(self):
            self.inner = Inner(tf.Session())
            return self.inner

    x = tf.placeholder_with_default(1.0, ())
    creator = Creator()
    with tf.train.MonitoredSession(creator) as session:
        session.run(x, {x: 2.0}, run_metadata=tf.RunMetadata())
    assert creator.inner.calls[-1]["feed_dict"] == {x: 2.0} and "run_metadata" in creator.inner.calls[-1]


def test_a_monitored_session_has_started_its_queue_runners(tf):
    queue = tf.FIFOQueue(10, tf.float32)
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1.0)]))
    with tf.train.MonitoredSession() as session:
        assert tf.train.start_queue_runners(session) == []


def test_a_global_step_may_be_a_vector_of_one(tf):
    step = tf.Variable([5], dtype=tf.int64, trainable=False)
    with tf.Session() as session:
        session.run(step.initializer)
        assert tf.train.global_step(session, step) == 5


@pytest.mark.parametrize("kind", ["reference", "partitioned", "resource"])
def test_hooks_see_what_the_step_leaves_in_reference_variables(tf, kind):
    """As in TensorFlow 1.15 at each of thirty steps; what is computed from a variable it gives from before or after by chance."""
    partitioner = tf.fixed_size_partitioner(1) if kind == "partitioned" else None
    with tf.variable_scope("scope", partitioner=partitioner, use_resource=kind == "resource"):
        w = tf.get_variable("w", [2, 2], initializer=tf.ones_initializer())
        s = tf.get_variable("s", [2], initializer=tf.ones_initializer())
    read = w.as_tensor() if kind == "partitioned" else w.value()
    mean = tf.Variable([0.0, 0.0], trainable=False)
    loss = tf.reduce_sum(read) + tf.reduce_sum(s if kind != "partitioned" else s.as_tensor())
    with tf.control_dependencies([tf.train.GradientDescentOptimizer(1.0).minimize(loss)]):
        train = tf.assign_add(mean, [1.0, 1.0]).op
    fed, seen = tf.Variable([7.0]), []

    class Hook(tf.train.SessionRunHook):
        def before_run(self, run_context):
            again = [(tf.get_default_graph().get_tensor_by_name(read.name), loss)]
            asked = {"read": read, "again": again, "mean": mean, "fed": fed, loss: {read: Asked(read.name, mean.name)}}
            return tf.train.SessionRunArgs(asked, feed_dict={fed: [3.0]})

        def after_run(self, run_context, run_values):
            seen.append(run_values.results)
    with tf.train.MonitoredTrainingSession(hooks=[Hook()]) as session:
        for step in range(3):
            session.run(train)
            assert session.run(read)[0, 0] == -step
            seen.pop()
    for step, one in enumerate(seen):
        left = 1.0 - step if kind == "resource" else -step
        np.testing.assert_array_equal(one["read"], np.full([2, 2], left))
        assert [part.tolist() for part in one[loss][read]] == [one["read"].tolist(), one["mean"].tolist()]
        (again, loss_then), = one["again"]
        np.testing.assert_array_equal(again, one["read"])
        assert loss_then == 6 * (1.0 - step) and one["mean"].tolist() == [step + 1.0] * 2 and one["fed"].tolist() == [3.0]


def test_a_hook_that_logs_a_reference_variable_logs_what_the_step_leaves(tf):
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    train, lines = tf.assign_add(w, [1.0, 2.0]).op, []
    hook = tf.train.LoggingTensorHook(["w", "w/read"], every_n_iter=2, formatter=lambda values: lines.append(values) or "")
    with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
        for _ in range(3):
            session.run(train)
    assert [{name: value.tolist() for name, value in line.items()} for line in lines] == [
        {"w": [1.0, 2.0], "w/read": [1.0, 2.0]}, {"w": [3.0, 6.0], "w/read": [3.0, 6.0]}]


def test_logs_tell_values_with_the_digits_of_their_dtype(tf, tmp_path, caplog):
    """Not with those of the doubles that they are made of in f-strings: 0.1, not 0.10000000149011612."""
    tf.logging.set_verbosity(tf.logging.INFO)

    def model(features, labels, mode):
        loss = tf.reduce_mean(features) * 0.1
        train = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        hooks = [tf.train.LoggingTensorHook({"tenth": loss}, every_n_iter=1)]
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, training_hooks=hooks,
                                          eval_metric_ops={"again": tf.metrics.mean(loss)})

    estimator = tf.estimator.Estimator(model, str(tmp_path))
    data = lambda: tf.data.Dataset.from_tensors(tf.ones([1]))
    estimator.train(data)
    estimator.evaluate(data)
    lines = [record.getMessage() for record in caplog.records]
    assert "tenth = 0.1" in lines and "loss = 0.1, step = 1" in lines and "Loss for final step: 0.1." in lines
    assert "Saving dict for global step 1: again = 0.1, global_step = 1, loss = 0.1" in lines
