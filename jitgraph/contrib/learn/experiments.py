"""``tf.contrib.learn.Experiment``: an estimator with what it is trained and evaluated on, and ``learn_runner``."""
from __future__ import annotations

import math
import os
import time
from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.learn.configured import RunConfig, TaskType
from jitgraph.contrib.learn.exported import ExportStrategy
from jitgraph.contrib.learn.fitted import Evaluable, Trainable
from jitgraph.contrib.learn.monitored import replace_monitors_with_hooks
from jitgraph.contrib.learn.ready_monitors import ValidationMonitor
from jitgraph.contrib.training.hyperparameters import HParams
from jitgraph.estimator.arguments import argument_names
from jitgraph.estimator.estimator import Estimator as CoreEstimator
from jitgraph.train.checkpoint_state import latest_checkpoint
from jitgraph.train.cluster.server import Server
from jitgraph.train.hooks.stopping import GlobalStepWaiterHook


class Experiment:
    """Training and evaluation of one estimator."""

    def __init__(self, estimator: Any, train_input_fn: Any, eval_input_fn: Any, eval_metrics: Any = None,
                 train_steps: int | None = None, eval_steps: int | None = 100, train_monitors: Any = None, eval_hooks: Any = None,
                 local_eval_frequency: Any = None, eval_delay_secs: float = 120, continuous_eval_throttle_secs: float = 60,
                 min_eval_frequency: int | None = None, delay_workers_by_global_step: bool = False,
                 export_strategies: Any = None, train_steps_per_iteration: int | None = None, checkpoint_and_export: bool = False,
                 saving_listeners: Any = None, check_interval_secs: float = 5):
        self._is_core = isinstance(estimator, CoreEstimator)
        if self._is_core and eval_metrics is not None:
            raise ValueError("`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use `eval_metric_ops` in "
                             "`tf.estimator.EstimatorSpec` instead.")
        if not self._is_core and not isinstance(estimator, Evaluable):
            raise ValueError("`estimator` must implement `tf.contrib.learn.Evaluable` or `tf.estimator.Estimator`.")
        if not self._is_core and not isinstance(estimator, Trainable):
            raise ValueError("`estimator` must implement `tf.contrib.learn.Trainable`or `tf.estimator.`Estimator`.")
        if not self._is_core and saving_listeners is not None:
            raise ValueError("`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`.")
        if train_steps_per_iteration is not None and not isinstance(train_steps_per_iteration, int):
            raise ValueError("`train_steps_per_iteration` must be an integer.")
        if checkpoint_and_export:
            raise NotImplementedError("jitgraph exports between checkpoints with tf.estimator.train_and_evaluate and its "
                                      "exporters: remove checkpoint_and_export, export_strategies export at the end")
        self.reset_export_strategies(export_strategies)
        self.estimator, self.eval_metrics = estimator, eval_metrics
        self.train_steps, self.eval_steps = train_steps, eval_steps
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._train_monitors, self._eval_hooks = list(train_monitors or []), list(eval_hooks or [])
        self._local_eval_frequency, self._eval_delay_secs = local_eval_frequency, eval_delay_secs
        self._throttle_secs, self._saving_listeners = continuous_eval_throttle_secs, saving_listeners
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._delay_workers_by_global_step = delay_workers_by_global_step
        self._steps_per_iteration, self._check_interval_secs = train_steps_per_iteration, check_interval_secs

    def reset_export_strategies(self, new_export_strategies: Any = None) -> tuple:
        """Sets the strategies that export the model at the end: one, or a list; returns those before.

        Raises ValueError for what is no ExportStrategy.
        """
        old = getattr(self, "_export_strategies", ())
        new = [new_export_strategies] if isinstance(new_export_strategies, ExportStrategy) else new_export_strategies or []
        if not all(isinstance(one, ExportStrategy) for one in new):
            raise ValueError("`export_strategies` must be an ExportStrategy, an iterable of ExportStrategy, or None, found "
                             f"{new_export_strategies}.")
        self._export_strategies = tuple(new)
        return old

    def _exported(self, eval_result: Any, checkpoint_path: Any = None) -> list:
        folder = os.path.join(self.estimator.model_dir, "export")
        return [one.export(self.estimator, os.path.join(folder, one.name), checkpoint_path=checkpoint_path, eval_result=eval_result)
                for one in self._export_strategies]

    def extend_train_hooks(self, additional_hooks: Any) -> None:
        """Adds hooks to the training."""
        self._train_monitors.extend(additional_hooks)

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains up to `train_steps`; workers wait a little before they begin."""
        more, task_id = [], self.estimator.config.task_id or 0
        if delay_secs is None and self._delay_workers_by_global_step:
            more, delay_secs = [GlobalStepWaiterHook(int(8000.0 * math.log(task_id + 1)))], 0
        elif delay_secs is None:
            delay_secs = min(60, task_id * 5)
        if delay_secs > 0:
            logs.info("Waiting %d secs before starting training.", delay_secs)
            time.sleep(delay_secs)
        return self._trained(max_steps=self.train_steps, hooks=self._train_monitors + more)

    def _trained(self, hooks: list, steps: int | None = None, max_steps: int | None = None) -> Any:
        hooks = replace_monitors_with_hooks(hooks, self.estimator)
        if self._is_core:
            return self.estimator.train(input_fn=self._train_input_fn, steps=steps, max_steps=max_steps, hooks=hooks,
                                        saving_listeners=self._saving_listeners)
        return self.estimator.fit(input_fn=self._train_input_fn, steps=steps, max_steps=max_steps, monitors=hooks)

    def _evaluated(self, input_fn: Any = None, **named: Any) -> Any:
        metrics = {} if self._is_core else {"metrics": self.eval_metrics}
        return self.estimator.evaluate(input_fn=input_fn or self._eval_input_fn, hooks=self._eval_hooks, **metrics,
                                       **{"steps": self.eval_steps, **named})

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """The metrics of the newest checkpoint, after a while."""
        delay_secs = self._eval_delay_secs if delay_secs is None else delay_secs
        if delay_secs:
            logs.info("Waiting %d secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        return self._evaluated(name=name or "one_pass")

    def train_and_evaluate(self) -> tuple[Any, list]:
        """(metrics at the end, what was exported): evaluates new checkpoints while it trains."""
        monitors = list(self._train_monitors)
        if self._min_eval_frequency:
            metrics = {} if self._is_core else {"metrics": self.eval_metrics}
            monitors.append(ValidationMonitor(
                input_fn=self._eval_input_fn, eval_steps=self.eval_steps, every_n_steps=self._min_eval_frequency,
                check_interval_secs=self._check_interval_secs, hooks=self._eval_hooks, **metrics))
        self._trained(max_steps=self.train_steps, hooks=monitors)
        found = self._evaluated(name=None)
        return found, self._exported(found)

    def local_run(self) -> tuple[Any, list]:
        """As ``train_and_evaluate``, with `local_eval_frequency`."""
        kept, self._min_eval_frequency = self._min_eval_frequency, self._local_eval_frequency
        try:
            return self.train_and_evaluate()
        finally:
            self._min_eval_frequency = kept

    def test(self) -> Any:
        """One step, and one of evaluation."""
        self._trained(steps=1, hooks=self._train_monitors)
        found = self._evaluated(steps=1, name="one_pass")
        self._exported(found)
        return found

    def continuous_eval(self, delay_secs: float | None = None, throttle_delay_secs: float | None = None,
                        evaluate_checkpoint_only_once: bool = True, continuous_eval_predicate_fn: Any = None,
                        name: str = "continuous") -> None:
        """Evaluates new checkpoints until training is done, or a function of the metrics says no."""
        self._continuous(self._eval_input_fn, name, delay_secs, throttle_delay_secs, evaluate_checkpoint_only_once,
                         continuous_eval_predicate_fn)

    def continuous_eval_on_train_data(self, delay_secs: float | None = None, throttle_delay_secs: float | None = None,
                                      continuous_eval_predicate_fn: Any = None, name: str = "continuous_on_train_data") -> None:
        """The same, on the input of training."""
        self._continuous(self._train_input_fn, name, delay_secs, throttle_delay_secs, True, continuous_eval_predicate_fn)

    def _goes_on(self, function: Any, found: Any, path: Any) -> bool:
        if function is None:
            return True
        if not callable(function):
            raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
        if "checkpoint_path" not in argument_names(function):
            return function(found)
        return function(found, checkpoint_path=path if found else None)     # the one of these metrics, if there are any

    def _is_done(self, found: Any) -> bool:
        return bool(found) and self.train_steps is not None and found.get("global_step", 0) >= self.train_steps

    def _continuous(self, input_fn: Any, name: str, delay_secs: float | None, throttle: float | None, once: bool,
                    function: Any) -> None:
        time.sleep(self._eval_delay_secs if delay_secs is None else delay_secs)
        throttle = self._throttle_secs if throttle is None else throttle
        previous, found = None, None
        while self._goes_on(function, found, previous):
            if self._is_done(found):
                return
            start, latest = time.time(), latest_checkpoint(self.estimator.model_dir)
            if not latest or (once and latest == previous):
                logs.warning("No new checkpoint ready for evaluation." if latest else "Estimator is not fitted yet. Will start an "
                             "evaluation when a checkpoint is ready.")
                found = {}
            else:
                found = self._evaluated(input_fn, name=name, checkpoint_path=latest)
                previous = latest
            time.sleep(max(0, throttle - (time.time() - start)))

    def continuous_train_and_eval(self, continuous_eval_predicate_fn: Any = None) -> tuple[Any, list]:
        """Trains and evaluates in turns, until `train_steps`, or until a function of the metrics says no."""
        steps = self._steps_per_iteration or (int(self.train_steps / 10) if self.train_steps is not None else 1000)
        found = path = None
        while self._goes_on(continuous_eval_predicate_fn, found, path):
            if self._is_done(found):
                logs.info("Stop training model as max steps reached")
                break
            logs.info("Training model for %s steps", steps)
            self._trained(steps=steps, hooks=self._train_monitors)
            logs.info("Evaluating model now.")
            path = latest_checkpoint(self.estimator.model_dir)
            found = self._evaluated(name="one_pass", checkpoint_path=path)
        return found, self._exported(found)

    def run_std_server(self) -> None:
        """Serves the cluster of the configuration."""
        config = self.estimator.config
        if not config.cluster_spec or not config.task_type or not config.master or config.task_id is None:
            raise ValueError("Could not start server; be sure to specify cluster_spec, task_type, master, and task in RunConfig or "
                             "set the TF_CONFIG environment variable.")
        Server(config.cluster_spec, job_name=config.task_type, task_index=config.task_id, config=config.tf_config).join()


def _schedule_of(config: Any) -> str:
    cluster = config.cluster_spec if config else None
    if not cluster or sum(cluster.num_tasks(job) for job in cluster.jobs) <= 1:
        return "train_and_evaluate"
    if not config.task_type:
        raise ValueError("Must specify a schedule")
    found = {TaskType.MASTER: "train_and_evaluate", TaskType.PS: "run_std_server", TaskType.WORKER: "train"}
    if config.task_type not in found:
        raise ValueError(f"No default schedule for task type: {config.task_type}")
    return found[config.task_type]


def _built(experiment_fn: Any, run_config: Any, hparams: Any) -> Experiment:
    if not isinstance(run_config, RunConfig):
        raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
    if not run_config.model_dir:
        raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
    if hparams is not None and not isinstance(hparams, HParams):
        raise ValueError("`hparams` must be `HParams` instance")
    uid, experiment = run_config.uid(), experiment_fn(run_config, hparams)
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead.")
    config = experiment.estimator.config
    if not hasattr(config, "uid") or config.uid() != uid:
        raise RuntimeError("`RunConfig` instance is expected to be used by the `Estimator` inside the `Experiment`.")
    return experiment


def run(experiment_fn: Any, output_dir: Any = None, schedule: str | None = None, run_config: Any = None,
        hparams: Any = None) -> Any:
    """Runs a method of an Experiment, by default what suits this task of a cluster; alone, ``train_and_evaluate``.

    `experiment_fn`: a function of `output_dir`, or of `run_config` and `hparams`, that gives it.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is not None:
        experiment = _built(experiment_fn, run_config, hparams)
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        if hparams is not None:
            raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
        experiment = experiment_fn(output_dir=output_dir)
        if not isinstance(experiment, Experiment):
            raise TypeError(f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead.")
    schedule = schedule or _schedule_of(run_config or experiment.estimator.config)
    task = getattr(experiment, schedule, None)
    if task is None:
        raise ValueError(f"Schedule references non-existent task {schedule}")
    if not callable(task):
        raise TypeError(f"Schedule references non-callable member {schedule}")
    return task()


def tune(experiment_fn: Any, tuner: Any) -> None:
    """Runs the trials of a tuner."""
    def checked(run_config: Any, hparams: Any) -> Experiment:
        if hparams is None:
            raise ValueError("`hparams` cannot be `None`.")
        return _built(experiment_fn, run_config, hparams)

    while tuner.next_trial():
        tuner.run_experiment(checked)
