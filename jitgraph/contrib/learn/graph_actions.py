"""``tf.contrib.learn.graph_actions``: graphs trained, evaluated and run, before there were estimators."""
from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.contrib.framework.graph_queries import assert_or_get_global_step, get_graph_from_inputs
from jitgraph.contrib.learn import ready_monitors
from jitgraph.control.order_ops import group
from jitgraph.estimator.result_files import write_results
from jitgraph.facade.names import resolve
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.errors import AbortedError, CancelledError, NotFoundError, OutOfRangeError
from jitgraph.graph.scopes import add_to_collection, get_collection
from jitgraph.graph.tensor import Tensor
from jitgraph.summary.file_writer import FileWriterCache
from jitgraph.summary.summaries import merge_all
from jitgraph.train.coordinator import Coordinator
from jitgraph.train.queue_runner import start_queue_runners
from jitgraph.train.sessions.left_values import LeftValues
from jitgraph.variables.variable_collections import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

_gone = deprecated("2017-02-15", "graph_actions.py will be deleted. Use tf.train.* utilities instead. You can use "
                                 "learn/estimators/estimator.py as an example.")


@_gone
def clear_summary_writers() -> None:
    """Forgets the writers of all folders."""
    FileWriterCache.clear()


@deprecated(None, "Use `SummaryWriterCache.get` directly.")
def get_summary_writer(logdir: str) -> Any:
    """The one writer of events into a folder."""
    return FileWriterCache.get(logdir)


def _saver_of(graph: Any, most: int = 5) -> Any:
    saved = graph.get_collection(GraphKeys.GLOBAL_VARIABLES) + graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)
    return resolve("train.Saver")(saved, sharded=True, max_to_keep=most) if saved else None


def _restore(session: Any, graph: Any, path: str, saver: Any = None) -> None:
    logs.info("Loading model from checkpoint: %s.", path)
    saver = saver or _saver_of(graph)
    if saver:
        saver.restore(session, path)
    else:
        logs.info("No variables found in graph, not creating Saver() object.")


def _run(session: Any, step: int, tensors: list, feed_dict: Any, monitors: list) -> tuple[dict, bool]:
    """({what was run: its value}, whether a monitor wants to stop)"""
    wanted = [*tensors, *(tensor for monitor in monitors for tensor in monitor.step_begin(step))]
    unique = list(dict.fromkeys(wanted))
    values = LeftValues(session.graph).seen(session, unique, session.run(unique, feed_dict=feed_dict), feed_dict)
    found = {one.name if isinstance(one, Tensor) else one: value for one, value in zip(unique, values)}
    stops = [monitor.step_end(step, found) for monitor in monitors]
    return found, any(stops)


@_gone
def train(graph: Any, output_dir: str, train_op: Any, loss_op: Any, global_step_tensor: Any = None, init_op: Any = None,
          init_feed_dict: Any = None, init_fn: Any = None, log_every_steps: int = 10, supervisor_is_chief: bool = True,
          supervisor_master: str = "", supervisor_save_model_secs: float = 600, keep_checkpoint_max: int = 5,
          supervisor_save_summaries_steps: int = 100, feed_fn: Any = None, steps: int | None = None,
          fail_on_nan_loss: bool = True, monitors: Any = None, max_steps: int | None = None) -> Any:
    """Runs `train_op` until its steps are done, an input ends or a monitor stops; the last loss.

    `feed_fn` gives what each run is fed with; `steps` counts from the newest checkpoint of `output_dir` on, `max_steps` from 0.
    Writes checkpoints, events and the graph.  Raises ValueError for what is missing, and NanLossDuringTrainingError.
    """
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    for what, given in (("train_op", train_op), ("loss_op", loss_op)):
        if given is None:
            raise ValueError(f"Missing {what}.")
    with graph.as_default():
        global_step = assert_or_get_global_step(graph, global_step_tensor)
        if global_step is None:
            raise ValueError('No "global_step" was provided or found in the graph.')
        writer = get_summary_writer(output_dir) if supervisor_is_chief else None
        chosen = _monitors(monitors, loss_op, writer, supervisor_save_summaries_steps, supervisor_is_chief)
        if max_steps is None:
            max_steps = _step_in(output_dir, global_step.name) + steps if steps else None
        for monitor in chosen:
            monitor.begin(max_steps=max_steps)
    supervisor_of = resolve("train.Supervisor")
    supervisor = supervisor_of(graph, init_op=init_op or supervisor_of.USE_DEFAULT, init_feed_dict=init_feed_dict,
                               is_chief=supervisor_is_chief, logdir=output_dir, saver=_saver_of(graph, keep_checkpoint_max),
                               global_step=global_step, summary_op=None, summary_writer=writer,
                               save_model_secs=supervisor_save_model_secs, init_fn=init_fn)
    while True:
        try:
            return _trained(supervisor, supervisor_master, train_op, loss_op, global_step, feed_fn, chosen, max_steps,
                            log_every_steps, fail_on_nan_loss)
        except AbortedError:
            logs.warning("Training got Aborted error. Keep training.")


def _monitors(given: Any, loss: Any, writer: Any, every_steps: int, is_chief: bool) -> list:
    if is_chief:
        return given or ready_monitors.get_default_monitors(loss_op=loss, summary_op=merge_all(), save_summary_steps=every_steps,
                                                            summary_writer=writer)
    return [monitor for monitor in given or [] if monitor.run_on_all_workers]


def _step_in(folder: str, name: str) -> int:
    try:
        return int(resolve("train.load_variable")(folder, name))
    except (NotFoundError, ValueError):
        return 0


def _trained(supervisor: Any, master: str, train_op: Any, loss_op: Any, global_step: Any, feed_fn: Any, monitors: list,
             max_steps: int | None, log_every_steps: int, fails_on_nan: bool) -> Any:
    session = supervisor.PrepareSession(master=master, start_standard_services=True)
    supervisor.StartQueueRunners(session)
    loss = None
    with session:
        last = logged = session.run(global_step)
        logs.info("Training steps [%d,%s)", last, "inf" if max_steps is None else str(max_steps))
        failure: BaseException | None = None
        try:
            while not supervisor.ShouldStop() and (max_steps is None or last < max_steps):
                start = time.time()
                values, stops = _run(session, last + 1, [train_op, loss_op], feed_fn() if feed_fn else None, monitors)
                loss = values[loss_op.name]
                if np.isnan(loss):
                    _diverged(fails_on_nan)
                if stops:
                    break
                this = session.run(global_step)
                if this <= last:
                    logs.error("Global step was not incremented by train op at step %s: new step %d", last, this)
                last = this
                if last == max_steps or last - logged >= log_every_steps:
                    logs.info("training step %d, loss = %.5f (%.3f sec/batch).", last, loss, time.time() - start)
                    logged = last
        except OutOfRangeError as error:
            logs.warning("Got exception during tf.learn training loop possibly due to exhausted input queue %s.", error)
        except StopIteration:
            logs.info("Exhausted input iterarator.")
        except BaseException as error:          # the checkpoint is written before it is raised
            failure = error
        _finish(supervisor, session, global_step, monitors, failure)
    return loss


def _diverged(fails: bool) -> None:
    text = "Model diverged with loss = NaN."
    if fails:
        logs.error(text)
        raise ready_monitors.NanLossDuringTrainingError()
    logs.warning(text)


def _finish(supervisor: Any, session: Any, global_step: Any, monitors: list, failure: BaseException | None) -> None:
    """Stops, writes the last checkpoint, ends the monitors, and raises what made the training fail."""
    try:
        supervisor.Stop(close_summary_writer=False)
        last = session.run(global_step)
        if supervisor.is_chief:
            logs.info("Saving checkpoint for step %d to checkpoint: %s.", last, supervisor.save_path)
            supervisor.saver.save(session, supervisor.save_path, global_step=last)
            for monitor in monitors:
                monitor.end()
    except OutOfRangeError as error:
        logs.warning("OutOfRangeError in tf.learn final checkpoint possibly due to exhausted input queue. Note: summary_op is not "
                     "expected to trigger dequeues. %s.", error)
    except BaseException as error:
        if failure is None:
            raise
        logs.error("Got exception during tf.learn final checkpoint %s.", error)
    if failure is not None:
        raise failure


def _first_of(collection: str, make: Any) -> Any:
    """The first of a collection; what `make` gives if it is empty, which joins it."""
    held = get_collection(collection)
    if held:
        return held[0]
    made = make()
    if made is not None:
        add_to_collection(collection, made)
    return made


@_gone
def evaluate(graph: Any, output_dir: str, checkpoint_path: str, eval_dict: dict, update_op: Any = None,
             global_step_tensor: Any = None, supervisor_master: str = "", log_every_steps: int = 10, feed_fn: Any = None,
             max_steps: int | None = None) -> tuple[dict, int]:
    """({name: value}, the global step) of a checkpoint, after `max_steps` runs of `update_op` or until an input ends.

    Without `update_op` the values are those of the last run.  They are written as events into `output_dir`; ValueError if it is
    empty.
    """
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    with graph.as_default():
        global_step = assert_or_get_global_step(graph, global_step_tensor)
        saver = _first_of(GraphKeys.SAVERS, lambda: resolve("train.Saver")() if global_variables() else None)
        local_init = _first_of(GraphKeys.LOCAL_INIT_OP,
                               lambda: group(local_variables_initializer(), resolve("tables_initializer")()))
        ready_for_local_init = _first_of(GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None)
        ready = _first_of(GraphKeys.READY_OP, report_uninitialized_variables)
        manager = resolve("train.SessionManager")(local_init_op=local_init, ready_op=ready,
                                                  ready_for_local_init_op=ready_for_local_init)
        session, is_initialized = manager.recover_session(master=supervisor_master, saver=saver, checkpoint_dir=checkpoint_path)
        coordinator = Coordinator()
        threads = start_queue_runners(session, coordinator)
    with session:
        if not is_initialized:
            logs.warning("Failed to initialize from %s.", checkpoint_path)
            with graph.as_default():
                session.run(global_variables_initializer())
            if checkpoint_path:
                _restore(session, graph, checkpoint_path, saver)
        step = session.run(global_step)
        found: dict = {}
        try:
            try:
                _measure(session, found, eval_dict, update_op, feed_fn, max_steps, log_every_steps)
            finally:
                session.close()
                _stop(coordinator, threads)
        except (OutOfRangeError, StopIteration) as error:
            (logs.info if max_steps is None else logs.warning)("Input is exhausted: %s.", error)
    _write(output_dir, found, step)
    return found, step


def _measure(session: Any, found: dict, wanted: dict, update_op: Any, feed_fn: Any, max_steps: int | None, every: int) -> None:
    """Fills `found` with the values of `wanted`, also if a run fails."""
    step, measured_at, feed_dict = 0, None, None
    try:
        while max_steps is None or step < max_steps:
            step += 1
            feed_dict = feed_fn() if feed_fn else None
            if update_op is not None:
                session.run(update_op, feed_dict=feed_dict)
            if update_op is None or step % every == 0:
                found.update(session.run(wanted, feed_dict=feed_dict))
                measured_at = step
            if step % every == 0:
                logs.info("Results after %d steps: %s.", step, _shown(found))
    finally:
        if measured_at != step:
            found.update(session.run(wanted, feed_dict=feed_dict))


def _stop(coordinator: Any, threads: list) -> None:
    try:
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=120)
    except (RuntimeError, CancelledError) as error:
        logs.warning("Coordinator didn't stop cleanly: %s", error)


def _shown(values: dict) -> str:
    return ", ".join(f"{key} = {value!s}" for key, value in sorted(values.items()))


def _write(folder: str, values: dict, step: int) -> None:
    for key, value in values.items():
        if value is not None and not isinstance(value, (np.float32, float)):
            logs.warning("Skipping summary for %s, must be a float or np.float32.", key)
    write_results(folder, {key: value for key, value in values.items() if isinstance(value, (np.float32, float))}, step)


@_gone
def run_n(output_dict: dict, feed_dict: Any = None, restore_checkpoint_path: str | None = None, n: int = 1) -> list[dict]:
    """What `n` runs of a dict of tensors give."""
    return run_feeds(output_dict, itertools.repeat(feed_dict, n), restore_checkpoint_path)


@_gone
def run_feeds_iter(output_dict: dict, feed_dicts: Iterable, restore_checkpoint_path: str | None = None) -> Iterator[dict]:
    """What runs of a dict of tensors give, one for each feed, with the variables of a checkpoint or fresh ones.

    Raises ValueError, with the first run, for an empty dict or no feeds.
    """
    return _runs(output_dict, feed_dicts, restore_checkpoint_path)


def _runs(output_dict: dict, feed_dicts: Iterable, checkpoint_path: str | None) -> Iterator[dict]:
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}.")
    if not feed_dicts:
        raise ValueError(f"feed_dicts is invalid: {feed_dicts}.")
    graph = get_graph_from_inputs(output_dict.values())
    with graph.as_default(), resolve("Session")("") as session:
        if checkpoint_path:
            _restore(session, graph, checkpoint_path)
        else:
            session.run(global_variables_initializer())
        session.run(local_variables_initializer())
        session.run(resolve("tables_initializer")())
        coordinator = Coordinator()
        threads = None
        try:
            threads = start_queue_runners(session, coord=coordinator)
            for feed in feed_dicts:
                yield session.run(output_dict, feed)
        finally:
            coordinator.request_stop()
            if threads:
                coordinator.join(threads, stop_grace_period_secs=120)


@_gone
def run_feeds(output_dict: dict, feed_dicts: Iterable, restore_checkpoint_path: str | None = None) -> list[dict]:
    """What runs of a dict of tensors give, one for each feed, with the variables of a checkpoint or fresh ones.

    Raises ValueError for an empty dict or no feeds.
    """
    return list(_runs(output_dict, feed_dicts, restore_checkpoint_path))


@_gone
def infer(restore_checkpoint_path: str | None, output_dict: dict, feed_dict: Any = None) -> dict:
    """What one run of a dict of tensors gives, with the variables of a checkpoint or fresh ones."""
    return run_feeds(output_dict, [feed_dict], restore_checkpoint_path)[0]
