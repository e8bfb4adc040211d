"""`import tensorflow` means jitgraph after install(), and what it meant before, before."""

import importlib
import subprocess
import sys
import types

import pytest

import jitgraph
from jitgraph import compat, tensorflow_modules


@pytest.fixture
def hook():
    compat.install()
    yield compat
    compat.uninstall()


def test_tensorflow_is_jitgraph(hook):
    import tensorflow
    import tensorflow.compat.v1 as v1

    assert tensorflow is jitgraph
    assert v1 is jitgraph
    assert jitgraph.compat is compat


def test_modules_keep_their_own_spec(hook):
    importlib.import_module("tensorflow.compat.v1")
    assert jitgraph.__spec__.name == "jitgraph"
    assert compat.__spec__.name == "jitgraph.compat"


def test_nothing_is_hidden_before_install_or_after_uninstall(tmp_path):
    package = tmp_path / "tensorflow"
    package.mkdir()
    (package / "__init__.py").write_text("real = True\n")
    code = f"""
import sys; sys.path.insert(0, {str(tmp_path)!r})
import jitgraph, jitgraph.compat
jitgraph.compat.install()
import tensorflow; assert tensorflow is jitgraph
from tensorflow.python.framework import ops
jitgraph.compat.uninstall()
assert not [name for name in sys.modules if name.startswith("tensorflow")]
assert not hasattr(jitgraph, "python")
import tensorflow; assert tensorflow.real
try:
    jitgraph.compat.install()
except RuntimeError as error:
    assert "already imported" in str(error)
else:
    raise AssertionError("installed over an imported TensorFlow")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_install_and_uninstall_twice_change_nothing():
    compat.install()
    compat.install()
    assert compat.installed() and sys.meta_path.count(compat._FINDER) == 1
    compat.uninstall()
    compat.uninstall()
    assert not compat.installed() and "tensorflow" not in sys.modules


@pytest.mark.parametrize(
    "name",
    [
        "python",
        "python.framework",
        "python.framework.ops",
        "python.ops.math_ops",
        "python.ops.losses",
        "python.ops.losses.losses_impl",
        "python.training.moving_averages",
        "python.util.nest",
        "core.framework.graph_pb2",
        "core.protobuf.config_pb2",
        "compat",
        "compat.v1",
    ],
)
def test_inner_modules_import(hook, name):
    module = importlib.import_module(f"tensorflow.{name}")
    assert isinstance(module, types.ModuleType)


def test_views_show_public_names(hook, monkeypatch):
    monkeypatch.setattr(jitgraph, "a_public_name", "found", raising=False)
    monkeypatch.setattr(jitgraph, "nn", types.SimpleNamespace(a_layer="in nn"), raising=False)
    from tensorflow.python.ops import nn_ops
    from tensorflow.python.ops.math_ops import a_public_name

    assert a_public_name == "found"
    assert nn_ops.a_layer == "in nn"
    assert "a_layer" in dir(nn_ops)


def test_a_package_view_prefers_its_modules_to_public_names(hook):
    from tensorflow.python.framework import ops

    assert ops.__name__ == "tensorflow.python.framework.ops"


def test_views_reach_their_siblings(hook):
    from tensorflow.python.ops import rnn

    assert rnn.rnn_cell_impl.__name__ == "tensorflow.python.ops.rnn_cell_impl"


def test_public_namespaces_that_are_no_packages_import(hook, monkeypatch):
    module = types.ModuleType("jitgraph.sample")
    module.inner = types.ModuleType("jitgraph.sample.inner")
    monkeypatch.setattr(jitgraph, "sample", module, raising=False)
    import tensorflow.sample.inner as inner

    assert inner is module.inner
    assert sys.modules["tensorflow.sample"] is module
    assert jitgraph.sample is module


def test_contrib_inner_modules_follow_their_namespace(hook, monkeypatch):
    contrib = types.ModuleType("a_contrib")
    contrib.sample = types.ModuleType("a_contrib.sample")
    contrib.sample.thing = 7
    monkeypatch.setattr(jitgraph, "contrib", contrib, raising=False)
    from tensorflow.contrib.sample.python.ops.core import thing

    assert thing == 7
    with pytest.raises(ImportError):
        importlib.import_module("tensorflow.contrib.absent.python.ops.core")


@pytest.mark.parametrize("name", ["absent", "python.ops.absent_ops", "python.absent", "core.absent", "graph", "cli"])
def test_unknown_modules_say_what_to_do(hook, name):
    with pytest.raises(ModuleNotFoundError, match=f"jitgraph has no 'tensorflow.{name}': see what"):
        importlib.import_module(f"tensorflow.{name}")


def test_unknown_names_in_from_imports_say_what_to_do(hook):
    with pytest.raises(ImportError, match=r"jitgraph has no 'tensorflow.python.ops.absent_ops'"):
        from tensorflow.python.ops import absent_ops  # noqa: F401
    with pytest.raises(ImportError, match=r"jitgraph has no 'tensorflow.python.ops.math_ops.absent'"):
        from tensorflow.python.ops.math_ops import absent  # noqa: F401


@pytest.mark.parametrize("name", sorted(tensorflow_modules.HINTS))
def test_hints_are_one_sentence(name):
    assert tensorflow_modules.hint(name + ".deeper") == tensorflow_modules.HINTS[name]
    assert len(tensorflow_modules.HINTS[name]) < 120


def test_hints_are_shown(hook):
    with pytest.raises(ImportError, match="TensorFlow 1"):
        importlib.import_module("tensorflow.compat.v2")


def test_every_listed_module_imports(hook):
    for group, modules in tensorflow_modules.PYTHON_MODULES.items():
        importlib.import_module(f"tensorflow.python.{group}")
        for module in modules:
            importlib.import_module(f"tensorflow.python.{group}.{module}")


def test_tf_compat_converts_strings():
    assert compat.as_bytes("ä") == b"\xc3\xa4" == compat.as_bytes(b"\xc3\xa4")
    assert compat.as_text(b"\xc3\xa4") == "ä" == compat.as_str("ä")
    assert compat.as_str_any(3) == "3" and compat.as_str_any(b"x") == "x"
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        compat.as_bytes(3)
    with pytest.raises(TypeError, match="Expected binary or unicode string"):
        compat.as_text(3)


def test_tf_compat_has_the_rest(tmp_path):
    assert compat.path_to_str(tmp_path) == str(tmp_path) and compat.path_to_str("x") == "x"
    assert compat.v1 is jitgraph
    with pytest.raises(AttributeError, match="TensorFlow 1"):
        compat.v2


def test_public_namespaces_are_the_ones_of_the_facade(hook):
    import tensorflow as tf
    import tensorflow.compat.v1.nn
    import tensorflow.train
    from tensorflow.nn import relu

    assert relu is tf.nn.relu
    assert tensorflow.train.AdamOptimizer is jitgraph.train.AdamOptimizer
    assert sys.modules["tensorflow.nn"] is jitgraph.nn


@pytest.mark.parametrize(
    "module, names",
    {
        "python.framework.ops": "Graph Tensor name_scope get_default_graph convert_to_tensor RegisterGradient",
        "python.framework.dtypes": "float32 as_dtype DType",
        "python.framework.tensor_shape": "TensorShape Dimension as_shape",
        "python.framework.tensor_util": "constant_value make_tensor_proto",
        "python.framework.errors_impl": "InvalidArgumentError",
        "python.ops.array_ops": "placeholder reshape concat zeros_like",
        "python.ops.control_flow_ops": "group no_op with_dependencies",
        "python.ops.gen_math_ops": "mat_mul exp",
        "python.ops.gradients": "gradients",
        "python.ops.init_ops": "Initializer zeros_initializer",
        "python.ops.math_ops": "reduce_sum matmul less add",
        "python.ops.variables": "Variable trainable_variables",
        "python.client.session": "Session",
        "python.training.adam": "AdamOptimizer",
        "python.util.compat": "as_bytes",
    }.items(),
)
def test_names_that_programs_import_from_inside_are_found(hook, module, names):
    found = importlib.import_module(f"tensorflow.{module}")
    for name in names.split():
        assert getattr(found, name) is not None
