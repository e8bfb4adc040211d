"""`import tensorflow` means jitgraph after install(), and what it meant before, before."""

import importlib
import importlib.util
import pydoc
import subprocess
import sys
import types

import pytest

import jitgraph
from jitgraph import compat
from jitgraph.facade import contrib_modules, tensorflow_modules


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


def test_contrib_inner_modules_follow_their_namespace(hook):
    from tensorflow.contrib.framework.python.ops import variables
    from tensorflow.contrib.framework.python.ops.variables import model_variable

    assert model_variable is jitgraph.contrib.framework.model_variable is variables.model_variable
    with pytest.raises(ImportError, match=r"tf.contrib.absent is not in jitgraph yet\."):
        importlib.import_module("tensorflow.contrib.absent.python.ops.core")


def test_an_absent_function_of_contrib_is_no_module(hook):
    with pytest.raises(ImportError, match=r"tf.contrib.layers.conv4d is not in jitgraph yet"):
        from tensorflow.contrib.layers.python.layers.layers import conv4d  # noqa: F401
    with pytest.raises(ImportError, match=r"tf.contrib.framework.arg_scoped is not in jitgraph yet"):
        from tensorflow.contrib.framework.python.ops import arg_scoped  # noqa: F401


def test_the_package_around_a_module_of_contrib_holds_its_function(hook):
    from tensorflow.contrib.framework.python.ops import add_arg_scope, arg_scope
    from tensorflow.contrib.layers.python.layers import layers, utils

    assert arg_scope is jitgraph.contrib.framework.arg_scope and add_arg_scope is jitgraph.contrib.framework.add_arg_scope
    assert layers.conv2d is jitgraph.contrib.layers.conv2d
    assert utils.two_element_tuple(3) == (3, 3) and callable(utils.convert_collection_to_dict)


def test_modules_that_share_the_name_of_their_function_are_modules(hook):
    import numpy as np
    from tensorflow.contrib.image.python.ops import dense_image_warp, interpolate_spline, sparse_image_warp
    from tensorflow.contrib.sparsemax.python.ops import sparsemax

    for module in (dense_image_warp, interpolate_spline, sparse_image_warp, sparsemax):
        name = module.__name__.rpartition(".")[2]
        assert getattr(module, name) is getattr(getattr(jitgraph.contrib, "sparsemax" if name == "sparsemax" else "image"), name)
    grid, points = jitgraph.constant([[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [7.0]]]]), [[[0.5, 1.5], [0.0, 1.0]]]
    read = [dense_image_warp._interpolate_bilinear(grid, jitgraph.constant(points), indexing=mode) for mode in ("ij", "xy")]
    with jitgraph.Session() as session:
        np.testing.assert_allclose(session.run(read), [[[[4.25], [2.0]]], [[[4.5], [4.0]]]])
    with pytest.raises(ValueError, match="must be 'ij' or 'xy'"):
        dense_image_warp._interpolate_bilinear(grid, points, indexing="yx")


def test_modules_of_optimizers_and_resolvers_are_found_where_programs_import_them(hook):
    from tensorflow.contrib.cluster_resolver.python.training.slurm_cluster_resolver import SlurmClusterResolver
    from tensorflow.contrib.compiler import jit, xla
    from tensorflow.contrib.mixed_precision.python.loss_scale_optimizer import LossScaleOptimizer
    from tensorflow.contrib.opt.python.training import elastic_average_optimizer, ggt, matrix_functions

    assert elastic_average_optimizer.GLOBAL_VARIABLE_NAME == "global_center_variable"
    assert ggt.GGTOptimizer is jitgraph.contrib.opt.GGTOptimizer and callable(matrix_functions.matrix_square_root)
    assert SlurmClusterResolver is jitgraph.distribute.cluster_resolver.SlurmClusterResolver
    assert LossScaleOptimizer is jitgraph.contrib.mixed_precision.LossScaleOptimizer
    assert callable(jit.experimental_jit_scope) and callable(xla.compile)


def test_every_namespace_of_contrib_lists_its_modules(hook):
    from jitgraph.facade import names

    packages = {name.split(".")[1] for name in names.namespaces() if name.startswith("contrib.")}
    assert packages == set(contrib_modules.CONTRIB_MODULES)
    for package in packages:
        for module in contrib_modules.inner_modules(package):
            importlib.import_module(f"tensorflow.contrib.{package}.{module}")


@pytest.mark.parametrize("module, name", [
    ("python.estimator", "freezing"), ("python.ops.losses.losses_impl", "util"),
    ("python.ops", "dataset_ops")])
def test_views_do_not_take_modules_of_other_packages(hook, module, name):
    found = importlib.import_module(f"tensorflow.{module}")
    with pytest.raises(AttributeError, match="has no attribute"):
        getattr(found, name)


def test_no_module_is_found_in_itself(hook):
    """`eager.context.context` is a function, not the module once more."""
    from tensorflow.python.eager import context
    from tensorflow.python.framework import ops

    assert context.context().executing_eagerly() is False and context.executing_eagerly() is False
    assert not hasattr(ops, "ops")


@pytest.mark.parametrize("name", ["python.ops.absent_ops", "python.absent", "core.absent"])
def test_unknown_inner_modules_say_what_to_do(hook, name):
    with pytest.raises(ModuleNotFoundError, match=f"jitgraph has no 'tensorflow.{name}': see what"):
        importlib.import_module(f"tensorflow.{name}")


@pytest.mark.parametrize("name", ["absent", "graph", "cli"])
def test_unknown_modules_say_what_to_do(hook, name):
    with pytest.raises(ModuleNotFoundError, match=rf"tf.{name} is not there"):
        importlib.import_module(f"tensorflow.{name}")


@pytest.mark.parametrize("name, found", [("layers.Dense", jitgraph.layers.Dense), ("nn.relu", jitgraph.nn.relu),
                                         ("contrib.rnn.GRUCell", jitgraph.nn.rnn_cell.GRUCell),
                                         ("relu", None), ("python.ops.absent", None), ("absent.absent", None)])
def test_pydoc_locates_names_by_their_text(hook, name, found):
    """As configurations of experiments name classes: pydoc.locate imports as far as it can and goes on with getattr."""
    assert pydoc.locate(f"tensorflow.{name}") is found


@pytest.mark.parametrize("statement, sentence", [
    ("import tensorflow.keras", "tf.keras is not part of jitgraph: use tf.nn"),
    ("import tensorflow.keras.layers", "tf.keras is not part of jitgraph: use tf.nn"),
    ("from tensorflow.keras import layers", "tf.keras is not part of jitgraph: use tf.nn"),
    ("from tensorflow.contrib import foo", r"tf.contrib.foo is not in jitgraph yet\."),
    ("from tensorflow import enable_v2_behavior", "is not part of jitgraph: jitgraph is TensorFlow 1's"),
    ("from tensorflow.train import AdamOptimiser", r"tf.train.AdamOptimiser is not there: did you mean tf.train.AdamOptimizer\?"),
    ("from tensorflow.compat.v1 import enable_v2_behavior", "is not part of jitgraph: jitgraph is TensorFlow 1's"),
    ("import tensorflow.compat.v2.layers", "tf.compat.v2.layers is not there"),
])
def test_imports_of_what_is_absent_say_what_the_attribute_says(hook, statement, sentence):
    with pytest.raises(ImportError, match=sentence):
        exec(statement)


@pytest.mark.parametrize("module", ["tensorflow", "tensorflow.compat.v1", "tensorflow.nn", "tensorflow.train"])
def test_star_imports_bring_the_public_names(hook, module):
    brought: dict = {}
    exec(f"from {module} import *", brought)
    there = set(brought) - {"__builtins__"}
    assert there >= {"tensorflow.nn": {"relu", "softmax"}, "tensorflow.train": {"AdamOptimizer", "Saver"}}.get(
        module, {"placeholder", "Session", "nn", "train", "float32", "abs", "contrib", "compat"})
    assert not [name for name in there if name.startswith("_")]


def test_unknown_names_in_from_imports_say_what_to_do(hook):
    with pytest.raises(ImportError, match=r"jitgraph has no 'tensorflow.python.ops.absent_ops'"):
        from tensorflow.python.ops import absent_ops  # noqa: F401
    with pytest.raises(ImportError, match=r"jitgraph has no 'tensorflow.python.ops.math_ops.not_there'"):
        from tensorflow.python.ops.math_ops import not_there  # noqa: F401


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
    assert compat.v1 is jitgraph and compat.v2.nn.relu is jitgraph.nn.relu


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


def test_decorators_of_inner_modules_work(hook):
    from tensorflow.python.util import tf_contextlib, tf_decorator, tf_inspect
    from tensorflow.python.util.tf_export import tf_export
    from tensorflow.python.util.tf_should_use import should_use_result

    def doubled(function):
        def wrapper(*args):
            return 2 * function(*args)
        return tf_decorator.make_decorator(function, wrapper)

    @doubled
    @should_use_result
    @tf_export("public.name", v1=["other.name"])
    def add(a, b=3):
        """Adds."""
        return a + b

    decorators, target = tf_decorator.unwrap(add)
    assert add(1) == 8 and add.__name__ == "add" and add.__doc__ == "Adds." and target(1) == 4
    assert [one.decorator_name for one in decorators] == ["doubled"]
    assert tf_inspect.getargspec(add).args == ["a", "b"] and tf_inspect.getargspec(add).defaults == (3,)

    @tf_contextlib.contextmanager
    def opened(name):
        yield name

    with opened("x") as found:
        assert found == "x"


def test_undocumented_names_of_a_module_are_removed_and_given_back(hook, monkeypatch):
    from tensorflow.python.util import all_util

    module = types.ModuleType("documented", "Has:\n\n@@kept\n")
    module.kept, module.hidden = 1, 2
    monkeypatch.setitem(sys.modules, "documented", module)
    all_util.remove_undocumented("documented")
    assert all_util.make_all("documented") == ["kept"] and module.kept == 1 and not hasattr(module, "hidden")
    all_util.reveal_undocumented("documented.hidden")
    assert module.hidden == 2
    with pytest.raises(LookupError):
        all_util.reveal_undocumented("documented.absent")


def test_every_place_of_an_inner_module_is_there():
    groups = tensorflow_modules.PYTHON_MODULES.values()
    places = {place for modules in groups for found in modules.values() for place in found.split()}
    absent = [place for place in places if place.startswith(":") and importlib.util.find_spec(place[1:]) is None]
    assert absent == []
