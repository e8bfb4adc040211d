"""Training of networks whose weights are pruned."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.slim import learning


def train(train_op: Any, logdir: str | None, mask_update_op: Any, train_step_fn: Callable = learning.train_step,
          *arguments: Any, **named: Any) -> Any:
    """``tf.contrib.slim.learning.train`` with `mask_update_op` after each step; gives the last loss.

    The other arguments are those of that function, in its order.
    """
    def step(sess: Any, train_op: Any, global_step: Any, train_step_kwargs: Any) -> tuple:
        found = train_step_fn(sess, train_op, global_step, train_step_kwargs)
        sess.run(mask_update_op)
        return found

    return learning.train(train_op, logdir, step, *arguments, **named)
