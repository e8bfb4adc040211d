"""Symbolic derivatives: ``tf.gradients`` walks a graph backwards and adds the nodes that compute them.

The walk keeps, for each operation between the xs and the ys, how many consumers still owe it a gradient.  When none
does, the gradients that arrived at its outputs are added up and its gradient function is called, under the name scope
``gradients/<name>_grad``.  No recursion, so the depth of a graph does not matter.
"""
from __future__ import annotations

import collections
import contextlib
import enum
import functools
from collections.abc import Callable, Iterable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes, shapes
from jitgraph.graph.composite import IndexedSlices, convert_n_to_tensor_or_indexed_slices
from jitgraph.graph.control import BRANCHING
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes, counted_as, nodes_of_gradient, nodes_of_sum
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.function_graph import LOOPS, in_loop_gradient, inputs_behind, notes, stands_inline
from jitgraph.graph.gradient_registry import gradient_function
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import colocate_with, device, name_scope
from jitgraph.graph.tensor import Tensor


class AggregationMethod:
    """How the gradients that arrive at one tensor from several consumers are added up.

    ``ADD_N`` (the default): one sum of all.  ``EXPERIMENTAL_TREE``: pairwise as a chain of sums.
    ``EXPERIMENTAL_ACCUMULATE_N``: ``tf.accumulate_n`` of more than two whose shape is known, others pairwise.
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class UnconnectedGradients(enum.Enum):
    """What stands for the gradient of an x that no y depends on: None, or zeros in the shape of x."""

    NONE = "none"
    ZERO = "zero"


# gradients flow through tensors of these dtypes only
_DIFFERENTIABLE = frozenset([dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.complex64,
                             dtypes.complex128, dtypes.resource, dtypes.variant])


def as_list(value: Any) -> list:
    """A list of what may be one thing."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _flows(tensor: Tensor) -> bool:
    return tensor.dtype.base_dtype in _DIFFERENTIABLE


# -- what lies between -------------------------------------------------------------------------------------------------

def _sources(op: Operation) -> list[Tensor]:
    """The tensors that the gradients of an operation go to: its inputs.

    In the graph of a function, what stands for a tensor of the graph around it passes its gradient on to that tensor;
    so do a Merge and an Exit to what they were raised to.
    """
    known = op.graph.sources
    if known and op.outputs and op.outputs[0] in known:
        return [known[op.outputs[0]]]
    return op.inputs


def _stand_ins(tensor: Tensor, graph: Any) -> list[Operation]:
    """What stands for a tensor in `graph`, the graph of a function, and in those between."""
    found = []
    while graph is not None and graph is not tensor.op.graph:
        inside = graph.captures.get(tensor) if graph.building_function else None
        if inside is not None:
            found.append(inside.op)
        graph = graph.outer_graph
    return found


def _reached_from(ops: Iterable[Operation]) -> set[Operation]:
    """The operations that depend on `ops` through tensors that gradients flow through, and `ops` themselves."""
    graph = get_default_graph()
    raised: dict[Tensor, list[Operation]] = {}
    for tensor, source in graph.sources.items():
        if source.op.graph is graph:
            raised.setdefault(source, []).append(tensor.op)
    reached, passed = set(ops), set[Tensor]()
    inputs_of: dict[Operation, list[set[Tensor]]] = {}      # for each output of a loop or a choice the inputs that it depends on
    queue = collections.deque(output for op in ops for output in op.outputs)
    while queue:
        tensor = queue.popleft()
        if tensor in passed or not _flows(tensor):
            continue
        passed.add(tensor)
        behind = _stand_ins(tensor, graph) if tensor.op.graph is not graph else []
        for op in [*tensor._consumers, *raised.get(tensor, ()), *behind]:
            reached.add(op)
            if op.type not in LOOPS and op.type not in BRANCHING:
                queue.extend(op.outputs)
                continue
            if op not in inputs_of:
                inputs_of[op] = [{op.inputs[k] for k in inputs} for inputs in inputs_behind(op, _flows)]
            queue.extend(output for output, inputs in zip(op.outputs, inputs_of[op]) if tensor in inputs)
    return reached


def _between(to_ops: list[Operation], reached: set[Operation]) -> dict[Operation, int]:
    """The operations on paths to `to_ops` inside `reached`: how many inputs of others among them each one feeds."""
    pending: dict[Operation, int] = {}
    queue = collections.deque(to_ops)
    while queue:
        op = queue.popleft()
        if op in reached and op not in pending:
            pending[op] = 0
            queue.extend(tensor.op for tensor in _sources(op))
    for op in pending:
        for tensor in _sources(op):
            if tensor.op in pending:
                pending[tensor.op] += 1
    return pending


def _stops(from_ops: list[Operation], stop_tensors: list[Tensor], pending: dict[Operation, int]) -> set[Operation]:
    """Operations behind which no gradient is wanted: those of xs that depend on no other x, and those asked for.

    An input that gradients do not flow through, a mask, counts as TensorFlow counts it: where TensorFlow has a Sum and a
    Reshape behind the operation, these have no such input.
    """
    found = {op for op in from_ops if not any(pending.get(tensor.op, 0) > 0 for tensor in _sources(op)
                                              if _flows(tensor) or not nodes_of_gradient(op))}
    found.update(tensor.op for tensor in stop_tensors)
    return found


def raise_control_flow(ys: list[Tensor]) -> None:
    """Builds If and While for what `ys` depend on of the control flow of graph files, through which gradients flow."""
    from jitgraph.control.frames.raising import raise_for_gradient

    raise_for_gradient(ys)


# -- the gradients of the ys -------------------------------------------------------------------------------------------

def _check_given(y: Tensor, grad: Any) -> None:
    kind, given = y.dtype.base_dtype, grad.dtype
    if kind.is_complex:
        fits, wanted = given.is_complex, "complex"
    elif kind == dtypes.variant:
        fits, wanted = given.base_dtype == dtypes.variant, "variant"
    elif kind == dtypes.resource:
        fits, wanted = given.base_dtype != dtypes.resource, "that of a value, not a resource"
    else:
        _check_numeric(y)
        fits, wanted = given.is_floating or given.is_integer, "real or integer"
    if not fits:
        raise TypeError(f"Gradient type {given.name} generated for tensor {y} with type {kind.name} must be {wanted}")


def _check_numeric(y: Tensor) -> None:
    if not (y.dtype.is_floating or y.dtype.is_integer or y.dtype.base_dtype in (dtypes.resource, dtypes.variant)):
        raise TypeError(f"Tensor {y} with type {y.dtype.name} must be numeric to obtain a default gradient")


def _initial_gradients(grad_ys: list, ys: list[Tensor], colocate: Callable) -> list:
    """The given gradients of the ys (an Identity each), ones where none is given."""
    if len(grad_ys) != len(ys):
        raise ValueError(f"Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
    grad_ys = convert_n_to_tensor_or_indexed_slices(grad_ys, name="grad_y")
    initial: list = []
    for i, (grad, y) in enumerate(zip(grad_ys, ys)):
        with colocate(y.op):
            if grad is None:
                initial.append(_ones_like(y, i))
                continue
            _check_given(y, grad)
            if isinstance(grad, IndexedSlices):
                indices, values, dense_shape = (
                    part if part is None else raw.Identity(part, name=f"grad_ys_{i}_{what}") for part, what in
                    ((grad.indices, "indices"), (grad.values, "values"), (grad.dense_shape, "shape")))
                initial.append(IndexedSlices(values, indices, dense_shape))
            else:
                initial.append(raw.Identity(grad, name=f"grad_ys_{i}"))
    return initial


def _ones_like(y: Tensor, index: int) -> Tensor:
    from jitgraph.ops.arrays.constant import constant
    from jitgraph.ops.arrays.shape import shape

    if y.dtype.is_complex:
        raise TypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})")
    size = shape(y)             # which TensorFlow has made by the time that it refuses a bool
    _check_numeric(y)
    return raw.Fill(size, constant(1, y.dtype.base_dtype, name=f"grad_ys_{index}"))


def _zeros_like(output: Tensor) -> Tensor:
    """What stands for the gradient of a result that none arrives at."""
    if not in_loop_gradient(get_default_graph()) or output.dtype.base_dtype is dtypes.variant:
        return raw.ZerosLike(output, name="zeros_like")
    from jitgraph.ops.arrays.constant import constant

    if output.shape.is_fully_defined():     # without the value, which the forward loop would have to keep
        return constant(0, output.dtype.base_dtype, output.shape, name="zeros")
    return raw.Fill(raw.Shape(output), constant(0, output.dtype.base_dtype), name="zeros")


# -- adding up ---------------------------------------------------------------------------------------------------------

def _total(grads: list, op: Operation, method: int) -> Any:
    """The sum of the gradients that arrived at one output; None if none did."""
    if len(grads) < 2:
        return grads[0] if grads else None
    if any(isinstance(grad, IndexedSlices) for grad in grads):
        return _total_of_slices(grads)
    if method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N and len(grads) > 2 and _shape_of(grads).is_fully_defined():
        from jitgraph.ops.elementwise.sums import accumulate_n

        return accumulate_n(grads)
    from jitgraph.ops.elementwise.sums import add_n

    if method in (AggregationMethod.EXPERIMENTAL_TREE, AggregationMethod.EXPERIMENTAL_ACCUMULATE_N):
        with name_scope(op.name + "_gradient_sum"):
            running = grads[0]
            for grad in grads[1:]:
                running = add_n([running, grad])
            return running
    return add_n(grads)


def _shape_of(grads: list) -> shapes.TensorShape:
    """What is known of the shape that all of them have."""
    return functools.reduce(lambda shape, grad: shape.merge_with(grad.shape), grads, shapes.TensorShape(None))


def _total_of_slices(grads: list) -> Any:
    """Slices are put one behind the other; with a dense gradient among them the sum is dense."""
    from jitgraph.ops.arrays.join import concat
    from jitgraph.ops.elementwise.sums import add_n

    if not all(isinstance(grad, IndexedSlices) for grad in grads):
        return add_n(grads)
    indices = [grad.indices for grad in grads]
    if len({t.dtype.base_dtype for t in indices}) > 1:
        indices = [t if t.dtype is dtypes.int64 else raw.Cast(t, DstT=dtypes.int64) for t in indices]
    return IndexedSlices(concat([grad.values for grad in grads], 0), concat(indices, 0), grads[0].dense_shape)


# -- the walk ----------------------------------------------------------------------------------------------------------

class _Walk:
    """One call of ``gradients``: the gradients that have arrived, and how many each operation still waits for."""

    def __init__(self, pending: dict[Operation, int], stops: set[Operation], colocate: Callable, gate: bool,
                 method: int):
        self.pending = pending
        self.stops = stops
        self.colocate = colocate
        self.gate = gate
        # inside of a branch or a loop nothing need wait: what TensorFlow has there for it counts, no more
        self.counts_gates: bool = getattr(get_default_graph(), "counts_gates", False)
        self.method = method
        self.arrived: dict[Operation, list[list]] = {}      # operation -> for each output what arrived
        self.totals: dict[Operation, list] = {}             # operation -> for each output the sum

    def arrive(self, tensor: Tensor, grad: Any) -> None:
        op = tensor.op
        found = self.arrived.get(op)
        if found is None:
            found = self.arrived[op] = [[] for _ in op.outputs]
        found[tensor.value_index].append(grad)

    def run(self, to_ops: list[Operation]) -> None:
        ready = collections.deque(dict.fromkeys(op for op in to_ops if self.pending.get(op) == 0))
        while ready:
            op = ready.popleft()
            with self.colocate(op):
                self._pass(op)
            for tensor in _sources(op):
                left = self.pending.get(tensor.op)
                if left is not None:
                    self.pending[tensor.op] = left - 1
                    if left == 1:
                        ready.append(tensor.op)

    def count_loops(self, ys: list[Tensor]) -> None:
        """Counts what TensorFlow makes of a loop that lies between, though no gradient arrives at it: 18 nodes that count
        iterations; and if a gradient arrives at one of its results, for each other result an Enter, and zeros if none does.
        Where such another result is one of the ys, its ones and those zeros are added up."""
        loops = _left(self.pending)
        beside = {y.op for y in ys if y.op not in self.pending and _flows(y)}
        count_nodes(sum(not _left([op]).isdisjoint(loops) for op in beside))
        if all(loop in self.arrived for loop in loops):
            return
        for loop in _left(self._used_by(ys)):
            if loop not in self.arrived:
                results = [op for output in loop.outputs if _flows(output) for op in output._consumers if op.type == "Identity"]
                others = [op for op in results if op not in self.pending] if any(op in self.arrived for op in results) else []
                count_nodes(18 + sum(1 if op in self.arrived else 2 for op in others))
                notes(loop).unused = frozenset(op.inputs[0].value_index for op in others)

    def _used_by(self, ys: list[Tensor]) -> set[Operation]:
        """The operations between that the ys are computed from, without those that loops only read to no effect."""
        used, passed, queue = set[Operation](), set[Tensor](), list(ys)
        while queue:
            tensor = queue.pop()
            op = tensor.op
            if tensor in passed or op not in self.pending:
                continue
            passed.add(tensor)
            used.add(op)
            if op.type in LOOPS or op.type in BRANCHING:
                queue.extend(op.inputs[k] for k in inputs_behind(op, _flows)[tensor.value_index])
            else:
                queue.extend(_sources(op))
        return used

    def _pass(self, op: Operation) -> None:
        """Adds up what arrived at the outputs of `op`, and sends the gradients of its inputs on."""
        arrived = self.arrived.get(op)
        if arrived is None:
            return
        totals = self.totals[op] = [_total(grads, op, self.method) for grads in arrived]
        count_nodes(sum(map(nodes_of_sum, arrived)))
        if op in self.stops or all(total is None for total in totals):
            return
        sources = _sources(op)
        if sources is not op.inputs:
            if op.graph.is_branch:
                count_nodes(6)              # TensorFlow merges it with zeros for the other branch
            self.arrive(sources[0], totals[0])
            return
        function = gradient_function(op)
        if function is None:
            return
        if not getattr(function, "takes_none", False):      # an output that is an x has these zeros for its gradient, too
            totals[:] = [_zeros_like(output) if total is None and _flows(output) else total
                         for output, total in zip(op.outputs, totals)]
        count_nodes(nodes_of_gradient(op, self.pending))
        with name_scope(op.name + "_grad"):
            in_grads = _called(function, op, totals, self._asked_for(function, op))
            found = sum(grad is not None for grad in in_grads)
            if stands_inline(op):
                pass                            # TensorFlow has gates for the nodes inside, which have counted
            elif self.gate and found > 1:
                from jitgraph.control.order_ops import tuple_ as gated

                with device(None), colocate_with(None, ignore_existing=True):
                    in_grads = gated(in_grads)
            elif self.counts_gates and found > 1:
                count_nodes(1 + found)
        for index, (tensor, grad) in enumerate(zip(op.inputs, in_grads)):
            if grad is not None:
                _check_shape(op, index, tensor, grad)
                self.arrive(tensor, grad)

    def _asked_for(self, function: Callable, op: Operation) -> dict[str, Any]:
        """What a gradient function asks for beside the operation and its gradients, see `gradient_registry`."""
        found: dict[str, Any] = {}
        if getattr(function, "takes_needed", False):
            found["needed"] = {k for k, tensor in enumerate(op.inputs) if tensor.op in self.pending}
        if getattr(function, "takes_gate", False):
            found["gate"] = self.gate or self.counts_gates
        if getattr(function, "takes_gradients", False):
            found["gradients"] = gradients
        return found

    def gradient(self, x: Tensor) -> Any:
        totals = self.totals.get(x.op)
        grad = None if totals is None else totals[x.value_index]
        if grad is None and _flows(x) and self._has_passed_another_exit(x.op):
            # what TensorFlow gives a result of a loop that is not used: zeros that count with the loop, as does an Enter
            result = _sources(x.op)[0]
            with counted_as(-1 if result.value_index in notes(result.op).unused else 0):
                return raw.ZerosLike(x, name="zeros_like")
        return grad

    def _has_passed_another_exit(self, op: Operation) -> bool:
        """Whether `op` is a result of a loop of which another result has a gradient."""
        sources = _sources(op)
        if len(sources) != 1 or sources[0].op.type not in LOOPS:
            return False
        return any(total is not None for output in sources[0].op.outputs for sibling in output._consumers
                   for total in self.totals.get(sibling, ()))


def _left(ops: Iterable[Operation]) -> set[Operation]:
    """The loops that results among `ops` come out of."""
    return {op.inputs[0].op for op in ops if op.type == "Identity" and op.inputs[0].op.type in LOOPS}


def _called(function: Callable, op: Operation, out_grads: list, asked: dict[str, Any]) -> list:
    """The gradients of the inputs of `op`, as many as there are inputs."""
    in_grads = as_list(function(op, *out_grads, **asked))
    if len(in_grads) != len(op.inputs):
        raise ValueError(f"Num gradients {len(in_grads)} generated for op {op.name} (op type: {op.type}) do not match "
                         f"num inputs {len(op.inputs)}: the gradient function returned {in_grads}")
    return [grad if grad is None or isinstance(grad, (Tensor, IndexedSlices)) else convert_to_tensor(grad)
            for grad in in_grads]


def _check_shape(op: Operation, index: int, tensor: Tensor, grad: Any) -> None:
    """Gives the gradient what is known of its input's shape.  Raises ValueError if they contradict each other."""
    if not isinstance(grad, Tensor) or tensor.dtype.base_dtype in (dtypes.resource, dtypes.variant):
        return
    try:
        # not set_shape, which would declare plans that hold this graph's older nodes stale
        grad._shape = shapes.merge(grad._shape, tensor._shape)
    except ValueError:
        raise ValueError(
            "Incompatible shapes between op input and calculated input gradient.  Forward operation: "
            f"{op.name} (op type: {op.type}).  Input index: {index}. Original input shape: {tensor.shape}.  Calculated "
            f"input gradient shape: {grad.shape}") from None


def _zeros_for(x: Tensor) -> Tensor:
    from jitgraph.ops.arrays.fill import zeros, zeros_like

    if x.dtype.base_dtype is dtypes.resource:
        from jitgraph.variables.resource_ops import shape_of_variable

        return zeros(shape_of_variable(x), x.op.attrs["dtype"].base_dtype)
    return zeros_like(x)


def _source_of(x: Any) -> Tensor:
    """The tensor that stands for an x: the handle of a resource variable, the reference of another variable."""
    handle = getattr(x, "handle", None)
    if isinstance(handle, Tensor) and handle.dtype.base_dtype is dtypes.resource:
        return handle
    if isinstance(x, Tensor):
        return x
    tensor = convert_to_tensor(x, name="x", as_ref=True)
    while (around := getattr(tensor.op.graph, "sources", {}).get(tensor)) is not None:
        tensor = around
    return tensor


def gradients(ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients", colocate_gradients_with_ops: bool = False,
              gate_gradients: bool = False, aggregation_method: int | None = None, stop_gradients: Any = None,
              unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE) -> list:
    """Derivatives of the sum of `ys` with respect to each of `xs`: a list of Tensors, IndexedSlices or None.

    `grad_ys`: weights, one per y and of its shape (ones by default; required for complex ys).  `stop_gradients`:
    tensors that count as constants.  `unconnected_gradients`: None (the default) or zeros for an x that no y depends
    on.  `gate_gradients` makes the gradients of one operation wait for each other.  Raises LookupError for an operation
    without gradient on the way, TypeError or ValueError for arguments that do not fit.
    """
    from jitgraph.autodiff import functional_gradients  # noqa: F401  (gives If, Case and While their gradients)

    ys, xs = as_list(ys), as_list(xs)
    stop_gradients = [] if stop_gradients is None else as_list(stop_gradients)
    grad_ys = [None] * len(ys) if grad_ys is None else as_list(grad_ys)
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None
    method = AggregationMethod.DEFAULT if aggregation_method is None else aggregation_method
    if method not in (0, 1, 2):
        raise ValueError(f"Invalid aggregation_method specified {aggregation_method}.")
    with name_scope(name, "gradients", [*ys, *xs, *stop_gradients, *(g for g in grad_ys if g is not None)]):
        graph = get_default_graph()
        ys = [convert_to_tensor(y, name="y") for y in ys]

        def colocate(op: Operation) -> Any:
            return graph.colocate_with(op) if colocate_gradients_with_ops else contextlib.nullcontext()

        raise_control_flow([y for y in ys if y.op.graph is graph])
        initial = _initial_gradients(grad_ys, ys, colocate)
        sources = [_source_of(x) for x in xs]
        stop_tensors = [_source_of(t) for t in stop_gradients]
        to_ops, from_ops = [y.op for y in ys], [x.op for x in sources]
        pending = _between(to_ops, _reached_from(from_ops))
        walk = _Walk(pending, _stops(from_ops, stop_tensors, pending), colocate, gate_gradients, method)
        for y, grad in zip(ys, initial):
            if y.op in pending:
                walk.arrive(y, grad)
        walk.run(to_ops)
        walk.count_loops(ys)
        found = [walk.gradient(x) for x in sources]
    if unconnected is UnconnectedGradients.ZERO:        # zeros stand outside of the scope of the gradients
        return [_zeros_for(x) if grad is None else grad for x, grad in zip(sources, found)]
    return found
