"""``tf.Operation``: a node of a graph."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitgraph.graph import shapes, sites
from jitgraph.graph.errors import InvalidArgumentError, OutOfRangeError
from jitgraph.graph.tensor import Tensor

if TYPE_CHECKING:
    from jitgraph.graph.graph import Graph


class Operation:
    """A node: it takes tensors, gives tensors, and may wait for other nodes.

    Attributes: ``name``, ``type``, ``inputs`` and ``outputs`` (lists of Tensor), ``control_inputs`` (list of
    Operation), ``device``, ``graph``, ``opdef`` (its declaration, or None for a type that is not known),
    ``attrs`` (declared attributes as Python values), ``annotations`` (attributes beginning with "_" and other
    undeclared ones), ``traceback``, ``site`` ((file, line) in the user's program), ``node_def``.
    """

    __slots__ = ("name", "type", "graph", "opdef", "inputs", "outputs", "control_inputs", "attrs", "annotations",
                 "_device", "_id", "_frames", "_gradient_function", "__dict__", "__weakref__")
    replays = False             # whether it repeats, for a gradient, what another node does (jitgraph.control.replay)
    origin: Operation | None = None     # of a copy made for a run: what it was made of (jitgraph.frames)

    def __init__(self, graph: Graph, opdef: Any, op_type: str, name: str, inputs: list[Tensor],
                 control_inputs: list[Operation], attrs: dict[str, Any], output_dtypes: list, output_shapes: list,
                 frames: sites.Frames):
        self.graph = graph
        self.opdef = opdef
        self.type = op_type
        self.name = name
        self.inputs = inputs
        self.control_inputs = control_inputs
        self.attrs = attrs
        self.annotations: dict[str, Any] | None = None
        self._device = ""
        self._id = -1
        self._frames = frames
        self._gradient_function: Any = None
        self.outputs = [Tensor(self, i, output_dtypes[i], output_shapes[i]) for i in range(len(output_dtypes))]
        for tensor in inputs:
            tensor._consumers.append(self)

    @property
    def device(self) -> str:
        """The canonical device string, "" if none was asked for."""
        return self._device

    def _set_device(self, device: Any) -> None:
        from jitgraph.graph.devices import device_string

        self._device = device_string(device)
        self.graph.mutations += 1

    @property
    def op_def(self) -> Any:
        """The OpDef protocol buffer of its type."""
        from jitgraph.graph.protos.op_def import op_def_proto

        return op_def_proto(self.opdef)

    @property
    def node_def(self) -> Any:
        """This node as a NodeDef protocol buffer."""
        from jitgraph.graph.protos.node_proto import node_to_proto

        return node_to_proto(self)

    @property
    def traceback(self) -> list:
        """The stack of the call that made it, outermost first; entries unpack to (filename, lineno, name, line)."""
        return sites.summary(self._frames)

    @property
    def traceback_with_start_lines(self) -> tuple:
        """As ``traceback``; tuples (filename, lineno, name, line, first line of the function)."""
        return tuple(sites.with_start_lines(self._frames))

    @property
    def site(self) -> tuple[str, int] | None:
        """(file, line) of the user's line that made it, or None."""
        return sites.site(self._frames)

    @property
    def way(self) -> list:
        """The user's own part of ``traceback``."""
        return sites.way(self._frames)

    def get_attr(self, name: str) -> Any:
        """The attribute `name`: a DType for types, bytes for strings, else as in the protocol buffer.

        Raises ValueError if there is none of that name.
        """
        from jitgraph.graph.protos.attr_value import public_value

        kind = self.opdef.attr_kind(name) if self.opdef is not None else None
        if name in self.attrs:
            return public_value(self.attrs[name], kind)
        if self.annotations and name in self.annotations:
            return public_value(self.annotations[name], None)
        raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")

    def _set_attr(self, name: str, value: Any) -> None:
        """Sets an attribute from an AttrValue or a Python value."""
        if hasattr(value, "WhichOneof"):
            from jitgraph.graph.protos.attr_value import from_proto

            value = from_proto(value)
        if name in self.attrs:
            self.attrs[name] = value
        else:
            self.annotations = dict(self.annotations or {})
            self.annotations[name] = value
        self.graph.mutations += 1

    def values(self) -> tuple[Tensor, ...]:
        """The outputs as a tuple."""
        return tuple(self.outputs)

    _inputs = property(lambda self: self.inputs)        # as libraries know them
    _outputs = property(lambda self: self.outputs)

    @property
    def _output_types(self) -> list:
        return [t.dtype for t in self.outputs]

    def colocation_groups(self) -> list[bytes]:
        """The groups this node is bound to, ``[b"loc:@name"]``; its own if it names none."""
        groups = [g if isinstance(g, bytes) else g.encode() for g in (self.annotations or {}).get("_class", ())]
        groups = [g for g in groups if g.startswith(b"loc:@")]
        return groups or [b"loc:@" + self.name.encode()]

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _add_control_inputs(self, ops: list) -> None:
        """Makes this node wait for `ops`."""
        for op in ops:
            op = getattr(op, "op", op)
            if not isinstance(op, Operation):
                raise TypeError(f"op must be an Operation: {op}")
            if op.graph is not self.graph:
                raise ValueError(f"{op} must be from the same graph as {self}.")
            if op not in self.control_inputs:
                self.control_inputs.append(op)
                self.graph.mutations += 1

    def _remove_all_control_inputs(self) -> None:
        self.control_inputs.clear()
        self.graph.mutations += 1

    def _update_input(self, index: int, tensor: Tensor) -> None:
        """Replaces input `index`.  Raises ValueError for a tensor of another graph, OutOfRangeError if there is no such input,
        InvalidArgumentError for another dtype, or a shape that does not fit that of the input there was."""
        if tensor.graph is not self.graph:
            raise ValueError(f"{tensor} must be from the same graph as {self}.")
        if not 0 <= index < len(self.inputs):
            raise OutOfRangeError(None, self, f"Cannot update edge. Input index [{index}] is greater than the number of total "
                                  f"inputs [{len(self.inputs)}].")
        before = self.inputs[index]
        if not shapes.compatible(before._shape, tensor._shape):
            raise InvalidArgumentError(None, self, f"Cannot update edge, incompatible shapes: {shapes.brackets(tensor._shape)} and "
                                       f"{shapes.brackets(before._shape)}.")
        if tensor.dtype.base_dtype is not before.dtype.base_dtype:
            raise InvalidArgumentError(None, self, f"Input {index} of node {self.name} was passed {tensor.dtype.base_dtype.name} "
                                       f"from {tensor.name} incompatible with expected {before.dtype.base_dtype.name}.")
        self._set_input(index, tensor)

    def _set_input(self, index: int, tensor: Tensor) -> None:
        before = self.inputs[index]
        if self in before._consumers:
            before._consumers.remove(self)
        self.inputs[index] = tensor
        tensor._consumers.append(self)
        self.graph.mutations += 1

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Runs this operation in `session` or the default session.  Raises ValueError if there is none."""
        from jitgraph.graph.stack import run_operation

        run_operation(self, feed_dict, session)

    def __str__(self) -> str:
        return str(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __copy__(self) -> Operation:
        return self

    def __deepcopy__(self, memo: Any) -> Operation:
        return self
