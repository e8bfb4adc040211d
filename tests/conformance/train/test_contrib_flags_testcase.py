"""tf.contrib, tf.flags / tf.app, tf.test, tf.logging."""
import sys

import numpy as np
import pytest


@pytest.mark.tf1_only
def test_hparams(tf):
    h = tf.contrib.training.HParams(rate=0.1, layers=3, name="a", sizes=[1, 2])
    h.parse("rate=0.5,layers=4,sizes=[7,8,9]")
    assert (h.rate, h.layers, h.name, h.sizes) == (0.5, 4, "a", [7, 8, 9])
    h.add_hparam("extra", True)
    assert h.values() == {"rate": 0.5, "layers": 4, "name": "a", "sizes": [7, 8, 9], "extra": True}
    with pytest.raises(ValueError):
        h.parse("unknown=1")
    with pytest.raises(ValueError):
        h.parse("layers=x")
    h.set_hparam("layers", 9)
    assert h.layers == 9 and "rate" in h


@pytest.mark.tf1_only
def test_contrib_layers_flatten_and_fully_connected(tf, rng):
    x = rng.randn(2, 3, 2).astype(np.float32)
    flat = tf.contrib.layers.flatten(tf.constant(x))
    assert flat.shape.as_list() == [2, 6]
    y = tf.contrib.layers.fully_connected(flat, 4)  # default activation: relu
    assert [v.op.name for v in tf.trainable_variables()] == ["fully_connected/weights", "fully_connected/biases"]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out, w, b = sess.run([y] + tf.trainable_variables())
    np.testing.assert_allclose(out, np.maximum(x.reshape(2, 6).dot(w) + b, 0), rtol=1e-4, atol=1e-5)


@pytest.mark.tf1_only
def test_xavier_initializer(tf):
    v = tf.get_variable("v", [60, 40], initializer=tf.contrib.layers.xavier_initializer(seed=1))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        got = sess.run(v)
    limit = np.sqrt(6.0 / 100)
    assert np.abs(got).max() <= limit and got.std() == pytest.approx(limit / np.sqrt(3), rel=0.1)


@pytest.mark.tf1_only
def test_get_variables_by_name(tf):
    with tf.variable_scope("a"):
        one = tf.get_variable("w", [1])
    two = tf.get_variable("w", [1])
    tf.get_variable("w2", [1])
    assert tf.contrib.framework.get_variables_by_name("w") == [one, two]


@pytest.mark.tf1_only
def test_graph_editor_get_tensors(tf):
    a = tf.constant(1, name="a")
    b = tf.add(a, a, name="b")
    tf.no_op()
    assert tf.contrib.graph_editor.get_tensors(tf.get_default_graph()) == [a, b]


@pytest.mark.tf1_only
def test_slim_arg_scope(tf, submodule):
    slim = submodule("contrib.slim")
    x = tf.ones([1, 3])
    with slim.arg_scope([slim.fully_connected], activation_fn=None, biases_initializer=None,
                        weights_initializer=tf.ones_initializer()):
        a = slim.fully_connected(x, 2, scope="a")
        b = slim.fully_connected(-x, 2, activation_fn=tf.nn.relu, scope="b")
    assert [v.op.name for v in slim.get_model_variables()] == ["a/weights", "b/weights"]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        va, vb = sess.run([a, b])
    assert va.tolist() == [[3.0, 3.0]] and vb.tolist() == [[0.0, 0.0]]


@pytest.mark.tf1_only
def test_experiment_and_learn_runner(tf, tmpdir, submodule):
    learn = tf.contrib.learn

    def model_fn(features, labels, mode, params):
        w = tf.get_variable("w", initializer=0.0)
        loss = tf.reduce_mean(tf.square(w * features - labels))
        train = tf.train.GradientDescentOptimizer(params.rate).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions=w * features, loss=loss, train_op=train)

    def input_fn():
        return tf.constant([1.0, 2.0]), tf.constant([2.0, 4.0])

    def experiment_fn(run_config, hparams):
        est = tf.estimator.Estimator(model_fn, config=run_config, params=hparams)
        return learn.Experiment(estimator=est, train_input_fn=input_fn, eval_input_fn=input_fn,
                                train_steps=40, eval_steps=1)
    config = learn.RunConfig(model_dir=str(tmpdir))
    hparams = tf.contrib.training.HParams(rate=0.1)
    tf.contrib.learn.learn_runner.run(experiment_fn=experiment_fn, run_config=config,
                                      schedule="train_and_evaluate", hparams=hparams)
    assert tf.train.load_variable(str(tmpdir), "w") == pytest.approx(2.0, abs=1e-3)
    assert tf.train.load_variable(str(tmpdir), "global_step") == 40


def test_flags_define_and_parse(tf):
    flags = tf.flags
    name = "conf_out_dir_%d" % len(list(tf.flags.FLAGS))  # a flag can be defined once
    flags.DEFINE_string(name, "", "where to")
    flags.DEFINE_integer(name + "_n", 3, "how many")
    flags.DEFINE_boolean(name + "_b", False, "whether")
    flags.DEFINE_float(name + "_f", 0.5, "how much")
    F = flags.FLAGS
    F(["prog", "--%s=/x" % name, "--%s_n=5" % name, "--%s_b" % name, "rest"])
    assert getattr(F, name) == "/x" and getattr(F, name + "_n") == 5
    assert getattr(F, name + "_b") is True and getattr(F, name + "_f") == 0.5


def test_app_run_calls_main_and_exits(tf):
    seen = []
    with pytest.raises(SystemExit) as stop:
        tf.app.run(main=lambda argv: seen.append(list(argv)), argv=["prog", "a", "b"])
    assert seen == [["prog", "a", "b"]] and not stop.value.code


def test_test_case_assertions(tf):
    class Case(tf.test.TestCase):
        def runTest(self):
            pass
    case = Case()
    case.assertAllClose([1.0, 2.0], np.array([1.0, 2.0 + 1e-8]))
    case.assertAllEqual([[1, 2]], np.array([[1, 2]]))
    case.assertNear(1.0, 1.01, 0.1)
    case.assertShapeEqual(np.zeros((2, 3)), tf.zeros([2, 3]))
    with pytest.raises(AssertionError):
        case.assertAllClose([1.0], [1.1])
    with pytest.raises(AssertionError):
        case.assertAllEqual([1], [2])
    with case.assertRaisesOpError("bad"):
        with tf.Session() as sess:
            sess.run(tf.check_numerics(float("nan"), "bad"))


def test_test_case_runs_under_unittest(tf):
    import unittest

    class Case(tf.test.TestCase):
        def testSquare(self):
            with self.test_session():
                self.assertAllEqual(tf.square([1, 2]).eval(), [1, 4])

        def testTempDir(self):
            import os
            assert os.path.isdir(self.get_temp_dir())

        def testBroken(self):
            self.assertAllEqual([1], [2])
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    # TestCase adds a test of its own (test_session), which is skipped
    failed = [str(t).split()[0] for t, _ in result.failures]
    assert failed == ["testBroken"] and not result.errors


def test_logging_functions_exist(tf):
    old = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.ERROR)
    assert tf.logging.get_verbosity() == tf.logging.ERROR
    for level in (tf.logging.debug, tf.logging.info, tf.logging.warn, tf.logging.error):
        level("message %d", 3)
    assert tf.logging.DEBUG < tf.logging.INFO < tf.logging.WARN < tf.logging.ERROR < tf.logging.FATAL
    tf.logging.set_verbosity(old)


def test_gradient_checker_returns_both_jacobians(tf):
    x = tf.constant([1.0, 2.0])
    y = x * x
    with tf.Session():
        theory, numeric = tf.test.compute_gradient(x, [2], y, [2], x_init_value=np.array([1.0, 2.0], np.float32))
    np.testing.assert_allclose(theory, [[2.0, 0.0], [0.0, 4.0]])
    np.testing.assert_allclose(numeric, theory, atol=1e-2)
