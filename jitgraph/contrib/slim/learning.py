"""``create_train_op`` as slim has it, and ``train``: a loop that restores, trains, logs and saves."""
from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.app.step_line import LINE
from jitgraph.app.timeline import Timeline
from jitgraph.contrib.training.training_steps import (
    USE_GLOBAL_STEP,
    clip_gradient_norms,
    multiply_gradients,
    trained,
)
from jitgraph.contrib.training.training_steps import (
    summarize_gradients as summaries_of,
)
from jitgraph.control.order_ops import group
from jitgraph.filesystem.file_io import write_string_to_file
from jitgraph.graph import errors
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.elementwise.arithmetic import mod
from jitgraph.ops.elementwise.compare import equal, greater_equal
from jitgraph.protobuf.messages import RunMetadata, RunOptions
from jitgraph.resources.tables import tables_initializer
from jitgraph.train.hooks.writers import merged_summaries
from jitgraph.train.optimizer import Optimizer
from jitgraph.train.saver import Saver
from jitgraph.train.sessions.supervisor import Supervisor
from jitgraph.train.sync_replicas import SyncReplicasOptimizer
from jitgraph.variables import global_steps
from jitgraph.variables.variable_collections import (
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

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

    `train_step_kwargs`: tensors "should_log" and "should_stop", which are asked after the step, and "should_trace", which is
    asked before it, if they are there; a trace is written to "logdir".  Raises ValueError for a trace without that.
    """
    started = time.time()
    options = metadata = None
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
        if sess.run(train_step_kwargs["should_trace"]):
            options, metadata = RunOptions(trace_level=RunOptions.FULL_TRACE), RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    elapsed = time.time() - started
    LINE.saw(step, loss)
    if metadata is not None:
        _write_trace(metadata, step, train_step_kwargs)
    asked = {name: train_step_kwargs[name] for name in ("should_log", "should_stop") if name in train_step_kwargs}
    found = sess.run(asked) if asked else {}
    if found.get("should_log", False):
        logs.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, elapsed)
    return loss, found.get("should_stop", False)


def _write_trace(metadata: Any, step: int, train_step_kwargs: dict) -> None:
    path = os.path.join(train_step_kwargs["logdir"], f"tf_trace-{step}.json")
    logs.info("Writing trace to %s", path)
    write_string_to_file(path, Timeline(metadata.step_stats).generate_chrome_trace_format())
    if "summary_writer" in train_step_kwargs:
        train_step_kwargs["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}")


def train(train_op: Any, logdir: str | None, train_step_fn: Callable = train_step, train_step_kwargs: Any = _DEFAULT,
          log_every_n_steps: int = 1, graph: Any = None, master: str = "", is_chief: bool = True, global_step: Any = None,
          number_of_steps: int | None = None, init_op: Any = _DEFAULT, init_feed_dict: Any = None,
          local_init_op: Any = _DEFAULT, init_fn: Callable | None = None, ready_op: Any = _DEFAULT,
          summary_op: Any = _DEFAULT, save_summaries_secs: int = 600, summary_writer: Any = _DEFAULT,
          startup_delay_steps: int = 0, saver: Any = None, save_interval_secs: int = 600, sync_optimizer: Any = None,
          session_config: Any = None, session_wrapper: Callable | None = None, trace_every_n_steps: int | None = None,
          ignore_live_threads: bool = False) -> Any:
    """Runs `train_op` until the global step is `number_of_steps`, or an input is at its end; gives the last loss.

    A ``tf.train.Supervisor`` prepares the session: variables come from the latest checkpoint in `logdir`, else from `init_op`
    and `init_fn` (a function of the session); with a `logdir`, checkpoints are saved every `save_interval_secs` and at the end,
    and summaries every `save_summaries_secs`.  `train_step_fn` takes one step, as ``train_step`` does.  `session_wrapper`: a
    function of the session that gives another one.  Raises ValueError without a `train_op`, for what needs a `logdir` without
    one, for a `number_of_steps` that is not positive, and for a `sync_optimizer` that is no SyncReplicasOptimizer.
    """
    _check(train_op, logdir, summary_op, saver, trace_every_n_steps, number_of_steps)
    synchronized = _synchronized(sync_optimizer, startup_delay_steps)
    graph = graph or get_default_graph()
    with graph.as_default():
        step = global_steps.get_or_create_global_step() if global_step is None else global_step
        saver = saver or Saver()
        with name_scope("init_ops"):
            init_op = global_variables_initializer() if init_op is _DEFAULT else init_op
            ready_op = report_uninitialized_variables() if ready_op is _DEFAULT else ready_op
            if local_init_op is _DEFAULT:
                local_init_op = group(local_variables_initializer(), tables_initializer())
            ready_for_local_init_op = None
            if synchronized is not None:
                with control_dependencies([local_init_op] if local_init_op is not None else []):
                    local_init_op = group(*[one.chief_init_op if is_chief else one.local_step_init_op for one in synchronized])
                ready_for_local_init_op = group(*[one.ready_for_local_init_op for one in synchronized])
        summary_op = merged_summaries() if summary_op is _DEFAULT else summary_op
        tokens = [(one.get_init_tokens_op(), one.get_chief_queue_runner()) for one in synchronized or []] if is_chief else []
        if train_step_kwargs is _DEFAULT:
            train_step_kwargs = _questions(step, number_of_steps, log_every_n_steps,
                                           trace_every_n_steps if is_chief else None, logdir)
    supervisor = Supervisor(
        graph=graph, is_chief=is_chief, logdir=logdir, init_op=init_op, init_feed_dict=init_feed_dict, local_init_op=local_init_op,
        ready_for_local_init_op=ready_for_local_init_op, ready_op=ready_op, summary_op=summary_op, global_step=step, saver=saver,
        summary_writer=Supervisor.USE_DEFAULT if summary_writer is _DEFAULT else summary_writer,
        save_summaries_secs=save_summaries_secs, save_model_secs=save_interval_secs, init_fn=init_fn)
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer
    loop = _Loop(supervisor, train_step_fn, train_op, step, train_step_kwargs, tokens, ignore_live_threads)
    while True:
        try:
            with supervisor.managed_session(master, start_standard_services=False, config=session_config) as session:
                logs.info("Starting Session.")
                if session_wrapper is not None:
                    logs.info("Wrapping session with wrapper function: %s", session_wrapper)
                    session = session_wrapper(session)
                if not is_chief and startup_delay_steps > 0:
                    _wait_for_step(session, step, min(startup_delay_steps, number_of_steps or sys.maxsize))
                loop.run(session, logdir)
            return loop.loss
        except errors.AbortedError:
            logs.info("Retrying training!")


def _check(train_op: Any, logdir: Any, summary_op: Any, saver: Any, trace: Any, steps: Any) -> None:
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


def _synchronized(given: Any, startup_delay_steps: int) -> list | None:
    """The optimizers that gather the gradients of several replicas, as a list."""
    if given is None:
        return None
    if startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    if not all(isinstance(one, SyncReplicasOptimizer) for one in listed):
        raise ValueError("`sync_optimizer` must be a tf.train.SyncReplicasOptimizer.")
    return listed


def _questions(step: Any, number_of_steps: int | None, log_every_n_steps: int, trace_every_n_steps: int | None,
               logdir: str | None) -> dict[str, Any]:
    """The tensors that say whether to stop, to log and to trace."""
    with name_scope("train_step"):
        found = {"should_stop": greater_equal(step, number_of_steps) if number_of_steps else constant(False)}
        if log_every_n_steps > 0:
            found["should_log"] = equal(mod(step, log_every_n_steps), 0)
        if trace_every_n_steps is not None:
            found["should_trace"] = equal(mod(step, trace_every_n_steps), 0)
            found["logdir"] = logdir
    return found


def _wait_for_step(session: Any, global_step: Any, step: int) -> None:
    while global_steps.global_step(session, global_step) < step:
        time.sleep(1.0)


class _Loop:
    """The steps of a training within a session of a Supervisor."""

    def __init__(self, supervisor: Supervisor, train_step_fn: Callable, train_op: Any, step: Any, questions: dict, tokens: list,
                 ignore_live_threads: bool):
        self.supervisor, self.take_step, self.train_op, self.step = supervisor, train_step_fn, train_op, step
        self.questions, self.tokens, self.ignore_live_threads = questions, tokens, ignore_live_threads
        self.loss: Any = None

    def run(self, session: Any, logdir: str | None) -> None:
        """Takes steps until one says to stop, or the input ends; saves at the end."""
        supervisor, services = self.supervisor, None
        if supervisor.is_chief and logdir:
            services = supervisor.start_standard_services(session)
        threads = supervisor.start_queue_runners(session)
        logs.info("Starting Queues.")
        if self.tokens:
            supervisor.start_queue_runners(session, [runner for _, runner in self.tokens])
            session.run([init for init, _ in self.tokens])
        LINE.wanted()
        try:
            while not supervisor.should_stop():
                self.loss, stop = self.take_step(session, self.train_op, self.step, self.questions)
                if stop:
                    logs.info("Stopping Training.")
                    supervisor.request_stop()
                    break
        except errors.OutOfRangeError as error:
            logs.info("Caught OutOfRangeError. Stopping Training. %s", error)
        finally:
            LINE.finish()
        if logdir and supervisor.is_chief:
            logs.info("Finished training! Saving model to disk.")
            supervisor.request_stop()
            for thread in services or ():       # one that saves an earlier step now would make that the latest checkpoint
                thread.join()
            supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
            supervisor.stop(threads, close_summary_writer=True, ignore_live_threads=self.ignore_live_threads)
