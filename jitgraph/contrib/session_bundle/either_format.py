"""``tf.contrib.session_bundle.bundle_shim``: reads exports and SavedModels alike."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.session_bundle import constants
from jitgraph.contrib.session_bundle.loading import load_session_bundle_from_path, maybe_session_bundle_dir
from jitgraph.contrib.session_bundle.manifest import Signatures
from jitgraph.facade.names import resolve
from jitgraph.graph.default_graph import reset_default_graph
from jitgraph.protobuf.messages import SignatureDef
from jitgraph.saved_model import constants as saved_model
from jitgraph.saved_model.loader import load, maybe_saved_model_directory


def load_session_bundle_or_saved_model_bundle_from_path(export_dir: Any, tags: Any = None, target: str = "",
                                                        config: Any = None) -> tuple[Any, Any]:
    """Loads a SavedModel, or an export, whose signatures are then said as a SavedModel says them.

    Args:
      export_dir: the folder.
      tags: of the MetaGraph of a SavedModel.
      target, config: of the session.
    Returns (session, MetaGraphDef with its ``signature_def``).
    Raises RuntimeError if the folder is neither.
    """
    if maybe_saved_model_directory(export_dir):
        reset_default_graph()
        session = resolve("Session")(target, config=config)
        return session, load(session, tags, export_dir)
    if not maybe_session_bundle_dir(export_dir):
        raise RuntimeError(f"SessionBundle or SavedModelBundle not found at specified export location: {export_dir}")
    session, meta = load_session_bundle_from_path(export_dir, target, config)
    if constants.SIGNATURES_KEY in meta.collection_def:
        stated = meta.collection_def[constants.SIGNATURES_KEY].any_list.value
        if len(stated) != 1:
            raise RuntimeError(f"Expected exactly one Signatures message in the collection {constants.SIGNATURES_KEY}, "
                               f"found {len(stated)}")
        _add_signatures(meta, Signatures.FromString(stated[0].value))
    return session, meta


def _add_signatures(meta: Any, signatures: Any) -> None:
    for definition in (_of_default(signatures.default_signature), _of_named(signatures.named_signatures)):
        if definition is not None:
            meta.signature_def[saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY].CopyFrom(definition)


def _of_default(signature: Any) -> Any:
    """The SignatureDef of a default signature, None for those without a fixed meaning."""
    kind = signature.WhichOneof("type")
    if kind == constants.REGRESSION_SIGNATURE:
        regression = signature.regression_signature
        return _definition(saved_model.REGRESS_METHOD_NAME, {saved_model.REGRESS_INPUTS: regression.input},
                           {saved_model.REGRESS_OUTPUTS: regression.output})
    if kind == constants.CLASSIFICATION_SIGNATURE:
        classes = signature.classification_signature
        return _definition(saved_model.CLASSIFY_METHOD_NAME, {saved_model.CLASSIFY_INPUTS: classes.input}, {
            saved_model.CLASSIFY_OUTPUT_CLASSES: classes.classes, saved_model.CLASSIFY_OUTPUT_SCORES: classes.scores})
    return None


def _of_named(named: Any) -> Any:
    """The SignatureDef of signatures "inputs" and "outputs", None unless both are there.

    Raises RuntimeError if they are not generic.
    """
    if saved_model.PREDICT_INPUTS not in named or saved_model.PREDICT_OUTPUTS not in named:
        return None
    maps = {}
    for name in (saved_model.PREDICT_INPUTS, saved_model.PREDICT_OUTPUTS):
        if named[name].WhichOneof("type") != constants.GENERIC_SIGNATURE:
            raise RuntimeError(f"The named signature {name!r} can only be read as a SavedModel's if it is a generic signature, "
                               f"found {named[name].WhichOneof('type')}.")
        maps[name] = named[name].generic_signature.map
    return _definition(saved_model.PREDICT_METHOD_NAME, maps[saved_model.PREDICT_INPUTS], maps[saved_model.PREDICT_OUTPUTS])


def _definition(method: str, inputs: Any, outputs: Any) -> Any:
    definition = SignatureDef(method_name=method)
    for field, bindings in ((definition.inputs, inputs), (definition.outputs, outputs)):
        for key, binding in bindings.items():
            if binding.tensor_name:
                field[key].name = binding.tensor_name
    return definition
