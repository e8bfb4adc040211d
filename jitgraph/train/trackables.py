"""``AutoTrackable``: an object whose attributes are saved with it."""
from __future__ import annotations

from typing import Any

from jitgraph.train.object_graph import is_trackable

_OURS = ("_graph_functions", "_saved_functions")       # what is kept of functions is no attribute of the program's


class AutoTrackable:
    """An object that checkpoints and saved models know by its attributes: variables, functions, and objects that hold some."""

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in vars(self).items() if name not in _OURS and is_trackable(value)]
