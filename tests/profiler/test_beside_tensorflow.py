"""Profiles are in TensorFlow what they are here: the reports, the messages, the options."""
import json
import os
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


def layer(tf, x, units, name):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [x.shape[1].value, units], initializer=tf.zeros_initializer())
        return tf.matmul(x, w)


def model(tf):
    with tf.name_scope("below"):
        x = layer(tf, tf.ones([4, 3]), 5, "first")
        return layer(tf, x, 2, "second")


def described(node, line):
    """(function, own arithmetic, all arithmetic, [the same of the lines that it calls]); `line`: that of its first line."""
    file, number, function = node.name.split(":")
    assert file == os.path.basename(__file__)
    return function, int(number) - line, node.float_ops, node.total_float_ops, [described(one, line) for one in node.children]


def test_arithmetic_by_lines_of_the_program(tf, capsys):
    """As TensorFlow shows it but for its own lines, which it adds below those of the program."""
    gradient, = tf.gradients(tf.reduce_sum(model(tf)), tf.trainable_variables()[1])
    options = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.float_operation())
    names = {"start_name_regexes": [".*:model"]}
    root = tf.profiler.profile(cmd="code", options=options.with_node_names(**names).build())
    line = layer.__code__.co_firstlineno
    assert [described(one, line) for one in root.children] == [
        ("model", 8, 0, 120, [("layer", 3, 120, 120, [])]), ("model", 9, 0, 80, [("layer", 3, 80, 80, [])])]
    assert [[op.name for op in one.children[0].graph_nodes] for one in root.children] == [
        [f"below/{name}/MatMul"] for name in ("first", "second")]
    written = capsys.readouterr()
    assert f"\n  test_beside_tensorflow.py:{line + 8}:model (0/120 flops)\n    test_beside" in written.out
    assert "code view ignores account_displayed_op_only" in written.err
    names = {"start_name_regexes": [r".*:layer \(gradient\)"]}
    root = tf.profiler.profile(cmd="code", options=options.with_node_names(**names).with_empty_output().build())
    assert [one.float_ops for one in root.children] == [160]        # of both operands of the second product
    root = tf.profiler.profile(cmd="code", options=tf.profiler.ProfileOptionBuilder(
        tf.profiler.ProfileOptionBuilder.trainable_variables_parameter()).with_max_depth(40).with_node_names(
        start_name_regexes=[".*"], show_name_regexes=[".*:layer"]).with_empty_output().build())
    assert [(one.parameters, one.total_parameters) for one in root.children] == [(15, 15), (10, 10)]
    assert root.total_parameters == 25 and gradient is not None


def test_a_deep_graph_is_reported(tf, capfd):
    """Deeper than Python's stack and than messages in messages."""
    x = tf.ones([2, 2])
    for _ in range(2000):
        x = tf.matmul(x, x)
    node = tf.profiler.profile(cmd="graph", options=tf.profiler.ProfileOptionBuilder.float_operation())
    written = capfd.readouterr()
    assert not node.name and "(16/32.00k flops)" in written.out and "2000 operations deep" in written.err


def test_times_of_a_run_as_a_timeline(tf, tmp_path, capfd):
    x = tf.matmul(tf.ones([9, 9]) + 0.0, tf.ones([9, 9]), name="y")
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(x, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    builder = tf.profiler.ProfileOptionBuilder().select(["micros", "op_types"]).with_timeline_output(str(tmp_path / "times"))
    for cmd in ("scope", "graph", "code", "op"):
        tf.profiler.profile(run_meta=metadata, cmd=cmd, options=builder.with_step(0).build())
        assert "y" in {event.get("args", {}).get("name") for event in json.loads((tmp_path / "times_0").read_text())["traceEvents"]}
        (tmp_path / "times_0").unlink()
    tf.profiler.profile(run_meta=metadata, cmd="graph", options=builder.with_step(-1).build())
    assert "Must specify -step option" in capfd.readouterr().err
    profiler = tf.profiler.Profiler()
    profiler.add_step(5, metadata)
    options = builder.with_empty_output().build()
    assert profiler.profile_graph(options).total_exec_micros > 0 and profiler.profile_python(options).total_exec_micros > 0
    by_device = builder.with_accounted_types([".*device:cpu:0"]).build()
    node = tf.profiler.profile(run_meta=metadata, options=by_device)
    assert {one.name for one in node.children} >= {"y"} and node.total_cpu_exec_micros == node.total_exec_micros > 0
    assert [one.run_count for one in node.children if one.name == "y"] == [1]


def test_what_a_profiler_does_not_have_says_what_to_do(tf):
    profiler = tf.profiler.Profiler()
    with pytest.raises(tf.errors.InvalidArgumentError, match="keep the RunMetadata"):
        profiler.serialize_to_string()


def test_the_log_of_operations_has_what_tensorflow_writes(tf, tmp_path):
    x = tf.placeholder(tf.float32, [4, 8], name="x")
    tf.matmul(x, tf.get_variable("w", [8, 16]), name="y")
    own = tf.profiler.OpLogProto()
    own.log_entries.add(name="x", types=["mine"])
    tf.profiler.write_op_log(None, str(tmp_path), own, add_trace=False)
    log = tf.profiler.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    found = {entry.name: (entry.float_ops, list(entry.types)) for entry in log.log_entries}
    # the initial value of w is computed by a multiplication and a sum, TensorFlow 1.15.5 gives
    assert found == {"x": (0, ["mine"]), "w/Initializer/random_uniform/mul": (128, []), "w/Initializer/random_uniform": (128, []),
                     "w/Initializer/random_uniform/sub": (1, []), "y": (1024, []), "w": (0, ["_trainable_variables"])}
    tf.profiler.write_op_log(tf.get_default_graph(), str(tmp_path))
    log = tf.profiler.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    trace, = {entry.name: entry for entry in log.log_entries}["y"].code_def.traces[-1:]
    assert log.id_to_string[trace.file_id] == __file__ and log.id_to_string[0] == "none"
    assert log.id_to_string[trace.line_id].startswith("tf.matmul(x,")
    with pytest.raises(tf.errors.NotFoundError):
        tf.profiler.write_op_log(None, str(tmp_path / "none"))


def test_advice_names_what_takes_the_most_time(tf, capsys):
    x = tf.ones([300, 300])
    y = tf.matmul(tf.random.normal([300, 300]), x, name="y")
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(y, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    advice = tf.profiler.advise(run_meta=metadata)
    assert sorted(advice.checkers) == ["AcceleratorUtilizationChecker", "ExpensiveOperationChecker", "OperationChecker"]
    types, nodes, lines = advice.checkers["ExpensiveOperationChecker"].reports
    assert types.startswith("top 1 operation type: ") and "top 1 graph node: " in nodes and "test_beside_tensorflow.py:" in lines
    assert f"ExpensiveOperationChecker:\n{types}\n" in capsys.readouterr().out
    profiler = tf.profiler.Profiler()
    assert not profiler.advise({"OperationChecker": {}}).checkers["OperationChecker"].reports
    assert capsys.readouterr().out == "Parsing Inputs...\n\nOperationChecker:\n"      # as TensorFlow 1.15.5 prints it
