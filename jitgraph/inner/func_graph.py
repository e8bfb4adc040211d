"""``tensorflow.python.framework``'s ``func_graph`` and ``convert_to_constants``: graphs of functions, as programs that make them
without ``tf.function`` ask for them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.functions.tracing import Traced
from jitgraph.functions.wrapped_function import function_from_graph_def
from jitgraph.graph import structures as nest
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import TensorSpec


class _OfFunctions(type):
    """TensorFlow makes the nodes of branches and loops in the graph around: those are no graphs of functions for programs."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, FunctionGraph) and not instance.is_inline


class FuncGraph(FunctionGraph, metaclass=_OfFunctions):
    """The graph of a function `name`: tensors of the graph around that nodes in it use are captured.

    ``inputs``, ``outputs``, ``captures`` {tensor outside: tensor inside}, ``structured_outputs``.
    """

    structured_input_signature: Any = None
    structured_outputs: Any = None

    def __init__(self, name: str, collections: dict | None = None, capture_by_value: bool | None = None):
        super().__init__(name)
        self.name_apart()
        if collections is not None:
            self.keep_apart()
            for key, held in collections.items():
                for one in held:
                    self.add_to_collection(key, one)


def func_graph_from_py_func(name: str, python_func: Callable, args: Any, kwargs: Any, signature: Any = None, func_graph: Any = None,
                            autograph: bool = False, autograph_options: Any = None, add_control_dependencies: bool = True,
                            arg_names: Any = None, op_return_value: Any = None, collections: Any = None,
                            capture_by_value: Any = None, override_flat_arg_shapes: Any = None) -> FunctionGraph:
    """The graph of what `python_func` builds, called once with a placeholder for each TensorSpec or tensor in `args` and `kwargs`.

    `signature` takes the place of `args`.  With `add_control_dependencies` what acts does so in the order of the program;
    `autograph` rewrites Python's ifs and loops.  Raises TypeError if it returns something that is neither a tensor nor None.
    """
    given = (tuple(args if signature is None else signature), {} if signature is not None else dict(kwargs or {}))
    leaves = nest.flatten(given)
    shapes = override_flat_arg_shapes or [None] * len(leaves)
    specs = [_spec(leaf, shape) for leaf, shape in zip(leaves, shapes)]
    function = _converted(python_func, autograph_options) if autograph else python_func

    def call(tensors: list) -> Any:
        rest = iter(tensors)
        args, kwargs = nest.pack_sequence_as(given, [leaf if spec is None else next(rest) for leaf, spec in zip(leaves, specs)])
        return function(*args, **kwargs)

    arguments = [(spec.dtype, None if spec.shape.ndims is None else tuple(spec.shape.as_list()), spec.name or "placeholder")
                 for spec in specs if spec is not None]
    traced = Traced(name, arguments, call, ordered=add_control_dependencies)
    graph: Any = traced.graph
    graph.structured_outputs = traced.structure
    graph.structured_input_signature = nest.pack_sequence_as(given, [
        leaf if spec is None else spec for leaf, spec in zip(leaves, specs)])
    return graph


def _spec(leaf: Any, shape: Any) -> TensorSpec | None:
    if not isinstance(leaf, (TensorSpec, Tensor)):
        return None
    return TensorSpec(leaf.shape if shape is None else shape, leaf.dtype, leaf.name if isinstance(leaf, TensorSpec) else None)


def _converted(function: Callable, options: Any) -> Callable:
    from jitgraph.autograph.conversion import call_converted
    from jitgraph.autograph.features import Options

    return lambda *args, **kwargs: call_converted(function, Options.of(options), args, kwargs)


def maybe_captured(tensor: Tensor) -> Tensor:
    """What a tensor inside a function stands for outside, or itself."""
    graph = tensor.graph
    if tensor.op.type == "Placeholder" and isinstance(graph, FunctionGraph):
        for outer, inner in graph.captures.items():
            if inner is tensor:
                return maybe_captured(outer)
    return tensor


def flatten(sequence: Any) -> list:
    """The parts of a structure, those of sparse and ragged tensors too."""
    return nest.flatten(sequence, expand_composites=True)


def pack_sequence_as(structure: Any, flat_sequence: Any) -> Any:
    """The structure of a list of its parts."""
    return nest.pack_sequence_as(structure, flat_sequence, expand_composites=True)


def convert_variables_to_constants_v2(func: Any, lower_control_flow: bool = True) -> Any:
    """A concrete function without variables as one of a graph of its own.

    Raises NotImplementedError for one with variables, whose values a session has: freeze the graph of the session.
    """
    if func.graph.captures:
        raise NotImplementedError("The function has variables, whose values are in a session: build the graph outside of "
                                  "tf.function, and write tf.graph_util.convert_variables_to_constants(session, graph_def, names)")
    return function_from_graph_def(func.graph.as_graph_def(), [tensor.name for tensor in func.graph.inputs],
                                   [tensor.name for tensor in func.graph.outputs])
