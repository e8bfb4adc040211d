"""Checks of values and shapes: the message comes before the name, and no data are given."""
from __future__ import annotations

from typing import Any

from jitgraph.ops.checks import check_shapes
from jitgraph.v2.calls import from_v1


@from_v1("debugging.assert_all_finite")
def assert_all_finite(x, message, name=None):
    """`x`, whose run fails with `message` if an element is infinite or not a number."""


@from_v1("assert_equal")
def assert_equal(x, y, message=None, summarize=None, name=None):
    """An op that fails unless all of `x` equal those of `y`."""


@from_v1("assert_none_equal")
def assert_none_equal(x, y, summarize=None, message=None, name=None):
    """An op that fails if an element of `x` equals that of `y`."""


@from_v1("assert_greater")
def assert_greater(x, y, message=None, summarize=None, name=None):
    """An op that fails unless all of `x` are greater than those of `y`."""


@from_v1("assert_greater_equal")
def assert_greater_equal(x, y, message=None, summarize=None, name=None):
    """An op that fails if an element of `x` is less than that of `y`."""


@from_v1("assert_less")
def assert_less(x, y, message=None, summarize=None, name=None):
    """An op that fails unless all of `x` are less than those of `y`."""


@from_v1("assert_less_equal")
def assert_less_equal(x, y, message=None, summarize=None, name=None):
    """An op that fails if an element of `x` is greater than that of `y`."""


@from_v1("assert_near")
def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """An op that fails unless |x - y| <= `atol` + `rtol` |y| everywhere; both are 10 steps of the dtype by default."""


@from_v1("assert_negative")
def assert_negative(x, message=None, summarize=None, name=None):
    """An op that fails unless all of `x` are less than 0."""


@from_v1("assert_non_negative")
def assert_non_negative(x, message=None, summarize=None, name=None):
    """An op that fails if an element of `x` is less than 0."""


@from_v1("assert_non_positive")
def assert_non_positive(x, message=None, summarize=None, name=None):
    """An op that fails if an element of `x` is greater than 0."""


@from_v1("assert_positive")
def assert_positive(x, message=None, summarize=None, name=None):
    """An op that fails unless all of `x` are greater than 0."""


@from_v1("assert_rank")
def assert_rank(x, rank, message=None, name=None):
    """An op that fails unless `x` has that rank; a ValueError where that is known."""


@from_v1("assert_rank_at_least")
def assert_rank_at_least(x, rank, message=None, name=None):
    """An op that fails if `x` has a lower rank; a ValueError where that is known."""


@from_v1("assert_rank_in")
def assert_rank_in(x, ranks, message=None, name=None):
    """An op that fails unless `x` has one of the ranks; a ValueError where that is known."""


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Raises TypeError unless `x` is of an integer dtype."""
    check_shapes.assert_integer(x, message, name)


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> None:
    """Raises TypeError unless `tensor` is of the dtype `tf_type`."""
    check_shapes.assert_type(tensor, tf_type, message, name)


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> None:
    """Raises ValueError if `tensor` is not of rank 0."""
    check_shapes.assert_scalar(tensor, name, message)


def assert_shapes(shapes: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                  name: str | None = None) -> None:
    """Raises ValueError if tensors are not of the shapes that `shapes` ({tensor: sizes or their names}) says.

    What only a run can tell is checked by ops that nobody runs, as in TensorFlow: give them by
    ``tf.compat.v1.debugging.assert_shapes``.
    """
    check_shapes.assert_shapes(shapes, data, summarize, message, name)
