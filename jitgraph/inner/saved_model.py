"""Names of tensorflow.python.saved_model.load."""
from __future__ import annotations

from jitgraph.saved_model.object_loader import load_v2 as load

__all__ = ["load"]
