"""Sessions that are traced inside of a block."""
import pytest


def _run(tf, session, x, times):
    for _ in range(times):
        session.run(x)


def test_runs_are_traced_and_written_as_told(tf, tmp_path):
    x = tf.reduce_sum(tf.ones([10, 10]) * 2.0)
    options = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.time_and_memory()).with_empty_output().build()
    before = tf.Session.run
    with tf.contrib.tfprof.ProfileContext(str(tmp_path / "times"), trace_steps=[1], dump_steps=[3], debug=True) as context, \
            tf.Session() as session:
        context.add_auto_profiling("scope", options, [2])
        _run(tf, session, x, 4)
        assert sorted(context.get_profiles("scope")) == [2] and context.get_profiles("scope")[2].name == "_TFProfRoot"
        with pytest.raises(ValueError, match="No autoprofiler for command: op"):
            context.get_profiles("op")
        context.trace_next_step()
        context.dump_next_step()
        assert session.run(x) == 200.0
        assert context.profiler.profile_name_scope(options).name == "_TFProfRoot"
    assert tf.Session.run is before
    assert sorted(file.name for file in (tmp_path / "times").iterdir()) == [
        "profile_3", "profile_4", "run_meta_1", "run_meta_2", "run_meta_4"]


def test_the_first_run_of_each_kind_is_traced_by_default(tf, tmp_path):
    x, y = tf.ones([3]) + 1.0, tf.ones([3]) * 3.0
    with tf.contrib.tfprof.ProfileContext(str(tmp_path), debug=True), tf.Session() as session:
        _run(tf, session, x, 14)
        _run(tf, session, y, 3)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run_meta_11", "run_meta_14"]


def test_blocks_that_are_refused_or_do_nothing(tf, tmp_path):
    Context = tf.contrib.tfprof.ProfileContext
    for arguments, message in ((("",), "Must have a directory"), ((str(tmp_path), range(101)), "100 steps")):
        with pytest.raises(ValueError, match=message):
            Context(*arguments)
    with Context(str(tmp_path)), pytest.raises(tf.errors.InternalError, match="Already in context"), Context(str(tmp_path)):
        pass
    with Context("", enabled=False) as context:
        context.trace_next_step()
        assert context.profiler is None
