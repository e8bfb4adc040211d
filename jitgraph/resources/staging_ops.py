"""Staging areas and maps as nodes: Stage, Unstage, MapStage and their kin.  What they hold is in ``staging_host``.

The nodes of one container and shared name (or name) share an area; so do not those that have neither.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.resources.staging_host import Area, Map

_TESTS = "tests/resources/test_staging.py: a staging area"
_LIMITS = "capacity: int >= 0 = 0, memory_limit: int >= 0 = 0"
_SHARING = 'container: string = "", shared_name: string = ""'


def _area(state: Any, op: Any) -> Area:
    attrs = op.attrs
    return state.owner(op).resource(("staging", attrs["container"], attrs["shared_name"] or op.name),
                                    lambda: Area(attrs["capacity"], attrs["memory_limit"]))


def _map(state: Any, op: Any) -> Map:
    attrs, ordered = op.attrs, op.type.startswith("Ordered")
    return state.owner(op).resource(("ordered map" if ordered else "map", attrs["container"], attrs["shared_name"] or op.name),
                                    lambda: Map(attrs["capacity"], attrs["memory_limit"], len(attrs["dtypes"]), ordered))


def _kept(values: Any) -> list[np.ndarray]:
    """Copies: the memory of arguments is used again."""
    return [np.array(value) for value in values]


def _soon(state: Any, op: Any, put: Any, fits: bool) -> None:
    """Puts now, or, where there is no room, at the end of the run, which may take what is in the way."""
    at_end = None if fits else state.later(op)
    put(state.wait) if at_end is None else at_end(put)


def _declare(signature: str, body: Any, **more: Any) -> Any:
    return op(signature, stateful=True, host=True, context=("state", "op"), tested_in=_TESTS, **more)(body)


_UNKNOWN: dict[str, Any] = {"shape": lambda c: [None] * len(c.attrs["dtypes"]), "dynamic": True}


@op(f"Stage(values: [dtypes]; {_LIMITS}, {_SHARING}, dtypes: list(type) >= 1)", shape=shape_rules.no_outputs, stateful=True,
    host=True, context=("state", "op"), holds=True, tested_in=_TESTS)
def stage(values, state, op):
    """Puts an element into the area; waits for room."""
    area, kept = _area(state, op), _kept(values)
    _soon(state, op, lambda wait: area.put(kept, wait), area.fits(len(area.elements), area.measured(kept)))


@op(f"Unstage(; {_LIMITS}, dtypes: list(type) >= 1, {_SHARING}) -> values: [dtypes]", **_UNKNOWN, stateful=True, host=True,
    takes=True, context=("state", "op"), tested_in=_TESTS)
def unstage(state, op):
    """Takes the oldest element; waits for it."""
    return _area(state, op).take(state.wait)


@op(f"StagePeek(index: int32; {_LIMITS}, dtypes: list(type) >= 1, {_SHARING}) -> values: [dtypes]", **_UNKNOWN, stateful=True,
    host=True, context=("state", "op"), tested_in=_TESTS)
def stage_peek(index, state, op):
    """The element of this number from the oldest on, which stays; waits for it."""
    return _kept(_area(state, op).see(int(index), state.wait))


@op(f"StageSize(; {_LIMITS}, dtypes: list(type), {_SHARING}) -> size: int32", shape=shape_rules.scalar, stateful=True, host=True,
    context=("state", "op"), tested_in=_TESTS)
def stage_size(state, op):
    """How many elements there are."""
    return np.int32(len(_area(state, op).elements))


@op(f"StageClear(; {_LIMITS}, dtypes: list(type), {_SHARING})", shape=shape_rules.no_outputs, stateful=True, host=True,
    context=("state", "op"), tested_in=_TESTS)
def stage_clear(state, op):
    """Takes all elements away."""
    _area(state, op).clear()


def _numbers(indices: Any) -> list[int]:
    return [int(index) for index in np.ravel(indices)]


def _map_stage(key, indices, values, state, op):
    """Puts tensors of the element of a key into the map; waits for room."""
    area, kept = _map(state, op), _kept(values)
    fits = area.fits(len(area.complete), area.measured(kept))
    _soon(state, op, lambda wait: area.put(int(key), _numbers(indices), kept, wait), fits)


def _map_peek(key, indices, state, op):
    """The tensors of a key at `indices`, which stay; waits for the key."""
    return _kept(_map(state, op).get(int(key), _numbers(indices), state.wait, True))


def _map_unstage(key, indices, state, op):
    """Takes the tensors of a key at `indices`; waits for the key."""
    return _map(state, op).get(int(key), _numbers(indices), state.wait, False)


def _map_unstage_no_key(indices, state, op):
    """(key, tensors at `indices`) of some element, the one of the smallest key if the map is ordered; waits for one."""
    key, values = _map(state, op).take_any(_numbers(indices), state.wait)
    return np.int64(key), values


def _map_size(state, op):
    """How many elements are complete."""
    return np.int32(len(_map(state, op).complete))


def _map_incomplete_size(state, op):
    """How many elements lack a tensor."""
    return np.int32(len(_map(state, op).incomplete))


def _map_clear(state, op):
    """Takes all elements away."""
    _map(state, op).clear()


for _kind in ("Map", "OrderedMap"):
    _declare(f"{_kind}Stage(key: int64, indices: int32, values: [fake_dtypes]; {_LIMITS}, dtypes: list(type), {_SHARING}, "
             "fake_dtypes: list(type) >= 1)", _map_stage, shape=shape_rules.no_outputs, holds=True)
    for _name, _body in (("Peek", _map_peek), ("Unstage", _map_unstage)):
        _declare(f"{_kind}{_name}(key: int64, indices: int32; {_LIMITS}, dtypes: list(type) >= 1, {_SHARING}) -> "
                 "values: [dtypes]", _body, takes=_name == "Unstage", **_UNKNOWN)
    _declare(f"{_kind}UnstageNoKey(indices: int32; {_LIMITS}, dtypes: list(type) >= 1, {_SHARING}) -> key: int64, values: "
    f"[dtypes]",
             _map_unstage_no_key, shape=lambda c: [(), *[None] * len(c.attrs["dtypes"])], dynamic=True, takes=True)
    for _name, _size in (("Size", _map_size), ("IncompleteSize", _map_incomplete_size)):
        _declare(f"{_kind}{_name}(; {_LIMITS}, dtypes: list(type), {_SHARING}) -> size: int32", _size, shape=shape_rules.scalar)
    _declare(f"{_kind}Clear(; {_LIMITS}, dtypes: list(type), {_SHARING})", _map_clear, shape=shape_rules.no_outputs)
