"""Objects that hold variables, as a graph: which object is an attribute of which, and the names of variables in checkpoints."""
from __future__ import annotations

import abc
import collections
from collections.abc import Mapping
from typing import Any

from jitgraph.graph.default_graph import get_default_graph
from jitgraph.protobuf import messages
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.module import Module
from jitgraph.variables.variable import Variable

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The name in a checkpoint of the string that says which objects there were."""

ATTRIBUTE = ".ATTRIBUTES/"
VALUE = "VARIABLE_VALUE"
STATE = "py_state"
_SLOT = ".OPTIMIZER_SLOT"
_LEFT_OUT = "_jitgraph_left_out"


class PythonState(abc.ABC):
    """Something of Python that checkpoints hold as a string."""

    @abc.abstractmethod
    def serialize(self) -> Any:
        """The string that is written."""

    @abc.abstractmethod
    def deserialize(self, string_value: Any) -> None:
        """Takes over what was read, bytes."""


def escaped(name: str) -> str:
    """A name as a part of a path."""
    return name.replace(".", "..").replace("/", ".S")


def is_trackable(value: Any) -> bool:
    """Whether a value is an object of the graph: a variable, or something that holds some."""
    from jitgraph.layers.base import Layer

    return isinstance(value, (Variable, Optimizer, Module, PythonState, Layer, list, dict)) or hasattr(
        value, "_checkpoint_dependencies") or saves_itself(value)


def left_out(value: Any) -> set[str]:
    """The attributes of an object that are not saved with it, whatever they are."""
    return getattr(value, "__dict__", {}).get(_LEFT_OUT, set())


def leave_out(value: Any, names: set[str]) -> None:
    """Lets attributes of an object not be saved with it."""
    value.__dict__.setdefault(_LEFT_OUT, set()).update(names)


def saves_itself(value: Any) -> bool:
    """Whether an object gives {attribute: what saves it} itself."""
    return hasattr(value, "_gather_saveables_for_checkpoint")


def children(value: Any) -> list[tuple[str, Any]]:
    """(name, object) of the objects that an object holds."""
    from jitgraph.layers.base import Layer

    if isinstance(value, (Variable, PythonState)):
        return []
    named = getattr(value, "_checkpoint_dependencies", [])
    if hasattr(value, "_checkpoint_dependencies") and not isinstance(value, Layer):
        return named
    if saves_itself(value):
        return []
    if isinstance(value, Optimizer):
        graph = get_default_graph()
        return sorted((name, one) for (name, _), one in value._non_slots.items() if one.op.graph is graph)
    if isinstance(value, list):
        return [(str(place), one) for place, one in enumerate(value) if is_trackable(one)]
    if isinstance(value, Mapping):
        return [(str(name), one) for name, one in value.items() if is_trackable(one)]
    private = isinstance(value, Layer) or not isinstance(value, Module)         # a layer's own lists of its variables
    noted = {id(one) for _, one in named}
    return named + [(name, one) for name, one in vars(value).items()
                    if is_trackable(one) and id(one) not in noted and name not in left_out(value)
                    and not (private and name.startswith("_")) and not name.startswith(("_graph_functions", "_tf_module"))]


class ObjectGraph:
    """The objects below `root`, breadth first: ``nodes``; ``slots``, {(node of an optimizer, node of a variable, name): variable}.

    `attached`: what the root has besides its attributes, or in the place of some.
    """

    def __init__(self, root: Any, attached: Mapping[str, Any] | None = None):
        self.nodes: list[Any] = []
        self.names: list[str] = []
        self.edges: list[list[tuple[str, int]]] = []
        self._places: dict[int, int] = {}
        waiting = collections.deque([(root, "")])
        found = []
        while waiting:
            value, path = waiting.popleft()
            if id(value) in self._places:
                continue
            self._places[id(value)] = len(self.nodes)
            self.nodes.append(value)
            self.names.append(path)
            below = children(value)
            if value is root and attached:
                below = list({**dict(below), **attached}.items())
            found.append(below)
            waiting.extend((one, f"{path}/{escaped(name)}" if path else escaped(name)) for name, one in below)
        self.edges = [[(name, self._places[id(one)]) for name, one in below] for below in found]
        self.slots: dict[tuple[int, int, str], Any] = {}
        for optimizer in [one for one in self.nodes if isinstance(one, Optimizer)]:
            for slot in optimizer.get_slot_names():
                for place, variable in enumerate(list(self.nodes)):
                    kept = optimizer.get_slot(variable, slot) if isinstance(variable, Variable) else None
                    if kept is not None:
                        owner = self._places[id(optimizer)]
                        self.slots[owner, place, slot] = kept

    def variables(self) -> dict[str, Any]:
        """{key in the checkpoint: variable, or PythonState}"""
        found = {self.key(place): one for place, one in enumerate(self.nodes) if isinstance(one, (Variable, PythonState))}
        for (owner, place, slot), variable in self.slots.items():
            found[self.slot_key(owner, place, slot)] = variable
        return found

    def saveables(self) -> dict[str, Any]:
        """{key in the checkpoint: SaveableObject} of the objects that save themselves."""
        found = {}
        for place, value in enumerate(self.nodes):
            if saves_itself(value):
                for attribute, make in value._gather_saveables_for_checkpoint().items():
                    key = f"{self.names[place]}/{ATTRIBUTE}{attribute}"
                    found[key] = make(name=key) if callable(make) else make
        return found

    def key(self, place: int) -> str:
        """The key of a variable."""
        kind = STATE if isinstance(self.nodes[place], PythonState) else VALUE
        return f"{self.names[place]}/{ATTRIBUTE}{kind}"

    def slot_key(self, owner: int, place: int, slot: str) -> str:
        """The key of the variable that an optimizer keeps beside another."""
        return f"{self.names[place]}/{_SLOT}/{self.names[owner]}/{escaped(slot)}/{ATTRIBUTE}{VALUE}"

    def to_proto(self) -> Any:
        """The message that checkpoints hold."""
        made = messages.TrackableObjectGraph()
        for place, value in enumerate(self.nodes):
            node = made.nodes.add()
            for name, child in self.edges[place]:
                node.children.add(node_id=child, local_name=name)
            if isinstance(value, Variable):
                node.attributes.add(name=VALUE, full_name=value.op.name, checkpoint_key=self.key(place))
            elif isinstance(value, PythonState):
                node.attributes.add(name=STATE, full_name="", checkpoint_key=self.key(place))
            elif saves_itself(value):
                for name in value._gather_saveables_for_checkpoint():
                    node.attributes.add(name=name, full_name="", checkpoint_key=f"{self.names[place]}/{ATTRIBUTE}{name}")
        for (owner, place, slot), variable in self.slots.items():
            number = len(made.nodes)
            made.nodes.add().attributes.add(name=VALUE, full_name=variable.op.name,
                                            checkpoint_key=self.slot_key(owner, place, slot))
            made.nodes[owner].slot_variables.add(original_variable_node_id=place, slot_name=slot, slot_variable_node_id=number)
        return made


class Match:
    """The objects below `root` that a checkpoint has: ``objects``, {number of a node of `proto`: object}."""

    def __init__(self, proto: Any, root: Any):
        self.proto, self.graph = proto, ObjectGraph(root)
        self.objects: dict[int, Any] = {0: root}
        waiting = collections.deque([(0, root)])
        while waiting:
            number, value = waiting.popleft()
            held = dict(children(value))
            for child in proto.nodes[number].children:
                # some make what a checkpoint has and they have not
                look_up = getattr(value, "_lookup_dependency", held.get)
                found = look_up(child.local_name)
                if found is not None and child.node_id not in self.objects:
                    self.objects[child.node_id] = found
                    waiting.append((child.node_id, found))
        for number, value in list(self.objects.items()):
            for slot in proto.nodes[number].slot_variables:
                variable = self.objects.get(slot.original_variable_node_id)
                kept = value.get_slot(variable, slot.slot_name) if variable is not None and hasattr(value, "get_slot") else None
                if kept is not None:
                    self.objects[slot.slot_variable_node_id] = kept

    def values(self) -> list[tuple[str, Any]]:
        """(key, variable or PythonState) of what can be read."""
        return [(attribute.checkpoint_key, value) for number, value in self.objects.items()
                for attribute in self.proto.nodes[number].attributes if isinstance(value, (Variable, PythonState))]

    def saveables(self) -> dict[str, Any]:
        """{key: SaveableObject} of what the checkpoint has of objects that save themselves."""
        found = {}
        for number, value in self.objects.items():
            made = value._gather_saveables_for_checkpoint() if saves_itself(value) else {}
            for attribute in self.proto.nodes[number].attributes:
                if attribute.name in made:
                    make, key = made[attribute.name], attribute.checkpoint_key
                    found[key] = make(name=key) if callable(make) else make
        return found

    def unused(self) -> list[Any]:
        """The objects that the checkpoint does not have."""
        known = {id(one) for one in self.objects.values()}
        every = [*self.graph.nodes, *self.graph.slots.values()]
        return [one for one in every if id(one) not in known and not (isinstance(one, (list, dict)) and not children(one))]
