"""``tf.Assert``, and checks of numbers: ``tf.verify_tensor_all_finite``, ``tf.add_check_numerics_ops``."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.control.order_ops import group, with_dependencies
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import dtypes, errors, shape_rules
from jitgraph.graph.calls import bodies
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.scopes import colocate_with, control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.checks.summarize import summary


def _checked(c: Any) -> list:
    shape_rules.with_rank(c.shapes[0], 0, "condition")
    return []


@op("Assert(condition: bool, data: [T]; T: list(type) >= 1, summarize: int = 3)", shape=_checked, stateful=True,
    host=True, grad=NOT_DIFFERENTIABLE, passes=lambda condition, *data: condition is not None and condition.ndim == 0 and condition,
    tested_in="tests/ops/test_checks.py: no output")
def _assert(condition, data, summarize):
    """Nothing if `condition` holds, else an InvalidArgumentError that shows `data`."""
    if condition.ndim:
        raise errors.InvalidArgumentError(None, None, f"In[0] should be a scalar: {list(condition.shape)}")
    if not condition:
        text = "".join(f" [{summary(np.asarray(array), summarize)}]" for array in data)
        raise errors.InvalidArgumentError(None, None, "assertion failed:" + text)


def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Operation:
    """An operation that fails if `condition`, a bool scalar, is false: it raises InvalidArgumentError showing `data`.

    `data`: a list of tensors; `summarize`: how many elements of each are shown (3).  It runs only if it is fetched or
    something that is waits for it (``tf.control_dependencies``).  Raises ValueError if `data` is empty.
    """
    with name_scope(name, "Assert", [condition, data]):
        if not isinstance(data, (list, tuple)):
            raise TypeError("values must be a sequence.")
        if not data:
            raise ValueError("Attr 'T' of 'Assert' Op passed list of length 0 less than minimum 1.")
        # the op gets `data` as it is: its constants are nodes of its own, as in TensorFlow's graphs
        kinds = {convert_to_tensor(item).dtype.base_dtype for item in data}
        limit = {} if summarize is None else {"summarize": summarize}
        if kinds <= {dtypes.string, dtypes.int32}:
            return _assert(condition, data, name="Assert", **limit)
        condition = convert_to_tensor(condition, name="Condition")
        with name_scope("AssertGuard"):     # TensorFlow puts a conditional there, so these are the names in its graphs
            outside = {item for item in data if isinstance(item, Tensor)}
            count_nodes(8 + len(outside))   # its nodes; a Switch of each tensor
            checked = _assert(condition, data, name="Assert", **limit)
            with control_dependencies([checked]):
                return lookup("Identity").builder(condition, name="Merge").op


def verify_tensor_all_finite(t: Any = None, msg: str | None = None, name: str | None = None, x: Any = None,
                             message: str | None = None) -> Tensor:
    """`t`, unchanged; running it raises InvalidArgumentError, with `msg`, if an element is infinite or NaN.

    `x` and `message` are the newer names of `t` and `msg`.  Raises ValueError if both of a pair are given.
    """
    if t is not None and x is not None or msg is not None and message is not None:
        raise ValueError("Cannot specify both 't' and 'x', or both 'msg' and 'message'.")
    value, text = t if x is None else x, msg if message is None else message
    with name_scope(name, "VerifyFinite", [value]):
        tensor = convert_to_tensor(value, name="x" if x is not None else "t")
        with colocate_with(tensor):
            checked = lookup("CheckNumerics").builder(tensor, message="" if text is None else text)
            return with_dependencies([checked], tensor)


def add_check_numerics_ops() -> Operation:
    """An operation that checks all floating-point tensors of the default graph, in the order in which they were made.

    Running it raises InvalidArgumentError, naming the tensor ("op:index"), for the first that is not finite.  Raises
    ValueError if there are conditionals or loops in the graph.
    """
    checked: list = []
    for node in get_default_graph().get_operations():
        if any(_is_checked(output) for body in bodies(node) for inner in body.get_operations() for output in inner.outputs):
            raise ValueError("`tf.add_check_numerics_ops()` is not compatible with TensorFlow control flow operations such as "
                             f"`tf.cond()` or `tf.while_loop()`: {node.name}.  Check tensors by `tf.check_numerics` there.")
        for output in node.outputs:
            if _is_checked(output):
                with control_dependencies(checked):
                    checked = [lookup("CheckNumerics").builder(output, message=f"{node.name}:{output.value_index}")]
    return group(*checked)


def _is_checked(output: Tensor) -> bool:
    return output.dtype.base_dtype in (dtypes.float16, dtypes.float32, dtypes.float64)
