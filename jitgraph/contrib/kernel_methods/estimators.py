"""``KernelLinearClassifier``: a linear classifier of features that kernels have mapped."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jitgraph.app.logs import warning
from jitgraph.contrib.kernel_methods.mapping import DenseKernelMapper
from jitgraph.contrib.layers.old_columns import _RealValuedColumn, real_valued_column
from jitgraph.contrib.learn.fitted import Estimator
from jitgraph.contrib.learn.heads import multi_class_head
from jitgraph.contrib.learn.model_ops import PredictionKey
from jitgraph.contrib.learn.ready import linear_model_of
from jitgraph.ops.arrays.join import concat


def _mapped(features: dict, feature_columns: Any, kernel_mappers: dict | None) -> tuple[dict, Any]:
    """(the features and those that mappers make of them, the columns and those of the mapped features)."""
    if kernel_mappers is None:
        return features, feature_columns
    features, columns = dict(features), set(feature_columns)
    for column, mappers in kernel_mappers.items():
        if not isinstance(column, _RealValuedColumn):
            warning("Updates are currently supported on RealValuedColumns only. Metadata for FeatureColumn %s will not be updated.",
                    column.name)
            continue
        name = column.name + "_MAPPED"
        columns.add(real_valued_column(name, sum(mapper.output_dim for mapper in mappers)))
        features[name] = concat([mapper.map(features[column.name]) for mapper in mappers], 1)
    return features, columns


def _kernel_model(features: Any, labels: Any, mode: str, params: dict, config: Any = None) -> Any:
    features, columns = _mapped(features, params["feature_columns"], params["kernel_mappers"])
    return linear_model_of(features, labels, mode, {**params, "feature_columns": columns, "gradient_clip_norm": None}, config)


class KernelLinearClassifier(Estimator):
    """A linear classifier over columns, and over what `kernel_mappers` {real valued column: list of mappers} make of some.

    Features are a dict {name: tensor}.  Raises ValueError for fewer than 2 classes, without columns and mappers, and for mappers
    that are no DenseKernelMapper.
    """

    def __init__(self, feature_columns: Any = None, model_dir: Any = None, n_classes: int = 2, weight_column_name: Any = None,
                 optimizer: Any = None, kernel_mappers: dict | None = None, config: Any = None):
        head = multi_class_head(n_classes=n_classes, weight_column_name=weight_column_name)
        if not feature_columns and not kernel_mappers:
            raise ValueError("You should set at least one of feature_columns, kernel_mappers.")
        if not all(isinstance(mapper, DenseKernelMapper) for mappers in (kernel_mappers or {}).values() for mapper in mappers):
            raise ValueError("Invalid kernel mappers.")
        super().__init__(_kernel_model, model_dir, config, {
            "head": head, "feature_columns": feature_columns or [], "optimizer": optimizer, "kernel_mappers": kernel_mappers})

    def predict_classes(self, input_fn: Any = None) -> Iterator[Any]:
        """The class of each example."""
        return (found[PredictionKey.CLASSES] for found in self.predict(input_fn=input_fn, outputs=[PredictionKey.CLASSES]))

    def predict_proba(self, input_fn: Any = None) -> Iterator[Any]:
        """The probabilities of all classes for each example."""
        key = PredictionKey.PROBABILITIES
        return (found[key] for found in self.predict(input_fn=input_fn, outputs=[key]))
