"""Collections of a graph, and the names that programs agree on (``tf.GraphKeys``)."""
from __future__ import annotations

import re
from typing import Any


class GraphKeys:
    """Names of the standard collections, such as ``tf.GraphKeys.TRAINABLE_VARIABLES``."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    VARIABLES = "variables"                 # the old name of GLOBAL_VARIABLES
    _SUMMARY_COLLECTION = "_SUMMARY_V2"
    _STREAMING_MODEL_PORTS = "streaming_model_ports"
    _VARIABLE_COLLECTIONS = (GLOBAL_VARIABLES, LOCAL_VARIABLES, METRIC_VARIABLES, MODEL_VARIABLES,
                             TRAINABLE_VARIABLES, MOVING_AVERAGE_VARIABLES, CONCATENATED_VARIABLES,
                             TRAINABLE_RESOURCE_VARIABLES)


class Collections:
    """Lists of anything under names, kept in the dict `lists`; one object per graph."""

    def __init__(self, lists: dict[Any, list]) -> None:
        self._lists = lists

    def add(self, name: Any, value: Any) -> None:
        """Appends `value` to the collection `name`."""
        self._lists.setdefault(name, []).append(value)

    def add_to_several(self, names: Any, value: Any) -> None:
        """Appends `value` to each collection of `names` (one name or several; each once).  Raises TypeError for others."""
        if isinstance(names, str):
            names = (names,)
        for name in dict.fromkeys(names):
            self.add(name, value)

    def ref(self, name: Any) -> list:
        """The list itself, made empty if it was not there: changes to it last."""
        return self._lists.setdefault(name, [])

    def get(self, name: Any, scope: str | None = None) -> list:
        """A copy of the collection; with `scope`, only members whose ``name`` matches that regular expression."""
        members = self._lists.get(name)
        if not members:
            return []
        if scope is None:
            return list(members)
        matches = re.compile(scope).match
        return [m for m in members if hasattr(m, "name") and matches(m.name)]

    def names(self) -> list:
        """The names of all collections with a string as name."""
        return [name for name in self._lists if isinstance(name, str)]

    def clear(self, name: Any) -> None:
        """Forgets the collection `name`."""
        self._lists.pop(name, None)
