"""``tf.test``: derivatives of functions, graphs compared."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.ops.arrays.identity import placeholder
from jitgraph.test import gradient_checker
from jitgraph.v2.calls import from_v1


@from_v1("test.assert_equal_graph_def", checkpoint_v2=True, hash_table_shared_name=True)
def assert_equal_graph_def(expected, actual):
    """Raises AssertionError unless two GraphDefs have the same nodes, whatever files and tables are called."""


def max_error(grad1: Any, grad2: Any) -> float:
    """The largest difference between two tuples of matrices, as ``compute_gradient`` gives them."""
    differences = [np.fabs(first - second).max() for first, second in zip(grad1, grad2) if first.size or second.size]
    return max(differences, default=0)


def compute_gradient(f: Callable, x: Any, delta: float = 1e-3) -> Iterator[tuple]:
    """The Jacobians of ``f(*x)``: (symbolic, by differences of `delta`), a tuple of matrices each, one for each of `x`.

    A matrix has a row for each element of its argument and a column for each of the result; complex numbers count as two
    real ones.  Needs a default session.  Raises ValueError if `x` is no list.
    """
    if not isinstance(x, list):
        raise ValueError(f"`x` must be a list of Tensors (arguments to `f`), not a {type(x)}")
    session = gradient_checker.default_session()
    values = session.run([convert_to_tensor(one) for one in x])
    places = [placeholder(value.dtype, value.shape) for value in values]
    result = convert_to_tensor(f(*places))
    shape = session.run(result, dict(zip(places, values))).shape
    pairs = gradient_checker.compute_gradient(places, [value.shape for value in values], result, shape, values, delta)
    return zip(*(tuple(one.astype(value.real.dtype) for one in pair) for pair, value in zip(pairs, values)))
