"""tf.flags, tf.app and tf.logging."""
import sys

import pytest

from jitgraph.app import command_flags as flags


@pytest.fixture
def values():
    values = flags.FlagValues()
    flags.DEFINE_string("dir", "", "where", values)
    flags.DEFINE_integer("steps", 3, "how many", lower_bound=0, flag_values=values)
    flags.DEFINE_boolean("quick", False, "whether", values)
    flags.DEFINE_float("rate", 1, "how much", flag_values=values)
    flags.DEFINE_enum("mode", "a", ["a", "b"], "which", values)
    flags.DEFINE_list("names", "x,y", "who", values)
    flags.DEFINE_multi_integer("n", [1], "sizes", flag_values=values)
    return values


def test_values_and_defaults(values):
    rest = values(["prog", "--dir=/x", "--steps", "0x10", "--quick", "-rate=0.5", "--n=4", "--n=5", "rest"])
    assert rest == ["prog", "rest"]
    assert values.flag_values_dict() == {"dir": "/x", "steps": 16, "quick": True, "rate": 0.5, "mode": "a",
                                         "names": ["x", "y"], "n": [4, 5]}
    values(["prog", "--noquick"])
    assert values.quick is False and values["steps"].default == 3 and "dir" in values
    values.steps = 9
    assert values.steps == 9


def test_bounds_and_required_flags():
    values = flags.FlagValues()
    flags.DEFINE_float("rate", None, "how much", 0.0, 1.0, flag_values=values, required=True)
    flags.DEFINE_multi_integer("n", [1], "sizes", lower_bound=1, flag_values=values)
    with pytest.raises(flags.Error, match=r"2.0 is not in \[0.0, 1.0\]"):
        values(["prog", "--rate=2"])
    with pytest.raises(flags.Error, match="must have a value other than None"):
        values(["prog", "--n=3"])
    with pytest.raises(flags.Error, match="0 is not in"):
        values(["prog", "--rate=1", "--n=0"])


@pytest.mark.parametrize("argument, text", [
    ("--steps=a", "flag --steps=a"), ("--steps=-1", "is not in"), ("--quick=maybe", "Non-boolean"),
    ("--mode=c", "one of <a|b>"), ("--nope", "Unknown command line flag 'nope'"),
    ("--dir", "Missing value for flag --dir")])
def test_what_is_refused(values, argument, text):
    with pytest.raises(flags.Error) as caught:
        values(["prog", argument])
    assert text in str(caught.value)


def test_required_flags(values):
    flags.DEFINE_string("must", None, "needed", values)
    flags.mark_flag_as_required("must", values)
    with pytest.raises(flags.Error, match="must have a value other than None"):
        values(["prog"])
    assert values(["prog", "--must=1"]) == ["prog"]


def test_reading_parses_the_command_line_of_the_program(values, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["prog", "--steps=5", "--unknown"])
    assert not values.is_parsed() and values.steps == 5
    with pytest.raises(AttributeError, match="there is no flag --other"):
        values.other


def test_app_run(tf, capsys):
    with pytest.raises(SystemExit) as stop:
        tf.app.run(lambda argv: len(argv), ["prog", "--not_defined", "x"])
    assert stop.value.code == 3
    tf.flags.DEFINE_integer("test_app_run_steps", 1, "steps")
    with pytest.raises(SystemExit) as stop:
        tf.app.run(lambda argv: 0, ["prog", "--test_app_run_steps=a"])
    assert stop.value.code == 1 and "Flags parsing error" in capsys.readouterr().err


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
