"""Signatures: which tensors of a graph are the inputs and outputs of a function that it offers."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype, float32, string
from jitgraph.graph.protos.tensor_proto import shape_to_proto
from jitgraph.graph.scope_names import prepend_name_scope
from jitgraph.protobuf import messages
from jitgraph.saved_model import constants


def build_tensor_info(tensor: Any) -> Any:
    """The TensorInfo of a Tensor, SparseTensor or variable: name, dtype, static shape."""
    dtype, shape = as_dtype(tensor.dtype), tensor.get_shape()
    info = messages.TensorInfo(dtype=dtype.as_datatype_enum, tensor_shape=shape_to_proto(shape._raw))
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def get_tensor_from_tensor_info(tensor_info: Any, graph: Any = None, import_scope: str | None = None) -> Any:
    """The Tensor or SparseTensor that a TensorInfo names in `graph` (the default graph if None), under `import_scope`.

    Raises KeyError if it is not there, ValueError if the TensorInfo names none.
    """
    graph = graph or get_default_graph()

    def tensor(name: str) -> Any:
        return graph.get_tensor_by_name(prepend_name_scope(name, import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return tensor(tensor_info.name)
    if encoding == "coo_sparse":
        parts = tensor_info.coo_sparse
        return SparseTensor(tensor(parts.indices_tensor_name), tensor(parts.values_tensor_name),
                            tensor(parts.dense_shape_tensor_name))
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


def build_signature_def(inputs: Any = None, outputs: Any = None, method_name: str | None = None) -> Any:
    """The SignatureDef of {name: TensorInfo} for inputs and outputs."""
    signature = messages.SignatureDef(method_name=method_name or "")
    for field, infos in ((signature.inputs, inputs), (signature.outputs, outputs)):
        for name, info in (infos or {}).items():
            field[name].CopyFrom(info)
    return signature


def _infos(tensors: dict[str, Any]) -> dict[str, Any]:
    return {name: build_tensor_info(tensor) for name, tensor in tensors.items()}


def predict_signature_def(inputs: dict[str, Any], outputs: dict[str, Any]) -> Any:
    """The signature of a function of any tensors.  Raises ValueError without inputs or outputs."""
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(_infos(inputs), _infos(outputs), constants.PREDICT_METHOD_NAME)


def _require(info: Any, dtype: Any, message: str) -> None:
    if as_dtype(info.dtype) is not dtype:
        raise ValueError(message)


def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """The signature of a regression: serialized Examples to floats.  Raises ValueError for other dtypes or None."""
    if examples is None:
        raise ValueError("Regression examples cannot be None.")
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    inputs, outputs = build_tensor_info(examples), build_tensor_info(predictions)
    _require(inputs, string, "Regression examples must be a string Tensor.")
    _require(outputs, float32, "Regression output must be a float Tensor.")
    return build_signature_def({constants.REGRESS_INPUTS: inputs}, {constants.REGRESS_OUTPUTS: outputs},
                               constants.REGRESS_METHOD_NAME)


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """The signature of a classification: serialized Examples to classes (strings), scores (floats), or both.

    Raises ValueError for other dtypes, or if there is nothing to give.
    """
    if examples is None:
        raise ValueError("Classification examples cannot be None.")
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    inputs = build_tensor_info(examples)
    _require(inputs, string, "Classification examples must be a string Tensor.")
    outputs = {}
    if classes is not None:
        info = outputs[constants.CLASSIFY_OUTPUT_CLASSES] = build_tensor_info(classes)
        _require(info, string, "Classification classes must be a string Tensor.")
    if scores is not None:
        info = outputs[constants.CLASSIFY_OUTPUT_SCORES] = build_tensor_info(scores)
        _require(info, float32, "Classification scores must be a float Tensor.")
    return build_signature_def({constants.CLASSIFY_INPUTS: inputs}, outputs, constants.CLASSIFY_METHOD_NAME)


def _supervised(method: str, inputs: dict[str, Any], *outputs: dict[str, Any] | None) -> Any:
    if not inputs:
        raise ValueError(f"{method} inputs cannot be None or empty.")
    found = {key: tensor for some in outputs for key, tensor in (some or {}).items()}
    return build_signature_def(_infos(inputs), _infos(found), method)


def supervised_train_signature_def(inputs: dict[str, Any], loss: Any = None, predictions: Any = None, metrics: Any = None) -> Any:
    """The signature of a training step; all arguments are {name: tensor}.  Raises ValueError without inputs."""
    return _supervised(constants.SUPERVISED_TRAIN_METHOD_NAME, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(inputs: dict[str, Any], loss: Any = None, predictions: Any = None, metrics: Any = None) -> Any:
    """The signature of an evaluation step; all arguments are {name: tensor}.  Raises ValueError without inputs."""
    return _supervised(constants.SUPERVISED_EVAL_METHOD_NAME, inputs, loss, predictions, metrics)


_OUTPUTS = {constants.CLASSIFY_METHOD_NAME: {constants.CLASSIFY_OUTPUT_CLASSES: string,
                                             constants.CLASSIFY_OUTPUT_SCORES: float32},
            constants.REGRESS_METHOD_NAME: {constants.REGRESS_OUTPUTS: float32}}


def is_valid_signature(signature_def: Any) -> bool:
    """Whether a model server can offer a signature: one of the three methods, with the tensors that it asks for."""
    if signature_def is None or not signature_def.inputs or not signature_def.outputs:
        return False
    if signature_def.method_name == constants.PREDICT_METHOD_NAME:
        return True
    allowed = _OUTPUTS.get(signature_def.method_name)
    if allowed is None or set(signature_def.inputs) != {"inputs"} or not set(signature_def.outputs) <= set(allowed):
        return False
    return as_dtype(signature_def.inputs["inputs"].dtype) is string and all(
        as_dtype(info.dtype) is allowed[name] for name, info in signature_def.outputs.items())
