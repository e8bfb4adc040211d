"""``tensorflow.tools.graph_transforms``: a GraphDef rewritten by a list of named transforms."""
from __future__ import annotations

from jitgraph.tools.graph_transforms.transforms import TransformGraph as TransformGraph
