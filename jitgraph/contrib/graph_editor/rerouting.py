"""What operations read and wait for, changed in place."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.graph_editor.lists import make_list_of_op, make_list_of_t
from jitgraph.graph.operation import Operation


def _check(ts0: list, ts1: list) -> None:
    if len(ts0) != len(ts1):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(ts0)} != {len(ts1)}")
    for one, other in zip(ts0, ts1):
        if not one.dtype.is_compatible_with(other.dtype):
            raise ValueError(f"Dtypes {one.dtype} and {other.dtype} are not compatible.")
        if not one.shape.is_compatible_with(other.shape):
            raise ValueError(f"Shapes {one.shape} and {other.shape} are not compatible.")


def _rerouted(ts0: Any, ts1: Any, both_ways: bool, can_modify: Any, cannot_modify: Any) -> int:
    ts0, ts1 = make_list_of_t(ts0), make_list_of_t(ts1)
    _check(ts0, ts1)
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    kept = set() if cannot_modify is None else set(make_list_of_op(cannot_modify))
    users = [(list(one.consumers()), list(other.consumers())) for one, other in zip(ts0, ts1)]
    count = 0
    for one, other, (of_one, of_other) in zip(ts0, ts1, users):
        if one is other:
            continue
        # one after the other, as in TensorFlow: what reads both tensors reads the second alone after a swap
        for new, old, readers in ((one, other, of_other), (other, one, of_one if both_ways else [])):
            for op in dict.fromkeys(readers):
                places = [k for k, t in enumerate(op.inputs) if t is old and op not in kept and (allowed is None or op in allowed)]
                for k in places:
                    op._update_input(k, new)
                count += len(places)
    return count


def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Lets the users of `ts0` read `ts1` and the other way round; gives the number of changed inputs.

    `can_modify`, `cannot_modify`: operations whose inputs alone may be changed, or may not.  Raises ValueError for other
    numbers, dtypes and shapes.
    """
    return _rerouted(ts0, ts1, True, can_modify, cannot_modify)


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Lets the users of `ts1` read `ts0`; see ``swap_ts``."""
    return _rerouted(ts0, ts1, False, can_modify, cannot_modify)


def _check_is_op(op: Any) -> None:
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")


def remove_control_inputs(op: Any, cops: Any) -> None:
    """Lets `op` no longer wait for `cops`.  Raises ValueError if it does not."""
    _check_is_op(op)
    gone = make_list_of_op(cops, allow_graph=False)
    for one in gone:
        if one not in op.control_inputs:
            raise ValueError(f"{op.name} is not a control_input of {one.name}")
    kept = [one for one in op.control_inputs if one not in gone]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)


def add_control_inputs(op: Any, cops: Any) -> None:
    """Lets `op` wait for `cops`.  Raises ValueError if it does."""
    _check_is_op(op)
    more = make_list_of_op(cops, allow_graph=False)
    for one in more:
        if one in op.control_inputs:
            raise ValueError(f"{one.name} is already a control_input of {op.name}")
    op._add_control_inputs(more)
