"""What a loop does itself between two runs of its body: the steps that `division` finds, and the runtime takes.

Numbers of variables are those of the loop's inputs.  `at` is a function (variables, fed values so far) -> number
where it is computed before the body runs, and an operand where it is computed by the body.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from jitgraph.graph.tensor import Tensor

    from .expressions import ScalarFunction


class OfVariable(NamedTuple):
    """An operand: the value of a variable, copied if no iteration changes it, for then it stands in another's memory."""

    variable: int
    copied: bool


class OfFetch(NamedTuple):
    """An operand: what the body computed for the fetch `number`."""

    number: int


class OfRecord(NamedTuple):
    """An operand: several values as one record."""

    parts: list[OfVariable | OfFetch]


Operand = OfVariable | OfFetch | OfRecord


class ArrayPlace(NamedTuple):
    """A TensorArray that is changed in place: the one whose handle is in `variable`, or a gradient of one, by `sources`."""

    variable: int
    sources: tuple[str, ...] = ()


# -- before the body runs: the value of a tensor that is fed to it ---------------------------------------------------------

class TakeLast(NamedTuple):
    """The last element of the list in `variable`, which the list is left without."""

    variable: int


class TakePart(NamedTuple):
    """Part `number` of the record that is the fed tensor `record`."""

    record: int
    number: int


class TakeElement(NamedTuple):
    """Element `at` of the TensorArray of `handle` with the elements `flow`, both variables."""

    op: Any
    handle: int
    flow: int
    at: ScalarFunction


class TakeElementInPlace(NamedTuple):
    op: Any
    array: ArrayPlace
    at: ScalarFunction


class ZerosLike(NamedTuple):
    """Zeros of a shape that only the run knows: that of `tensor`, which follows from the tensors `given`.

    `places`: of each of these, whether it is a fed one, and its number among those or among the variables.
    """

    tensor: Any
    given: list[Tensor]
    places: list[tuple[bool, int]]


class TakeTerms(NamedTuple):
    """The terms number `number` of the division, for element `at` of the elements `flow`, which is the fed tensor `element`."""

    number: int
    flow: int
    at: ScalarFunction
    element: int


class TakeGradient(NamedTuple):
    """The gradient of element `at`, from the gradients in the variable `flow`; `zeros`, an array or a ZerosLike, where none
    arrived."""

    flow: int
    at: ScalarFunction
    zeros: Any


class TakeFromStack(NamedTuple):
    """The uppermost entry of the stack in `variable`, which is changed in place."""

    op: Any
    variable: int


class TakeFlow(NamedTuple):
    """The flow of a write in place, which says nothing."""


Take = TakeLast | TakePart | TakeElement | TakeElementInPlace | TakeTerms | TakeGradient | TakeFromStack | TakeFlow


# -- after it: the next value of a variable --------------------------------------------------------------------------------

class StoreLast(NamedTuple):
    """The list in `variable` with one element more."""

    variable: int
    value: Operand


class StoreElement(NamedTuple):
    """The elements in `variable`, of the TensorArray whose handle is another variable, with one element."""

    op: Any
    variable: int
    handle: int
    at: Operand
    value: Operand


class AddElement(NamedTuple):
    """The gradients in `variable` and one more, for an element of the array whose elements are the variable `flow`."""

    variable: int
    flow: int
    at: Operand
    value: Operand


class AddRows(NamedTuple):
    """As AddElement, but what is added is made of the rows of `leaves` when the loop has ended."""

    variable: int
    flow: int
    at: Operand
    leaves: list[Operand]


class AddProduct(NamedTuple):
    """The sum in `variable` and the product of two factors."""

    variable: int
    x: Operand
    y: Operand


Store = StoreLast | StoreElement | AddElement | AddRows | AddProduct


# -- after it: what changes in place ---------------------------------------------------------------------------------------

class PushOnStack(NamedTuple):
    op: Any
    variable: int
    value: Operand


class WriteInPlace(NamedTuple):
    op: Any
    array: ArrayPlace
    at: Operand
    value: Operand


Change = PushOnStack | WriteInPlace
