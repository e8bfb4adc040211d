"""``tf.estimator.Estimator``: a model function with a folder, trained, evaluated, asked and exported."""
from __future__ import annotations

import contextlib
import copy
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from jitgraph.app import logs
from jitgraph.compat import path_to_str
from jitgraph.control.order_ops import group
from jitgraph.estimator import warm_start
from jitgraph.estimator.arguments import Later, argument_names, check_function, check_model_function, taken
from jitgraph.estimator.cluster_place import TaskType
from jitgraph.estimator.exporting import export_all
from jitgraph.estimator.inputs_of_model import ends, parsed_input
from jitgraph.estimator.modes import ModeKeys
from jitgraph.estimator.result_files import write_checkpoint_path, write_results
from jitgraph.estimator.run_config import RunConfig, default_session_config
from jitgraph.estimator.spec import LOSS, EstimatorSpec
from jitgraph.estimator.training_run import run_training
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.graph import Graph
from jitgraph.graph.scopes import device
from jitgraph.graph.seeds import set_random_seed
from jitgraph.metrics.means import mean
from jitgraph.train.checkpoint_state import latest_checkpoint
from jitgraph.train.checkpoint_values import list_variables, load_checkpoint, load_variable
from jitgraph.train.cluster.replica_devices import replica_device_setter
from jitgraph.train.evaluation import StopAfterNEvalsHook, evaluate_once, get_or_create_eval_step
from jitgraph.train.hooks.checkpoints import CheckpointSaverListener
from jitgraph.train.hooks.run_hooks import SessionRunHook
from jitgraph.train.hooks.stopping import StopAtStepHook
from jitgraph.train.sessions.creators import ChiefSessionCreator
from jitgraph.train.sessions.monitored import MonitoredSession
from jitgraph.train.sessions.scaffold import Scaffold
from jitgraph.variables.global_steps import _get_or_create_global_step_read, create_global_step, get_global_step

_OVERRIDABLE = {"model_fn", "_create_and_assert_global_step", "_export_all_saved_models"}


class Estimator:
    """A model: a function from features and labels to an EstimatorSpec, and a folder where it is kept.

    Args:
      model_fn: ``model_fn(features, labels, mode, params, config)``, of which it may leave out all but features.
      model_dir: the folder of checkpoints and events; by default that of `config`, or a temporary one.
      config: a RunConfig.
      params: a dict that the function is given.
      warm_start_from: a checkpoint, its folder, a SavedModel, or WarmStartSettings that give variables their first values.
    Raises ValueError for functions of other arguments, for two different folders, and for a `config` that is no RunConfig.
    """

    def __init__(self, model_fn: Any, model_dir: Any = None, config: RunConfig | None = None, params: Any = None,
                 warm_start_from: Any = None):
        _check_members(self)
        self._config = config_with_folder(config, model_dir)
        self._model_dir = self._config.model_dir
        self._session_config = self._config.session_config
        logs.info("Using config: %s", str(vars(self._config)))
        self._device_fn = self._config.device_fn or _device_setter(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        check_model_function(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = warm_start.settings_of(warm_start_from)

    # -- what it is ---------------------------------------------------------------------------------------------------

    @property
    def model_dir(self) -> str:
        """The folder of checkpoints and events."""
        return self._model_dir

    @property
    def config(self) -> RunConfig:
        """A copy of its RunConfig."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        """A copy of the dict that the model function is given."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Any:
        """The model function, as one of features, labels, mode and config."""
        def public_model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    def get_variable_value(self, name: str) -> Any:
        """The array that the newest checkpoint has under a name.  Raises ValueError without a checkpoint."""
        _check_trained(self.model_dir)
        return load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names in the newest checkpoint.  Raises ValueError without a checkpoint."""
        _check_trained(self.model_dir)
        return [name for name, _ in list_variables(self.model_dir)]

    def latest_checkpoint(self) -> str | None:
        """The path of the newest checkpoint, None if there is none."""
        return latest_checkpoint(self.model_dir)

    def eval_dir(self, name: str | None = None) -> str:
        """The folder of the events of evaluations of that name."""
        return os.path.join(self._model_dir, "eval" if not name else "eval_" + name)

    # -- training -----------------------------------------------------------------------------------------------------

    def train(self, input_fn: Any, hooks: Any = None, steps: int | None = None, max_steps: int | None = None,
              saving_listeners: Any = None) -> Estimator:
        """Trains until the input ends, for `steps` more steps, or until the global step is `max_steps`; returns itself.

        `input_fn` gives (features, labels), as tensors or as a dataset of them.  `saving_listeners` are called around each
        checkpoint.  Raises ValueError for both kinds of steps, or no positive number of them, TypeError for other hooks.
        """
        if self.config.task_type in (TaskType.EVALUATOR, TaskType.PS):
            raise ValueError("Train has been called wrong configuration. Please use tf.estimator.train_and_evaluate which calls "
                             f"proper API according to given configuration. Current configuration: {self.config}.")
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        if max_steps is not None and max_steps <= saved_global_step(self._model_dir):
            logs.info("Skipping training since max_steps has already saved.")
            return self
        hooks = checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        loss = self._train_model(input_fn, hooks, _checked_listeners(saving_listeners))
        logs.info("Loss for final step: %s.", loss)
        return self

    def _train_model(self, input_fn: Any, hooks: list, saving_listeners: list) -> Any:
        strategy = self._config.train_distribute
        with Graph().as_default() as graph, graph.device(self._device_fn), _scope_of(strategy):
            set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            _get_or_create_global_step_read(graph)
            features, labels, input_hooks = self._get_features_and_labels_from_input_fn(input_fn, ModeKeys.TRAIN)
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
            if self._warm_start_settings:
                warm_start.apply(self._warm_start_settings)
            return run_training(self._config, self._session_config, spec, input_hooks, hooks, saving_listeners)

    # -- evaluation ---------------------------------------------------------------------------------------------------

    def evaluate(self, input_fn: Any, steps: int | None = None, hooks: Any = None, checkpoint_path: Any = None,
                 name: str | None = None) -> dict[str, Any]:
        """The metrics, "loss" and "global_step" of a checkpoint, by default the newest, over the input or `steps` batches.

        They are also written into ``eval_dir(name)``.  Without a checkpoint the variables are initialized.  Raises ValueError
        if `steps` is not positive, TypeError for other hooks.
        """
        hooks = checked_hooks(hooks) + self._convert_eval_steps_to_hooks(steps)
        if not checkpoint_path:
            checkpoint_path = latest_checkpoint(self._model_dir)
            if not checkpoint_path:
                logs.info(f"Could not find trained model in model_dir: {self._model_dir}, running initialization to evaluate.")
        with Graph().as_default(), _scope_of(self._config.eval_distribute):
            scaffold, update_op, results, all_hooks = self._evaluate_build_graph(input_fn, hooks, checkpoint_path)
            return self._evaluate_run(checkpoint_path, scaffold, update_op, results, all_hooks, self.eval_dir(name))

    def _convert_eval_steps_to_hooks(self, steps: int | None) -> list[SessionRunHook]:
        if steps is None:
            return []
        if steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        return [StopAfterNEvalsHook(num_evals=steps)]

    def _evaluate_build_graph(self, input_fn: Any, hooks: Any = None, checkpoint_path: Any = None) -> tuple:
        """(scaffold, update of all metrics, {name: value}, hooks) in the default graph."""
        set_random_seed(self._config.tf_random_seed)
        self._create_and_assert_global_step(get_default_graph())
        features, labels, input_hooks = self._get_features_and_labels_from_input_fn(input_fn, ModeKeys.EVAL)
        spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
        update_op, values = _metrics_of(spec)
        step = get_global_step(get_default_graph())
        self._maybe_warm_start(checkpoint_path)
        if GraphKeys.GLOBAL_STEP in values:
            raise ValueError("Metric with name `global_step` is not allowed, because Estimator already defines a default metric "
                             "with the same name.")
        values[GraphKeys.GLOBAL_STEP] = step
        scaffold = spec.scaffold
        if scaffold and scaffold.local_init_op:
            # The model's own local_init_op knows nothing of the step that evaluation counts.
            get_or_create_eval_step()
            scaffold = Scaffold(local_init_op=group(scaffold.local_init_op, Scaffold.default_local_init_op()),
                                copy_from_scaffold=scaffold)
        return scaffold, update_op, values, [*input_hooks, *(hooks or []), *(spec.evaluation_hooks or [])]

    def _evaluate_run(self, checkpoint_path: Any, scaffold: Any, update_op: Any, eval_dict: dict, all_hooks: list,
                      output_dir: str) -> dict[str, Any]:
        results = evaluate_once(checkpoint_path, self._config.evaluation_master, scaffold, update_op, final_ops=eval_dict,
                                hooks=all_hooks, config=self._session_config)
        step = results[GraphKeys.GLOBAL_STEP]
        write_results(output_dir, results, step)
        if checkpoint_path:
            write_checkpoint_path(output_dir, checkpoint_path, step)
        return results

    def _maybe_warm_start(self, checkpoint_path: Any) -> None:
        if not checkpoint_path and self._warm_start_settings:
            warm_start.apply(self._warm_start_settings)

    # -- prediction ---------------------------------------------------------------------------------------------------

    def predict(self, input_fn: Any, predict_keys: Any = None, hooks: Any = None, checkpoint_path: Any = None,
                yield_single_examples: bool = True) -> Iterator[Any]:
        """Yields what the model predicts for each example, or for each batch, until the input ends.

        `predict_keys`: only these of the predictions.  Without a checkpoint the variables are initialized.  Raises ValueError
        if no prediction has such a key, or if their batch sizes differ.
        """
        hooks = checked_hooks(hooks)
        if not checkpoint_path:
            checkpoint_path = latest_checkpoint(self._model_dir)
        if not checkpoint_path:
            logs.info(f"Could not find trained model in model_dir: {self._model_dir}, running initialization to predict.")
        with Graph().as_default() as graph:
            set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            features, input_hooks = self._get_features_from_input_fn(input_fn, ModeKeys.PREDICT)
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            self._maybe_warm_start(checkpoint_path)
            predictions = selected_predictions(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(spec.scaffold, self._config.master, self._session_config,
                                          checkpoint_filename_with_path=checkpoint_path)
            all_hooks = [*input_hooks, *hooks, *(spec.prediction_hooks or [])]
            with MonitoredSession(session_creator=creator, hooks=all_hooks) as session:
                while not session.should_stop():
                    found = session.run(predictions)
                    if not yield_single_examples:
                        yield found
                    elif not isinstance(predictions, dict):
                        yield from found
                    else:
                        for i in range(_batch_length(found)):
                            yield {key: value[i] for key, value in found.items()}

    # -- export -------------------------------------------------------------------------------------------------------

    def export_saved_model(self, export_dir_base: Any, serving_input_receiver_fn: Any, assets_extra: Any = None,
                           as_text: bool = False, checkpoint_path: Any = None,
                           experimental_mode: str = ModeKeys.PREDICT) -> bytes:
        """Writes a SavedModel of a checkpoint into a new folder, named by the time, in `export_dir_base`; returns its path.

        `assets_extra`: {name below assets.extra: file to copy}.  Raises ValueError without a receiver function or checkpoint.
        """
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(export_dir_base, {experimental_mode: serving_input_receiver_fn}, assets_extra,
                                             as_text, checkpoint_path, True)

    def export_savedmodel(self, export_dir_base: Any, serving_input_receiver_fn: Any, assets_extra: Any = None,
                          as_text: bool = False, checkpoint_path: Any = None, strip_default_attrs: bool = False) -> bytes:
        """The older name of ``export_saved_model``."""
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(export_dir_base, {ModeKeys.PREDICT: serving_input_receiver_fn}, assets_extra,
                                             as_text, checkpoint_path, strip_default_attrs)

    def experimental_export_all_saved_models(self, export_dir_base: Any, input_receiver_fn_map: dict[str, Any],
                                             assets_extra: Any = None, as_text: bool = False,
                                             checkpoint_path: Any = None) -> bytes:
        """As ``export_saved_model``, with a MetaGraph for each mode of {mode: receiver function}."""
        return self._export_all_saved_models(export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path, True)

    def _export_all_saved_models(self, export_dir_base: Any, input_receiver_fn_map: dict[str, Any], assets_extra: Any = None,
                                 as_text: bool = False, checkpoint_path: Any = None,
                                 strip_default_attrs: bool = True) -> bytes:
        return export_all(self, export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path,
                          strip_default_attrs)

    # -- the functions of the user ------------------------------------------------------------------------------------

    def _create_global_step(self, graph: Graph) -> Any:
        return create_global_step(graph)

    def _create_and_assert_global_step(self, graph: Graph) -> Any:
        step = self._create_global_step(graph)
        assert step is get_global_step()
        assert step.dtype.is_integer
        return step

    def _get_features_from_input_fn(self, input_fn: Any, mode: str) -> tuple:
        features, _, hooks = parsed_input(self._call_input_fn(input_fn, mode))
        if not ends(features):
            logs.warning("Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict yields forever. "
                         "This is probably a mistake.")
        return features, hooks

    def _get_features_and_labels_from_input_fn(self, input_fn: Any, mode: str) -> tuple:
        return parsed_input(self._call_input_fn(input_fn, mode))

    def _call_input_fn(self, input_fn: Any, mode: str) -> Any:
        check_function(input_fn, "input_fn", "a Dataset, features, or (features, labels)")
        given = taken(input_fn, mode=mode, params=Later(lambda: self.params), config=Later(lambda: self.config))
        with device("/cpu:0"):
            return input_fn(**given)

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        if labels is not None and "labels" not in argument_names(self._model_fn):
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        given = taken(self._model_fn, labels=labels, mode=mode, params=Later(lambda: self.params), config=config)
        logs.info("Calling model_fn.")
        spec = self._model_fn(features=features, **given)
        logs.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec


def _scope_of(strategy: Any) -> Any:
    """The block in which a model is built: that of the strategy, if there is one."""
    return contextlib.nullcontext() if strategy is None else strategy.scope()


def _metrics_of(spec: EstimatorSpec) -> tuple[Any, dict[str, Any]]:
    """(the update of all metrics, {name: value}), the mean loss among them."""
    metrics = spec.eval_metric_ops
    if LOSS in metrics:
        raise ValueError(f'Metric with name "{LOSS}" is not allowed, because Estimator already defines a default metric with the '
                         "same name.")
    metrics[LOSS] = mean(spec.loss)
    ordered = sorted(metrics.items())
    return group(*[update for _, (_, update) in ordered]), {name: value for name, (value, _) in ordered}


def selected_predictions(predictions: Any, keys: Any, argument: str = "predict_keys") -> Any:
    """Those of the predictions whose keys the caller's `argument` names, all if it is empty.

    Raises ValueError if predictions are no dict, or none of them is named.
    """
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError(f"{argument} argument is not valid in case of non-dict predictions.")
    found = {key: value for key, value in predictions.items() if key in keys}
    if not found:
        raise ValueError(f"Expected to run at least one output from {predictions.keys()}, provided {keys}.")
    return found


def _batch_length(found: dict[str, Any]) -> int:
    if not found:
        raise TypeError("The model_fn gave no predictions: EstimatorSpec takes predictions= where mode is ModeKeys.PREDICT.")
    length = 0
    for key, value in found.items():
        length = length or value.shape[0]
        if value.shape[0] != length:
            raise ValueError(f"Batch length of predictions should be same. {key} has different batch length than others.")
    return length


def _check_members(estimator: Estimator) -> None:
    """Raises ValueError if a class defines a method of Estimator anew: it would not be called as its author thinks."""
    own = type(estimator)
    if own.__name__ == "TPUEstimator":          # TensorFlow's own, or a program's that took its place
        return
    members = {name for name in dir(Estimator) if not name.startswith("__")} & set(vars(own)) - _OVERRIDABLE
    overridden = [name for name in members if getattr(Estimator, name) != getattr(own, name)]
    if overridden:
        raise ValueError(f"Subclasses of Estimator cannot override members of Estimator. {own} does override {overridden}")


def config_with_folder(config: RunConfig | None, model_dir: Any) -> RunConfig:
    """`config`, or a default one, with a session's ConfigProto and the folder, by default a temporary one.

    Raises ValueError if it is no RunConfig, or if it names another folder.
    """
    if config is None:
        config = RunConfig()
        logs.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    if config.session_config is None:
        config = RunConfig.replace(config, session_config=default_session_config())
    model_dir = path_to_str(model_dir)
    own = getattr(config, "model_dir", None)
    if model_dir is not None and own is not None and own != model_dir:
        raise ValueError("`model_dir` are set both in constructor and `RunConfig`, but with different values. In constructor: "
                         f"'{model_dir}', in `RunConfig`: '{own}' ")
    if model_dir:
        return RunConfig.replace(config, model_dir=model_dir)
    if own is None:
        folder = tempfile.mkdtemp()
        logs.warning("Using temporary folder as model directory: %s", folder)
        return RunConfig.replace(config, model_dir=folder)
    return config


def _device_setter(config: RunConfig) -> Any:
    if config.num_ps_replicas <= 0:
        return None
    worker = f"/job:{config.task_type}/task:{config.task_id}" if config.task_type else "/job:worker"
    return replica_device_setter(ps_tasks=config.num_ps_replicas, worker_device=worker, merge_devices=True,
                                 cluster=config.cluster_spec)


def _check_trained(model_dir: str) -> None:
    if not latest_checkpoint(model_dir):
        raise ValueError(f"Could not find trained model in model_dir: {model_dir}.")


def saved_global_step(model_dir: str) -> int:
    """The global step in the newest checkpoint of a folder, 0 if there is none."""
    path = latest_checkpoint(model_dir)
    if not path:
        return 0
    reader = load_checkpoint(path)
    return int(reader.get_tensor(GraphKeys.GLOBAL_STEP)) if reader.has_tensor(GraphKeys.GLOBAL_STEP) else 0


def checked_hooks(hooks: Any) -> list[SessionRunHook]:
    """A list of the hooks.  Raises TypeError for what is none."""
    hooks = list(hooks or [])
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return hooks


def _checked_listeners(listeners: Any) -> list[CheckpointSaverListener]:
    listeners = list(listeners or [])
    for listener in listeners:
        if not isinstance(listener, CheckpointSaverListener):
            raise TypeError(f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}")
    return listeners
