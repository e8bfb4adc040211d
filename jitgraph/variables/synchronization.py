"""How copies of a variable on several devices are kept equal: accepted for compatibility."""
from __future__ import annotations

import enum


class VariableSynchronization(enum.Enum):
    """When copies of a variable on several devices are made equal.  Accepted for compatibility."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How copies of a variable on several devices are made equal.  Accepted for compatibility."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3   # noqa: PIE796  (the older name)
