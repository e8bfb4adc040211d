"""Switches between the behaviours of TensorFlow 1 and 2: there is nothing to switch."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator


def executing_eagerly() -> bool:
    """False: everything is a graph."""
    return False


def disable_eager_execution() -> None:
    """Nothing to do: everything is a graph."""


def disable_v2_behavior() -> None:
    """Nothing to do: this is the interface of TensorFlow 1."""


def output_all_intermediates(state: bool | None) -> None:
    """Nothing to do: gradients of conditionals and loops have what they need, whatever the nodes give."""


@contextlib.contextmanager
def function_executor_type(executor_type: str | None) -> Iterator[None]:
    """A block in which functions run as everywhere: there is one way to run them."""
    yield


_chosen = {"control_flow_v2": False}


def enable_control_flow_v2() -> None:
    """Keeps that functional control flow is wanted: ``tf.cond`` and ``tf.while_loop`` are functional inside anyway."""
    _chosen["control_flow_v2"] = True


def disable_control_flow_v2() -> None:
    """Takes ``enable_control_flow_v2`` back; nothing else changes."""
    _chosen["control_flow_v2"] = False


def control_flow_v2_enabled() -> bool:
    """Whether ``enable_control_flow_v2`` was called."""
    return _chosen["control_flow_v2"]


def enable_tensor_equality() -> None:
    """Nothing to do: it is about eager tensors; those of graphs are equal if they are the same one, in TensorFlow too."""


def disable_tensor_equality() -> None:
    """Nothing to do: ``a == b`` compares identity."""
