"""One training of an estimator: the session with its hooks, and the loop."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.estimator.cluster_place import TaskType
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import add_to_collection, get_collection
from jitgraph.summary.summaries import scalar
from jitgraph.train.hooks.checkpoints import CheckpointSaverHook
from jitgraph.train.hooks.summaries import StepCounterHook, SummarySaverHook
from jitgraph.train.hooks.watching import LoggingTensorHook, NanTensorHook
from jitgraph.train.saver import Saver
from jitgraph.train.sessions.monitored import MonitoredTrainingSession
from jitgraph.variables.global_steps import get_global_step


def run_training(config: Any, session_config: Any, spec: Any, input_hooks: list, hooks: list, saving_listeners: list) -> Any:
    """Runs the training step of an EstimatorSpec of the default graph until a hook, or the input, ends it; gives the last loss.

    Raises ValueError for listeners where nothing saves checkpoints.
    """
    if not any(summary.op.name == "loss" for summary in get_collection(GraphKeys.SUMMARIES)):
        scalar("loss", spec.loss)
    add_to_collection(GraphKeys.LOSSES, spec.loss)
    worker_hooks = [*input_hooks, *hooks, NanTensorHook(spec.loss)]
    if config.log_step_count_steps is not None:
        watched = {"loss": spec.loss, "step": get_global_step(get_default_graph())}
        worker_hooks.append(LoggingTensorHook(watched, every_n_iter=config.log_step_count_steps))
    worker_hooks.extend(spec.training_hooks)
    if not (spec.scaffold.saver or get_collection(GraphKeys.SAVERS)):
        add_to_collection(GraphKeys.SAVERS, Saver(
            sharded=True, max_to_keep=config.keep_checkpoint_max,
            keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours, defer_build=True, save_relative_paths=True))
    chief_hooks = _with_listeners(config, spec, worker_hooks, saving_listeners)
    save_summary_steps, log_step_count_steps = _kept_by_chief(config, spec, worker_hooks)
    loss, any_step_done = None, False
    with MonitoredTrainingSession(
            master=config.master, is_chief=config.is_chief, checkpoint_dir=config.model_dir, scaffold=spec.scaffold,
            hooks=worker_hooks, chief_only_hooks=(*chief_hooks, *spec.training_chief_hooks), save_checkpoint_secs=0,
            save_summaries_steps=save_summary_steps, config=session_config,
            max_wait_secs=config.session_creation_timeout_secs, log_step_count_steps=log_step_count_steps) as session:
        step = [spec.train_op, spec.loss]
        while not session.should_stop():
            _, loss = session.run(step)
            any_step_done = True
    if not any_step_done:
        logs.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
    return loss


def _with_listeners(config: Any, spec: Any, worker_hooks: list, listeners: list) -> list:
    """The hook that saves checkpoints, unless there is one; the listeners join it."""
    savers = [hook for hook in [*worker_hooks, *spec.training_chief_hooks] if isinstance(hook, CheckpointSaverHook)]
    chief_hooks = []
    if (config.save_checkpoints_secs or config.save_checkpoints_steps) and not savers:
        chief_hooks = savers = [CheckpointSaverHook(config.model_dir, save_secs=config.save_checkpoints_secs,
                                                    save_steps=config.save_checkpoints_steps, scaffold=spec.scaffold)]
    if listeners and not savers:
        raise ValueError("There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                         "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs.")
    for listener in listeners:
        if listener not in savers[0]._listeners:
            savers[0]._listeners.append(listener)
    return chief_hooks


def _kept_by_chief(config: Any, spec: Any, worker_hooks: list) -> tuple[int | None, int | None]:
    """(how often summaries, how often steps a second) the session itself records; beside a master, the first worker does."""
    jobs = config.cluster_spec.jobs if config.cluster_spec else ()
    if TaskType.WORKER not in jobs or TaskType.MASTER not in jobs:
        return config.save_summary_steps, config.log_step_count_steps
    if config.task_type == TaskType.WORKER and config.task_id == 0:
        if config.save_summary_steps:
            worker_hooks.append(SummarySaverHook(save_steps=config.save_summary_steps, output_dir=config.model_dir,
                                                 scaffold=spec.scaffold))
        if config.log_step_count_steps:
            worker_hooks.append(StepCounterHook(every_n_steps=config.log_step_count_steps, output_dir=config.model_dir))
    return 0, None
