"""tf.flags, tf.app and tf.logging."""
import json
import subprocess
import sys
from pathlib import Path

import pytest

from . import flag_programs

WANTED = json.loads((Path(__file__).parent / "data" / "tf115_flags.json").read_text())
JITGRAPH = "import jitgraph as tf"


@pytest.fixture(scope="module")
def found():
    import jitgraph

    return flag_programs.in_process(jitgraph.flags)


@pytest.mark.parametrize("name", [*flag_programs.COMMAND_LINES, *flag_programs.OTHERS])
def test_flags_are_those_of_tensorflow(found, name):
    assert found[name] == WANTED[name]


@pytest.mark.parametrize("name, arguments, program", flag_programs.OF_A_PROCESS, ids=[one[0] for one in flag_programs.OF_A_PROCESS])
def test_a_program_with_flags_ends_as_under_tensorflow(tmp_path, name, arguments, program):
    status, output, errors = flag_programs.process([sys.executable], str(tmp_path), JITGRAPH, arguments, program)
    assert [status, output] == WANTED[name][:2]
    if name == "logs before and after":
        assert errors == WANTED[name][2]
    elif status:
        assert errors[-1:] == WANTED[name][2][-1:]


def test_all_names_of_flags_are_absl_s(tf):
    from absl import flags

    assert tf.app.flags is tf.flags and isinstance(tf.flags.FLAGS, flags.FlagValues)
    same = [name for name in dir(tf.flags) if hasattr(flags, name) and getattr(flags, name) is getattr(tf.flags, name)]
    assert len(same) > 50 and "DEFINE_enum_class" in same
    tf.flags.DEFINE_integer("of_tf_flags", 3, "")
    flags.FLAGS(["prog", "--of_tf_flags=4"])
    assert flags.FLAGS.of_tf_flags == tf.flags.FLAGS.of_tf_flags == 4


def test_absl_is_loaded_by_the_first_flag_alone():
    program = f"""
import sys
{JITGRAPH}
tf.constant(1), tf.logging.info("x")
assert "absl" not in sys.modules
tf.flags.FLAGS
assert "absl" in sys.modules"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_program_may_define_log_dir(tmp_path):
    program = 'flags.DEFINE_string("log_dir", "y", "")\nprint(FLAGS.log_dir)'
    found = flag_programs.process([sys.executable], str(tmp_path), JITGRAPH, ["--log_dir=x"], program)
    assert found == [0, "x\n", []]


def test_logging(tf, caplog):
    before = tf.logging.get_verbosity()
    try:
        tf.logging.set_verbosity(tf.logging.INFO)
        for _ in range(3):
            tf.logging.info("loss %.1f", 0.5)
            tf.logging.log_first_n(tf.logging.WARN, "twice", 2)
            tf.logging.debug("hidden")
        assert [r.getMessage() for r in caplog.records] == ["loss 0.5", "twice", "loss 0.5", "twice", "loss 0.5"]
    finally:
        tf.logging.set_verbosity(before)


@pytest.mark.parametrize("log", [
    lambda tf: tf.logging.info("step"), lambda tf: tf.logging.vlog(40, "step"), lambda tf: tf.get_logger().error("step"),
    lambda tf: tf.logging.log_if(tf.logging.ERROR, "step", True), lambda tf: tf.logging.TaskLevelStatusMessage("step")])
def test_a_record_names_the_line_of_the_program(tf, caplog, log):
    with caplog.at_level("INFO", "tensorflow"):
        log(tf)
    record, = caplog.records
    assert (record.filename, record.lineno, record.funcName) == (
        "test_flags_and_logs.py", log.__code__.co_firstlineno, "<lambda>")
