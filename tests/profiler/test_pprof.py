"""Profiles for pprof: samples and values are those that TensorFlow 1.15 writes, the lines are the program's."""
import gzip

import pytest


@pytest.fixture
def profile(tf, tmp_path):
    """A function that profiles a small network, and gives the message that stands in the file."""
    from jitgraph.protobuf import messages

    def made(options, cmd="code", **changes):
        path = tmp_path / "profile"
        options = tf.profiler.ProfileOptionBuilder(options).with_pprof_output(str(path)).build()
        tf.profiler.profile(tf.get_default_graph(), cmd=cmd, options={**options, **changes})
        return messages.Profile.FromString(gzip.decompress(path.read_bytes())) if path.exists() else None

    x = tf.placeholder(tf.float32, [8, 4], name="x")
    w, b = tf.get_variable("w", [4, 6]), tf.get_variable("b", [6])
    tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w, name="mm"), b, name="ba"), name="r")
    return made


def samples(found):
    """{operation: its values}"""
    texts = found.string_table
    return {texts[one.label[0].str]: list(one.value) for one in found.sample}


def test_arithmetic_of_each_operation(tf, profile):
    found = profile(tf.profiler.ProfileOptionBuilder.float_operation())
    texts = found.string_table
    assert [(texts[one.type], texts[one.unit]) for one in found.sample_type] == [("count", "count"), ("float_ops", "count")]
    assert [texts[one] for one in found.comment] == ["Model float operations (Only available if defined)."]
    assert samples(found) == {
        "b/Initializer/random_uniform": [1, 6], "b/Initializer/random_uniform/mul": [1, 6],
        "b/Initializer/random_uniform/sub": [1, 1], "w/Initializer/random_uniform": [1, 24],
        "w/Initializer/random_uniform/mul": [1, 24],
        "w/Initializer/random_uniform/sub": [1, 1], "ba": [1, 48], "mm": [1, 384]}


def test_parameters_of_each_variable(tf, profile):
    found = profile(tf.profiler.ProfileOptionBuilder.trainable_variables_parameter(), select=["params"])
    assert samples(found) == {"b": [1, 6], "w": [1, 24]}


def test_the_line_that_made_an_operation_is_the_first_of_its_sample(tf, profile):
    found = profile(tf.profiler.ProfileOptionBuilder.float_operation())
    texts, functions = found.string_table, {one.id: one for one in found.function}
    lines = {one.id: one.line[0] for one in found.location}
    sample = next(one for one in found.sample if texts[one.label[0].str] == "mm")
    function = functions[lines[sample.location_id[0]].function_id]
    assert texts[function.name] == "test_pprof:profile"
    assert texts[function.filename] == __file__
    with open(__file__) as file:
        assert 'name="mm"' in file.readlines()[lines[sample.location_id[0]].line - 1]


def test_what_has_no_values_says_so(tf, profile, capsys):
    found = profile(tf.profiler.ProfileOptionBuilder.float_operation(), select=["bytes"])
    assert "pprof doesn't support selecting: bytes" in capsys.readouterr().err
    assert samples(found)["mm"] == [1]


@pytest.mark.parametrize("cmd", ["scope", "graph", "op"])
def test_other_views_write_nothing(tf, profile, cmd):
    assert profile(tf.profiler.ProfileOptionBuilder.float_operation(), cmd) is None
