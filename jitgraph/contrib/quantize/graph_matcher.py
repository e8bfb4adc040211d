"""Patterns of operations, and where they are in a graph."""
from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any


class Pattern:
    """What an operation, and those it reads, may be."""

    name: str | None = None

    def match(self, op: Any, tensor: Any) -> MatchResult | None:
        """What matched, None if it does not; `tensor` is the output of `op` that is read."""
        raise NotImplementedError('Method "match" not implemented.')


class OpTypePattern(Pattern):
    """An operation of one of the types "A|B" ("*": of any), and patterns of its inputs, in order or in any.

    Raises ValueError for more than eight inputs.
    """

    def __init__(self, op_type: str, name: str | None = None, inputs: Any = None, ordered_inputs: bool = True):
        inputs = inputs or []
        if len(inputs) > 8:
            raise ValueError("Only < 8 inputs are allowed when ordered_inputs is False.")
        self.name = name
        self._types = None if op_type == "*" else op_type.split("|")
        self._inputs = [one if isinstance(one, Pattern) else OpTypePattern(one) for one in inputs]
        self._ordered = ordered_inputs

    def match(self, op: Any, tensor: Any) -> MatchResult | None:
        """What matched of the operation and its inputs."""
        if self._types is not None and op.type not in self._types:
            return None
        result = MatchResult()
        result.add(self, op, tensor)
        if not self._inputs:
            return result
        if len(op.inputs) != len(self._inputs):
            return None
        for order in [self._inputs] if self._ordered else itertools.permutations(self._inputs):
            for given, pattern in zip(op.inputs, order):
                found = pattern.match(given.op, given)
                if found is None:
                    break
                result.merge_from(found)
            else:
                return result
        return None


class OneofPattern(Pattern):
    """The first of some patterns that matches."""

    def __init__(self, sub_patterns: list[Pattern]):
        self._patterns = sub_patterns

    def match(self, op: Any, tensor: Any) -> MatchResult | None:
        """What matched of the first one."""
        return next((found for found in (pattern.match(op, tensor) for pattern in self._patterns) if found is not None), None)


class MatchResult:
    """The operation and the tensor that each pattern, or name of a pattern, stands for."""

    def __init__(self) -> None:
        self._found: dict[Pattern, tuple] = {}
        self._named: dict[str, Pattern] = {}

    def add(self, pattern: Pattern, op: Any, tensor: Any) -> None:
        """Says what a pattern stands for.  Raises ValueError for a name that is taken."""
        self._found[pattern] = (op, tensor)
        if pattern.name is not None:
            if pattern.name in self._named:
                raise ValueError(f"Name {pattern.name} is already bound to another pattern")
            self._named[pattern.name] = pattern

    def _pair(self, pattern_or_name: Any) -> tuple:
        if not isinstance(pattern_or_name, (Pattern, str)):
            raise ValueError(f"pattern_or_name has type {type(pattern_or_name)}. Expect Pattern or str.")
        pattern = self._named.get(pattern_or_name) if isinstance(pattern_or_name, str) else pattern_or_name
        return (None, None) if pattern is None else self._found.get(pattern, (None, None))

    def get_op(self, pattern_or_name: Any) -> Any:
        """The operation, None if there is none."""
        return self._pair(pattern_or_name)[0]

    def get_tensor(self, pattern_or_name: Any) -> Any:
        """The tensor, None if there is none."""
        return self._pair(pattern_or_name)[1]

    def merge_from(self, other_match_result: MatchResult) -> None:
        """Adds what another one has."""
        self._found.update(other_match_result._found)
        self._named.update(other_match_result._named)


class GraphMatcher:
    """Looks for a pattern."""

    def __init__(self, pattern: Pattern):
        self._pattern = pattern

    def match_op(self, op: Any) -> MatchResult | None:
        """What matches at `op`."""
        return self._pattern.match(op, None)

    def match_ops(self, ops: Iterable) -> Iterator[MatchResult]:
        """What matches at some operations."""
        for op in ops:
            found = self.match_op(op)
            if found is not None:
                yield found

    def match_graph(self, graph: Any) -> Iterator[MatchResult]:
        """What matches anywhere in a graph."""
        yield from self.match_ops(graph.get_operations())
