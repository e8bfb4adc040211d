"""``tensorflow.python.util.serialization``: what ``json.dumps`` cannot write, as what it can."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jitgraph.graph.shapes import Dimension, TensorShape


def get_json_type(obj: Any) -> Any:
    """For ``json.dumps(default=...)``: arrays, shapes and mappings as lists, numbers and dicts, classes and functions by names, and
    {"class_name": ..., "config": ...} of what has a ``get_config``.  Raises TypeError for anything else."""
    if hasattr(obj, "get_config"):
        return {"class_name": type(obj).__name__, "config": obj.get_config()}
    if isinstance(obj, (np.ndarray, np.generic)):
        return obj.tolist() if isinstance(obj, np.ndarray) else obj.item()
    if callable(obj):
        return obj.__name__
    if isinstance(obj, TensorShape):
        return obj.as_list()
    if isinstance(obj, Dimension):
        return obj.value
    if isinstance(obj, Mapping):
        return dict(obj)
    raise TypeError("Not JSON Serializable:", obj)
