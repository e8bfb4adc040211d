"""Thread pools of datasets, as `tf.contrib.data`'s inner modules have them."""
from __future__ import annotations

from typing import Any


class PrivateThreadPool:
    """A number of threads for the functions of a dataset; datasets here take threads as they need them."""

    def __init__(self, num_threads: int, display_name: str | None = None, max_intra_op_parallelism: int = 1):
        self.num_threads, self.display_name = num_threads, display_name
        self.max_intra_op_parallelism = max_intra_op_parallelism


def override_threadpool(dataset: Any, thread_pool: PrivateThreadPool) -> Any:
    """`dataset`, which gives the same elements by whatever threads."""
    return dataset
