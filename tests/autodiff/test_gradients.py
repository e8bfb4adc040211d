"""tf.gradients: names, sums of contributions, what stops it, errors; custom gradients and hessians."""
import copy

import numpy as np
import pytest


def _types(tf):
    return [op.type for op in tf.get_default_graph().get_operations()]


def test_names_and_structure_of_a_small_gradient(tf):
    x, w = tf.placeholder(tf.float32, [2, 3], "x"), tf.placeholder(tf.float32, [3], "w")
    tf.gradients(tf.multiply(x, w, name="z"), [x, w])
    made = {op.name: op.type for op in tf.get_default_graph().get_operations() if op.name.startswith("gradients/")}
    assert made == {
        "gradients/Shape": "Const", "gradients/grad_ys_0": "Const", "gradients/Fill": "Fill",
        "gradients/z_grad/Mul": "Mul", "gradients/z_grad/Mul_1": "Mul",
        "gradients/z_grad/Sum/reduction_indices": "Const", "gradients/z_grad/Sum": "Sum",
        "gradients/z_grad/Reshape/shape": "Const", "gradients/z_grad/Reshape": "Reshape"}


def test_sizes_unknown_while_the_graph_is_built(tf, run):
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    grads = tf.gradients(x * y, [x, y])
    a, b = np.ones((2, 3), np.float32), np.full((1, 3), 2, np.float32)
    of_x, of_y = run(grads, {x: a, y: b})
    assert of_x.tolist() == [[2.0] * 3] * 2 and of_y.tolist() == [[2.0] * 3]


def test_a_bias_beside_an_unknown_batch_needs_no_runtime_shapes(tf):
    x, b = tf.placeholder(tf.float32, [None, 3]), tf.constant([1.0, 2.0, 3.0])
    before = len(_types(tf))
    grad = tf.gradients(x + b, b, grad_ys=x)[0]
    assert grad.shape.as_list() == [3]
    assert "BroadcastGradientArgs" not in _types(tf)[before:]


@pytest.mark.parametrize("method", ["ADD_N", "EXPERIMENTAL_TREE", "EXPERIMENTAL_ACCUMULATE_N"])
def test_contributions_add_up(tf, run, method):
    x = tf.constant([1.0, 2.0])
    grad = tf.gradients(x * x + x * 3.0 + x, x, aggregation_method=getattr(tf.AggregationMethod, method))[0]
    assert run(grad).tolist() == [6.0, 8.0]


def test_rows_read_twice_stay_slices_and_mix_with_dense_gradients(tf, run):
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    rows = [tf.gather(x, [0, 1]), 2.0 * tf.gather(x, [1, 2])]
    sparse, dense = tf.gradients(rows, x)[0], tf.gradients([*rows, x], x)[0]
    assert isinstance(sparse, tf.IndexedSlices) and isinstance(dense, tf.Tensor)
    a, b = run([tf.convert_to_tensor(sparse), dense])
    assert a.tolist() == [1, 3, 2, 0] and b.tolist() == [2, 4, 3, 1]


def test_unconnected_xs(tf, run):
    x, z = tf.constant([1.0, 2.0]), tf.constant([[3.0]])
    assert tf.gradients(x, z) == [None]
    assert run(tf.gradients(x, z, unconnected_gradients=tf.UnconnectedGradients.ZERO)[0]).tolist() == [[0.0]]
    with pytest.raises(ValueError, match="unconnected_gradients"):
        tf.gradients(x, z, unconnected_gradients="nonsense")


@pytest.mark.parametrize("results, wanted", [
    (lambda tf, x: tf.split(x, 3), [[1.0], [0.0], [0.0]]),
    (lambda tf, x: tf.unstack(x), [1.0, 0.0, 0.0]),
    (lambda tf, x: tf.dynamic_partition(x, [0, 1, 0], 2), [[1.0, 1.0], [0.0]]),
    (lambda tf, x: tf.identity_n([x, x * 2.0]), [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])])
def test_a_result_beside_one_that_has_a_gradient_has_zeros(tf, run, results, wanted):
    """As in TensorFlow: they are what the gradient function is given for it."""
    x = tf.placeholder(tf.float32, [3]) * 2.0
    all_results = results(tf, x)
    found = tf.gradients(all_results[0], [x, *all_results])
    for value, one in zip(run(found[1:], {x: np.ones(3)}), wanted, strict=True):
        np.testing.assert_array_equal(value, one)
    assert tf.gradients(all_results[0], all_results[1:])[0] is None          # nothing passes the operation


def test_a_chain_of_thousands_does_not_recurse(tf, run):
    x = tf.constant(1.0)
    y = x
    for _ in range(5000):
        y = y + x
    assert run(tf.gradients(y, x)[0]) == 5001.0


def test_errors(tf):
    x = tf.placeholder(tf.float32, [2])
    with pytest.raises(TypeError, match="must set grad_ys"):
        tf.gradients(tf.complex(x, x), x)
    with pytest.raises(ValueError, match="Passed 1 grad_ys for 2 ys"):
        tf.gradients([x, x], x, grad_ys=[x])
    with pytest.raises(TypeError, match="must be numeric"):
        tf.gradients(x > 0.0, x)
    with pytest.raises(TypeError, match="must be numeric"):
        tf.gradients(x > 0.0, x, grad_ys=x > 0.0)
    with pytest.raises(TypeError, match="must be real or integer"):
        tf.gradients(x, x, grad_ys=x > 0.0)
    with pytest.raises(LookupError, match="No gradient defined"):
        tf.gradients(_without_gradient(tf, x), x)


def _without_gradient(tf, x):
    """An op whose gradient is taken away for the test."""
    y = tf.exp(x)
    y.op.opdef = copy.copy(y.op.opdef)
    y.op.opdef.grad = None
    return y


def test_a_gradient_function_must_give_one_gradient_per_input(tf):
    tf.RegisterGradient("OneTooFew")(lambda op, grad: [grad])
    x = tf.constant(1.0)
    with tf.get_default_graph().gradient_override_map({"Mul": "OneTooFew"}):
        y = x * 2.0
    with pytest.raises(ValueError, match="Num gradients 1 generated for op mul"):
        tf.gradients(y, x)


def test_custom_gradient(tf, run):
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)
        return tf.log(1.0 + e), lambda dy: dy * (1.0 - 1.0 / (1.0 + e))

    x = tf.constant([0.0, 100.0])
    assert run(tf.gradients(log1pexp(x), x)[0]).tolist() == [0.5, 1.0]


def test_custom_gradient_of_several_results_and_arguments(tf, run):
    @tf.custom_gradient
    def f(x, y):
        return {"sum": x + y, "product": x * y}, lambda of_product, of_sum: (10.0 * of_sum, of_product)

    x, y = tf.constant(2.0), tf.constant(3.0)
    out = f(x, y)
    assert run([out["sum"], out["product"]]) == [5.0, 6.0]
    assert run(tf.gradients([out["sum"], out["product"]], [x, y])) == [10.0, 1.0]


def test_gradients_pass_through(tf, run):
    x = tf.constant([0.4, 1.6])
    y = tf.grad_pass_through(tf.round)(x)
    values, grad = run([y, tf.gradients(y, x)[0]])
    assert values.tolist() == [0.0, 2.0] and grad.tolist() == [1.0, 1.0]


def test_hessian_of_a_matrix_argument(tf, run):
    x = tf.constant([[1.0, 2.0]])
    hessian = tf.hessians(tf.reduce_prod(x), x)[0]
    assert hessian.shape.as_list() == [1, 2, 1, 2]
    assert run(hessian).reshape(2, 2).tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("function, x, wanted", [
    ("reduce_max", [[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]], [[0, 0.5, 0.5], [1 / 3] * 3]),
    ("reduce_prod", [[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [2.0, 3.0, 4.0]], [[0, 2, 0], [0, 0, 0], [12, 8, 6]]),
    ("norm", [[3.0, 4.0]], [[0.6, 0.8]]),
])
def test_gradients_at_ties_and_zeros_are_tensorflows(tf, run, function, x, wanted):
    x = tf.constant(x)
    np.testing.assert_allclose(run(tf.gradients(getattr(tf, function)(x, axis=1), x)[0]), wanted, rtol=1e-6)


def test_no_gradient_of_saturation_arrives_at_a_channel_that_is_zero(tf, run):
    """The derivative is -1 / value there; TensorFlow gives 0."""
    x = tf.constant([[[[0.25, 0.0, 0.5], [0.0, 0.0, 1.0], [0.5, 0.25, 1.0]]]])
    weights = tf.constant([[[[0.0, 1.0, 0.0]] * 3]])
    wanted = [[0, 0, 0], [0, 0, 0], [0, -1, 0.25]]
    np.testing.assert_allclose(run(tf.gradients(tf.image.rgb_to_hsv(x), x, weights)[0])[0, 0], wanted, rtol=1e-6)


def test_no_gradient_comes_out_of_a_root_at_zero_where_none_goes_in(tf, run):
    x = tf.constant([0.0, 4.0])
    assert run(tf.gradients(tf.sqrt(x), x, grad_ys=[tf.constant([0.0, 1.0])])[0]).tolist() == [0.0, 0.25]


@pytest.mark.parametrize("equation, shapes", [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("bij,bjk", [(2, 3, 4), (2, 4, 5)]), ("ij->ji", [(2, 3)]), ("ij,ij->", [(2, 3)] * 2),
    ("i,j->ij", [(2,), (3,)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]), ("...ij,...jk->...ik", [(2, 2, 3), (2, 3, 4)]),
])
@pytest.mark.parametrize("known", [True, False])
def test_einsum(tf, run, rng, equation, shapes, known):
    arrays = [rng.randn(*shape).astype(np.float32) for shape in shapes]
    inputs = [tf.placeholder(tf.float32, shape if known else [None] * len(shape)) for shape in shapes]
    got = run(tf.einsum(equation, *inputs), dict(zip(inputs, arrays)))
    np.testing.assert_allclose(got, np.einsum(equation, *arrays), rtol=1e-5, atol=1e-5)


def test_a_sparse_gradient_is_made_whole_where_a_broadcast_sums_it(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    summed = x + tf.reduce_sum(x)
    gradient, = tf.gradients(tf.reduce_sum(tf.gather(summed, [0, 0])), x)
    with tf.Session() as session:
        assert session.run(tf.convert_to_tensor(gradient)).tolist() == [[6.0, 6.0], [4.0, 4.0]]


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
@pytest.mark.parametrize("rank", ["known", "unknown"])
def test_gather_along_an_axis_that_only_the_run_knows(tf, rng, jit, rank):
    x = tf.placeholder(tf.float64, [2, 3, 4] if rank == "known" else None)
    axis = tf.placeholder(tf.int32, [])
    y = tf.gather(x, [[1, 0], [1, 1]], axis=axis)
    weights = tf.placeholder(tf.float64, None)
    slope, = tf.gradients(y * weights, x)
    with tf.Session(jit=jit) as session:
        for k in (0, 1, 2, -1, 1):
            data = rng.randn(2, 3, 4)
            w = rng.randn(*np.take(data, [[1, 0], [1, 1]], k).shape)
            wanted = np.zeros_like(data)
            moved, front = np.moveaxis(wanted, k, 0), np.moveaxis(w, [k % 3, k % 3 + 1], [0, 1])
            np.add.at(moved, [1, 0, 1, 1], front.reshape(4, *front.shape[2:]))
            np.testing.assert_allclose(session.run(slope, {x: data, axis: k, weights: w}), wanted)


@pytest.mark.parametrize("jit", ["off", "always"])
def test_second_gradients_of_batch_normalisation_of_unknown_rank(tf, rng, jit):
    slopes, images = [], rng.randn(2, 3, 3, 2)
    for shape in (None, [2, 3, 3, 2]):
        x, scale = tf.placeholder(tf.float32, shape), tf.constant([1.5, 0.5])
        y = tf.nn.fused_batch_norm(x, scale, tf.constant([0.0, 1.0]))[0]
        first, = tf.gradients(y * y, x)
        with tf.Session(jit=jit) as session:
            slopes.append(session.run(tf.gradients(first * first, [x, scale]), {x: images}))
    for unknown, known in zip(*slopes):
        np.testing.assert_allclose(unknown, known, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("function", [
    lambda tf, x, y: tf.add(x, y), lambda tf, x, y: tf.subtract(x, y), lambda tf, x, y: tf.floormod(x, y),
    lambda tf, x, y: tf.reduce_sum(x, tf.constant([], tf.int32)) + y * 0, lambda tf, x, y: tf.tensor_scatter_add(x, [[0]], y),
])
def test_a_gradient_that_is_fed_is_that_of_one_tensor_only(tf, function):
    """Where the gradient arrives as it is, TensorFlow makes a tensor of its own, which is fed without the other."""
    x, y = tf.placeholder(tf.float64, [1, None]), tf.placeholder(tf.float64, [1, 1])
    arriving = tf.ones([1, 1], tf.float64) * 2
    of_x, of_y = tf.gradients(function(tf, x, y), [x, y], grad_ys=[arriving])
    with tf.Session() as session:
        given = {x: [[5.0]], y: [[3.0]]}
        plain = session.run(of_y, given)
        for _ in range(2):
            assert session.run(of_y, {**given, of_x: [[4.0]]}) == plain


@pytest.mark.parametrize("name, wanted", [("min", 1), ("max", 1), ("sum", 1), ("prod", 1), ("mean", 1), ("sqrt_n", 1)])
def test_unsorted_segments_of_unknown_rank(tf, name, wanted):
    data, ids = tf.placeholder(tf.float64, None), tf.placeholder(tf.int64, None)
    grad, = tf.gradients(getattr(tf, f"unsorted_segment_{name}")(data, ids, 3), data)
    with tf.Session() as session:
        for _ in range(2):
            found = session.run(grad, {data: np.arange(14.0).reshape(2, 7, 1) + 1, ids: [1, -1]})
            np.testing.assert_array_equal(found.ravel(), [wanted] * 7 + [0] * 7)


def test_the_gradient_of_a_product_over_no_axis_depends_on_what_it_is_multiplied_with(tf, run):
    """As in TensorFlow: zeros, not None."""
    x = tf.constant([2.0, 3.0])
    y = tf.reduce_prod(x, [], keepdims=True)
    z = tf.square(y)
    slope = tf.gradients(z, x)[0]
    curve = tf.gradients(slope, x, stop_gradients=[z])[0]
    np.testing.assert_array_equal(run(tf.gradients(curve, y)[0]), [0.0, 0.0])


def test_a_custom_gradient_of_nested_inputs_and_any_keywords(tf):
    """As tf_slim's recomputed blocks have it: `variables` among **kwargs, and gradients in the structure of their own."""
    with tf.variable_scope("s", use_resource=True):
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())

    @tf.custom_gradient
    def scaled(x, y):
        def grad(dy, **kwargs):
            assert [v.name for v in kwargs["variables"]] == ["s/w:0"]
            return [(dy * 2.0, [dy * 3.0])], [dy * 4.0]

        return x * w + y, grad

    x, y = tf.constant(1.0), tf.constant(2.0)
    found = tf.gradients(scaled(x, y), [x, y, w])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(found) == [2.0, 3.0, 4.0]


def test_zeros_of_what_is_not_connected_stand_outside_of_the_gradients(tf):
    x, hidden = tf.constant([1.0, 2.0]), tf.placeholder(tf.float32, [None])
    v, r = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0], use_resource=True)
    with tf.name_scope("o"):
        found = tf.gradients(tf.constant(1.0), [x, v, r, hidden], unconnected_gradients="zero")
    assert [(one.op.name, one.op.type) for one in found] == [
        ("o/zeros_like", "Const"), ("o/zeros_like_1", "Const"), ("o/zeros", found[2].op.type), ("o/zeros_like_2", "ZerosLike")]
    assert [one.shape.as_list() for one in found] == [[2], [2], [2], [None]]


def test_custom_gradients_take_arguments_by_position(tf):
    twice = tf.custom_gradient(lambda x: (x * 2.0, lambda dy: dy * 5.0))
    with pytest.raises(ValueError, match="keywords arguments"):
        twice(x=tf.constant(1.0))
