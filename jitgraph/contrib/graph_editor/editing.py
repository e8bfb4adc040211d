"""Views of a graph connected with others, or taken out of what surrounds them: inputs and outputs changed in place."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.graph_editor.lists import (
    ControlOutputs,
    get_consuming_ops,
    make_placeholder_from_tensor,
    placeholder_name,
)
from jitgraph.contrib.graph_editor.rerouting import remove_control_inputs, reroute_ts, swap_ts
from jitgraph.contrib.graph_editor.selecting import check_cios
from jitgraph.contrib.graph_editor.views import SubGraphView, check_graphs, make_view
from jitgraph.ops.arrays.identity import placeholder


def _inputs(sgv0: Any, sgv1: Any, both_ways: bool) -> tuple:
    first, second = make_view(sgv0), make_view(sgv1)
    check_graphs(first, second)
    users = [*first.ops, *second.ops, *get_consuming_ops(first.passthroughs), *get_consuming_ops(second.passthroughs)]
    (swap_ts if both_ways else reroute_ts)(first.inputs, second.inputs, can_modify=users)
    _remap(first, second, both_ways)
    return first, second


def _remap(first: SubGraphView, second: SubGraphView, both_ways: bool) -> None:
    """Lets the views follow what has become of their inputs."""
    mine, other = first.copy(), second.copy()
    other._input_ts, other._passthrough_ts = list(first._input_ts), list(first._passthrough_ts)
    if both_ways:
        mine._input_ts, mine._passthrough_ts = list(second._input_ts), list(second._passthrough_ts)
    for a, b in ((mine, other), (other, mine))[:1 + both_ways]:
        for place, t in enumerate(b._output_ts):
            if t in a._passthrough_ts:
                b._output_ts[place] = b._input_ts[a._input_ts.index(t)]
    first._assign_from(mine)
    second._assign_from(other)


def _outputs(sgv0: Any, sgv1: Any, both_ways: bool) -> tuple:
    first, second = make_view(sgv0), make_view(sgv1)
    check_graphs(first, second)
    (swap_ts if both_ways else reroute_ts)(first.outputs, second.outputs, cannot_modify=[*first.ops, *second.ops])
    return first, second


def swap_inputs(sgv0: Any, sgv1: Any) -> tuple:
    """Lets each of two views read what the other reads; gives both.  Raises ValueError as ``swap_ts`` does."""
    return _inputs(sgv0, sgv1, True)


def reroute_inputs(sgv0: Any, sgv1: Any) -> tuple:
    """Lets the second view read what the first reads."""
    return _inputs(sgv0, sgv1, False)


def swap_outputs(sgv0: Any, sgv1: Any) -> tuple:
    """Lets those who use the outputs of one view use those of the other."""
    return _outputs(sgv0, sgv1, True)


def reroute_outputs(sgv0: Any, sgv1: Any) -> tuple:
    """Lets those who use the outputs of the second view use those of the first."""
    return _outputs(sgv0, sgv1, False)


def swap_ios(sgv0: Any, sgv1: Any) -> tuple:
    """``swap_outputs`` and ``swap_inputs``."""
    swap_outputs(sgv0, sgv1)
    return swap_inputs(sgv0, sgv1)


def reroute_ios(sgv0: Any, sgv1: Any) -> tuple:
    """``reroute_outputs`` and ``reroute_inputs``."""
    reroute_outputs(sgv0, sgv1)
    return reroute_inputs(sgv0, sgv1)


def detach_control_inputs(sgv: Any) -> None:
    """Lets no operation of a view wait for one outside."""
    view = make_view(sgv)
    for op in view.ops:
        remove_control_inputs(op, [one for one in op.control_inputs if one not in view.ops])


def detach_control_outputs(sgv: Any, control_outputs: Any) -> None:
    """Lets no operation outside wait for one of a view.  Raises TypeError for what is no ControlOutputs."""
    if not isinstance(control_outputs, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    control_outputs.update()
    view = make_view(sgv)
    for op in view.ops:
        for one in control_outputs.get(op):
            if one not in view.ops:
                remove_control_inputs(one, op)


def detach_inputs(sgv: Any, control_inputs: bool = False) -> tuple:
    """(the view, the placeholders that its operations read now)"""
    view = make_view(sgv)
    with view.graph.as_default():
        fed = [placeholder(dtype=t.dtype, name=placeholder_name(t)) for t in view.inputs]
    swap_inputs(view, fed)
    if control_inputs:
        detach_control_inputs(view)
    return view, fed


def detach_outputs(sgv: Any, control_outputs: Any = None) -> tuple:
    """(a view, the placeholders that those outside read now who used its outputs)"""
    view = make_view(sgv)
    view = view.remap_outputs([place for place, t in enumerate(view.outputs) if t.consumers()])
    users = SubGraphView(view.consumers())
    users = users.remap_inputs([place for place, t in enumerate(users.inputs) if t in view.outputs])
    with view.graph.as_default():
        fed = [make_placeholder_from_tensor(t) for t in users.inputs]
    swap_outputs(view, fed)
    if control_outputs is not None:
        detach_control_outputs(view, control_outputs)
    return view, fed


def detach(sgv: Any, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None) -> tuple:
    """(the view, the placeholders before it, those after it): nothing leads into it and out of it any more."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    _, before = detach_inputs(sgv, control_inputs)
    _, after = detach_outputs(sgv, control_outputs)
    return sgv, before, after


def connect(sgv0: Any, sgv1: Any, disconnect_first: bool = False) -> tuple:
    """Lets the second view read the outputs of the first; with `disconnect_first` others do so no more."""
    first, second = make_view(sgv0), make_view(sgv1)
    check_graphs(first, second)
    if disconnect_first:
        detach_outputs(first)
    reroute_inputs(SubGraphView(passthrough_ts=first.outputs), second)
    return first, second


def bypass(sgv: Any) -> tuple:
    """(the view, the placeholders that it reads now): those who used its outputs use what were its inputs."""
    view = make_view(sgv)
    inputs = view.inputs
    view, fed = detach_inputs(view)
    reroute_ts(inputs, view.outputs)
    return view, fed
