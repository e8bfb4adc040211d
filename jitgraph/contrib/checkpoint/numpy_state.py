"""``NumpyState``: arrays of NumPy that ``tf.train.Checkpoint`` saves."""
from __future__ import annotations

import io
from typing import Any

import numpy as np

from jitgraph.train.object_graph import PythonState


class _Array(PythonState):
    """An array as a string."""

    def __init__(self, array: Any):
        self.array = array

    def serialize(self) -> bytes:
        """The bytes of a .npy file."""
        file = io.BytesIO()
        np.save(file, self.array, allow_pickle=False)
        return file.getvalue()

    def deserialize(self, string_value: Any) -> None:
        """Takes the array over."""
        self.array = np.load(io.BytesIO(string_value), allow_pickle=False)


class NumpyState:
    """An object whose attributes are arrays that checkpoints hold.

    ``tf.train.Checkpoint.restore`` reads them at once, and makes those that are not there.  Raises NotImplementedError for
    attributes that are no arrays.
    """

    def __init__(self) -> None:
        self.__dict__["_arrays"] = {}

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return list(self._arrays.items())

    def _lookup_dependency(self, name: str) -> PythonState:
        """The array of that name: an empty one if there is none, which takes over what a checkpoint has."""
        return self._arrays.setdefault(name, _Array(np.array([])))

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__.get("_arrays", {}).get(name)
        if found is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return found.array

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, (np.ndarray, np.generic)):
            raise NotImplementedError(f"Assigned {value} to the {name} property of {self}, which is not a NumPy array. Currently "
                                      "mixing NumPy arrays and other trackable objects is not supported. File a feature request if "
                                      "this limitation bothers you.")
        self._lookup_dependency(name).array = value         # type: ignore[attr-defined]
