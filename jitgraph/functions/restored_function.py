"""A ``tf.function`` that was loaded: it has the functions that were stored with it, and no Python function behind them."""
from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from jitgraph.functions.concrete_function import ConcreteFunction
from jitgraph.functions.graph_function import Function
from jitgraph.functions.stored_function import StoredFunction
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import TensorSpec, TypeSpec
from jitgraph.variables.variable import Variable


class RestoredFunction(Function):
    """Calls the first of the stored functions that takes the arguments; Python values become tensors if none takes them as they
    are.

    `arguments`: an inspect.FullArgSpec, without the instance of a method.
    """

    def __init__(self, name: str, arguments: Any, input_signature: Any, stored: list[StoredFunction]):
        def restored(*args: Any, **kwargs: Any) -> Any:
            return self(*args, **kwargs)

        vars(restored)["__signature__"] = _signature(arguments)
        super().__init__(restored, name, input_signature)
        self._stored = stored
        self._defaults = dict(arguments.kwonlydefaults or {})

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """The function itself: it has been bound already."""
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results, of a node that calls a stored function.  Raises ValueError if none takes these arguments."""
        function, given = self._fitting(self._canonical(args, kwargs))
        leaves = nest.flatten_up_to(function.structured_input_signature, given)
        specs = nest.flatten(function.structured_input_signature)
        tensors: list[Tensor] = []
        for leaf, spec in zip(leaves, specs):
            if isinstance(spec, TensorSpec):
                tensors.append(_hinted(leaf, spec.dtype))
            elif isinstance(spec, TypeSpec):
                tensors.extend(nest.flatten(leaf, expand_composites=True))
        result = function._call(tensors)
        return None if isinstance(result, Operation) else result

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The stored function for arguments like these: values, or TensorSpecs; by default those stated."""
        if not args and not kwargs and self._input_signature is not None:
            args = tuple(self._input_signature)
        return self._fitting(self._canonical(args, kwargs))[0]

    def concrete_functions(self) -> list[ConcreteFunction]:
        """The stored functions."""
        return list(self._stored)

    def _fitting(self, given: tuple[tuple, dict]) -> tuple[StoredFunction, tuple[tuple, dict]]:
        """The function that takes the arguments, and they: TensorFlow 2 stores defaults of arguments by name with functions."""
        complete = given[0], {**self._defaults, **given[1]}
        for converts in (False, True):
            for function in self._stored:
                for arguments in (given, complete):
                    if _takes(function.structured_input_signature, arguments, converts):
                        return function, arguments
        options = [f"Option {number}:\n  {_shown(positional)}\n  Keyword arguments: {keyword}" for number, (positional, keyword)
                   in enumerate([function.structured_input_signature for function in self._stored], 1)]
        raise ValueError("Could not find matching function to call loaded from the SavedModel. Got:\n  "
                         f"{_shown(given[0])}\n  Keyword arguments: {given[1]}\n\nExpected these arguments to match one of the "
                         f"following {len(options)} option(s):\n\n" + "\n\n".join(options))


def _shown(positional: tuple) -> str:
    return f"Positional arguments ({len(positional)} total):\n    * " + "\n    * ".join(map(str, positional))


def _signature(arguments: Any) -> inspect.Signature:
    """The signature that an inspect.FullArgSpec states."""
    defaults = list(arguments.defaults or ())
    without = len(arguments.args) - len(defaults)
    values = [inspect.Parameter.empty] * without + defaults
    found = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value)
             for name, value in zip(arguments.args, values)]
    if arguments.varargs:
        found.append(inspect.Parameter(arguments.varargs, inspect.Parameter.VAR_POSITIONAL))
    of_keywords = arguments.kwonlydefaults or {}
    found += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=of_keywords.get(name, inspect.Parameter.empty))
              for name in arguments.kwonlyargs or ()]
    if arguments.varkw:
        found.append(inspect.Parameter(arguments.varkw, inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(found)


def _takes(expected: Any, given: tuple, converts: bool) -> bool:
    """Whether a function of the arguments `expected` takes `given`."""
    try:
        leaves = nest.flatten_up_to(expected, given)
        nest.assert_same_structure(given, nest.pack_sequence_as(expected, leaves), check_types=False)
    except (TypeError, ValueError):
        return False
    return all(_fits(spec, leaf, converts) for spec, leaf in zip(nest.flatten(expected), leaves))


def _fits(spec: Any, value: Any, converts: bool) -> bool:
    if isinstance(spec, TensorSpec):
        if converts and not isinstance(value, (Tensor, Variable, TensorSpec)):
            value = _converted(value, spec.dtype)
        return isinstance(value, (Tensor, Variable, TensorSpec)) and value.dtype.base_dtype == spec.dtype \
            and spec.shape.is_compatible_with(value.shape)
    if isinstance(spec, TypeSpec):
        return spec.is_compatible_with(value)
    return not isinstance(value, (Tensor, Variable, np.ndarray)) and value == spec


def _converted(value: Any, dtype: Any) -> Tensor | None:
    """What a value is as a tensor, in a graph of no use; None if it cannot be one."""
    try:
        with Graph().as_default():
            return _hinted(value, dtype)
    except (TypeError, ValueError):
        return None


def _hinted(value: Any, dtype: Any) -> Tensor:
    """A value as a tensor, of this dtype if it can be."""
    try:
        return convert_to_tensor(value, dtype)
    except (TypeError, ValueError):
        return convert_to_tensor(value)
