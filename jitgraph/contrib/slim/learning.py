"""``create_train_op`` as slim has it, and ``train``: a loop that restores, trains, logs and saves."""
from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.training.train_ops import (
    USE_GLOBAL_STEP,
    clip_gradient_norms,
    multiply_gradients,
    trained,
)
from jitgraph.contrib.training.train_ops import (
    summarize_gradients as summaries_of,
)
from jitgraph.control.order_ops import group
from jitgraph.facade.names import resolve
from jitgraph.graph import errors
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.elementwise.arithmetic import mod
from jitgraph.ops.elementwise.compare import equal, greater_equal
from jitgraph.resources.tables import tables_initializer
from jitgraph.train import checkpoint_state, global_steps
from jitgraph.train.coordinator import Coordinator
from jitgraph.train.hooks.writers import merged_summaries, new_writer
from jitgraph.train.optimizer import Optimizer
from jitgraph.train.queue_runner import start_queue_runners
from jitgraph.train.saver import Saver
from jitgraph.variables.variable_collections import global_variables_initializer, local_variables_initializer

_DEFAULT = 0


def add_gradients_summaries(grads_and_vars: list) -> list:
    """Summaries "VARIABLE/gradient" and "VARIABLE/gradient_norm" of (gradient, variable) pairs."""
    return summaries_of(grads_and_vars, "/")


def create_train_op(total_loss: Any, optimizer: Any, global_step: Any = USE_GLOBAL_STEP, update_ops: Any = None,
                    variables_to_train: Any = None, clip_gradient_norm: float = 0, summarize_gradients: bool = False,
                    gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None,
                    colocate_gradients_with_ops: bool = False, gradient_multipliers: dict | None = None,
                    check_numerics: bool = True) -> Any:
    """``tf.contrib.training.create_train_op``, with gradients multiplied and then clipped.

    `gradient_multipliers`: {variable or its name: factor}; `clip_gradient_norm`: the largest norm of each gradient, 0 does
    not clip.
    """
    def transform(gradients: list) -> list:
        if gradient_multipliers:
            with name_scope("multiply_grads"):
                gradients = multiply_gradients(gradients, gradient_multipliers)
        if clip_gradient_norm > 0:
            with name_scope("clip_grads"):
                gradients = clip_gradient_norms(gradients, clip_gradient_norm)
        return gradients

    return trained(total_loss, optimizer, global_step, update_ops, variables_to_train, transform,
                   add_gradients_summaries if summarize_gradients else None, check_numerics,
                   gate_gradients=gate_gradients, aggregation_method=aggregation_method,
                   colocate_gradients_with_ops=colocate_gradients_with_ops)


def train_step(sess: Any, train_op: Any, global_step: Any, train_step_kwargs: dict) -> tuple:
    """Takes one step; gives (the loss, whether to stop).

    `train_step_kwargs`: tensors "should_log" and "should_stop", which are asked after the step if they are there.
    """
    started = time.time()
    loss, step = sess.run([train_op, global_step])
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        logs.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, time.time() - started)
    stop = sess.run(train_step_kwargs["should_stop"]) if "should_stop" in train_step_kwargs else False
    return loss, stop


def train(train_op: Any, logdir: str | None, train_step_fn: Callable = train_step, train_step_kwargs: Any = _DEFAULT,
          log_every_n_steps: int = 1, graph: Any = None, master: str = "", is_chief: bool = True, global_step: Any = None,
          number_of_steps: int | None = None, init_op: Any = _DEFAULT, init_feed_dict: Any = None,
          local_init_op: Any = _DEFAULT, init_fn: Callable | None = None, ready_op: Any = _DEFAULT,
          summary_op: Any = _DEFAULT, save_summaries_secs: int = 600, summary_writer: Any = _DEFAULT,
          startup_delay_steps: int = 0, saver: Any = None, save_interval_secs: int = 600, sync_optimizer: Any = None,
          session_config: Any = None, session_wrapper: Callable | None = None, trace_every_n_steps: int | None = None,
          ignore_live_threads: bool = False) -> Any:
    """Runs `train_op` until the global step is `number_of_steps`, or an input is at its end; gives the last loss.

    Variables come from the latest checkpoint in `logdir`, else from `init_op` and `init_fn` (a function of the session).
    With a `logdir`, checkpoints "model.ckpt" are saved every `save_interval_secs` and at the end, and summaries every
    `save_summaries_secs`.  `train_step_fn` takes one step, as ``train_step`` does.  `session_wrapper`: a function of the
    session that gives another one.  Raises ValueError without a `train_op`, for what needs a `logdir` without one, and for a
    `number_of_steps` that is not positive.
    """
    _check(train_op, logdir, summary_op, saver, trace_every_n_steps, number_of_steps, sync_optimizer)
    graph = graph or get_default_graph()
    with graph.as_default():
        step = global_steps.get_or_create_global_step() if global_step is None else global_step
        saver = saver or Saver()
        with name_scope("init_ops"):
            init_op = global_variables_initializer() if init_op is _DEFAULT else init_op
            if local_init_op is _DEFAULT:
                local_init_op = group(local_variables_initializer(), tables_initializer())
        if summary_op is _DEFAULT:
            summary_op = merged_summaries()
        if train_step_kwargs is _DEFAULT:
            train_step_kwargs = _questions(step, number_of_steps, log_every_n_steps)
        keeping = _Keeping(logdir, saver, step, save_interval_secs, summary_op, save_summaries_secs, summary_writer)
        with resolve("Session")(master, graph=graph, config=session_config) as session:
            _start(session, logdir, saver, init_op, init_feed_dict, init_fn, local_init_op)
            wrapped = session_wrapper(session) if session_wrapper is not None else session
            return _steps(wrapped, train_step_fn, train_op, step, train_step_kwargs, keeping, ignore_live_threads)


def _check(train_op: Any, logdir: Any, summary_op: Any, saver: Any, trace: Any, steps: Any, sync_optimizer: Any) -> None:
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        given = {"summary_op": summary_op is not _DEFAULT, "saver": saver is not None,
                 "trace_every_n_steps": trace is not None}
        for name, is_given in given.items():
            if is_given:
                raise ValueError(f"Cannot provide {name} because logdir=None")
    if steps is not None and steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")
    if sync_optimizer is not None:
        raise ValueError("`sync_optimizer` must be None: a session of jitgraph runs in one process, there is nothing to "
                         "synchronize.")


def _questions(step: Any, number_of_steps: int | None, log_every_n_steps: int) -> dict[str, Any]:
    """The tensors that say after a step whether to stop and to log."""
    with name_scope("train_step"):
        found = {"should_stop": greater_equal(step, number_of_steps) if number_of_steps else constant(False)}
        if log_every_n_steps > 0:
            found["should_log"] = equal(mod(step, log_every_n_steps), 0)
    return found


def _start(session: Any, logdir: str | None, saver: Any, init_op: Any, init_feed_dict: Any, init_fn: Callable | None,
           local_init_op: Any) -> None:
    latest = checkpoint_state.latest_checkpoint(logdir) if logdir else None
    if latest:
        saver.restore(session, latest)
    else:
        if init_op is not None:
            session.run(init_op, feed_dict=init_feed_dict)
        if init_fn is not None:
            init_fn(session)
    if local_init_op is not None:
        session.run(local_init_op)


def _steps(session: Any, train_step_fn: Callable, train_op: Any, step: Any, questions: Any, keeping: _Keeping,
           ignore_live_threads: bool) -> Any:
    coordinator = Coordinator()
    threads = start_queue_runners(sess=session, coord=coordinator)
    loss = None
    try:
        while not coordinator.should_stop():
            loss, stop = train_step_fn(session, train_op, step, questions)
            keeping.after_step(session)
            if stop:
                logs.info("Stopping Training.")
                break
    except errors.OutOfRangeError as error:
        logs.info("Caught OutOfRangeError. Stopping Training. %s", error)
    finally:
        coordinator.request_stop()
    keeping.at_end(session)
    coordinator.join(threads, ignore_live_threads=ignore_live_threads)
    return loss


class _Keeping:
    """What a loop of training keeps in its folder: checkpoints and summaries, from time to time and at its end."""

    def __init__(self, logdir: str | None, saver: Any, step: Any, save_secs: float, summary_op: Any, summary_secs: float,
                 writer: Any):
        self._saver: Any = saver if logdir else None
        self._path = os.path.join(logdir, "model.ckpt") if logdir else ""
        self._step = step
        self._save_secs, self._saved = save_secs, time.monotonic()
        self._summary_op, self._summary_secs, self._summarized = summary_op, summary_secs, 0.0
        if logdir:
            os.makedirs(logdir, exist_ok=True)
        made = writer is _DEFAULT and logdir and summary_op is not None
        self._writer = new_writer(logdir) if made else None if writer is _DEFAULT else writer

    def after_step(self, session: Any) -> None:
        """Saves and summarizes if it is time."""
        now = time.monotonic()
        if self._saver and self._save_secs and now - self._saved >= self._save_secs:
            self._save(session)
            self._saved = now
        if self._writer is not None and self._summary_secs and now - self._summarized >= self._summary_secs:
            self._writer.add_summary(session.run(self._summary_op), global_steps.global_step(session, self._step))
            self._summarized = now

    def at_end(self, session: Any) -> None:
        """Saves, and closes the file of summaries."""
        if self._saver:
            logs.info("Finished training! Saving model to disk.")
            self._save(session)
        if self._writer is not None:
            self._writer.close()

    def _save(self, session: Any) -> None:
        self._saver.save(session, self._path, global_step=self._step)
