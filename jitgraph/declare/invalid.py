"""The error that the NumPy meaning of an op raises for values it cannot work with."""
from __future__ import annotations

from jitgraph.graph.errors import InvalidArgumentError


def invalid(message: str) -> InvalidArgumentError:
    """An InvalidArgumentError to raise; the session adds the op, its inputs and the user's line."""
    return InvalidArgumentError(None, None, message)
