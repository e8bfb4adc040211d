"""Signatures of saved objects: functions of tensors under names that give tensors under names."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jitgraph.control.functional_ops import make_call
from jitgraph.functions.concrete_function import ConcreteFunction, packed
from jitgraph.functions.graph_function import Function
from jitgraph.functions.tracing import Traced
from jitgraph.graph import structures as nest
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import TensorSpec
from jitgraph.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

ATTRIBUTE = "signatures"        # of a loaded object


class SignatureMap(Mapping):
    """{name: function} of a model.  It does not change."""

    _checkpoint_dependencies: tuple = ()

    def __init__(self, functions: Mapping[str, ConcreteFunction] | None = None):
        self._functions = dict(functions or {})

    def _add_signature(self, name: str, function: ConcreteFunction) -> None:
        self._functions[name] = function

    def __getitem__(self, key: str) -> ConcreteFunction:
        return self._functions[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._functions})"


class SignatureFunction(ConcreteFunction):
    """What calls a function of tensors by their names, and names the results.

    `graph` is a graph of the function for this call alone; `key` names the signature in messages.
    """

    def __init__(self, function: ConcreteFunction, graph: Any, key: str):
        count = len(function._keywords)
        self._keywords = list(function._keywords)
        self._positional = 1 if count == 1 else 0      # names have no order, one argument needs none
        arguments = [(tensor.dtype, tensor._shape, keyword) for keyword, tensor in zip(self._keywords, graph.inputs)]

        def call(given: list[Tensor]) -> Any:
            results = packed(function.structured_outputs, make_call(graph, None, given).outputs)
            return named_results(results, function.name.decode(), key)

        self._traced = Traced("__inference_signature_wrapper", arguments, call, ordered=True)
        self._specs = {keyword: TensorSpec(tensor.shape, tensor.dtype, keyword)
                       for keyword, tensor in zip(self._keywords, graph.inputs)}

    @property
    def graph(self) -> Any:
        """The graph of the function."""
        return self._traced.graph

    @property
    def structured_outputs(self) -> dict[str, Tensor]:
        """The results by name."""
        return self._traced.structure

    @property
    def structured_input_signature(self) -> tuple[tuple, dict]:
        """The arguments: TensorSpecs by name."""
        return (), dict(self._specs)

    def exported_graph(self) -> Any:
        """The graph of the function, which nobody adds to."""
        return self.graph


def concrete_signature(function: Any) -> ConcreteFunction | None:
    """The function of a signature; None for what cannot be one."""
    if isinstance(function, Function) and function.input_signature is not None:
        function = function.get_concrete_function()
    return function if isinstance(function, ConcreteFunction) else None


def by_key(signatures: Any) -> dict[str, ConcreteFunction]:
    """{key: function} of what a program gives as signatures: one function, or several by their keys.

    Raises ValueError for what is neither a concrete function nor a ``tf.function`` with an input signature.
    """
    if signatures is None:
        return {}
    if not isinstance(signatures, Mapping):
        signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    found = {}
    for key, function in signatures.items():
        concrete = concrete_signature(function)
        if concrete is None:
            raise ValueError(f"Expected a TensorFlow function to generate a signature for, but got {function}. Only `tf.functions` "
                             "with an input signature or concrete functions can be used as a signature.")
        found[key] = concrete
    return found


def function_to_export(functions: Mapping[str, Any]) -> ConcreteFunction | None:
    """The only one of the functions that can be a signature; None if there are none or several."""
    candidates = [concrete for concrete in map(concrete_signature, functions.values()) if concrete is not None and _fits(concrete)]
    return candidates[0] if len(candidates) == 1 else None


def _fits(function: ConcreteFunction) -> bool:
    if not function.outputs:
        return False
    try:
        named_results(function.structured_outputs, "unused", "unused")
    except ValueError:
        return False
    return True


def named_results(results: Any, function_name: str, key: str) -> dict[str, Any]:
    """The results under names: their own, or output_0 and so on.

    Raises ValueError for a dict of other values than tensors, and for lists within lists.
    """
    if isinstance(results, Mapping):
        for name, value in results.items():
            if not isinstance(value, (Tensor, TensorSpec)):
                raise ValueError(f"Got a dictionary containing non-Tensor value {value} for key {name} in the output of the "
                                 f"function {function_name} used to generate a SavedModel signature. Dictionaries outputs for "
                                 "functions used as signatures should have one Tensor output per string key.")
        return dict(results)
    parts = list(results) if isinstance(results, Sequence) else [results]
    if any(nest.is_nested(part) for part in parts):
        raise ValueError(f"Got non-flat outputs '{results}' from '{function_name}' for SavedModel signature '{key}'. Signatures "
                         "have one Tensor per output, so to have predictable names Python functions used to generate these "
                         "signatures should avoid outputting Tensors in nested structures.")
    return {f"output_{number}": part for number, part in enumerate(parts)}
