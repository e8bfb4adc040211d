"""The optional features of rewritten functions, and what the program has asked for at the moment."""
from __future__ import annotations

import enum
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any


class Feature(enum.Enum):
    """What is rewritten besides ifs, loops, calls and logical operators, if the program asks for it.

    LISTS makes lists of the graph of those whose elements have a type, see ``lists``.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All of them."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """All but one, or but several."""
        left = set(exclude) if isinstance(exclude, (list, tuple, set)) else {exclude}
        return tuple(set(cls) - left - {cls.ALL})


@dataclass(frozen=True)
class Options:
    """How a function is rewritten: whether those that it calls are too, whether the program named it, and the features."""

    recursive: bool = True
    requested: bool = False
    converts_others: bool = True
    features: frozenset[Feature] = frozenset()

    @classmethod
    def of(cls, features: Any, recursive: bool = True, requested: bool = True) -> Options:
        """Options with one feature, several, or none."""
        found = (features,) if isinstance(features, Feature) else features or ()
        return cls(recursive, requested, True, frozenset(found))

    def uses(self, feature: Feature) -> bool:
        """Whether a feature is asked for."""
        return Feature.ALL in self.features or feature in self.features

    def of_called(self) -> Options:
        """Those of the functions that a function calls."""
        return replace(self, requested=False, converts_others=self.recursive)


class Status(enum.Enum):
    """Whether the functions that are given to TensorFlow at the moment are rewritten."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


_local = threading.local()


def status() -> Status:
    """The status of this thread."""
    return getattr(_local, "statuses", [Status.UNSPECIFIED])[-1]


@contextmanager
def under(one: Status) -> Iterator[None]:
    """A block with that status."""
    before = getattr(_local, "statuses", [Status.UNSPECIFIED])
    _local.statuses = [*before, one]
    try:
        yield
    finally:
        _local.statuses = before
