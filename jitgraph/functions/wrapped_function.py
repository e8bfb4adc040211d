"""``tf.wrap_function``: code that builds a graph, called once, as a function that owns the variables it makes."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.formats.import_graph import import_graph_def
from jitgraph.functions.concrete_function import ConcreteFunction, packed
from jitgraph.functions.stored_function import StoredFunctions, stored
from jitgraph.graph import structures as nest
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.lookup import as_graph_element
from jitgraph.graph.operation import Operation
from jitgraph.graph.protos.function_def import add_functions, keep_colocation
from jitgraph.graph.protos.node_proto import node_to_proto
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import TensorSpec
from jitgraph.protobuf import messages
from jitgraph.variables import default_kind
from jitgraph.variables.creators import creator_scope
from jitgraph.variables.resource_variables import ResourceVariable
from jitgraph.variables.uninitialized import UninitializedVariable

_GLOBAL, _LOCAL = GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES


class UnliftableError(Exception):
    """A tensor of a function that cannot be taken out of it, since it needs a placeholder that is not fed."""


class WrappedFunction(ConcreteFunction):
    """The function of a graph that was built once; ``prune`` gives functions of parts of it.

    ``variables``: the resource variables that it made, which are variables of the graph around it.
    """

    def __init__(self, graph: FunctionGraph, structured_outputs: Any, structured_input_signature: Any = None,
                 signature: Any = None, keywords: list[str] | None = None):
        _lift_variables(graph)
        self._graph, self._results, self._arguments_as = graph, structured_outputs, structured_input_signature
        self._signature = signature
        self._keywords = keywords or []
        self._positional = len(self._keywords)
        self._stored: tuple[StoredFunctions, str] | None = None

    @property
    def graph(self) -> Any:
        """The graph of the function."""
        return self._graph

    def exported_graph(self) -> Any:
        """The graph of the function, which no gradient adds to: each node has a copy of it."""
        return self._graph

    @property
    def structured_outputs(self) -> Any:
        """The results, as the Python function returned them."""
        return self._results

    @property
    def structured_input_signature(self) -> Any:
        """The arguments, TensorSpecs in the place of tensors; None if they are not known."""
        return self._arguments_as

    @property
    def name(self) -> bytes:
        """The name of the function."""
        return f"__inference_{self._graph.name}".encode()

    @property
    def variables(self) -> list[Any]:
        """The resource variables that it takes from around it."""
        return list(self._graph.variables)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results, of a new node.  Raises NotImplementedError for arguments by name, unless the function was pruned."""
        if self._signature is None:
            return super().__call__(*args, **kwargs)
        if kwargs:
            raise NotImplementedError("Keyword arguments not supported when calling a wrap_function-decorated function.")
        wanted, more = len(self._graph.inputs), len(self._graph.captures)
        if len(args) + more != wanted:
            raise ValueError(f"Arguments and signature arguments do not match. got: {len(args) + more}, expected: {wanted} ")
        return self._call(self._arguments(args))

    def _call(self, tensors: list[Tensor]) -> Any:
        if self._stored is None:
            self._stored = stored(self._graph)
        functions, name = self._stored
        node = functions.call(name, [*tensors, *self.captured_inputs])
        return packed(self._results, node.outputs) if self._results is not None else node if not node.outputs else None

    def prune(self, feeds: Any, fetches: Any, name: str | None = None, input_signature: Any = None) -> WrappedFunction:
        """The function from the tensors `feeds` of the graph to `fetches`, in the structure of these.

        Feeds and fetches are tensors, operations, their names, or TensorInfos; an operation runs, and stands as None in the
        result.  `name`: of the new graph; `input_signature`: what its ``structured_input_signature`` is to be.
        Raises ValueError for elements of other graphs, UnliftableError if a fetch needs a placeholder that is not a feed.
        """
        part = _Part(self._graph, name or "pruned")
        inputs = part.feed(feeds)
        results = nest.map_structure(part.fetch, fetches)
        part.fill([leaf for leaf in nest.flatten(results, expand_composites=True) if leaf is not None])
        found = nest.map_structure(part.found, results, expand_composites=True)
        return WrappedFunction(part.graph, found, input_signature, keywords=[tensor.op.name for tensor in inputs])


class _Part:
    """A graph with a part of the function `source`."""

    def __init__(self, source: FunctionGraph, name: str):
        self.source = source
        self.graph = FunctionGraph(name, source.outer_graph)
        self.graph.keep_apart()
        self._known: dict[Tensor, Tensor] = {}              # {tensor of the source: input of the part}
        self._operations: list[Operation] = []
        self._shapes: list[tuple[Tensor, Any]] = []         # what TensorInfos say of the results
        self._elements: dict[Any, Any] = {}
        self._captured = {inner: outer for outer, inner in source.captures.items()}

    def _own(self, element: Any) -> Any:
        return as_graph_element(self.source, element)      # and not of the graphs around it

    def feed(self, feeds: Any) -> list[Tensor]:
        """Makes inputs for tensors; those that stand for what is captured are inputs anyway.  Gives the others."""
        elements = [self._own(one) for one in nest.flatten(feeds, expand_composites=True)]
        if not all(isinstance(one, Tensor) for one in elements):
            raise ValueError("Feeds must be tensors.")
        fed = [tensor for tensor in dict.fromkeys(elements) if tensor not in self._captured]
        for tensor in fed:
            self._known[tensor] = self.graph.add_input(tensor.dtype, tensor._shape, tensor.op.name)
        for outer in self.source.captures:
            self._known[self.source.captures[outer]] = self.graph.capture(outer)
        return fed

    def fetch(self, fetch: Any) -> Any:
        """The tensor or sparse tensor of the source that is asked for; None for an operation, which is noted."""
        info = fetch if isinstance(fetch, messages.TensorInfo) else None
        if info is not None:
            fetch = _element(info, self.source)
        if nest.is_composite(fetch):
            return nest.map_structure(self._own, fetch, expand_composites=True)
        fetch = self._own(fetch)
        if isinstance(fetch, Operation):
            self._operations.append(fetch)
            return None
        if info is not None and info.WhichOneof("encoding") == "name":
            self._shapes.append((fetch, info.tensor_shape))
        return fetch

    def fill(self, tensors: list[Tensor]) -> None:
        """Makes the nodes that these tensors, and the operations that were asked for, need."""
        wanted = list(dict.fromkeys([*tensors, *self._operations]))
        needed = self._needed(wanted)
        read = {tensor for op in needed for tensor in op.inputs}
        made: list[Any] = [element for element in wanted if element not in self._known]
        with self.graph.as_default():
            copies = import_graph_def(self._definition(needed), {theirs.name: mine for theirs, mine in self._known.items()
                                                                 if theirs in read}, [element.name for element in made], name="")
        self._elements = {**self._known, **dict(zip(made, copies or []))}
        self.graph.outputs = [self._elements[tensor] for tensor in tensors]
        self.graph.control_outputs = [self._elements[op] for op in self._operations]
        for tensor, shape in self._shapes:
            self._elements[tensor].set_shape(shape)

    def _definition(self, operations: list[Operation]) -> Any:
        """The GraphDef of operations, less what they wait for and stand beside outside of it."""
        names = {op.name for op in operations}
        definition = messages.GraphDef(node=[node_to_proto(op, add_shapes=True) for op in operations])
        for node in definition.node:
            node.input[:] = [text for text in node.input if not text.startswith("^") or text[1:] in names]
            keep_colocation(node, names)
        library = messages.FunctionDefLibrary()
        add_functions(library, operations)
        definition.library.function.extend(
            function for function in library.function if function.signature.name not in self.graph._functions)
        return definition

    def found(self, tensor: Tensor | None) -> Tensor | None:
        """The tensor of the part for one of the source."""
        return None if tensor is None else self._elements[tensor]

    def _needed(self, goals: list) -> list[Operation]:
        """The operations to copy, in the order of their creation.  Raises UnliftableError for a placeholder among them."""
        needed: set[Operation] = set()
        fed = {tensor.op for tensor in self._known}
        for goal in goals:
            users: dict[Operation, Operation] = {}
            waiting = [] if goal in self._known else [goal if isinstance(goal, Operation) else goal.op]
            while waiting:
                op = waiting.pop()
                if op in needed:
                    continue
                if op.type == "Placeholder":
                    path = [op]
                    while path[-1] in users:
                        path.append(users[path[-1]])
                    steps = " <- ".join(f"{step.name} ({step.type})" for step in reversed(path))
                    raise UnliftableError(f"Unable to lift tensor {goal!r} because it depends transitively on placeholder {op!r} "
                                          f"via at least one path, e.g.: {steps}")
                needed.add(op)
                behind = [tensor.op for tensor in op.inputs if tensor not in self._known]
                behind += [other for other in op.control_inputs if other not in fed]
                users.update((other, op) for other in behind if other not in needed)
                waiting.extend(behind)
        return sorted(needed, key=lambda op: op._id)


def _element(info: Any, graph: FunctionGraph) -> Any:
    """What a TensorInfo names: a tensor, an operation, or a sparse tensor."""
    if info.WhichOneof("encoding") == "coo_sparse":
        parts = info.coo_sparse
        return SparseTensor(*[graph.get_tensor_by_name(name) for name in (
            parts.indices_tensor_name, parts.values_tensor_name, parts.dense_shape_tensor_name)])
    if info.WhichOneof("encoding") == "name":
        return graph.as_graph_element(info.name)
    raise ValueError(f"Invalid TensorInfo.encoding: {info.WhichOneof('encoding')}")


# -- variables ---------------------------------------------------------------------------------------------------------

def _lift_variables(graph: FunctionGraph) -> None:
    """Puts in the place of resource variables whose nodes were imported into a function variables of the graph around it."""
    lifted: dict[Any, Any] = {}
    for key in (_GLOBAL, _LOCAL):
        members = graph.get_collection_ref(key)
        for variable in members:
            if isinstance(variable, ResourceVariable) and variable.graph is graph and variable not in lifted:
                lifted[variable] = _lifted(variable, graph, key)
        members[:] = [lifted.get(variable, variable) for variable in members]
        for variable in members:
            if not isinstance(variable, ResourceVariable):
                logs.warning("Unable to create a python object for variable %s because it is a reference variable. It may not be "
                             "visible to training APIs. If this is a problem, consider rebuilding the SavedModel after running "
                             "tf.compat.v1.enable_resource_variables().", variable)


def _lifted(old: ResourceVariable, graph: FunctionGraph, key: str) -> UninitializedVariable:
    new = UninitializedVariable(old.op.name, old.shape, old.dtype, old.trainable, collections=[key])
    inner = old.handle
    inner.op.attrs["shared_name"] = new.op.attrs["shared_name"]
    graph.captures[new.handle] = graph._aliases[new.handle] = inner
    graph.sources[inner] = new.handle
    graph.inputs.append(inner)
    return new


def _note(graph: FunctionGraph) -> Callable:
    """A variable creator that adds the variables to the collections of `graph`, too."""
    def create(next_creator: Callable, **kwargs: Any) -> Any:
        collections = kwargs.get("collections")
        variable = next_creator(**kwargs)
        if kwargs.get("variable_def") is not None:
            return variable         # of an imported graph, whose collections say where it belongs
        wanted = [_GLOBAL] if collections is None else list(collections)
        if variable.trainable and GraphKeys.TRAINABLE_VARIABLES not in wanted:
            wanted.append(GraphKeys.TRAINABLE_VARIABLES)
        graph.add_to_collections(wanted, variable)
        return variable

    return create


# -- wrapping ----------------------------------------------------------------------------------------------------------

def wrap_function(fn: Callable, signature: Any, name: str | None = None) -> WrappedFunction:
    """Calls `fn`, which builds a graph, once; what it built is a function, whose calls make nodes.

    `signature`: the arguments of `fn`, a list; a TensorSpec in it, or in a structure in it, becomes a tensor, other values are
    given as they are.  Variables that `fn` makes are resource variables, belong to the function and are variables of the graph
    around it, which ``tf.global_variables_initializer()`` initializes; collections are the function's own.  Unlike in
    ``tf.function``, only what the results need is run, in no other order than control dependencies say.  Raises TypeError if
    `fn` returns something that is neither a tensor nor None.

    >>> def counted(x):
    ...     total = tf.Variable(0.0)
    ...     return total.assign_add(x)
    >>> count = tf.wrap_function(counted, [tf.TensorSpec([], tf.float32)])
    >>> count(tf.constant(2.0))
    """
    graph = FunctionGraph("wrapped_function" if name is None else f"wrapped_function_{name}")
    graph.keep_apart()
    with graph.as_default(), default_kind.resource_variables(True), creator_scope(_note(graph)):
        given = nest.map_structure(lambda leaf: graph.add_input(leaf.dtype, leaf.shape._raw, leaf.name or "placeholder")
                                   if isinstance(leaf, TensorSpec) else leaf, list(signature))
        returned = fn(*given)
        results = nest.map_structure(lambda leaf: _result(leaf, graph, fn), returned)
        graph.outputs = [leaf for leaf in nest.flatten(results, expand_composites=True) if leaf is not None]
    stated = [TensorSpec(leaf.shape, leaf.dtype, "/".join(map(str, path))) if isinstance(leaf, TensorSpec) else leaf
              for leaf, path in zip(nest.flatten(list(signature)), nest.paths(list(signature)))]
    return WrappedFunction(graph, results, (nest.pack_sequence_as(list(signature), stated), {}), signature)


def _result(value: Any, graph: FunctionGraph, fn: Callable) -> Any:
    """What a Python function returned as tensors of its graph."""
    if value is None:
        return None
    if nest.is_composite(value):
        return nest.map_structure(graph.capture, value, expand_composites=True)
    try:
        return graph.capture(convert_to_tensor(value))
    except (TypeError, ValueError) as error:
        raise TypeError("To be compatible with tf.contrib.eager.defun, Python functions must return zero or more Tensors; in "
                        f"compilation of {fn}, found return value of type {type(value)}, which is not a Tensor.") from error


def function_from_graph_def(graph_def: Any, inputs: Any, outputs: Any) -> WrappedFunction:
    """The function of a GraphDef from the tensors `inputs` to `outputs`, names or structures of them."""
    return wrap_function(lambda: import_graph_def(graph_def, name=""), []).prune(inputs, outputs)
