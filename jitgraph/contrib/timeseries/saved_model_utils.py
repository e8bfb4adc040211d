"""Prediction and filtering with an exported model: ``tf.contrib.timeseries.saved_model_utils``."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.timeseries.continued_times import canonicalize_numpy_data, canonicalize_times_or_steps_from_output
from jitgraph.contrib.timeseries.feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
)
from jitgraph.contrib.timeseries.heads import state_to_dictionary


def _run(session: Any, signature: Any, features: dict, continue_from: dict | None = None) -> dict:
    """{output: value} of a signature, for features and the state that `continue_from` has."""
    state = continue_from or {}
    if FilteringResults.STATE_TUPLE in state:
        state = state_to_dictionary(state[FilteringResults.STATE_TUPLE])

    def tensors(infos: Any) -> dict:
        return {key: session.graph.as_graph_element(info.name) for key, info in infos.items()}

    inputs = tensors(signature.inputs)
    feeds = {inputs[key]: value for part in (state, features) for key, value in part.items()}
    found: dict = session.run(tensors(signature.outputs), feed_dict=feeds)
    return found


def predict_continuation(continue_from: dict, signatures: Any, session: Any, steps: int | None = None, times: Any = None,
                         exogenous_features: dict | None = None) -> dict:
    """The predictions of a model that `session` has loaded, and their times [batch, window].

    `continue_from` is what ``evaluate`` or a filter returned; `signatures` the MetaGraphDef of the model.  Either `steps`, how many
    times, or `times` [batch, window]; `exogenous_features` [batch, window, ...].  Raises ValueError for both or none, and for times
    that are not later.
    """
    found = canonicalize_times_or_steps_from_output(times=times, steps=steps, previous_model_output=continue_from)
    features = {PredictionFeatures.TIMES: found, **(exogenous_features or {})}
    output = _run(session, signatures.signature_def[SavedModelLabels.PREDICT], features, continue_from)
    output[PredictionResults.TIMES] = features[PredictionFeatures.TIMES]
    return output


def cold_start_filter(signatures: Any, session: Any, features: dict) -> dict:
    """The state, by the names of its parts, after `features` from the start, and their times.

    `features`: times and values, as scalars, [series] or [batch, series], values with an axis of features; others in these shapes.
    Raises ValueError for other shapes.
    """
    return _filtered(signatures, session, features, SavedModelLabels.COLD_START_FILTER, None)


def filter_continuation(continue_from: dict, signatures: Any, session: Any, features: dict) -> dict:
    """As ``cold_start_filter``, from the state that `continue_from` has: what ``evaluate`` or a filter returned."""
    return _filtered(signatures, session, features, SavedModelLabels.FILTER, continue_from)


def _filtered(signatures: Any, session: Any, features: dict, label: str, continue_from: dict | None) -> dict:
    features = canonicalize_numpy_data(features, require_single_batch=False)
    output = _run(session, signatures.signature_def[label], features, continue_from)
    output[FilteringResults.TIMES] = features[FilteringFeatures.TIMES]
    return output
