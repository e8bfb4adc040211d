"""Python's ``for`` over a dataset in functions that autograph rewrites: reductions of the dataset."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.autograph import agreement
from jitgraph.control.conditionals import cond
from jitgraph.data.running import scan, take_while
from jitgraph.graph.convert import convert_to_tensor


def for_loop(dataset: Any, goes_on: Callable | None, body: Callable, get_state: Callable, set_state: Callable, before: tuple,
             names: tuple, places: tuple) -> tuple:
    """The variables `names`, which are `before` now, after ``for item in dataset: body(item)`` while ``goes_on()``."""
    start = (*before, *get_state())

    def turn(held: tuple, item: Any) -> tuple:
        values, state = held[:len(names)], held[len(names):len(start)]
        set_state(tuple(state))
        after = (*body(item, *values), *get_state())
        agreement.check_turn((*values, *state), after, (*names, *places), with_shapes=False)
        return after or held

    if goes_on is not None:
        dataset, turn = _until(dataset, goes_on, turn, start, len(names)), lambda held, item: item
    found = dataset.reduce(start or (convert_to_tensor(0),), turn)
    set_state(tuple(found[len(before):len(start)]))
    return tuple(found[:len(before)])


def _until(dataset: Any, goes_on: Callable, turn: Callable, start: tuple, count: int) -> Any:
    """The variables after each turn, as a dataset that ends when the loop does."""
    def step(held: tuple, item: Any) -> tuple:
        more = convert_to_tensor(goes_on(*held[:count]))
        after = cond(more, lambda: turn(held, item), lambda: held, strict=True)
        return after, (after, more)

    going_on = dataset.apply(scan(start, step)).apply(take_while(lambda _, more: more))
    return going_on.map(lambda after, _: after)
