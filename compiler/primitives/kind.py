"""What the passes ask of a primitive, in one place for each kind."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from .. import sizes
from ..ir import Node, Value
from ..kernel import Kernel, Param
from ..sizes import Dim, Shape
from ..views import is_plain

if TYPE_CHECKING:
    import numpy as np

    from ..options import Options
    from ..schedule import KernelBuilder
    from ..targets import Target

KINDS: dict[str, Kind] = {}
"""{name: kind}, in the order of their declarations."""


class Kind:
    """A kind of primitive.  The class of each says what sets it apart; its one object is the `kind` of a Node.

    What a declaration leaves out is answered here, for a kind that a kernel written by hand computes from whole buffers.
    `node` is always one of the kind.
    """

    name: ClassVar[str]
    attributes: ClassVar[dict[str, str]] = {}   # {name: what it says} of everything in a node's `attrs`
    is_view = False         # only another way to index its input
    is_leaf = False         # nothing in the plan computes it
    is_given = False        # its value comes with a buffer that nobody writes
    is_known = False        # its numbers are known when sizes are bound
    is_state = False        # its value is the buffer of a variable, which changes
    is_index = False        # its "buffer" is the index itself
    is_stored = False       # what it gives lies in memory in any case
    is_unique = False       # no two are one: what comes from outside, has effects, or gives other numbers every time
    is_ordered = False      # what it runs after is a part of it
    reads_halves: ClassVar[tuple[str, ...]] = ()        # targets whose kernels of its own read floats of 16 bits
    reads_complex = False   # whether its own kernels for the CPU read complex numbers
    kernels: ClassVar[dict[str, Any]] = {}      # {target: function that makes a kernel of its own from a node}
    epilogues: ClassVar[dict[str, Any]] = {}    # {target: the same, of a node and a kernel that uses it, of which one is made}

    def __init__(self) -> None:
        assert self.name not in KINDS, f"two kinds are called {self.name}"
        KINDS[self.name] = self

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Callable[[str], Kind], tuple[str]]:
        return named, (self.name,)

    def has_effect(self, node: Node) -> bool:
        """Whether it runs though nothing uses its value."""
        return False

    def may_fail(self, node: Node) -> bool:
        """Whether the values of integers that it looks at can make a run fail."""
        return False

    def must_run(self, node: Node) -> bool:
        """Whether it runs though nothing uses its value: for its effect, or since the run fails where it fails."""
        return self.has_effect(node) or self.may_fail(node)

    def accepts(self, node: Node, index: int) -> bool:
        """Whether a kernel can index its input as it is; else the input is copied."""
        return is_plain(node.inputs[index])

    def operations(self, node: Node) -> Dim:
        """Additions, multiplications, comparisons ... of a kernel of its own, as a (symbolic) number."""
        return sizes.product(node.inputs[-1].shape) if node.inputs else 0

    def touched(self, node: Node, param: Param) -> Dim | None:
        """How many elements of a buffer a kernel of its own touches, where that is not all of them; else None."""
        return None

    def kernel(self, node: Node, target: str, options: Options) -> Kernel | None:
        """The kernel of its own that a target has for a node, None where it has none."""
        return self.kernels[target](node) if target in self.kernels else None

    def joined(self, node: Node, after: Kernel, target: Target, options: Options) -> Kernel | None:
        """One kernel of a target for a node and the kernel that uses it, None where it has none."""
        return self.epilogues[target.name](node, after) if target.name in self.epilogues else None

    def _no_meaning(self, node: Node, *arrays: np.ndarray) -> Any:
        raise NotImplementedError(f"{self} has no value of its own")

    meaning: Callable[..., Any] = _no_meaning
    """What NumPy gives for a node and the arrays of its inputs: an array, or a tuple of one for each output."""

    def violation(self, node: Node) -> str | None:
        """What must hold of a node and does not, as a sentence."""
        return None


def named(name: str) -> Kind:
    """The kind of a name."""
    return KINDS[name]


class View(Kind):
    """Only another way to index its input."""

    is_view = True

    def accepts(self, node: Node, index: int) -> bool:
        return True

    def renamed(self, value: Value, dims: list[int]) -> list[int] | None:
        """For a value whose dimension k is dims[k] of something (-1: size 1), the same for its input; None if the view does
        more than rename dimensions."""
        return None

    def indexed(self, value: Value, strides: list[Dim], offset: Dim) -> tuple[list[Dim], Dim] | None:
        """(strides, offset) of a value whose input has these; None if strides cannot reach its elements."""
        raise NotImplementedError


class Fused(Kind):
    """Computed element by element over a domain that it can share with others in one kernel.

    A group's domain is the sizes of its loop nest; `dims` says along which of them each dimension of `domain(node)` runs.
    """

    def accepts(self, node: Node, index: int) -> bool:
        return True

    def domain(self, node: Node) -> Shape:
        """The shape of the loop nest that it needs."""
        return node.out.shape

    def computed_inputs(self, node: Node) -> list[Value]:
        """The inputs of which it takes one element at a point of the domain."""
        return node.inputs

    def dims_of_inputs(self, node: Node, dims: tuple[int, ...]) -> list[tuple[Value, tuple[int, ...]]]:
        """(input, the domain dimension of each of its dimensions) of these."""
        shift = len(dims)
        return [(v, tuple([-1 if k < 0 else dims[k + shift - len(v.axes)] for k in v.axes])) for v in node.inputs]

    def axis_of_inputs(self, node: Node, value: Value) -> int:
        """The dimension of `domain(node)` along which the first dimension of one of these inputs runs."""
        return len(self.domain(node)) - value.rank

    def dims_of_result(self, node: Node, dims: tuple[int, ...]) -> tuple[int, ...]:
        """The domain dimensions of what it gives."""
        return dims

    def weight(self, node: Node) -> int:
        """How much it adds to the time that its kernel takes to compile."""
        return 1

    def state(self, kernel: KernelBuilder, node: Node) -> None:
        """Adds its statements to a kernel (a `schedule.KernelBuilder`)."""
        raise NotImplementedError
