"""Programs with monitored sessions, run here and by TensorFlow 1.15: what they log, save, call and raise.

``python session_programs.py`` under a Python with TensorFlow 1.15 prints what stands in data/tf115_sessions.json.
"""
import contextlib
import functools
import json
import logging
import os
import re
import sys
import tempfile
import time


class Lines(logging.Handler):
    """The lines logged at INFO and above, without times and folders."""

    def __init__(self, folder=""):
        super().__init__()
        self.lines, self.folder = [], folder

    def emit(self, record):
        text = record.getMessage()
        if self.folder:
            text = text.replace(self.folder, "FOLDER")
        if not text.startswith("From "):     # a deprecation
            self.lines.append(re.sub(r"\d+\.\d+ sec|(?<=/sec: )[\d.e+]+", "TIME", text))


@contextlib.contextmanager
def logged(tf, folder=""):
    handler, logger, level = Lines(folder), logging.getLogger("tensorflow"), tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.INFO)
    logger.addHandler(handler)
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)
        tf.logging.set_verbosity(level)


class Writer:
    """Writes down what a FileWriter is asked for."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def note(*args, **kwargs):
            step = [int(a) for a in args[1:] if isinstance(a, int) or hasattr(a, "dtype")]
            status = [a.status for a in args if hasattr(a, "status")]
            self.calls.append([name, *status, *step])
        if name.startswith("__"):
            raise AttributeError(name)
        return note


def counted(tf, work=0.003):
    """A step that takes long enough for whoever reads the global step beside it to read it before."""
    step = tf.train.get_or_create_global_step()
    waited = tf.py_func(lambda: time.sleep(work), [], [])
    with tf.control_dependencies([waited]):
        return step, tf.assign_add(step, 1)


class Spy:
    """A hook that writes down its calls; `fails` maps names of calls to functions that raise."""

    def __new__(cls, tf, log, name="", fails=None, args=None):
        class Hook(tf.train.SessionRunHook):
            def note(self, call):
                log.append(name + call)
                if fails and call in fails:
                    fails[call]()

            def begin(self):
                self.note("begin")

            def after_create_session(self, session, coord):
                self.note("create")

            def before_run(self, run_context):
                self.note("before")
                return args

            def after_run(self, run_context, run_values):
                self.note("after")

            def end(self, session):
                self.note("end")
        return Hook()


def raising(error, times=10 ** 9):
    left = [times]

    def fail():
        left[0] -= 1
        if left[0] >= 0:
            raise error
    return fail


def outcome(call):
    try:
        return call()
    except Exception as error:
        return [type(error).__name__, str(getattr(error, "message", error)).split("\n")[0]]


# -- programs: each is a function of tf and an empty folder


def nodes(tf, folder):
    found = {}
    for resource in (False, True):
        tf.reset_default_graph()
        with tf.variable_scope("", use_resource=resource):
            tf.get_variable("w", [2])
            tf.get_variable("l", [2], collections=[tf.GraphKeys.LOCAL_VARIABLES])
            train = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=[tf.train.StopAtStepHook(10)]) as session:
            session.run(train)
        graph = tf.get_default_graph()
        found[str(resource)] = [
            [[op.name, op.type] for op in graph.get_operations() if "/cond/" not in op.name],
            {key: [getattr(one, "name", "") for one in graph.get_collection(key)]
             for key in sorted(graph.get_all_collection_keys()) if key != "cond_context"}]
    return found


def a_training(tf, folder):
    step, train = counted(tf)
    tf.get_variable("w", [2])
    tf.constant([1.5, 1e-9], name="watched")
    with logged(tf, folder) as lines:
        hooks = [tf.train.LoggingTensorHook(["watched"], every_n_iter=2), tf.train.StopAtStepHook(last_step=5)]
        with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_steps=2, log_step_count_steps=3,
                                               save_summaries_steps=None, hooks=hooks) as session:
            while not session.should_stop():
                session.run(train)
        with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_secs=600) as session:
            lines.append(int(session.run(step)))
    files = sorted(name for name in os.listdir(folder) if "events" not in name)
    return [lines, files, tf.get_default_graph().finalized]


def order_of_calls(tf, folder):
    found = {}
    errors = tf.errors
    cases = {
        "nothing": None, "begin": ValueError("b"), "create": ValueError("c"), "before": ValueError("x"), "after": ValueError("y"),
        "end": ValueError("z"), "before ": errors.OutOfRangeError(None, None, "o"), "after ": StopIteration(),
    }
    for when, error in cases.items():
        log = []
        found[when] = [outcome(functools.partial(one_run, tf, when.strip(), error, log)), log, tf.get_default_graph().finalized]
    return found


def one_run(tf, when, error, log):
    tf.reset_default_graph()
    _, train = counted(tf)
    hook = Spy(tf, log, "", {when: raising(error)} if error else None)
    with tf.train.MonitoredTrainingSession(hooks=[Spy(tf, log, "1 "), hook]) as session:
        session.run(train)
        log.append("ran")
    return "fine"


def recovery(tf, folder):
    return [recovered(tf, tempfile.mkdtemp(dir=folder), kind, when, times)
            for kind in (tf.errors.AbortedError, tf.errors.UnavailableError)
            for when, times in (("after", 1), ("before", 2), ("create", 1))]


def recovered(tf, place, kind, when, times):
    tf.reset_default_graph()
    step, train = counted(tf)
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    both = tf.group(train, tf.assign_add(w, 2.0))
    log = []
    fail = raising(kind(None, None, "gone"), times)

    def due():
        if when == "create" or len(log) > 8:
            fail()
    with tf.train.MonitoredTrainingSession(checkpoint_dir=place, save_checkpoint_steps=2, hooks=[
            tf.train.StopAtStepHook(last_step=6), Spy(tf, log, "", {when: due})]) as session:
        while not session.should_stop():
            session.run(both)
            log.append([int(session._tf_sess().run(step)), float(session._tf_sess().run(w))])
    return [log, tf.train.latest_checkpoint(place)[-2:]]


def saving(tf, folder):
    log = []

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self):
            log.append("begin")

        def before_save(self, session, step):
            log.append(["before", int(step)])

        def after_save(self, session, step):
            log.append(["after", int(step)])
            return step >= 4

        def end(self, session, step):
            log.append(["end", int(step)])
    _, train = counted(tf)
    tf.get_variable("w", [2])
    saver = tf.train.Saver(max_to_keep=2)
    hook = tf.train.CheckpointSaverHook(folder, save_steps=2, saver=saver, listeners=[Listener()], checkpoint_basename="c")
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        while not session.should_stop():
            session.run(train)
    return [log, sorted(name for name in os.listdir(folder) if "events" not in name)]


def writing(tf, folder):
    _, train = counted(tf)
    found = []
    for every in ({"save_steps": 2}, {"save_secs": 100}):
        writer, counter = Writer(), Writer()
        hooks = [tf.train.SummarySaverHook(summary_op=tf.constant(b""), summary_writer=writer, **every),
                 tf.train.StepCounterHook(every_n_steps=3, summary_writer=counter)]
        with tf.train.SingularMonitoredSession(hooks=hooks) as session:
            for _ in range(8):
                session.run(train)
        found.append([writer.calls, counter.calls])
    return found


def logging_tensors(tf, folder):
    _, train = counted(tf, 0)
    x = tf.constant(2, name="x")
    tf.constant([1.0, 1e-9], name="y")
    found = []
    for tensors, options in [([x], {"every_n_iter": 3}), ({"b": "y", "a": x}, {"every_n_iter": 1}),
                             (["x:0"], {"every_n_secs": 100}), ([x], {"at_end": True}),
                             ({"t": x}, {"every_n_iter": 2, "formatter": lambda v: f"is {v['t']}"})]:
        with logged(tf) as lines:
            with tf.train.SingularMonitoredSession(hooks=[tf.train.LoggingTensorHook(tensors, **options)]) as session:
                for _ in range(4):
                    session.run(train)
        found.append(lines)
    return found


def stopping(tf, folder):
    found = []
    for make in (lambda: tf.train.StopAtStepHook(num_steps=3), lambda: tf.train.StopAtStepHook(last_step=4),
                 lambda: tf.train.StopAtStepHook(last_step=0)):
        tf.reset_default_graph()
        _, train = counted(tf)
        with tf.train.MonitoredTrainingSession(hooks=[make()]) as session:
            runs = 0
            while not session.should_stop():
                session.run(train)
                runs += 1
            found.append([runs, outcome(functools.partial(session.run, train))])
    return found


def feeding(tf, folder):
    counted(tf)
    x, y = tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.float32, [], "y")
    both = x + 10 * y
    T = tf.train
    found = []
    for hooks, feed in [([T.FeedFnHook(lambda: {x: 1.0})], {y: 2.0}), ([T.FeedFnHook(lambda: {x: 1.0, y: 3.0})], None),
                        ([T.FeedFnHook(lambda: {x: 1.0})], {x: 2.0}), ([T.FeedFnHook(lambda: {x: 1.0})] * 2, {y: 2.0})]:
        with T.SingularMonitoredSession(hooks=hooks) as session:
            found.append(str(outcome(functools.partial(session.run, both, feed))).split("Conflict")[0])
    final = T.FinalOpsHook({"a": both}, {x: 1.0, y: 1.0})
    with T.SingularMonitoredSession(hooks=[final]):
        found.append(final.final_ops_values)
    found.append(float(final.final_ops_values["a"]))
    return found


def step_functions(tf, folder):
    step, train = counted(tf)
    log = []
    with tf.train.MonitoredTrainingSession(hooks=[Spy(tf, log)]) as session:
        def one(step_context):
            log.append(int(step_context.session.run(step)))
            return int(step_context.run_with_hooks(fetches=train))

        class Object:
            def two(self, step_context):
                return 7
        found = [session.run_step_fn(one), session.run_step_fn(Object().two),
                 outcome(lambda: session.run_step_fn(lambda other: 1)), outcome(lambda: session.run_step_fn(lambda: 1))]
        session.run_step_fn(lambda step_context: step_context.request_stop())
        log.append("not reached")
    return [found, log]


def managers(tf, folder):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    local = tf.Variable(3.0, name="local", collections=["local_variables"])
    T, init = tf.train, tf.global_variables_initializer()
    ready, ready_local = tf.report_uninitialized_variables(), tf.report_uninitialized_variables([v])
    saver = T.Saver()
    manager = T.SessionManager(ready_op=ready)
    both = T.SessionManager(local_init_op=local.initializer, ready_op=ready, ready_for_local_init_op=ready_local)
    recovered = lambda m, **k: [bool(m.recover_session("", saver=saver, **k)[1])]
    fn = lambda session: session.run([v.initializer, local.initializer])
    with logged(tf, folder) as lines:
        return [
            outcome(lambda: manager.prepare_session("")), outcome(lambda: manager.prepare_session("", init_op=v.initializer)),
            str(outcome(lambda: manager.prepare_session("", init_fn=fn))).split("<function")[0],
            outcome(lambda: both.prepare_session("", init_op=w.initializer)),
            float(both.prepare_session("", init_op=init).run(v)), recovered(both, checkpoint_dir=folder),
            outcome(lambda: both.prepare_session("", saver=saver, init_op=init, checkpoint_dir=folder,
                                                 checkpoint_filename_with_path="x")),
            saver.save(both.prepare_session("", init_op=init), folder + "/m")[-2:], recovered(both, checkpoint_dir=folder),
            recovered(manager, checkpoint_filename_with_path=folder + "/m"),
            outcome(lambda: T.SessionManager(ready_for_local_init_op=ready)),
            outcome(lambda: T.SessionManager(ready_op=ready, recovery_wait_secs=0.05).wait_for_session("", max_wait_secs=0)),
            lines]


def supervising(tf, folder):
    step, train = counted(tf, 0)
    tf.get_variable("w", [2])
    writer = Writer()
    supervisor = tf.train.Supervisor(logdir=folder, summary_writer=writer, save_summaries_secs=0, save_model_secs=0)
    with logged(tf, folder) as lines:
        with supervisor.managed_session() as session:
            while not supervisor.should_stop():
                if session.run(train) >= 3:
                    supervisor.request_stop()
            supervisor.saver.save(session, supervisor.save_path, global_step=step)
            supervisor.summary_computed(session, b"")

        def fails():
            with supervisor.managed_session():
                raise ValueError("mine")
        failed = outcome(fails)
    left = sorted(name for name in os.listdir(folder) if "events" not in name)
    steps = []
    tf.train.basic_train_loop(supervisor, lambda session: steps.append(int(session.run(train))) or (
        supervisor.request_stop() if len(steps) > 2 else None))
    return [lines, left, writer.calls, failed, steps, [op.name for op in tf.get_default_graph().get_operations()]]


def bad_arguments(tf, folder):
    T = tf.train
    x = tf.constant(1.0)
    calls = [
        lambda: T.StopAtStepHook(), lambda: T.StopAtStepHook(1, 2), lambda: T.LoggingTensorHook([x]),
        lambda: T.LoggingTensorHook([x], every_n_iter=1, every_n_secs=1), lambda: T.LoggingTensorHook([x], every_n_iter=0),
        lambda: T.StepCounterHook(None), lambda: T.StepCounterHook(1, 1), lambda: T.SecondOrStepTimer(),
        lambda: T.SecondOrStepTimer(1, 1), lambda: T.SummarySaverHook(1), lambda: T.CheckpointSaverHook(folder),
        lambda: T.CheckpointSaverHook(folder, save_steps=1, saver=1, scaffold=2),
        lambda: T.Scaffold(copy_from_scaffold=3), lambda: T.MonitoredTrainingSession(checkpoint_dir=folder),
        lambda: T.MonitoredSession(hooks=[T.StopAtStepHook(1)]), lambda: T.MonitoredSession(hooks=[T.GlobalStepWaiterHook(1)]),
        lambda: dict(T.SessionRunArgs(1)._asdict()), lambda: T.Supervisor(is_chief=False, graph=with_variable(tf)),
    ]
    return [outcome(functools.partial(text_of, call)) for call in calls]


def text_of(call):
    return str(call())


def with_variable(tf):
    graph = tf.Graph()
    with graph.as_default():
        tf.Variable(1.0)
    return graph


PROGRAMS = [nodes, a_training, order_of_calls, recovery, saving, writing, logging_tensors, stopping, feeding, step_functions,
            managers, supervising, bad_arguments]


def result(tf, program):
    """What a program gives, as it is written to JSON."""
    tf.reset_default_graph()
    with tempfile.TemporaryDirectory() as folder:
        try:
            return json.loads(json.dumps(program(tf, folder)))
        finally:
            tf.summary.FileWriterCache.clear()      # a session that was refused leaves its writer at work in the folder


if __name__ == "__main__":
    import tensorflow

    tensorflow.compat.v1.logging.set_verbosity(tensorflow.compat.v1.logging.ERROR)
    chosen = [program for program in PROGRAMS if len(sys.argv) < 2 or program.__name__ in sys.argv]
    print("{\n" + ",\n".join(f"{json.dumps(program.__name__)}: {json.dumps(result(tensorflow, program))}"
                             for program in chosen) + "\n}")
