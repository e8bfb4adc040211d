"""Names of ``tensorflow.python.framework.type_spec`` that are not public."""
from __future__ import annotations

from jitgraph.graph.type_specs import TypeSpec


class BatchableTypeSpec(TypeSpec):
    """The base of specs whose values can be stacked."""
