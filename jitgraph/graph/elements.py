"""What is known of the elements of a TensorArray, or of a list of tensors, before a run: declarations of ops tell it, the
compiler's passes use it."""
from __future__ import annotations

from typing import Any, NamedTuple


class Elements(NamedTuple):
    """`count`: how many elements there are, a number or a size; None where only the run tells.  `shapes`: the different
    shapes of those that are written, None for one that is not known."""

    count: Any = None
    shapes: tuple[Any, ...] = ()

    @property
    def shape(self) -> Any:
        """The shape of all elements that are written; None if it is not known, or nothing is written."""
        return self.shapes[0] if len(self.shapes) == 1 else None



def with_one(known: Elements | None, shape: Any) -> Elements | None:
    """What is known once elements of this shape are written, too."""
    return None if known is None else known._replace(shapes=(*known.shapes, shape))


def shape_of(known: Elements | None, stated: Any) -> Any:
    """The shape of the elements, or the one that is stated where it is not known."""
    return stated if known is None or known.shape is None else known.shape
