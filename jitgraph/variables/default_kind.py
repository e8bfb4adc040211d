"""Whether new variables are resource variables unless they are told otherwise."""
from __future__ import annotations

_resource_variables = False


def enable_resource_variables() -> None:
    """Makes ``tf.get_variable`` and ``tf.Variable`` make resource variables unless they are told otherwise."""
    global _resource_variables
    _resource_variables = True


def disable_resource_variables() -> None:
    """Makes new variables reference variables again."""
    global _resource_variables
    _resource_variables = False


def resource_variables_enabled() -> bool:
    """Whether new variables are resource variables."""
    return _resource_variables
