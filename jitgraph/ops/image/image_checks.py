"""What functions on images ask of their arguments: checked now if it is known now, else when the graph runs."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph.convert import convert_to_tensor, is_tensor_like
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.tensor import Tensor


def assertion(condition: Any, message: str) -> list:
    """Nothing if `condition` holds, an Assert if it is a tensor.  Raises ValueError if it does not hold."""
    from jitgraph.ops.checks.assertion import Assert

    if isinstance(condition, Tensor):
        return [Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def sizes_of(*given: Any) -> list:
    """Numbers as they are, variables as the tensors that read them: both tell by their type whether they are known now."""
    return [convert_to_tensor(one) if is_tensor_like(one) else one for one in given]


def require(condition: Tensor, message: str, value: Any) -> Any:
    """`value`, computed after a check."""
    return after(assertion(condition, message), value)


def after(checks: list, value: Any) -> Tensor:
    """`value` as a tensor that is computed after `checks`."""
    return with_dependencies(checks, value)


def _positive_shape(image: Tensor) -> list:
    from jitgraph.ops.checks.check_values import assert_positive

    return [assert_positive(raw.Shape(image), ["all dims of 'image.shape' must be > 0."])]


def at_least_3d(image: Tensor) -> list:
    """The checks that an image has three dimensions or more, none of size 0, that have to wait for the run.

    Raises ValueError if it is known that it has not.
    """
    from jitgraph.ops.checks.check_values import assert_greater_equal

    known = image._shape
    if known is not None and len(known) < 3:
        raise ValueError("'image' must be at least three-dimensional.")
    if known is not None and any(size == 0 for size in known):
        raise ValueError(f"all dims of 'image.shape' must be > 0: {image.shape}")
    if known is not None and None not in known:
        return []

    message = "'image' must be at least three-dimensional."
    return [*_positive_shape(image), assert_greater_equal(raw.Rank(image), 3, message=message)]


def checked_3d(image: Tensor) -> Tensor:
    """The image, after the checks of ``at_least_3d``."""
    return after(at_least_3d(image), image)


def checked_grayscale(image: Tensor) -> Tensor:
    """The image, checked to have a last dimension of size 1."""
    from jitgraph.ops.checks.check_values import assert_equal

    known = image._shape
    if known is not None and len(known) < 2:
        raise ValueError("A grayscale image must be at least two-dimensional.")
    message = "Last dimension of a grayscale image should be size 1."
    if known is not None and None not in known:
        if known[-1] != 1:
            raise ValueError(message)
        return after([], image)

    if known is not None:
        count_nodes(14)                 # TensorFlow asserts the rank, too
    return after([assert_equal(raw.Shape(image)[-1], 1, message=message)], image)


def dimensions(image: Tensor, rank: int) -> list:
    """The sizes of an image: numbers where they are known, else scalar tensors."""
    known = image._shape
    if known is None:
        known = (None,) * rank
    if None not in known:
        return list(known)
    dynamic = raw.Unpack(raw.Shape(image), num=rank, name="unstack")
    return [found if size is None else size for size, found in zip(known, dynamic)]


def as_batch(image: Tensor) -> tuple[Tensor, bool]:
    """The image with four dimensions, and whether it had them.  Raises ValueError for ranks other than 3 and 4."""
    known = image._shape
    if known is None:
        image = raw.ExpandDims(image, 0)
        image.set_shape([None] * 4)
        return image, False
    if len(known) == 3:
        return raw.ExpandDims(image, 0), False
    if len(known) != 4:
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    return image, True


def unbatched(image: Tensor, was_batch: bool) -> Tensor:
    """The image as it came to ``as_batch``."""
    return image if was_batch else raw.Squeeze(image, squeeze_dims=[0])


def is_batch(image: Tensor) -> bool:
    """Whether an image of rank 3 (or unknown) or 4 is a batch.  Raises ValueError for other ranks."""
    known = image._shape
    if known is None or len(known) == 3:
        return False
    if len(known) == 4:
        return True
    raise ValueError("'image' must have either 3 or 4 dimensions.")
