"""Models that are called: ``tf.contrib.predictor``."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.learn.exported import DEFAULT_INPUT_ALTERNATIVE_KEY, get_input_alternatives, get_output_alternatives
from jitgraph.contrib.learn.fitted import Estimator as OldEstimator
from jitgraph.estimator.estimator import Estimator
from jitgraph.estimator.modes import ModeKeys
from jitgraph.facade.names import resolve
from jitgraph.graph.graph import Graph
from jitgraph.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from jitgraph.saved_model.loader import load
from jitgraph.train.checkpoint_state import latest_checkpoint
from jitgraph.train.sessions.creators import ChiefSessionCreator
from jitgraph.train.sessions.monitored import MonitoredSession


class Predictor:
    """A graph and a session that turn {input: value} into {output: value}; the base of those that are made of models."""

    _graph: Any
    _session: Any
    _feed_tensors: dict[str, Any]
    _fetch_tensors: dict[str, Any]

    @property
    def graph(self) -> Any:
        """The graph of the model."""
        return self._graph

    @property
    def session(self) -> Any:
        """The session with its variables."""
        return self._session

    @property
    def feed_tensors(self) -> dict[str, Any]:
        """{input: tensor that is fed}"""
        return self._feed_tensors

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        """{output: tensor}"""
        return self._fetch_tensors

    def __repr__(self) -> str:
        return f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors {self._fetch_tensors}"

    def __call__(self, input_dict: dict[str, Any]) -> dict[str, Any]:
        """The outputs for these inputs; inputs that are None are not fed.  Raises ValueError for names that are no input."""
        unexpected = set(input_dict) - set(self.feed_tensors)
        if unexpected:
            raise ValueError(f"Got unexpected keys in input_dict: {unexpected}\nexpected: {set(self.feed_tensors)}")
        feeds = {tensor: input_dict[name] for name, tensor in self.feed_tensors.items() if input_dict.get(name) is not None}
        found: dict[str, Any] = self._session.run(fetches=self.fetch_tensors, feed_dict=feeds)
        return found

    def _by_name(self, names: dict[str, str]) -> dict[str, Any]:
        return {key: self._graph.get_tensor_by_name(name) for key, name in names.items()}


def _names(infos: Any) -> dict[str, str]:
    return {key: info.name for key, info in infos.items()}


class SavedModelPredictor(Predictor):
    """A predictor of a SavedModel; see ``from_saved_model``."""

    def __init__(self, export_dir: Any, signature_def_key: Any = None, signature_def: Any = None, input_names: Any = None,
                 output_names: Any = None, tags: Any = None, graph: Any = None, config: Any = None):
        if (input_names is None) != (output_names is None):
            raise ValueError("input_names and output_names must both be specified or both be unspecified.")
        if sum(given is not None for given in (signature_def_key, signature_def, input_names)) > 1:
            raise ValueError("You must specify at most one of signature_def_key OR signature_def OR(input_names AND "
                             "output_names).")
        self._graph = graph or Graph()
        with self._graph.as_default():
            self._session = resolve("Session")(config=config)
            meta = load(self._session, [tag.strip() for tag in (tags or "serve").split(",")], export_dir)
        if input_names is None:
            if signature_def is None:
                signature_def = _signature(meta, signature_def_key or DEFAULT_SERVING_SIGNATURE_DEF_KEY)
            input_names, output_names = _names(signature_def.inputs), _names(signature_def.outputs)
        self._feed_tensors, self._fetch_tensors = self._by_name(input_names), self._by_name(output_names)


def _signature(meta: Any, key: str) -> Any:
    """The signature of that name, or of an old one that stands for it."""
    older = f"default_input_alternative:{key}"
    if key not in meta.signature_def and older in meta.signature_def:
        logs.warning('Could not find signature def "%s". Using "%s" instead', key, older)
        return meta.signature_def[older]
    if key not in meta.signature_def:
        raise ValueError(f'Got signature_def_key "{key}". Available signatures are {list(meta.signature_def)}. '
                         f"Original error:\n{key!r}")
    return meta.signature_def[key]


class CoreEstimatorPredictor(Predictor):
    """A predictor of a ``tf.estimator.Estimator``; see ``from_estimator``."""

    def __init__(self, estimator: Any, serving_input_receiver_fn: Any, output_key: Any = None, graph: Any = None,
                 config: Any = None):
        self._graph = graph or Graph()
        with self._graph.as_default():
            receiver = serving_input_receiver_fn()
            outputs = estimator.model_fn(receiver.features, None, ModeKeys.PREDICT, estimator.config).export_outputs
            output = outputs.get(output_key or DEFAULT_SERVING_SIGNATURE_DEF_KEY)
            if output is None:
                raise KeyError(f"output_key must be one of {outputs.keys()}; got {output_key}")
            signature = output.as_signature_def(receiver.receiver_tensors)
            self._session = MonitoredSession(ChiefSessionCreator(config=config, checkpoint_dir=estimator.model_dir))
        self._feed_tensors, self._fetch_tensors = self._by_name(_names(signature.inputs)), self._by_name(_names(signature.outputs))


class ContribEstimatorPredictor(Predictor):
    """A predictor of a ``tf.contrib.learn.Estimator``; see ``from_contrib_estimator``."""

    def __init__(self, estimator: Any, prediction_input_fn: Any, input_alternative_key: str | None = None,
                 output_alternative_key: str | None = None, graph: Any = None, config: Any = None):
        self._graph = graph or Graph()
        with self._graph.as_default():
            input_ops = prediction_input_fn()
            found = estimator._get_predict_ops(input_ops.features)
            path = latest_checkpoint(estimator.model_dir)
            self._session = MonitoredSession(ChiefSessionCreator(config=config, checkpoint_filename_with_path=path))
        inputs, _ = get_input_alternatives(input_ops)
        self._feed_tensors = inputs[input_alternative_key or DEFAULT_INPUT_ALTERNATIVE_KEY]
        outputs, key = get_output_alternatives(found, output_alternative_key)
        self._fetch_tensors = outputs[key][1]


def from_saved_model(export_dir: Any, signature_def_key: Any = None, signature_def: Any = None, input_names: Any = None,
                     output_names: Any = None, tags: str | None = None, graph: Any = None,
                     config: Any = None) -> SavedModelPredictor:
    """A predictor of the SavedModel in a folder.

    Args:
      export_dir: the folder.
      signature_def_key: the signature that names inputs and outputs, by default that of serving.
      signature_def: a SignatureDef in its place.
      input_names, output_names: in its place, {key: name of a tensor}.
      tags: the tags of the MetaGraph, with commas between, by default "serve".
      graph, config: what it is loaded into, and the session's ConfigProto.
    Raises ValueError for more than one of these ways to name tensors, OSError if there is no SavedModel, RuntimeError if none
    of its MetaGraphs has these tags.
    """
    return SavedModelPredictor(export_dir, signature_def_key, signature_def, input_names, output_names, tags, graph, config)


def from_estimator(estimator: Any, serving_input_receiver_fn: Any, output_key: Any = None, graph: Any = None,
                   config: Any = None) -> CoreEstimatorPredictor:
    """A predictor of a trained ``tf.estimator.Estimator``: inputs are those of the receiver, outputs those of an export output.

    Raises TypeError for an estimator of contrib.learn, KeyError if there is no such output.
    """
    if isinstance(estimator, OldEstimator):
        raise TypeError("Expected estimator to be of type tf.python.estimator.Estimator, but got type "
                        "tf.contrib.learn.Estimator. You likely want to call from_contrib_estimator.")
    return CoreEstimatorPredictor(estimator, serving_input_receiver_fn, output_key, graph, config)


def from_contrib_estimator(estimator: Any, prediction_input_fn: Any, input_alternative_key: str | None = None,
                           output_alternative_key: str | None = None, graph: Any = None,
                           config: Any = None) -> ContribEstimatorPredictor:
    """A predictor of a fitted ``tf.contrib.learn.Estimator``; `prediction_input_fn` gives an InputFnOps.

    Raises TypeError for a ``tf.estimator.Estimator``, ValueError if it is not said which of several outputs is meant.
    """
    if isinstance(estimator, Estimator):
        raise TypeError("Expected estimator to be of type tf.contrib.learn.Estimator, but got type tf.python.estimator.Estimator. "
                        "You likely want to call from_estimator.")
    return ContribEstimatorPredictor(estimator, prediction_input_fn, input_alternative_key, output_alternative_key, graph, config)
