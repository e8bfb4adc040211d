"""What is used again once nobody has the object that stands for it any more."""
from __future__ import annotations

import weakref
from collections import deque
from typing import Any


class _Sign(weakref.ref[Any]):
    """A weak reference that knows what is to be used again."""

    __slots__ = ("what",)
    what: Any


class Returns:
    """What comes back from objects that have died.

    A ``__del__``, as any Python code that runs when an object dies, would swallow the KeyboardInterrupt that Python raises in it:
    of a loop that takes and drops objects in each iteration, Ctrl-C would now and then have no effect.  So nothing but C runs
    then: the weak reference is put into a queue.  That may happen at any time, in any thread, and calls no driver.
    """

    def __init__(self) -> None:
        self._back: deque[_Sign] = deque()
        self._out: dict[int, _Sign] = {}

    def expect(self, owner: Any, what: Any) -> None:
        """`what` comes back when `owner` dies.  The caller has the lock of whoever hands out."""
        sign = _Sign(owner, self._back.append)
        sign.what = what
        self._out[id(sign)] = sign

    def come(self) -> list[Any]:
        """What has come back since the last call.  The caller has that lock."""
        found = []
        while self._back:
            sign = self._back.popleft()
            self._out.pop(id(sign))
            found.append(sign.what)
        return found
