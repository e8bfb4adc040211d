"""The error classes of ``tf.errors``.

Each carries ``op`` (the Operation or None), ``node_def``, ``message`` and ``error_code``.  An example of how each
arises and how to mend it stands in its docstring.
"""
from __future__ import annotations

from traceback import StackSummary
from typing import Any

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OperatorNotAllowedInGraphError(TypeError):
    """A tensor stands where Python wants a value: ``if t:``, ``for row in t``.  Mend: ``tf.cond``, ``tf.map_fn``."""


class OpError(Exception):
    """Base of every error that arises while a graph runs: ``OpError(node_def, op, message, error_code)``."""

    code = UNKNOWN

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int):
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code

    def __reduce__(self):
        # An Operation belongs to a live graph, so the pickled error keeps its words only.
        if type(self) is OpError:
            return OpError, (None, None, self._message, self._error_code)
        return type(self), (None, None, self._message)

    @property
    def message(self) -> str:
        """What went wrong, in words."""
        return self._message

    @property
    def op(self) -> Any:
        """The Operation that failed, or None if it is not known (or was made by the compiler)."""
        return self._op if self._op is None else getattr(self._op, "origin", None) or self._op

    @property
    def node_def(self) -> Any:
        """The NodeDef of the operation that failed, or None."""
        if self._node_def is None and self._op is not None:
            return self._op.node_def
        return self._node_def

    @property
    def error_code(self) -> int:
        """The canonical error code, as in the constants of this module."""
        return self._error_code

    def __str__(self) -> str:
        if self._op is None:
            return self._message
        site = getattr(self._op, "site", None)
        where = f", created at {site[0]}:{site[1]}" if site else ""
        text = f"{self._message}\n\t [[node {self._op.name} (op: '{self._op.type}'){where}]]"
        way = getattr(self._op, "way", ())
        if len(way) > 1:            # else the line above says it all
            stack = "".join(StackSummary.from_list(way).format())
            text += f"\n\nOriginal stack trace for '{self._op.name}':\n{stack.rstrip()}"
        return text


class _Coded(OpError):
    """Base of the classes that stand for a code."""

    def __init__(self, node_def: Any, op: Any, message: str):
        super().__init__(node_def, op, message, self.code)


class CancelledError(_Coded):
    """A blocking operation was cancelled: its queue was closed with ``cancel_pending_enqueues=True``, or its session.

    Mend: treat it as the end of the work in the thread that waited.
    """

    code = CANCELLED


class UnknownError(_Coded):
    """A Python function called by the graph raised an exception of a class with no code of its own.

    Example: ``tf.py_func`` around a function that raises a ``KeyError``.  Mend: the message holds that error.
    """

    code = UNKNOWN

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int = UNKNOWN):
        OpError.__init__(self, node_def, op, message, error_code)


class InvalidArgumentError(_Coded):
    """A value does not suit the operation that receives it.

    Examples: a placeholder that was not fed; ``tf.add`` of shapes [2] and [3] known only at run time; integer division
    by zero; an index out of range.  Mend: the message names the operation, the shapes or values, and your line.
    """

    code = INVALID_ARGUMENT


class DeadlineExceededError(_Coded):
    """``RunOptions(timeout_in_ms=...)`` passed before the run ended.  Mend: a longer limit, or find what blocks."""

    code = DEADLINE_EXCEEDED


class NotFoundError(_Coded):
    """A file, or a name in a checkpoint, does not exist.  Mend: compare with ``tf.train.list_variables(path)``."""

    code = NOT_FOUND


class AlreadyExistsError(_Coded):
    """What was to be created is there already, for example a file or a table key with another value."""

    code = ALREADY_EXISTS


class PermissionDeniedError(_Coded):
    """The file system does not let this process read or write a path."""

    code = PERMISSION_DENIED


class ResourceExhaustedError(_Coded):
    """Memory or disk is used up.  Mend: smaller batches; ``jitgraph inspect`` shows the peak of a plan."""

    code = RESOURCE_EXHAUSTED


class FailedPreconditionError(_Coded):
    """The state an operation needs is not there yet.

    Example: ``sess.run(w + 1.0)`` before ``sess.run(tf.global_variables_initializer())`` answers
    "Attempting to use uninitialized value w".  Mend: run the initializer, or restore a checkpoint, first.
    """

    code = FAILED_PRECONDITION


class AbortedError(_Coded):
    """An operation was given up, typically because of a concurrent change."""

    code = ABORTED


class OutOfRangeError(_Coded):
    """The end of the input is reached: a closed and empty queue, the last element of a dataset, ``count_up_to``.

    Mend: this is how input loops end; catch it.
    """

    code = OUT_OF_RANGE


class UnimplementedError(_Coded):
    """The operation exists, but not for these dtypes, attributes or this device."""

    code = UNIMPLEMENTED


class InternalError(_Coded):
    """An invariant of jitgraph itself is broken: please report it with the program."""

    code = INTERNAL


class UnavailableError(_Coded):
    """A service is not there at the moment, such as another process of a cluster."""

    code = UNAVAILABLE


class DataLossError(_Coded):
    """A file is damaged: a checksum does not fit, or it ends too early."""

    code = DATA_LOSS


class UnauthenticatedError(_Coded):
    """The caller has no valid credentials for the operation."""

    code = UNAUTHENTICATED


_LISTED: list[type[OpError]] = [
    CancelledError, UnknownError, InvalidArgumentError, DeadlineExceededError, NotFoundError, AlreadyExistsError,
    PermissionDeniedError, ResourceExhaustedError, FailedPreconditionError, AbortedError, OutOfRangeError,
    UnimplementedError, InternalError, UnavailableError, DataLossError, UnauthenticatedError]
_CLASSES = {cls.code: cls for cls in _LISTED}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class for a code: ``exception_type_from_error_code(3)`` is InvalidArgumentError."""
    return _CLASSES[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """The code of a class, UNKNOWN for classes that are not of this module."""
    return cls.code if issubclass(cls, OpError) else UNKNOWN
