"""``evaluate_once``: a checkpoint restored, metrics updated a number of times, their values fetched."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.order_ops import group
from jitgraph.facade.names import resolve
from jitgraph.resources.tables import tables_initializer
from jitgraph.train.checkpoint_state import checkpoints_iterator
from jitgraph.train.coordinator import Coordinator
from jitgraph.train.hooks.writers import merged_summaries, new_writer
from jitgraph.train.queue_runner import start_queue_runners
from jitgraph.train.saver import Saver
from jitgraph.variables import global_steps
from jitgraph.variables.variable_collections import local_variables_initializer

_DEFAULT = 0


def evaluate_once(master: str, checkpoint_path: str, logdir: str | None, num_evals: int = 1, initial_op: Any = None,
                  initial_op_feed_dict: Any = None, eval_op: Any = None, eval_op_feed_dict: Any = None,
                  final_op: Any = None, final_op_feed_dict: Any = None, summary_op: Any = _DEFAULT,
                  summary_op_feed_dict: Any = None, variables_to_restore: Any = None, session_config: Any = None,
                  hooks: Any = None) -> Any:
    """The value of `final_op` after `num_evals` runs of `eval_op` on the variables of a checkpoint.

    `variables_to_restore`: those that the checkpoint gives, by default all; local variables and tables are initialized.
    Summaries join the events in `logdir`.  Raises ValueError for `hooks`, and what a Saver raises for the checkpoint.
    """
    if hooks:
        raise ValueError("evaluate_once runs eval_op in a plain session: run what the hooks do as part of eval_op")
    if summary_op is _DEFAULT:
        summary_op = merged_summaries()
    step = global_steps.get_or_create_global_step()
    saver = Saver(variables_to_restore)
    local = group(local_variables_initializer(), tables_initializer())
    with resolve("Session")(master, config=session_config) as session:
        if initial_op is not None:
            session.run(initial_op, initial_op_feed_dict)
        saver.restore(session, checkpoint_path)
        session.run(local)
        coordinator = Coordinator()
        threads = start_queue_runners(sess=session, coord=coordinator)
        for _ in range(num_evals if eval_op is not None else 0):
            session.run(eval_op, eval_op_feed_dict)
        if summary_op is not None and logdir:
            writer = new_writer(logdir)
            writer.add_summary(session.run(summary_op, summary_op_feed_dict), global_steps.global_step(session, step))
            writer.close()
        value = session.run(final_op, final_op_feed_dict) if final_op is not None else None
        coordinator.request_stop()
        coordinator.join(threads, ignore_live_threads=True)
    return value


def evaluation_loop(master: str, checkpoint_dir: str, logdir: str | None, num_evals: int = 1, initial_op: Any = None,
                    initial_op_feed_dict: Any = None, eval_op: Any = None, eval_op_feed_dict: Any = None,
                    final_op: Any = None, final_op_feed_dict: Any = None, summary_op: Any = _DEFAULT,
                    summary_op_feed_dict: Any = None, variables_to_restore: Any = None, eval_interval_secs: float = 60,
                    max_number_of_evaluations: int | None = None, session_config: Any = None,
                    timeout: float | None = None, timeout_fn: Callable | None = None, hooks: Any = None) -> Any:
    """``evaluate_once`` for each new checkpoint in a folder, at least `eval_interval_secs` apart; gives the last value."""
    value = None
    paths = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for done, path in enumerate(paths, start=1):
        value = evaluate_once(master, path, logdir, num_evals, initial_op, initial_op_feed_dict, eval_op,
                              eval_op_feed_dict, final_op, final_op_feed_dict, summary_op, summary_op_feed_dict,
                              variables_to_restore, session_config, hooks)
        if max_number_of_evaluations is not None and done >= max_number_of_evaluations:
            break
    return value
