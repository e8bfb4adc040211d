"""Experiments: what the function that says whether to go on is asked, and what an estimator is trained with."""
import pytest


class Noting:
    """An estimator that notes how it is trained, and whose evaluations find `metrics`."""

    def __init__(self, tf, folder, metrics):
        self.trained = []
        self.itself = tf.estimator.Estimator(lambda features, labels, mode: None, str(folder))
        self.itself.train = lambda **named: self.trained.append(named)
        self.itself.evaluate = lambda **named: metrics


@pytest.mark.parametrize("metrics", [{"loss": 1.0}, None])
def test_the_checkpoint_is_told_with_its_metrics_only(tf, tmp_path, metrics):
    v = tf.get_variable("v", [])
    with tf.Session() as session:
        session.run(v.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    estimator, asked = Noting(tf, tmp_path, metrics), []

    def goes_on(found, checkpoint_path):
        asked.append((found, checkpoint_path))
        return len(asked) < 3

    experiment = tf.contrib.learn.Experiment(estimator.itself, None, None, eval_delay_secs=0, continuous_eval_throttle_secs=0)
    experiment.continuous_eval(evaluate_checkpoint_only_once=False, continuous_eval_predicate_fn=goes_on)
    later = (metrics, path if metrics else None)
    assert asked == [(None, None), later, later]


def test_steps_are_said_by_name_whether_there_are_or_not(tf, tmp_path):
    estimator = Noting(tf, tmp_path, {"loss": 1.0})
    experiment = tf.contrib.learn.Experiment(estimator.itself, "input", "input", train_steps=7, eval_delay_secs=0)
    experiment.train(delay_secs=0)
    experiment.test()
    assert [(call["steps"], call["max_steps"]) for call in estimator.trained] == [(None, 7), (1, None)]
