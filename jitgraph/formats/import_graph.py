"""``tf.import_graph_def``: the nodes of a GraphDef join the default graph."""
from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from jitgraph.formats import node_def
from jitgraph.formats.functions import FunctionLibrary
from jitgraph.formats.node_def import Endpoint, Node
from jitgraph.graph import build, shapes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.devices import canonical
from jitgraph.graph.dtypes import DType, resource
from jitgraph.graph.errors import NotFoundError, OpError
from jitgraph.graph.function_graph import CALLS, FunctionGraph
from jitgraph.graph.operation import Operation
from jitgraph.graph.protos.flows import as_programs_have_them, flows_are_values
from jitgraph.graph.protos.graph_def import joined_versions
from jitgraph.graph.protos.node_proto import REPLAYS
from jitgraph.graph.protos.tensor_proto import other_form
from jitgraph.graph.registry import lookup
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.texts import as_text
from jitgraph.protobuf import messages
from jitgraph.tensor_arrays.in_place_ops import lookup_in_place

CONSUMER = 134          # the version of GraphDefs of TensorFlow 1.15, which this importer follows
_SCALARS_ARE_UNKNOWN = 21       # up to this version, placeholders of any shape were written as scalars

_BACK_EDGES = {"Merge": "NextIteration", "RefMerge": "RefNextIteration"}    # the only cycles there may be


def import_graph_def(graph_def: Any, input_map: Any = None, return_elements: Any = None, name: str | None = None,
                     op_dict: Any = None, producer_op_list: Any = None) -> list | None:
    """Adds the nodes of `graph_def` to the default graph, under the prefix `name` ("import" if None).

    Args:
      graph_def: a GraphDef.
      input_map: {"node:0" (or "node", "^node"): tensor}: what stands in for tensors of the file.
      return_elements: names of operations ("y") and tensors ("y:0") of the file.
      name: a scope; "" adds the nodes under their own names.
      op_dict: not used.
      producer_op_list: the OpList of who wrote the file; attributes unknown here that have its default are dropped.
    Returns the list of what `return_elements` names, None if it is None.
    Raises TypeError for arguments of other kinds, ValueError for a file that is not a graph (unknown inputs, cycles,
    wrong attributes, dtypes or shapes), NotFoundError for op types that are not known.  The graph is then unchanged.
    """
    graph_def = as_programs_have_them(_checked_graph_def(graph_def))
    mapped = _checked_input_map(input_map)
    wanted = _checked_return_elements(return_elements)
    graph = get_default_graph()
    graph._check_not_finalized()
    with name_scope(name, "import", [t for t in mapped.values() if isinstance(t, Tensor)]) as scope:
        tensors = _tensors(mapped, scope)
        before = graph.version, dict(graph._names._in_use), dict(graph._functions)
        try:
            _check_versions(graph_def.versions)
            producer_ops = {} if producer_op_list is None else {op.name: op for op in producer_op_list.op}
            find = lookup if flows_are_values(graph_def) else _of_files
            library = function_library(graph, graph_def.library, producer_ops, find)
            importer = _Importer(graph, graph_def.node, tensors, scope, producer_ops, library, find, graph_def.versions.producer)
            importer.run()
            importer.check_input_map()
            graph._versions = joined_versions(graph.graph_def_versions, graph_def.versions)
            return None if wanted is None else [importer.element(text) for text in wanted]
        except BaseException:
            _take_back(graph, *before)
            raise


def function_library(graph: Any, library: Any, producer_ops: dict[str, Any] | None = None,
                     find: Callable | None = None) -> FunctionLibrary:
    """The functions of a FunctionDefLibrary, which join a graph; `find` gives the declaration of an op.

    Raises ValueError if the graph has another function of the same name.
    """
    if find is None:
        find = lookup if flows_are_values(messages.GraphDef(library=library)) else _of_files
    return FunctionLibrary(graph, library, partial(_fill, producer_ops=producer_ops or {}, find=find))


def _checked_graph_def(graph_def: Any) -> Any:
    """`graph_def`, or a copy of it where it is a message of another protocol buffer runtime or class."""
    if isinstance(graph_def, messages.GraphDef):
        return graph_def
    if type(graph_def).__name__ == "GraphDef" and hasattr(graph_def, "SerializeToString"):
        return messages.GraphDef.FromString(graph_def.SerializeToString())
    raise TypeError("graph_def must be a GraphDef proto.")


def _checked_input_map(input_map: Any) -> dict[str, Any]:
    if input_map is None:
        return {}
    if not isinstance(input_map, dict) or not all(isinstance(key, (str, bytes)) for key in input_map):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    mapped = {as_text(key): value for key, value in input_map.items()}
    for key in mapped:
        if not key.startswith("^"):
            _check_tensor_name(key)
    return mapped


def _checked_return_elements(return_elements: Any) -> list[str] | None:
    if return_elements is None:
        return None
    texts = [as_text(text) for text in return_elements]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("return_elements must be a list of strings.")
    for text in texts:
        _check_tensor_name(text)
    return texts


def _check_tensor_name(text: str) -> None:
    if not re.fullmatch(r"[^:]*(:\s*\d+\s*)?", text):
        raise ValueError(f"Cannot convert {text!r} to a tensor name.")


def _tensors(mapped: dict[str, Any], scope: str) -> dict[str, Tensor]:
    """The values of an input map as tensors."""
    if all(isinstance(value, Tensor) for value in mapped.values()):
        return mapped
    if not scope:
        raise ValueError("tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor values. "
                         "Try calling tf.convert_to_tensor() on `input_map` values before calling "
                         "tf.import_graph_def().")
    with name_scope("_inputs"):
        return {key: convert_to_tensor(value) for key, value in mapped.items()}


def _take_back(graph: Any, count: int, in_use: dict[str, int], functions: dict[str, Any]) -> None:
    """Removes the newest nodes, down to `count`, and puts back the names and functions there were."""
    for op in reversed(graph._nodes_by_id[count:]):
        for tensor in dict.fromkeys(op.inputs):
            tensor._consumers = [consumer for consumer in tensor._consumers if consumer is not op]
        del graph._nodes_by_name[op.name]
        for block in graph._control.blocks:
            block.seen.discard(op)
    del graph._nodes_by_id[count:]
    graph._names._in_use = in_use
    for name in graph._functions.keys() - functions.keys():
        del graph._functions[name]
    graph.mutations += 1


def _of_files(op_type: str) -> Any:
    """The declaration of an op as files of TensorFlow mean it."""
    return lookup_in_place(op_type) or lookup(op_type)


def _fill(function: Any, nodes: list[Any], arguments: dict[str, Tensor], library: FunctionLibrary,
          producer_ops: dict[str, Any], find: Callable) -> Callable:
    """Adds the nodes of a function's body to its graph; see ``FunctionLibrary``."""
    importer = _Importer(function, nodes, arguments, "", producer_ops, library, find)
    importer.run()
    return importer.element


class _Importer:
    """One import: the nodes of the file, what has been made of them, and what is still to be connected."""

    def __init__(self, graph: Any, definitions: Any, input_map: dict[str, Tensor], scope: str,
                 producer_ops: dict[str, Any], library: FunctionLibrary, find: Callable, producer: int = CONSUMER):
        self._graph = graph
        self._find = find           # the declaration of an op type
        self._scope = scope
        self._map: dict[Endpoint | str, Tensor] = {}
        for key, tensor in input_map.items():
            if tensor.graph is not graph and graph.building_function:
                tensor = graph.capture(tensor)
            if tensor.graph is not graph:
                raise ValueError(f"node '{tensor.op.name}' in input_map does not exist in graph (input_map entry: "
                                 f"{key}->{tensor.name})")
            self._map[key if key.startswith("^") else node_def.endpoint(key)] = tensor
        self._keys = {key if key.startswith("^") else node_def.endpoint(key): key for key in input_map}
        self._used: set[Any] = set()
        self._functions = library
        self._nodes = self._parsed(definitions)
        self._producer_ops = producer_ops
        self._producer = producer   # the version of what wrote the file
        self._made: dict[str, Operation] = {}
        # in which nodes stand that the graph has; most of them are not below the scope of what is imported
        self._scopes = {name[:end] for name in graph._nodes_by_name if name.startswith(scope) for end in _ends_of_scopes(name)}
        self._open: list[tuple[Operation, int, Endpoint]] = []      # back edges of loops, closed at the end
        self._bound: dict[str, list[tuple[list, int, str]]] = {}    # {node: the entries that bind it to another, see _colocate}

    def _parsed(self, definitions: Any) -> dict[str, Node]:
        nodes: dict[str, Node] = {}
        for definition in definitions:
            node = node_def.parse(definition)
            if node.name in nodes:
                raise ValueError(f"Node '{node.name}' is not unique")
            nodes[node.name] = node
        for node in nodes.values():
            for name, index in node.inputs:
                if (name, index) not in self._map and name not in nodes:
                    raise ValueError(f"Node '{node.name}': Unknown input node '{_text((name, index))}'")
            for name in node.controls:
                if "^" + name not in self._map and name not in nodes:
                    raise ValueError(f"Node '{node.name}': Unknown input node '^{name}'")
        return nodes

    # -- order

    def run(self) -> None:
        """Makes all nodes, each after those it reads; where that leaves a choice, in the order of the file."""
        position = {name: i for i, name in enumerate(self._nodes)}
        names = list(self._nodes)
        waits = [0] * len(names)
        users: list[list[int]] = [[] for _ in names]
        for i, node in enumerate(self._nodes.values()):
            for name in self._needed(node):
                waits[i] += 1
                users[position[name]].append(i)
        ready = [i for i, count in enumerate(waits) if not count]
        while ready:
            i = heapq.heappop(ready)
            self._make(self._nodes[names[i]])
            for user in users[i]:
                waits[user] -= 1
                if not waits[user]:
                    heapq.heappush(ready, user)
        left = [name for name in names if name not in self._made]
        if left:
            raise ValueError(f"{len(left)} nodes in a cycle: {', '.join(left[:5])}{' ...' if len(left) > 5 else ''}")
        for op, index, (name, output) in self._open:
            op._set_input(index, self._output(op.name, name, output))
        self._colocate()

    def _needed(self, node: Node) -> set[str]:
        """The nodes of the file that must be there before `node`."""
        needed = {name for name, index in node.inputs if (name, index) not in self._map
                  and not self._is_back_edge(node, name)}
        needed.update(name for name in node.controls if "^" + name not in self._map)
        return needed

    def _is_back_edge(self, node: Node, source: str) -> bool:
        return node.type in _BACK_EDGES and self._nodes[source].type == _BACK_EDGES[node.type]

    # -- one node

    def _make(self, node: Node) -> None:
        opdef = self._functions.opdef(node.type)
        if opdef is None:
            try:
                opdef = self._find(node.type)
            except NotFoundError as error:
                raise NotFoundError(None, None, f"{error.message} (node '{node.name}' of the GraphDef)") from None
        try:
            attrs, annotations = node_def.attributes(node, opdef, self._producer_ops.get(node.type))
            if node.type == "Placeholder" and self._producer <= _SCALARS_ARE_UNKNOWN and attrs["shape"] == ():
                attrs["shape"] = None
            types = node_def.input_types(node, opdef, attrs)
            inputs = self._inputs(node, types)
            if self._functions.opdef(node.type) is opdef:
                opdef, attrs = self._functions.as_call(node, attrs, inputs, self._graph)
            elif opdef.functions:
                self._functions.attach(node, opdef, attrs, inputs, self._graph)
            op = self._add(node, opdef, attrs, annotations, inputs)
            op._gradient_function = op._gradient_function or self._functions.gradient_of(op)
        except (ValueError, OpError):
            raise
        except Exception as error:      # a declaration that is not prepared for what stands in the file
            raise ValueError(f"Node '{node.name}' (op: '{node.type}') cannot be imported: "
                             f"{type(error).__name__}: {error}") from error
        self._made[node.name] = op

    def _inputs(self, node: Node, types: list[tuple[DType, bool]]) -> list[Tensor]:
        tensors = [self._input(node, endpoint) for endpoint in node.inputs]
        first = next((t for t in tensors if t is not None), None)
        for i, (tensor, (dtype, is_ref)) in enumerate(zip(tensors, types)):
            if tensor is None:
                if first is None:
                    raise ValueError(f"Node '{node.name}': all inputs come from later iterations of a loop")
                continue
            if tensor.dtype.base_dtype is not dtype or is_ref and not tensor.dtype._is_ref_dtype:
                wanted = dtype._as_ref if is_ref else dtype
                raise ValueError(f"Input {i} of node {self._scope}{node.name} was passed {tensor.dtype.name} from "
                                 f"{tensor.name} incompatible with expected {wanted.name}.")
        return [first if tensor is None else tensor for tensor in tensors]  # type: ignore[misc]

    def _input(self, node: Node, endpoint: Endpoint) -> Tensor | None:
        """What `node` reads there, None for what a loop brings later."""
        mapped = self._map.get(endpoint)
        if mapped is not None:
            self._used.add(endpoint)
            return mapped
        name, index = endpoint
        return None if self._is_back_edge(node, name) else self._output(node.name, name, index)

    def _output(self, user: str, name: str, index: int) -> Tensor:
        outputs = self._made[name].outputs
        if index >= len(outputs):
            raise ValueError(f"Node '{user}': Connecting to invalid output {index} of source node {name} which has "
                             f"{len(outputs)} outputs.")
        return outputs[index]

    def _controls(self, node: Node) -> list[Operation]:
        found: dict[Operation, None] = {}
        for name in node.controls:
            mapped = self._map.get("^" + name)
            if mapped is not None:
                self._used.add("^" + name)
            found[self._made[name] if mapped is None else mapped.op] = None
        return list(found)

    def _add(self, node: Node, opdef: Any, attrs: dict[str, Any], annotations: dict[str, Any],
             inputs: list[Tensor]) -> Operation:
        graph = self._graph
        hints = annotations.pop("_output_shapes", None)
        replays = bool(annotations.pop(REPLAYS, False))
        colocated = self._colocation(node, annotations)
        name = self._unique(self._scope + node.name)
        output_dtypes = build.output_types(opdef, attrs)
        output_shapes = build.infer_shapes(opdef, name, inputs, attrs, len(output_dtypes))
        if opdef.type in CALLS and isinstance(attrs["f"], FunctionGraph):
            output_shapes = [tensor._shape for tensor in attrs["f"].outputs]
        output_shapes = _with_hints(name, output_shapes, _without_handles(hints, opdef, output_dtypes))
        controls = dict.fromkeys([*self._controls(node), *graph._control.inputs_for(inputs)])
        with _DeviceOf(graph, node, colocated):
            op = graph.add_op(opdef, node.type, name, inputs, attrs, output_dtypes, output_shapes, list(controls))
        op.annotations = {**annotations, **(op.annotations or {})} or None
        op.replays = replays
        _keep_forms(op, node)
        self._open.extend((op, i, endpoint) for i, endpoint in enumerate(node.inputs)
                          if endpoint not in self._map and self._is_back_edge(node, endpoint[0]))
        return op

    def _unique(self, name: str) -> str:
        graph = self._graph
        if name not in graph._nodes_by_name and name not in self._scopes:
            graph._names.reserve(name)
            return name
        before, graph._names.scope = graph._names.scope, ""
        try:
            return graph.unique_name(name)
        finally:
            graph._names.scope = before

    def _colocation(self, node: Node, annotations: dict[str, Any]) -> bool:
        """Whether `node` is bound to other nodes of the file, which ``_colocate`` names once they are made."""
        noted = annotations.get("_class")
        entries: list = noted if isinstance(noted, list) else []
        bound = self._bound[node.name] = []
        for i, entry in enumerate(entries):
            text = entry.decode("utf-8", "replace") if isinstance(entry, bytes) else str(entry)
            if text.startswith("loc:@"):
                group = text[5:]
                if group not in self._nodes:
                    raise ValueError(f"Node '{node.name}' expects to be colocated with unknown node '{group}'")
                bound.append((entries, i, group))
        return any(group != node.name for _, _, group in bound)

    def _colocate(self) -> None:
        """Writes the names that nodes got into the groups of those bound to them, which are where the first of them is that has
        a device, and where it is undecided otherwise, whatever the file says of themselves."""
        for name, bound in self._bound.items():
            owners = []
            for entries, i, group in bound:
                owner = self._made[group]
                entries[i] = f"loc:@{owner.name}"
                owners += [owner] if group != name else []
            if owners:
                self._made[name]._device = next((owner.device for owner in owners if owner.device), "")

    # -- the result

    def check_input_map(self) -> None:
        """Raises ValueError if the input map names something that the file does not have."""
        missing = [key for parsed, key in self._keys.items() if parsed not in self._used and not self._exists(parsed)]
        if missing:
            raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{', '.join(missing)}]")

    def _exists(self, key: Endpoint | str) -> bool:
        if isinstance(key, str):
            return key[1:] in self._made
        return key[0] in self._made and key[1] < len(self._made[key[0]].outputs)

    def element(self, text: str) -> Any:
        """The operation or tensor that `text` names in the file."""
        if ":" not in text:
            if text not in self._made:
                raise ValueError(f"Requested return node '{text}' not found in graph def")
            return self._made[text]
        name, index = node_def.endpoint(text)
        if (name, index) in self._map:
            return self._map[name, index]
        if name not in self._made:
            raise ValueError(f"Requested return tensor '{text}' not found in graph def")
        outputs = self._made[name].outputs
        if index >= len(outputs):
            raise ValueError(f"Invalid return output {index} of node '{name}', which has {len(outputs)} output(s)")
        return outputs[index]


def _ends_of_scopes(name: str) -> Iterator[int]:
    end = name.find("/")
    while end > 0:
        yield end
        end = name.find("/", end + 1)


def _text(endpoint: Endpoint) -> str:
    return endpoint[0] if not endpoint[1] else f"{endpoint[0]}:{endpoint[1]}"


def _keep_forms(op: Operation, node: Node) -> None:
    """Notes tensors that the file states in another form than we write, so that it is exported as it was."""
    for name, value in op.attrs.items():
        if isinstance(value, np.ndarray) and name in node.definition.attr:
            proto = node.definition.attr[name].tensor
            if other_form(proto, value):
                copy = messages.TensorProto()
                copy.CopyFrom(proto)
                op.__dict__.setdefault("stored_tensors", {})[name] = value, copy


class _DeviceOf:
    """Within this block, a new node gets the device of `node`, inside the device scopes unless it is colocated."""

    __slots__ = ("_before", "_devices", "_entries")

    def __init__(self, graph: Any, node: Node, colocated: bool):
        self._devices = graph._devices
        try:
            own = canonical(node.definition.device)
        except ValueError as error:
            raise ValueError(f"{error} (device of node '{node.name}')") from None
        outer = [] if colocated else self._devices._entries
        self._entries = [*outer, own] if own or colocated else None

    def __enter__(self) -> None:
        if self._entries is not None:
            self._before = self._devices.replace(self._entries)

    def __exit__(self, *exc: Any) -> None:
        if self._entries is not None:
            self._devices.replace(self._before)


def _without_handles(hints: Any, opdef: Any, output_dtypes: list[DType]) -> Any:
    """Noted shapes without those of handles: one value here, two strings for some versions of TensorFlow."""
    if not isinstance(hints, list) or len(hints) != len(output_dtypes):
        return hints
    named = len(opdef.outputs) == len(hints)
    return [None if dtype.base_dtype is resource or named and opdef.outputs[i].name.endswith("handle") else hint
            for i, (dtype, hint) in enumerate(zip(output_dtypes, hints))]


def _with_hints(name: str, output_shapes: list, hints: Any) -> list:
    """The shapes together with those that the writer noted.  Raises ValueError if they contradict each other."""
    if not isinstance(hints, list) or len(hints) != len(output_shapes):
        return output_shapes
    merged = []
    for i, (shape, hint) in enumerate(zip(output_shapes, hints)):
        if not shapes.compatible(shape, hint):
            raise ValueError(f"Node '{name}' has an _output_shapes attribute inconsistent with the GraphDef for output "
                             f"#{i}: Shapes {shapes.brackets(shape)} and {shapes.brackets(hint)} are not compatible")
        merged.append(shapes.merge(shape, hint))
    return merged


def _check_versions(versions: Any) -> None:
    """Raises ValueError if who wrote the file refuses readers such as this one."""
    if versions.producer < 0:
        raise ValueError(f"GraphDef producer version {versions.producer} below min producer 0 supported by jitgraph. "
                         "Please regenerate your graph.")
    if versions.min_consumer > CONSUMER:
        raise ValueError(f"GraphDef min consumer version {versions.min_consumer} above current version {CONSUMER} for "
                         "jitgraph, which reads graphs of TensorFlow 1.")
    if CONSUMER in versions.bad_consumers:
        raise ValueError(f"GraphDef disallows consumer version {CONSUMER}, that of TensorFlow 1.15 and jitgraph.")
