"""``tensorflow.contrib.tensor_forest.python.ops.data_ops``, by which tflearn hands forests and clusters their data."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.tensor_forest.forest_inputs import features_of, labels_of

ParseLabelTensorOrDict = labels_of


def ParseDataTensorOrDict(data: Any) -> tuple:
    """(float32 [n, features], None for the sparse features, what describes the columns), as ``features_of`` has them."""
    features, spec = features_of(data)
    return features, None, spec
