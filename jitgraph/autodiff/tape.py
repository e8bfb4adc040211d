"""``tf.GradientTape`` in a graph: the nodes that are made inside of it, and their gradients."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.app import logs
from jitgraph.autodiff.gradients import UnconnectedGradients, gradients
from jitgraph.control.parallel_loops import stacked_turns
from jitgraph.control.while_loops import while_loop
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor, is_tensor_like
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.tensor_arrays.tensor_array import TensorArray


class GradientTape:
    """Notes the nodes that are made in its block, to differentiate those that depend on what is watched.

    Trainable resource variables that are read are watched, unless `watch_accessed_variables` is False.  Without `persistent`,
    ``gradient`` or ``jacobian`` can be asked once.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True):
        self._persistent, self._watches_variables = persistent, watch_accessed_variables
        self._notes: _Notes | None = None
        self._since: int | None = None

    def __enter__(self) -> GradientTape:
        self._start()
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if self._since is not None:
            self._stop()

    def _start(self) -> None:
        if self._since is not None:
            raise ValueError("Tape is already recording.")
        if self._notes is None:
            self._notes = _Notes(get_default_graph(), self._watches_variables)
        self._since = len(self._notes.graph.get_operations())

    def _stop(self) -> None:
        if self._since is None or self._notes is None:
            raise ValueError("Tape is not recording.")
        self._notes.take(self._since)
        self._since = None

    def watch(self, tensor: Any) -> None:
        """Watches tensors or variables.  Raises ValueError for other objects."""
        for one in nest.flatten(tensor):
            if not is_tensor_like(one):
                raise ValueError(f"Passed in object of type {type(one)}, not tf.Tensor")
            if not one.dtype.is_floating:
                logs.log_first_n(logs.WARN, "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r", 5,
                                 one.dtype)
            if self._notes is None:
                raise AttributeError("the tape does not record: watch in its block")
            self._notes.watched[_source(one)] = one

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """A block whose nodes are not noted.  Raises RuntimeError outside of the tape's own."""
        if self._notes is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self) -> None:
        """Forgets what was noted and watched."""
        self._stop()
        self._notes = None
        self._start()

    def watched_variables(self) -> tuple:
        """The variables that are watched, in the order of their first use."""
        if self._notes is None:
            raise AttributeError("the tape has notes no more: its gradient was asked")
        if self._since is not None:
            self._stop()
            self._start()
        return tuple(one for one in self._notes.watched.values() if hasattr(one, "handle"))

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None,
                 unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The derivatives of the sum of `target` by `sources`, in the structure of these.

        None (zeros with ``UnconnectedGradients.ZERO``) for what is not watched, or does not change `target`.  Raises RuntimeError
        when it is asked a second time of a tape that is not persistent.
        """
        if self._notes is None:
            raise RuntimeError("GradientTape.gradient can only be called once on non-persistent tapes.")
        if self._since is not None:
            self._stop()
            if self._persistent:
                self._start()
        notes = self._notes
        targets = [self._read(one) for one in nest.flatten(target)]
        given = [None] * len(targets) if output_gradients is None else [
            None if one is None else convert_to_tensor(one) for one in nest.flatten(output_gradients)]
        found = notes.gradients(targets, nest.flatten(sources), given, UnconnectedGradients(unconnected_gradients))
        if not self._persistent:
            self._notes = None
        return nest.pack_sequence_as(sources, found)

    def _read(self, target: Any) -> Tensor:
        if not hasattr(target, "handle"):
            return convert_to_tensor(target)
        with self:
            return convert_to_tensor(target)

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
                 parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> Any:
        """For each source the derivatives of each element of `target`, of shape ``target.shape + source.shape``; None if there are
        none.
        """
        flat_sources = nest.flatten(sources)
        target = convert_to_tensor(target)
        shape = raw.Shape(target)
        with self:
            flat = raw.Reshape(target, [-1])
        rows = self._rows(flat, flat_sources, 0, unconnected_gradients)
        found = [None if one is None else _shaped(raw.Reshape(one, concat([shape, raw.Shape(one)[1:]], 0)), target, source)
                 for one, source in zip(rows, flat_sources)]
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(self, target: Any, source: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
                       parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> Any:
        """The derivatives of each row of `target` by the same row of `source`, of shape ``target.shape + source.shape[1:]``.

        Raises ValueError if the ranks are below 2, or the first dimensions differ.
        """
        if not (target.shape.with_rank_at_least(2) and source.shape.with_rank_at_least(2)
                and target.shape[0].is_compatible_with(source.shape[0])):
            raise ValueError(f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to match.")
        shape, batch = raw.Shape(target), raw.Shape(target)[0]
        with self, control_dependencies([assert_equal(batch, raw.Shape(source)[0])]):
            flat = raw.Reshape(target, [batch, -1])
        row, = self._rows(flat, [source], 1, unconnected_gradients)
        wanted = concat([shape, raw.Shape(source)[1:]], 0)
        if row is None:
            return raw.Fill(wanted, convert_to_tensor(0, target.dtype))
        rows = raw.Transpose(raw.Reshape(row, [raw.Shape(flat)[1], batch, -1]), [1, 0, 2])
        return raw.Reshape(rows, wanted)

    def _rows(self, flat: Tensor, sources: list, axis: int, unconnected: Any) -> list:
        """For each source the gradients of each element of `flat` along `axis`, stacked; None where there are none."""
        if self._since is not None:
            self._stop()
        notes = self._notes
        if notes is None:
            raise RuntimeError("GradientTape.gradient can only be called once on non-persistent tapes.")
        if not self._persistent:
            self._notes = None
        unconnected = UnconnectedGradients(unconnected)

        def row(index: Any) -> list:
            return notes.gradients([raw.GatherV2(flat, index, axis)], sources, [None], unconnected, of=flat)

        connected = [place for place, one in enumerate(row(0)) if one is not None]
        if not connected:
            return [None] * len(sources)
        count = raw.Shape(flat)[axis]
        arrays = [TensorArray(sources[place].dtype.base_dtype, count) for place in connected]

        def step(index: Any, held: list) -> tuple:
            found = row(index)
            return index + 1, [array.write(index, convert_to_tensor(found[place])) for array, place in zip(held, connected)]

        made = while_loop(lambda index, _: index < count, step, [0, arrays])[1]
        stacks = dict(zip(connected, [array.stack() for array in made]))
        return [stacks.get(place) for place in range(len(sources))]


def _shaped(found: Tensor, target: Any, source: Any) -> Tensor:
    if target.shape.ndims is not None and source.shape.ndims is not None:
        found.set_shape(target.shape.concatenate(source.shape))
    return found


def _source(value: Any) -> Tensor:
    """The tensor that is watched for a tensor or variable: its handle, its reference, or itself."""
    return value.handle if hasattr(value, "handle") else convert_to_tensor(value, as_ref=True)


class _Notes:
    """The operations that a tape noted in a graph, and what it watches."""

    def __init__(self, graph: Any, watches_variables: bool):
        self.graph, self._watches_variables = graph, watches_variables
        self.operations: dict[Operation, None] = {}
        self.watched: dict[Tensor, Any] = {}

    def take(self, since: int) -> None:
        """Notes the operations of the graph from that number on."""
        made = self.graph.get_operations()[since:]
        self.operations.update(dict.fromkeys(made))
        if self._watches_variables:
            for variable in self._variables_of(made):
                self.watched.setdefault(_source(variable), variable)

    def _variables_of(self, made: list[Operation]) -> list:
        handles = {tensor: None for op in made for tensor in op.inputs if tensor.dtype.name == "resource"}
        known = {self._here(one.handle): one for one in self.graph.get_collection("trainable_variables") if hasattr(one, "handle")}
        return [known[handle] for handle in handles if handle in known]

    def _here(self, tensor: Tensor) -> Tensor:
        """What stands for a tensor in the graph, if that is of a function, be it one within others."""
        around, graph = [], self.graph
        while graph is not tensor.graph and hasattr(graph, "captures"):
            around.append(graph)
            graph = graph.outer_graph
        for inner in reversed(around):
            tensor = inner.captures.get(tensor, tensor)
        return tensor

    def gradients(self, targets: list[Tensor], sources: list, given: list, unconnected: Any, of: Tensor | None = None) -> list:
        """The gradients through the noted operations alone; the targets are made of the tensor `of`, if it is given."""
        reached: set[Tensor] = set(map(self._here, self.watched))
        edges: dict[Tensor, None] = {}
        for op in self.operations:
            for tensor in op.inputs:
                if tensor.op not in self.operations:
                    edges[tensor] = None
            if any(tensor in reached for tensor in op.inputs):
                reached.update(op.outputs)
        wanted = [self._here(_source(one)) for one in sources]
        pairs = [(one, grad) for one, grad in zip(targets, given) if (one if of is None else of) in reached]
        found: list = [None] * len(sources)
        inside = [place for place, one in enumerate(wanted) if one in reached]
        if pairs and inside:
            made = gradients([one for one, _ in pairs], [sources[place] for place in inside],
                             [grad for _, grad in pairs] if any(grad is not None for _, grad in pairs) else None,
                             stop_gradients=[one for one in edges if one.dtype.name != "resource"])
            for place, grad in zip(inside, made):
                found[place] = grad
        if unconnected is UnconnectedGradients.ZERO:
            found = [raw.ZerosLike(convert_to_tensor(source)) if grad is None else grad for source, grad in zip(sources, found)]
        return found


def vectorized_map(fn: Callable, elems: Any) -> Any:
    """What `fn` gives for each row of `elems`, stacked: tensors of one first dimension, in any structure."""
    leaves = [convert_to_tensor(one) for one in nest.flatten(elems)]
    rows = leaves[0].shape[0].value if leaves[0].shape.ndims else None
    count = raw.Shape(leaves[0])[0] if rows is None else rows

    def result(index: Any) -> Any:
        return fn(nest.pack_sequence_as(elems, [raw.GatherV2(one, index, 0) for one in leaves]))

    return stacked_turns(result, count)
