"""How the variables of a layer of ``tf.layers`` become model variables with the names of ``tf.contrib.layers``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.framework.variables import model_variable

WEIGHTS_AND_BIASES = {"bias": "biases", "kernel": "weights"}
"""The names that ``tf.layers`` gives, and those that ``tf.contrib.layers`` gives."""

_TAKEN = ("shape", "dtype", "initializer", "regularizer", "trainable", "collections", "caching_device", "partitioner",
          "use_resource", "synchronization", "aggregation")


def variable_getter(rename: dict[str, str] | None = None) -> Callable:
    """A custom getter of a variable scope: variables become model variables, with the last part of the name changed.

    ``arg_scope`` sets arguments of ``model_variable`` for them too.
    """
    names = rename or {}

    def renaming(getter: Callable, name: str, *args: Any, **kwargs: Any) -> Any:
        outer, slash, last = name.rpartition("/")
        given = dict(zip(_TAKEN, args)) | {key: value for key, value in kwargs.items() if key in _TAKEN}
        return model_variable(outer + slash + names.get(last, last), custom_getter=getter, **given)

    return renaming
