"""``tf.Graph``: nodes, their names, and the scopes that new nodes are made in."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from jitgraph.graph import sites
from jitgraph.graph.collections import Collections
from jitgraph.graph.contexts import Attributes, Colocation, Container, DeviceScope, GradientOverride, NameScope
from jitgraph.graph.control import BRANCHING, ControlDependencies, ControlStack, waited_for
from jitgraph.graph.devices import DeviceStack
from jitgraph.graph.ids import Ids
from jitgraph.graph.lookup import as_graph_element, operation_named, tensor_named
from jitgraph.graph.names import NameTable, check_op_name
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.stack import DefaultGraph
from jitgraph.graph.tensor import Tensor


class Graph:
    """A dataflow graph: operations and the tensors between them.

    ``building_function`` and ``outer_graph`` concern graphs of functions (bodies of control flow): a tensor of another
    graph is offered to ``capture``, which the subclass for functions overrides.
    """

    building_function = False
    is_branch = False                               # of a conditional
    outer_graph: Graph | None = None
    orders_branches = False                         # see control.program_order

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._nodes_by_id: list[Operation] = []
        self._ids = Ids()
        self._nodes_by_name: dict[str, Operation] = {}
        self.mutations = 0              # counts changes to nodes that exist; plans made before are then stale
        self._names = NameTable()
        self._control = ControlStack()
        self._devices = DeviceStack()
        self._collections: dict[Any, list] = {}
        self._members = Collections(self._collections)
        self._colocation: list[Operation] = []
        self._attribute_scope: dict[str, Any] = {}
        self._gradient_override_map: dict[str, str] = {}
        self._container = ""
        self._seed: int | None = None
        self._finalized = False
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Any] = set()
        self._functions: dict[str, Any] = {}
        self._versions: Any = None      # a VersionDef, once a GraphDef has been imported
        # {tensor: the tensor, here or in the graph around, that it stands for}: captured ones, and those of Merges and
        # Exits of imported control flow that has been raised for its gradient (jitgraph.frames)
        self.sources: dict[Tensor, Tensor] = {}
        self._scoped_state: dict[Any, Any] = {}     # what other modules keep per graph, such as variable scopes

    @property
    def _building_function(self) -> bool:
        """What libraries ask of a graph: whether it is that of a function.  Branches and bodies of loops are none, as in
        TensorFlow."""
        return False

    # -- what is there ---------------------------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """The number of operations created so far."""
        return len(self._nodes_by_id)

    @property
    def _last_id(self) -> int:
        """How many operations TensorFlow would have made so far, see ``jitgraph.graph.ids``."""
        return self._ids.last

    def get_operations(self) -> list[Operation]:
        """All operations in the order of creation."""
        return list(self._nodes_by_id)

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation called `name`.  Raises KeyError if there is none, TypeError if `name` is not a string."""
        return operation_named(self, name)

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor "op_name:index".  Raises KeyError if there is none, ValueError if `name` has no index."""
        return tensor_named(self, name)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The Tensor or Operation that `obj` (one of them, a variable, or a name) stands for.

        Raises TypeError for other objects, ValueError for elements of other graphs, KeyError for unknown names.
        """
        return as_graph_element(self, obj, allow_tensor, allow_operation)

    _as_graph_element_locked = as_graph_element

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """This graph as a GraphDef; with `from_version`, only the operations made after that version.

        `add_shapes` adds an attribute ``_output_shapes`` to each node.
        """
        from jitgraph.graph.protos.graph_def import graph_to_proto

        return graph_to_proto(self, from_version, add_shapes)

    @property
    def graph_def_versions(self) -> Any:
        """The VersionDef of GraphDefs of this graph, that of the oldest graph which joined it."""
        from jitgraph.graph.protos.graph_def import version_def

        return self._versions or version_def()

    # -- making nodes ----------------------------------------------------------------------------------------------

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the current scope, made unique; reserved if `mark_as_used`."""
        with self._lock:
            return self._names.unique(name, mark_as_used)

    def add_op(self, opdef: Any, op_type: str, name: str, inputs: list[Tensor], attrs: dict[str, Any],
               output_dtypes: list, output_shapes: list, control_inputs: list[Operation] | None = None,
               colocate_with: Iterable[Operation] = ()) -> Operation:
        """Adds a node whose `name` is final (see ``unique_name``), with checked inputs and attributes.

        The scopes of this graph (device, colocation, control dependencies, attributes, gradient overrides) apply,
        unless `control_inputs` are given (a node that is imported), which are then the only ones.
        """
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        check_op_name(name)
        with self._lock:
            if name in self._nodes_by_name:
                raise ValueError(f"An operation named '{name}' is in the graph already.")
            waits = control_inputs is None      # else it stands outside of the open blocks, as what is captured does
            if control_inputs is None:
                read = inputs[:1] if op_type in BRANCHING else inputs
                control_inputs = self._control.inputs_for(read) if self._control.blocks else []
            op = Operation(self, opdef, op_type, name, inputs, control_inputs, attrs, output_dtypes, output_shapes,
                           sites.capture(2))
            self._apply_scopes(op, colocate_with, waits)
            op._id = len(self._nodes_by_id)
            self._nodes_by_id.append(op)
            self._ids.last += 1
            self._nodes_by_name[name] = op
            if waits and self._control.blocks:
                self._control.record(op)
        return op

    def _apply_device_functions(self, op: Any) -> None:
        """Tells `op` the device that a new operation would get; Keras asks so for the present one."""
        self._devices.tell(op)

    def _apply_scopes(self, op: Operation, colocate_with: Iterable[Operation], is_new: bool) -> None:
        if not (colocate_with and is_new):      # what writes to a variable is where that is, whatever device blocks say
            self._devices.assign(op)
        if self._attribute_scope:
            op.annotations = {**self._attribute_scope, **(op.annotations or {})}
        if self._colocation or colocate_with:
            Colocation.bind(op, [*self._colocation, *colocate_with])
        if self._gradient_override_map and op.type in self._gradient_override_map:
            op.annotations = {**(op.annotations or {}),
                              "_gradient_op_type": self._gradient_override_map[op.type]}

    def create_op(self, op_type: str, inputs: list[Tensor], dtypes: list | None = None, input_types: Any = None,
                  name: str | None = None, attrs: dict[str, Any] | None = None, op_def: Any = None,
                  compute_shapes: bool = True, compute_device: bool = True) -> Operation:
        """Makes a node of any type from tensors and attributes (AttrValues or Python values).

        The ordinary way is to call the op's function; this one is for importers and for custom gradients.
        """
        return lookup(op_type).create(self, list(inputs), attrs or {}, name)

    def capture(self, tensor: Tensor) -> Tensor:
        """What stands here for a tensor of another graph.  Graphs of functions override it; others raise ValueError."""
        found = self._handed_out(tensor)
        if found is not tensor:
            return found if found.op.graph is self else self.capture(found)
        if tensor.op.graph.building_function:
            raise ValueError(f"Tensor {tensor} was made inside a branch of tf.cond or a function of tf.while_loop and has "
                             "no value outside of it: return it from that function. (The initial value of a variable "
                             "that is made in there must be a function: tf.Variable(lambda: ...).)")
        raise ValueError(f"Tensor {tensor} must be from the same graph as the default graph: it belongs to another "
                         "tf.Graph. Build both sides inside one `with graph.as_default()` block.")

    def _handed_out(self, item: Any) -> Any:
        """What stands here, or at least further out, for a tensor or an operation of a branch in this graph."""
        if not getattr(getattr(item, "graph", None), "building_function", False) or item.graph is self:
            return item
        return item.graph.hand_out(item, self)

    # -- scopes ----------------------------------------------------------------------------------------------------

    def as_default(self) -> DefaultGraph:
        """A context in which new operations of this thread join this graph."""
        return DefaultGraph(self)

    def name_scope(self, name: str | None) -> NameScope:
        """A context that puts `name` and a slash before the names of new operations; yields that prefix.

        None and "" go back to the root; a name with a trailing slash is entered as it stands.
        """
        return NameScope(self, name)

    def get_name_scope(self) -> str:
        """The current name scope, without a trailing slash."""
        return self._names.scope

    def control_dependencies(self, control_inputs: Any) -> ControlDependencies:
        """A context whose new operations wait for `control_inputs` (operations, tensors, variables).

        Blocks nest and add up; None hides the outer blocks.  Raises TypeError for anything else in the list.
        """
        if control_inputs is None:
            return ControlDependencies(self._control, None)
        return ControlDependencies(self._control, self._control_ops(control_inputs))

    def _control_ops(self, control_inputs: Iterable) -> list[Operation]:
        ops: dict[Operation, None] = {}
        for item in control_inputs:
            item = self._handed_out(item.op if isinstance(item, Tensor) and item.graph is not self else item)
            if not isinstance(item, (Operation, Tensor)):
                item = waited_for(item)
            item = self.as_graph_element(self._local(item))
            ops[item.op if isinstance(item, Tensor) else item] = None
        return list(ops)

    def _local(self, item: Any) -> Any:
        """A function's graph drops what belongs to its outer graph: the call itself waits for it."""
        return item

    def _current_control_dependencies(self) -> set[Operation]:
        return set(self._control.current())

    def device(self, device_name_or_function: Any) -> DeviceScope:
        """A context whose new operations get a device: a name, a DeviceSpec, a function of the Operation, or None.

        Names merge with those of outer blocks, the inner one deciding; None forgets the outer blocks.
        """
        return DeviceScope(self, device_name_or_function)

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Colocation:
        """A context whose new operations are placed where `op` is (attribute ``_class`` = "loc:@op").

        None with ``ignore_existing=True`` forgets outer blocks.
        """
        return Colocation(self, op, ignore_existing)

    def container(self, container_name: str) -> Container:
        """A context whose new variables, queues and tables live in the resource container `container_name`."""
        return Container(self, container_name)

    def gradient_override_map(self, op_type_map: dict[str, str]) -> GradientOverride:
        """A context whose new operations of type k take the gradient registered under ``op_type_map[k]``."""
        return GradientOverride(self, op_type_map)

    def _attr_scope(self, attr_map: dict[str, Any]) -> Attributes:
        """A context whose new operations carry further attributes (``tf.contrib.compiler.jit_scope`` and such)."""
        return Attributes(self, attr_map)

    # -- collections -----------------------------------------------------------------------------------------------

    @property
    def collections(self) -> list:
        """The names of all collections."""
        return self._members.names()

    def get_all_collection_keys(self) -> list:
        """The names of all collections."""
        return self._members.names()

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Appends `value` to the collection `name`."""
        self._check_not_finalized()
        self._members.add(name, value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Appends `value` to several collections."""
        self._check_not_finalized()
        self._members.add_to_several(names, value)

    def get_collection(self, name: Any, scope: str | None = None) -> list:
        """A copy of the collection `name`, [] if it does not exist; `scope` is a regular expression on names."""
        return self._members.get(name, scope)

    def get_collection_ref(self, name: Any) -> list:
        """The collection `name` itself: changes to the list last."""
        return self._members.ref(name)

    def clear_collection(self, name: Any) -> None:
        """Empties the collection `name`."""
        self._check_not_finalized()
        self._members.clear(name)

    # -- the rest --------------------------------------------------------------------------------------------------

    @property
    def seed(self) -> int | None:
        """The graph-level random seed, see ``tf.set_random_seed``."""
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    @property
    def finalized(self) -> bool:
        """Whether the graph is read-only."""
        return self._finalized

    def finalize(self) -> None:
        """Makes the graph read-only: making a node then raises RuntimeError."""
        self._finalized = True

    # what functions of TensorFlow's inside take for a graph; see Tensor._as_tf_output
    _c_graph = property(lambda self: self)

    def _get_control_flow_context(self) -> None:
        """None: conditionals and loops are functions here, and their operations stand in graphs of their own."""

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Forbids `tensor` as a key of ``feed_dict``."""
        self._unfeedable.add(tensor)
        self.mutations += 1

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether `tensor` may be fed."""
        return tensor not in self._unfeedable

    def prevent_fetching(self, op: Any) -> None:
        """Forbids `op` as a fetch."""
        self._unfetchable.add(op)
        self.mutations += 1

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether `tensor_or_op` may be fetched."""
        if isinstance(tensor_or_op, Tensor):
            return tensor_or_op not in self._unfetchable and tensor_or_op.op not in self._unfetchable
        return tensor_or_op not in self._unfetchable

    def switch_to_thread_local(self) -> None:
        """Accepted for compatibility: scopes of a graph are shared by its threads."""

    def per_graph(self, key: Any, make: Callable[[], Any]) -> Any:
        """The object that another module keeps for this graph under `key`, made by `make` at the first call."""
        state = self._scoped_state
        if key not in state:
            state[key] = make()
        return state[key]

    def __enter__(self) -> Graph:
        context = self.as_default()
        self._scoped_state.setdefault("entered", []).append(context)
        return context.__enter__()

    def __exit__(self, *exc: Any) -> None:
        self._scoped_state["entered"].pop().__exit__(*exc)
