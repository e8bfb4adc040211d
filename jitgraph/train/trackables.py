"""``AutoTrackable``: an object whose attributes are saved with it."""
from __future__ import annotations

from typing import Any

from jitgraph.train.object_graph import is_trackable, leave_out, left_out

_OURS = ("_graph_functions", "_saved_functions")       # what is kept of functions is no attribute of the program's


class NoDependency:
    """Around a value that is assigned to an attribute of an object that is saved: the value is kept there, but not saved."""

    def __init__(self, value: Any):
        self.value = value


class AutoTrackable:
    """An object that checkpoints and saved models know by its attributes: variables, functions, and objects that hold some."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, NoDependency):
            value = value.value
            leave_out(self, {name})
        super().__setattr__(name, value)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in vars(self).items()
                if name not in _OURS and is_trackable(value) and name not in left_out(self)]
