"""Hooks of estimators: evaluation in the process that trains, and the end of workers by what the chief has saved."""
from __future__ import annotations

import time
from typing import Any

from jitgraph.control.order_ops import group
from jitgraph.estimator.estimator import Estimator, checked_hooks, saved_global_step
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.graph import Graph
from jitgraph.graph.scopes import get_collection
from jitgraph.ops.arrays.identity import placeholder
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from jitgraph.train.hooks.stopping import StopAtStepHook
from jitgraph.train.hooks.timers import SecondOrStepTimer
from jitgraph.train.sessions.scaffold import Scaffold
from jitgraph.variables.assignments import assign
from jitgraph.variables.global_steps import required_global_step_read


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates an estimator every `every_n_iter` steps of its training, with the values that its variables have then.

    Raises ValueError for no positive number, for an estimator of several processes, and, when the session begins, for a model
    with a saver, an init_fn or saveables of its own.
    """

    def __init__(self, estimator: Estimator, input_fn: Any, steps: int | None = None, hooks: Any = None,
                 name: str | None = None, every_n_iter: int = 100):
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if estimator.config.num_ps_replicas > 0 or estimator.config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        self._estimator, self._input_fn = estimator, input_fn
        self._eval_dir = estimator.eval_dir(name)
        self._hooks = checked_hooks(hooks) + estimator._convert_eval_steps_to_hooks(steps)
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        """Builds the graph of the evaluation."""
        self._timer.reset()
        self._done = 0
        self._graph = Graph()
        with self._graph.as_default():
            self._scaffold, self._update_op, self._results, self._all_hooks = self._estimator._evaluate_build_graph(
                self._input_fn, self._hooks, checkpoint_path=None)
            if self._scaffold.saver is not None:
                raise ValueError("InMemoryEvaluator does not support custom saver")
            if self._scaffold.init_fn is not None:
                raise ValueError("InMemoryEvaluator does not support custom init_fn")
            self._variables = {v.name: v for v in get_collection(GraphKeys.GLOBAL_VARIABLES)}
            self._placeholders = {name: placeholder(v.dtype) for name, v in self._variables.items()}

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Evaluates for the first time."""
        if get_collection(GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError("InMemoryEvaluator does not support saveables other than global variables.")
        self._trained = {v.name: v for v in get_collection(GraphKeys.GLOBAL_VARIABLES) if v.name in self._variables}
        with self._graph.as_default():
            self._feed_op = group(*[assign(self._variables[name], self._placeholders[name]) for name in self._trained])
        self._evaluate(session)

    def _evaluate(self, session: Any) -> None:
        values = session.run(self._trained)
        fed = {self._placeholders[name]: value for name, value in values.items()}

        def feed_variables(scaffold: Any, own: Any) -> None:
            own.run(self._feed_op, feed_dict=fed)

        with self._graph.as_default():
            scaffold = Scaffold(init_fn=feed_variables, copy_from_scaffold=self._scaffold)
            self._estimator._evaluate_run(None, scaffold, self._update_op, self._results, self._all_hooks, self._eval_dir)
        self._timer.update_last_triggered_step(self._done)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Evaluates, if it is time."""
        self._done += 1
        if self._timer.should_trigger_for_step(self._done):
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        """Evaluates for the last time."""
        self._evaluate(session)


class _StopAtCheckpointStepHook(SessionRunHook):
    """Ends a worker at a step when the chief has saved a checkpoint of it."""

    def __init__(self, model_dir: str, last_step: int, wait_after_file_check_secs: float = 30):
        if last_step is None:
            raise ValueError("last_step must be specified.")
        if model_dir is None:
            raise ValueError("model_dir must be specified.")
        self._model_dir, self._last_step, self._wait = model_dir, last_step, wait_after_file_check_secs

    def begin(self) -> None:
        self._step = required_global_step_read("StopAtCheckpointStepHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results + 1 < self._last_step:
            return
        if saved_global_step(self._model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            time.sleep(self._wait)


def make_stop_at_checkpoint_step_hook(estimator: Estimator, last_step: int,
                                      wait_after_file_check_secs: float = 30) -> SessionRunHook:
    """A hook that ends the training at a step; workers go on until the chief has saved it, and look every so many seconds."""
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStepHook(estimator.model_dir, last_step, wait_after_file_check_secs)
