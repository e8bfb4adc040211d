"""What a model function for a TPUEstimator returns."""
from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from jitgraph.app import logs
from jitgraph.estimator.arguments import argument_names
from jitgraph.estimator.spec import EstimatorSpec
from jitgraph.summary import recording
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunContext, SessionRunHook


class _Spec(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Any
    host_call: Any
    training_hooks: tuple
    evaluation_hooks: tuple
    prediction_hooks: tuple


class TPUEstimatorSpec(_Spec):
    """A model in a mode: as EstimatorSpec, with functions of tensors where that has tensors.

    Args:
      eval_metrics: (function, its tensors) that gives {name: (value, update)}; the tensors are a list or a dict.
      host_call: (function, its tensors) that gives operations to run in each step.
      scaffold_fn: a function that gives a ``tf.train.Scaffold``.
    Raises ValueError, TypeError or RuntimeError for other pairs, TypeError for other hooks, and what EstimatorSpec raises.
    """

    def __new__(cls, mode: str, predictions: Any = None, loss: Any = None, train_op: Any = None, eval_metrics: Any = None,
                export_outputs: Any = None, scaffold_fn: Any = None, host_call: Any = None, training_hooks: Any = None,
                evaluation_hooks: Any = None, prediction_hooks: Any = None) -> TPUEstimatorSpec:
        for name, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if call is not None:
                _check_call(name, call)
        hooks = [tuple(some or ()) for some in (training_hooks, evaluation_hooks, prediction_hooks)]
        for hook in (one for some in hooks for one in some):
            if not isinstance(hook, SessionRunHook):
                raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
        checked = EstimatorSpec(mode, predictions, loss, train_op, None, export_outputs)
        return super().__new__(cls, mode, checked.predictions, checked.loss, checked.train_op, eval_metrics,
                               checked.export_outputs, scaffold_fn, host_call, *hooks)

    def as_estimator_spec(self) -> EstimatorSpec:
        """The EstimatorSpec that it is on a CPU: the functions are called."""
        metrics = None if self.eval_metrics is None else _called("eval_metrics", self.eval_metrics)
        hooks = () if self.host_call is None else (_HostCallHook(_called("host_call", self.host_call)),)
        scaffold = self.scaffold_fn() if self.scaffold_fn else None
        return EstimatorSpec(self.mode, self.predictions, self.loss, self.train_op, metrics, self.export_outputs,
                             scaffold=scaffold, training_hooks=self.training_hooks + hooks,
                             evaluation_hooks=self.evaluation_hooks + hooks, prediction_hooks=self.prediction_hooks + hooks)


def _check_call(name: str, call: Any) -> None:
    if not isinstance(call, (tuple, list)):
        raise ValueError(f"{name} should be tuple or list")
    if len(call) != 2:
        raise ValueError(f"{name} should have two elements.")
    function, tensors = call
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(tensors, (tuple, list, dict)):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")
    if isinstance(tensors, (tuple, list)):
        any_number = any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(function).parameters.values())
        names = argument_names(function)
        if not any_number and len(tensors) != len(names):
            raise RuntimeError(f"In TPUEstimatorSpec.{name}, length of tensors {len(tensors)} does not match method args of the "
                               f"function, which takes {len(names)}.")


def _called(name: str, call: Any) -> Any:
    function, tensors = call
    if isinstance(tensors, (tuple, list)):
        return function(*tensors)
    try:
        return function(**tensors)
    except TypeError as error:
        logs.warning("Exception while calling %s: %s. It is likely the tensors (%s[1]) do not match the function's arguments",
                     name, error, name)
        raise


class _HostCallHook(SessionRunHook):
    """Runs what a host call gave in each step, and opens and flushes the summary writers that it made."""

    def __init__(self, tensors: Any):
        self._tensors = tensors

    def begin(self) -> None:
        self._init_ops = recording.summary_writer_initializer_op()
        self._flushes = [recording.flush(writer=op.inputs[0]) for op in self._init_ops]

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._init_ops)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._tensors)

    def end(self, session: Any) -> None:
        session.run(self._flushes)
