"""``tf.layers.experimental``: layers that keep their variables to themselves, as Keras's do, and use no variable scopes."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from jitgraph.variables.variable import Variable

_chosen = {"keras_style": False}


def keras_style() -> bool:
    """Whether layers that are made now are of Keras's style."""
    return _chosen["keras_style"]


@contextlib.contextmanager
def keras_style_scope() -> Iterator[None]:
    """A block in which the layers and RNN cells of ``tf`` that are made have variables of their own.

    They share none by name, take neither ``scope`` nor ``reuse`` (ValueError), and their updates stay out of UPDATE_OPS.
    """
    before = _chosen["keras_style"]
    _chosen["keras_style"] = True
    try:
        yield
    finally:
        _chosen["keras_style"] = before


def set_keras_style() -> None:
    """Has all layers that are made from now on be as those in a ``keras_style_scope``; there is no way back."""
    _chosen["keras_style"] = True


def refuse(argument: str, value: Any) -> None:
    """Raises ValueError for an argument of variable scopes that is given to a layer of Keras's style."""
    if value is not None:
        raise ValueError(f"{argument} argument not allowed when keras style layers are enabled, but saw: {value}")


def own_variable(name: str, shape: Any, dtype: Any, initializer: Any, **options: Any) -> Any:
    """A new resource variable in the present name scope, which begins with what `initializer` gives for `shape`."""
    value = (lambda: initializer(shape, dtype=dtype)) if callable(initializer) else initializer
    if options["use_resource"] is None:
        options["use_resource"] = True
    return Variable(value, name=name, dtype=dtype if callable(initializer) else None, **options)
