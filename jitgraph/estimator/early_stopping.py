"""Hooks that end a training by what its evaluations say: ``tf.estimator.experimental.stop_if_no_decrease_hook`` and its kin."""
from __future__ import annotations

import collections
import operator
import os
from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.app import logs
from jitgraph.estimator.estimator import Estimator
from jitgraph.filesystem import gfile
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.summary.event_reader import summary_iterator
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from jitgraph.train.hooks.timers import SecondOrStepTimer
from jitgraph.variables.assignments import assign
from jitgraph.variables.global_steps import get_global_step
from jitgraph.variables.variable_initializers import constant_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope
from jitgraph.variables.variable_store import AUTO_REUSE


def make_early_stopping_hook(estimator: Estimator, should_stop_fn: Callable[[], bool], run_every_secs: float | None = 60,
                             run_every_steps: int | None = None) -> SessionRunHook:
    """A hook that asks a function from time to time whether to end the training; for workers, one that follows the chief.

    Raises TypeError for another estimator or what is no function, ValueError for both kinds of times.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if not estimator.config.is_chief:
        return _CheckForStoppingHook()
    return _StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)


def _better(higher: bool) -> Callable[[float, float], bool]:
    return operator.gt if higher else operator.lt


def _results(estimator: Estimator, eval_dir: str | None, metric_name: str, min_steps: int) -> Iterator[tuple[int, float]]:
    """(step, value) of a metric in the events of evaluations."""
    for step, metrics in read_eval_metrics(estimator.eval_dir() if eval_dir is None else eval_dir).items():
        if step >= min_steps:
            yield step, metrics[metric_name]


def _threshold_hook(higher: bool, estimator: Estimator, metric_name: str, threshold: float, eval_dir: str | None = None,
                    min_steps: int = 0, run_every_secs: float | None = 60, run_every_steps: int | None = None) -> SessionRunHook:
    said = "greater than" if higher else "less than"

    def crossed() -> bool:
        for step, value in _results(estimator, eval_dir, metric_name, min_steps):
            if _better(higher)(value, threshold):
                logs.info('At step %s, metric "%s" has value %s which is %s the configured threshold (%s) for early stopping.',
                          step, metric_name, value, said, threshold)
                return True
        return False

    return make_early_stopping_hook(estimator, crossed, run_every_secs, run_every_steps)


def stop_if_higher_hook(estimator: Estimator, metric_name: str, threshold: float, eval_dir: str | None = None,
                        min_steps: int = 0, run_every_secs: float | None = 60,
                        run_every_steps: int | None = None) -> SessionRunHook:
    """A hook that ends the training when a metric was above `threshold` in an evaluation from step `min_steps` on."""
    return _threshold_hook(True, estimator, metric_name, threshold, eval_dir, min_steps, run_every_secs, run_every_steps)


def stop_if_lower_hook(estimator: Estimator, metric_name: str, threshold: float, eval_dir: str | None = None,
                       min_steps: int = 0, run_every_secs: float | None = 60,
                       run_every_steps: int | None = None) -> SessionRunHook:
    """A hook that ends the training when a metric was below `threshold` in an evaluation from step `min_steps` on."""
    return _threshold_hook(False, estimator, metric_name, threshold, eval_dir, min_steps, run_every_secs, run_every_steps)


def _improvement_hook(higher: bool, estimator: Estimator, metric_name: str, most: int, eval_dir: str | None = None,
                      min_steps: int = 0, run_every_secs: float | None = 60,
                      run_every_steps: int | None = None) -> SessionRunHook:
    said = "increase" if higher else "decrease"

    def stuck() -> bool:
        best, best_step = None, 0
        for step, value in _results(estimator, eval_dir, metric_name, min_steps):
            if best is None or _better(higher)(value, best):
                best, best_step = value, step
            if step - best_step >= most:
                logs.info('No %s in metric "%s" for %s steps, which is greater than or equal to max steps (%s) configured for '
                          "early stopping.", said, metric_name, step - best_step, most)
                return True
        return False

    return make_early_stopping_hook(estimator, stuck, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(estimator: Estimator, metric_name: str, max_steps_without_increase: int,
                             eval_dir: str | None = None, min_steps: int = 0, run_every_secs: float | None = 60,
                             run_every_steps: int | None = None) -> SessionRunHook:
    """A hook that ends the training when a metric did not rise in the evaluations of so many steps."""
    return _improvement_hook(True, estimator, metric_name, max_steps_without_increase, eval_dir, min_steps, run_every_secs,
                             run_every_steps)


def stop_if_no_decrease_hook(estimator: Estimator, metric_name: str, max_steps_without_decrease: int,
                             eval_dir: str | None = None, min_steps: int = 0, run_every_secs: float | None = 60,
                             run_every_steps: int | None = None) -> SessionRunHook:
    """A hook that ends the training when a metric did not fall in the evaluations of so many steps."""
    return _improvement_hook(False, estimator, metric_name, max_steps_without_decrease, eval_dir, min_steps, run_every_secs,
                             run_every_steps)


def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, float]]:
    """{step: {metric: value}} of the events of evaluations in a folder, by rising step."""
    found: dict[int, dict[str, float]] = collections.defaultdict(dict)
    paths = gfile.Glob(os.path.join(eval_dir, "events.out.tfevents.*")) if gfile.Exists(eval_dir) else []
    for path in paths:
        for event in summary_iterator(path):
            metrics = {value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")}
            if metrics:
                found[event.step].update(metrics)
    return collections.OrderedDict(sorted(found.items()))


def _stop_variable() -> Any:
    """The variable by which a chief tells workers to end."""
    with variable_scope("signal_early_stopping", values=[], reuse=AUTO_REUSE):
        return get_variable("STOP", shape=[], dtype=dtypes.bool_, initializer=constant_initializer(False),
                            collections=[GraphKeys.GLOBAL_VARIABLES], trainable=False)


class _StopOnPredicateHook(SessionRunHook):
    """Asks a function from time to time whether to end, and tells the workers."""

    def __init__(self, should_stop_fn: Callable[[], bool], run_every_secs: float | None = 60, run_every_steps: int | None = None):
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(every_secs=run_every_secs, every_steps=run_every_steps)

    def begin(self) -> None:
        self._step = get_global_step()
        self._stop_op = assign(_stop_variable(), True)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = run_values.results
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop_fn():
            logs.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop_op)
            run_context.request_stop()


class _CheckForStoppingHook(SessionRunHook):
    """Ends when the chief says so."""

    def begin(self) -> None:
        self._stop = _stop_variable()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._stop)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results:
            logs.info("Early stopping requested, suspending run.")
            run_context.request_stop()
