"""slim.learning.train and slim.evaluation: a folder is trained into, read again, and evaluated."""
import os

import numpy as np
import pytest


def model(tf, slim):
    x = tf.constant([[1.0], [2.0]])
    y = slim.fully_connected(x, 1, activation_fn=None, weights_initializer=tf.zeros_initializer(), scope="out")
    slim.losses.mean_squared_error(y, 2.0 * x)
    return y, slim.learning.create_train_op(slim.losses.get_total_loss(), tf.train.GradientDescentOptimizer(0.1))


@pytest.fixture
def slim(tf):
    return tf.contrib.slim


def test_training_stops_saves_and_goes_on_from_the_checkpoint(tf, slim, tmp_path):
    _, train_op = model(tf, slim)
    first = slim.learning.train(train_op, str(tmp_path), number_of_steps=3, log_every_n_steps=2)
    assert os.path.basename(tf.train.latest_checkpoint(str(tmp_path))) == "model.ckpt-3"
    tf.reset_default_graph()            # training finalizes its graph
    _, train_op = model(tf, slim)
    again = slim.learning.train(train_op, str(tmp_path), number_of_steps=20)
    assert again < first and tf.train.load_variable(str(tmp_path), "global_step") == 20
    tf.reset_default_graph()
    y, _ = model(tf, slim)
    total, update = tf.metrics.mean(y)
    value = slim.evaluation.evaluate_once("", tf.train.latest_checkpoint(str(tmp_path)), None, num_evals=2, eval_op=update,
                                          final_op=total)
    assert value == pytest.approx(3.0, abs=0.2)
    value = slim.evaluation.evaluation_loop("", str(tmp_path), None, eval_op=update, final_op=total,
                                            max_number_of_evaluations=1)
    assert value == pytest.approx(3.0, abs=0.2)


def test_an_evaluation_calls_hooks_and_ends_with_its_input(tf, slim, tmp_path):
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(2.0))
    number = tf.train.limit_epochs(tf.constant(1.0), 3)
    queue = tf.FIFOQueue(8, [tf.float32], [[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(number)]))
    total, update = tf.metrics.mean(w * queue.dequeue())
    tf.summary.scalar("total", total)
    kept = [w, tf.train.get_or_create_global_step()]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver(kept).save(session, str(tmp_path / "model"))

    class Seen(tf.train.SessionRunHook):
        runs = 0

        def after_run(self, run_context, run_values):
            self.runs += 1

    hook, logs = Seen(), tmp_path / "logs"
    value = slim.evaluation.evaluate_once("", path, str(logs), num_evals=5, eval_op=update, final_op=total, hooks=[hook],
                                          variables_to_restore=kept)
    assert (value, hook.runs) == (2.0, 3) and len(list(logs.iterdir())) == 1
    value = slim.evaluation.evaluation_loop("", str(tmp_path), str(logs), num_evals=2, eval_op=update, final_op=total,
                                            hooks=[hook], variables_to_restore=kept, max_number_of_evaluations=1)
    assert (value, hook.runs) == (2.0, 5)


def test_an_init_fn_sets_variables_and_an_input_at_its_end_stops(tf, slim):
    w = tf.get_variable("w", [])
    queue = tf.FIFOQueue(3, [tf.float32], [[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(tf.train.limit_epochs(tf.constant(1.0), 2))]))
    train_op = slim.learning.create_train_op(w * queue.dequeue(), tf.train.GradientDescentOptimizer(0.5))
    seen, assigned = [], w.assign(3.0)
    loss = slim.learning.train(train_op, None, init_fn=lambda session: session.run(assigned),
                               session_wrapper=lambda session: seen.append(session) or session)
    np.testing.assert_allclose(loss, 2.5)
    assert len(seen) == 1


@pytest.mark.parametrize("options, text", [
    ({"summary_op": None}, "summary_op because logdir=None"), ({"trace_every_n_steps": 1}, "trace_every_n_steps"),
    ({"sync_optimizer": 1}, "must be a tf.train.SyncReplicasOptimizer")])
def test_errors_say_what_cannot_be_given(tf, slim, options, text):
    with pytest.raises(ValueError, match=text):
        slim.learning.train(tf.constant(1.0), None, **options)


def test_variables_are_listed_with_their_sizes(tf, slim, capsys):
    v = tf.get_variable("v", [2, 3])
    assert slim.model_analyzer.analyze_vars([v], print_info=True) == (6, 24)
    assert "v:0 (float32_ref 2x3) [6, bytes: 24]" in capsys.readouterr().out


def test_a_trace_is_written_every_so_many_steps(tf, slim, tmp_path):
    _, train_op = model(tf, slim)
    slim.learning.train(train_op, str(tmp_path), number_of_steps=4, trace_every_n_steps=2)
    assert sorted(path.name for path in tmp_path.glob("tf_trace-*.json")) == ["tf_trace-1.json", "tf_trace-3.json"]
