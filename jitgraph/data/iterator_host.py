"""Iterators on the host: what a session keeps of them between runs, and their states as checkpoints hold them."""
from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np

from jitgraph.data.recipes import begun
from jitgraph.data.source_host import Element, Run, Session, Source, Take, passed, stateful_op
from jitgraph.formats.variants import Encoded
from jitgraph.graph import errors

STATE = "jitgraph::Iterator"      # what the state of an iterator is called among the variants of a checkpoint
_UNINITIALIZED = ("{}() failed because the iterator has not been initialized. Ensure that you have run the initializer operation "
                  "for this iterator before {}.")


class Iterator:
    """An iterator; without elements until it is given a source.  `types`, `shapes`: of its components, as attributes."""

    def __init__(self, name: str, types: list, shapes: list):
        self.name, self.types, self.shapes = name, types, shapes
        self.lock = threading.Lock()
        self.take: Take | None = None
        self.session: Session | None = None
        self.source: Source | None = None
        self.taken, self.failed = 0, False          # how many elements, and whether an error stood in the place of one

    def check_same(self, other: Iterator) -> None:
        """Raises InvalidArgumentError if a node of the same shared name describes other elements."""
        check_types(self.types, other.types)
        check_shapes(self.shapes, other.shapes)

    def begin(self, source: Source, state: Any) -> None:
        """Starts a new iteration over a source."""
        session = Session(state)
        self._go_on(source, session, begun(source, session), 0)

    def _go_on(self, source: Source, session: Session, take: Take, taken: int, failed: bool = False) -> None:
        before = self.session
        self.source, self.session, self.take, self.taken, self.failed = source, session, take, taken, failed
        if before is not None:
            before.close()

    def saved(self, allowed: frozenset[str] = frozenset()) -> Encoded:
        """Where the iteration stands: after how many elements, and of which seeds.

        Raises FailedPreconditionError before the beginning, and for functions with state, which cannot be brought back;
        `allowed` ones may be.
        """
        if self.source is None or self.session is None:
            raise errors.FailedPreconditionError(None, None, _UNINITIALIZED.format("Save", "saving it"))
        with self.lock:
            stateful = stateful_op(self.source, allowed)
            if stateful is not None:
                raise errors.FailedPreconditionError(None, None, f"{stateful} is stateful.")
            state = {"taken": self.taken, "failed": self.failed, "drawn": self.session.drawn}
            return Encoded(STATE, json.dumps(state).encode())

    def restore(self, saved: Any, state: Any) -> None:
        """Goes on where an iteration over the same dataset stood.

        Elements before it are gone through again, functions not called where nothing depends on them.  Raises
        FailedPreconditionError before the beginning, InvalidArgumentError for what is no state of an iterator.
        """
        if self.source is None:
            raise errors.FailedPreconditionError(None, None, _UNINITIALIZED.format("Restore", "restoring it"))
        if not isinstance(saved, Encoded) or saved.type_name != STATE:
            raise errors.InvalidArgumentError(
                None, None, "DeserializeIteratorOp: Unable to parse variant tensor. The state of an iterator is what jitgraph "
                            f"saved of one, but this is {getattr(saved, 'type_name', type(saved).__name__)}.")
        found = json.loads(saved.metadata)
        session = Session(state, {place: tuple(seeds) for place, seeds in found["drawn"].items()})
        if found["failed"]:
            take = self.source.iterate(Run(session))    # of batches with an error, fewer elements were taken
            passed(take, found["taken"])
        else:
            take = self.source.resume(Run(session), found["taken"])
        with self.lock:
            self._go_on(self.source, session, take, found["taken"], found["failed"])

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
                self.take = _over       # what it was made of is held no longer
                raise errors.OutOfRangeError(None, None, "End of sequence") from None
            except errors.OpError as error:
                self.taken, self.failed = self.taken + 1, True
                if isinstance(error, errors.OutOfRangeError):       # who loops until the end would take it for that
                    raise errors.InternalError(
                        None, None, "An iterator returned OutOfRange without setting *end_of_sequence. This indicates that an "
                                    f"error may have occurred. Original message: {error.message}") from error
                raise
            self.taken += 1
        return tuple(array if array.flags.writeable else np.array(array) for array in element)

    def close(self) -> None:
        """Ends the threads of the present iteration."""
        if self.session is not None:
            self.session.close()

    def __del__(self) -> None:
        self.close()


def _over() -> Element:
    """What comes after the last element."""
    raise StopIteration


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
