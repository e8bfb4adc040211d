"""``tf.function``: a Python function whose calls are PartitionedCall nodes."""
from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.app.configuration import functions_run_eagerly
from jitgraph.control.functional_ops import make_call
from jitgraph.functions.concrete_function import ConcreteFunction
from jitgraph.functions.duplicate import duplicate, reaches
from jitgraph.functions.tracing import Traced
from jitgraph.graph import structures as nest
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import DType
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import TensorSpec, TypeSpec, type_spec_from_value
from jitgraph.variables.creators import creator_scope

_TENSORS = (Tensor, np.ndarray)
_STORED = (int, float, bool, type(None), DType, TypeSpec)       # the arguments that files can state


class TracedFunction(ConcreteFunction):
    """A Python function, called once, for arguments of known dtypes and shapes; ``graph`` is its graph, of which each node that
    calls it has a copy."""

    def __init__(self, owner: Function, structure: tuple, leaves: list, creator: Callable | None = None):
        self._owner, self._structure, self._leaves, self._creator = owner, structure, leaves, creator
        self._specs = [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]
        self._keywords = _all_different([spec.name or "args" for spec in self._specs])
        self._positional = len(self._specs)
        arguments = [(spec.dtype, None if spec.shape.ndims is None else tuple(spec.shape.as_list()), spec.name or "args")
                     for spec in self._specs]
        self._traced = Traced(f"__inference_{owner.__name__}", arguments, self._result, ordered=True)

    def _result(self, given: list[Tensor]) -> Any:
        rest = iter(given)
        args, kwargs = nest.pack_sequence_as(self._structure, [
            next(rest) if isinstance(leaf, TensorSpec) else leaf for leaf in self._leaves], expand_composites=True)
        with contextlib.ExitStack() as scopes:
            if self._creator is not None:
                graph = get_default_graph()
                for one in (graph, getattr(graph, "_root", graph)):      # tf.get_variable makes its variables in the latter
                    scopes.enter_context(creator_scope(self._creator, graph=one))
            return self._owner.called(args, kwargs)

    def exported_graph(self) -> Any:
        """The graph of the function: no gradient adds to it."""
        return self._traced.graph

    @property
    def graph(self) -> Any:
        """The graph of the function."""
        return self._traced.graph

    @property
    def structured_outputs(self) -> Any:
        """The results, as the Python function returned them."""
        return self._traced.structure

    @property
    def structured_input_signature(self) -> tuple[tuple, dict]:
        """The arguments, TensorSpecs in the place of tensors, of the names of the arguments and their parts."""
        args, kwargs = self._structure
        names = self._owner.parameters(args)
        paths = [(names[path[0]], *path[1:]) for path in nest.paths(args)] + nest.paths(kwargs)
        specs = [_named_spec(leaf, path) for leaf, path in zip(nest.flatten(self._structure), paths)]
        return nest.pack_sequence_as(self._structure, specs)

    def _call(self, tensors: list[Tensor]) -> Any:
        """A node; each has a graph of its own, since gradients add to the function that they are taken of."""
        node = make_call(duplicate(self._traced.graph, get_default_graph(), tensors), None, tensors)
        return self._traced.packed(list(node.outputs), node)


class Function:
    """What ``tf.function`` makes of a Python function: calling it makes a node that calls the function.

    `relaxes`: whether the second shape of an argument of some rank makes a function for all sizes that differ; `creates_once`:
    whether variables may be made in the first call alone, which calls the Python function twice then.
    """

    def __init__(self, python_function: Callable, name: str, input_signature: Any = None, autograph: Any = None,
                 relaxes: bool = False, creates_once: bool = False):
        self._python_function = python_function
        self._autograph = autograph
        self.__name__ = name
        self._input_signature = input_signature
        self._relaxes, self._creates_once = relaxes, creates_once
        self._is_new = True                 # whether nothing has been traced yet
        self._concrete: dict[Any, TracedFunction] = {}
        self._relaxed: dict[Any, TracedFunction] = {}
        functools.update_wrapper(self, python_function, updated=())

    @property
    def python_function(self) -> Callable:
        """The Python function."""
        return self._python_function

    def called(self, args: tuple, kwargs: dict) -> Any:
        """What the Python function returns, rewritten by autograph unless it is not to be."""
        if self._autograph is None:
            return self._python_function(*args, **kwargs)
        from jitgraph.autograph.conversion import call_converted

        return call_converted(self._python_function, self._autograph, args, kwargs)

    @property
    def input_signature(self) -> Any:
        """The TensorSpecs of the arguments, None if they may be of any kind."""
        return self._input_signature

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """The function of an instance: a method."""
        if instance is None:
            return self
        kept = instance.__dict__.setdefault("_graph_functions", {})
        if self not in kept:
            kept[self] = Function(functools.partial(self._python_function, instance), self.__name__, self._input_signature,
                                  self._autograph, self._relaxes, self._creates_once)
        return kept[self]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results, of a node that calls the function: tensors and arrays are its arguments, other things are constants."""
        if functions_run_eagerly():
            return self._python_function(*args, **kwargs)
        args, kwargs = self._canonical(args, kwargs)
        concrete = self.get_concrete_function(*args, **kwargs)
        leaves = nest.flatten((args, kwargs), expand_composites=True)
        return concrete._call([convert_to_tensor(leaf) for leaf in leaves if isinstance(leaf, _TENSORS)])

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for arguments like these: values, or TensorSpecs in the place of tensors; by default those stated."""
        if not args and not kwargs and self._input_signature is not None:
            args = tuple(self._input_signature)
        args, kwargs = self._canonical(args, kwargs)
        stated = (args, kwargs) if self._input_signature is None else (tuple(self._input_signature), {})
        leaves = [_spec_of(leaf, name) for leaf, name in zip(
            nest.flatten(stated, expand_composites=True), self._argument_names(args, kwargs))]
        kinds = repr(nest.map_structure(lambda leaf: type(leaf).__name__ if nest.is_composite(leaf) else "", (args, kwargs)))
        context = getattr(get_default_graph(), "_root", get_default_graph()), kinds
        found = self._concrete.get((*context, *map(_key, leaves)))
        if found is None or not reaches(get_default_graph(), found.graph):
            found = self._traced((args, kwargs), leaves, context)
        return found

    def _traced(self, structure: tuple, leaves: list, context: tuple) -> TracedFunction:
        """A new function for arguments like these, or with relaxed shapes one that takes these too."""
        if self._relaxes and self._input_signature is None and any(root is context[0] for root, *_ in self._concrete):
            return self._with_relaxed_shapes(structure, leaves, context)
        created: list[Any] = []

        def creator(next_creator: Callable, **kwargs: Any) -> Any:
            if not self._is_new:
                raise ValueError(f"tf.function-decorated function tried to create variables on non-first call, in {self.__name__}: "
                                 "make them outside, or once, where an attribute of an object is still None.")
            created.append(None)
            variable = next_creator(**kwargs)
            # as in TensorFlow, which has it trainable, but not among those that optimizers find by themselves
            trainable = get_default_graph().get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
            trainable[:] = [one for one in trainable if one is not variable]
            return variable

        asked = creator if self._creates_once else None
        made = TracedFunction(self, structure, leaves, asked)
        self._is_new = False
        if created:
            made = TracedFunction(self, structure, leaves, asked)       # in which what was made is there
        self._concrete[(*context, *map(_key, leaves))] = made
        return made

    def _with_relaxed_shapes(self, structure: tuple, leaves: list, context: tuple) -> TracedFunction:
        key = (*context, *(_rank_key(leaf) for leaf in leaves))
        known = self._relaxed.get(key)
        if known is not None:
            if all(one.is_compatible_with(mine) for one, mine in zip(known._leaves, leaves) if isinstance(mine, TensorSpec)) \
                    and reaches(get_default_graph(), known.graph):
                return known
            leaves = [_common_spec(one, mine) for one, mine in zip(known._leaves, leaves)]
        found = self._relaxed[key] = TracedFunction(self, structure, leaves)
        return found

    def concrete_functions(self) -> list[ConcreteFunction]:
        """The functions for all arguments that there were so far, each as a function of the default graph; those with arguments
        that are neither tensors nor numbers are left out."""
        if self._input_signature is not None:
            self.get_concrete_function()
        found: list[tuple[Any, TracedFunction]] = []
        for concrete in [*self._concrete.values(), *self._relaxed.values()]:
            signature = concrete.structured_input_signature
            if not all(isinstance(leaf, _STORED) for leaf in nest.flatten(signature)):
                logs.info("Unsupported signature for serialization: %s.", signature)
            elif all(signature != other for other, _ in found):
                found.append((signature, concrete))
        graph = get_default_graph()
        return [concrete if concrete.graph._root is graph and reaches(graph, concrete.graph)
                else self.get_concrete_function(*args, **kwargs) for (args, kwargs), concrete in found]

    @property
    def full_argument_spec(self) -> tuple:
        """What `inspect.getfullargspec` gives, less annotations, and less the instance of a method."""
        parameters = inspect.signature(self._python_function).parameters.values()
        plain = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        only = [one for one in parameters if one.kind is one.KEYWORD_ONLY]
        rest, others = (next((one.name for one in parameters if one.kind is kind), None)
                        for kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD))
        defaults = tuple(one.default for one in plain if one.default is not one.empty)
        of_keywords = {one.name: one.default for one in only if one.default is not one.empty}
        return inspect.FullArgSpec([one.name for one in plain], rest, others, defaults or None, [one.name for one in only],
                                   of_keywords or None, {})

    def _canonical(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """The arguments by position, as far as they have one, with defaults; tensors where a signature wants them."""
        try:
            bound = inspect.signature(self._python_function).bind(*args, **kwargs)
        except ValueError:
            return args, kwargs
        if self._input_signature is None:
            parameters = bound.signature.parameters
            named = {name: value for name, value in bound.kwargs.items()
                     if name not in parameters or parameters[name].kind is inspect.Parameter.KEYWORD_ONLY}
            bound.apply_defaults()      # of arguments by position; those by name stay the Python function's own matter
            return bound.args, named
        if bound.kwargs:
            raise ValueError("Cannot define a TensorFlow function from a Python function with keyword arguments when "
                             "input_signature is provided.")
        return self._checked(bound.args), {}

    def _checked(self, args: tuple) -> tuple:
        signature = list(self._input_signature)
        specs = nest.flatten(signature)
        if len(args) == len(signature):
            values = [value if isinstance(value, (Tensor, TensorSpec)) else convert_to_tensor(value, spec.dtype)
                      for value, spec in zip(nest.flatten_up_to(signature, list(args)), specs)]
        if len(args) != len(signature) or not all(map(TensorSpec.is_compatible_with, specs, values)):
            lines = [",\n    ".join(map(str, given)) for given in (args, signature)]
            raise ValueError(f"Python inputs incompatible with input_signature:\n  inputs: (\n    {lines[0]})\n"
                             f"  input_signature: (\n    {lines[1]})")
        return tuple(nest.pack_sequence_as(signature, values))

    def parameters(self, args: tuple) -> list[str]:
        """The name of each argument that is given by position."""
        try:
            parameters = list(inspect.signature(self._python_function).parameters.values())
        except ValueError:
            parameters = []
        plain = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        rest = next((f"{one.name}_" for one in parameters if one.kind is one.VAR_POSITIONAL), "arg")
        return plain[:len(args)] + [f"{rest}{k}" for k in range(len(args) - len(plain))]

    def _argument_names(self, args: tuple, kwargs: dict) -> list[str]:
        parts = [*zip(self.parameters(args), args), *sorted(kwargs.items())]
        return [name for name, value in parts for _ in nest.flatten(value, expand_composites=True)]


def _spec_of(leaf: Any, name: str | None) -> Any:
    if isinstance(leaf, TensorSpec):
        return leaf if leaf.name else TensorSpec.from_spec(leaf, name)
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf.shape, leaf.dtype.base_dtype, name)
    return TensorSpec(leaf.shape, leaf.dtype, name) if isinstance(leaf, np.ndarray) else leaf


def _named_spec(leaf: Any, path: tuple) -> Any:
    """The spec of an argument, or of a part of one; a name of the user's own is kept."""
    if nest.is_composite(leaf):
        return type_spec_from_value(leaf)
    spec = _spec_of(leaf, path[0])
    if not isinstance(spec, TensorSpec) or spec.name != path[0]:
        return spec
    return TensorSpec(spec.shape, spec.dtype, "/".join(map(str, path)))


def _all_different(names: list[str]) -> list[str]:
    """The names, numbered where one is there several times."""
    found: list[str] = []
    counts: dict[str, int] = {}
    for name in names:
        candidate = name
        while candidate in found:
            counts[name] = counts.get(name, 0) + 1
            candidate = f"{name}_{counts[name]}"
        found.append(candidate)
    return found


def _key(leaf: Any) -> Any:
    """What tells arguments apart: dtype and shape of tensors, the values of others.  Raises ValueError if these have no hash."""
    try:
        hash(leaf)
    except TypeError as error:
        raise ValueError("Arguments to a tf.function must be a nested structure of Tensors, Variables, NumPy arrays, or hashable "
                         f"Python objects, got: {leaf!r} ({error})") from None
    return leaf


def _rank_key(leaf: Any) -> Any:
    return (leaf.dtype, leaf.shape.ndims) if isinstance(leaf, TensorSpec) else _key(leaf)


def _common_spec(one: Any, other: Any) -> Any:
    """A spec of the shapes of both; what is no tensor is the same in both."""
    if not isinstance(other, TensorSpec) or one.shape.ndims is None:
        return one
    sizes = [a if a == b else None for a, b in zip(one.shape.as_list(), other.shape.as_list())]
    return TensorSpec(sizes, one.dtype, one.name)


def function(func: Callable | None = None, input_signature: Any = None, autograph: bool = True,
             experimental_autograph_options: Any = None, experimental_relax_shapes: bool = False,
             experimental_compile: Any = None) -> Any:
    """Makes of a Python function one that is a function of the graph; without `func`, a decorator.

    Each call makes a PartitionedCall, or a StatefulPartitionedCall if the function reads or changes more than its arguments.
    What writes to variables inside does so in the order of the program.  `input_signature`: TensorSpecs of the arguments.
    `autograph`: Python's ifs and loops over tensors become conditionals and loops of the graph, in the functions that it calls
    too; `experimental_autograph_options`: one or several of ``tf.autograph.experimental.Feature``.

    The Python function is called once for each graph, dtypes and shapes of tensors and arrays, and values of other arguments; with
    `experimental_relax_shapes` not for each size of a dimension.  Variables may be made in the first call alone, and it is called
    twice then; later a ValueError is raised.
    """
    return _made(func, function, input_signature, autograph, experimental_autograph_options, experimental_relax_shapes)


def _made(func: Any, maker: Callable, input_signature: Any, autograph: bool, experimental_autograph_options: Any,
          experimental_relax_shapes: bool) -> Any:
    if func is None:
        return functools.partial(maker, input_signature=input_signature, autograph=autograph,
                                 experimental_autograph_options=experimental_autograph_options,
                                 experimental_relax_shapes=experimental_relax_shapes)
    if input_signature is not None and not isinstance(input_signature, (tuple, list)):
        raise TypeError(f"input_signature must be either a tuple or a list, received {type(input_signature)}")
    options = None
    if autograph:
        from jitgraph.autograph.features import Options

        options = Options.of(experimental_autograph_options)
    return Function(func, getattr(func, "__name__", "function"), input_signature, options, experimental_relax_shapes,
                    creates_once=maker is function)


def defun(func: Callable | None = None, input_signature: Any = None, autograph: bool = True,
          experimental_autograph_options: Any = None, experimental_relax_shapes: bool = False) -> Any:
    """As ``function``, but variables may be made whenever the Python function is called."""
    return _made(func, defun, input_signature, autograph, experimental_autograph_options, experimental_relax_shapes)
