"""What of ``tfe`` is about eager execution itself: names that programs ask for, and calls that do nothing in graphs."""
from __future__ import annotations

import collections.abc
import contextlib
import enum
from typing import Any

DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT = range(3)
SYNC, ASYNC = range(2)


class ExecutionCallback(enum.Enum):
    """What an eager operation does when it finds an infinity or what is no number."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


def set_execution_mode(mode: Any) -> None:
    """Nothing: a session says when operations run.  Raises ValueError for a mode other than SYNC and ASYNC."""
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"Execution mode should be None/SYNC/ASYNC. Got {mode}")


@contextlib.contextmanager
def execution_mode(mode: Any) -> collections.abc.Iterator[None]:
    """``set_execution_mode`` for a while."""
    set_execution_mode(mode)
    yield


def async_wait() -> None:
    """Nothing: no operation runs outside of a session."""


def async_clear_error() -> None:
    """Nothing: no operation runs outside of a session."""


class Saver:
    """Raises RuntimeError, as TensorFlow does where graphs are built."""

    def __init__(self, var_list: Any):
        raise RuntimeError("tfe.Saver can only be used when eager execution is enabled. Use tf.train.Saver when building graphs.")


class Iterator:
    """Raises RuntimeError: a graph's elements are tensors."""

    def __init__(self, dataset: Any):
        raise RuntimeError("tfe.Iterator goes over elements when eager execution is enabled. When building graphs, write "
                           "element = dataset.make_one_shot_iterator().get_next() and run it in a tf.Session.")


def restore_variables_on_create(save_path: Any, map_func: Any = None) -> None:
    """Raises ValueError, as TensorFlow does where graphs are built."""
    raise ValueError("Currently, restore_variables_on_create can only be used with eager execution enabled. When building graphs, "
                     "write tf.train.init_from_checkpoint(save_path, {\"/\": \"/\"}) after the variables are made.")


def add_execution_callback(callback: Any) -> None:
    """Nothing: no operation is executed outside of a session."""


def clear_execution_callbacks() -> None:
    """Nothing: no operation is executed outside of a session."""
