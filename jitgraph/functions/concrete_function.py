"""Functions of tensors of known dtypes: what those that are traced, wrapped and loaded have in common."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import TypeSpec


class ConcreteFunction:
    """A function of tensors of known dtypes, ``graph`` its graph; calling it makes a node.

    ``inputs`` and ``outputs`` are tensors of its graph; ``structured_outputs`` is what the Python function returned.
    """

    _keywords: list[str]            # the names of the arguments
    _positional: int                # how many of them may be given by position

    @property
    def graph(self) -> Any:
        """The graph of the function."""
        raise NotImplementedError

    @property
    def structured_outputs(self) -> Any:
        """The results, as the Python function returned them."""
        raise NotImplementedError

    @property
    def structured_input_signature(self) -> tuple[tuple, dict] | None:
        """The arguments, TensorSpecs in the place of tensors; None if they are not known."""
        raise NotImplementedError

    def _call(self, tensors: list[Tensor]) -> Any:
        """The results of a node that calls the function."""
        raise NotImplementedError

    def exported_graph(self) -> Any:
        """A graph of the function that no gradient has added to: what files state."""
        raise NotImplementedError

    def as_function_graph(self) -> Any:
        """What an attribute of a node that is this function holds."""
        return self.graph

    def call_by(self, keywords: list[str], positional: int) -> None:
        """Sets the names of the arguments, and how many of them may be given by position."""
        self._keywords, self._positional = keywords, positional

    @property
    def name(self) -> bytes:
        """The name of the function."""
        return str(self.graph.name).encode()

    @property
    def inputs(self) -> list[Tensor]:
        """What stands for the arguments, and for what the function takes from around it."""
        return list(self.graph.inputs)

    @property
    def outputs(self) -> list[Tensor]:
        """The results, one list."""
        return list(self.graph.outputs)

    @property
    def captured_inputs(self) -> list[Tensor]:
        """What the function takes from around it."""
        return list(self.graph.captures)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the results."""
        return nest.map_structure(lambda tensor: None if tensor is None else tensor.dtype, self.structured_outputs)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the results."""
        return nest.map_structure(lambda tensor: getattr(tensor, "shape", TensorShape(None)), self.structured_outputs)

    def add_to_graph(self, g: Any = None) -> None:
        """Nothing: each node has its function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results for these tensors, given by position or by the names of the arguments.

        Raises TypeError for other arguments than there are, ValueError if a shape does not fit.
        """
        keywords = self._keywords
        if len(args) > self._positional:
            raise TypeError(f"Expected at most {self._positional} positional arguments (and the rest keywords, of {keywords}), got "
                            f"{args}. When calling a concrete function, positional arguments may not be bound to Tensors within "
                            "nested structures.")
        given = list(args)
        for keyword in keywords[len(args):]:
            if keyword not in kwargs:
                known = [*keywords[:len(given)], *kwargs]
                raise TypeError(f"Expected argument names {keywords} but got values for {known}. Missing: "
                                f"{[name for name in keywords if name not in known]}.")
            given.append(kwargs.pop(keyword))
        for name in kwargs:
            if name in keywords:
                raise TypeError(f"Got two values for keyword '{name}'.")
            raise TypeError(f"Keyword arguments {list(kwargs)} unknown. Expected {keywords}.")
        return self._call(self._arguments(given))

    def _arguments(self, values: Sequence[Any]) -> list[Tensor]:
        """The values as tensors.  Raises ValueError if one cannot be the argument of its place."""
        tensors = []
        for place, (value, inner) in enumerate(zip(values, self.inputs)):
            tensor = convert_to_tensor(value, None if isinstance(value, Tensor) else inner.dtype)
            if not inner.shape.is_compatible_with(tensor.shape):
                which = f"'{self._keywords[place]}'" if self._keywords else f"with index {place}"
                raise ValueError(f"The argument {which} (value {value}) is not compatible with the shape this function was traced "
                                 f"with. Expected shape {inner.shape}, but got shape {tensor.shape}.\n\nIf you called "
                                 "get_concrete_function, you may need to pass a tf.TensorSpec(..., shape=...) with a less specific "
                                 "shape, having None on axes which can vary.")
            tensors.append(tensor)
        return tensors


def packed(structure: Any, tensors: Sequence[Tensor]) -> Any:
    """`structure` with tensors in the place of its tensors and specs; Nones stay."""
    rest = iter(tensors)
    leaves: list[Any] = []
    for leaf in nest.flatten(structure):
        if leaf is None:
            leaves.append(None)
        elif isinstance(leaf, TypeSpec):
            leaves.append(leaf._from_parts(rest))
        else:
            count = len(nest.flatten(leaf, expand_composites=True))
            leaves.append(nest.pack_sequence_as(leaf, [next(rest) for _ in range(count)], expand_composites=True))
    return nest.pack_sequence_as(structure, leaves)
