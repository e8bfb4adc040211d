"""Evaluation of a checkpoint: operations run until the input ends or a number of runs is done, then others once."""
from __future__ import annotations

import math
import time
from typing import Any

from jitgraph.app import logs
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.identity import identity
from jitgraph.train.checkpoint_state import checkpoints_iterator
from jitgraph.train.hooks.feeding import FinalOpsHook
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from jitgraph.train.sessions.creators import ChiefSessionCreator
from jitgraph.train.sessions.monitored import MonitoredSession
from jitgraph.variables.assignments import assign_add
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable


def get_or_create_eval_step() -> Any:
    """The local int64 variable ``eval_step``, which counts the runs of an evaluation.  Raises ValueError if there are several."""
    found = get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return get_variable("eval_step", shape=[], dtype=dtypes.int64, initializer=zeros_initializer(), trainable=False,
                        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP])


class StopAfterNEvalsHook(SessionRunHook):
    """Ends an evaluation after `num_evals` runs (None: when the input ends), and logs how far it is."""

    def __init__(self, num_evals: int | None, log_progress: bool = True):
        self._num_evals = num_evals
        self._evals_completed: Any = None
        self._log_progress = log_progress
        self._log_frequency = 1 if num_evals is None or num_evals < 20 else math.floor(num_evals / 10)

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the number of runs."""
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs it, and stops at the last one."""
        done = run_values.results["evals_completed"]
        if self._log_progress:
            if self._num_evals is None:
                logs.info("Evaluation [%d]", done)
            elif done % self._log_frequency == 0 or self._num_evals == done:
                logs.info("Evaluation [%d/%d]", done, self._num_evals)
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()


def evaluate_once(checkpoint_path: Any, master: str = "", scaffold: Any = None, eval_ops: Any = None,
                  feed_dict: Any = None, final_ops: Any = None, final_ops_feed_dict: Any = None, hooks: Any = None,
                  config: Any = None) -> Any:
    """The values of `final_ops` after `eval_ops` (a tensor, a list or a dict of them) ran until the session was to stop.

    The variables come from the checkpoint, or from their initializers if it is None; see ``tf.train.MonitoredSession``.
    """
    step = get_or_create_eval_step()
    hooks = list(hooks or [])
    if eval_ops is not None:
        eval_ops = _with(eval_ops, assign_add(step, 1, use_locking=True))
        with control_dependencies(list(eval_ops.values()) if isinstance(eval_ops, dict) else eval_ops):
            done = identity(step.read_value())
        for hook in hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(done)
    logs.info("Starting evaluation at " + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_filename_with_path=checkpoint_path)
    last = FinalOpsHook(final_ops, final_ops_feed_dict)
    with MonitoredSession(session_creator=creator, hooks=[*hooks, last]) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    logs.info("Finished evaluation at " + time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
    return last.final_ops_values


def _with(eval_ops: Any, update: Any) -> Any:
    """The operations of an evaluation, as a list or dict, with that which counts."""
    if isinstance(eval_ops, dict):
        eval_ops["update_eval_step"] = update
        return eval_ops
    return [*eval_ops, update] if isinstance(eval_ops, (tuple, list)) else [eval_ops, update]


def evaluate_repeatedly(checkpoint_dir: Any, master: str = "", scaffold: Any = None, eval_ops: Any = None, feed_dict: Any = None,
                        final_ops: Any = None, final_ops_feed_dict: Any = None, eval_interval_secs: float = 60,
                        hooks: Any = None, config: Any = None, max_number_of_evaluations: int | None = None,
                        timeout: float | None = None, timeout_fn: Any = None) -> Any:
    """As ``evaluate_once`` with each new checkpoint of a folder, at most every `eval_interval_secs`: the values of the last.

    It ends after `max_number_of_evaluations`, or when no checkpoint came in `timeout` seconds and `timeout_fn`, if there is
    one, says so.
    """
    step = get_or_create_eval_step()
    hooks = [] if hooks is None else hooks
    if eval_ops is not None:
        update = assign_add(step, 1)
        for hook in hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(update)
        eval_ops = _with(eval_ops, update)
    last = FinalOpsHook(final_ops, final_ops_feed_dict)
    hooks.append(last)
    paths = checkpoints_iterator(checkpoint_dir, min_interval_secs=eval_interval_secs, timeout=timeout, timeout_fn=timeout_fn)
    for done, path in enumerate(paths, 1):
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_filename_with_path=path)
        with MonitoredSession(session_creator=creator, hooks=hooks) as session:
            logs.info("Starting evaluation at " + time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
            while eval_ops is not None and not session.should_stop():
                session.run(eval_ops, feed_dict)
            logs.info("Finished evaluation at " + time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
        if max_number_of_evaluations is not None and done >= max_number_of_evaluations:
            break
    return last.final_ops_values
