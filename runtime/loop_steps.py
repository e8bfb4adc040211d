"""What a loop does itself, instead of leaving it to the plan of its body: taking elements out of TensorArrays and lists
that it walks along, storing them, and adding up products.

Such an operation is a step on the host; with it the body would be in pieces, and its shapes perhaps unknown.  Done
between the iterations, it costs next to nothing: elements are fed to the plan and fetched from it.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from jitgraph.compiler import options
from jitgraph.compiler.prune import Reached
from jitgraph.graph.errors import OpError
from jitgraph.tensor_arrays.host_values import boxed, unboxed
from jitgraph.tensor_arrays.in_place_arrays import array_behind, stack_behind
from jitgraph.tensor_arrays.in_place_ops import is_in_place
from jitgraph.tensor_arrays.tensor_array_values import OneElement, Zero, elements_of

from .hostcall import located
from .product_sums import ProductSum, Sum, product_in
from .scalar_expressions import Expressions, through

_FLOW = np.zeros((), np.float32)        # the flow of an array that is changed in place says nothing


class LoopSteps:
    """How one iteration gets from the loop's variables to the next ones.

    `fed`: tensors of the body that the loop computes, before the plan; `fetches`: tensors that the plan computes, of
    which the first are the next values of the variables `targets`; `effects`: operations that the plan runs for what
    they do.
    """

    def __init__(self, body, invariant, cond, state):
        self.body, self.invariant, self.cond, self.state = body, invariant, cond, state
        self.collects = state.jit != "off" and options.present().uses("product_sums")
        self.fed: list = []
        self.targets: list[int] = []
        self.fetches: list = []
        self.takes: list[Callable] = []             # (values, fed so far) -> the value of the next fed tensor
        self.stores: list[tuple[int, Callable]] = []        # (variable, (values, found) -> its next value)
        self.changes: list[Callable] = []           # (values, found): what changes arrays and stacks in place
        self.lists: set[int] = set()                # lists: without their boxes while the loop runs
        self.sums: dict[int, ProductSum] = {}       # variables to which every iteration adds a product
        self.looked_at: set[int] = set()            # variables that say what is taken
        self.stored_variables: set[int] = set()     # whose values in all iterations are stored ...
        self.stored_fetches: set[int] = set()       # ... and numbers of such fetches
        self.in_place = False                       # whether arrays or stacks are changed in place
        self.places = {t: k for k, t in enumerate(body.inputs)}
        self.waited = {c for op in body.get_operations() for c in op.control_inputs}
        self.expressions = Expressions(body)
        kept = [(k, t) for k, t in enumerate(body.outputs) if not invariant[k]]
        needed = Reached()
        needed.want([t for _, t in kept], body.control_outputs)
        self.operations = [op for op in body.get_operations() if op in needed.ops]
        kept = [(k, t) for k, t in kept if not self._pop(k, t)]
        self._reads()
        changing = self._changing()
        done = {t.op for t in self.fed} | set(changing)
        self.effects = [op for op in body.control_outputs if op not in done]
        later = [(k, t, self._storing(k, t)) for k, t in kept]
        for k, tensor, make in later:
            if make is None:
                self.targets.append(k)
                self.fetches.append(tensor)
        for k, _, make in later:
            if make is not None:
                self.stores.append((k, make(self)))
        self.changes += [make() for make in changing.values()]
        self.in_place |= bool(self.changes)

    def begin(self, values):
        """Makes the loop's variables ready for the first iteration."""
        for k in self.lists:
            values[k] = unboxed(values[k])
        for k, product in self.sums.items():
            values[k] = Sum(product, values[k])

    def end(self, values):
        """Makes the loop's variables final values after the last iteration."""
        for k in self.lists:
            values[k] = boxed(values[k])
        for k in self.sums:
            values[k] = values[k].value()

    def before(self, values) -> list:
        """The values of the fed tensors for the next iteration."""
        fed: list = []
        for take in self.takes:
            fed.append(take(values, fed))
        return fed

    def after(self, values, found):
        """The loop's variables after an iteration that gave `found` for the fetches."""
        for change in self.changes:
            change(values, found)
        new = [(k, store(values, found)) for k, store in self.stores]
        for k, value in zip(self.targets, found):
            values[k] = value
        for k, value in new:
            values[k] = value

    # taking ----------------------------------------------------------------------------------------------------
    def _pop(self, k, output) -> bool:
        """The last element of a list that is a loop variable, and the list without it."""
        op = output.op
        if op.type != "TensorListPopBack" or output.value_index or not self._alone(k, output, 0) or not self._unseen(k):
            return False

        def take(values, fed):
            values[k], value = values[k].pop()
            return value

        self.lists.add(k)
        self._feed(op.outputs[1], take, ())
        return True

    def _reads(self):
        """Elements of TensorArrays that the loop does not change, or not before they are read."""
        for op in self.operations:
            if op.type == "TensorArrayReadV3" and self._apart(op):
                self._read_in_place(op) if is_in_place(op) else self._read(op)
            elif op.type in ("StackPopV2", "StackPop") and self._apart(op):
                self._pop_in_place(op)
            elif op.type == "TensorArrayElementGradient" and self._apart(op):
                self._read_gradient(op)

    def _read(self, op):
        handle, flow = self._place(op.inputs[0]), self._place(op.inputs[2])
        index = self.expressions.function(op.inputs[1])
        if handle is None or flow is None or index is None:
            return
        replays = op.replays

        def take(values, fed):
            try:
                return unboxed(values[handle]).read(unboxed(values[flow]), int(index(values, fed)), replays)
            except OpError as error:
                raise located(error, op) from None

        self._feed(op.outputs[0], take, {handle, flow, *self.expressions.variables(op.inputs[1])})

    def _read_gradient(self, op):
        flow, shape = self._place(op.inputs[0]), op.inputs[2]._shape
        index = self.expressions.function(op.inputs[1])
        if flow is None or index is None or shape is None or None in shape:
            return
        zeros = np.zeros(shape, op.inputs[2].dtype.as_numpy_dtype)

        def take(values, fed):
            gradient = elements_of(values[flow])
            value = None if isinstance(gradient, Zero) else gradient.get(int(index(values, fed)))
            return zeros if value is None else value

        self._feed(op.outputs[0], take, {flow, *self.expressions.variables(op.inputs[1])})

    def _feed(self, tensor, take, looked_at=None):
        """Has `take` give a tensor's value, by looking at these variables (None: at what changes in place)."""
        self.in_place |= looked_at is None
        self.looked_at.update(looked_at or ())
        self.expressions.add_fed(tensor, len(self.fed))
        self.fed.append(tensor)
        self.takes.append(take)

    # storing ---------------------------------------------------------------------------------------------------
    def _storing(self, k, output):
        """How the next value of variable `k` comes about without the plan: a function that makes the step, or None."""
        op = output.op
        if op.type == "TensorListPushBack" and self._alone(k, output, 0) and self._unseen(k):
            self.lists.add(k)
            return lambda steps: _pushing(k, steps.operand(op.inputs[1]))
        if op.type == "TensorArrayWriteV3" and not is_in_place(op) and self._alone(k, output, 3) \
                and self._place(op.inputs[0]) is not None:
            return lambda steps: _writing(op, k, self._place(op.inputs[0]), steps.operand(op.inputs[1]),
                                          steps.operand(op.inputs[2]))
        if op.type == "AddN" and len(op.inputs) == 2 and self._alone(k, output, 0) and self._one_element(op.inputs[1]):
            one = op.inputs[1].op
            return lambda steps: _adding(k, self._place(one.inputs[0]), steps.operand(one.inputs[1]),
                                         steps.operand(one.inputs[2]))
        product = product_in(output, self.body.inputs[k]) if self.collects else None
        if product is not None and self._alone(k, output, 0) and self._apart(product) and self._unseen(k):
            self.sums[k] = ProductSum(product, self.state)
            return lambda steps: _collecting(k, steps.operand(product.inputs[0]), steps.operand(product.inputs[1]))
        return None

    def _one_element(self, tensor) -> bool:
        """Whether a tensor is the gradient that one read of a TensorArray sends, for this sum only."""
        return (tensor.op.type == "TensorArrayGradientOfElement" and len(tensor._consumers) == 1
                and self._apart(tensor.op) and self._place(tensor.op.inputs[0]) is not None)

    def operand(self, tensor) -> Callable:
        """(values, found) -> the value of a tensor after the iteration, in memory that nobody writes."""
        k = self._place(tensor)
        if k is not None:
            self.stored_variables.add(k)
            return (lambda values, found: np.array(values[k])) if self.invariant[k] else lambda values, found: values[k]
        if tensor in self.fetches:
            number = self.fetches.index(tensor)
        else:
            number = len(self.fetches)
            self.fetches.append(tensor)
        self.stored_fetches.add(number)
        return lambda values, found: found[number]

    def _place(self, tensor):
        """The number of the input of the body that a tensor is, None if it is none."""
        return self.places.get(through(tensor))

    # arrays and stacks that are changed in place ---------------------------------------------------------------
    def _array(self, handle) -> Callable | None:
        """values -> what stands behind a handle that no iteration changes."""
        k = self._place(handle)
        if k is not None:
            return lambda values: array_behind(values[k])
        op = handle.op
        around = self._array(op.inputs[0]) if op.type == "TensorArrayGradV3" and is_in_place(op) else None
        source = op.attrs.get("source")
        return None if around is None else lambda values: around(values).gradient(source)

    def _is_first(self, flow) -> bool:
        """Whether a flow says of nothing in the iteration that it must come before."""
        while flow not in self.places:
            op = flow.op
            if op.type == "Identity" and all(c.type == "TensorArrayGradV3" for c in op.control_inputs):
                flow = op.inputs[0]
            elif op.type == "TensorArrayGradV3" and is_in_place(op):
                flow = op.inputs[1]
            else:
                return False
        return True

    def _is_last(self, flow) -> bool:
        """Whether nothing in the iteration waits for a flow but the next value of a variable."""
        stack = list(flow._consumers)
        while stack:
            op = stack.pop()
            if op.type not in ("Add", "AddV2", "AddN", "Identity") or op in self.waited:
                return False
            stack.extend(op.outputs[0]._consumers)
        return True

    def _read_in_place(self, op):
        array, index = self._array(op.inputs[0]), self.expressions.function(op.inputs[1])
        if array is None or index is None or not self._is_first(op.inputs[2]):
            return
        replays = op.replays

        def take(values, fed):
            try:
                return np.asarray(array(values).read(int(index(values, fed)), replays))
            except OpError as error:
                raise located(error, op) from None

        self._feed(op.outputs[0], take)

    def _pop_in_place(self, op):
        k = self._place(op.inputs[0])
        if k is None or len(self.body.inputs[k]._consumers) > 1:
            return

        def take(values, fed):
            try:
                return stack_behind(values[k]).pop()
            except OpError as error:
                raise located(error, op) from None

        self._feed(op.outputs[0], take)

    def _changing(self) -> dict:
        """{operation: a function that makes its change} for what may be done after the plan."""
        found: dict = {}
        for op in self.operations:
            if not self._apart(op):
                continue
            if op.type in ("StackPushV2", "StackPush"):
                k = self._place(op.inputs[0])
                if k is not None and not op.outputs[0]._consumers and len(self.body.inputs[k]._consumers) == 1:
                    found[op] = partial(self._push_in_place, op, k)
            elif op.type == "TensorArrayWriteV3" and is_in_place(op):
                array = self._array(op.inputs[0])
                if array is not None and self._is_first(op.inputs[3]) and self._is_last(op.outputs[0]):
                    found[op] = partial(self._write_in_place, op, array)
                    self._feed(op.outputs[0], lambda values, fed: _FLOW)
        return found

    def _push_in_place(self, op, k) -> Callable:
        value = self.operand(op.inputs[1])

        def change(values, found):
            try:
                stack_behind(values[k]).push(np.asarray(value(values, found)))
            except OpError as error:
                raise located(error, op) from None

        return change

    def _write_in_place(self, op, array) -> Callable:
        index, value, replays = self.operand(op.inputs[1]), self.operand(op.inputs[2]), op.replays

        def change(values, found):
            try:
                array(values).write(int(index(values, found)), np.asarray(value(values, found)), replays)
            except OpError as error:
                raise located(error, op) from None

        return change

    # what may be done outside ----------------------------------------------------------------------------------
    def _apart(self, op) -> bool:
        """Whether nothing but data says when an operation is to run."""
        return not op.control_inputs and op not in self.waited

    def _unseen(self, k) -> bool:
        """Whether the loop's condition does not look at a variable."""
        return not self.cond.inputs[k]._consumers and self.cond.inputs[k] not in self.cond.outputs

    def _alone(self, k, output, position) -> bool:
        """Whether an operation is the only one that uses variable `k` (its input `position`), and only for `output`."""
        into = self.body.inputs[k]
        return (self._apart(output.op) and output.op.inputs[position] is into and not output._consumers
                and len(into._consumers) == 1 and self.body.outputs.count(output) == 1)


def _pushing(k, value) -> Callable:
    return lambda values, found: values[k].push(value(values, found))


def _writing(op, k, handle, index, value) -> Callable:
    replays = op.replays

    def store(values, found):
        element = np.asarray(value(values, found))
        try:
            return boxed(unboxed(values[handle]).write(unboxed(values[k]), int(index(values, found)), element, replays))
        except OpError as error:
            raise located(error, op) from None

    return store


def _collecting(k, x, y) -> Callable:
    def store(values, found):
        values[k].append(x(values, found), y(values, found))
        return values[k]

    return store


def _adding(k, flow, index, value) -> Callable:
    def store(values, found):
        elements, position = elements_of(values[flow]), int(index(values, found))
        size = 0 if isinstance(elements, Zero) else elements.size
        return boxed(OneElement(position, np.asarray(value(values, found)), max(size, position + 1))
                     + elements_of(values[k]))

    return store
