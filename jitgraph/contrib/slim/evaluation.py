"""``evaluate_once`` and ``evaluation_loop``: those of ``tf.contrib.training`` with summaries, and a number of evaluations."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.training.loop import SummaryAtEndHook
from jitgraph.summary.summaries import merge_all
from jitgraph.train import evaluation
from jitgraph.train.checkpoint_state import checkpoints_iterator, wait_for_new_checkpoint  # noqa: F401  (public names here)
from jitgraph.train.saver import Saver
from jitgraph.train.sessions.scaffold import Scaffold

_DEFAULT = 0


def _hooks(num_evals: int, summary_op: Any, logdir: str | None, feed_dict: Any, further: Any) -> list:
    if summary_op is _DEFAULT:
        summary_op = merge_all()
    hooks: list = [evaluation.StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        hooks.append(SummaryAtEndHook(log_dir=logdir, summary_op=summary_op, feed_dict=feed_dict))
    return [*hooks, *(further or [])]


def _scaffold(initial_op: Any, feed_dict: Any, variables_to_restore: Any, init_fn: Callable | None = None) -> Scaffold:
    saver = None if variables_to_restore is None else Saver(variables_to_restore)
    return Scaffold(init_op=initial_op, init_feed_dict=feed_dict, init_fn=init_fn, saver=saver)


def evaluate_once(master: str, checkpoint_path: str, logdir: str | None, num_evals: int = 1, initial_op: Any = None,
                  initial_op_feed_dict: Any = None, eval_op: Any = None, eval_op_feed_dict: Any = None,
                  final_op: Any = None, final_op_feed_dict: Any = None, summary_op: Any = _DEFAULT,
                  summary_op_feed_dict: Any = None, variables_to_restore: Any = None, session_config: Any = None,
                  hooks: Any = None) -> Any:
    """The value of `final_op` after `num_evals` runs of `eval_op` on the variables of a checkpoint.

    `variables_to_restore`: those that the checkpoint gives, by default all; local variables and tables are initialized.  It
    ends sooner where the input does.  Summaries join the events in `logdir`; `hooks` are called around each run.  Raises what
    a Saver raises for the checkpoint, and ValueError for summaries without a folder.
    """
    return evaluation.evaluate_once(
        checkpoint_path, master=master, scaffold=_scaffold(initial_op, initial_op_feed_dict, variables_to_restore),
        eval_ops=eval_op, feed_dict=eval_op_feed_dict, final_ops=final_op, final_ops_feed_dict=final_op_feed_dict,
        hooks=_hooks(num_evals, summary_op, logdir, summary_op_feed_dict, hooks), config=session_config)


def evaluation_loop(master: str, checkpoint_dir: str, logdir: str | None, num_evals: int = 1, initial_op: Any = None,
                    initial_op_feed_dict: Any = None, init_fn: Callable | None = None, eval_op: Any = None,
                    eval_op_feed_dict: Any = None, final_op: Any = None, final_op_feed_dict: Any = None,
                    summary_op: Any = _DEFAULT, summary_op_feed_dict: Any = None, variables_to_restore: Any = None,
                    eval_interval_secs: float = 60,
                    max_number_of_evaluations: int | None = None, session_config: Any = None,
                    timeout: float | None = None, timeout_fn: Callable | None = None, hooks: Any = None) -> Any:
    """``evaluate_once`` for each new checkpoint in a folder, at least `eval_interval_secs` apart; gives the last value.

    `init_fn`: a function of the scaffold and the session, called once its variables are there.
    """
    return evaluation.evaluate_repeatedly(
        checkpoint_dir, master=master, scaffold=_scaffold(initial_op, initial_op_feed_dict, variables_to_restore, init_fn),
        eval_ops=eval_op, feed_dict=eval_op_feed_dict, final_ops=final_op, final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs, hooks=_hooks(num_evals, summary_op, logdir, summary_op_feed_dict, hooks),
        config=session_config, max_number_of_evaluations=max_number_of_evaluations, timeout=timeout, timeout_fn=timeout_fn)
