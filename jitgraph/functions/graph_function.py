"""``tf.function``: a Python function whose calls are PartitionedCall nodes."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.app.configuration import functions_run_eagerly
from jitgraph.control.functional_ops import make_call
from jitgraph.functions.tracing import Traced
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import TensorSpec, type_spec_from_value


class ConcreteFunction:
    """A function of tensors of known dtypes, ``graph`` its graph; calling it makes a node.

    ``inputs`` and ``outputs`` are tensors of its graph; ``structured_outputs`` is what the Python function returned.
    """

    def __init__(self, owner: Function, structure: tuple, leaves: list):
        self._owner, self._structure, self._leaves = owner, structure, leaves
        self._specs = [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]
        self._traced = self._trace()
        self._unused: Traced | None = self._traced

    def _trace(self) -> Traced:
        arguments = [(spec.dtype, None if spec.shape.ndims is None else tuple(spec.shape.as_list()), spec.name or "args")
                     for spec in self._specs]

        def call(given: list[Tensor]) -> Any:
            rest = iter(given)
            args, kwargs = nest.pack_sequence_as(self._structure, [
                next(rest) if isinstance(leaf, TensorSpec) else leaf for leaf in self._leaves], expand_composites=True)
            return self._owner.called(args, kwargs)

        return Traced(f"__inference_{self._owner.__name__}", arguments, call, ordered=True)

    @property
    def graph(self) -> Any:
        """The graph of the function."""
        return self._traced.graph

    @property
    def name(self) -> bytes:
        """The name of the function."""
        return self.graph.name.encode()

    @property
    def inputs(self) -> list[Tensor]:
        """What stands for the arguments, and for what the function takes from around it."""
        return self.graph.inputs

    @property
    def outputs(self) -> list[Tensor]:
        """The results, one list."""
        return self.graph.outputs

    @property
    def captured_inputs(self) -> list[Tensor]:
        """What the function takes from around it."""
        return list(self.graph.captures)

    @property
    def structured_outputs(self) -> Any:
        """The results, as the Python function returned them."""
        return self._traced.packed(self._traced.results, None)

    @property
    def structured_input_signature(self) -> tuple[tuple, dict]:
        """The arguments, TensorSpecs in the place of tensors."""
        return nest.map_structure(lambda leaf: type_spec_from_value(leaf) if nest.is_composite(leaf) else _spec_of(leaf, None),
                                  self._structure)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the results."""
        return nest.map_structure(lambda tensor: tensor.dtype, self.structured_outputs)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the results."""
        return nest.map_structure(lambda tensor: tensor.shape, self.structured_outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results for these tensors, given by position or by the names of the arguments."""
        given = list(args)
        for spec in self._specs[len(args):]:
            if spec.name not in kwargs:
                raise TypeError(f"Expected argument names {[one.name for one in self._specs]} but got values for "
                                f"{list(kwargs)}. Missing: {[spec.name]}.")
            given.append(kwargs.pop(spec.name))
        if len(given) > len(self._specs) or kwargs:
            raise TypeError(f"Expected at most {len(self._specs)} positional arguments (and keywords "
                            f"{[one.name for one in self._specs]}), got {len(args)} and {list(kwargs)}.")
        return self._call([convert_to_tensor(value, spec.dtype) for value, spec in zip(given, self._specs)])

    def _call(self, tensors: list[Tensor]) -> Any:
        """A node; each has a graph of its own, since gradients add to the function that they are taken of."""
        traced, self._unused = self._unused, None
        traced = self._trace() if traced is None else traced
        node = make_call(traced.graph, None, tensors)
        return traced.packed(list(node.outputs), node)


class Function:
    """What ``tf.function`` makes of a Python function: calling it makes a node that calls the function."""

    def __init__(self, python_function: Callable, name: str, input_signature: Any = None, autograph: Any = None):
        self._python_function = python_function
        self._autograph = autograph
        self.__name__ = name
        self._input_signature = input_signature
        self._concrete: dict[Any, ConcreteFunction] = {}
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
                                  self._autograph)
        return kept[self]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results, of a node that calls the function: tensors and arrays are its arguments, other things are constants."""
        if functions_run_eagerly():
            return self._python_function(*args, **kwargs)
        args, kwargs = self._canonical(args, kwargs)
        concrete = self.get_concrete_function(*args, **kwargs)
        leaves = nest.flatten((args, kwargs), expand_composites=True)
        return concrete._call([convert_to_tensor(leaf) for leaf in leaves if isinstance(leaf, (Tensor, np.ndarray))])

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for arguments like these: values, or TensorSpecs in the place of tensors; by default those stated."""
        if not args and not kwargs and self._input_signature is not None:
            args = tuple(self._input_signature)
        args, kwargs = self._canonical(args, kwargs)
        values = nest.flatten((args, kwargs), expand_composites=True)
        leaves = [_spec_of(leaf, name) for leaf, name in zip(values, self._argument_names(args, kwargs))]
        kinds = repr(nest.map_structure(lambda leaf: type(leaf).__name__ if nest.is_composite(leaf) else "", (args, kwargs)))
        key = (get_default_graph(), kinds, tuple(map(_key, leaves)))
        found = self._concrete.get(key)
        if found is None:
            found = self._concrete[key] = ConcreteFunction(self, (args, kwargs), leaves)
        return found

    def _canonical(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """The arguments by position, as far as they have one, with defaults; tensors where a signature wants them."""
        try:
            bound = inspect.signature(self._python_function).bind(*args, **kwargs)
        except ValueError:
            return args, kwargs
        if self._input_signature is None:
            bound.apply_defaults()
            return bound.args, bound.kwargs
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
            raise ValueError(f"Python inputs incompatible with input_signature:\n  inputs: {args}\n  input_signature: "
                             f"{self._input_signature}")
        return tuple(nest.pack_sequence_as(signature, values))

    def _argument_names(self, args: tuple, kwargs: dict) -> list[str]:
        try:
            known = list(inspect.signature(self._python_function).parameters)
        except ValueError:
            known = []
        parts = [(known[k] if k < len(known) else f"arg{k}", value) for k, value in enumerate(args)]
        parts += sorted(kwargs.items())
        return [name for name, value in parts for _ in nest.flatten(value, expand_composites=True)]


def _spec_of(leaf: Any, name: str | None) -> Any:
    if isinstance(leaf, TensorSpec):
        return leaf if leaf.name else TensorSpec.from_spec(leaf, name)
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf.shape, leaf.dtype.base_dtype, name)
    return TensorSpec(leaf.shape, leaf.dtype, name) if isinstance(leaf, np.ndarray) else leaf


def _key(leaf: Any) -> Any:
    if isinstance(leaf, (TensorSpec, bool, int, float, complex, str, bytes, type(None))):
        return type(leaf), leaf
    return id(leaf)


def function(func: Callable | None = None, input_signature: Any = None, autograph: bool = True,
             experimental_autograph_options: Any = None, experimental_relax_shapes: bool = False,
             experimental_compile: Any = None) -> Any:
    """Makes of a Python function one that is a function of the graph; without `func`, a decorator.

    Each call makes a PartitionedCall, or a StatefulPartitionedCall if the function reads or changes more than its arguments.
    What writes to variables inside does so in the order of the program.  `input_signature`: TensorSpecs of the arguments.
    `autograph`: Python's ifs and loops over tensors become conditionals and loops of the graph, in the functions that it calls
    too; `experimental_autograph_options`: one or several of ``tf.autograph.experimental.Feature``.  The Python function is called
    for each node.
    """
    if func is None:
        return functools.partial(function, input_signature=input_signature, autograph=autograph,
                                 experimental_autograph_options=experimental_autograph_options)
    if input_signature is not None and not isinstance(input_signature, (tuple, list)):
        raise TypeError(f"input_signature must be either a tuple or a list, received {type(input_signature)}")
    options = None
    if autograph:
        from jitgraph.autograph.features import Options

        options = Options.of(experimental_autograph_options)
    return Function(func, getattr(func, "__name__", "function"), input_signature, options)


def defun(func: Callable | None = None, input_signature: Any = None, autograph: bool = True,
          experimental_autograph_options: Any = None, experimental_relax_shapes: bool = False) -> Any:
    """``function``, by its older name."""
    return function(func, input_signature, autograph, experimental_autograph_options)
