"""Files that a model needs: what is saved of them with it."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor, register_tensor_conversion_function
from jitgraph.graph.scopes import init_scope
from jitgraph.graph.tensor import Tensor


class TrackableAsset:
    """A file; as a tensor it is its path.  A model that holds it is saved with the file."""

    _checkpoint_dependencies: tuple = ()

    def __init__(self, path: Any):
        with init_scope():
            self._path = convert_to_tensor(path, dtypes.string, name="asset_path")

    @property
    def asset_path(self) -> Tensor:
        """The path, a scalar string."""
        return self._path


def _to_tensor(value: TrackableAsset, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    return value.asset_path


register_tensor_conversion_function(TrackableAsset, _to_tensor)
