"""How embeddings are trained on TPUs: the argument `embedding_config_spec` of a TPUEstimator, of which a CPU takes no notice."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph.feature_column.embedding import EmbeddingColumn, SharedEmbeddingColumn
from jitgraph.feature_column.numeric import NumericColumn

_COLUMNS = (NumericColumn, EmbeddingColumn, SharedEmbeddingColumn)


class _Parameters:
    """What all optimizers of embeddings have: a rate, and bounds of weights (None: there is none)."""

    def __init__(self, learning_rate: float, use_gradient_accumulation: bool, clip_weight_min: float | None,
                 clip_weight_max: float | None):
        self.learning_rate, self.use_gradient_accumulation = learning_rate, use_gradient_accumulation
        self.clip_weight_min, self.clip_weight_max = clip_weight_min, clip_weight_max


class AdagradParameters(_Parameters):
    """Those of Adagrad.  Raises ValueError unless `initial_accumulator` is positive."""

    def __init__(self, learning_rate: float, initial_accumulator: float = 0.1, use_gradient_accumulation: bool = True,
                 clip_weight_min: float | None = None, clip_weight_max: float | None = None):
        super().__init__(learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max)
        if initial_accumulator <= 0:
            raise ValueError("Adagrad initial_accumulator must be positive")
        self.initial_accumulator = initial_accumulator


class AdamParameters(_Parameters):
    """Those of Adam.

    Raises ValueError unless 0 <= beta1, beta2 < 1, `epsilon` is positive, and gradients are accumulated or `lazy_adam` is set.
    """

    def __init__(self, learning_rate: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08,
                 lazy_adam: bool = True, sum_inside_sqrt: bool = True, use_gradient_accumulation: bool = True,
                 clip_weight_min: float | None = None, clip_weight_max: float | None = None):
        super().__init__(learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max)
        for name, value in (("beta1", beta1), ("beta2", beta2)):
            if not 0.0 <= value < 1.0:
                raise ValueError(f"{name} must be between 0. and 1; got {value}.")
        if epsilon <= 0.0:
            raise ValueError(f"epsilon must be positive; got {epsilon}.")
        if not use_gradient_accumulation and not lazy_adam:
            raise ValueError("When disabling Lazy Adam, gradient accumulation must be used.")
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon
        self.lazy_adam, self.sum_inside_sqrt = lazy_adam, sum_inside_sqrt


class StochasticGradientDescentParameters(_Parameters):
    """Those of gradient descent."""

    def __init__(self, learning_rate: float, clip_weight_min: float | None = None, clip_weight_max: float | None = None):
        super().__init__(learning_rate, False, clip_weight_min, clip_weight_max)


class _Spec(NamedTuple):
    feature_columns: Any
    optimization_parameters: Any
    clipping_limit: float | None
    pipeline_execution_with_tensor_core: bool
    experimental_gradient_multiplier_fn: Any
    feature_to_config_dict: Any
    table_to_config_dict: Any
    partition_strategy: str


class EmbeddingConfigSpec(_Spec):
    """The embeddings of a model, numeric and embedding columns, and what trains them on a TPU; on a CPU the model's optimizer does.

    Raises ValueError unless there are `feature_columns` or else both dictionaries, for another `partition_strategy` than "div" or
    "mod", and unless `optimization_parameters` are those of ``tf.tpu.experimental``; TypeError for other columns, and for
    dictionaries, whose classes TPUs alone have.
    """

    def __new__(cls, feature_columns: Any = None, optimization_parameters: Any = None, clipping_limit: float | None = None,
                pipeline_execution_with_tensor_core: bool = False, experimental_gradient_multiplier_fn: Any = None,
                feature_to_config_dict: Any = None, table_to_config_dict: Any = None,
                partition_strategy: str = "div") -> EmbeddingConfigSpec:
        by_table = feature_to_config_dict and table_to_config_dict
        if bool(feature_columns) == bool(by_table):
            raise ValueError("Exactly one of `feature_columns` and the pair `feature_to_config_dict` and `table_to_config_dict` "
                             "must be specified.")
        if partition_strategy not in ("div", "mod"):
            raise ValueError(f'Invalid partition_strategy {partition_strategy}. Must be one of "mod" or "div".')
        for column in feature_columns or ():
            if not isinstance(column, _COLUMNS):
                raise TypeError(f"All feature columns must be supported types in {_COLUMNS}. Got {type(column)}")
        if feature_columns and not isinstance(optimization_parameters, _Parameters):
            raise ValueError("optimization_parameters must be an instance of a class of tf.tpu.experimental, as AdagradParameters. "
                             f"Got {type(optimization_parameters)}.")
        if by_table:
            feature, config = next(iter(feature_to_config_dict.items()))
            raise TypeError(f"Config for feature {feature} must be of type `FeatureConfig`, which TPUs alone have: give "
                            f"`feature_columns`. Got {type(config)}")
        return super().__new__(cls, feature_columns, optimization_parameters, clipping_limit, pipeline_execution_with_tensor_core,
                               experimental_gradient_multiplier_fn, feature_to_config_dict, table_to_config_dict,
                               partition_strategy)
