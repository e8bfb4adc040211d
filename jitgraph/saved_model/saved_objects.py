"""The objects of a program as a SavedModel states them: variables, functions, tables, files, and what holds them."""
from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from jitgraph.functions.concrete_function import ConcreteFunction
from jitgraph.functions.graph_function import Function, function
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.protos.tensor_proto import shape_to_proto
from jitgraph.protobuf import messages
from jitgraph.resources.assets import TrackableAsset
from jitgraph.saved_model.signature_functions import ATTRIBUTE, SignatureMap
from jitgraph.saved_model.structured_values import encoded
from jitgraph.train.object_checkpoint import Checkpoint
from jitgraph.train.object_graph import ObjectGraph
from jitgraph.train.trackables import AutoTrackable
from jitgraph.variables.module import Module
from jitgraph.variables.variable import Variable


class CapturedConstant:
    """A constant that functions take from around them; `operation`: the name of its node in the exported graph."""

    def __init__(self, operation: str):
        self.operation = operation


def is_resource(value: Any) -> bool:
    """Whether a value is a table, or something else that is made and filled where a model is loaded."""
    return hasattr(value, "_create_resource") and getattr(value, "resource_handle", None) is not None


class SavedObjects:
    """The objects below `root`, which gets `signatures`, and the functions of each.

    ``nodes``: objects, then the variables that optimizers keep, then functions; ``functions``: {name: function} of each of the
    first; ``checkpointed``: the graph of those that checkpoints know.
    """

    def __init__(self, root: Any, signatures: SignatureMap):
        self.checkpointed = ObjectGraph(root, {ATTRIBUTE: signatures})
        self.nodes: list[Any] = [*self.checkpointed.nodes, *self.checkpointed.slots.values()]
        self.functions = [functions_of(value) for value in self.nodes]
        self._places = {id(value): place for place, value in enumerate(self.nodes)}
        for functions in self.functions:
            for one in functions.values():
                self.add(one)

    def add(self, value: Any) -> int:
        """The number of an object, which is new or there already."""
        if id(value) not in self._places:
            self._places[id(value)] = len(self.nodes)
            self.nodes.append(value)
        return self._places[id(value)]

    def concrete(self) -> list[ConcreteFunction]:
        """The functions of tensors, each once."""
        found: dict[int, ConcreteFunction] = {}
        for one in self.nodes:
            if isinstance(one, (Function, ConcreteFunction)):
                found.update((id(each), each) for each in _concrete_functions(one))
        return list(found.values())

    def to_proto(self, names: Mapping[int, str], assets: Mapping[int, int]) -> Any:
        """The SavedObjectGraph without its concrete functions.

        `names`: {id of a concrete function: its name}; `assets`: {id of an asset: number of its AssetFileDef}.
        """
        made = messages.SavedObjectGraph()
        for place, value in enumerate(self.nodes):
            node = made.nodes.add()
            if place < len(self.checkpointed.edges):
                for name, child in self.checkpointed.edges[place]:
                    node.children.add(node_id=child, local_name=name)
            if place < len(self.functions):
                for name, one in self.functions[place].items():
                    node.children.add(node_id=self.add(one), local_name=name)
            _describe(node, value, names, assets)
        self._hold_slots(made)
        return made

    def checkpoint_proto(self) -> Any:
        """The TrackableObjectGraph."""
        made = self.checkpointed.to_proto()
        self._hold_slots(made)
        return made

    def _hold_slots(self, made: Any) -> None:
        """Lets optimizers hold the variables that they keep beside others as attributes: loaded ones are no optimizers, and
        TensorFlow, which would have them make these variables, could not load the model."""
        for (owner, place, slot), variable in self.checkpointed.slots.items():
            made.nodes[owner].ClearField("slot_variables")
            made.nodes[owner].children.add(node_id=self.add(variable), local_name=f"{slot}_{place}")


def _concrete_functions(value: Any) -> list[ConcreteFunction]:
    return value.concrete_functions() if isinstance(value, Function) else [value]


def functions_of(value: Any) -> dict[str, Any]:
    """{name: function} of the functions that an object has as attributes or elements."""
    if is_resource(value):
        return _functions_of_resource(value)
    if isinstance(value, (SignatureMap, dict)):
        pairs: Any = value.items()
    elif isinstance(value, list):
        pairs = ((str(place), one) for place, one in enumerate(value))
    elif isinstance(value, (AutoTrackable, Checkpoint, Module)):
        pairs = ((name, _attribute(value, name)) for name in dir(value))
    else:
        return {}
    return {name: one for name, one in pairs if isinstance(one, (Function, ConcreteFunction))}


def _attribute(value: Any, name: str) -> Any:
    static = inspect.getattr_static(value, name, None)
    if isinstance(static, property) and static.fget is not None and static.fget.__module__.startswith("jitgraph."):
        return None             # none of ours is a function, and the one that counts checkpoints would be made by asking
    try:
        return getattr(value, name, None)
    except Exception:           # an attribute of the user's own that cannot be asked for is no function
        return None


def _functions_of_resource(value: Any) -> dict[str, Any]:
    """The functions that make and fill a resource; they are kept, so that they are the same each time."""
    if "_saved_functions" not in vars(value):
        def create() -> Any:
            return value._create_resource()

        def initialize() -> int:
            graph: Any = get_default_graph()
            graph.keep_apart()                      # what fills tables notes that in a collection
            value._initialize()
            return 1

        vars(value)["_saved_functions"] = {"_create_resource": function(create, input_signature=[], autograph=False),
                                           "_initialize": function(initialize, input_signature=[], autograph=False)}
    return vars(value)["_saved_functions"]


# -- messages ----------------------------------------------------------------------------------------------------------

def _describe(node: Any, value: Any, names: Mapping[int, str], assets: Mapping[int, int]) -> None:
    if isinstance(value, TrackableAsset):
        node.asset.asset_file_def_index = assets[id(value)]
        node.asset.SetInParent()
    elif isinstance(value, Variable):
        _describe_variable(node.variable, value)
    elif isinstance(value, Function):
        node.function.concrete_functions.extend(names[id(one)] for one in value.concrete_functions())
        node.function.function_spec.fullargspec.CopyFrom(encoded(value.full_argument_spec))
        signature = value.input_signature
        node.function.function_spec.input_signature.CopyFrom(encoded(None if signature is None else tuple(signature)))
    elif isinstance(value, ConcreteFunction):
        node.bare_concrete_function.concrete_function_name = names[id(value)]
        node.bare_concrete_function.argument_keywords.extend(value._keywords)
        node.bare_concrete_function.allowed_positional_arguments = value._positional
    elif isinstance(value, CapturedConstant):
        node.constant.operation = value.operation
    elif is_resource(value):
        node.resource.SetInParent()
    else:
        kind = next((name for kind, name in _KINDS if isinstance(value, kind)), "_generic_user_object")
        node.user_object.identifier = kind
        node.user_object.version.producer = node.user_object.version.min_consumer = 1


_KINDS: list[tuple[Any, str]] = [
    (SignatureMap, "signature_map"), (list, "trackable_list_wrapper"), (dict, "trackable_dict_wrapper")]


def _describe_variable(message: Any, variable: Variable) -> None:
    if not variable.name.endswith(":0"):
        raise ValueError(f"Cowardly refusing to save variable {variable.name} because of unexpected suffix which won't be "
                         "restored.")
    message.name = variable.name[:-2]
    message.trainable = variable.trainable
    message.dtype = variable.dtype.base_dtype.as_datatype_enum
    message.synchronization, message.aggregation = variable.synchronization.value, variable.aggregation.value
    message.shape.CopyFrom(shape_to_proto(variable.shape._raw))
