"""``tensorflow.python.eager.context`` and ``tensorflow.python.tf2``, which libraries ask whether they build a graph: they do."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator

GRAPH_MODE, EAGER_MODE = 0, 1


class Context:
    """What ``context()`` gives."""

    def executing_eagerly(self) -> bool:
        """False: everything is a graph."""
        return False

    in_eager_mode = executing_eagerly


def context() -> Context:
    """The context of this thread."""
    return Context()


def in_graph_mode() -> bool:
    """True: everything is a graph."""
    return True


def in_eager_mode() -> bool:
    """False: everything is a graph."""
    return False


def enabled() -> bool:
    """False, as ``tf2.enabled()``: names mean what they mean in TensorFlow 1."""
    return False


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """A block in which graphs are built, as everywhere."""
    yield
