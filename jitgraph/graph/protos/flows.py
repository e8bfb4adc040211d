"""What the flows of TensorArrays are in a file: numbers that only order operations, as TensorFlow has them.

In programs here the flow is the array itself, a variant, which loops and branches take as such.  Files say that it is a number,
so that TensorFlow reads them, and mark the arrays of programs, so that their flows are values again where they are read here.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.protos.node_proto import Endpoint, endpoint
from jitgraph.graph.protos.tensor_proto import shape_to_proto
from jitgraph.protobuf import messages

_ARGUMENTS = ("T", "Tin")       # the dtypes of what functional control flow hands to its functions
_MARK = "_flow_is_value"        # an attribute of the TensorArrayV3 nodes that programs made here
_FLOWS = {"TensorArrayV3": 1, "TensorArrayGradV3": 1, "TensorArrayWriteV3": 0, "TensorArrayScatterV3": 0, "TensorArraySplitV3": 0}
_HANDLES = {"TensorArrayV3": 0, "TensorArrayGradV3": 0}
_SHAPES = ("_output_shapes", "output_shapes")
_DECLARED = "_input_shapes"
_HANDLE_SHAPE = (2,)            # that TensorFlow states for handles, which are scalars here
_PASSED = {"Identity": (0,), "Enter": (0,), "Exit": (0,), "NextIteration": (0,), "Merge": (0,), "Switch": (0, 1)}
_CALLED = {"While": ("cond", "body"), "If": ("then_branch", "else_branch"), "Case": ("branches",), "PartitionedCall": ("f",)}
_ONLY_HERE = ("ElementGradient", "RowsGradient", "PiecesGradient", "GradientOfElement", "GradientOfRows", "GradientOfPieces")


def flows_are_values(graph_def: Any) -> bool:
    """Whether loops, branches or Identities of a GraphDef take the flow of a TensorArray as a variant, as those of programs here.

    Then its operations on TensorArrays are those of programs; else those that change an array behind its handle.
    """
    return any(map(_has_such_a_node, _bodies(graph_def)))


def _bodies(graph_def: Any) -> list[Any]:
    return [graph_def.node, *(function.node_def for function in graph_def.library.function)]


def _has_such_a_node(nodes: Iterable[Any]) -> bool:
    arrays = {node.name for node in nodes if node.op.startswith("TensorArray") and node.op.endswith("V3")}
    return bool(arrays) and any(_takes_variant_of(node, arrays) for node in nodes)


def _takes_variant_of(node: Any, arrays: set[str]) -> bool:
    inputs = [text.split(":")[0] for text in node.input if not text.startswith("^")]
    if node.op == "Identity":
        kinds = [node.attr["T"].type]
    else:
        kinds = [kind for key in _ARGUMENTS if key in node.attr for kind in node.attr[key].list.type]
    return any(name in arrays and kind == dtypes.variant.as_datatype_enum
               for name, kind in zip(reversed(inputs), reversed(kinds)))


# -- files -------------------------------------------------------------------------------------------------------------

def state_as_numbers(graph_def: Any) -> None:
    """Lets a GraphDef of a program say that flows are numbers; one with gradients of arrays, which only programs here have, stays
    as it is."""
    types = {node.op for nodes in _bodies(graph_def) for node in nodes}
    if "TensorArrayV3" not in types or any(kind.endswith(_ONLY_HERE) for kind in types):
        return
    if flows_are_values(graph_def):
        _Marked(graph_def, _FLOWS).have_dtype(dtypes.float32.as_datatype_enum)
        for nodes in _bodies(graph_def):
            for node in nodes:
                if node.op == "TensorArrayV3":
                    node.attr[_MARK].b = True
    _Marked(graph_def, _HANDLES).have_shape(_HANDLE_SHAPE)


def as_programs_have_them(graph_def: Any) -> Any:
    """A GraphDef that was written here with variants for flows; any other as it is."""
    if not any(node.op == "TensorArrayV3" and node.attr[_MARK].b for nodes in _bodies(graph_def) for node in nodes
               if _MARK in node.attr):
        return graph_def
    made = messages.GraphDef()
    made.CopyFrom(graph_def)
    _Marked(made, _FLOWS).have_dtype(dtypes.variant.as_datatype_enum)
    _Marked(made, _HANDLES).have_shape(())
    for nodes in _bodies(made):
        for node in nodes:
            if _MARK in node.attr:
                del node.attr[_MARK]
    return made


class _Scope:
    """The nodes of a graph or of a function; ``marked``: the endpoints in it that are of the kind that is asked for."""

    def __init__(self, nodes: Any, definition: Any = None):
        self.nodes, self.definition = nodes, definition
        self._types = {node.name: node.op for node in nodes}
        self.inputs = [[self._endpoint(text) for text in node.input if not text.startswith("^")] for node in nodes]
        self.results = [] if definition is None else [self._endpoint(definition.ret[result.name])
                                                      for result in definition.signature.output_arg]
        self.marked: set[Endpoint] = set()

    def _endpoint(self, text: str) -> Endpoint:
        """What an input says; in a function, where it is ``node:output:number``, as far as it may be marked."""
        name, *rest = text.split(":")
        if len(rest) < 2 or self.definition is None:
            return endpoint(text)
        kind = self._types[name]
        if kind in _FLOWS:
            return name, 0 if rest[0].endswith("handle") else _FLOWS[kind]
        return name, 1 if rest[0] == "output_true" else int(rest[1])

    def arguments(self) -> list[str]:
        """The names of the arguments of the function."""
        return [argument.name for argument in self.definition.signature.input_arg]


class _Marked:
    """The flows, or the handles, of a GraphDef and of its functions: outputs of the nodes `made`, and where they are handed on."""

    def __init__(self, graph_def: Any, made: dict[str, int]):
        self._functions = {one.signature.name: _Scope(one.node_def, one) for one in graph_def.library.function}
        self._scopes = [_Scope(graph_def.node), *self._functions.values()]
        for scope in self._scopes:
            scope.marked = {(node.name, made[node.op]) for node in scope.nodes if node.op in made}
        while self._follow():
            pass

    def _follow(self) -> bool:
        """Marks what takes something that is marked; whether there was something to mark."""
        before = sum(len(scope.marked) for scope in self._scopes)
        for scope in self._scopes:
            for node, inputs in zip(scope.nodes, scope.inputs):
                taken = [place for place, one in enumerate(inputs) if one in scope.marked]
                if node.op in _PASSED and taken:
                    scope.marked.update((node.name, output) for output in _PASSED[node.op])
                for function in self._called(node):
                    names = function.arguments()
                    function.marked.update((names[place - _offset(node)], 0) for place in taken)
                    scope.marked.update((node.name, place) for place, one in enumerate(function.results) if one in function.marked)
        return sum(len(scope.marked) for scope in self._scopes) > before

    def _called(self, node: Any) -> list[_Scope]:
        keys = _CALLED.get(node.op.removeprefix("Stateless").removeprefix("Stateful"), ())
        called = [one.name for key in keys for one in (node.attr[key].func, *node.attr[key].list.func) if one.name]
        return [self._functions[name] for name in [*called, node.op] if name in self._functions]

    def have_dtype(self, kind: int) -> None:
        """Gives what is marked the dtype of this number."""
        for scope in self._scopes:
            for node, inputs in zip(scope.nodes, scope.inputs):
                if node.op in _PASSED and (node.name, 0) in scope.marked:
                    node.attr["T"].type = kind
                elif self._called(node):
                    _set(node, _ARGUMENTS, [place - _offset(node) for place, one in enumerate(inputs) if one in scope.marked], kind)
                    _set(node, ("Tout",), [place for name, place in scope.marked if name == node.name], kind)
        for scope in self._functions.values():
            signature = scope.definition.signature
            for argument in signature.input_arg:
                if (argument.name, 0) in scope.marked:
                    argument.type = kind
            for result, one in zip(signature.output_arg, scope.results):
                if one in scope.marked:
                    result.type = kind

    def have_shape(self, shape: tuple) -> None:
        """Gives what is marked this shape, where shapes are stated."""
        proto = shape_to_proto(shape)
        for scope in self._scopes:
            for node in scope.nodes:
                places = [place for name, place in scope.marked if name == node.name]
                for key in _SHAPES if places else ():
                    stated = node.attr[key].list.shape if key in node.attr else ()
                    for place in places:
                        if place < len(stated):
                            stated[place].CopyFrom(proto)
        for scope in self._functions.values():
            declared: Any = scope.definition.attr[_DECLARED].list.shape if _DECLARED in scope.definition.attr else None
            for place, name in enumerate(scope.arguments()):
                if (name, 0) in scope.marked:
                    if declared:
                        declared[place].CopyFrom(proto)
                    if place in scope.definition.arg_attr and _SHAPES[0] in scope.definition.arg_attr[place].attr:
                        scope.definition.arg_attr[place].attr[_SHAPES[0]].list.shape[0].CopyFrom(proto)


def _offset(node: Any) -> int:
    """How many inputs stand before the arguments of the functions: a branch is chosen by one."""
    return 1 if node.op.removeprefix("Stateless") in ("If", "Case") else 0


def _set(node: Any, keys: tuple[str, ...], places: list[int], kind: int) -> None:
    for key in keys:
        kinds: Any = node.attr[key].list.type if key in node.attr else []
        for place in places:
            if 0 <= place < len(kinds):
                kinds[place] = kind
