"""``scan`` and ``take_while``: transformations that go from element to element."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jitgraph import raw_ops as raw
from jitgraph.data import building, structure
from jitgraph.data.mapped_function import MappedFunction
from jitgraph.graph import dtypes

if TYPE_CHECKING:
    from jitgraph.data.dataset import Dataset

Transformation = Callable[["Dataset"], "Dataset"]


def take_while(predicate: Callable) -> Transformation:
    """The elements before the first for which `predicate` does not hold.  Raises ValueError if it gives no bool scalar."""

    def apply(dataset: Dataset) -> Dataset:
        function = MappedFunction(predicate, "tf.data.experimental.take_while()", dataset.element_spec)
        if not structure.are_compatible(function.spec, structure.tensor_structure(dtypes.bool_, [])):
            raise ValueError("`predicate` must return a scalar boolean tensor.")
        tensor = raw.TakeWhileDataset(dataset._variant_tensor, function.captured, predicate=function.graph, **dataset._flat())
        return dataset._made(tensor, None, function)

    return apply


def scan(initial_state: Any, scan_func: Callable) -> Transformation:
    """The outputs of ``scan_func(state, element) -> (next state, output)``, from `initial_state` on.

    Raises TypeError if the function gives no pair, or a state of other types.
    """

    def apply(dataset: Dataset) -> Dataset:
        state = structure.normalized(initial_state)
        spec = structure.spec_of(state)
        while True:
            function = MappedFunction(scan_func, "tf.data.experimental.scan()", (spec, dataset.element_spec))
            if not isinstance(function.spec, tuple) or len(function.spec) != 2:
                raise TypeError("The scan function must return a pair comprising the new state and the output value.")
            following, output = function.spec
            building.check_state(spec, following)
            common = structure.common(spec, following)
            if structure.flat(common) == structure.flat(spec):
                break
            spec = common
        tensor = raw.ScanDataset(dataset._variant_tensor, structure.to_tensors(spec, state), function.captured, f=function.graph,
                                 preserve_cardinality=True, **structure.flat_attributes(output))
        return dataset._made(tensor, output, function)

    return apply
