"""The pairs of LMDB databases, read by the package ``lmdb``, which is installed with the extra of that name."""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from jitgraph import installing
from jitgraph.graph.errors import InvalidArgumentError


def pairs(path: str) -> Iterator[tuple[bytes, bytes]]:
    """(key, value) of all that stands in the database at `path`, a file or a folder, by keys.

    Raises InvalidArgumentError if there is none, ImportError without the package ``lmdb``.
    """
    lmdb = _package()
    try:
        environment = lmdb.open(path, subdir=os.path.isdir(path), readonly=True, lock=False, create=False)
    except lmdb.Error as error:
        raise InvalidArgumentError(None, None, str(error)) from None
    with environment, environment.begin() as transaction, transaction.cursor() as cursor:
        for key, value in cursor:
            yield bytes(key), bytes(value)


def _package() -> Any:
    try:
        import lmdb
    except ImportError:
        raise ImportError(f"LMDB files are read by the package lmdb, which is not installed: {installing.advice('lmdb')}") from None
    return lmdb
