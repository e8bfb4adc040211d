"""``tf.contrib.learn.Estimator``: models that are fitted to arrays, or to a function of input."""
from __future__ import annotations

import abc
import copy
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.contrib.layers.old_column_layers import infer_real_valued_columns
from jitgraph.contrib.learn import bundled, signatures
from jitgraph.contrib.learn.configured import RunConfig
from jitgraph.contrib.learn.exported import AS_IT_IS, export_savedmodel
from jitgraph.contrib.learn.fed import input_of, verify_input_args
from jitgraph.contrib.learn.measured import metric_ops
from jitgraph.contrib.learn.model_ops import MetricKey, ModeKeys, ModelFnOps
from jitgraph.contrib.learn.monitored import replace_monitors_with_hooks
from jitgraph.contrib.learn.parameters import Parameters
from jitgraph.control.order_ops import group
from jitgraph.estimator.arguments import argument_names, check_function
from jitgraph.estimator.estimator import selected_predictions
from jitgraph.estimator.result_files import write_results
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.graph import Graph
from jitgraph.graph.scopes import add_to_collection, get_collection
from jitgraph.graph.seeds import set_random_seed
from jitgraph.metrics.means import mean
from jitgraph.protobuf.messages import ConfigProto
from jitgraph.train.checkpoint_state import latest_checkpoint
from jitgraph.train.checkpoint_values import list_variables, load_variable
from jitgraph.train.evaluation import StopAfterNEvalsHook, evaluate_once
from jitgraph.train.hooks.checkpoints import CheckpointSaverHook
from jitgraph.train.hooks.feeding import FeedFnHook
from jitgraph.train.hooks.stopping import StopAtStepHook
from jitgraph.train.hooks.watching import LoggingTensorHook, NanTensorHook
from jitgraph.train.saver import Saver
from jitgraph.train.sessions.creators import ChiefSessionCreator
from jitgraph.train.sessions.monitored import MonitoredSession, MonitoredTrainingSession
from jitgraph.train.sessions.scaffold import Scaffold
from jitgraph.variables.global_steps import _get_or_create_global_step_read, create_global_step


class NotFittedError(ValueError, AttributeError):
    """A model is used before it was fitted."""


class Evaluable(abc.ABC):
    """What can be evaluated; to derive from."""

    @property
    @abc.abstractmethod
    def model_dir(self) -> Any:
        """The folder of checkpoints."""

    @abc.abstractmethod
    def evaluate(self, x: Any = None, y: Any = None, input_fn: Any = None, feed_fn: Any = None, batch_size: int | None = None,
                 steps: int | None = None, metrics: Any = None, name: str | None = None, checkpoint_path: Any = None,
                 hooks: Any = None) -> Any:
        """{metric: value} of the newest checkpoint."""


class Trainable(abc.ABC):
    """What can be trained; to derive from."""

    @abc.abstractmethod
    def fit(self, x: Any = None, y: Any = None, input_fn: Any = None, steps: int | None = None, batch_size: int | None = None,
            monitors: Any = None, max_steps: int | None = None) -> Any:
        """Trains on arrays, or on a function of input."""


def infer_real_valued_columns_from_input_fn(input_fn: Callable) -> list:
    """Columns of numbers for the features of a function of input."""
    with Graph().as_default():
        return infer_real_valued_columns(input_fn()[0])


def infer_real_valued_columns_from_input(x: Any) -> list:
    """Columns of numbers for an array, or a dict of them."""
    return infer_real_valued_columns_from_input_fn(input_of(x, None, None, None, None)[0])


class BaseEstimator(Parameters, Evaluable, Trainable):
    """A model that is fitted, evaluated, and predicts; a subclass builds its graph."""

    _Config = RunConfig

    def __init__(self, model_dir: Any = None, config: Any = None):
        if config is None:
            config = RunConfig()
            logs.info("Using default config.")
        if model_dir is not None and config.model_dir is not None and model_dir != config.model_dir:
            raise ValueError("model_dir are set both in constructor and RunConfig, but with different values. In constructor: "
                             f"'{model_dir}', in RunConfig: '{config.model_dir}' ")
        self._model_dir = model_dir or config.model_dir
        if self._model_dir is None:
            self._model_dir = tempfile.mkdtemp()
            logs.warning("Using temporary folder as model directory: %s", self._model_dir)
        self._config = config if config.model_dir is not None else config.replace(model_dir=self._model_dir)
        self._session_config = self._config.session_config or ConfigProto(allow_soft_placement=True)
        logs.info("Using config: %s", str(vars(self._config)))
        self._features_info: Any = None
        self._labels_info: Any = None

    @property
    def model_fn(self) -> Any:
        """A function of features, labels, mode and config.  Raises NotImplementedError where a subclass does not say it."""
        raise NotImplementedError

    @property
    def config(self) -> Any:
        """A copy of the configuration."""
        return copy.deepcopy(self._config)

    @property
    def model_dir(self) -> str:
        """The folder of checkpoints."""
        return self._model_dir

    # -- what users call ----------------------------------------------------------------------------------------------

    def fit(self, x: Any = None, y: Any = None, input_fn: Any = None, steps: int | None = None, batch_size: int | None = None,
            monitors: Any = None, max_steps: int | None = None) -> Any:
        """Trains on arrays, or on a function of input, for `steps` more or up to `max_steps`; returns itself."""
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        verify_input_args(x, y, input_fn, None, batch_size)
        if x is not None:
            SKCompat(self).fit(x, y, batch_size, steps, max_steps, monitors)
            return self
        if max_steps is not None and latest_checkpoint(self._model_dir):
            if max_steps <= load_variable(self._model_dir, GraphKeys.GLOBAL_STEP):
                logs.info("Skipping training since max_steps has already saved.")
                return self
        hooks = replace_monitors_with_hooks(monitors, self)
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        loss = self._train_model(input_fn, hooks)
        logs.info("Loss for final step: %s.", loss)
        return self

    def partial_fit(self, x: Any = None, y: Any = None, input_fn: Any = None, steps: int | None = 1,
                    batch_size: int | None = None, monitors: Any = None) -> Any:
        """As ``fit``, for one step by default."""
        logs.warning("The current implementation of partial_fit is not optimized for use in a loop. Consider using fit() instead.")
        return self.fit(x=x, y=y, input_fn=input_fn, steps=steps, batch_size=batch_size, monitors=monitors)

    def evaluate(self, x: Any = None, y: Any = None, input_fn: Any = None, feed_fn: Any = None, batch_size: int | None = None,
                 steps: int | None = None, metrics: Any = None, name: str | None = None, checkpoint_path: Any = None,
                 hooks: Any = None, log_progress: bool = True) -> Any:
        """{metric: value} and "global_step" of the newest checkpoint.  Raises NotFittedError if there is none."""
        verify_input_args(x, y, input_fn, feed_fn, batch_size)
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        if x is not None:
            return SKCompat(self).score(x, y, batch_size, steps, metrics, name)
        return self._evaluate_model(input_fn, steps, feed_fn, metrics, name or "", checkpoint_path, hooks, log_progress)

    def predict(self, x: Any = None, input_fn: Any = None, batch_size: int | None = None, outputs: Any = None,
                as_iterable: bool = True, iterate_batches: bool = False) -> Any:
        """What the model predicts for each example, or for each batch.  Raises NotFittedError if nothing was fitted."""
        verify_input_args(x, None, input_fn, None, batch_size)
        if x is not None and not as_iterable:
            return SKCompat(self).predict(x, batch_size)
        input_fn, feed_fn = input_of(x, None, input_fn, None, batch_size)
        return self._infer_model(input_fn, feed_fn, outputs, as_iterable, iterate_batches)

    def get_variable_value(self, name: str) -> np.ndarray:
        """The value of a variable in the newest checkpoint."""
        return load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of variables in the newest checkpoint."""
        return [name for name, _ in list_variables(self.model_dir)]

    def export(self, export_dir: Any, input_fn: Any = bundled.default_input_fn, input_feature_key: str | None = None,
               use_deprecated_input_fn: bool = True, signature_fn: Any = None, prediction_key: str | None = None,
               default_batch_size: int = 1, exports_to_keep: int | None = None, checkpoint_path: Any = None) -> bytes:
        """Writes a session bundle of a checkpoint, by default the newest, into a new folder named by the step; returns its path.

        `input_fn` makes features of the estimator and serialized Examples; without `use_deprecated_input_fn` it takes nothing
        and gives features and labels, and `input_feature_key` is the key of the Examples among these.  `signature_fn` gives
        signatures of Examples, features and predictions, or of the one with `prediction_key`; `exports_to_keep`: how many stay.
        Raises ValueError without an input function or anything that it gives.
        """
        return bundled.export_bundle(self, export_dir, input_fn, input_feature_key, use_deprecated_input_fn, signature_fn,
                                     prediction_key, default_batch_size, exports_to_keep, checkpoint_path)

    def _get_feature_ops_from_example(self, examples_batch: Any) -> Any:
        if self._features_info is None:
            raise ValueError("Features information missing, was fit() ever called?")
        return signatures.parsed(self._features_info, examples_batch)

    # -- graphs and sessions ------------------------------------------------------------------------------------------

    def _get_train_ops(self, features: Any, labels: Any) -> ModelFnOps:
        raise NotImplementedError

    def _get_predict_ops(self, features: Any) -> ModelFnOps:
        raise NotImplementedError

    def _get_eval_ops(self, features: Any, labels: Any, metrics: Any) -> ModelFnOps:
        raise NotImplementedError("_get_eval_ops not implemented in BaseEstimator")

    def _check_inputs(self, features: Any, labels: Any) -> None:
        if self._features_info is None:
            self._features_info = signatures.signatures_of(features)
        elif not signatures.take(self._features_info, features):
            raise ValueError(f"Features are incompatible with given information. Given features: {features}, required signatures: "
                             f"{self._features_info}.")
        if labels is not None and self._labels_info is None:
            self._labels_info = signatures.signatures_of(labels)
        elif labels is not None and not signatures.take(self._labels_info, labels):
            raise ValueError(f"Labels are incompatible with given information. Given labels: {labels}, required signatures: "
                             f"{self._labels_info}.")

    def _checkpoint(self) -> str:
        found = latest_checkpoint(self._model_dir)
        if not found:
            raise NotFittedError(f"Couldn't find trained model at {self._model_dir}.")
        return found

    def _train_model(self, input_fn: Callable, hooks: list) -> Any:
        config = self._config
        with Graph().as_default() as graph:
            set_random_seed(config.tf_random_seed)
            global_step = create_global_step(graph)
            features, labels = input_fn()
            self._check_inputs(features, labels)
            _get_or_create_global_step_read()
            found = self._get_train_ops(features, labels)
            add_to_collection(GraphKeys.LOSSES, found.loss)
            watching = [NanTensorHook(found.loss), LoggingTensorHook({"loss": found.loss, "step": global_step}, every_n_iter=100)]
            all_hooks = [*hooks, *watching]
            scaffold = found.scaffold or Scaffold()
            if not (scaffold.saver or get_collection(GraphKeys.SAVERS)):
                add_to_collection(GraphKeys.SAVERS, Saver(
                    sharded=True, max_to_keep=config.keep_checkpoint_max, defer_build=True, save_relative_paths=True,
                    keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours))
            chief_hooks = []
            own = [*all_hooks, *found.training_hooks, *found.training_chief_hooks]
            saves = any(isinstance(hook, CheckpointSaverHook) for hook in own)
            if (config.save_checkpoints_secs or config.save_checkpoints_steps) and not saves:
                chief_hooks = [CheckpointSaverHook(self._model_dir, save_secs=config.save_checkpoints_secs,
                                                   save_steps=config.save_checkpoints_steps, scaffold=scaffold)]
            with MonitoredTrainingSession(
                    master=config.master, is_chief=config.is_chief, checkpoint_dir=self._model_dir, scaffold=scaffold,
                    hooks=all_hooks + found.training_hooks, chief_only_hooks=chief_hooks + found.training_chief_hooks,
                    save_checkpoint_secs=0, save_summaries_steps=config.save_summary_steps, config=self._session_config,
                    max_wait_secs=config.session_creation_timeout_secs) as session:
                loss = None
                while not session.should_stop():
                    _, loss = session.run([found.train_op, found.loss])
            return loss

    def _evaluate_model(self, input_fn: Callable, steps: int | None, feed_fn: Any = None, metrics: Any = None, name: str = "",
                        checkpoint_path: Any = None, hooks: Any = None, log_progress: bool = True) -> dict[str, Any]:
        checkpoint_path = checkpoint_path or self._checkpoint()
        folder = os.path.join(self._model_dir, f"eval_{name}" if name else "eval")
        with Graph().as_default() as graph:
            set_random_seed(self._config.tf_random_seed)
            global_step = create_global_step(graph)
            features, labels = input_fn()
            self._check_inputs(features, labels)
            found = self._get_eval_ops(features, labels, metrics)
            values, updates = {}, []
            for key, metric in found.eval_metric_ops.items():
                pair = isinstance(metric, (list, tuple)) and len(metric) == 2
                values[key] = metric[0] if pair else metric
                updates += [metric[1]] if pair else []
            all_hooks = [*(hooks or []), *([FeedFnHook(feed_fn)] if feed_fn else [])]
            if steps == 0:
                logs.warning("evaluation steps are 0. If `input_fn` does not raise `OutOfRangeError`, the evaluation will never "
                             "stop. Use steps=None if intended.")
            if steps:
                all_hooks.append(StopAfterNEvalsHook(steps, log_progress=log_progress))
            values["global_step"] = global_step
            results = evaluate_once(checkpoint_path, self._config.evaluation_master, found.scaffold,
                                    group(*updates) if updates else None, final_ops=values, hooks=all_hooks,
                                    config=self._session_config)
            write_results(folder, results, results["global_step"])
        return results

    def _infer_model(self, input_fn: Callable, feed_fn: Any = None, outputs: Any = None, as_iterable: bool = True,
                     iterate_batches: bool = False) -> Any:
        checkpoint_path = self._checkpoint()
        with Graph().as_default() as graph:
            set_random_seed(self._config.tf_random_seed)
            create_global_step(graph)
            given = input_fn()
            found = self._get_predict_ops(given[0] if isinstance(given, (list, tuple)) else given)
            predictions = selected_predictions(found.predictions, outputs, "outputs")
            session = MonitoredSession(ChiefSessionCreator(checkpoint_filename_with_path=checkpoint_path, scaffold=found.scaffold,
                                                           config=self._session_config))
        if as_iterable:
            return _predicted(graph, session, predictions, feed_fn, iterate_batches)
        with session:
            return session.run(predictions, feed_fn() if feed_fn else None)


def _predicted(graph: Any, session: Any, predictions: Any, feed_fn: Any, iterate_batches: bool) -> Iterator[Any]:
    once = feed_fn is None and not graph.get_collection(GraphKeys.QUEUE_RUNNERS)
    with session:
        while not session.should_stop():
            try:
                fed = feed_fn() if feed_fn else None
            except StopIteration:
                return
            found = session.run(predictions, fed)
            if iterate_batches:
                yield found
            elif not isinstance(found, dict):
                yield from found
            else:
                for i in range(len(next(iter(found.values())))):
                    yield {key: value[i] for key, value in found.items()}
            if once:
                return


def _same(features: Any, labels: Any) -> tuple[Any, Any]:
    return features, labels


class Estimator(BaseEstimator):
    """A model by a function of features, labels, and as they are taken of mode, params, config and model_dir.

    It gives ModelFnOps, or (predictions, loss, training step).  `feature_engineering_fn`: a function of features and labels that
    gives others.
    """

    def __init__(self, model_fn: Any = None, model_dir: Any = None, config: Any = None, params: Any = None,
                 feature_engineering_fn: Any = None):
        super().__init__(model_dir=model_dir, config=config)
        if model_fn is not None:
            check_function(model_fn, "model_fn", "ModelFnOps, or (predictions, loss, training step)")
            takes_params = "params" in argument_names(model_fn)
            if params is not None and not takes_params:
                raise ValueError(f"Estimator's model_fn ({model_fn}) does not have a params argument, but params ({params}) were "
                                 "passed to the Estimator's constructor.")
            if params is None and takes_params:
                logs.warning("Estimator's model_fn (%s) includes params argument, but params are not passed to Estimator.",
                             model_fn)
        self._model_fn, self.params = model_fn, params
        self._feature_engineering_fn = feature_engineering_fn or _same

    @property
    def model_fn(self) -> Callable:
        """A function of features, labels, mode and config."""
        return lambda features, labels, mode, config: self._call_model_fn(features, labels, mode, config=config)

    def _call_model_fn(self, features: Any, labels: Any, mode: str, metrics: Any = None, config: Any = None) -> ModelFnOps:
        features, labels = self._feature_engineering_fn(features, labels)
        names = argument_names(self._model_fn)
        offered = {"mode": mode, "params": self.params, "config": config or self.config, "model_dir": self.model_dir}
        found = self._model_fn(features, labels, **{name: value for name, value in offered.items() if name in names})
        if not isinstance(found, ModelFnOps):
            if len(found) != 3:
                raise ValueError("Unrecognized value returned by model_fn, please return ModelFnOps.")
            found = ModelFnOps(mode=mode, predictions=found[0], loss=found[1], train_op=found[2])
        if metrics:
            found.eval_metric_ops.update(metric_ops(metrics, features, labels, found.predictions))
        return found

    def _get_train_ops(self, features: Any, labels: Any) -> ModelFnOps:
        return self._call_model_fn(features, labels, ModeKeys.TRAIN)

    def _get_eval_ops(self, features: Any, labels: Any, metrics: Any) -> ModelFnOps:
        found = self._call_model_fn(features, labels, ModeKeys.EVAL, metrics)
        if MetricKey.LOSS not in found.eval_metric_ops:
            found.eval_metric_ops[MetricKey.LOSS] = mean(found.loss)
        return found

    def _get_predict_ops(self, features: Any) -> ModelFnOps:
        return self._call_model_fn(features, signatures.placeholders_of(self._labels_info), ModeKeys.INFER)

    def export_savedmodel(self, export_dir_base: Any, serving_input_fn: Any, default_output_alternative_key: str | None = None,
                          assets_extra: Any = None, as_text: bool = False, checkpoint_path: Any = None,
                          graph_rewrite_specs: Any = AS_IT_IS, strip_default_attrs: bool = False) -> bytes:
        """Writes a SavedModel of a checkpoint, by default the newest, into a new folder named by the time; returns its path.

        `serving_input_fn` gives an InputFnOps; `default_output_alternative_key` says which of several heads answers by default,
        `graph_rewrite_specs` the tags.
        Raises ValueError without that function, NotFittedError if there is no checkpoint.
        """
        if serving_input_fn is None:
            raise ValueError("serving_input_fn must be defined.")
        return export_savedmodel(self, checkpoint_path or self._checkpoint(), export_dir_base, serving_input_fn,
                                 default_output_alternative_key, assets_extra, as_text, graph_rewrite_specs, strip_default_attrs)


class SKCompat(Parameters):
    """An estimator that is fitted, scored and predicts like those of scikit-learn: on arrays."""

    def __init__(self, estimator: Any):
        self._estimator = estimator

    def fit(self, x: Any, y: Any, batch_size: int | None = 128, steps: int | None = None, max_steps: int | None = None,
            monitors: Any = None) -> SKCompat:
        """Trains on shuffled batches."""
        input_fn, feed_fn = input_of(x, y, None, None, batch_size, shuffle=True, epochs=None)
        feeding = [FeedFnHook(feed_fn)] if feed_fn else []
        self._estimator.fit(input_fn=input_fn, steps=steps, max_steps=max_steps, monitors=[*feeding, *(monitors or [])])
        return self

    def score(self, x: Any, y: Any, batch_size: int | None = 128, steps: int | None = None, metrics: Any = None,
              name: str | None = None) -> dict[str, Any]:
        """The metrics of one pass."""
        input_fn, feed_fn = input_of(x, y, None, None, batch_size, shuffle=False, epochs=1)
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        return self._estimator._evaluate_model(input_fn, steps, feed_fn, metrics, name or "")

    def predict(self, x: Any, batch_size: int | None = 128, outputs: Any = None) -> Any:
        """The predictions of all examples, as one array or a dict of arrays."""
        input_fn, feed_fn = input_of(x, None, None, None, batch_size, shuffle=False, epochs=1)
        found = list(self._estimator._infer_model(input_fn, feed_fn, outputs, as_iterable=True, iterate_batches=True))
        if not isinstance(found[0], dict):
            return np.concatenate(found, axis=0)
        return {key: np.concatenate([batch[key] for batch in found], axis=0) for key in found[0]}
