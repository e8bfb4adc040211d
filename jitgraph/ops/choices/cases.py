"""``tf.case`` and ``smart_case``: the function of the first predicate that holds."""
from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any

from jitgraph.control.conditionals import cond, flow_of, smart_constant_value
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import counted_as
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import less_equal
from jitgraph.ops.reduce.reductions import reduce_sum


def case(pred_fn_pairs: Any, default: Callable | None = None, exclusive: bool = False, strict: bool = False,
         name: str = "case") -> Any:
    """What the function of the first pair (bool scalar, function) whose predicate holds returns, else `default`'s.

    `pred_fn_pairs`: a list of pairs, or a dict.  Without `default`, a run in which no predicate holds raises
    InvalidArgumentError; with `exclusive`, so does one in which several hold.  Raises TypeError for other arguments, as variables
    are: their ``read_value()`` is a tensor.
    """
    return case_by(cond, pred_fn_pairs, default, exclusive, name, strict=strict)


def case_by(cond_fn: Callable, pred_fn_pairs: Any, default: Callable | None, exclusive: bool, name: str | None,
            allow_python_preds: bool = False, **options: Any) -> Any:
    """As ``case``, made of ``cond_fn(pred, true_fn, false_fn, **options)``; with `allow_python_preds`, of bools too."""
    pairs = _checked_pairs(pred_fn_pairs, allow_python_preds)
    with name_scope(name, "case", [pred for pred, _ in pairs]):
        if default is None:
            *pairs, (last, function) = pairs
            default = _checked_default([*(pred for pred, _ in pairs), last], function)
        elif not callable(default):
            raise TypeError("false_fn must be callable." if pairs else "default must be callable.")
        chosen: Callable = default
        for pred, function in reversed(pairs):
            chosen = functools.partial(cond_fn, pred, true_fn=function, false_fn=chosen, **options)
        with control_dependencies(_exclusive([pred for pred, _ in pairs]) if exclusive else []):
            return chosen()


def _exclusive(predicates: list) -> list:
    return [_assert_at_most(1, predicates, "Input error: exclusive=True")]


def _checked_pairs(pairs: Any, allow_bools: bool) -> list:
    if isinstance(pairs, (dict, collections.OrderedDict)):
        pairs = list(pairs.items()) if isinstance(pairs, collections.OrderedDict) else sorted(
            pairs.items(), key=lambda item: item[0].name)
    if not isinstance(pairs, (list, tuple)):
        raise TypeError("fns must be a list, tuple, or dict")
    if not pairs:
        raise ValueError("tf.case needs at least one pair (predicate, function)")
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        pred, function = pair
        _check_predicate(pred, allow_bools)
        if not callable(function):
            raise TypeError(f"fn for pred {pred.name} must be callable.")
    return [tuple(pair) for pair in pairs]


def _check_predicate(pred: Any, allow_bools: bool) -> None:
    if isinstance(pred, Tensor):
        if pred.dtype != dtypes.bool_:
            raise TypeError(f"pred must be Tensor of type bool: {pred.name}")
    elif not allow_bools:
        raise TypeError(f"pred must be a Tensor, got: {pred}")
    elif not isinstance(pred, bool):
        raise TypeError(f"pred must be a Tensor or bool, got: {pred}")


def _assert_at_most(most: int, predicates: list, text: str) -> Operation:
    held = stack([convert_to_tensor(pred) for pred in predicates], name="preds_c") if predicates else constant([], name="preds_c")
    count = reduce_sum(cast(held, dtypes.int32), name="num_true_conds")
    names = ", ".join(getattr(pred, "name", "?") for pred in predicates)
    return Assert(less_equal(count, constant(most, name="n_true_conds")),
                  [f"{text}: more than {most} conditions ({names}) evaluated as True:", held], summarize=len(predicates))


def _checked_default(predicates: list, function: Callable) -> Callable:
    """The last function as the default, for a ``case`` without one: it checks that its predicate holds, and no other."""
    def checked() -> Any:
        *others, last = predicates
        held = stack([convert_to_tensor(pred) for pred in predicates], name="preds_c")
        alone = _assert_at_most(0, others, f"Implementation error: selected default action #{len(others)} was called, but "
                                           "some of other predicates are True: ")
        check = Assert(convert_to_tensor(last), ["Input error: None of conditions evaluated as True:", held])
        with control_dependencies([alone, check]):
            result = function()
            # what the function only hands on has to wait for the check as well
            return nest.map_structure(_waiting, result) if result is not None else None

    return checked


def _waiting(value: Any) -> Any:
    if isinstance(value, Operation) or flow_of(value) is not None or nest.is_composite(value):
        return value
    with counted_as(0):
        return lookup("Identity").builder(convert_to_tensor(value))


def smart_case(pred_fn_pairs: Any, default: Callable | None = None, exclusive: bool = False,
               name: str = "smart_case") -> Any:
    """As ``tf.case``, but predicates that are known now leave no node."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    open_pairs: list = []
    for pred, function in pairs:
        _check_predicate(pred, allow_bools=True)
        known = smart_constant_value(pred)
        if known and not open_pairs:
            return function()
        if known:
            default = function
            break
        if known is None:
            open_pairs.append((pred, function))
    if not open_pairs:
        if default is None:
            raise ValueError("tf.case: no predicate holds, and there is no default")
        return default()
    return case(open_pairs, default, exclusive, name=name)
