"""Switches between the behaviours of TensorFlow 1 and 2: there is nothing to switch."""
from __future__ import annotations


def executing_eagerly() -> bool:
    """False: everything is a graph."""
    return False


def disable_eager_execution() -> None:
    """Nothing to do: everything is a graph."""


def disable_v2_behavior() -> None:
    """Nothing to do: this is the interface of TensorFlow 1."""


def disable_v2_tensorshape() -> None:
    """Nothing to do: ``x.shape[0]`` is a Dimension."""
