"""``tf.errors.raise_exception_on_not_ok_status``: what TensorFlow's Python wrote around calls of its C interface."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import errors


class Status:
    """What a call came to: `code` is 0, or that of an error with its `message`."""

    def __init__(self) -> None:
        self.code, self.message = errors.OK, ""


class raise_exception_on_not_ok_status:
    """A context that gives a status, and raises the error that it tells of when it is left.

    Nothing here sets a status by itself: what fails raises its ``tf.errors.OpError`` where it fails.
    """

    def __enter__(self) -> Status:
        self.status = Status()
        return self.status

    def __exit__(self, *error: Any) -> None:
        status = self.__dict__.pop("status")
        if status.code != errors.OK:
            kind: Any = errors.exception_type_from_error_code(status.code)
            raise kind(None, None, status.message)
