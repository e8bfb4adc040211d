"""Rows that a query of an SQLite database gives, read while a dataset is gone through."""
from __future__ import annotations

import sqlite3
import weakref
from typing import Any

import numpy as np

from jitgraph.data.source_host import Element, Run, Source, Take
from jitgraph.graph import dtypes, errors
from jitgraph.graph.dtypes import DType
from jitgraph.graph.texts import as_text

# what SQLite converts a value of a column to, before it is cut to the size of the dtype
_KINDS = {"text": (dtypes.string,), "real": (dtypes.float64,),
          "integer": (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.bool_)}


class Rows(Source):
    """The rows of a query, as the text stands, of scalars of `types`.

    Iterating raises InvalidArgumentError for other numbers of columns and for other dtypes, UnknownError for what SQLite
    does not understand.
    """

    def __init__(self, path: str, query: str, types: list[DType]):
        self.path, self.query, self.types = path, query, types

    def iterate(self, run: Run) -> Take:
        kinds = [next((kind for kind, known in _KINDS.items() if dtype in known), None) for dtype in self.types]
        if None in kinds:
            raise errors.InvalidArgumentError(None, None, (
                "Each element of `output_types_` must be one of: DT_STRING, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_UINT8, "
                "DT_UINT16, DT_BOOL, DT_DOUBLE "))
        connection = None
        try:
            connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            connection.text_factory = bytes
            connection.execute("BEGIN")     # what is no query leaves nothing behind
            rows = connection.execute(self.query)
            if len(rows.description or ()) != len(kinds):
                raise errors.InvalidArgumentError(None, None, (
                    f"The number of columns in query ({len(rows.description or ())}) must match the number of elements in "
                    f"output_types ({len(kinds)})."))
        except (sqlite3.Error, errors.InvalidArgumentError) as error:
            if connection is not None:
                connection.close()
            if isinstance(error, errors.InvalidArgumentError):
                raise
            raise errors.UnknownError(None, None, f"Prepare() failed: [1] {error}: {self.query}") from None

        def taken() -> Element:
            row = next(rows, None) if let_go.alive else None
            if row is None:
                let_go()
                raise StopIteration
            return tuple(_array(_converted(connection, value, str(kind)), dtype)
                         for value, kind, dtype in zip(row, kinds, self.types))

        # Others may write into the database again once all rows are read, nobody reads them, or the session is closed.
        let_go = weakref.finalize(taken, connection.close)
        let_go.atexit = False
        run.session.at_end(let_go)
        return taken


def _converted(connection: Any, value: Any, kind: str) -> Any:
    """A value as SQLite converts it: NULL is "" or 0, text that is no number is 0."""
    if value is None:
        return b"" if kind == "text" else 0
    if isinstance(value, bytes if kind == "text" else float if kind == "real" else int):
        return value
    given = as_text(value)
    return connection.execute(f"select cast(? as {kind})", (given,)).fetchone()[0]


def _array(value: Any, dtype: DType) -> np.ndarray:
    if dtype is dtypes.string:
        array = np.empty((), object)
        array[()] = value
        return array
    if dtype is dtypes.float64:
        return np.array(value, np.float64)
    wide = np.array(value, np.int64)
    return wide != 0 if dtype is dtypes.bool_ else wide.astype(dtype.as_numpy_dtype)
