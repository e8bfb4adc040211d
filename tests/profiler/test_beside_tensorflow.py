"""Profiles are in TensorFlow what they are here: the reports, the messages, the options."""
from pathlib import Path

import pytest

from ..recorded import check, texts

HERE = Path(__file__).parent
REPORT = """
=========================Options=============================
-max_depth                  10000
-min_bytes                  0
-min_peak_bytes             0
-min_residual_bytes         0
-min_output_bytes           0
-min_micros                 0
-min_accelerator_micros     0
-min_cpu_micros             0
-min_params                 0
-min_float_ops              0
-min_occurrence             0
-step                       -1
-order_by                   name
-account_type_regexes       _trainable_variables
-start_name_regexes         .*
-trim_name_regexes{0}
-show_name_regexes          .*
-hide_name_regexes{0}
-account_displayed_op_only  true
-select                     params
-output                     stdout:

==================Model Analysis Report======================

Doc:
scope: The nodes in the model graph are organized by their names, which is hierarchical like filesystem.
param: Number of parameters (in the Variable).

Profile:
node name | # parameters
_TFProfRoot (--/1.50k params)
  w (3x500, 1.50k/1.50k params)

======================End of Report==========================
""".replace("{0}", " " * 10)


@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    check(tf, HERE, program)


def test_the_report_on_the_standard_output_is_tensorflows(tf, capsys):
    tf.get_variable("w", [3, 500])
    tf.profiler.profile()
    assert capsys.readouterr().out == REPORT


def test_times_are_those_of_the_run(tf, capsys):
    x = tf.random.normal([200, 200], name="x")
    y = tf.matmul(x, x, name="scope/y")
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(y, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    options = tf.profiler.ProfileOptionBuilder.time_and_memory(min_bytes=0, min_micros=0)
    node = tf.profiler.profile(run_meta=metadata, options=options)
    assert node.total_exec_micros > 0 and "total execution time" in capsys.readouterr().out
    profiler = tf.profiler.Profiler()
    profiler.add_step(3, metadata)
    assert profiler.profile_name_scope({**options, "output": "none"}).total_exec_micros == node.total_exec_micros


def test_what_is_logged_counts(tf):
    tf.get_variable("w", [3, 500])
    log = tf.profiler.OpLogProto()
    log.log_entries.add(name="w/read", float_ops=7, types=["mine"])
    options = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.float_operation())
    options = options.with_accounted_types(["mine"]).with_empty_output().build()
    assert tf.profiler.profile(op_log=log, options=options).total_float_ops == 7


def test_another_view_is_refused(tf):
    with pytest.raises(tf.errors.InvalidArgumentError, match="cmd='scope' only"):
        tf.profiler.profile(cmd="code")


def test_what_a_profiler_does_not_have_says_what_to_do(tf):
    profiler = tf.profiler.Profiler()
    for refused in (profiler.profile_graph, profiler.profile_operations, profiler.profile_python, profiler.advise):
        with pytest.raises(tf.errors.InvalidArgumentError, match="here|only"):
            refused({})
    with pytest.raises(tf.errors.InvalidArgumentError, match="keep the RunMetadata"):
        profiler.serialize_to_string()
