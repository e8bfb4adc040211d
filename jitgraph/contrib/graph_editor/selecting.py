"""Operations and tensors found by names, by what they are connected to, and by walks through the graph."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.graph_editor.lists import (
    ControlOutputs,
    get_consuming_ops,
    get_generating_ops,
    listed,
    make_list_of_op,
    make_list_of_t,
)
from jitgraph.graph.graph import Graph
from jitgraph.graph.tensor import Tensor


def can_be_regex(obj: Any) -> bool:
    """Whether `obj` is a string or a regular expression."""
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj: Any) -> re.Pattern:
    """`obj`, a string or a regular expression, as the latter.  Raises ValueError for other things."""
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


def _inputs_of(ops: list) -> list:
    return list(dict.fromkeys(t for op in ops for t in op.inputs))


def _outputs_of(ops: list) -> list:
    return [t for op in ops for t in op.outputs]


def filter_ts(ops: Any, positive_filter: Any) -> list:
    """The inputs and outputs of `ops` for which `positive_filter` holds, a function of the tensor or True."""
    ops = make_list_of_op(ops)
    found = list(dict.fromkeys([*_inputs_of(ops), *_outputs_of(ops)]))
    return found if positive_filter is True else [t for t in found if positive_filter(t)]


def filter_ts_from_regex(ops: Any, regex: Any) -> list:
    """The inputs and outputs of `ops` whose names match."""
    pattern = make_regex(regex)
    return filter_ts(ops, lambda t: pattern.search(t.name))


def filter_ops(ops: Any, positive_filter: Any) -> list:
    """Those of `ops` for which `positive_filter` holds, a function of the operation or True."""
    ops = make_list_of_op(ops)
    return ops if positive_filter is True else [op for op in ops if positive_filter(op)]


def filter_ops_from_regex(ops: Any, regex: Any) -> list:
    """Those of `ops` whose names match."""
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name))


def get_name_scope_ops(ops: Any, scope: str) -> list:
    """Those of `ops` that are in a name scope."""
    return filter_ops_from_regex(ops, f"^{scope.removesuffix('/')}(/.*)?$")


def check_cios(control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None) -> tuple:
    """(whether control inputs count, the ControlOutputs up to date or None).

    Raises TypeError for what is no ControlOutputs, ValueError if both are given.
    """
    for given in (control_ios, control_outputs):
        if given is not None and not isinstance(given, ControlOutputs):
            raise TypeError(f"Expected a util.ControlOutputs, got: {type(given)}")
    if control_ios is not None:
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        return True, control_ios.update()
    return control_inputs, None if control_outputs is None else control_outputs.update()


def get_ops_ios(ops: Any, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None) -> list:
    """The operations that `ops` get inputs from or give outputs to, with `control_...` also by waiting."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    found: dict = {}
    for op in make_list_of_op(ops):
        found.update(dict.fromkeys(t.op for t in op.inputs))
        found.update(dict.fromkeys(one for t in op.outputs for one in t.consumers()))
        if control_outputs is not None:
            found.update(dict.fromkeys(control_outputs.get(op)))
        if control_inputs:
            found.update(dict.fromkeys(op.control_inputs))
    return list(found)


def compute_boundary_ts(ops: Any) -> tuple:
    """(tensors that come from outside of `ops`, those that go outside, those that are made and used inside)."""
    ops = make_list_of_op(ops)
    inputs, outputs, within = _inputs_of(ops), _outputs_of(ops), set(ops)
    made = set(outputs)
    inside = [t for t in inputs if t in made]
    only_inside = {t for t in inside if set(t.consumers()) <= within}
    return [t for t in inputs if t not in made], [t for t in outputs if t not in only_inside], inside


def get_within_boundary_ops(ops: Any, seed_ops: Any, boundary_ops: Any = (), inclusive: bool = True, control_inputs: bool = False,
                            control_outputs: Any = None, control_ios: Any = None) -> list:
    """Those of `ops` that are connected with `seed_ops` without passing `boundary_ops`; these too if `inclusive`.

    Raises ValueError for seeds on the boundary.
    """
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    ops = make_list_of_op(ops)
    boundary = set(make_list_of_op(boundary_ops))
    wave = set(make_list_of_op(seed_ops, allow_graph=False))
    if boundary & wave:
        raise ValueError("Boundary is intersecting with the seeds.")
    found = set(wave)
    while wave:
        near = set(get_ops_ios(list(wave), control_inputs, control_outputs)) - found
        if inclusive:
            found |= near & boundary
        wave = near - boundary
        found |= wave
    return [op for op in ops if op in found]


def _walk(seeds: list, step: Callable, inclusive: bool, within_ops: Any, within_ops_fn: Callable | None) -> list:
    """`seeds` and what `step` leads to from them, nearest first, within bounds."""
    allowed = set(make_list_of_op(within_ops, allow_graph=False)) if within_ops else None
    found = dict.fromkeys(op for op in seeds if allowed is None or op in allowed)
    begun, wave = set(found), list(found)
    while wave:
        near = dict.fromkeys(one for op in wave for one in step(op) if one not in found)
        wave = [op for op in near if (allowed is None or op in allowed) and (within_ops_fn is None or within_ops_fn(op))]
        found.update(dict.fromkeys(wave))
    return [op for op in found if inclusive or op not in begun]


def get_forward_walk_ops(seed_ops: Any, inclusive: bool = True, within_ops: Any = None, within_ops_fn: Callable | None = None,
                         stop_at_ts: Any = (), control_outputs: Any = None) -> list:
    """The operations that depend on `seed_ops`, operations or tensors; with `inclusive` also these (the users of tensors).

    `within_ops`, `within_ops_fn`: where the walk may go; `stop_at_ts`: tensors that it does not pass.
    """
    _, control_outputs = check_cios(False, control_outputs)
    seeds = listed(seed_ops)
    if not seeds:
        return []
    seeds = get_consuming_ops(seeds) if isinstance(seeds[0], Tensor) else make_list_of_op(seeds, allow_graph=False)
    stops = set(make_list_of_t(stop_at_ts))

    def step(op: Any) -> list:
        users = [one for t in op.outputs if t not in stops for one in t.consumers()]
        return users if control_outputs is None else [*users, *control_outputs.get(op)]

    return _walk(seeds, step, inclusive, within_ops, within_ops_fn)


def get_backward_walk_ops(seed_ops: Any, inclusive: bool = True, within_ops: Any = None, within_ops_fn: Callable | None = None,
                          stop_at_ts: Any = (), control_inputs: bool = False) -> list:
    """The operations that `seed_ops`, operations or tensors, depend on; with `inclusive` also these (the makers of tensors)."""
    seeds = listed(seed_ops)
    if not seeds:
        return []
    seeds = get_generating_ops(seeds) if isinstance(seeds[0], Tensor) else make_list_of_op(seeds, allow_graph=False)
    stops = set(make_list_of_t(stop_at_ts))

    def step(op: Any) -> list:
        makers = [t.op for t in op.inputs if t not in stops]
        return [*makers, *op.control_inputs] if control_inputs else makers

    return _walk(seeds, step, inclusive, within_ops, within_ops_fn)


def _both_walks(forward_seed_ops: Any, backward_seed_ops: Any, forward_inclusive: bool, backward_inclusive: bool, within_ops: Any,
                within_ops_fn: Callable | None, control_inputs: bool, control_outputs: Any, control_ios: Any) -> tuple:
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    forward = get_forward_walk_ops(forward_seed_ops, forward_inclusive, within_ops, within_ops_fn,
                                   control_outputs=control_outputs)
    backward = get_backward_walk_ops(backward_seed_ops, backward_inclusive, within_ops, within_ops_fn,
                                     control_inputs=control_inputs)
    return forward, backward


def get_walks_intersection_ops(forward_seed_ops: Any, backward_seed_ops: Any, forward_inclusive: bool = True,
                               backward_inclusive: bool = True, within_ops: Any = None, within_ops_fn: Callable | None = None,
                               control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None) -> list:
    """The operations on the ways from `forward_seed_ops` to `backward_seed_ops`."""
    forward, backward = _both_walks(forward_seed_ops, backward_seed_ops, forward_inclusive, backward_inclusive, within_ops,
                                    within_ops_fn, control_inputs, control_outputs, control_ios)
    reached = set(backward)
    return [op for op in forward if op in reached]


def get_walks_union_ops(forward_seed_ops: Any, backward_seed_ops: Any, forward_inclusive: bool = True,
                        backward_inclusive: bool = True, within_ops: Any = None, within_ops_fn: Callable | None = None,
                        control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None) -> list:
    """The operations of the walk forward and of the walk backward."""
    forward, backward = _both_walks(forward_seed_ops, backward_seed_ops, forward_inclusive, backward_inclusive, within_ops,
                                    within_ops_fn, control_inputs, control_outputs, control_ios)
    return list(dict.fromkeys([*forward, *backward]))


_OPTIONS = ("graph", "positive_filter", "restrict_ops_regex", "restrict_ts_regex")


def _selected(args: tuple, kwargs: dict, own: str, other: str, by_name: Callable, by_list: Callable) -> list:
    for key in kwargs:
        if key not in _OPTIONS:
            raise ValueError(f"Wrong keywords argument: {key}.")
    graph, keep = kwargs.get("graph"), kwargs.get("positive_filter")
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    found: dict = {}
    for arg in args:
        if can_be_regex(arg):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            pattern = make_regex(arg)
            if pattern.pattern.startswith(f"(?#{other})") or kwargs.get(f"restrict_{own}_regex") and not \
                    pattern.pattern.startswith(f"(?#{own})"):
                continue
            members = by_name(graph, pattern)
        else:
            members = by_list(arg)
        found.update(dict.fromkeys(one for one in members if keep is None or keep(one)))
    return list(found)


def select_ops(*args: Any, **kwargs: Any) -> list:
    """Operations by patterns of their names, and those given, each once.

    Keywords: `graph`, where patterns are looked for; `positive_filter`, a function of the operation; `restrict_ops_regex`:
    only patterns that begin with ``(?#ops)`` count (those with ``(?#ts)`` never do).  Raises ValueError for other keywords, and
    for patterns without a graph.
    """
    return _selected(args, kwargs, "ops", "ts", filter_ops_from_regex, lambda arg: make_list_of_op(arg, ignore_ts=True))


def select_ts(*args: Any, **kwargs: Any) -> list:
    """Tensors by patterns of their names, and those given; see ``select_ops``."""
    return _selected(args, kwargs, "ts", "ops", filter_ts_from_regex, lambda arg: make_list_of_t(arg, ignore_ops=True))


def select_ops_and_ts(*args: Any, **kwargs: Any) -> tuple:
    """(operations, tensors): patterns are of operations unless they begin with ``(?#ts)``."""
    return select_ops(*args, restrict_ops_regex=False, **kwargs), select_ts(*args, restrict_ts_regex=True, **kwargs)
