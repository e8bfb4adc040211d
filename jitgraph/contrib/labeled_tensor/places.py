"""Functions that choose, join, split and move places along axes."""
from __future__ import annotations

import collections.abc
from typing import Any

from jitgraph.contrib.labeled_tensor.axes import Axis, as_axis, concat_axes
from jitgraph.contrib.labeled_tensor.tensors import (
    AxisOrderError,
    LabeledTensor,
    convert_to_labeled_tensor,
    slice_function,
    transpose,
)
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat as concatenated
from jitgraph.ops.arrays.join import stack, unstack
from jitgraph.ops.arrays.layout import tile as tiled
from jitgraph.ops.arrays.pad import pad as padded
from jitgraph.ops.arrays.searching import boolean_mask as masked
from jitgraph.ops.arrays.shape import reshape as reshaped
from jitgraph.ops.arrays.shape import squeeze as squeezed
from jitgraph.ops.random.draws import random_crop as cropped


def _take(one: LabeledTensor, places: Any, axis: Axis, name: str) -> LabeledTensor:
    with name_scope(name, "lt_take", [one]) as scope:
        axes = [axis, *one.axes.remove(axis.name).values()]
        first = transpose(one, [each.name for each in axes])
        return transpose(LabeledTensor(gather(first.tensor, places), axes), list(one.axes), name=scope)


def _chosen(axis: Axis, value: Any) -> Any:
    """The numbers of places with labels: for a slice, whose end is included, for one label, or for a list of them."""
    if isinstance(value, slice):
        if value.step is not None:
            raise NotImplementedError("slicing with a step is not yet supported")
        return slice(None if value.start is None else axis.index(value.start),
                     None if value.stop is None else axis.index(value.stop) + 1)
    if isinstance(value, collections.abc.Hashable):
        return axis.index(value)
    if isinstance(value, list):
        return [axis.index(one) for one in value]
    raise TypeError("cannot handle arbitrary types")


def select(labeled_tensor: Any, selection: dict, name: str | None = None) -> LabeledTensor:
    """The places with labels: {axis: a label, which leaves the axis out, a slice whose end is included, or a list of labels}.

    Raises ValueError for axes that are not there or have no labels, KeyError for labels that are not there, NotImplementedError for
    a list together with others.
    """
    with name_scope(name, "lt_select", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        slices: dict[str, Any] = {}
        lists: dict[str, Any] = {}
        for key, value in selection.items():
            if key not in one.axes:
                raise ValueError(f"The tensor does not have an axis named {key}. Its axes are: {one.axes.keys()!r}")
            if one.axes[key].labels is None:
                raise ValueError(f"The axis named {key} does not have labels. The axis is: {one.axes[key]!r}")
            chosen = _chosen(one.axes[key], value)
            if isinstance(chosen, list):
                if lists:
                    raise NotImplementedError("select does not yet support more than one list selection at the same time")
                lists[key] = convert_to_tensor(chosen, dtypes.int64)
            else:
                slices[key] = chosen
        if lists and slices:
            raise NotImplementedError("select does not yet support combined scalar and list selection")
        for key, places in lists.items():
            return _take(one, places, Axis(key, selection[key]), scope)
        return slice_function(one, slices, name=scope)


def concat(labeled_tensors: Any, axis_name: str, name: str | None = None) -> LabeledTensor:
    """Tensors in a row along an axis.  Raises ValueError for none, and if the axis is not there or other axes differ."""
    with name_scope(name, "lt_concat", labeled_tensors) as scope:
        tensors = [convert_to_labeled_tensor(one) for one in labeled_tensors]
        if not tensors:
            raise ValueError(f"concat expects at least 1 tensor, but received {tensors}")
        names = list(tensors[0].axes)
        if axis_name not in names:
            raise ValueError(f"{axis_name} not in {names}")
        shared = tensors[0].axes.remove(axis_name)
        for one in tensors[1:]:
            if one.axes.remove(axis_name) != shared:
                raise ValueError(f"Mismatched shared axes: the first tensor had axes {shared!r} but this tensor has axes "
                                 f"{one.axes.remove(axis_name)!r}.")
        joined = concat_axes([one.axes[axis_name] for one in tensors])
        made = concatenated([one.tensor for one in tensors], names.index(axis_name), name=scope)
        return LabeledTensor(made, [joined if axis.name == axis_name else axis for axis in tensors[0].axes.values()])


def pack(labeled_tensors: Any, new_axis: Any, axis_position: int = 0, name: str | None = None) -> LabeledTensor:
    """Tensors along a new axis.  Raises ValueError for none, and if axes differ."""
    with name_scope(name, "lt_pack", labeled_tensors) as scope:
        tensors = [convert_to_labeled_tensor(one) for one in labeled_tensors]
        if not tensors:
            raise ValueError(f"pack expects at least 1 tensors, but received {tensors}")
        for one in tensors:
            if one.axes != tensors[0].axes:
                raise ValueError(f"Non-identical axes. Expected {tensors[0].axes} but got {one.axes}")
        axes = list(tensors[0].axes.values())
        axes.insert(axis_position, new_axis)
        return LabeledTensor(stack([one.tensor for one in tensors], axis=axis_position, name=scope), axes)


def unpack(labeled_tensor: Any, axis_name: str | None = None, name: str | None = None) -> list[LabeledTensor]:
    """The tensors along an axis, the first by default.  Raises ValueError if it is not there."""
    with name_scope(name, "lt_unpack", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        names = list(one.axes)
        if axis_name is None:
            axis_name = names[0]
        if axis_name not in names:
            raise ValueError(f"{axis_name} not in {names}")
        axes = one.axes.remove(axis_name)
        return [LabeledTensor(part, axes) for part in unstack(one.tensor, axis=names.index(axis_name), name=scope)]


def reshape(labeled_tensor: Any, existing_axes: Any, new_axes: Any, name: str | None = None) -> LabeledTensor:
    """Other axes in the place of axes that follow each other; one of the new ones may be a name alone.

    Raises ValueError for axes that are not there and for several names alone, AxisOrderError if they do not follow each other.
    """
    with name_scope(name, "lt_reshape", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        names, existing = list(one.axes), list(existing_axes)
        if not set(existing) <= set(names):
            raise ValueError(f"existing_axes {existing!r} are not contained in the set of axis names {names!r} on the input "
                             "labeled tensor")
        start, stop = names.index(existing[0]), names.index(existing[-1]) + 1
        if existing != names[start:stop]:
            raise AxisOrderError(f"existing_axes {existing!r} are not a slice of axis names {names!r} on the input labeled tensor. "
                                 "Use `transpose` or `impose_axis_order` to reorder axes on the input explicitly.")
        if sum(isinstance(axis, str) for axis in new_axes) > 1:
            raise ValueError("at most one axis in new_axes can have unknown size. All other axes must have an indicated integer "
                             f"size or labels: {new_axes!r}")
        values: list[Any] = list(one.axes.values())
        axes = values[:start] + list(new_axes) + values[stop:]
        sizes = [None if isinstance(axis, str) else as_axis(axis).size for axis in axes]
        return LabeledTensor(reshaped(one.tensor, [-1 if size is None else size for size in sizes], name=scope), axes)


def rename_axis(labeled_tensor: Any, existing_name: str, new_name: str, name: str | None = None) -> LabeledTensor:
    """An axis by another name.  Raises ValueError if it is not there."""
    with name_scope(name, "lt_rename_axis", [labeled_tensor]) as scope:
        if existing_name not in labeled_tensor.axes:
            raise ValueError(f"existing_name {existing_name!r} are not contained in the set of axis names "
                             f"{labeled_tensor.axes.keys()!r} on the input labeled tensor")
        return reshape(labeled_tensor, [existing_name], [Axis(new_name, labeled_tensor.axes[existing_name].value)], name=scope)


def random_crop(labeled_tensor: Any, shape_map: dict, seed: int | None = None, name: str | None = None) -> LabeledTensor:
    """A part at a random place, of the sizes {axis: size}.  Raises ValueError for axes that are not there."""
    with name_scope(name, "lt_random_crop", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        for key in shape_map:
            if key not in one.axes:
                raise ValueError(f"Selection axis {key} not in axes {one.axes}")
        axes = [(axis.name, shape_map[axis.name]) if axis.name in shape_map else axis for axis in one.axes.values()]
        made = cropped(one.tensor, [len(as_axis(axis)) for axis in axes], seed=seed, name=scope)
        return LabeledTensor(made, axes)


def squeeze(labeled_tensor: Any, axis_names: Any = None, name: str | None = None) -> LabeledTensor:
    """The tensor without axes of size 1, all by default.  Raises ValueError for others."""
    with name_scope(name, "lt_squeeze", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        if axis_names is None:
            axis_names = [axis.name for axis in one.axes.values() if len(axis) == 1]
        for key in axis_names:
            if key not in one.axes:
                raise ValueError(f"axis {key} is not in tensor axes {one.axes}")
            if len(one.axes[key]) != 1:
                raise ValueError(f"cannot squeeze axis with size greater than 1: ({key}, {one.axes[key]})")
        gone = [k for k, key in enumerate(one.axes) if key in axis_names]
        made = squeezed(one.tensor, gone, name=scope) if gone else identity(one.tensor, name=scope)
        return LabeledTensor(made, [axis for axis in one.axes.values() if axis.name not in axis_names])


def tile(labeled_tensor: Any, multiples: dict, name: str | None = None) -> LabeledTensor:
    """Several times along axes: {axis: how often}.  Raises ValueError for axes that are not there or have labels."""
    with name_scope(name, "lt_tile", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        if not set(multiples) <= set(one.axes):
            raise ValueError(f"tile axes {multiples.keys()!r} are not contained in the set of axis names {one.axes!r} on the input "
                             "labeled tensor")
        labeled = [key for key in multiples if one.axes[key].labels is not None]
        if labeled:
            raise ValueError(f"cannot tile axes with tick labels: {labeled!r}")
        made = tiled(one.tensor, [multiples.get(key, 1) for key in one.axes], name=scope)
        return LabeledTensor(made, [axis.name if axis.labels is None else axis for axis in one.axes.values()])


def pad(labeled_tensor: Any, paddings: dict, mode: str = "CONSTANT", name: str | None = None) -> LabeledTensor:
    """More places before and behind: {axis: (sizes or labels before, behind)}.  Raises ValueError for axes that are not there."""
    with name_scope(name, "lt_pad", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        if not set(paddings) <= set(one.axes):
            raise ValueError(f"pad axes {paddings.keys()!r} are not contained in the set of axis names {one.axes!r} on the input "
                             "labeled tensor")
        axes, pairs = [], []
        for key, axis in one.axes.items():
            before, behind = (Axis(key, value) for value in paddings.get(key, (0, 0)))
            axes.append(concat_axes([before, axis, behind]) if key in paddings else axis)
            pairs.append((len(before), len(behind)))
        return LabeledTensor(padded(one.tensor, pairs, mode, name=scope), axes)


def boolean_mask(labeled_tensor: Any, mask: Any, name: str | None = None) -> LabeledTensor:
    """The places along the first axis where `mask`, which has that axis alone, is true.  Raises ValueError if it differs."""
    with name_scope(name, "lt_boolean_mask", [labeled_tensor, mask]) as scope:
        one, chosen = convert_to_labeled_tensor(labeled_tensor), convert_to_labeled_tensor(mask)
        if len(chosen.axes) > 1:
            raise NotImplementedError("LabeledTensor's boolean_mask currently only supports 1D masks")
        own, (first, *others) = next(iter(chosen.axes.values())), one.axes.values()
        if own != first:
            raise ValueError(f"the first axis of the labeled tensor and the mask are not equal:\n{first!r}\n{own!r}")
        return LabeledTensor(masked(one.tensor, chosen.tensor, name=scope), [first.name, *others])
