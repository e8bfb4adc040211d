"""The names of ``tf.compat.v2`` are TensorFlow 1.15's, with its parameters, and those that it lacks say what to write."""
import importlib
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from jitgraph import compat
from jitgraph.facade import names, names_v2, not_here, only_v1

HERE = Path(__file__).parent
NAMES = dict(line.split("\t") for line in (HERE / "data" / "tf115_v2_names.tsv").read_text().splitlines())
_spec = importlib.util.spec_from_file_location("signatures", HERE.parent / "facade" / "signatures.py")
signatures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(signatures)


def resolved(resolve, name):
    """What a name stands for, None if it is not there."""
    try:
        return resolve(name)
    except AttributeError:
        return None


@pytest.fixture(scope="module")
def ours():
    return {name: resolved(names_v2.resolve, name) for name in NAMES}


def test_names_that_tensorflow_has_once_are_one_object_here(ours):
    for name in [name for name, text in NAMES.items() if text == "same"]:
        assert ours[name] is resolved(names.resolve, name), name


def test_functions_that_differ_have_the_parameters_of_tensorflow_2(ours):
    wanted = {name: text for name, text in NAMES.items() if text.startswith("(")}
    assert len(wanted) > 150
    wanted.pop("saved_model.load")
    assert ours["saved_model.load"] is resolved(names.resolve, "saved_model.load_v2")
    differ = {name: (text, signatures.parameters(ours[name])) for name, text in wanted.items()
              if not callable(ours[name]) or not agree(text, signatures.parameters(ours[name]))}
    assert differ == {}


def agree(theirs, ours):
    theirs, ours = theirs[1:-1].split(", "), ours[1:-1].split(", ")
    return len(theirs) == len(ours) and all(a == b or a.endswith("=...") and b.startswith(a[:-3]) for a, b in zip(theirs, ours))


def test_classes_and_values_that_differ_are_there(ours):
    absent = {name for name, text in NAMES.items() if text in ("class", "value") and ours[name] is None}
    assert absent == {"distribute.experimental.TPUStrategy"}            # not part of jitgraph


def test_there_is_nothing_more():
    assert set(names_v2.table()) - set(NAMES) == {name for name in names_v2.table() if name.startswith("estimator.")}


def test_every_function_that_differs_has_a_docstring(ours):
    for name, value in ours.items():
        if NAMES[name].startswith("(") and value is not None:
            assert inspect.getdoc(value), name


def test_names_left_out_are_names_of_tensorflow_1():
    known = not_here.names_of_tensorflow()
    listed = {f"{space}.{name}" if space else name for space, text in {**only_v1.NAMES, **only_v1.ALL_BUT}.items()
              for name in text.split()}
    assert listed <= known
    assert set(only_v1.NAMESPACES) - {"contrib", "examples"} <= known


@pytest.mark.parametrize("name, sentence", [
    ("placeholder", "tf.compat.v2.placeholder is not there, as in TensorFlow 2: write tf.compat.v1.placeholder."),
    ("log", "write tf.compat.v2.math.log, or tf.compat.v1.log."),
    ("random_normal", "write tf.compat.v2.random.normal, or tf.compat.v1.random_normal."),
    ("layers", "write tf.compat.v1.layers."), ("train.AdamOptimizer", "write tf.compat.v1.train.AdamOptimizer."),
    ("enable_v2_behavior", "tf.enable_v2_behavior is not part of jitgraph"), ("databse", "see dir(tf.compat.v2)"),
])
def test_a_name_that_is_not_there_says_what_to_write(tf, name, sentence):
    with pytest.raises(AttributeError) as caught:
        value = tf.compat.v2
        for part in name.split("."):
            value = getattr(value, part)
    assert sentence in str(caught.value)


def test_keras_can_be_derived_from_and_is_refused_when_it_is_used(tf):
    class Dense(tf.compat.v2.keras.layers.Layer):
        units = 3

    assert tf.keras is tf.compat.v2.keras and Dense.units == 3 and not isinstance(3, tf.compat.v2.keras.layers.Layer)
    with pytest.raises(NotImplementedError, match=r"tf.keras.layers.Layer is not part of jitgraph: use tf\.nn"):
        Dense()
    with pytest.raises(NotImplementedError, match="tf.keras.optimizers.Adam is not part of jitgraph"):
        tf.compat.v2.optimizers.Adam(0.1)
    with pytest.raises(AttributeError):
        Dense.absent


def test_namespaces_are_modules_with_their_names(tf):
    v2 = tf.compat.v2
    assert {"nn", "math", "constant", "float32", "compat", "raw_ops"} <= set(dir(v2))
    assert "Session" not in dir(v2) and "rnn_cell" not in dir(v2.nn) and "conv2d" in dir(v2.nn)
    assert vars(v2.bitwise)["invert"] is tf.bitwise.invert
    assert v2.nn is v2.nn and v2.nn is not tf.nn and v2.nn.relu is tf.nn.relu
    assert v2.compat.v1 is tf and v2.compat.v2 is v2 and v2.__version__ == tf.__version__


def test_imports_mean_it():
    compat.install()
    try:
        import tensorflow.compat.v2 as v2
        import tensorflow.compat.v2.math  # noqa: F401
        from tensorflow.compat import v2 as again
        from tensorflow.compat.v2 import nn
        from tensorflow.compat.v2.compat import v1
        from tensorflow.compat.v2.nn import conv2d

        assert again is v2 and nn is v2.nn and nn.conv2d is conv2d and v1.compat.v2 is v2
        assert sys.modules["tensorflow.compat.v2.math"] is v2.math
        brought = {}
        exec("from tensorflow.compat.v2 import *", brought)
        assert brought["nn"] is nn and "Session" not in brought
        for statement in ("from tensorflow.compat.v2 import Session", "import tensorflow.compat.v2.layers"):
            with pytest.raises(ImportError, match=r"write tf\.compat\.v1\."):
                exec(statement)
        with pytest.raises(ImportError, match="tf.keras is not part of jitgraph"):
            importlib.import_module("tensorflow.compat.v2.keras")
    finally:
        compat.uninstall()


def test_nothing_of_it_is_loaded_before_it_is_asked_for():
    code = "import sys, jitgraph as tf, jitgraph.compat; tf.compat.v2.nn; print([n for n in sys.modules if '.v2' in n])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_call_that_does_not_fit_says_what_python_says(tf):
    with pytest.raises(TypeError, match=r"expand_dims\(\) missing 1 required positional argument: 'axis'"):
        tf.compat.v2.expand_dims(1)
    with pytest.raises(TypeError, match=r"reduce_sum\(\) got an unexpected keyword argument 'keep_dims'"):
        tf.compat.v2.reduce_sum([1], keep_dims=True)
