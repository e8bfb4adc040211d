"""The order in which a hash set of the C++ library gives its elements: new nodes of trees are numbered by it."""
from __future__ import annotations

_BUCKETS = (2, 5, 11, 23, 47, 97, 199, 409, 823, 1741, 3739, 7517, 15173, 30727, 62233)


class HashedOrder:
    """A set of integers, as ``std::unordered_set`` of libstdc++ 5: one list, with the elements of a bucket side by side.

    An element of an empty bucket comes to the beginning of the list, another one to the beginning of its bucket.
    """

    def __init__(self) -> None:
        self._buckets = _BUCKETS[0]
        self._order: list[int] = []

    def insert(self, item: int) -> None:
        """Adds an element, if it is not there."""
        if item in self._order:
            return
        if len(self._order) + 1 > self._buckets:
            self._buckets = next(count for count in _BUCKETS if count > self._buckets)
            old, self._order = self._order, []
            for one in old:
                self._link(one)
        self._link(item)

    def _link(self, item: int) -> None:
        bucket = item % self._buckets
        first = next((place for place, one in enumerate(self._order) if one % self._buckets == bucket), 0)
        self._order.insert(first, item)

    def items(self) -> list[int]:
        """The elements in order."""
        return self._order
