"""Training of networks whose weights are pruned."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.slim import learning


def train(train_op: Any, logdir: str | None, mask_update_op: Any, train_step_fn: Callable = learning.train_step,
          train_step_kwargs: Any = learning._DEFAULT, log_every_n_steps: int = 1, graph: Any = None, master: str = "",
          is_chief: bool = True, global_step: Any = None, number_of_steps: int | None = None, init_op: Any = learning._DEFAULT,
          init_feed_dict: Any = None, local_init_op: Any = learning._DEFAULT, init_fn: Callable | None = None,
          ready_op: Any = learning._DEFAULT, summary_op: Any = learning._DEFAULT, save_summaries_secs: int = 600,
          summary_writer: Any = learning._DEFAULT, startup_delay_steps: int = 0, saver: Any = None, save_interval_secs: int = 600,
          sync_optimizer: Any = None, session_config: Any = None, trace_every_n_steps: int | None = None) -> Any:
    """``tf.contrib.slim.learning.train`` with `mask_update_op` after each step; gives the last loss.

    The other arguments are those of that function.
    """
    def step(sess: Any, train_op: Any, global_step: Any, train_step_kwargs: Any) -> tuple:
        found = train_step_fn(sess, train_op, global_step, train_step_kwargs)
        sess.run(mask_update_op)
        return found

    return learning.train(
        train_op, logdir, step, train_step_kwargs, log_every_n_steps, graph, master, is_chief, global_step, number_of_steps,
        init_op, init_feed_dict, local_init_op, init_fn, ready_op, summary_op, save_summaries_secs, summary_writer,
        startup_delay_steps, saver, save_interval_secs, sync_optimizer, session_config, trace_every_n_steps=trace_every_n_steps)
