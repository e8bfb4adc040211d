"""Functions of inner modules that are public by another name."""
import importlib

import numpy as np
import pytest

from jitgraph import compat
from jitgraph.facade import exported_names


@pytest.fixture(autouse=True)
def installed():
    compat.install()
    yield
    compat.uninstall()


def test_every_listed_name_is_found():
    for module, pairs in exported_names._table().items():
        inner = importlib.import_module(f"tensorflow.{module}")
        for name in pairs:
            assert getattr(inner, name) is exported_names.find(module, name), (module, name)


def test_names_of_each_kind(tf):
    from tensorflow.python.framework import config
    from tensorflow.python.ops import array_ops, image_ops, init_ops_v2, nn_ops, string_ops
    from tensorflow.python.training import gen_training_ops
    from tensorflow.python.util import compat as inner_compat

    assert array_ops.expand_dims_v2 is tf.compat.v2.expand_dims and nn_ops.conv2d_v2 is tf.compat.v2.nn.conv2d
    assert string_ops.string_format is tf.strings.format and init_ops_v2.zeros is tf.compat.v2.zeros_initializer
    assert image_ops.resize_image_with_pad_v1 is tf.image.resize_image_with_pad
    assert config.list_logical_devices is tf.config.experimental.list_logical_devices
    assert gen_training_ops.apply_gradient_descent is tf.raw_ops.ApplyGradientDescent
    assert issubclass(list, inner_compat.collections_abc.Sequence)
    with pytest.raises(AttributeError, match="no attribute 'expand_dims_v7'"):
        array_ops.expand_dims_v7


def test_functions_are_found_rather_than_the_ops_of_that_name(tf):
    from tensorflow.python.ops import array_ops, stateless_random_ops

    drawn = stateless_random_ops.stateless_random_uniform([100], seed=[1, 2], minval=5, maxval=8, dtype=tf.int32)
    padded = array_ops.pad_v2([[1]], [[1, 0], [0, 1]], mode="CONSTANT", constant_values=7)
    with tf.Session() as session:
        found = session.run(drawn)
        assert set(found.tolist()) == {5, 6, 7}
        np.testing.assert_array_equal(session.run(padded), [[7, 7], [1, 7]])
