"""``tensorflow.python.tpu.tpu_function``: whether a computation is built for the shards of a TPU, which it never is."""
from __future__ import annotations

from collections.abc import Callable


class TpuContext:
    """What ``get_tpu_context()`` gives."""

    number_of_shards = None


def get_tpu_context() -> TpuContext:
    """The context: of no TPU."""
    return TpuContext()


def on_device_training_loop(func: Callable) -> Callable:
    """Leaves a function as it is."""
    return func
