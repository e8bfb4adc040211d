"""``tf.saved_model.load_v2``: SavedModels as objects with functions, in the graph."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.functions.restored_function import RestoredFunction
from jitgraph.functions.stored_function import StoredFunction, StoredFunctions
from jitgraph.graph import structures as nest
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.protos.tensor_proto import make_ndarray, shape_from_proto
from jitgraph.graph.scopes import device, init_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.resources.assets import TrackableAsset
from jitgraph.saved_model import constants, flat_loader
from jitgraph.saved_model.checkpoint_keys import checkpoint_keys
from jitgraph.saved_model.loader import parse_saved_model
from jitgraph.saved_model.shared_names import load_suffix, with_own_names
from jitgraph.saved_model.signature_functions import SignatureMap
from jitgraph.saved_model.structured_values import decoded
from jitgraph.train.trackables import AutoTrackable
from jitgraph.variables.uninitialized import UninitializedVariable


def load_v2(export_dir: Any, tags: Any = None) -> Any:
    """``tf.saved_model.load_v2``: a SavedModel as an object.

    What ``tf.saved_model.save`` wrote has the attributes of the object that was saved: variables, functions, tables, lists and
    dicts of them.  What a ``tf.saved_model.Builder``, an Estimator or TensorFlow Hub wrote has ``variables``, ``graph``, and
    ``prune(feeds, fetches)``, which makes a function of a part of the graph.  Both have ``signatures``, {key: function}.

    Args:
      export_dir: the folder.
      tags: the tags of the MetaGraph, one or several; may be left out if there is only one.
    Variables read their values when they are initialized: ``tf.global_variables_initializer()``; tables are filled by
    ``tf.tables_initializer()``.  Variables are not trainable: give those to train to the optimizer.
    Raises OSError if there is no SavedModel, ValueError or RuntimeError if it has no MetaGraph of these tags.
    """
    model = parse_saved_model(export_dir)
    folder = os.fspath(export_dir)
    if tags is not None and not isinstance(tags, set):
        tags = nest.flatten(tags)
    meta = model.meta_graphs[0] if len(model.meta_graphs) == 1 else None
    with init_scope():
        if meta is None or not meta.HasField("object_graph_def"):
            return flat_loader.load(model, folder, tags)
        if tags is not None and set(tags) != set(meta.meta_info_def.tags):
            raise ValueError(f"The SavedModel at {export_dir} has one MetaGraph with tags {list(meta.meta_info_def.tags)}, but got "
                             f"an incompatible argument tags={tags} to tf.saved_model.load. You may omit it, pass 'None', or pass "
                             "matching tags.")
        root = _Loader(meta, folder).nodes[0]
    root.tensorflow_version = meta.meta_info_def.tensorflow_version
    root.tensorflow_git_version = meta.meta_info_def.tensorflow_git_version
    return root


class RestoredResource(AutoTrackable):
    """A table, or another resource, that functions of the model make and fill."""

    _create_resource: Callable[[], Tensor]
    _initialize: Callable[[], Any]

    def __init__(self, place: str):
        self._device = place
        self._handle: Tensor | None = None

    @property
    def resource_handle(self) -> Tensor:
        """The handle of the resource."""
        if self._handle is None:
            with init_scope(), device(self._device or None):
                self._handle = self._create_resource()
        return self._handle


class _Loader:
    """The objects of a MetaGraphDef: ``nodes``, as its SavedObjectGraph numbers them."""

    def __init__(self, meta: Any, folder: str):
        self._meta, self._folder = meta, folder
        self._proto = meta.object_graph_def
        self._constants = {node.name: node.attr["value"].tensor for node in meta.graph_def.node if node.op == "Const"}
        library = with_own_names(meta.graph_def.library, load_suffix())
        self._library = StoredFunctions(get_default_graph(), library)
        self._functions = {name: StoredFunction(self._library, name, decoded(stated.canonicalized_input_signature),
                                                decoded(stated.output_signature))
                           for name, stated in sorted(self._proto.concrete_functions.items())}
        self.nodes = [self._object(node) for node in self._proto.nodes]
        for node, value in zip(self._proto.nodes, self.nodes):
            for child in node.children:
                _set(value, child.local_name, self.nodes[child.node_id])
        for name, stated in sorted(self._proto.concrete_functions.items()):
            self._functions[name].captured = [self._tensor(place) for place in stated.bound_inputs]
        self._restore()
        for value in self.nodes:
            if isinstance(value, RestoredResource):
                for done in nest.flatten(value._initialize())[:1]:
                    get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, done)

    def _object(self, node: Any) -> Any:
        """The object that a SavedObject states, without what it holds.  Raises ValueError for unknown kinds."""
        kind = node.WhichOneof("kind")
        if kind not in _MAKERS:
            raise ValueError(f"Unknown SavedObject type: {kind!r}")
        return _MAKERS[kind](self, getattr(node, kind))

    def _user_object(self, stated: Any) -> Any:
        if stated.identifier in _HOLDERS:
            return _HOLDERS[stated.identifier]()
        return type("_UserObject", (AutoTrackable,), {})()      # a class of its own, which may get a __call__

    def _asset(self, stated: Any) -> TrackableAsset:
        name = self._meta.asset_file_def[stated.asset_file_def_index].filename
        return TrackableAsset(os.path.join(self._folder, constants.ASSETS_DIRECTORY, name))

    def _function(self, stated: Any) -> RestoredFunction:
        spec = decoded(stated.function_spec.fullargspec)
        if stated.function_spec.is_method:
            if not spec.args:
                raise NotImplementedError("Missing support to deserialize a method function without a named 'self' argument.")
            spec = spec._replace(args=spec.args[1:])
        functions = [self._functions[name] for name in stated.concrete_functions]
        return RestoredFunction("restored_function_body", spec, decoded(stated.function_spec.input_signature), functions)

    def _bare_function(self, stated: Any) -> StoredFunction:
        function = self._functions[stated.concrete_function_name]
        function.call_by(list(stated.argument_keywords), stated.allowed_positional_arguments)
        return function

    def _variable(self, stated: Any) -> UninitializedVariable:
        return UninitializedVariable(stated.name or None, shape_from_proto(stated.shape), as_dtype(stated.dtype), stated.trainable,
                                     stated.synchronization, stated.aggregation)

    def _constant(self, stated: Any) -> Tensor:
        return constant(make_ndarray(self._constants[stated.operation]), as_dtype(self._constants[stated.operation].dtype))

    def _resource(self, stated: Any) -> RestoredResource:
        return RestoredResource(stated.device)

    def _tensor(self, place: int) -> Tensor:
        """What functions take of an object.  Raises ValueError if it is no tensor."""
        value = self.nodes[place]
        if isinstance(value, UninitializedVariable):
            return value.handle
        if isinstance(value, TrackableAsset):
            return value.asset_path
        if isinstance(value, RestoredResource):
            return value.resource_handle
        if not isinstance(value, Tensor):
            raise ValueError(f"Can't convert node {type(value)} to tensor")
        return value

    def _restore(self) -> None:
        """Lets the variables read the checkpoint when they are initialized."""
        prefix = os.path.join(self._folder, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
        keys = checkpoint_keys(prefix, self._proto)
        found = sorted((keys[place], place) for place, value in enumerate(self.nodes)
                       if isinstance(value, UninitializedVariable) and place in keys)
        path, variables = constant(prefix), [self.nodes[place] for _, place in found]
        if not found:
            return
        read = raw.RestoreV2(path, [key for key, _ in found], [""] * len(found), dtypes=[one.dtype for one in variables])
        for variable, tensor in zip(variables, read):
            tensor._shape = variable.shape._raw
            variable.initialize_by(raw.AssignVariableOp(variable.handle, raw.Identity(tensor)))


_MAKERS: dict[str, Callable] = {
    "user_object": _Loader._user_object, "asset": _Loader._asset, "function": _Loader._function, "variable": _Loader._variable,
    "bare_concrete_function": _Loader._bare_function, "constant": _Loader._constant, "resource": _Loader._resource}
_HOLDERS: dict[str, Callable] = {"trackable_list_wrapper": list, "trackable_tuple_wrapper": list, "trackable_dict_wrapper": dict,
                                 "signature_map": SignatureMap}


def _set(holder: Any, name: str, value: Any) -> None:
    """Lets an object hold another one."""
    if isinstance(holder, list):
        place = int(name)
        holder.extend([None] * (place + 1 - len(holder)))
        holder[place] = value
    elif isinstance(holder, SignatureMap):
        holder._add_signature(name, value)
    elif isinstance(holder, dict):
        holder[name] = value
    else:
        setattr(holder, name, value)
        if name == "__call__" and not callable(holder):
            type(holder).__call__ = _call       # Python looks for it there


def _call(holder: Any, *args: Any, **kwargs: Any) -> Any:
    return vars(holder)["__call__"](*args, **kwargs)
