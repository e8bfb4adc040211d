"""Layers of tf.contrib as programs use them: outputs by name, parameters that can be set, what errors say."""
import inspect
import subprocess
import sys

import numpy as np
import pytest

from jitgraph.contrib.layers import arguments, collected


def test_importing_jitgraph_does_not_import_the_rooms_of_contrib():
    loaded = subprocess.run([sys.executable, "-c", "import sys, jitgraph; jitgraph.contrib; print([m for m in sys.modules if "
                             "m.startswith(('jitgraph.contrib.', 'jitgraph.layers'))])"],
                            capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_outputs_are_collected_under_the_names_of_their_scopes(tf):
    layers = tf.contrib.layers
    with tf.variable_scope("net") as scope:
        ends = scope.name + "_end_points"
        net = layers.conv2d(tf.ones([1, 4, 4, 2]), 3, 3, scope="conv", outputs_collections=ends)
        net = layers.max_pool2d(net, 2, scope="pool", outputs_collections=ends)
        net = layers.flatten(net, scope="flat", outputs_collections=[ends])
    found = collected.convert_collection_to_dict(ends, clear_collection=True)
    assert list(found) == ["net/conv", "net/pool", "net/flat"] and found["net/flat"] is net
    assert tf.get_collection(ends) == []
    assert collected.gather_tensors_aliases([net, tf.ones([1], name="one")]) == ["net/flat", "one"]


def test_what_arg_scope_can_set_are_the_parameters_with_a_default(tf):
    names = tf.contrib.framework.arg_scoped_arguments(tf.contrib.layers.conv2d)
    assert names[:3] == ("stride", "padding", "data_format") and "conv_dims" not in names
    assert list(inspect.signature(tf.contrib.layers.conv2d).parameters)[:3] == ["inputs", "num_outputs", "kernel_size"]
    assert tf.contrib.layers.conv2d is tf.contrib.layers.convolution2d


@pytest.mark.parametrize("build, text", [
    (lambda L, tf: L.conv2d(tf.ones([1, 4, 4, 2]), 3, 3, filters=4), r"convolution2d\(\) .*filters"),
    (lambda L, tf: L.convolution3d(tf.ones([1, 4, 4, 2]), 3, 3), "expects input with rank 5, got 4"),
    (lambda L, tf: L.fully_connected(tf.ones([2, 2]), "3"), "num_outputs .* got '3'"),
    (lambda L, tf: L.group_norm(tf.ones([1, 4, 4, 6]), 4), "6 channels is not commensurate with 4 groups"),
    (lambda L, tf: L.optimize_loss(tf.constant(1.0), None, 0.1, "Sgd"), "one of .*SGD.*, you provided Sgd")])
def test_errors_say_what_is_wrong(tf, build, text):
    with pytest.raises((TypeError, ValueError), match=text):
        build(tf.contrib.layers, tf)


@pytest.mark.parametrize("function, value, wanted", [
    (arguments.two_element_tuple, 3, (3, 3)), (arguments.two_element_tuple, [1, 2], (1, 2)),
    (arguments.two_element_tuple, [1], ValueError), (arguments.two_element_tuple, 1.5, ValueError),
    (lambda v: arguments.n_positive_integers(2, v), 3, (3, 3)), (lambda v: arguments.n_positive_integers(2, v), [1, 2], (1, 2)),
    (lambda v: arguments.n_positive_integers(2, v), [1], ValueError),
    (lambda v: arguments.n_positive_integers(2, v), 0, ValueError)])
def test_sizes_are_brought_into_one_form(function, value, wanted):
    if wanted is ValueError:
        with pytest.raises(ValueError):
            function(value)
    else:
        assert function(value) == wanted


def test_a_condition_that_is_known_leaves_no_node(tf):
    assert arguments.smart_cond(tf.constant(True), lambda: 1, lambda: 2) == 1
    assert arguments.smart_cond(False, lambda: 1, lambda: 2) == 2
    assert arguments.constant_value(tf.placeholder(tf.bool, [])) is None
    assert arguments.constant_value(tf.Variable(True)) is None
    with pytest.raises(ValueError, match="wrong type"):
        arguments.constant_value(tf.constant(1), tf.bool)
    with pytest.raises(ValueError):
        arguments.constant_value(None)


def test_partitioned_weights_join_their_collections_part_by_part(tf, run):
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        y = tf.contrib.layers.fully_connected(tf.ones([1, 4]), 3, variables_collections=["mine"], biases_initializer=None)
    assert [v.op.name for v in tf.get_collection("mine")] == [f"p/fully_connected/weights/part_{k}" for k in (0, 1)]
    value, parts = run([y, tf.get_collection("mine")])
    np.testing.assert_allclose(value[0], np.maximum(np.concatenate(parts).sum(0), 0), rtol=1e-6)


def test_gradients_are_clipped_by_a_norm_that_follows_them(tf, run):
    from jitgraph.contrib.layers.optimizing import adaptive_clipping_fn

    g = tf.constant([3.0, 4.0])
    clipped = adaptive_clipping_fn(std_factor=0.0, decay=0.5, static_max_norm=2.0)([(g, "v"), (None, "w")])
    assert clipped[1] == (None, "w")
    assert np.linalg.norm(run(clipped[0][0])) <= 2.0 + 1e-5


def test_a_recomputed_function_is_called_once_in_a_scope(tf):
    """The second call has variables of its own, which the recomputation does not find."""
    layer = tf.contrib.layers.recompute_grad(lambda x: tf.layers.dense(x, 2))
    x = tf.ones([2, 4])
    with tf.variable_scope("once", use_resource=True):
        once = layer(x)
    assert None not in tf.gradients(once, [x, *tf.trainable_variables("once")])
    with tf.variable_scope("twice", use_resource=True):
        twice = layer(x) + layer(x)
    with pytest.raises(ValueError, match="called twice in the same enclosing scope 'twice'"):
        tf.gradients(twice, x)


def test_parts_of_an_embedding_are_of_one_type(tf):
    ids = tf.SparseTensor([[0, 0]], tf.constant([1], tf.int64), [1, 1])
    parts = [np.ones((2, 3), np.float32), np.ones((2, 3), np.float64)]
    with pytest.raises(ValueError, match="must be of the same type"):
        tf.contrib.layers.safe_embedding_lookup_sparse(parts, ids)
    vectors = tf.contrib.layers.safe_embedding_lookup_sparse(parts, ids, tf.SparseTensor([[0, 0]], [2.0], [1, 1]))
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(vectors), [[1, 1, 1]])
