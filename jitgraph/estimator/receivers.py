"""What an exported model is asked with: ``tf.estimator.export.ServingInputReceiver`` and the functions that make one."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.estimator.export_outputs import SINGLE_FEATURE, SINGLE_LABEL, SINGLE_RECEIVER
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import string
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import placeholder
from jitgraph.ops.files.parsing import parse_example

_SINGLE = {"feature": SINGLE_FEATURE, "label": SINGLE_LABEL, "receiver_tensor": SINGLE_RECEIVER,
           "receiver_tensors_alternative": SINGLE_RECEIVER}


def _named(tensors: Any, kind: str, integers: bool = False) -> dict[Any, Any]:
    """Tensors by name.  Raises ValueError for None, other keys than strings (or integers), and what is no tensor."""
    if tensors is None:
        raise ValueError(f"{kind}s must be defined.")
    found = tensors if isinstance(tensors, dict) else {_SINGLE[kind]: tensors}
    for name, tensor in found.items():
        if not isinstance(name, str) and not (integers and isinstance(name, int)):
            raise ValueError(f"{kind} keys must be strings{' or ints' if integers else ''}: {name}.")
        _check_tensor(tensor, kind, f" {name}")
    return found


def _check_tensor(tensor: Any, kind: str, name: str = "") -> None:
    if isinstance(tensor, (Tensor, SparseTensor)):
        return
    if hasattr(tensor, "tensor"):
        try:
            convert_to_tensor(tensor)
            return
        except TypeError:
            pass
    raise ValueError(f"{kind}{name} must be a Tensor or SparseTensor.")


class _Receiver(NamedTuple):
    features: Any
    receiver_tensors: dict
    receiver_tensors_alternatives: dict | None


class ServingInputReceiver(_Receiver):
    """The features of a model, and the placeholders that they are made of.

    `features` {name: tensor} or one tensor, then named "feature"; `receiver_tensors` {name: placeholder} or one, then named
    "input"; `receiver_tensors_alternatives` {name: other tensors to feed instead}.  Raises ValueError for what is no tensor.
    """

    def __new__(cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None) -> ServingInputReceiver:
        features = _named(features, "feature", integers=True)
        receivers = _named(receiver_tensors, "receiver_tensor")
        if receiver_tensors_alternatives is not None:
            if not isinstance(receiver_tensors_alternatives, dict):
                raise ValueError(f"receiver_tensors_alternatives must be a dict: {receiver_tensors_alternatives}.")
            for name, given in receiver_tensors_alternatives.items():
                receiver_tensors_alternatives[name] = _named(given, "receiver_tensors_alternative")
        return super().__new__(cls, features, receivers, receiver_tensors_alternatives)


class TensorServingInputReceiver(_Receiver):
    """As ServingInputReceiver, for a model whose features are one tensor."""

    def __new__(cls, features: Any, receiver_tensors: Any,
                receiver_tensors_alternatives: Any = None) -> TensorServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, "feature")
        named = ServingInputReceiver(features, receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(cls, named.features[SINGLE_FEATURE], named.receiver_tensors, named.receiver_tensors_alternatives)


class UnsupervisedInputReceiver(ServingInputReceiver):
    """The features of training or evaluation without labels."""

    def __new__(cls, features: Any, receiver_tensors: Any) -> UnsupervisedInputReceiver:
        return super().__new__(cls, features, receiver_tensors)      # type: ignore[return-value]


class _Supervised(NamedTuple):
    features: Any
    labels: Any
    receiver_tensors: dict


class SupervisedInputReceiver(_Supervised):
    """The features and labels of training or evaluation, and the placeholders that they are made of."""

    def __new__(cls, features: Any, labels: Any, receiver_tensors: Any) -> SupervisedInputReceiver:
        _named(features, "feature", integers=True)
        _named(labels, "label", integers=True)
        return super().__new__(cls, features, labels, _named(receiver_tensors, "receiver_tensor"))


def build_parsing_serving_input_receiver_fn(feature_spec: dict[str, Any], default_batch_size: int | None = None) -> Callable:
    """A function that gives a receiver of serialized ``tf.train.Example``s, parsed by `feature_spec`."""
    def serving_input_receiver_fn() -> ServingInputReceiver:
        serialized = placeholder(string, shape=[default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(parse_example(serialized, feature_spec), {"examples": serialized})

    return serving_input_receiver_fn


def _placeholder_like(tensor: Any, batch_size: int | None) -> Any:
    """A placeholder for tensors as this one, with any number of examples, or `batch_size`."""
    shape = TensorShape([batch_size]).concatenate(tensor.get_shape()[1:])
    return placeholder(tensor.dtype, shape=shape, name=tensor.op.name if hasattr(tensor, "op") else None)


def _placeholders_like(tensors: dict[str, Any], batch_size: int | None) -> dict[str, Any]:
    return {name: _placeholder_like(tensor, batch_size) for name, tensor in tensors.items()}


def build_raw_serving_input_receiver_fn(features: dict[str, Any], default_batch_size: int | None = None) -> Callable:
    """A function that gives a receiver whose placeholders are the features themselves, each like the tensor of that name."""
    def serving_input_receiver_fn() -> ServingInputReceiver:
        made = _placeholders_like(features, default_batch_size)
        return ServingInputReceiver(made, made)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(features: Any, labels: Any, default_batch_size: int | None = None) -> Callable:
    """As ``build_raw_serving_input_receiver_fn``, with labels.  Raises ValueError if features and labels share a name."""
    shared = _keys(features, SINGLE_RECEIVER) & _keys(labels, SINGLE_LABEL)
    if shared:
        raise ValueError(f"Features and labels must have distinct keys. Found overlapping keys: {shared}")

    def made(tensors: Any, name: str) -> tuple[Any, dict[str, Any]]:
        if isinstance(tensors, dict):
            found = _placeholders_like(tensors, default_batch_size)
            return found, found
        one = _placeholder_like(tensors, default_batch_size)
        return one, {name: one}

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        own_features, received = made(features, SINGLE_RECEIVER)
        own_labels, more = made(labels, SINGLE_LABEL)
        return SupervisedInputReceiver(own_features, own_labels, {**received, **more})

    return supervised_input_receiver_fn


def _keys(tensors: Any, name: str) -> set[str]:
    return set(tensors) if isinstance(tensors, dict) else {name}
