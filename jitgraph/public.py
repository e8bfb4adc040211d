"""Public values and switches that have no other home."""
from __future__ import annotations

newaxis = None
VERSION = "1.15.5"                      # the TensorFlow whose interface this is
GIT_VERSION = "v1.15.5-jitgraph"
COMPILER_VERSION = "LLVM"
GRAPH_DEF_VERSION = 134                 # of the GraphDefs that TensorFlow 1.15 writes; readers of all versions accept it
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0

_resource_variables = False


def executing_eagerly() -> bool:
    """False: everything is a graph."""
    return False


def disable_eager_execution() -> None:
    """Nothing to do: everything is a graph."""


def disable_v2_behavior() -> None:
    """Nothing to do: this is the interface of TensorFlow 1."""


def disable_v2_tensorshape() -> None:
    """Nothing to do: ``x.shape[0]`` is a Dimension."""


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
