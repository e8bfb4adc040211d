"""Gradients of If, Case and While.

The gradient of a branch computes the branch again from its inputs.  That of a loop is a loop: forwards, the While saves
its variables of every iteration in lists, and products, which cost more than what they take up; backwards, each iteration
takes one entry off, computes the rest of the body again and its gradient, and adds what arrives at tensors that the loop
only reads.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.autodiff.gradients import _zeros_for, gradients
from jitgraph.control.functional_ops import DIFFERENTIABLE, make_branching, make_call, make_while
from jitgraph.control.replay import Replay, accumulate, counter, expose, record_of, recorded_reads, replayed
from jitgraph.graph import dtypes
from jitgraph.graph.calls import bodies
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import counted_as, let_stand_for_two
from jitgraph.graph.function_graph import LOOPS, FunctionGraph, first_argument, inputs_behind, is_state, notes
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor
from jitgraph.tensor_arrays.tensor_list_ops import flows, popped

# gradients of what loops do with TensorArrays: the input that TensorFlow's have not, which take the handle instead
ARRAY_GRADIENTS = {"TensorArrayElementGradient": 2, "TensorArrayRowsGradient": 2, "TensorArrayPiecesGradient": 1,
                   "TensorArrayGradientOfElement": None, "TensorArrayGradientOfRows": None, "TensorArrayGradientOfPieces": None}


SUMS = frozenset(["Add", "AddV2", "AddN", "BiasAdd", "BiasAddV1"])      # whose gradients do not ask for the values


def gradient(op: Operation, grads: tuple, needed: set[int], gate: bool) -> list:
    """The gradients of the inputs of `op`, for those of its outputs (None where nothing arrived); of those that are `needed`,
    by their numbers.  `gate`: whether the gradients of one operation wait for each other."""
    if op.type not in LOOPS:
        return _of_branches(op, grads, needed, gate)
    if not notes(op).back_prop:
        return [None] * len(op.inputs)
    loop = _LoopGradient(op, grads, needed, gate)
    with counted_as(0) as block:
        answer = loop.build()
        block.nodes = loop.nodes
    return answer


def _takes_gradient(tensor: Tensor) -> bool:
    return flows(tensor) or tensor.dtype.base_dtype is dtypes.resource and is_state(tensor)


def _dense(grad: Any) -> Any:
    return convert_to_tensor(grad) if isinstance(grad, IndexedSlices) else grad


def _zeros(tensor: Tensor) -> Tensor:
    """Zeros in the shape of a tensor, without computing it where the shape is known; for a handle, of its variable."""
    shape = tensor._shape
    if tensor.dtype.base_dtype is dtypes.resource:
        return _zeros_for(tensor)
    if tensor.dtype.base_dtype is dtypes.variant or shape is None or None in shape:
        return raw.ZerosLike(tensor)
    from jitgraph.ops.arrays.fill import zeros

    return zeros(shape, tensor.dtype.base_dtype)


def _same_size(one: Tensor, other: Tensor) -> bool:
    """Whether it is known that two tensors have as many elements, given that one is made of the other by broadcasting."""
    return one._shape is not None and one._shape == other._shape


def _zeros_nodes(tensor: Tensor) -> int:
    """How many nodes TensorFlow makes of zeros in the shape of a tensor: a constant, or Shape, a constant and Fill."""
    return 1 if tensor.shape.is_fully_defined() else 3


# -- branches ----------------------------------------------------------------------------------------------------------

def _of_branches(op: Operation, grads: tuple, needed: set[int], gate: bool) -> list:
    offset = first_argument(op)
    inputs, record = list(op.inputs[offset:]), expose(op)
    wanted = [k for k, tensor in enumerate(inputs) if _takes_gradient(tensor) and k + offset in needed]
    given = {k: _dense(grad) for k, grad in enumerate(grads) if grad is not None and flows(op.outputs[k])}
    with counted_as(0) as block:
        answer, block.nodes = _branch_gradients(op, inputs, record, wanted, given, gate)
        block.nodes += 3 * len(given) * gate        # its Merge hands a gradient to two branches
    return answer


def _branch_gradients(op: Operation, inputs: list, record: Tensor | None, wanted: list, given: dict,
                      gate: bool) -> tuple[list, int]:
    """The gradients of the inputs of `op`, and how many nodes TensorFlow makes for them."""
    offset = first_argument(op)
    made = [_branch_gradient(function, op, inputs, record, wanted, given, gate) for function in bodies(op)]
    by_branch = [dict(zip(wanted, results)) for _, results in made]
    arrived = {k: [found[k] for found in by_branch if found[k] is not None] for k in wanted}
    reached = [k for k in wanted if arrived[k]]
    answer: list = [None] * len(op.inputs)
    if not reached:
        return answer, 0
    # what each gradient that comes in takes, and each that an input of a branch gets
    nodes = _switched_nodes(op, wanted, given) + sum(graph._ids.last for graph, _ in made)
    nodes += sum(_merged_nodes(grad) for grads in arrived.values() for grad in grads)
    graphs = [graph for graph, _ in made]
    sparse = {k: _index_dtype(arrived[k]) for k in reached if all(isinstance(grad, IndexedSlices) for grad in arrived[k])}
    for graph, found in zip(graphs, by_branch):
        with graph.as_default():
            graph.outputs = [graph.capture(t) for k in reached
                             for t in _result(found[k], graph.capture(inputs[k]), sparse.get(k))]
    node = make_branching(op.inputs[0], graphs, op.type) if offset else make_call(graphs[0], op.type)
    node.__dict__["merges"] = [[found[k] is not None for found in by_branch] for k in reached]
    outputs = iter(node.outputs)
    for k in reached:
        answer[k + offset] = IndexedSlices(next(outputs), next(outputs), next(outputs)) if k in sparse else next(outputs)
        if len(arrived[k]) > 1:
            let_stand_for_two(answer[k + offset])
            # slices of one branch become a tensor where the other branch has one: the segment sum, and its number of rows
            nodes += 5 * sum(isinstance(grad, IndexedSlices) for grad in arrived[k] if k not in sparse)
    return answer, nodes


def _switched_nodes(op: Operation, wanted: list, given: dict) -> int:
    """How many nodes TensorFlow makes to hand the given gradients to the branches: a Switch of each; of the gradients of a
    conditional, each a Merge outside of it that a branch gave something, two comparisons and two Switches (six nodes)."""
    merges = op.__dict__.get("merges")
    if merges is None or len(merges) != len(op.outputs):
        return len(given)
    return 6 * sum(
        merges[k][b] and not function.inputs_behind(function.outputs[k], _takes_gradient).isdisjoint(wanted)
        for b, function in enumerate(bodies(op)) for k in given)


def _merged_nodes(grad: Any) -> int:
    """How many nodes TensorFlow makes to merge a branch's gradient with zeros: one Merge and five for the zeros of a tensor;
    three and thirteen for slices, whose zeros have a shape and indices of their own."""
    return 16 if isinstance(grad, IndexedSlices) else 6


def _index_dtype(slices: list) -> dtypes.DType:
    """The dtype of the indices when branches give these slices."""
    return dtypes.int32 if all(grad.indices.dtype is dtypes.int32 for grad in slices) else dtypes.int64


def _shape_of(x: Tensor) -> Tensor:
    """The sizes of a tensor, or of the variable behind a handle, as the run has them."""
    return raw.VariableShape(x) if x.dtype.base_dtype is dtypes.resource else raw.Shape(x)


def _result(grad: Any, x: Tensor, index_dtype: dtypes.DType | None) -> tuple:
    """The tensors of the gradient of `x` in one branch, zeros if there is none: a tensor, or slices with this index dtype."""
    if index_dtype is None:
        return (_zeros(x) if grad is None else _dense(grad),)
    shape = _shape_of(x)
    if grad is None:        # zeros for all rows, as in TensorFlow: what an optimizer keeps of the rows decays then
        rows = raw.StridedSlice(shape, [0], [1], [1], shrink_axis_mask=1)
        return _zeros(x), raw.Cast(raw.Range(0, rows, 1), DstT=index_dtype), shape
    return grad.values, raw.Cast(grad.indices, DstT=index_dtype), shape


def _branch_gradient(function: FunctionGraph, op: Operation, inputs: list, record: Tensor | None, wanted: list,
                     given: dict, gate: bool) -> tuple[FunctionGraph, list]:
    """The graph of the gradient of one branch, and the gradient of each wanted input (None if it has none)."""
    graph = FunctionGraph(function.name + "_grad")
    graph.counts_gates = gate
    known = {theirs: graph.capture(tensor) for theirs, tensor in zip(function.inputs, inputs)}
    if record is not None and record_of(function) is not None:
        known.update(replayed(function, graph, graph.capture(record)))
    with graph.as_default():
        replay = Replay(function, graph, known)
        ys = [replay(function.outputs[k]) for k in given]
        arrived = [graph.capture(grad) for grad in given.values()]
        graph._ids.last = -len(arrived)         # not counting the Identity of each
        return graph, _of_inputs(replay, ys, [function.inputs[k] for k in wanted], arrived)


def _of_inputs(replay: Replay, ys: list, inputs: list[Tensor], arrived: list) -> list:
    """The gradients of `ys`, of the graph of the gradient, for inputs of the function that is replayed there.

    Of inputs that are given one tensor the first has the gradient for all.  What arrives at a value that was read of a
    variable, and recorded since the function also writes it, belongs to the variable.
    """
    xs = [replay.known[tensor] for tensor in inputs]
    reads = {value: read for value, read in recorded_reads(replay.source).items() if value in replay.known
             and read.inputs[0] in inputs}
    ends = [*xs, *(replay.known[value] for value in reads)]
    found = gradients(ys, ends, arrived, stop_gradients=ends)
    results = [grad if x not in xs[:k] else None for k, (x, grad) in enumerate(zip(xs, found))]
    for read, grad in zip(reads.values(), found[len(xs):]):
        if grad is not None:
            place, more = inputs.index(read.inputs[0]), read.opdef.grad(read.replayed(replay), grad)
            more = more[0] if isinstance(more, list) else more
            results[place] = more if results[place] is None else raw.AddN([_dense(results[place]), _dense(more)])
    return results


# -- what arrives at tensors that a loop only reads --------------------------------------------------------------------

class _Sum:
    """The gradient of such a tensor, added up over the iterations of the backward loop.

    ``variables``: the variables of that loop; ``following``: their values after an iteration.
    """

    def __init__(self, graph: FunctionGraph, grad: Tensor):
        self.variables = [graph._placeholder(grad.dtype, grad._shape, "total")]
        self.following = [raw.AddN([self.variables[0], grad])]

    def first(self, x: Tensor) -> list[Tensor]:
        """What the variables are before the first iteration; `x`: the tensor that this is the gradient of."""
        return [_zeros(x)]

    def result(self, outputs: Iterator[Tensor]) -> Any:
        """The gradient, made of the next ones of the loop's outputs."""
        return raw.Identity(next(outputs))

    def nodes(self, x: Tensor) -> int:
        """How many nodes TensorFlow makes for it."""
        return 6 + _zeros_nodes(x)


class _Rows:
    """The same for slices: those of each iteration are put behind those of the iterations before.

    They begin with a row of zeros for index 0, as TensorFlow's do: an optimizer that touches only the rows of a gradient
    touches that row, too.
    """

    def __init__(self, graph: FunctionGraph, grad: IndexedSlices):
        self.grad = grad
        shape = grad.values._shape
        values = graph._placeholder(grad.values.dtype, None if shape is None else (None, *shape[1:]), "values")
        indices = graph._placeholder(grad.indices.dtype, (None,), "indices")
        self.variables = [values, indices]
        self.following = [raw.ConcatV2([values, grad.values], 0), raw.ConcatV2([indices, grad.indices], 0)]
        if grad.dense_shape is not None:
            self.variables.append(graph._placeholder(grad.dense_shape.dtype, grad.dense_shape._shape, "shape"))
            self.following.append(raw.Maximum(grad.dense_shape, self.variables[2]))

    def first(self, x: Tensor) -> list[Tensor]:
        from jitgraph.ops.arrays.fill import zeros

        full = _shape_of(x)
        size = raw.ConcatV2([[1], raw.StridedSlice(full, [1], [0], [1], end_mask=1)], 0)
        found = [zeros(size, self.grad.values.dtype), zeros([1], self.grad.indices.dtype)]
        if self.grad.dense_shape is not None:
            found.append(raw.ZerosLike(raw.Cast(full, DstT=self.grad.dense_shape.dtype)))
        return found

    def result(self, outputs: Iterator[Tensor]) -> Any:
        return IndexedSlices(*(raw.Identity(next(outputs)) for _ in self.variables))

    def nodes(self, x: Tensor) -> int:
        """23, and more for a row whose size only the run knows: 5 if a variable states it, 9 from the shape of a tensor."""
        row = 0 if self.grad.values.shape.is_fully_defined() else 5 if x.dtype.base_dtype is dtypes.resource else 9
        full = self.grad.dense_shape
        return 23 + row + (-6 if full is None else not full.shape.is_fully_defined())


# -- loops -------------------------------------------------------------------------------------------------------------

class _LoopGradient:
    """Builds the backward loop of one While."""

    def __init__(self, op: Operation, grads: tuple, needed: set[int], gate: bool):
        self.needed = needed
        self.op, self.body = op, bodies(op)[1]
        self.size = len(op.inputs)
        self.changes = [out is not into for out, into in zip(self.body.outputs, self.body.inputs)]
        self.given = {k: _dense(g) for k, g in enumerate(grads) if g is not None and flows(op.outputs[k])}
        self.invariant = set(self.body.captures.values())
        self.graph = FunctionGraph("body_grad")
        self.graph.counts_gates = gate
        self.graph.repeats_loop = True
        self.gate = gate
        self.nodes = 0              # how many nodes TensorFlow makes, see jitgraph.graph.ids
        self.variables, self.captures = self._reached()

    def _reached(self) -> tuple[list[int], list[int]]:
        """The loop variables, and the tensors only read, that a gradient may arrive at."""
        variables = {k for k in self.given if self.changes[k]}
        while True:
            inputs = self._behind([self.body.outputs[k] for k in variables])
            more = variables | {k for k in inputs if self.changes[k]}
            if more == variables:
                useful = self._useful()
                return sorted(variables & useful), sorted(k for k in inputs if not self.changes[k] and k in useful)
            variables = more

    def _useful(self) -> set[int]:
        """The inputs of the body through which a gradient comes to an input of the loop that needs one."""
        return {k for k, inputs in enumerate(inputs_behind(self.op, _takes_gradient)) if inputs & self.needed}

    def _behind(self, tensors: list[Tensor]) -> list[int]:
        """The inputs of the body that gradients of these tensors of it may arrive at."""
        return sorted({k for tensor in tensors for k in self.body.inputs_behind(tensor, _takes_gradient)})

    def build(self) -> list:
        """The gradients of all inputs of the While."""
        answer: list = [None] * self.size
        for k, grad in self.given.items():
            if not self.changes[k]:
                answer[k] = grad
        self._count_passed()
        if self.variables:
            self._inside()
            node = self._make()
            self.nodes += sum(map(self._added_up_nodes, self.captures, self.totals))
            outputs = iter(node.outputs[1:])
            for k in self.variables:
                answer[k] = raw.Identity(next(outputs))
            for k, total in zip(self.captures, self.totals):
                result = total.result(outputs)
                answer[k] = result if answer[k] is None else raw.AddN([answer[k], result])
        return answer + [None] * (len(self.op.inputs) - self.size)      # what the loop saves is new

    def _added_up_nodes(self, k: int, total: _Sum | _Rows) -> int:
        """How many nodes TensorFlow makes to add up the gradient of what the loop only reads: the sum in its loop, from zeros,
        or from what arrives if it is a variable that the loop does not change."""
        if self.body.inputs[k] in self.invariant:
            return total.nodes(self.op.inputs[k])
        return 6 if k in self.given else 7

    def _count_passed(self) -> None:
        """Counts what TensorFlow makes of any loop that a gradient arrives at: 8 nodes that count iterations forwards and 10
        backwards; 5 for a gradient that goes past the body; zeros and an Enter for each variable that none arrives at."""
        unused = [k for k, t in enumerate(self.body.inputs) if flows(t) and t not in self.invariant
                  and t not in notes(self.op).added and k not in self.given and k not in self.variables and k not in self.captures]
        notes(self.op).unused = frozenset(unused)
        passed = [k for k in self.given if not self.changes[k] and k not in self.captures]
        self.nodes += 18 + 5 * len(passed) + 2 * len(unused)
        self.nodes += 3 * (len(passed) + len(self.variables)) * self.gate           # its Merge hands a gradient to two places

    def _inside(self) -> None:
        """The body of the backward loop: one iteration again, and its gradient."""
        graph, body = self.graph, self.body
        self.count = graph._placeholder(dtypes.int32, (), "iterations")
        self.arriving = [graph._placeholder(body.outputs[k].dtype, body.inputs[k]._shape, "grad")
                         for k in self.variables]
        self.saved: dict[Tensor, tuple] = {}        # tensor of the body -> (list, the rest of it, the value)
        known = {theirs: self._restored(theirs) if self.changes[k] else graph.capture(self.op.inputs[k])
                 for k, theirs in enumerate(body.inputs)}
        record = record_of(body)
        if record is not None:
            known.update(replayed(body, graph, self._restored(record)))
        with graph.as_default():
            replay = Replay(body, graph, known)
            ys = [replay(body.outputs[k]) for k in self.variables]
            inputs = [body.inputs[k] for k in [*self.variables, *self.captures]]
            xs = [known[tensor] for tensor in inputs]
            graph._ids.last, before = -len(self.arriving), graph.version       # not counting the Identity of each
            found = [grad if body.inputs[k] in self.invariant else _dense(grad) for k, grad
                     in zip([*self.variables, *self.captures], _of_inputs(replay, ys, inputs, self.arriving))]
            self._count(replay, graph.get_operations()[before:])
            # zeros for the next iteration, which enter the loop where their shape is computed
            self.nodes += sum({1: 1, 3: 4}[_zeros_nodes(x)] for x, grad in zip(xs, found[:len(self.variables)]) if grad is None)
            self._save_products(replay)
            count = len(self.variables)
            self.leaving = [_zeros(x) if grad is None else grad for x, grad in zip(xs, found[:count])]
            self.captures, arrived = self._without_none(found[count:])
            self.totals = [(_Rows if isinstance(grad, IndexedSlices) else _Sum)(graph, grad) for grad in arrived]
            self.next_count = self.count - 1

    def _count(self, replay: Replay, made: list[Operation]) -> None:
        """Counts what TensorFlow makes: 5 nodes for each variable, and what the gradient takes of the forward loop: a
        constant or an invariant once more, anything else from a stack."""
        theirs = {mine: tensor for tensor, mine in replay.known.items()}
        copies = set(replay.copies.values())
        made = [op for op in made if op not in copies]
        shapes = [op for op in made if op.opdef is not None and op.opdef.of_shape is not None and len(op.outputs) == 1
                  and op.inputs[0].dtype.base_dtype is not dtypes.resource]
        measured = [op.inputs[0] for op in shapes if op.inputs[0] in theirs and op.outputs[0].consumers()
                    and op.__dict__.get("measures", True)]
        measured += [tensor for tensor in self.graph.measured if tensor in theirs]
        taken = {theirs[t] for op in made if op not in shapes for k, t in enumerate(op.inputs)
                 if t in theirs and ARRAY_GRADIENTS.get(op.type) != k}
        taken |= {theirs[tensor] for tensor in self.graph.taken if tensor in theirs}
        stacks = sum(t not in self.invariant and t.op.type != "Const" for t in taken)
        constants, stacks = len(taken) - stacks, stacks + len(measured)         # shapes are taken in the forward loop
        self.nodes += 5 * len(self.variables) + self.graph._ids.last + constants + 6 * stacks
        self.nodes += stacks > 0 and self.op.attrs["parallel_iterations"] != 1         # they wait for each other
        self.nodes += sum(op.type in ARRAY_GRADIENTS for op in made) + sum(k not in self.given for k in self.variables)

    def _save_products(self, replay: Replay) -> None:
        """What is computed from costly products takes them from the forward loop, or a sum where that is all that is made of them.
        (Their copies are there all the same: the gradient was built through them.)"""
        worth: dict[Tensor, Tensor] = {}        # tensor of the body -> its copy
        for op in self.body.get_operations():
            copy = None if op.opdef is None else replay.copies.get(op)
            if copy is None or not copy.outputs or not copy.outputs[0].consumers():
                continue
            terms = [t for t in op.inputs if t in worth] if op.type in SUMS else []
            of_terms = terms and all(_same_size(t, op.outputs[0]) and all(c is copy for c in worth[t].consumers()) for t in terms)
            if of_terms or op.opdef.costly:
                worth[op.outputs[0]] = copy.outputs[0]
                for term in set(terms):
                    del worth[term]
        for tensor, copied in worth.items():
            saved = self._restored(tensor)
            for consumer in copied.consumers():
                for k, given in enumerate(consumer.inputs):
                    if given is copied:
                        consumer._set_input(k, saved)

    def _without_none(self, grads: list) -> tuple[list[int], list]:
        pairs = [(k, grad) for k, grad in zip(self.captures, grads) if grad is not None]
        return [k for k, _ in pairs], [grad for _, grad in pairs]

    def _restored(self, tensor: Tensor) -> Tensor:
        """The value that a tensor of the body had in the iteration."""
        handle = self.graph._placeholder(dtypes.variant, (), "saved")
        with self.graph.as_default():
            rest, value = popped(handle, tensor)
        self.saved[tensor] = (handle, rest, value)
        return value

    def _make(self) -> Operation:
        """The backward loop itself.  Saved is only what it needs."""
        graph, op = self.graph, self.op
        outputs = [self.next_count, *self.leaving, *(tensor for total in self.totals for tensor in total.following)]
        needed = _ancestors(outputs)
        saved = {t: parts for t, parts in self.saved.items() if parts[2].op in needed}
        lists = [accumulate(op, tensor) for tensor in saved]
        first = [counter(op), *(self.given[k] if k in self.given else _zeros(op.outputs[k]) for k in self.variables),
                 *(tensor for k, total in zip(self.captures, self.totals) for tensor in total.first(op.inputs[k])), *lists]
        placeholders = [self.count, *self.arriving, *(tensor for total in self.totals for tensor in total.variables),
                        *(parts[0] for parts in saved.values())]
        graph.inputs = [*placeholders, *graph.captures.values()]
        graph.outputs = [*outputs, *(parts[1] for parts in saved.values())]
        cond = FunctionGraph("cond_grad")
        copies = [cond.add_input(t.dtype, t._shape) for t in placeholders]
        with cond.as_default():
            cond.outputs = [copies[0] > 0]
        return make_while(first, cond, graph, "While", op.attrs["parallel_iterations"])


def _ancestors(tensors: list[Tensor]) -> set[Operation]:
    found: set[Operation] = set()
    stack = [t.op for t in tensors]
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack.extend(t.op for t in op.inputs)
    return found


def _gradient(op: Operation, *grads: Any, needed: set[int], gate: bool) -> list:
    return gradient(op, grads, needed, gate)


vars(_gradient)["takes_none"] = True         # gradients of outputs that nobody asks for stay None
vars(_gradient)["takes_needed"] = True       # and those of inputs that nobody asks for are not built
vars(_gradient)["takes_gate"] = True
for _builder in DIFFERENTIABLE:
    _builder.gradient(_gradient)


def whole_gradient(op: Operation, *grads: Any, needed: set[int], gate: bool) -> list:
    """The gradient of a call of which TensorFlow makes a node that answers for every argument: zeros where nothing arrives."""
    found = gradient(op, grads, needed, gate)
    return [_zeros(tensor) if grad is None and k in needed and flows(tensor) else grad
            for k, (tensor, grad) in enumerate(zip(op.inputs, found))]


vars(whole_gradient).update(vars(_gradient))
