"""Images flipped, turned, cropped and padded."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes, counted_as
from jitgraph.graph.python_numbers import number_of
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.image.image_checks import (
    after,
    as_batch,
    assertion,
    at_least_3d,
    checked_3d,
    dimensions,
    is_batch,
    sizes_of,
    unbatched,
)
from jitgraph.ops.random.draws import random_uniform

# -- flips and turns ---------------------------------------------------------------------------------------------------

def _reversed(image: Tensor, axes: list) -> Tensor:
    return raw.ReverseV2(image, np.array(axes, np.int32))


def _transposed(image: Tensor, perm: list) -> Tensor:
    return raw.Transpose(image, np.array(perm, np.int32))


def _flip(image: Any, axis: int, name: str) -> Tensor:
    with name_scope(None, name, [image]):
        image = checked_3d(convert_to_tensor(image, name="image"))
        found = _reversed(image, [axis + is_batch(image)])
        if image._shape is None:
            found.set_shape([None] * 3)
        return found


def flip_left_right(image: Any) -> Tensor:
    """An image, or a batch of them, with the columns in reverse order."""
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image: Any) -> Tensor:
    """An image, or a batch of them, with the rows in reverse order."""
    return _flip(image, 0, "flip_up_down")


def _random_flip(image: Any, axis: int, seed: int | None, name: str) -> Tensor:
    from jitgraph.control.conditionals import cond

    with name_scope(None, name, [image]) as scope:
        image = checked_3d(convert_to_tensor(image, name="image"))
        if not is_batch(image):
            mirror = raw.Less(random_uniform([], 0, 1.0, seed=seed), 0.5)
            found = cond(mirror, lambda: _reversed(image, [axis]), lambda: image, name=scope)
            found.set_shape([None] * 3 if image._shape is None else image.shape)
            return found
        count = raw.Shape(image)[0]
        chance = random_uniform([count], 0, 1.0, seed=seed)
        flips = raw.Round(raw.Reshape(chance, raw.Pack([count, 1, 1, 1])))
        if image.dtype.base_dtype is not dtypes.float32:
            flips = raw.Cast(flips, DstT=image.dtype.base_dtype)
        return flips * _reversed(image, [axis + 1]) + (1 - flips) * image


def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """Each image with the columns in reverse order with a chance of one half."""
    return _random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """Each image with the rows in reverse order with a chance of one half."""
    return _random_flip(image, 0, seed, "random_flip_up_down")


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """An image, or a batch of them, turned `k` times by 90 degrees counter-clockwise; `k` may be a tensor."""
    from jitgraph.ops.choices.cases import case

    with name_scope(name, "rot90", [image, k]) as scope:
        image = checked_3d(convert_to_tensor(image, name="image"))
        lead = [0] if is_batch(image) else []
        h, w = len(lead), len(lead) + 1
        swap = [*lead, w, h, w + 1]
        turns = [lambda: image, lambda: _transposed(_reversed(image, [w]), swap), lambda: _reversed(image, [h, w]),
                 lambda: _reversed(_transposed(image, swap), [w])]
        k, = sizes_of(k)
        if not isinstance(k, Tensor):
            with counted_as(62):        # TensorFlow has a case of all turns
                return raw.Identity(turns[int(k) % 4](), name=scope)

        k = raw.FloorMod(convert_to_tensor(k, dtypes.int32, name="k"), 4)
        cases = [(raw.Equal(k, i), turns[i]) for i in (1, 2, 3)]
        found = case(cases, default=turns[0], exclusive=True, name=scope)
        if image._shape is not None:
            found.set_shape([*image._shape[:h], None, None, image._shape[-1]])
        return found


def transpose_image(image: Any, name: str | None = None) -> Tensor:
    """An image, or a batch of them, with rows and columns exchanged."""
    with name_scope(name, "transpose", [image]):
        image = checked_3d(convert_to_tensor(image, name="image"))
        return raw.Transpose(image, np.array([0, 2, 1, 3] if is_batch(image) else [1, 0, 2], np.int32), name=name)


# -- crops and borders -------------------------------------------------------------------------------------------------

def _vector(parts: list) -> Any:
    """Sizes as an array, or a tensor if some of them are."""
    kinds = {part.dtype.base_dtype for part in parts if isinstance(part, Tensor)}
    if kinds:
        kind = dtypes.int64 if kinds == {dtypes.int64} else dtypes.int32
        return raw.Pack([convert_to_tensor(part, kind) for part in parts])
    return np.array(parts, np.int32)


def _static(parts: list) -> list:
    return [None if isinstance(part, Tensor) else part for part in parts]


def _margin(size: Any, fraction: float) -> Any:
    """How much is cut from either side so that `fraction` of `size` is left."""
    if isinstance(size, Tensor):
        whole = raw.Cast(size, DstT=dtypes.float64)
        return raw.Cast((whole - whole * fraction) / 2, DstT=dtypes.int32)
    return int((float(size) - float(size) * number_of(fraction)) / 2)


def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle of an image, or a batch of them: `central_fraction` of the height and of the width."""
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        if central_fraction <= 0.0 or central_fraction > 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image
        checked_3d(image)
        rank = None if image._shape is None else len(image._shape)
        if rank not in (3, 4):
            raise ValueError(f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}.")
        lead = rank - 3
        sizes = [raw.Shape(image)[i] if image._shape[i] is None else image._shape[i] for i in (lead, lead + 1)]
        begin = [_margin(size, central_fraction) for size in sizes]
        kept = [size - margin * 2 for size, margin in zip(sizes, begin)]
        found = raw.Slice(image, _vector([0] * lead + [*begin, 0]), _vector([-1] * lead + [*kept, -1]))
        found.set_shape([*image._shape[:lead], *_static(kept), image._shape[-1]])
        return found


def pad_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any,
                        target_width: Any) -> Tensor:
    """An image, or a batch of them, in a frame of zeros: `offset_...` before it, the size `target_...` in all.

    Raises ValueError, or InvalidArgumentError when it runs, if offsets are negative or the image does not fit.
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        offset_height, offset_width, target_height, target_width = sizes_of(
            offset_height, offset_width, target_height, target_width)
        image, batch = as_batch(convert_to_tensor(image, name="image"))
        checks = at_least_3d(image)
        count, height, width, depth = dimensions(image, 4)
        behind_width = target_width - offset_width - width
        behind_height = target_height - offset_height - height
        checks += assertion(offset_height >= 0, "offset_height must be >= 0")
        checks += assertion(offset_width >= 0, "offset_width must be >= 0")
        checks += assertion(behind_width >= 0, "width must be <= target - offset")
        checks += assertion(behind_height >= 0, "height must be <= target - offset")
        image = after(checks, image)
        paddings = _vector([0, 0, offset_height, behind_height, offset_width, behind_width, 0, 0])
        count_nodes(0 if isinstance(paddings, Tensor) else 2)          # TensorFlow's Reshape, and its shape
        found = raw.Pad(image, raw.Reshape(paddings, [4, 2]) if isinstance(paddings, Tensor) else
                        paddings.reshape(4, 2))
        found.set_shape(_static([count, target_height, target_width, depth]))
        return unbatched(found, batch)


def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any,
                         target_width: Any) -> Tensor:
    """The part of an image, or of a batch of them, that begins at `offset_...` and has the size `target_...`.

    Raises ValueError, or InvalidArgumentError when it runs, if it is not inside the image.
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        offset_height, offset_width, target_height, target_width = sizes_of(
            offset_height, offset_width, target_height, target_width)
        image, batch = as_batch(convert_to_tensor(image, name="image"))
        checks = at_least_3d(image)
        count, height, width, depth = dimensions(image, 4)
        checks += assertion(offset_width >= 0, "offset_width must be >= 0.")
        checks += assertion(offset_height >= 0, "offset_height must be >= 0.")
        checks += assertion(target_width > 0, "target_width must be > 0.")
        checks += assertion(target_height > 0, "target_height must be > 0.")
        checks += assertion(width >= target_width + offset_width, "width must be >= target + offset.")
        checks += assertion(height >= target_height + offset_height, "height must be >= target + offset.")
        image = after(checks, image)
        found = raw.Slice(image, _vector([0, offset_height, offset_width, 0]),
                          _vector([-1, target_height, target_width, -1]))
        found.set_shape(_static([count, target_height, target_width, depth]))
        return unbatched(found, batch)


def _larger(a: Any, b: Any) -> Any:
    return raw.Maximum(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else max(a, b)


def _smaller(a: Any, b: Any) -> Any:
    return raw.Minimum(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else min(a, b)


def _check_targets(image: Tensor, target_height: Any, target_width: Any) -> list:
    checks = at_least_3d(image)
    checks += assertion(target_width > 0, "target_width must be > 0.")
    return checks + assertion(target_height > 0, "target_height must be > 0.")


def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """An image, or a batch of them, brought to a size by cutting around the middle or adding zeros around it."""
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        target_height, target_width = sizes_of(target_height, target_width)
        image, batch = as_batch(convert_to_tensor(image, name="image"))
        checks = _check_targets(image, target_height, target_width)
        image = after(checks, image)
        if isinstance(target_height, Tensor):
            target_height = after(checks, target_height)
        if isinstance(target_width, Tensor):
            target_width = after(checks, target_width)
        _, height, width, _ = dimensions(image, 4)
        more_width, more_height = target_width - width, target_height - height
        cropped = crop_to_bounding_box(image, _larger(-more_height // 2, 0), _larger(-more_width // 2, 0),
                                       _smaller(target_height, height), _smaller(target_width, width))
        found = pad_to_bounding_box(cropped, _larger(more_height // 2, 0), _larger(more_width // 2, 0), target_height,
                                    target_width)
        count_nodes(0 if found.shape.is_fully_defined() else 2)         # TensorFlow asks for the sizes of the result
        return unbatched(after([], found), batch)
