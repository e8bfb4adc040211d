"""Optimizers: whole trajectories as TensorFlow computed them (data/optimizers.npz), nodes, slots, arguments."""
from pathlib import Path

import numpy as np
import pytest

TRACES = np.load(Path(__file__).parent / "data" / "optimizers.npz")


def optimizers(tf, step):
    return {
        "sgd": lambda: tf.train.GradientDescentOptimizer(np.float32(0.1)),
        "momentum": lambda: tf.train.MomentumOptimizer(0.05, 0.9),
        "nesterov": lambda: tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
        "adagrad": lambda: tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.1),
        "adadelta": lambda: tf.train.AdadeltaOptimizer(1.0, rho=0.95, epsilon=1e-6),
        "rmsprop": lambda: tf.train.RMSPropOptimizer(0.01, decay=0.9, momentum=0.5, epsilon=1e-10),
        "rmsprop_centered": lambda: tf.train.RMSPropOptimizer(0.01, decay=0.9, epsilon=1e-8, centered=True),
        "adam": lambda: tf.train.AdamOptimizer(0.01),
        "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001, l2_regularization_strength=0.01),
        "ftrl_shrink": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001,
                                                      l2_regularization_strength=0.01,
                                                      l2_shrinkage_regularization_strength=0.02),
        "adagrad_da": lambda: tf.train.AdagradDAOptimizer(0.1, step, l1_regularization_strength=0.001,
                                                          l2_regularization_strength=0.01),
    }


def build(tf, model, x, y, weights):
    """The loss of one of the two models: a perceptron, or an embedding with repeated ids (sparse gradients)."""
    if model.startswith("mlp"):
        hidden = tf.tanh(tf.matmul(x, weights["W1"]) + weights["b1"])
        logits = tf.matmul(hidden, weights["W2"]) + weights["b2"]
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    rows = tf.reshape(tf.nn.embedding_lookup(weights["E"], x), [-1, 12])
    return tf.reduce_mean(tf.square(tf.matmul(rows, weights["W"]) - y))


@pytest.mark.parametrize("model", ["mlp_float64", "embed_float64"])
@pytest.mark.parametrize("name", ["sgd", "momentum", "nesterov", "adagrad", "adadelta", "rmsprop", "rmsprop_centered",
                                  "adam", "ftrl", "ftrl_shrink", "adagrad_da"])
@pytest.mark.parametrize("use_resource", [False, True])
def test_ten_steps_are_those_of_tensorflow(tf, model, name, use_resource):
    data = {key.rpartition("/")[2]: TRACES[key] for key in TRACES.files if key.startswith(model + "/")
            and key.count("/") == 1}
    start = {key.split("/")[2]: TRACES[key] for key in TRACES.files if key.startswith(model + "/init/")}
    weights = {key: tf.Variable(value, name=key, use_resource=use_resource) for key, value in start.items()}
    x = tf.placeholder(data["x"].dtype, [None, *data["x"].shape[1:]])
    y = tf.placeholder(data["y"].dtype, [None, *data["y"].shape[1:]])
    step = tf.train.create_global_step()
    loss = build(tf, model, x, y, weights)
    train = optimizers(tf, step)[name]().minimize(loss, global_step=step)
    size = len(data["x"]) // 4
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = []
        for k in range(10):
            rows = slice(k % 4 * size, k % 4 * size + size)
            losses.append(session.run([loss, train], {x: data["x"][rows], y: data["y"][rows]})[0])
        np.testing.assert_allclose(losses, TRACES[f"{model}/{name}/loss"], rtol=1e-10)
        for key, variable in weights.items():
            np.testing.assert_allclose(session.run(variable), TRACES[f"{model}/{name}/step10/{key}"], rtol=1e-9,
                                       atol=1e-12)
        assert tf.train.global_step(session, step) == 10


def test_a_rate_that_is_a_number_is_not_rounded_for_rows_of_a_resource_variable(tf):
    """As in TensorFlow: the rate of a reference variable is a float32 tensor, cast to the dtype of the variable."""
    table = tf.Variable(np.ones([2, 1]), use_resource=True), tf.Variable(np.ones([2, 1]), use_resource=False)
    loss = sum(tf.reduce_sum(tf.nn.embedding_lookup(one, [0, 0])) for one in table)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert [session.run(one)[0, 0] for one in table] == [0.8, 0.7999999970197678]


def test_the_nodes_of_a_step_are_those_of_tensorflow(tf):
    with tf.name_scope("layer"):
        w = tf.Variable([1.0], name="w")
    tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(w * w))
    names = [op.name for op in tf.get_default_graph().get_operations()]
    after = names[names.index("beta1_power/initial_value"):]
    assert after == [
        "beta1_power/initial_value", "beta1_power", "beta1_power/Assign", "beta1_power/read",
        "beta2_power/initial_value", "beta2_power", "beta2_power/Assign", "beta2_power/read",
        "layer/w/Adam/Initializer/zeros", "layer/w/Adam", "layer/w/Adam/Assign", "layer/w/Adam/read",
        "layer/w/Adam_1/Initializer/zeros", "layer/w/Adam_1", "layer/w/Adam_1/Assign", "layer/w/Adam_1/read",
        "Adam/learning_rate", "Adam/beta1", "Adam/beta2", "Adam/epsilon", "Adam/update_layer/w/ApplyAdam", "Adam/mul",
        "Adam/Assign", "Adam/mul_1", "Adam/Assign_1", "Adam"]


def test_a_constraint_is_applied_after_the_update(tf):
    w = tf.Variable([3.0, -4.0], constraint=lambda v: tf.clip_by_value(v, -1.0, 1.0))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w * w))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(w).tolist() == [1.0, -1.0]


def test_slots_and_variables(tf):
    w = tf.Variable([1.0], name="w")
    opt = tf.train.AdamOptimizer()
    assert opt.get_slot(w, "m") is None and opt.get_slot_names() == []
    opt.minimize(tf.reduce_sum(w * w))
    assert opt.get_slot_names() == ["m", "v"]
    assert [v.op.name for v in opt.variables()] == ["beta1_power", "beta2_power", "w/Adam", "w/Adam_1"]
    assert opt.get_slot(w, "m").shape.as_list() == [1]


@pytest.mark.parametrize("make", [
    lambda tf: tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.0),
    lambda tf: tf.train.FtrlOptimizer(0.1, learning_rate_power=0.5),
    lambda tf: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=-1.0),
    lambda tf: tf.train.ProximalAdagradOptimizer(0.1, initial_accumulator_value=-1.0),
    lambda tf: tf.train.GradientDescentOptimizer(0.1, name=""),
])
def test_bad_hyperparameters(tf, make):
    with pytest.raises(ValueError):
        make(tf)


def test_variables_in_any_structure(tf):
    v = {name: tf.Variable(1.0) for name in "ab"}
    loss, optimizer = v["a"] * v["b"], tf.train.GradientDescentOptimizer(0.1)
    for var_list in (v.values(), v, [v["a"], (v["b"],)]):
        assert [variable for _, variable in optimizer.compute_gradients(loss, var_list)] == [v["a"], v["b"]]


def test_bad_calls(tf):
    w = tf.Variable([1.0])
    opt = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="No variables"):
        opt.apply_gradients([])
    with pytest.raises(ValueError, match="No gradients provided"):
        opt.apply_gradients([(None, w)])
    with pytest.raises(ValueError, match="gate_gradients"):
        opt.compute_gradients(tf.reduce_sum(w), gate_gradients=7)
    with pytest.raises(ValueError, match="Invalid type"):
        opt.compute_gradients(tf.constant(1))
    with pytest.raises(TypeError, match="not a variable"):
        opt.compute_gradients(tf.reduce_sum(w), var_list=["w"])
    tf.reset_default_graph()
    with pytest.raises(ValueError, match="No variables to optimize"):
        opt.minimize(tf.constant(1.0))


def test_rows_that_are_named_twice_in_a_raw_sparse_step(tf):
    from jitgraph import raw_ops

    w, slot = tf.Variable([[1.0], [2.0]]), tf.Variable([[0.0], [0.0]])
    step = raw_ops.SparseApplyMomentum(w, slot, 0.1, [[1.0], [1.0]], [1, 1], 0.5)
    bad = raw_ops.SparseApplyMomentum(w, slot, 0.1, [[1.0]], [2], 0.5)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step.op)
        np.testing.assert_allclose(session.run(w), [[1.0], [2.0 - 0.1 * 1.0 - 0.1 * 1.5]])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"is not in \[0, 2\)"):
            session.run(bad.op)


def test_hyperparameters_may_be_functions(tf):
    w = tf.Variable(1.0)
    train = tf.train.MomentumOptimizer(lambda: 0.5, lambda: 0.0).minimize(w * 1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(w) == 0.5


@pytest.mark.parametrize("jit", ["off", "always"])
def test_ftrl_takes_square_roots(tf, jit):
    """Of the difference between two powers much cancels; w is -linear / quadratic after one step (in float64)."""
    slope = np.float32(-0.02307525)
    w = tf.Variable([-2.5])
    step = tf.train.FtrlOptimizer(0.125).minimize(slope * w, var_list=[w])
    with tf.Session(jit=jit) as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        root, before = np.sqrt(np.float64([np.float32(0.1) + np.square(np.float64(slope)), np.float32(0.1)]))
        linear = slope + (root - before) / 0.125 * 2.5
        np.testing.assert_allclose(session.run(w), [-linear / (root / 0.125)], rtol=3e-5)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("centered, expected", [(False, [0.387154, 1.131669]), (True, [0.36832294, 1.0784608])])
def test_a_variable_of_unknown_shape_has_a_mean_of_squares(tf, resource, centered, expected):
    """The values are those of TensorFlow 1.15.5."""
    start = tf.placeholder_with_default(np.float32([1.0, 2.0]), None)
    v = tf.Variable(start, validate_shape=False, use_resource=resource)
    step = tf.train.RMSPropOptimizer(0.1, momentum=0.5, centered=centered).minimize(tf.reduce_sum(v * v))
    assert all(slot.shape.ndims is None for slot in tf.global_variables())
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(tf.variables_initializer(tf.global_variables()[1:]))
        for _ in range(3):
            session.run(step)
        np.testing.assert_allclose(session.run(v), expected, rtol=1e-6)


def test_a_class_of_the_user_takes_the_arguments_of_gradients_by_name(tf):
    """As Spinning Up's and Horovod's optimizers do, whose method has the parameters (loss, var_list, **kwargs)."""
    class Halved(tf.train.GradientDescentOptimizer):
        def compute_gradients(self, loss, var_list, **options):
            assert sorted(options) == ["aggregation_method", "colocate_gradients_with_ops", "gate_gradients", "grad_loss"]
            return [(grad / 2, var) for grad, var in super().compute_gradients(loss, var_list, **options)]

    weight = tf.Variable(3.0)
    step = Halved(0.5).minimize(weight * weight, var_list=[weight])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(weight) == 1.5


def test_the_base_of_optimizers(tf):
    """GPflow takes those whose base is ``tf.train.Optimizer``."""
    kinds = [getattr(tf.train, name) for name in dir(tf.train) if name.endswith("Optimizer") and name != "Optimizer"]
    assert len(kinds) == 11 and all(kind.__base__ is tf.train.Optimizer for kind in kinds)
