"""``tensorflow.python.util.dispatch``: functions that other types of arguments are given to."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any


def add_dispatch_support(target: Callable) -> Callable:
    """Leaves a function as it is: those that take ragged tensors or linear operators know it themselves."""
    return target


add_dispatch_list = add_dispatch_support


def dispatch_for_types(op: Callable, *types: type) -> Callable[[Callable], Callable]:
    """Decorator of what `op` is to be for arguments of other types.  It is not called: `op` stays as it is."""
    def decorator(func: Callable) -> Callable:
        return func

    return decorator


class OpDispatcher:
    """What could handle a call of an op."""

    NOT_SUPPORTED: Any = object()

    def handle(self, args: Any, kwargs: Any) -> Any:
        """NOT_SUPPORTED."""
        return self.NOT_SUPPORTED
