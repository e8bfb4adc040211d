"""The graph that is written of an object: variables, tables and files, a call for each signature, and a library of functions."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from jitgraph.control.order_ops import no_op
from jitgraph.formats.meta_graph import create_meta_graph_def
from jitgraph.functions.concrete_function import ConcreteFunction
from jitgraph.functions.stored_function import StoredFunctions, declare_shapes
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.protos.function_def import add_functions, definition_of
from jitgraph.graph.protos.function_names import exported_name
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.identity import placeholder
from jitgraph.protobuf import messages
from jitgraph.resources.assets import TrackableAsset
from jitgraph.saved_model import constants
from jitgraph.saved_model.builder import unused_name
from jitgraph.saved_model.saved_objects import CapturedConstant, SavedObjects, is_resource
from jitgraph.saved_model.signature_functions import SignatureFunction, SignatureMap
from jitgraph.saved_model.signatures import build_signature_def, build_tensor_info
from jitgraph.saved_model.structured_values import encoded, specs_of
from jitgraph.train.object_checkpoint import SavedText
from jitgraph.train.object_graph import OBJECT_GRAPH
from jitgraph.train.saver import Saver
from jitgraph.variables.resource_variables import ResourceVariable
from jitgraph.variables.uninitialized import UninitializedVariable
from jitgraph.variables.variable import Variable

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


class ExportedGraph:
    """What a SavedModel has of `root`: ``meta_graph()``; ``objects``; ``files``, {path of an asset: name of its copy}."""

    def __init__(self, root: Any, signatures: Mapping[str, ConcreteFunction]):
        self._written: dict[int, Any] = {}          # {id of a concrete function: the graph that is written of it}
        self._signatures = {key: SignatureFunction(one, self._graph_of(one), key) for key, one in sorted(signatures.items())}
        # a function may make variables of the object when it is traced: the objects are looked at again when all are
        SavedObjects(root, SignatureMap(self._signatures)).concrete()
        self.objects = SavedObjects(root, SignatureMap(self._signatures))
        self._functions = self.objects.concrete()
        self._names = {id(one): exported_name(self._graph_of(one)) for one in self._functions}
        self._fillers = [functions["_initialize"].concrete_functions()[0]
                         for value, functions in zip(self.objects.nodes, self.objects.functions) if is_resource(value)]
        self._graph = Graph()
        self._here: dict[Tensor, Any] = {}          # {what functions take from around them: the same in the exported graph}
        self._places: dict[Tensor, int] = {}        # {the same: number of the object that it is}
        self._variables: dict[int, UninitializedVariable] = {}
        self._asset_defs: list[Any] = []
        self._asset_numbers: dict[int, int] = {}    # {id of an asset: number of its AssetFileDef}
        self._asset_initializers: dict[Tensor, Operation] = {}
        self.files: dict[str, str] = {}

    def _graph_of(self, concrete: ConcreteFunction) -> Any:
        if id(concrete) not in self._written:
            self._written[id(concrete)] = concrete.exported_graph()
        return self._written[id(concrete)]

    def meta_graph(self) -> Any:
        """The MetaGraphDef.  Raises ValueError, AssertionError or KeyError for functions that take what is not saved."""
        with self._graph.as_default():
            for value in list(self.objects.nodes):
                self._make(value)
            for concrete in self._functions:
                self._make_constants(concrete)
            library = StoredFunctions(self._graph, self._library())
            init = self._initializer(library)
            signatures = {key: self._signature(key, one, library) for key, one in self._signatures.items()}
            saver = self._saver()
        meta = create_meta_graph_def(graph=self._graph, saver_def=saver.saver_def, collection_list=[], strip_default_attrs=True)
        meta.meta_info_def.tags.append(constants.SERVING)
        meta.collection_def[constants.MAIN_OP_KEY].node_list.value.append(init.name)
        info = meta.signature_def[constants.INIT_OP_SIGNATURE_KEY].outputs[constants.INIT_OP_SIGNATURE_KEY]
        info.name, info.tensor_shape.unknown_rank = init.name, True
        for key, signature in signatures.items():
            meta.signature_def[key].CopyFrom(signature)
        meta.asset_file_def.extend(self._asset_defs)
        meta.object_graph_def.CopyFrom(self._object_graph())
        return meta

    # -- objects

    def _make(self, value: Any) -> None:
        """Makes the nodes of an object in the exported graph."""
        place = self.objects.add(value)
        if isinstance(value, TrackableAsset):
            self._make_asset(value, place)
        elif isinstance(value, Variable):
            made = self._variables[place] = UninitializedVariable(value.name[:-2], value.shape, value.dtype.base_dtype,
                                                                  value.trainable, value.synchronization, value.aggregation)
            if isinstance(value, ResourceVariable):
                self._take(value.handle, made.handle, place)
        elif is_resource(value):
            self._take(value.resource_handle, value._create_resource(), place)

    def _make_asset(self, asset: TrackableAsset, place: int) -> None:
        """A variable that holds the path of a file, and is given it where the model is loaded."""
        value = constant_value(asset.asset_path)
        if value is None:
            raise ValueError(f"the path of the file {asset.asset_path} is not a constant, so that the file cannot be saved")
        path = value.item().decode()
        if path not in self.files:
            self.files[path] = unused_name(os.path.basename(path), set(self.files.values()))
        given = placeholder(dtypes.string, asset.asset_path.shape, name="asset_path_initializer")
        held = Variable(given, trainable=False, use_resource=True)
        self._asset_numbers[id(asset)] = len(self._asset_defs)
        self._asset_defs.append(messages.AssetFileDef(filename=self.files[path], tensor_info={"name": given.name}))
        self._asset_initializers[asset.asset_path] = held.initializer
        self._take(asset.asset_path, held, place)

    def _take(self, theirs: Tensor, ours: Any, place: int) -> None:
        self._here[theirs], self._places[theirs] = ours, place

    def _make_constants(self, concrete: ConcreteFunction) -> None:
        """Makes what a function takes from around it, and is not an object: constants."""
        for theirs in self._graph_of(concrete).captures:
            if theirs in self._here or theirs.dtype.base_dtype in (dtypes.resource, dtypes.variant):
                continue
            value = constant_value(theirs)
            if value is None:
                raise ValueError(f"Attempted to save a function {concrete.name!r} which references a symbolic Tensor {theirs} that "
                                 "is not a simple constant. This is not supported. (Variables that functions use must be made with "
                                 "use_resource=True.)")
            kept = CapturedConstant(constant(value, theirs.dtype.base_dtype).op.name)
            self._take(theirs, self._graph.get_tensor_by_name(kept.operation + ":0"), self.objects.add(kept))

    def _saver(self) -> Saver:
        """What saves the variables, and reads them where the model is loaded in a session."""
        saved: dict[str, Any] = {key: self._variables[self.objects.add(one)]
                                 for key, one in self.objects.checkpointed.variables().items() if isinstance(one, Variable)}
        with self._graph.name_scope("save"):
            saved[OBJECT_GRAPH] = SavedText(self.objects.checkpoint_proto().SerializeToString(), OBJECT_GRAPH)
        return Saver(saved)

    # -- functions

    def _library(self) -> Any:
        """The FunctionDefLibrary of all functions."""
        library = messages.FunctionDefLibrary()
        for concrete in self._functions:
            graph = self._graph_of(concrete)
            library.function.append(definition_of(graph, self._names[id(concrete)]))
            declare_shapes(library.function[-1], graph)
            for number, argument in enumerate(library.function[-1].signature.input_arg[:len(concrete._keywords)]):
                library.function[-1].arg_attr[number].attr["_user_specified_name"].s = argument.name.encode()
        for concrete in self._functions:
            add_functions(library, self._graph_of(concrete).get_operations())
        for node in (node for definition in library.function for node in definition.node_def if node.op in _CALLS):
            node.attr["_gradient_op_type"].s = b"PartitionedCall-0"     # so that TensorFlow looks for a gradient of the function
        return library

    def _captured(self, concrete: ConcreteFunction) -> list[Tensor]:
        """What stands in the exported graph for what a function takes from around it."""
        found = []
        for outer, inner in self._graph_of(concrete).captures.items():
            if outer not in self._here:
                raise AssertionError(f"Tried to export a function which references untracked object {inner}.TensorFlow objects "
                                     "(e.g. tf.Variable) captured by functions must be tracked by assigning them to an attribute "
                                     "of a tracked object or assigned to an attribute of the main object directly.")
            found.append(convert_to_tensor(self._here[outer]))     # which reads a path where it is used, after it was given
        return found

    def _initializer(self, library: StoredFunctions) -> Operation:
        """What is to be run where the model is loaded: fills tables, once the paths of files are known."""
        done: list[Operation] = list(self._asset_initializers.values())
        for fill in self._fillers:
            waits = [self._asset_initializers.get(outer) for outer in self._graph_of(fill).captures]
            with control_dependencies(filter(None, waits)):
                done.append(library.call(self._names[id(fill)], self._captured(fill)))
        with control_dependencies(done):
            return no_op()

    def _signature(self, key: str, signature: SignatureFunction, library: StoredFunctions) -> Any:
        """The SignatureDef of a function, for which there is a node that calls it."""
        arguments = self._graph_of(signature).inputs
        given = {name: placeholder(tensor.dtype, tensor.shape, name=f"{key}_{name}")
                 for name, tensor in zip(signature._keywords, arguments)}
        node = library.call(self._names[id(signature)], [*given.values(), *self._captured(signature)])
        results = dict(zip(sorted(signature.structured_outputs), node.outputs))
        return build_signature_def({name: build_tensor_info(tensor) for name, tensor in given.items()},
                                   {name: build_tensor_info(tensor) for name, tensor in results.items()},
                                   constants.PREDICT_METHOD_NAME)

    # -- messages

    def _object_graph(self) -> Any:
        """The SavedObjectGraph."""
        made = self.objects.to_proto(self._names, self._asset_numbers)
        for concrete in self._functions:
            found = made.concrete_functions[self._names[id(concrete)]]
            for outer in self._graph_of(concrete).captures:
                if outer not in self._places:
                    raise KeyError(f"Failed to add concrete function {concrete.name!r} to object based saved model as it captures "
                                   f"tensor {outer} which is unsupported or not reachable from root. One reason could be that a "
                                   "stateful object or a variable that the function depends on is not assigned to an attribute of "
                                   "the serialized trackable object.")
                found.bound_inputs.append(self._places[outer])
            found.canonicalized_input_signature.CopyFrom(encoded(concrete.structured_input_signature))
            found.output_signature.CopyFrom(encoded(specs_of(concrete.structured_outputs)))
        return made
