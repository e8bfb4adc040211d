"""``TPUEstimator`` on a CPU: an Estimator that tells its functions the size of a batch."""
from __future__ import annotations

import math
from typing import Any

from jitgraph.app import logs
from jitgraph.estimator.arguments import argument_names, taken
from jitgraph.estimator.estimator import Estimator
from jitgraph.estimator.modes import ModeKeys
from jitgraph.estimator.spec import EstimatorSpec
from jitgraph.estimator.tpu.configs import RunConfig, iterations_per_loop
from jitgraph.estimator.tpu.spec import TPUEstimatorSpec
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.dtypes import int64
from jitgraph.graph.errors import UnimplementedError
from jitgraph.graph.graph import Graph
from jitgraph.graph.scopes import device
from jitgraph.protobuf.messages import Summary
from jitgraph.train.hooks.summaries import StepCounterHook
from jitgraph.variables.global_steps import get_global_step
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable

_RESERVED = ["batch_size", "context"]


class TPUEstimator(Estimator):
    """An Estimator whose functions find the size of a batch in ``params["batch_size"]``, and ``use_tpu``, False.

    Args:
      model_fn: gives an EstimatorSpec or a TPUEstimatorSpec, and must take `params`, as the input functions.
      config: a ``tf.estimator.tpu.RunConfig``.
      use_tpu: has to be False: UnimplementedError otherwise.
      train_batch_size, eval_batch_size, predict_batch_size: the sizes of batches in these modes.
      batch_axis, eval_on_tpu, export_to_tpu, embedding_config_spec, export_saved_model_api_version: for TPUs alone.
    Raises ValueError for another `config`, for reserved keys in `params`, and for functions that do not take `params`.
    """

    def __init__(self, model_fn: Any = None, model_dir: Any = None, config: Any = None, params: Any = None,
                 use_tpu: bool = True, train_batch_size: int | None = None, eval_batch_size: int | None = None,
                 predict_batch_size: int | None = None, batch_axis: Any = None, eval_on_tpu: bool = True,
                 export_to_tpu: bool = True, export_to_cpu: bool = True, warm_start_from: Any = None,
                 embedding_config_spec: Any = None, export_saved_model_api_version: Any = None):
        if not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{_RESERVED} are reserved keys but existed in params {params}.")
        if use_tpu:
            raise UnimplementedError(None, None, "there is no TPU target: give TPUEstimator use_tpu=False")
        self._batch_sizes = {ModeKeys.TRAIN: train_batch_size, ModeKeys.EVAL: eval_batch_size,
                             ModeKeys.PREDICT: predict_batch_size}
        every = config.log_step_count_steps
        super().__init__(model_fn, model_dir, config.replace(log_step_count_steps=None), params or {}, warm_start_from)
        number, unit = iterations_per_loop(config.tpu_config.iterations_per_loop)
        self._rate_every = {"every_n_steps": None, "every_n_secs": number} if unit == "seconds" else {
            "every_n_steps": None if every is None else math.ceil(every / number), "every_n_secs": None}

    def _create_global_step(self, graph: Graph) -> Any:
        if get_global_step(graph) is not None:
            raise ValueError('"global_step" already exists.')
        with graph.as_default(), graph.name_scope(None):
            return get_variable(GraphKeys.GLOBAL_STEP, shape=[], dtype=int64, initializer=zeros_initializer(), trainable=False,
                                use_resource=True, collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP])

    def _params_of(self, function: Any, what: str, mode: str) -> Any:
        """The params for a function, with the size of a batch, if there is one."""
        if "params" not in argument_names(function):
            raise ValueError(f"{what} ({function}) does not include params argument, required by TPUEstimator to pass batch size "
                             "as params[\"batch_size\"]")
        params = self.params
        if self._batch_sizes[mode] is not None:
            _set(params, "batch_size", self._batch_sizes[mode])
        return params

    def _call_input_fn(self, input_fn: Any, mode: str) -> Any:
        params = self._params_of(input_fn, "input_fn", mode)
        with device("/device:CPU:0"):
            return input_fn(**taken(input_fn, mode=mode, params=params, config=self.config))

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        if labels is not None and "labels" not in argument_names(self._model_fn):
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        params = self._params_of(self._model_fn, "model_fn", mode)
        _set(params, "use_tpu", False)
        logs.info("Calling model_fn.")
        logs.info("Running %s on CPU/GPU", mode)
        spec = self._model_fn(features=features, **taken(self._model_fn, labels=labels, mode=mode, params=params, config=config))
        if isinstance(spec, TPUEstimatorSpec):
            spec = spec.as_estimator_spec()
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        if mode == ModeKeys.TRAIN and any(every is not None for every in self._rate_every.values()):
            folder = self.model_dir if not config or config.save_summary_steps else None
            rate = ExamplesPerSecondHook(self._batch_sizes[mode], output_dir=folder, **self._rate_every)
            spec = spec._replace(training_hooks=(*spec.training_hooks, rate))
        logs.info("Done calling model_fn.")
        return spec


def _set(params: Any, key: str, value: Any) -> None:
    """Puts an item into a dict, or into HParams."""
    if hasattr(params, "set_hparam"):
        if key in params:
            params.set_hparam(key, value)
        else:
            params.add_hparam(key, value)
    else:
        params[key] = value


class ExamplesPerSecondHook(StepCounterHook):
    """Logs and writes steps and examples per second."""

    def __init__(self, batch_size: Any, every_n_steps: int | None = 100, every_n_secs: float | None = None,
                 output_dir: Any = None, summary_writer: Any = None):
        self._batch_size = batch_size
        super().__init__(every_n_steps, every_n_secs, output_dir, summary_writer)

    def _log_and_record(self, elapsed_steps: Any, elapsed_time: Any, global_step: int) -> None:
        steps = elapsed_steps / elapsed_time
        for tag, rate in (("global_step/sec", steps), ("examples/sec", self._batch_size * steps)):
            if self._summary_writer is not None:
                self._summary_writer.add_summary(Summary(value=[Summary.Value(tag=tag, simple_value=rate)]), global_step)
            logs.info("%s: %g", tag, rate)
