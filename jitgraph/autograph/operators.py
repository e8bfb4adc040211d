"""What rewritten functions call in the place of ifs and loops: Python's, or those of the graph for tensors."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.autograph import agreement
from jitgraph.autograph.builtin_functions import len_
from jitgraph.autograph.values import is_dense
from jitgraph.control.conditionals import cond
from jitgraph.control.while_loops import while_loop
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.compare import equal, logical_and, logical_not, logical_or
from jitgraph.tensor_arrays.tensor_array import TensorArray


def if_stmt(test: Any, body: Callable, orelse: Callable, get_state: Callable, set_state: Callable, names: tuple = (),
            places: tuple = ()) -> tuple:
    """``if test: body() else: orelse()``: the values of the variables `names` after it."""
    if not is_dense(test):
        return body() if test else orelse()
    results: dict[str, tuple] = {}

    def branch(name: str, function: Callable) -> Callable:
        def called() -> tuple:
            before = get_state()
            found, state = function(), get_state()
            set_state(before)
            agreement.check_branch([*found, *state], name)
            results[name] = (*found, *state)
            if len(results) == 2:
                agreement.check_branches(results["if"], results["else"], (*names, *places))
            return (*found, *state) or (convert_to_tensor(1),)

        return called

    found = cond(test, branch("if", body), branch("else", orelse), strict=True)
    set_state(tuple(found[len(names):len(names) + len(places)]))
    return tuple(found[:len(names)])


def if_exp(test: Any, body: Callable, orelse: Callable) -> Any:
    """``body() if test else orelse()``"""
    return cond(test, body, orelse) if is_dense(test) else body() if test else orelse()


# -- loops -------------------------------------------------------------------------------------------------------------

def while_stmt(test: Callable, body: Callable, get_state: Callable, set_state: Callable, before: tuple, names: tuple = (),
               places: tuple = ()) -> tuple:
    """``while test(): body()``: the variables `names`, which are `before` now, after it."""
    with FunctionGraph("tmp").as_default():
        goes_on = test(*before)
    if is_dense(goes_on):
        return _loop(test, body, get_state, set_state, before, names, places)
    while goes_on:
        before = body(*before)
        goes_on = test(*before)
    return before


def for_stmt(over: Any, goes_on: Callable | None, body: Callable, get_state: Callable, set_state: Callable, before: tuple,
             names: tuple = (), places: tuple = ()) -> tuple:
    """``for item in over: body(item)`` while ``goes_on()``: over the rows of a tensor, the elements of a dataset, or Python's."""
    if is_dense(over):
        agreement.check_loop_start(before)
        turns = _range_turns if getattr(getattr(over, "op", None), "type", "") == "Range" else _row_turns
        first, test, step = turns(over, body)

        def tests(position: Any, *values: Any) -> Any:
            more = test(position)
            return more if goes_on is None else cond(more, lambda: convert_to_tensor(goes_on(*values)),
                                                     lambda: convert_to_tensor(False))

        return _loop(tests, step, get_state, set_state, (first, *before), ("the position", *names), places)[1:]
    if hasattr(over, "_autograph_for_loop"):
        agreement.check_loop_start(before)
        return over._autograph_for_loop(goes_on, body, get_state, set_state, before, names, places)
    for item in over:
        if goes_on is not None and not goes_on(*before):
            break
        before = body(item, *before)
    return before


def _range_turns(over: Any, body: Callable) -> tuple:
    start, limit, delta = over.op.inputs
    step_size = constant_value(delta)

    def test(position: Any) -> Any:
        if step_size is not None:
            return position < limit if step_size.item() >= 0 else position > limit
        return logical_or(logical_and(delta >= 0, position < limit), logical_and(delta < 0, position > limit))

    return start, test, lambda position, *values: (position + delta, *body(position, *values))


def _row_turns(over: Any, body: Callable) -> tuple:
    over = convert_to_tensor(over)
    count = len_(over)
    rows = TensorArray(over.dtype, size=count).unstack(over)
    return (convert_to_tensor(0), lambda position: position < count,
            lambda position, *values: (position + 1, *body(rows.read(position), *values)))


def _loop(test: Callable, body: Callable, get_state: Callable, set_state: Callable, before: tuple, names: tuple,
          places: tuple) -> tuple:
    agreement.check_loop_start([*before, *get_state()])
    count = len(before)

    def tests(*values: Any) -> Any:
        set_state(values[count:])
        return test(*values[:count])

    def step(*values: Any) -> tuple:
        set_state(values[count:])
        after = (*body(*values[:count]), *get_state())
        agreement.check_turn(values, after, (*names, *places))
        return after

    found = while_loop(tests, step, (*before, *get_state()), return_same_structure=True)
    set_state(tuple(found[count:]))
    return tuple(found[:count])


# -- expressions -------------------------------------------------------------------------------------------------------

def and_(one: Callable, other: Callable) -> Any:
    """``one() and other()``"""
    first = one()
    return cond(first, other, lambda: first) if is_dense(first) else first and other()


def or_(one: Callable, other: Callable) -> Any:
    """``one() or other()``"""
    first = one()
    return cond(first, lambda: first, other) if is_dense(first) else first or other()


def not_(value: Any) -> Any:
    """``not value``"""
    return logical_not(value) if is_dense(value) else not value


def eq(one: Any, other: Any) -> Any:
    """``one == other``, which for tensors is ``tf.equal``"""
    return equal(one, other) if is_dense(one) or is_dense(other) else one == other


def not_eq(one: Any, other: Any) -> Any:
    """``one != other``"""
    return not_(eq(one, other))


def assert_stmt(test: Any, message: Callable) -> None:
    """``assert test, message()``, which for tensors is ``tf.Assert``"""
    if not is_dense(test):
        assert test, message()
        return
    found = message()
    Assert(test, found if isinstance(found, list) else [found])

