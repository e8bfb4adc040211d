"""The elements of a list of strings in turn, counted by a variable."""
from __future__ import annotations

import random
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.scopes import colocate_with, control_dependencies
from jitgraph.ops.arrays.constant import constant
from jitgraph.variables.variable_scopes import get_variable, variable_scope


def _scalar(c: Any) -> Any:
    shape_rules.with_rank(c.shapes[0], 1)
    shape_rules.with_rank(c.shapes[1], 0)
    return ()


@op("ObtainNext(list: string, counter: &int64) -> out_element: string", shape=_scalar, stateful=True, state="write", answers=True,
    host=True, tested_in="tests/contrib/input_pipeline: a variable that counts")
def _obtain_next(list, counter):
    """The element after the one that `counter` stands at; after the last comes the first.  The variable moves on."""
    if not len(list):
        raise invalid("obtain_next asks for a list with elements, got an empty one")
    place = (counter + 1) % len(list)
    return np.asarray(place, np.int64), list[int(place)]


def obtain_next(string_list_tensor: Any, counter: Any) -> Any:
    """The element of a vector of strings after the one that `counter`, a variable of int64, stands at; after the last comes the
    first.  The variable moves on.  A run raises InvalidArgumentError for an empty vector."""
    return _obtain_next(string_list_tensor, counter)


def _in_order(strings: list, shuffle: bool, seed: Any, num_epochs: int | None) -> list:
    """The elements of all epochs; `shuffle` changes the order of `strings` itself, for each epoch anew."""
    if shuffle and seed:
        random.seed(seed)
    found: list = []
    for _ in range(num_epochs or 1):
        if shuffle:
            random.shuffle(strings)
        found += strings
    return found


def seek_next(string_list: list, shuffle: bool = False, seed: Any = None, num_epochs: int | None = None) -> Any:
    """The next of a list of strings, round and round, or so many times; then a run raises OutOfRangeError.

    What it stands at is kept in variables of the scope "obtain_next"; `shuffle` and `seed` are for Python's random numbers.
    """
    strings = _in_order(string_list, shuffle, seed, num_epochs)
    with variable_scope("obtain_next"):
        counter = get_variable("obtain_next_counter", initializer=constant(-1, dtypes.int64), dtype=dtypes.int64, trainable=False)
        with colocate_with(counter):
            listed = get_variable("obtain_next_expanded_list", initializer=constant(strings), dtype=dtypes.string, trainable=False)
        if not num_epochs:
            return obtain_next(listed, counter._ref())
        taken = get_variable("obtain_next_filename_counter", initializer=constant(0, dtypes.int64), dtype=dtypes.int64,
                             trainable=False)
        with control_dependencies([taken.count_up_to(len(strings))]):
            return obtain_next(listed, counter._ref())
