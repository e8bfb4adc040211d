"""``tf.train.do_quantize_training_on_graphdef``: a graph whose matrix products and convolutions take rounded inputs."""
from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from jitgraph.graph.protos import attr_value
from jitgraph.graph.protos.node_proto import endpoint
from jitgraph.graph.protos.tensor_proto import from_array, to_array
from jitgraph.graph.registry import lookup
from jitgraph.graph.signature import REQUIRED
from jitgraph.protobuf import messages

_ROUNDED = ("MatMul", "Conv2D")         # the ops whose inputs are rounded
_UNKNOWN = 2                            # how many inputs may come from ops that are not known here
_DECAY = 0.999                          # of the moving averages of ranges
_SIGNED = {"Const": True, "Variable": True, "VariableV2": True, "Relu": False}      # whether there are values below 0
_RANGES = {"Relu6": (0.0, 6.0), "Sigmoid": (0.0, 1.0), "Tanh": (-1.0, 1.0)}
_FIRST = ("Reshape", "ConcatV2", "Identity", "MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D")    # with the range of their input


def do_quantize_training_on_graphdef(input_graph: Any, num_bits: int) -> Any:
    """A copy of a GraphDef in which what MatMul and Conv2D take goes through QuantizeAndDequantizeV2 of `num_bits` bits.

    The range is that of the activation function; that of weights and of other inputs follows their least and greatest values by
    moving averages, variables that the first run initializes, and that a saver in the graph then saves, too.  Nodes whose name
    begins with "gradients" stay as they are.
    Raises OutOfRangeError for `num_bits` not from 1 to 63, UnimplementedError if more than two inputs come from ops of which
    nothing is known, InvalidArgumentError if the graph has several savers, or one without its ``restore_all``.
    """
    if not 1 <= num_bits <= 63:
        raise OutOfRangeError(None, None, f"num_bits should be in range [1, 63] but is: {num_bits}")
    made = messages.GraphDef()
    made.CopyFrom(input_graph if isinstance(input_graph, messages.GraphDef)
                  else messages.GraphDef.FromString(input_graph.SerializeToString()))
    rewriter = _Rewriter(made, num_bits)
    rewriter.round_inputs()
    if rewriter.variables:
        rewriter.save_variables()
    return made


class _Rewriter:
    """Adds nodes to a GraphDef; ``variables``: the names of those that hold ranges."""

    def __init__(self, graph_def: Any, num_bits: int):
        self._graph, self._num_bits = graph_def, num_bits
        self._nodes = {node.name: node for node in graph_def.node}
        self.variables: list[str] = []
        self._numbers = iter(range(1_000_000))      # of new names

    def _add(self, name: str, kind: str, inputs: list[str], **attrs: Any) -> str:
        """A node with these attributes, and all others as they are by default; its name."""
        node = self._graph.node.add(name=name, op=kind, input=inputs)
        for attr in lookup(kind).attrs.values():
            value = attrs.get(attr.name, attr.default)
            if value is not REQUIRED and value is not None:
                node.attr[attr.name].CopyFrom(attr_value.to_proto(value, attr.kind))
        return name

    def _constant(self, name: str, value: Any) -> str:
        value = np.asarray(value, object if isinstance(value, list) else np.float32 if isinstance(value, float) else np.int32)
        self._add(name, "Const", [], dtype=dtypes.string if value.dtype == object else dtypes.as_dtype(value.dtype))
        self._graph.node[-1].attr["value"].tensor.CopyFrom(from_array(value))
        return name

    # -- rounding

    def round_inputs(self) -> None:
        """Puts a node that rounds before each input that is to be rounded."""
        sources = [(node, place, self._nodes[endpoint(text)[0]]) for node, place, text in self._rounded()]
        ranges = [self._range(source) for _, _, source in sources]
        unknown = [source for (_, _, source), (_, _, known) in zip(sources, ranges) if not known]
        if len(unknown) > _UNKNOWN:
            node = unknown[_UNKNOWN]
            raise UnimplementedError(None, None, f"Found an unknown op: {node.name} with type: {node.op}; Unknown ops are "
                                                 f"considered as model input for now and only {_UNKNOWN} inputs are supported "
                                                 "currently.")
        rounded: dict[str, str] = {}
        for (node, place, source), (signed, limits, _) in zip(sources, ranges):
            if source.name not in rounded:
                rounded[source.name] = self._round(source.name, signed, limits)
            node.input[place] = rounded[source.name]

    def _rounded(self) -> Iterator[tuple[Any, int, str]]:
        for node in list(self._graph.node):
            if node.op in _ROUNDED and not node.name.startswith("gradients"):
                yield from ((node, place, text) for place, text in enumerate(node.input) if not text.startswith("^"))

    def _range(self, node: Any) -> tuple[bool, Any, bool]:
        """Whether values of a node may be below 0, its range if that is known, and whether anything is known of its op."""
        if node.op in _SIGNED:
            return _SIGNED[node.op], None, True
        if node.op in _RANGES:
            return node.op == "Tanh", _RANGES[node.op], True
        if node.op in _FIRST:
            return *self._range(self._nodes[endpoint(node.input[0])[0]])[:2], True
        return True, None, False

    def _round(self, name: str, signed: bool, limits: Any) -> str:
        """The node that rounds what the node `name` gives."""
        if limits is not None:
            low, high = (self._constant(f"{name}/Input{what}", limit) for what, limit in zip(("Min", "Max"), limits))
        else:
            decay = self._constant(f"{name}/Decay", _DECAY)
            scope = f"{name}/ReductionAxes"
            start, delta = self._constant(f"{scope}/RangeStart", 0), self._constant(f"{scope}/RangeDelta", 1)
            rank = self._add(f"{scope}/InputRank", "Rank", [name], T=dtypes.float32)
            axes = self._add(f"{scope}/ReductionAxes", "Range", [start, rank, delta], Tidx=dtypes.int32)
            extremes = [self._add(f"{name}/{what}", what, [name, axes], T=dtypes.float32, Tidx=dtypes.int32)
                        for what in ("Min", "Max")]
            low, high = (self._averaged(extreme, decay) for extreme in extremes)
        return self._add(f"{name}/QuantizeAndDequantizeV2", "QuantizeAndDequantizeV2", [name, low, high], T=dtypes.float32,
                         signed_input=signed, num_bits=self._num_bits, range_given=True)

    def _averaged(self, value: str, decay: str) -> str:
        """A node that gives the moving average of a node's value, which begins with its first one."""
        add = functools.partial(self._add, T=dtypes.float32)
        variable = self._add(f"{value}/Variable", "VariableV2", [], shape=(), dtype=dtypes.float32)
        self.variables.append(variable)
        known = self._add(f"{value}/IsInitialized", "IsVariableInitialized", [variable], dtype=dtypes.float32)
        switch = add(f"{value}/Switch", "Switch", [value, known])
        one = self._constant(f"{value}/EMA/OneConst", 1.0)
        rate = add(f"{value}/EMA/DecayComplement", "Sub", [one, decay])
        difference = add(f"{value}/EMA/ValueDiff", "Sub", [variable, f"{switch}:1"])
        update = add(f"{value}/EMA/UpdateValue", "Mul", [difference, rate])
        average = add(f"{value}/EMA/EMAValue", "Sub", [variable, update])
        merged = add(f"{value}/Merge", "Merge", [switch, average], N=2)
        return add(f"{value}/AssignValue", "Assign", [variable, merged])

    # -- saving

    def save_variables(self) -> None:
        """Lets the saver of the graph, if there is one, save and restore the variables."""
        savers = [node for node in self._graph.node if node.op == "SaveV2"]
        if not savers:
            return
        if len(savers) > 1:
            raise InvalidArgumentError(None, None, "Input graph has multiple SaveV2 ops.")
        (saver,) = savers
        scope = saver.name.rpartition("/")[0] or saver.name
        restore_all = self._nodes.get(f"{scope}/restore_all")
        if restore_all is None:
            raise InvalidArgumentError(None, None, "graph has SaveOp, but no restore_all NoOp")
        for variable in self.variables:
            restore_all.input[:] = sorted([*restore_all.input, "^" + self._restored(variable, scope, saver.input[0])])
        for text, added in zip(saver.input[1:3], (self.variables, [""] * len(self.variables))):
            kept = self._nodes[endpoint(text)[0]].attr["value"].tensor
            kept.CopyFrom(from_array(np.append(to_array(kept), np.array([one.encode() for one in added], object))))
        saver.input[:] = [text for text in saver.input if not text.startswith("^")] + self.variables
        saver.attr["dtypes"].list.type.extend([dtypes.float32.as_datatype_enum] * len(self.variables))

    def _restored(self, variable: str, scope: str, prefix: str) -> str:
        """The node that gives a variable its value in a checkpoint."""
        name, assign = (f"{scope}/{kind}/_{next(self._numbers)}_qt" for kind in ("RestoreV2", "Assign"))
        names = self._constant(f"{name}/tensor_names", [variable.encode()])
        slices = self._constant(f"{name}/shape_and_slices", [b""])
        self._add(name, "RestoreV2", [prefix, names, slices], dtypes=[dtypes.float32])
        return self._add(assign, "Assign", [variable, name], T=dtypes.float32)
