"""Iterators on the host: what a session keeps of them between runs."""
from __future__ import annotations

import threading
from typing import Any

import numpy as np

from jitgraph.data.source_host import Element, Run, Session, Source, Take
from jitgraph.graph import errors


class Iterator:
    """An iterator; without elements until it is given a source.  `types`, `shapes`: of its components, as attributes."""

    def __init__(self, name: str, types: list, shapes: list):
        self.name, self.types, self.shapes = name, types, shapes
        self.lock = threading.Lock()
        self.take: Take | None = None
        self.session: Session | None = None

    def check_same(self, other: Iterator) -> None:
        """Raises InvalidArgumentError if a node of the same shared name describes other elements."""
        check_types(self.types, other.types)
        check_shapes(self.shapes, other.shapes)

    def begin(self, source: Source, state: Any) -> None:
        """Starts a new iteration over a source."""
        session = Session(state)
        take = source.iterate(Run(session))
        before, self.session, self.take = self.session, session, take
        if before is not None:
            before.close()

    def next(self) -> Element:
        """The next element.  Raises OutOfRangeError at the end, FailedPreconditionError before the beginning."""
        if self.take is None:
            raise errors.FailedPreconditionError(
                None, None, "GetNext() failed because the iterator has not been initialized. Ensure that you have run the "
                            "initializer operation for this iterator before getting the next element.")
        with self.lock:
            try:
                element = self.take()
            except StopIteration:
                raise errors.OutOfRangeError(None, None, "End of sequence") from None
        return tuple(array if array.flags.writeable else np.array(array) for array in element)

    def close(self) -> None:
        """Ends the threads of the present iteration."""
        if self.session is not None:
            self.session.close()

    def __del__(self) -> None:
        self.close()


def check_types(expected: list, found: list) -> None:
    """Raises InvalidArgumentError if the dtypes of two kinds of elements differ."""
    if len(expected) != len(found):
        raise errors.InvalidArgumentError(None, None, f"Number of components does not match: expected {len(expected)} types "
                                                      f"but got {len(found)}.")
    for number, (one, other) in enumerate(zip(expected, found)):
        if one is not other:
            raise errors.InvalidArgumentError(None, None, f"Data type mismatch at component {number}: expected {one.name} but "
                                                          f"got {other.name}.")


def check_shapes(expected: list, found: list) -> None:
    """Raises InvalidArgumentError if the shapes of two kinds of elements cannot agree."""
    from jitgraph.graph.shapes import TensorShape

    for number, (one, other) in enumerate(zip(expected, found)):
        if not TensorShape(one).is_compatible_with(TensorShape(other)):
            raise errors.InvalidArgumentError(None, None, f"Incompatible shapes at component {number}: expected "
                                                          f"{TensorShape(one)} but got {TensorShape(other)}.")
