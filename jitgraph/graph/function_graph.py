"""Graphs of functions: the branches of ``tf.cond``, the condition and the body of ``tf.while_loop``.

A function's graph takes what it uses of the graph around it by *capture*: the tensor becomes an input of the operation
that calls the function, and a placeholder stands for it inside.  Variables are captured as themselves: inside stands
a node for the same variable of the session, so that reads and writes inside obey the state rule.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from jitgraph.graph.calls import bodies
from jitgraph.graph.collections import Collections
from jitgraph.graph.control import BRANCHING, waited_for
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.graph import Graph
from jitgraph.graph.ids import Ids
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor


def is_variable(op: Operation) -> bool:
    """Whether an operation is a variable: gives its reference or its handle."""
    return op.opdef is not None and op.opdef.variable is not None


def is_state(tensor: Tensor) -> bool:
    """Whether a tensor stands for a variable: its reference or handle, or a read without a time of its own."""
    op = tensor.op
    if is_implicit_read(op) or op.type == "Identity" and tensor.dtype.name == "resource":
        op = op.inputs[0].op
    return is_variable(op)


def is_implicit_read(op: Operation) -> bool:
    """Whether an operation is ``v/read``, which comes with the variable and is a name for its value, not a moment.

    Any other Identity of a reference is an access of its own: ``v.read_value()`` reads where it stands.
    """
    if op.type != "Identity" or not op.inputs[0].dtype._is_ref_dtype or op.inputs[0].op.inputs:
        return False
    return op.name == op.inputs[0].op.name + "/read" or op.outputs[0] in op.graph.sources   # the latter: captured


def in_loop_gradient(graph: Any) -> bool:
    """Whether `graph` is the body of a gradient of a loop, or stands in one."""
    while isinstance(graph, FunctionGraph):
        if graph.repeats_loop:
            return True
        graph = graph.outer_graph
    return False


def around(graph: Any) -> Any:
    """The graph in which `graph` stands, if it is a branch or a part of a loop, or it itself."""
    while isinstance(graph, FunctionGraph) and graph.is_inline:
        graph = graph.outer_graph
    return graph


class FunctionGraph(Graph):
    """The graph of a function that operations of `outer_graph` call.

    Attributes: ``inputs``, what stands here for each input of the calling operation, in its order (placeholders, and
    variables, see ``is_state``); ``captures``, {tensor of the outer graph: tensor of this one}; ``outputs``, the
    results; ``control_outputs``, operations that run for their effects; ``outer_control``, operations of outer graphs
    that operations in here wait for, so that the call has to; ``arrays_are_lists``, whether a TensorArray that is made in here is
    a list of tensors.
    """

    building_function = True

    @property
    def _building_function(self) -> bool:
        return around(self).building_function

    def __eq__(self, other: Any) -> bool:
        """Whether both are, or are inline in, one graph: TensorFlow makes the nodes of branches and loops in the graph around,
        and programs that keep things by the graph find there what they kept here."""
        return around(self) is around(other)

    def __hash__(self) -> int:
        return object.__hash__(around(self))

    def __init__(self, name: str, outer_graph: Graph | None = None):
        super().__init__()
        outer = get_default_graph() if outer_graph is None else outer_graph
        self.name = name
        self.outer_graph: Graph = outer
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.captures: dict[Tensor, Tensor] = {}
        self.control_outputs: list[Operation] = []
        self.outer_control: dict[Any, None] = {}
        self.ordered: bool = getattr(outer, "ordered", False)   # see jitgraph.control.program_order
        self.arrays_are_lists: bool = getattr(outer, "arrays_are_lists", False)
        self.functional_control: bool = getattr(outer, "functional_control", False)     # see control.conditionals
        self.replay: Any = None                         # where nodes here come from, see jitgraph.control.replay
        self.recorded: list[Tensor] | None = None       # see jitgraph.control.replay: None until somebody asks
        self.record: Tensor | None = None
        self.reads: dict[Tensor, Any] = {}              # {what a record gives here: how it was read}, see there
        self.counts_gates = False                       # of a gradient of a branch or a loop: see autodiff.gradients
        self.repeats_loop = False                       # whether it is the body of a gradient of a loop
        self.taken: list[Tensor] = []                   # and what it counts as taken, or measured: see counting.count_taken
        self.measured: list[Tensor] = []
        self.exported_name: str | None = None           # see jitgraph.graph.protos.function_names
        self.copied: tuple[FunctionGraph, tuple] | None = None      # what it is a copy of, and what it was like then, see there
        self.stated_gradient: FunctionGraph | None = None       # the function that its Defun names as its gradient
        self._aliases: dict[Tensor, Tensor] = {}
        self.choice: Operation | None = None            # of which it is a branch
        self.handed_out: dict[Any, Tensor] = {}         # see jitgraph.graph.handing_out
        self.handed_in: dict[Tensor, Tensor] = {}
        self._ids = Ids(outer._ids.shapes)
        self.counted_captures: set[Tensor] = set()  # what counts as captured already
        self._entered: set[Tensor] | None = None    # what was captured, if that counts, see count_inline
        self._only_read: set[Tensor] = set()        # variables captured for a read alone: they do not count yet
        self._names.scope = outer._names.scope
        self._seed = outer._seed
        self._collections, self._members = outer._collections, outer._members
        self._scoped_state = outer._scoped_state
        self._functions = outer._functions
        self._devices.replace(list(outer._devices._entries))
        self._colocation = list(outer._colocation)
        self._attribute_scope = outer._attribute_scope
        self._gradient_override_map = outer._gradient_override_map
        self._container = outer._container

    def name_apart(self) -> FunctionGraph:
        """Lets names begin anew here, as in the functions that TensorFlow calls rather than inlines; returns this graph."""
        self._names.scope = ""
        return self

    def keep_apart(self) -> None:
        """Lets the function have collections and variable scopes of its own."""
        self._collections = {}
        self._members = Collections(self._collections)
        self._scoped_state = {}

    def count_inline(self, sibling: FunctionGraph | None = None) -> FunctionGraph:
        """Lets nodes made here count as nodes of the graph around, where TensorFlow 1.15 makes those of a conditional or a
        loop; returns this graph.  What `sibling`, another function of the same loop, captures counts once for both."""
        self._ids = self.outer_graph._ids
        self._entered = set() if sibling is None else sibling._entered
        return self

    @property
    def is_inline(self) -> bool:
        """Whether it is a branch or a part of a loop, whose nodes stand in the graph around in TensorFlow 1.15."""
        return self._entered is not None

    @property
    def parameters(self) -> list[Tensor]:
        """The inputs that the caller passes by value, in order."""
        return [t for t in self.inputs if not is_state(t)]

    @property
    def external_captures(self) -> list[Tensor]:
        """What it takes from around it."""
        return list(self.captures)

    @property
    def internal_captures(self) -> list[Tensor]:
        """What stands in here for that."""
        return list(self.captures.values())

    @property
    def variables(self) -> list[Any]:
        """The variables that the function takes from around it, as far as collections have them."""
        known = [one for key in ("variables", "local_variables") for one in self._root.get_collection(key)]
        return [one for one in dict.fromkeys(known) if getattr(one, "handle", None) in self.captures]

    def add_input(self, dtype: Any, shape: Any, name: str = "arg") -> Tensor:
        """A new input: a placeholder.  `shape`: a tuple with None for unknown sizes, or None."""
        tensor = self._placeholder(dtype, shape, name)
        self.inputs.append(tensor)
        return tensor

    def _placeholder(self, dtype: Any, shape: Any, name: str) -> Tensor:
        from jitgraph.graph.registry import lookup

        dtype = dtype.base_dtype
        return self._node(lookup("Placeholder"), name, [], {"dtype": dtype, "shape": shape}, [dtype], [shape]).outputs[0]

    def _node(self, opdef: Any, name: str, inputs: list, attrs: dict, dtypes: list, shapes: list) -> Operation:
        """A node at the root of the names, outside of all scopes."""
        scope, self._names.scope = self._names.scope, ""
        try:
            return self.add_op(opdef, opdef.type, self.unique_name(name), inputs, attrs, dtypes, shapes, [])
        finally:
            self._names.scope = scope

    def capture(self, tensor: Tensor) -> Tensor:
        """What stands here for `tensor`, of this graph or of one around it.

        Raises ValueError if it belongs to no graph around this one.
        """
        tensor = self._handed_out(tensor)
        if tensor.op.graph is self:
            return tensor
        self._take_whole(tensor)
        found = self._aliases.get(tensor)
        if found is None:
            found = self._repeated(tensor)
        if found is None:
            outer = tensor if tensor.op.graph is self.outer_graph else self.outer_graph.capture(tensor)
            self._take_whole(outer)
            found = self.captures.get(outer)
            if found is None:
                count = self._ids.last
                found = self.captures[outer] = self._state(outer) if is_state(outer) else self._by_value(outer)
                self._ids.last = count
                if self._entered is not None and outer not in self._entered:
                    self._entered.add(outer)
                    self._ids.last += 1             # a Switch or an Enter of TensorFlow's
                elif self._entered is None and self.functional_control and outer not in self.counted_captures:
                    self._ids.last += 1             # a Placeholder
                self.inputs.append(found)
            self._aliases[tensor] = found
        return found

    def _take_whole(self, variable: Tensor) -> None:
        """Counts the Switch of a variable beside that of its value, if that alone was taken so far."""
        if variable in self._only_read:
            self._only_read.remove(variable)
            self._ids.last += 1

    def _repeated(self, tensor: Tensor) -> Tensor | None:
        """What repeats here a tensor of the function that this graph is a copy or the gradient of, if it is one."""
        if tensor.op.graph is self:
            return tensor
        theirs = None if self.replay is None else self.replay.source._repeated(tensor)
        return None if theirs is None else self.replay(theirs)

    def _by_value(self, outer: Tensor) -> Tensor:
        inner = self._placeholder(outer.dtype, outer._shape, outer.op.name)
        self.sources[inner] = outer
        return inner

    def _state(self, outer: Tensor) -> Tensor:
        """A variable, or a read of it without a time of its own, as a node here."""
        op = outer.op
        if op.type == "Identity":
            known = op.inputs[0] in self._aliases
            reference = self.capture(op.inputs[0])
            if self._entered is not None and not known:
                self._only_read.add(op.inputs[0])   # TensorFlow takes the value in, without the variable
            node = self._node(op.opdef, op.name, [reference], dict(op.attrs), [outer.dtype], [outer._shape])
            self.sources[node.outputs[0]] = outer
            return node.outputs[0]
        attrs = {**op.attrs, "shared_name": op.attrs.get("shared_name") or op.name}
        node = self._node(op.opdef, op.name, [], attrs, [outer.dtype], [outer._shape])
        node._frames, node._device = op._frames, op._device
        self.sources[node.outputs[0]] = outer
        return node.outputs[0]

    def hand_out(self, item: Any, graph: Graph) -> Any:
        """What stands in `graph` for a tensor or an operation of this one, see ``jitgraph.graph.handing_out``."""
        from jitgraph.graph.handing_out import handed_out

        return handed_out(item, graph)

    def take_inputs(self, function: FunctionGraph, tensors: list[Tensor]) -> dict[Tensor, Tensor]:
        """Gives this graph the inputs of `function`, for a call of it with `tensors`; returns {its input: ours}.

        What the function captured is captured here.
        """
        captured = set(function.captures.values())
        taken: dict[Tensor, Tensor] = {}
        for theirs, tensor in zip(function.inputs, tensors):
            if not is_state(theirs) or not is_state(tensor):
                mine = self._placeholder(theirs.dtype, theirs._shape, theirs.op.name)
            else:
                mine = self._state(tensor) if tensor not in self.captures else self.captures[tensor]
            if theirs in captured:
                self.captures[tensor] = mine
            taken[theirs] = mine
            self.inputs.append(mine)
        return taken

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """As for other graphs; what is not here is looked for around it, as a function sees all that stands before it."""
        try:
            return super().as_graph_element(obj, allow_tensor, allow_operation)
        except (KeyError, ValueError):
            return self.outer_graph.as_graph_element(obj, allow_tensor, allow_operation)

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor of that name here or around it.  Raises KeyError if there is none."""
        try:
            return super().get_tensor_by_name(name)
        except KeyError:
            return self.outer_graph.get_tensor_by_name(name)

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of that name here or around it.  Raises KeyError if there is none."""
        try:
            return super().get_operation_by_name(name)
        except KeyError:
            return self.outer_graph.get_operation_by_name(name)

    def _local(self, item: Any) -> Any:
        """Control inputs from outside become control inputs of the call."""
        graph = getattr(item, "graph", None)
        if graph is None or graph is self:
            return item
        self.outer_control[item] = None
        return None

    def _control_ops(self, control_inputs: Any) -> list[Operation]:
        inside = []
        for item in map(self._handed_out, control_inputs):
            if not isinstance(item, (Operation, Tensor)):
                item = waited_for(item)
                item = item._as_graph_element() if hasattr(item, "_as_graph_element") else item
            if self._local(item) is not None:
                inside.append(item)
        return super()._control_ops(inside)

    def inputs_behind(self, tensor: Tensor, carries: Callable[[Tensor], bool]) -> set[int]:
        """The inputs of the function that `tensor` depends on through tensors that `carries` names."""
        places = {t: k for k, t in enumerate(self.inputs)}
        seen: set[Tensor] = set()
        stack, found = [tensor], set()
        while stack:
            tensor = stack.pop()
            if tensor in seen or not carries(tensor):
                continue
            seen.add(tensor)
            if tensor in places:
                found.add(places[tensor])
            else:
                stack.extend(tensor.op.inputs)
        return found

    @property
    def _root(self) -> Graph:
        """The outermost graph, which sessions run."""
        graph: Graph = self
        while isinstance(graph, FunctionGraph):
            graph = graph.outer_graph
        return graph


def stands_inline(op: Operation) -> bool:
    """Whether the nodes of the functions of `op` stand in the graph around in TensorFlow 1.15."""
    return (op.type in LOOPS or op.type in BRANCHING) and all(function.is_inline for function in bodies(op))


CALLS = ("PartitionedCall", "StatefulPartitionedCall")
LOOPS = ("While", "StatelessWhile")


@dataclass(slots=True)
class CallNotes:
    """What is known of an operation that calls functions besides its attributes; see ``jitgraph.control.replay``.

    ``back_prop``: whether gradients flow through a loop.  The others are outputs that a gradient has asked for: the
    record, the number of iterations, and the lists of the values of tensors of the body.  ``added``: the inputs of a
    loop's body for them.  ``unused``: numbers of the variables that the latest gradient of a loop did not come to.
    """

    back_prop: bool = True
    exposed: bool = False
    record: Tensor | None = None
    iterations: Tensor | None = None
    saved: dict[Tensor, Tensor] = field(default_factory=dict)
    added: set[Tensor] = field(default_factory=set)
    unused: frozenset[int] = frozenset()


def notes(op: Operation) -> CallNotes:
    """The notes on an operation that calls functions."""
    found = op.__dict__.get("call_notes")
    if found is None:
        found = op.__dict__["call_notes"] = CallNotes()
    return found


def first_argument(op: Operation) -> int:
    """The position of the input that is the functions' first argument: a branch is chosen by the input before it."""
    return 1 if op.type in BRANCHING else 0


def inputs_behind(op: Operation, carries: Callable[[Tensor], bool]) -> list[set[int]]:
    """For each output of a loop or a choice of branches, the inputs that it depends on through tensors that `carries` names."""
    offset = first_argument(op)
    behind = [set[int]() for _ in op.outputs]
    for function in bodies(op)[1 if op.type in LOOPS else 0:]:
        for inputs, tensor in zip(behind, function.outputs):
            inputs.update(k + offset for k in function.inputs_behind(tensor, carries))
    if op.type in LOOPS:
        for k, inputs in enumerate(behind):         # the first value, and what the iterations before depend on
            inputs.add(k)
        while any(not behind[j] <= inputs for inputs in behind for j in [*inputs] if j < len(behind)):
            for inputs in behind:
                inputs.update(*(behind[j] for j in inputs if j < len(behind)))
    return behind


def inputs_by_value(op: Operation) -> list[int]:
    """The inputs of an operation with functions whose values it is given; the others stand for variables."""
    functions, offset = bodies(op), first_argument(op)
    return [k for k in range(len(op.inputs)) if k < offset or not is_state(functions[0].inputs[k - offset])]


def add_output(op: Operation, dtype: Any, shape: Any) -> Tensor:
    """One more output of an operation that calls functions, which have one more result."""
    output = Tensor(op, len(op.outputs), dtype, shape)
    op.outputs.append(output)
    op.attrs["Tout"] = [*op.attrs["Tout"], dtype]
    if op.attrs.get("output_shapes"):
        op.attrs["output_shapes"] = [*op.attrs["output_shapes"], shape]
    note_change(op.graph)
    return output


def note_change(graph: Graph) -> None:
    """Declares plans stale that hold `graph`, or a graph that calls it: an existing node has changed."""
    graph.mutations += 1
    if isinstance(graph, FunctionGraph):
        graph._root.mutations += 1
