"""``ForestHParams``: how large forests are, and how they grow."""
from __future__ import annotations

import math
import numbers
import random
from typing import Any

from google.protobuf import text_format

from jitgraph.protobuf import messages

CLASSIFICATION, REGRESSION = (0, 0), (2, 2)         # the model of leaves, and what is known of them
_SPLITS = {"less_or_equal": 0, "less": 1}
_ELSEWHERE = {
    "model_name": ("all_dense", "leaves count all classes"),
    "split_finish_name": ("basic", "leaves are split once enough examples came"),
    "split_pruning_name": ("none", "all candidates for splits are kept"),
    "initialize_average_splits": (False, "splits lie at the value of an example"),
    "inference_tree_paths": (False, "predictions have no paths"),
    "checkpoint_stats": (False, "checkpoints have the trees alone"),
    "param_file": (None, "all parameters are arguments"),
}


class ForestHParams:
    """The parameters of a forest; further ones, such as `num_classes`, `num_features` and `regression`, are given by name.

    `num_trees` trees grow to `max_nodes` nodes; each sees `bagging_fraction` of the examples and `feature_bagging_fraction` of the
    features.  A leaf is split after `split_after_samples` examples, by one of `num_splits_to_consider` candidates; both are
    numbers, or DepthDependentParams as text.  `base_random_seed` other than 0 makes growth repeatable.
    """

    def __init__(self, num_trees: int = 100, max_nodes: int = 10000, bagging_fraction: float = 1.0, num_splits_to_consider: Any = 0,
                 feature_bagging_fraction: float = 1.0, max_fertile_nodes: int = 0, split_after_samples: Any = 250,
                 valid_leaf_threshold: int = 1, dominate_method: str = "bootstrap", dominate_fraction: float = 0.99,
                 model_name: str = "all_dense", split_finish_name: str = "basic", split_pruning_name: str = "none",
                 prune_every_samples: int = 0, early_finish_check_every_samples: int = 0, collate_examples: bool = False,
                 checkpoint_stats: bool = False, use_running_stats_method: bool = False,
                 initialize_average_splits: bool = False, inference_tree_paths: bool = False, param_file: Any = None,
                 split_name: str = "less_or_equal", **kwargs: Any):
        given = {name: value for name, value in locals().items() if name not in ("self", "kwargs", "__class__")}
        vars(self).update(given)
        vars(self).update(kwargs)

    def values(self) -> dict[str, Any]:
        """The parameters by name."""
        return vars(self)

    def fill(self) -> ForestHParams:
        """Computes the rest of them; returns itself.

        Raises AttributeError without `num_classes` and `num_features`, KeyError for another `split_name`, NotImplementedError for
        ways of growth that are not here.
        """
        for name, (only, meaning) in _ELSEWHERE.items():
            if getattr(self, name) != only:
                raise NotImplementedError(f"{name}={getattr(self, name)!r} of tensor_forest is not part of jitgraph: {meaning}; "
                                          "leave it out.")
        features, classes = self.num_features, self.num_classes
        self.bagged_num_features = int(self.feature_bagging_fraction * features)
        self.bagged_features = None
        if self.feature_bagging_fraction < 1.0:
            self.bagged_features = [random.sample(range(features), self.bagged_num_features) for _ in range(self.num_trees)]
        self.regression = getattr(self, "regression", False)
        self.num_outputs = classes if self.regression else 1
        self.num_output_columns = classes + 1
        self.num_splits_to_consider = self.num_splits_to_consider or min(max(10, math.floor(math.sqrt(features))), 1000)
        self.base_random_seed = getattr(self, "base_random_seed", 0)
        self.leaf_model_type, self.stats_model_type = REGRESSION[:2] if self.regression else CLASSIFICATION
        self.finish_type = self.pruning_type = self.prune_every_samples = self.early_finish_check_every_samples = 0
        self.split_type = _SPLITS[self.split_name]
        return self

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _set(message: Any, value: Any) -> None:
    if isinstance(value, numbers.Number) or value.isdigit():
        message.constant_value = float(value)       # type: ignore[arg-type]
    else:
        text_format.Merge(value, message, descriptor_pool=messages.POOL)


def build_params_proto(params: Any) -> Any:
    """The parameters as a message, which the ops take."""
    made = messages.TensorForestParams(
        num_trees=params.num_trees, max_nodes=params.max_nodes, is_regression=params.regression, num_outputs=params.num_classes,
        num_features=params.num_features, leaf_type=params.leaf_model_type, stats_type=params.stats_model_type,
        inequality_test_type=params.split_type, collate_examples=params.collate_examples,
        use_running_stats_method=params.use_running_stats_method)
    _set(made.pruning_type.when, params.prune_every_samples)
    _set(made.finish_type.when, params.early_finish_check_every_samples)
    _set(made.split_after_samples, params.split_after_samples)
    _set(made.num_splits_to_consider, params.num_splits_to_consider)
    made.dominate_fraction.constant_value = params.dominate_fraction
    return made
