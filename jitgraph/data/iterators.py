"""``tf.data.Iterator``: what gives the elements of a dataset to a graph."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.data import structure
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import add_to_collection, colocate_with, name_scope
from jitgraph.graph.tensor import Tensor

GET_NEXT_CALL_WARNING_THRESHOLD = 32
GLOBAL_ITERATORS = "iterators"


class Iterator:
    """The state of an iteration.  Make one by a method of a dataset, ``from_structure`` or ``from_string_handle``."""

    def __init__(self, iterator_resource: Tensor, initializer: Operation | None, output_types: Any, output_shapes: Any,
                 output_classes: Any):
        self._iterator_resource, self._initializer = iterator_resource, initializer
        self._spec = structure.from_legacy(output_types, output_shapes, output_classes)
        self._string_handle = raw.IteratorToStringHandle(iterator_resource)
        self._get_next_call_count = 0
        add_to_collection(GLOBAL_ITERATORS, iterator_resource)

    @staticmethod
    def from_structure(output_types: Any, output_shapes: Any = None, shared_name: str | None = None,
                       output_classes: Any = None) -> Iterator:
        """An iterator over elements of this structure, which ``make_initializer`` gives a dataset.

        `output_types`, `output_shapes` (unknown without them) and `output_classes` are nested alike.  Raises TypeError or
        ValueError if they are not.
        """
        spec = structure.from_legacy(output_types, output_shapes, output_classes)
        resource = raw.IteratorV2(container="", shared_name=shared_name or "", **structure.flat_attributes(spec))
        return Iterator(resource, None, *legacy(spec))

    @staticmethod
    def from_string_handle(string_handle: Any, output_types: Any, output_shapes: Any = None,
                           output_classes: Any = None) -> Iterator:
        """The iterator that the scalar string `string_handle` names: what ``string_handle()`` of another one gave.

        A run raises InvalidArgumentError for a handle of another session, or of elements of another structure.
        """
        spec = structure.from_legacy(output_types, output_shapes, output_classes)
        text = convert_to_tensor(string_handle, dtypes.string)
        resource = raw.IteratorFromStringHandleV2(text, **structure.flat_attributes(spec))
        return Iterator(resource, None, *legacy(spec))

    @property
    def initializer(self) -> Operation:
        """The operation that begins the iteration.  Raises ValueError for an iterator that has none."""
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Operation:
        """An operation that begins an iteration over `dataset`.

        Raises TypeError if its elements have other types, classes or shapes than those of the iterator, ValueError if they are
        nested in another way.
        """
        with name_scope(name, "make_initializer", []) as scope:
            for what, own, other in zip(("types", "shapes", "classes"), legacy(self._spec), legacy(dataset.element_spec)):
                structure.assert_same(own, other)
                if not all(_fits(a, b) for a, b in zip(structure.flatten(own), structure.flatten(other))):
                    raise TypeError(f"Expected output {what} {own!r} but got dataset with output {what} {other!r}.")
            with colocate_with(self._iterator_resource):
                return raw.MakeIterator(dataset._apply_options()._variant_tensor, self._iterator_resource, name=scope)

    def get_next(self, name: str | None = None) -> Any:
        """The next element, nested as those of the dataset.

        Every run that needs it takes one element.  A run raises OutOfRangeError at the end of the dataset and
        FailedPreconditionError before the iterator is initialised.
        """
        self._get_next_call_count += 1
        if self._get_next_call_count > GET_NEXT_CALL_WARNING_THRESHOLD:
            import warnings

            warnings.warn("An unusually high number of `Iterator.get_next()` calls was detected. This often indicates that "
                          "`Iterator.get_next()` is being called inside a training loop, which makes the graph grow in every "
                          "step. Call it once, before the loop, and run what it gives.", stacklevel=2)
        found = raw.IteratorGetNext(self._iterator_resource, name=name, **structure.flat_attributes(self._spec))
        return structure.from_tensors(self._spec, found)

    def string_handle(self, name: str | None = None) -> Tensor:
        """A scalar string that names this iterator, to be fed to ``from_string_handle``."""
        return self._string_handle if name is None else raw.IteratorToStringHandle(self._iterator_resource, name=name)

    @property
    def output_types(self) -> Any:
        """The dtype of each component."""
        return legacy(self._spec)[0]

    @property
    def output_shapes(self) -> Any:
        """The shape of each component."""
        return legacy(self._spec)[1]

    @property
    def output_classes(self) -> Any:
        """The class of each component: Tensor or SparseTensor."""
        return legacy(self._spec)[2]

    @property
    def element_spec(self) -> Any:
        """The structure of the elements."""
        return self._spec


def _fits(own: Any, other: Any) -> bool:
    return own.is_compatible_with(other) if hasattr(own, "is_compatible_with") else own is other


def legacy(spec: Any) -> tuple[Any, Any, Any]:
    """(types, shapes, classes) of a structure, each nested as it is."""
    return tuple(structure.shown(spec, what)        # type: ignore[return-value]
                 for what in ("output_type", "output_shape", "output_class"))


def make_one_shot_iterator(dataset: Any) -> Iterator:
    """An iterator that goes over a dataset once and needs no initialisation.

    Raises ValueError if the dataset depends on a placeholder, a variable or something else that has a state.
    """
    from jitgraph.data.mapped_function import ByValue, dataset_ops

    graph = ByValue("_make_dataset", dataset_ops(dataset._variant_tensor))
    try:
        with graph.as_default():
            made = dataset._apply_options(graph.capture(dataset._variant_tensor))
        graph.outputs = [made._variant_tensor]
    except ValueError as error:
        if "Cannot capture a stateful node" not in str(error):
            raise
        raise ValueError("Failed to create a one-shot iterator for a dataset. `Dataset.make_one_shot_iterator()` does not support "
                         "datasets that capture stateful objects, such as a `Variable` or `LookupTable`. In these cases, use "
                         f"`Dataset.make_initializable_iterator()`. (Original error: {error})") from None
    graph.inputs, graph.captures = [], {}
    resource = raw.OneShotIterator(dataset_factory=graph, **structure.flat_attributes(dataset.element_spec))
    return Iterator(resource, None, *legacy(dataset.element_spec))


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Iterator:
    """An iterator whose ``initializer`` begins a new iteration over a dataset, which may depend on placeholders.

    Iterators of one `shared_name` are one.
    """
    optimized = dataset._apply_options()
    resource = raw.IteratorV2(container=get_default_graph()._container, shared_name=shared_name or "",
                              **structure.flat_attributes(dataset.element_spec))
    with colocate_with(resource):
        initializer = raw.MakeIterator(optimized._variant_tensor, resource)
    return Iterator(resource, initializer, *legacy(dataset.element_spec))
