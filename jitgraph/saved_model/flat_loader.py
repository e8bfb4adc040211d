"""Loading SavedModels that have a graph and no objects: those of TensorFlow 1."""
from __future__ import annotations

import os
from typing import Any

from jitgraph.app import logs
from jitgraph.functions.wrapped_function import UnliftableError, WrappedFunction, wrap_function
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.identity import placeholder
from jitgraph.protobuf import messages
from jitgraph.resources.assets import TrackableAsset
from jitgraph.saved_model import constants
from jitgraph.saved_model.loader import assets_of, main_op_of, meta_graph_with_tags
from jitgraph.saved_model.shared_names import load_suffix, make_own, with_own_names
from jitgraph.saved_model.signature_functions import SignatureMap
from jitgraph.train.saver import import_meta_graph_with_return_elements
from jitgraph.train.sessions.scaffold import Scaffold
from jitgraph.train.trackables import AutoTrackable


class Initializer:
    """What runs once where the model is loaded.  Saved models have it as a resource, which is initialized and never used."""

    _checkpoint_dependencies: tuple = ()

    def __init__(self, function: WrappedFunction, assets: list[TrackableAsset]):
        self._function, self._assets = function, assets
        self._handle: Tensor | None = None

    @property
    def resource_handle(self) -> Tensor:
        """The handle of the resource."""
        if self._handle is None:
            self._handle = self._create_resource()
        return self._handle

    def _create_resource(self) -> Tensor:
        handle: Tensor = placeholder(dtypes.resource, [], name="unused_resource")
        return handle

    def _initialize(self) -> Tensor:
        """A tensor that is there when the initialization has run."""
        done: Tensor = self._function._call([asset.asset_path for asset in self._assets])[0]
        return done


def load(model: Any, folder: str, tags: Any) -> Any:
    """The MetaGraph of these tags as an object with ``signatures``, ``variables``, ``graph`` and ``prune``.

    Raises ValueError if no tags are given and there are several, RuntimeError if none has these.
    """
    meta = messages.MetaGraphDef()
    meta.CopyFrom(_chosen(model, tags))
    suffix = load_suffix()
    library = with_own_names(meta.graph_def.library, suffix)
    meta.graph_def.library.CopyFrom(library)
    for node in meta.graph_def.node:
        make_own(node, suffix)
    imported: list[Any] = []
    wrapped = wrap_function(lambda: imported.append(import_meta_graph_with_return_elements(meta)[0]), [])
    _restore_variables(wrapped, imported[0], os.path.join(folder, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME))
    root: Any = AutoTrackable()
    root.initializer, root.asset_paths = _initializer(wrapped, meta, folder)
    done = root.initializer._initialize()
    get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, done.op)
    for variable in wrapped.graph.get_collection(GraphKeys.LOCAL_VARIABLES):
        _initialize_by(variable, done.op)
    root.signatures = SignatureMap(_signatures(wrapped, meta))
    root.variables = wrapped.variables
    root.tensorflow_version = meta.meta_info_def.tensorflow_version
    root.tensorflow_git_version = meta.meta_info_def.tensorflow_git_version
    root.graph, root.prune = wrapped.graph, wrapped.prune
    return root


def _chosen(model: Any, tags: Any) -> Any:
    if tags is not None:
        return meta_graph_with_tags(model, tags)
    if len(model.meta_graphs) != 1:
        raise ValueError("Importing a SavedModel with tf.saved_model.load requires a 'tags=' argument if there is more than one "
                         f"MetaGraph. Got 'tags=None', but there are {len(model.meta_graphs)} MetaGraphs in the SavedModel with "
                         f"tag sets {[list(meta.meta_info_def.tags) for meta in model.meta_graphs]}. Pass a 'tags=' argument to "
                         "load this SavedModel.")
    return model.meta_graphs[0]


def _initialize_by(variable: Any, operation: Any) -> None:
    variable._initializer_op = operation


def _restore_variables(wrapped: WrappedFunction, saver: Any, prefix: str) -> None:
    """Lets the variables read the checkpoint when they are initialized."""
    if saver is None:
        return
    names = saver.saver_def
    restore = wrapped.prune([names.filename_tensor_name], [names.filename_tensor_name, names.restore_op_name])
    done = restore(constant(prefix))[0].op
    get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, done)
    inside = False
    for variable in wrapped.graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
        inside = inside or variable.graph is wrapped.graph
        _initialize_by(variable, done)
    if inside:
        logs.warning("Some variables could not be lifted out of a loaded function. Run the tf.initializers.tables_initializer() "
                     "operation to restore these variables.")


def _initializer(wrapped: WrappedFunction, meta: Any, folder: str) -> tuple[Initializer, list[TrackableAsset]]:
    """What is to run once after loading, with the files that it reads."""
    with wrapped.graph.as_default():
        main = main_op_of(wrapped.graph, meta, None)
        if main is None:
            main = Scaffold.default_local_init_op()
        anchor = constant(0.0, name="dummy_fetch")
    files = assets_of(meta, folder)
    assets = [TrackableAsset(path) for path in files.values()]
    return Initializer(wrapped.prune(list(files), [anchor, main]), assets), assets


def _signatures(wrapped: WrappedFunction, meta: Any) -> dict[str, WrappedFunction]:
    """A function for each SignatureDef."""
    found = {}
    for key, signature in sorted(meta.signature_def.items()):
        names = sorted(signature.inputs)
        try:
            function = wrapped.prune([signature.inputs[name].name for name in names], dict(signature.outputs))
        except UnliftableError as error:
            raise UnliftableError("A SavedModel signature needs an input for each placeholder the signature's outputs use. An "
                                  f"output for signature '{key}' depends on a placeholder which is not an input (i.e. the "
                                  f"placeholder is not fed a value).\n\n{error}") from None
        function.call_by(names, 1 if len(names) == 1 else 0)
        found[key] = function
    return found
