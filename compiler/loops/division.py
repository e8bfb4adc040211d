"""How an iteration of a loop is divided between the loop itself and the sub-program of its body.

Taking elements out of TensorArrays and lists that the loop walks along, and storing them, are steps on the host; with
them the body would be in pieces, and its shapes perhaps unknown.  Done between the iterations, they cost next to nothing:
elements are fed to the body and fetched from it.
"""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from jitgraph.graph.function_graph import FunctionGraph, is_state
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor
from jitgraph.tensor_arrays.in_place_ops import is_in_place

from ..order import touched_variables, variable_of
from ..prune import Reached
from .expressions import Expressions, through
from .product_sums import ProductSum, product_in
from .row_products import EarlyTerms, Fixed, FixedInput, FixedVariable, LateRows, early_terms
from .steps import (
    AddElement,
    AddProduct,
    AddRows,
    ArrayPlace,
    Change,
    OfFetch,
    OfRecord,
    OfVariable,
    Operand,
    PushOnStack,
    Store,
    StoreElement,
    StoreLast,
    Take,
    TakeElement,
    TakeElementInPlace,
    TakeFlow,
    TakeFromStack,
    TakeGradient,
    TakeLast,
    TakePart,
    TakeTerms,
    WriteInPlace,
    ZerosLike,
)


class Division:
    """How one iteration gets from the loop's variables to the next ones.

    `fed`: tensors of the body that the loop computes, before the body, by the steps `takes`; `fetches`: tensors that the
    body computes, of which the first are the next values of the variables `targets`; `effects`: operations that the body
    runs for what they do; `stores`: steps that give the next values of other variables; `changes`: steps that change
    arrays and stacks in place.  `collects`: whether products that are added up are collected; `foresees`: whether products
    that do not wait for one another are made for many iterations at once.
    """

    def __init__(self, body: FunctionGraph, invariant: list[bool], cond: FunctionGraph, collects: bool, foresees: bool) -> None:
        self.body, self.invariant, self.cond, self.collects, self.foresees = body, invariant, cond, collects, foresees
        self.fed: list[Tensor] = []
        self.takes: list[Take] = []
        self.targets: list[int] = []
        self.fetches: list[Tensor] = []
        self.stores: list[Store] = []
        self.changes: list[Change] = []
        self.lists: set[int] = set()                # lists: without their boxes while the loop runs
        self.sums: dict[int, ProductSum] = {}       # variables to which every iteration adds a product
        self.terms: list[EarlyTerms] = []           # of products, which are there before the iterations
        self.late: dict[int, LateRows] = {}         # variables to which come products that are made after them
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
        self.written = {v for op in (*self.operations, *cond.get_operations()) for v, writes in touched_variables(op) if writes}
        if foresees:
            self._terms()
        changing = self._changing()
        done = {t.op for t in self.fed} | set(changing)
        self.effects = [op for op in body.control_outputs if op not in done]
        stored = [(k, t, self._is_stored(k, t)) for k, t in kept]
        for k, tensor, apart in stored:         # first, since what the body computes for these may be stored as well
            if not apart:
                self.targets.append(k)
                self.fetches.append(tensor)
        self.stores = [self._store(k, tensor) for k, tensor, apart in stored if apart]
        self.changes = [self._change(op) for op in changing]
        self.in_place |= bool(self.changes)

    # taking ----------------------------------------------------------------------------------------------------
    def _pop(self, k: int, output: Tensor) -> bool:
        """The last element of a list that is a loop variable, and the list without it."""
        op = output.op
        if _role(op) != "take last" or output.value_index or not self._alone(k, output, 0) or not self._unseen(k):
            return False
        self.lists.add(k)
        self._feed(op.outputs[1], TakeLast(k), ())
        number = len(self.fed) - 1
        for user in op.outputs[1]._consumers:       # the parts of a record are fed, so that the body need not take it apart
            if user.type == "Recorded" and self._apart(user) and _all_plain(user.outputs):
                for part, tensor in enumerate(user.outputs):
                    self._feed(tensor, TakePart(number, part), ())
        return True

    def _reads(self) -> None:
        """Elements of TensorArrays that the loop does not change, or not before they are read."""
        for op in self.operations:
            role = _role(op)
            if role == "read" and self._apart(op):
                self._read_in_place(op) if is_in_place(op) else self._read(op)
            elif role == "pop" and self._apart(op):
                self._pop_in_place(op)
            elif role == "read gradient" and self._apart(op):
                self._read_gradient(op)

    def _read(self, op: Operation) -> None:
        handle, flow = self._place(op.inputs[0]), self._place(op.inputs[2])
        index = self.expressions.function(op.inputs[1])
        if handle is None or flow is None or index is None:
            return
        looked_at = {handle, flow, *self.expressions.variables(op.inputs[1])}
        self._feed(op.outputs[0], TakeElement(op, handle, flow, index), looked_at)

    def _terms(self) -> None:
        """Terms of products that are made of elements which are there before the first iteration."""
        steps = dict(zip(self.fed, self.takes))
        early = {t for t, step in steps.items() if isinstance(step, TakeElement) and self.invariant[step.flow]}
        for op in self.operations:
            terms = early_terms(op, early.__contains__, self._fixed)
            if terms is not None:
                step = steps[terms.element]
                assert isinstance(step, TakeElement)
                self._feed(terms.tensor, TakeTerms(len(self.terms), step.flow, step.at, self.fed.index(terms.element)), ())
                self.terms.append(terms)

    def _fixed(self, tensor: Tensor) -> Fixed | None:
        """Where a value comes from that all iterations share; None if they do not."""
        k = self._place(tensor)
        op = through(tensor).op
        if op.opdef is not None and op.opdef.state == "read" and op.inputs[0].dtype.name == "resource" and not op.control_inputs:
            tensor = op.inputs[0]
        elif k is not None and not is_state(self.body.inputs[k]):
            return FixedInput(k) if self.invariant[k] else None
        variable = variable_of(tensor)
        return FixedVariable(variable) if variable is not None and variable not in self.written else None

    def _read_gradient(self, op: Operation) -> None:
        flow, index, zeros = self._place(op.inputs[0]), self.expressions.function(op.inputs[1]), self._zeros_like(op.inputs[2])
        if flow is None or index is None or zeros is None:
            return
        looked_at = {flow, *self.expressions.variables(op.inputs[1])}
        if isinstance(zeros, ZerosLike):
            looked_at |= {number for is_fed, number in zeros.places if not is_fed}
        self._feed(op.outputs[0], TakeGradient(flow, index, zeros), looked_at)

    def _zeros_like(self, tensor: Tensor) -> np.ndarray | ZerosLike | None:
        """Zeros of a tensor's shape; None if that does not follow from what is known before the body runs."""
        shape = tensor._shape
        if shape is not None and None not in shape:
            return np.zeros(shape, tensor.dtype.as_numpy_dtype)
        given: dict[Tensor, tuple[bool, int]] = {}
        seen, pending = {tensor}, [tensor]
        while pending:
            one = pending.pop()
            if is_state(one):
                continue            # the plan reads the variable
            if one in self.fed or one in self.places and self.places[one] not in self.lists:
                given[one] = (True, self.fed.index(one)) if one in self.fed else (False, self.places[one])
            elif one in self.places or one.op.control_inputs or not one.op.opdef.pure:
                return None
            else:
                pending.extend(t for t in one.op.inputs if t not in seen)
                seen.update(one.op.inputs)
        return ZerosLike(tensor, [*given], [*given.values()])

    def _read_in_place(self, op: Operation) -> None:
        array, index = self._array(op.inputs[0]), self.expressions.function(op.inputs[1])
        if array is not None and index is not None and self._is_first(op.inputs[2]):
            self._feed(op.outputs[0], TakeElementInPlace(op, array, index))

    def _pop_in_place(self, op: Operation) -> None:
        k = self._place(op.inputs[0])
        if k is not None and len(self.body.inputs[k]._consumers) == 1:
            self._feed(op.outputs[0], TakeFromStack(op, k))

    def _feed(self, tensor: Tensor, take: Take, looked_at: Iterable[int] | None = None) -> None:
        """Has `take` give a tensor's value, by looking at these variables (None: at what changes in place)."""
        self.in_place |= looked_at is None
        self.looked_at.update(looked_at or ())
        self.expressions.add_fed(tensor, len(self.fed))
        self.fed.append(tensor)
        self.takes.append(take)

    # storing ---------------------------------------------------------------------------------------------------
    def _is_stored(self, k: int, output: Tensor) -> bool:
        """Whether the next value of variable `k` comes about by a step of the loop, and not as a fetch."""
        op, role = output.op, _role(output.op)
        if role == "append":
            return self._alone(k, output, 0) and self._unseen(k)
        if role == "write":
            return not is_in_place(op) and self._alone(k, output, 3) and self._place(op.inputs[0]) is not None
        if self._adds_element(op) and self._alone(k, output, 0):
            return True
        product = self._product(k, output)
        return product is not None and self._alone(k, output, 0) and self._apart(product) and self._unseen(k)

    def _store(self, k: int, output: Tensor) -> Store:
        """The step that gives the next value of variable `k`."""
        op, role = output.op, _role(output.op)
        if role == "append":
            self.lists.add(k)
            return StoreLast(k, self._recorded(op.inputs[1]))
        if role == "write":
            handle = self._place(op.inputs[0])
            assert handle is not None
            return StoreElement(op, k, handle, self._operand(op.inputs[1]), self._operand(op.inputs[2]))
        if self._adds_element(op):
            one = op.inputs[1].op
            flow = self._place(one.inputs[0])
            assert flow is not None
            late = LateRows.of(one.inputs[2], self._fixed) if self.foresees else None
            if late is None:
                return AddElement(k, flow, self._operand(one.inputs[1]), self._operand(one.inputs[2]))
            self.late[k] = late
            return AddRows(k, flow, self._operand(one.inputs[1]), [self._operand(t) for t in late.leaves])
        product = self._product(k, output)
        assert product is not None
        self.sums[k] = ProductSum(product)
        return AddProduct(k, self._operand(product.inputs[0]), self._operand(product.inputs[1]))

    def _product(self, k: int, output: Tensor) -> Operation | None:
        return product_in(output, self.body.inputs[k]) if self.collects else None

    def _adds_element(self, op: Operation) -> bool:
        """Whether an operation adds the gradient that one read of a TensorArray sends, to which nothing else is added."""
        if op.opdef is None or not op.opdef.adds or len(op.inputs) != 2:
            return False
        element = op.inputs[1]
        return (_role(element.op) == "gradient of read" and len(element._consumers) == 1 and self._apart(element.op)
                and self._place(element.op.inputs[0]) is not None)

    def _operand(self, tensor: Tensor) -> OfVariable | OfFetch:
        """Where the value of a tensor is after the iteration, in memory that nobody writes."""
        k = self._place(tensor)
        if k is not None and not is_state(self.body.inputs[k]):      # the plan reads a variable
            self.stored_variables.add(k)
            return OfVariable(k, self.invariant[k])
        if tensor not in self.fetches:
            self.fetches.append(tensor)
        number = self.fetches.index(tensor)
        self.stored_fetches.add(number)
        return OfFetch(number)

    def _recorded(self, tensor: Tensor) -> Operand:
        """The same for what goes onto a list, which may be a record that nothing else wants: the loop makes that of its parts."""
        op = tensor.op
        if op.type != "Record" or len(tensor._consumers) != 1 or not self._apart(op) or not _all_plain(op.inputs):
            return self._operand(tensor)
        return OfRecord([self._operand(part) for part in op.inputs])

    def _place(self, tensor: Tensor) -> int | None:
        """The number of the input of the body that a tensor is, None if it is none."""
        return self.places.get(through(tensor))

    # arrays and stacks that are changed in place ---------------------------------------------------------------
    def _array(self, handle: Tensor) -> ArrayPlace | None:
        """What stands behind a handle that no iteration changes."""
        k = self._place(handle)
        if k is not None:
            return ArrayPlace(k)
        op = handle.op
        around = self._array(op.inputs[0]) if _role(op) == "gradient array" and is_in_place(op) else None
        return None if around is None else ArrayPlace(around.variable, (*around.sources, op.attrs["source"]))

    def _is_first(self, flow: Tensor) -> bool:
        """Whether a flow says of nothing in the iteration that it must come before."""
        while flow not in self.places:
            op = flow.op
            if _forwards(op) and all(_role(c) == "gradient array" for c in op.control_inputs):
                flow = op.inputs[0]
            elif _role(op) == "gradient array" and is_in_place(op):
                flow = op.inputs[1]
            else:
                return False
        return True

    def _is_last(self, flow: Tensor) -> bool:
        """Whether nothing in the iteration waits for a flow but the next value of a variable."""
        stack = list(flow._consumers)
        while stack:
            op = stack.pop()
            if not (_forwards(op) or op.opdef is not None and op.opdef.adds) or op in self.waited:
                return False
            stack.extend(op.outputs[0]._consumers)
        return True

    def _changing(self) -> list[Operation]:
        """The operations that change something in place and may be done after the body."""
        found: list[Operation] = []
        for op in self.operations:
            if not self._apart(op):
                continue
            if _role(op) == "push":
                k = self._place(op.inputs[0])
                if k is not None and not op.outputs[0]._consumers and len(self.body.inputs[k]._consumers) == 1:
                    found.append(op)
            elif _role(op) == "write" and is_in_place(op):
                if self._array(op.inputs[0]) is not None and self._is_first(op.inputs[3]) and self._is_last(op.outputs[0]):
                    found.append(op)
                    self._feed(op.outputs[0], TakeFlow())
        return found

    def _change(self, op: Operation) -> Change:
        """The step that does what such an operation does."""
        if _role(op) == "push":
            k = self._place(op.inputs[0])
            assert k is not None
            return PushOnStack(op, k, self._operand(op.inputs[1]))
        array = self._array(op.inputs[0])
        assert array is not None
        return WriteInPlace(op, array, self._operand(op.inputs[1]), self._operand(op.inputs[2]))

    # what may be done outside ----------------------------------------------------------------------------------
    def _apart(self, op: Operation) -> bool:
        """Whether nothing but data says when an operation is to run."""
        return not op.control_inputs and op not in self.waited

    def _unseen(self, k: int) -> bool:
        """Whether the loop's condition does not look at a variable."""
        return not self.cond.inputs[k]._consumers and self.cond.inputs[k] not in self.cond.outputs

    def _alone(self, k: int, output: Tensor, position: int) -> bool:
        """Whether an operation is the only one that uses variable `k` (its input `position`), and only for `output`."""
        into = self.body.inputs[k]
        return (self._apart(output.op) and output.op.inputs[position] is into and not output._consumers
                and len(into._consumers) == 1 and self.body.outputs.count(output) == 1)


def _role(op: Operation) -> str | None:
    """What an operation does with an element of a TensorArray, a list or a stack."""
    return None if op.opdef is None else op.opdef.element


def _all_plain(tensors: Iterable[Tensor]) -> bool:
    """Whether there are some, and all are arrays of numbers or strings."""
    dtypes = {t.dtype.base_dtype.name for t in tensors}
    return bool(dtypes) and dtypes.isdisjoint(("variant", "resource"))


def _forwards(op: Operation) -> bool:
    """Whether an operation's value is that of its input."""
    return op.opdef is not None and op.opdef.forwards and not op.opdef.state
