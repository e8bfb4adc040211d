"""What exported models of time series take."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.timeseries.feature_keys import TrainEvalFeatures
from jitgraph.contrib.timeseries.heads import state_to_dictionary
from jitgraph.estimator.receivers import ServingInputReceiver
from jitgraph.feature_column.column import make_parse_example_spec
from jitgraph.feature_column.numeric import numeric_column
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.graph import Graph
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.fill import ones, zeros, zeros_like
from jitgraph.ops.arrays.identity import placeholder, placeholder_with_default
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import squeeze
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.files.parsing import FixedLenFeature, parse_example

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def raw(model: Any, batch_size: int | None, series_length: int | None) -> ServingInputReceiver:
    """Placeholders of times, values, exogenous features and the state of `model`, which are all also what it takes."""
    size = model.num_features
    times = placeholder(name=_TIMES, dtype=dtypes.int64, shape=[batch_size, series_length])
    # for predictions no values are fed
    nothing = zeros(shape=[batch_size or 0, series_length or 0, size], dtype=model.dtype)
    found = {_TIMES: times,
             _VALUES: placeholder_with_default(nothing, name=_VALUES, shape=(batch_size, series_length, size))}
    for key, (shape, dtype) in _exogenous(model).items():
        found[key] = placeholder(dtype=dtype, name=key, shape=[batch_size, series_length, *shape[1:]])
    found.update(_start_states(model, shape_of(times)[0], batch_size))
    return ServingInputReceiver(found, found)


def _exogenous(model: Any) -> dict:
    """{exogenous feature of a time: (shape [batch, ...], dtype)}"""
    if not model.exogenous_feature_columns:
        return {}
    with Graph().as_default():
        parsed = parse_example(serialized=placeholder(shape=[None], dtype=dtypes.string),
                               features=make_parse_example_spec(model.exogenous_feature_columns))
        return {key: (value.shape.with_rank_at_least(1).as_list(), value.dtype) for key, value in parsed.items()}


def parsed(model: Any, known: int, predicted: int, batch_size: int | None, values_dtype: Any,
           values_length: int) -> ServingInputReceiver:
    """Features of serialized examples [batch], each with `known` + `predicted` times and `values_length` values.

    Raises ValueError for exogenous features of different lengths that are no strings.
    """
    columns = [numeric_column(key=_TIMES, dtype=dtypes.int64),
               numeric_column(key=_VALUES, dtype=values_dtype, shape=(model.num_features,))]
    spec: dict[str, Any] = {}
    for key, one in make_parse_example_spec([*model.exogenous_feature_columns, *columns]).items():
        length = values_length if key == _VALUES else known + predicted
        if isinstance(one, FixedLenFeature):
            spec[key] = one._replace(shape=(length, *one.shape))
        elif one.dtype == dtypes.string:
            spec[key] = FixedLenFeature(shape=(length,), dtype=dtypes.string)
        else:
            raise ValueError(f"VarLenFeatures not supported, got {one} for key {key}")
    examples = placeholder(shape=[batch_size], dtype=dtypes.string, name="input")
    features = parse_example(serialized=examples, features=spec)
    features[_TIMES] = squeeze(features[_TIMES], axis=-1)
    features[_VALUES] = cast(features[_VALUES], dtype=model.dtype)[:, :known]
    features.update(_start_states(model, shape_of(features[_TIMES])[0], batch_size))
    return ServingInputReceiver(features, {"examples": examples})


def _start_states(model: Any, batch_size: Any, static_batch_size: int | None) -> dict:
    """Placeholders of the parts of a state, by default zeros."""
    with Graph().as_default():          # the shapes of a state may need variables, which are not wanted here
        model.initialize_graph()
        state = nest.map_structure(lambda one: constant_value(zeros_like(one)), model.get_start_state())
    found = {}
    for name, value in state_to_dictionary(state).items():
        shape = TensorShape((static_batch_size,)).concatenate(value.shape)
        default = tile(value[None, ...], concat([batch_size[None], ones(len(value.shape), dtype=dtypes.int32)], axis=0))
        found[name] = placeholder_with_default(default, name=name, shape=shape)
    return found
