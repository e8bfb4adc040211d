"""``tf.estimator.train_and_evaluate``: training with an evaluation of each checkpoint, alone or as a task of a cluster."""
from __future__ import annotations

import json
import os
import time
from typing import Any, NamedTuple

from jitgraph.app import logs
from jitgraph.estimator.cluster_place import TaskType
from jitgraph.estimator.estimator import Estimator
from jitgraph.estimator.exporters import Exporter
from jitgraph.graph.collections import GraphKeys
from jitgraph.protobuf.messages import ConfigProto
from jitgraph.train.cluster.server import Server
from jitgraph.train.hooks.checkpoints import CheckpointSaverListener
from jitgraph.train.hooks.run_hooks import SessionRunHook
from jitgraph.train.hooks.timers import SecondOrStepTimer

_LONGEST_DELAY = 60             # seconds
_DELAY_OF_WORKER = 5            # seconds, times the number of the worker
_WARNING_INTERVAL = 600         # seconds
EVALUATED, MISSING_CHECKPOINT, NO_NEW_CHECKPOINT = "evaluated", "missing checkpoint", "no new checkpoint"


class _Train(NamedTuple):
    input_fn: Any
    max_steps: int | None
    hooks: tuple


class TrainSpec(_Train):
    """What to train with: an input function, the global step to end at (None: when the input ends), and hooks.

    Raises TypeError for what is no function or hook, ValueError for no positive number of steps.
    """

    def __new__(cls, input_fn: Any, max_steps: int | None = None, hooks: Any = None) -> TrainSpec:
        _check_function(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, _checked_hooks(hooks))


class _Eval(NamedTuple):
    input_fn: Any
    steps: int | None
    name: str | None
    hooks: tuple
    exporters: tuple
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_Eval):
    """What to evaluate with: an input function, the number of batches (None: all), exporters, hooks.

    `name` is that of the folder of its events; `start_delay_secs` is how long an evaluator waits first, `throttle_secs` how long
    at least from one evaluation to the next.  Raises TypeError and ValueError for what does not suit.
    """

    def __new__(cls, input_fn: Any, steps: int | None = 100, name: str | None = None, hooks: Any = None, exporters: Any = None,
                start_delay_secs: float = 120, throttle_secs: float = 600) -> EvalSpec:
        _check_function(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        hooks, exporters = _checked_hooks(hooks), _checked_exporters(exporters)
        if start_delay_secs < 0:
            raise ValueError(f"Must specify start_delay_secs >= 0, given: {start_delay_secs}")
        if throttle_secs < 0:
            raise ValueError(f"Must specify throttle_secs >= 0, given: {throttle_secs}")
        return super().__new__(cls, input_fn, steps, name, hooks, exporters, start_delay_secs, throttle_secs)


def _check_function(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_hooks(hooks: Any) -> tuple[SessionRunHook, ...]:
    hooks = tuple(hooks or [])
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
    return hooks


def _checked_exporters(exporters: Any) -> tuple[Exporter, ...]:
    if not exporters:
        return ()
    if isinstance(exporters, Exporter):
        exporters = [exporters]
    if not hasattr(exporters, "__iter__") or not all(isinstance(one, Exporter) for one in exporters):
        raise TypeError(f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporters}.")
    names = [one.name for one in exporters]
    for name in names:
        if not name:
            raise ValueError(f"An Exporter cannot have a name that is `None` or empty. All exporter names: {names}")
        if not isinstance(name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(name)}")
        if names.count(name) > 1:
            raise ValueError("`exporters` must have unique names. Such a name cannot be `None`. All exporter names: "
                             f"{names[:names.index(name) + 2]}")
    return tuple(exporters)


def _check_eval_spec(eval_spec: Any) -> None:
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}")


def train_and_evaluate(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> Any:
    """Trains, evaluates each checkpoint and exports it; gives the last (metrics, results of the exporters).

    In a cluster (see RunConfig) this program does the part of its task, and nothing is given back.  Raises TypeError for other
    arguments, ValueError for a task that there is not.
    """
    _check_eval_spec(eval_spec)
    executor = TrainingExecutor(estimator, train_spec, eval_spec)
    config = estimator.config
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError("For distributed training, there can only be one `evaluator` task (with task id 0).  Given task id "
                         f"{config.task_id}")
    logs.info("Not using Distribute Coordinator.")
    return executor.run()


class EvalResult(NamedTuple):
    """What came of an attempt to evaluate."""

    status: str
    metrics: dict | None = None
    checkpoint_path: str | None = None


class ContinuousEvalListener:
    """Is asked before and after each evaluation whether to go on."""

    def before_eval(self) -> bool:
        """Whether to evaluate."""
        return True

    def after_eval(self, eval_result: EvalResult) -> bool:
        """Whether to go on."""
        return True


class _Evaluator:
    """Evaluates the newest checkpoint, once, and exports it."""

    def __init__(self, estimator: Estimator, eval_spec: EvalSpec, max_training_steps: int | None):
        _check_eval_spec(eval_spec)
        self._estimator, self._spec, self._max_steps = estimator, eval_spec, max_training_steps
        self._evaluated_path: str | None = None
        self._warned = 0.0
        self.is_final_export_triggered = False

    def evaluate_and_export(self) -> tuple[EvalResult, list]:
        """(what came of it, the results of the exporters)."""
        path = self._estimator.latest_checkpoint()
        if not path:
            self._warn("Estimator is not trained yet. Will start an evaluation when a checkpoint is ready.")
            return EvalResult(MISSING_CHECKPOINT), []
        if path == self._evaluated_path:
            self._warn("No new checkpoint ready for evaluation. Skip the current evaluation pass as evaluation results are "
                       "expected to be same for the same checkpoint.")
            return EvalResult(NO_NEW_CHECKPOINT), []
        spec = self._spec
        metrics = self._estimator.evaluate(input_fn=spec.input_fn, steps=spec.steps, name=spec.name, checkpoint_path=path,
                                           hooks=spec.hooks)
        result = EvalResult(EVALUATED, metrics, path)
        is_final = bool(self._max_steps) and metrics[GraphKeys.GLOBAL_STEP] >= self._max_steps
        exports = self._export(result, is_final)
        if is_final:
            logs.debug("Calling exporter with the `is_the_final_export=True`.")
            self.is_final_export_triggered = True
        self._warned = 0.0
        self._evaluated_path = path
        return result, exports

    def _warn(self, message: str) -> None:
        now = time.time()
        if now - self._warned > _WARNING_INTERVAL:
            logs.warning(message)
            self._warned = now

    def _export(self, result: EvalResult, is_final: bool) -> list:
        base = os.path.join(self._estimator.model_dir, "export")
        return [exporter.export(estimator=self._estimator, export_path=os.path.join(base, exporter.name),
                                checkpoint_path=result.checkpoint_path, eval_result=result.metrics,
                                is_the_final_export=is_final) for exporter in self._spec.exporters]


class _NewCheckpointListener(CheckpointSaverListener):
    """Evaluates after checkpoints, but after the first, as often as the EvalSpec allows, and at the end."""

    def __init__(self, evaluator: _Evaluator, throttle_secs: float, listener: ContinuousEvalListener):
        self._evaluator, self._throttle_secs, self._listener = evaluator, throttle_secs, listener
        self.eval_result: EvalResult | None = None
        self.export_results: list | None = None

    def begin(self) -> None:
        """Starts the clock."""
        self._timer = SecondOrStepTimer(every_secs=self._throttle_secs)
        self._is_first = True

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """Evaluates, if it is time; True ends the training."""
        if self._is_first:
            # The checkpoint of the first step says nothing yet.
            self._is_first = False
            return None
        if not self._listener.before_eval():
            logs.info("Exiting training and evaluation loop, as requested by _ContinuousEvalListener.before_eval.")
            return True
        if not self._timer.should_trigger_for_step(global_step_value):
            logs.info(f"Skip the current checkpoint eval due to throttle secs ({self._throttle_secs} secs).")
            return None
        if not self._listener.after_eval(self._evaluate(global_step_value)):
            logs.info("Exiting evaluation, as requested by _ContinuousEvalListener.after_eval.")
            return True
        return None

    def end(self, session: Any, global_step_value: int) -> None:
        """Evaluates the last checkpoint, unless it was."""
        if global_step_value != self._timer.last_triggered_step() and self._listener.before_eval():
            self._listener.after_eval(self._evaluate(global_step_value))

    def _evaluate(self, step: int) -> EvalResult:
        self._timer.update_last_triggered_step(step)
        self.eval_result, self.export_results = self._evaluator.evaluate_and_export()
        if self.eval_result.status != EVALUATED:
            raise RuntimeError(f"There was no new checkpoint after the training. Eval status: {self.eval_result.status}")
        return self.eval_result


class TrainingExecutor:
    """Does what the task of this program in ``train_and_evaluate`` is."""

    def __init__(self, estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec | None, train_hooks: Any = None,
                 continuous_eval_listener: Any = None):
        if not isinstance(estimator, Estimator):
            raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
        if not isinstance(train_spec, TrainSpec):
            raise TypeError(f"`train_spec` must have type `tf.estimator.TrainSpec`. Got: {type(train_spec)}")
        if eval_spec and not isinstance(eval_spec, EvalSpec):
            raise TypeError(f"`eval_spec` must be either `None` or have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}")
        if continuous_eval_listener and not isinstance(continuous_eval_listener, ContinuousEvalListener):
            raise TypeError("`continuous_eval_listener` must have type `_ContinuousEvalListener`.")
        self.estimator, self._train_spec, self._eval_spec = estimator, train_spec, eval_spec
        self._train_hooks = _checked_hooks(train_hooks)
        self._listener = continuous_eval_listener or ContinuousEvalListener()

    def run(self) -> Any:
        """Runs the method of the task's type.  Raises ValueError for types that there are not."""
        config = self.estimator.config
        if not config.cluster_spec and config.task_type != TaskType.EVALUATOR:
            logs.info("Running training and evaluation locally (non-distributed).")
            return self.run_local()
        if not config.task_type:
            raise ValueError("`estimator.config` must have task_type set. This usually means TF_CONFIG environment is not set "
                             "correctly.")
        if config.task_type == "local":
            raise ValueError("`task.type` in TF_CONFIG cannot be `local`. Leaving `cluster` and `task` properties in TF_CONFIG "
                             "absent triggers train and evaluate `Estimator` locally (non-distributed).")
        tasks = [name[len("run_"):] for name in dir(self) if name.startswith("run_") and name != "run_local"]
        if config.task_type not in tasks:
            raise ValueError(f"Task type {config.task_type} is not supported. Supported task types are {tasks}")
        getattr(self, "run_" + config.task_type)()
        return None

    def run_local(self) -> tuple[dict | None, list | None]:
        """Trains and evaluates in one process; gives the last (metrics, results of the exporters)."""
        _check_eval_spec(self._eval_spec)
        config = self.estimator.config
        logs.info("Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint frequency is "
                  "determined based on RunConfig arguments: save_checkpoints_steps "
                  f"{config.save_checkpoints_steps} or save_checkpoints_secs {config.save_checkpoints_secs}.")
        listener = self._evaluating_listener(self._listener)
        self._train([listener])
        return (listener.eval_result.metrics if listener.eval_result else None), listener.export_results

    def run_chief(self) -> None:
        """Trains, and keeps the checkpoints."""
        self._start_distributed_training([])

    def run_worker(self) -> None:
        """Trains, after a while."""
        self._start_distributed_training([])

    def run_master(self) -> None:
        """Trains as the chief, and evaluates."""
        self._start_distributed_training([self._evaluating_listener(ContinuousEvalListener())])

    def run_ps(self) -> None:
        """Serves variables for ever."""
        self._start_server(self.estimator.config).join()

    def run_evaluator(self) -> None:
        """Evaluates each checkpoint that the chief writes, until the last one."""
        _check_eval_spec(self._eval_spec)
        assert self._eval_spec is not None
        if self._eval_spec.start_delay_secs:
            logs.info("Waiting %f secs before starting eval.", self._eval_spec.start_delay_secs)
            time.sleep(self._eval_spec.start_delay_secs)
        evaluator = _Evaluator(self.estimator, self._eval_spec, self._train_spec.max_steps)
        result, last = None, self._train_spec.max_steps
        while True:
            if result is not None and result.metrics is not None:
                step = result.metrics.get(GraphKeys.GLOBAL_STEP)
                if step and last and step >= last:
                    logs.info("Exiting evaluation, global_step=%s >= train max_steps=%s", step, last)
                    return
            if not self._listener.before_eval():
                logs.info("Exiting evaluation, as requested by _ContinuousEvalListener.before_eval.")
                return
            result = self._evaluate_once(evaluator, self._eval_spec.throttle_secs)
            if result is None:
                return

    def _evaluate_once(self, evaluator: _Evaluator, throttle_secs: float) -> EvalResult | None:
        start = time.time()
        result, _ = evaluator.evaluate_and_export()
        if not self._listener.after_eval(result):
            logs.info("Exiting evaluation, as requested by _ContinuousEvalListener.after_eval.")
            return None
        left = throttle_secs - (time.time() - start)
        if left > 0:
            logs.info("Waiting %f secs before starting next eval run.", left)
            time.sleep(left)
        elif throttle_secs == 0 and result.status != EVALUATED:
            logs.warning("EvalSpec.throttle_secs is set as 0. This might overload the job before finding (next) new checkpoint. "
                         "Please consider to increase it.")
        return result

    def _evaluating_listener(self, asked: ContinuousEvalListener) -> _NewCheckpointListener:
        _check_eval_spec(self._eval_spec)
        _check_eval_spec(self._eval_spec)
        assert self._eval_spec is not None
        evaluator = _Evaluator(self.estimator, self._eval_spec, self._train_spec.max_steps)
        return _NewCheckpointListener(evaluator, self._eval_spec.throttle_secs, asked)

    def _train(self, listeners: list) -> None:
        hooks = [*self._train_spec.hooks, *self._train_hooks]
        self.estimator.train(input_fn=self._train_spec.input_fn, max_steps=self._train_spec.max_steps, hooks=hooks,
                             saving_listeners=listeners)

    def _start_distributed_training(self, listeners: list) -> None:
        config = self.estimator.config
        environment = json.loads(os.environ.get("TF_CONFIG") or "{}")
        if not environment:
            logs.warn("TF_CONFIG should not be empty in distributed environment.")
        if environment.get("environment") != "google":
            self._start_server(config)
        if config.task_type == TaskType.WORKER:
            longest = config.experimental_max_worker_delay_secs
            delay = min(_LONGEST_DELAY if longest is None else int(longest), (config.task_id + 1) * _DELAY_OF_WORKER)
            if delay > 0:
                logs.info("Waiting %d secs before starting training.", delay)
                time.sleep(delay)
        self._train(listeners)

    def _start_server(self, config: Any) -> Any:
        if not config.cluster_spec or not config.task_type or config.task_id is None:
            raise RuntimeError("Could not start server; be sure to specify cluster_spec, task_type, and task in RunConfig or set "
                               "the TF_CONFIG environment variable.")
        if not config.master:
            jobs = config.cluster_spec.jobs
            alone = len(jobs) == 1 and len(config.cluster_spec.job_tasks(jobs[0])) == 1
            if alone and config.task_type in (TaskType.CHIEF, TaskType.MASTER, TaskType.WORKER):
                logs.info("Skip starting Tensorflow server as there is only one node in the cluster.")
                return None
            raise RuntimeError("Could not start server; be sure to specify master in RunConfig or set the TF_CONFIG environment "
                               "variable.")
        logs.info("Start Tensorflow server.")
        session_config = ConfigProto(log_device_placement=False)
        if config.session_config is not None:
            session_config.gpu_options.CopyFrom(config.session_config.gpu_options)
        server = Server(config.cluster_spec, job_name=config.task_type, task_index=config.task_id, config=session_config,
                        start=False, protocol=config.protocol)
        server.start()
        return server
