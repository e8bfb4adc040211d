"""Arrays of times and values brought to the shapes of batches, and the times that follow earlier ones."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.timeseries.feature_keys import FilteringResults, TrainEvalFeatures

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
_AXES = ("[number of features]", "[series length, number of features]")
_LACKING = ("a batch or time dimension", "a batch dimension")


def canonicalize_times_or_steps_from_output(times: Any, steps: Any, previous_model_output: dict) -> np.ndarray:
    """The times [batch, window] to predict: `times`, or as many `steps` after those of `previous_model_output`.

    Raises ValueError unless one of both is given, and for times of another batch size or that are not later.
    """
    if steps is not None and times is not None:
        raise ValueError("Only one of `steps` and `times` may be specified.")
    if steps is None and times is None:
        raise ValueError("One of `steps` and `times` must be specified.")
    before = previous_model_output[FilteringResults.TIMES]
    if times is None:
        return before[:, -1:] + 1 + np.arange(steps)[None, ...]
    times = np.array(times)
    if len(times.shape) != 2:
        times = times[None, ...]
    if before.shape[0] != times.shape[0]:
        raise ValueError("`times` must have a batch dimension matching the previous model output (got a batch dimension of "
                         f"{times.shape[0]} for `times` and {before.shape[0]} for the previous model output).")
    if not (before[:, -1] < times[:, 0]).all():
        raise ValueError("Prediction times must be after the corresponding previous model output.")
    return times


def canonicalize_numpy_data(data: dict, require_single_batch: bool) -> dict:
    """Arrays with axes [batch, series, ...] in front, and values with an axis of features, of arrays without some of these.

    Times are a scalar, [series] or [batch, series]; all others have these axes too, and values may have one more.  Raises
    ValueError for other shapes, for lacking times or values, and for several series where `require_single_batch`.
    """
    features = {key: np.array(value) for key, value in data.items()}
    if _TIMES not in features or _VALUES not in features:
        raise ValueError(f"{_TIMES} and {_VALUES} are required features.")
    times = features[_TIMES]
    for key, value in features.items():
        if value.shape[:times.ndim] != times.shape:
            raise ValueError("All features must have their shapes prefixed by the shape of the times feature. Got shape "
                             f"{value.shape} for feature '{key}', but shape {times.shape} for '{_TIMES}'")
    if times.ndim < 2:
        features[_VALUES] = _with_features(features[_VALUES], times.ndim)
        features = {key: value[(None,) * (2 - times.ndim)] for key, value in features.items()}
    elif times.ndim != 2:
        raise ValueError("Got an unexpected number of dimensions for times. Was expecting at most two ([batch size, series "
                         f"length]), but got shape {times.shape}.")
    if require_single_batch and features[_TIMES].shape[0] != 1:
        raise ValueError("Got batch input, was expecting unbatched input.")
    return features


def _with_features(values: np.ndarray, rank: int) -> np.ndarray:
    """Values of times of `rank` with an axis of features."""
    if values.ndim == rank:
        return values[..., None]
    if values.ndim > rank + 1:
        raise ValueError(f"Got an unexpected number of dimensions for the '{_VALUES}' feature. Was expecting at most {rank + 1} "
                         f"dimension{'s' if rank else ''} ({_AXES[rank]}) since '{_TIMES}' does not have {_LACKING[rank]}, but "
                         f"got shape {values.shape}")
    return values
