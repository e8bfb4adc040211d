"""The keys of features and results of time series."""
from __future__ import annotations

from jitgraph.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class State:
    """Keys of the state of a model: as one structure, and the beginning of the keys of its tensors in a SavedModel."""

    STATE_TUPLE = "start_tuple"
    STATE_PREFIX = "model_state"


class Times:
    """The key of the times: integers that increase."""

    TIMES = "times"


class Values:
    """The key of the values, one or more numbers for each time."""

    VALUES = "values"


class TrainEvalFeatures(Times, Values):
    """Keys of features in training and evaluation."""


class PredictionFeatures(Times, State):
    """Keys of features in prediction."""


class FilteringFeatures(Times, Values, State):
    """Keys of features in filtering."""


class PredictionResults(Times):
    """Keys of what prediction returns, beside those of the model."""


class FilteringResults(Times, State):
    """Keys of what evaluation returns, beside those of the model."""


class SavedModelLabels:
    """Names of the signatures of exported models."""

    PREDICT = DEFAULT_SERVING_SIGNATURE_DEF_KEY
    FILTER = "filter"
    COLD_START_FILTER = "cold_start_filter"
