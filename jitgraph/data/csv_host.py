"""The rows of CSV files on the host."""
from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from jitgraph.data import file_host
from jitgraph.data.source_host import Element, Run, Source, Take
from jitgraph.declare.invalid import invalid
from jitgraph.graph import dtypes, errors
from jitgraph.ops.strings.strings import parsed_number

_NAMES = {"float32": "float", "float64": "double"}      # as messages of TensorFlow call them


class Form:
    """How a file is read: separator, quotes, what stands for a missing value, the columns, their types and defaults."""

    def __init__(self, delimiter: bytes, quotes: bool, missing: bytes, columns: list[int], defaults: list, types: list):
        self.delimiter, self.quotes, self.missing = delimiter, quotes, missing
        self.columns, self.defaults, self.types = columns, defaults, types
        self._end = re.compile(b"[\r\n" + re.escape(delimiter) + b"]")

    def record(self, text: bytes, start: int) -> tuple[list[bytes], dict[int, str], int]:
        """(the fields from `start` on, what is wrong with which of them, where the next record begins)"""
        stop = text.find(b"\n", start)
        line = text[start:] if stop < 0 else text[start:stop]
        if b"\r" not in line[:-1] and not (self.quotes and b'"' in line):
            return line.removesuffix(b"\r").split(self.delimiter), {}, len(text) if stop < 0 else stop + 1
        fields: list[bytes] = []
        wrong: dict[int, str] = {}
        while True:
            quoted = self.quotes and text[start:start + 1] == b'"'
            field, complaint, start = self._quoted(text, start + 1) if quoted else self._plain(text, start)
            if complaint:
                wrong[len(fields)] = complaint
            fields.append(field)
            ending = text[start:start + 1]
            start += 1
            if ending != self.delimiter:
                return fields, wrong, start + (ending == b"\r" and text[start:start + 1] == b"\n")

    def _plain(self, text: bytes, start: int) -> tuple[bytes, str, int]:
        found = self._end.search(text, start)
        end = found.start() if found else len(text)
        field = text[start:end]
        return field, "Unquoted fields cannot have quotes inside" if self.quotes and b'"' in field else "", end

    def _quoted(self, text: bytes, start: int) -> tuple[bytes, str, int]:
        pieces, complaint = [], ""
        while True:
            end = text.find(b'"', start)
            if end < 0:
                return b"", "Reached end of file without closing quoted field in record", len(text)
            pieces.append(text[start:end])
            following = text[end + 1:end + 2]
            if following in (b"", b"\r", b"\n", self.delimiter):
                return b"".join(pieces), complaint, end + 1
            if following == b'"':
                pieces.append(b'"')
            else:
                complaint = complaint or "Quote inside a string has to be escaped by another quote"
            start = end + 2

    def element(self, fields: list[bytes], wrong: dict[int, str]) -> Element:
        """The columns of a record.  Raises InvalidArgumentError for the first thing that is wrong with it."""
        count = len(self.types)
        places = self.columns or range(count)
        column, found = 0, []
        for place, field in enumerate(fields):
            if place in wrong:
                raise invalid(wrong[place])
            if column < count and place == places[column]:
                found.append(self._value(field, column))
                column += 1
            elif not self.columns:
                raise invalid(f"Expect {count} fields but have more in record")
        if column < count:
            raise invalid(f"Expect {count} fields but have {column} in record")
        return tuple(found)

    def _value(self, field: bytes, column: int) -> np.ndarray:
        dtype = self.types[column]
        if field in (b"", self.missing):
            if not self.defaults[column].size:
                raise invalid(f"Field {column} is required but missing in record!")
            return self.defaults[column].reshape(-1)[:1].reshape(())
        value: Any = field if dtype is dtypes.string else parsed_number(field, dtype)
        if value is None:
            raise invalid(f"Field {column} in record is not a valid {_NAMES.get(dtype.name, dtype.name)}: "
                          f"{field.decode(errors='backslashreplace')}")
        return np.array(value, dtype.as_numpy_dtype)


class CsvRows(Source):
    """The rows of CSV files, one file after the other; after an error the next row follows."""

    def __init__(self, names: np.ndarray, compression: str, header: bool, form: Form):
        self.names = [os.fsdecode(name) for name in np.ravel(names).tolist()]
        self.compression, self.header, self.form = compression, header, form

    def iterate(self, run: Run) -> Take:
        names, form = iter(self.names), self.form
        text, start = b"", 0

        def row() -> Element:
            nonlocal text, start
            while start >= len(text):
                text, start = file_host.content(next(names), self.compression), 0
                if self.header:
                    _, wrong, start = form.record(text, 0) if text else ([], {0: "nothing"}, 0)
                    if wrong:
                        start = len(text)               # the next call goes on with the next file
                        raise errors.InvalidArgumentError(None, None, "Can't read header of file")
            fields, wrong, start = form.record(text, start)
            return form.element(fields, wrong)

        return row
