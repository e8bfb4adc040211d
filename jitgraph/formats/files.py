"""Writing files so that a reader never meets half of one, and the errors of the file system as TensorFlow's."""
from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from jitgraph.graph import errors

_BY_ERRNO = {errno.ENOENT: errors.NotFoundError, errno.EACCES: errors.PermissionDeniedError,
             errno.EPERM: errors.PermissionDeniedError, errno.EROFS: errors.PermissionDeniedError,
             errno.EEXIST: errors.AlreadyExistsError, errno.ENOSPC: errors.ResourceExhaustedError,
             errno.EDQUOT: errors.ResourceExhaustedError, errno.EMFILE: errors.ResourceExhaustedError,
             errno.EISDIR: errors.FailedPreconditionError, errno.ENOTDIR: errors.FailedPreconditionError,
             errno.ENOTEMPTY: errors.FailedPreconditionError, errno.EBUSY: errors.FailedPreconditionError,
             errno.ETXTBSY: errors.FailedPreconditionError, errno.EPIPE: errors.FailedPreconditionError,
             errno.ENFILE: errors.ResourceExhaustedError, errno.EMLINK: errors.ResourceExhaustedError,
             errno.ENOMEM: errors.ResourceExhaustedError, errno.EFBIG: errors.OutOfRangeError,
             errno.ENAMETOOLONG: errors.InvalidArgumentError, errno.EINVAL: errors.InvalidArgumentError,
             errno.ENXIO: errors.NotFoundError, errno.ENODEV: errors.NotFoundError, errno.ESTALE: errors.AbortedError,
             errno.EAGAIN: errors.UnavailableError, errno.EINTR: errors.UnavailableError,
             errno.ETIMEDOUT: errors.DeadlineExceededError}
_LOCAL_SCHEME = "file://"
_BY_CLASS = {FileNotFoundError: errno.ENOENT, PermissionError: errno.EACCES, FileExistsError: errno.EEXIST,
             IsADirectoryError: errno.EISDIR, NotADirectoryError: errno.ENOTDIR}


def as_op_error(error: OSError, path: Any = None) -> errors.OpError:
    """The class of ``tf.errors`` for what the file system answered, with the path in its message."""
    # file systems of libraries raise the class alone, without its number
    number = error.errno or next((n for kind, n in _BY_CLASS.items() if isinstance(error, kind)), 0)
    cls = _BY_ERRNO.get(number, errors.UnknownError)
    return cls(None, None, f"{error.filename or path}; {error.strerror or error}")


def local_path(path: str) -> str:
    """The path as the system of this machine knows it: "file:///tmp/model" is "/tmp/model"."""
    return path.removeprefix(_LOCAL_SCHEME)


@contextmanager
def op_errors(path: Any = None) -> Iterator[None]:
    """Within this block, errors of the file system are raised as ``tf.errors``."""
    try:
        yield
    except OSError as error:
        raise as_op_error(error, path) from error


@contextmanager
def replacing(path: str) -> Iterator[Any]:
    """A binary file to write; at the end of the block it takes the place of `path`, all at once.

    After an error, `path` is as it was before; one of the file system names `path`.
    """
    path = local_path(path)
    temporary = f"{path}.tmp{secrets.token_hex(8)}"
    try:
        with open(temporary, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            error.filename, error.filename2 = path, None
        raise


def write_bytes(path: str, data: bytes | bytearray | str) -> None:
    """Writes a whole file, all at once; text as UTF-8."""
    with replacing(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)
