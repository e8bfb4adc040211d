"""Blocks of space moved to the batch or to the channels, and back."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import op
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import INDEX
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.shape import plain_sizes


def _pairs(values: Any) -> list[tuple]:
    flat = plain_sizes(values)
    return list(zip(flat[0::2], flat[1::2]))


# -- space to batch ------------------------------------------------------------------------------------------------

def _to_batch_sizes(size: Any, blocks: list, paddings: list) -> tuple:
    """(batch, spatial sizes in blocks) of the result; None where unknown.  Raises ValueError if blocks do not fit."""
    batch, spatial = size[0], []
    for axis, (block, (lo, hi)) in enumerate(zip(blocks, paddings), 1):
        if block < 1:
            raise ValueError(f"block_shape must be positive, got {block}")
        d = size[axis]
        batch = None if batch is None else batch * block
        if d is not None:
            _check_not_negative("paddings", lo, hi)
            d = d + lo + hi
            if d % block != 0:
                raise ValueError(f"padded_shape[{axis - 1}]={d} is not divisible by block_shape[{axis - 1}]={block}")
            d = d // block
        spatial.append(d)
    return batch, *spatial, *size[1 + len(blocks):]


def _check_not_negative(what: str, *sizes: Any) -> None:
    if any(isinstance(size, int) and size < 0 for size in sizes):
        raise ValueError(f"{what} cannot be negative, got {list(sizes)}")


def _from_batch_sizes(size: Any, blocks: list, crops: list) -> tuple:
    batch, spatial = size[0], []
    for axis, (block, (lo, hi)) in enumerate(zip(blocks, crops), 1):
        if block < 1:
            raise ValueError(f"block_shape must be positive, got {block}")
        d = size[axis]
        if batch is not None:
            if batch % block != 0:
                raise ValueError(f"Input batch dimension ({batch}) is not divisible by product of block sizes")
            batch = batch // block
        _check_not_negative("crops", lo, hi)
        cropped = None if d is None else d * block - lo - hi
        if isinstance(cropped, int) and cropped < 0:
            raise ValueError(f"cropped_shape[{axis - 1}]={cropped} must be non-negative: crops {lo} and {hi} take more than the "
                             f"{d * block} there are")
        spatial.append(cropped)
    return batch, *spatial, *size[1 + len(blocks):]


def _moved_shape(sizes: Any) -> Any:
    def rule(c: Any) -> Any:
        value, blocks, pads = c.shapes[0], c.constant(1), c.constant(2)
        count = shape_rules.with_rank(c.shapes[1], 1, "block_shape")[0]
        shape_rules.merge(shape_rules.with_rank(c.shapes[2], 2, "paddings"), (count, 2))
        if value is None:
            return None
        if not shape_rules.known(blocks):
            behind = len(value) if count is None else 1 + count
            if len(value) < behind:
                raise ValueError(f"Shape must be at least rank {behind} but is rank {len(value)}")
            return (*[None] * behind, *value[behind:])
        if len(value) <= blocks.size:
            raise ValueError(f"Shape must be at least rank {blocks.size + 1} but is rank {len(value)}")
        blocks = plain_sizes(blocks)
        if not shape_rules.known(pads):
            behind = 1 + len(blocks)
            return sizes((value[0], *[None] * len(blocks), *value[behind:]), blocks, [(0, 0)] * len(blocks))
        return sizes(value, blocks, _pairs(pads))

    return rule


def _lower_to_batch(b: Any, x: Any, block_shape: Any, paddings: Any) -> Any:
    if block_shape.constant is None or paddings.constant is None:
        return NotImplemented
    blocks, pads = plain_sizes(block_shape.constant), _pairs(paddings.constant)
    count, rest = len(blocks), len(x.shape) - 1 - len(blocks)
    padded = b.pad(x, [0, *(lo for lo, _ in pads), *[0] * rest], [0, *(hi for _, hi in pads), *[0] * rest], 0)
    batch, *sizes = padded.shape
    parts = [k for d, block in zip(sizes, blocks) for k in (d // block, block)]
    split = b.reshape(padded, (batch, *parts, *sizes[count:]))
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count + 1, 2), *range(2 * count + 1, 2 * count + 1 + rest)]
    return b.reshape(b.transpose(split, order), _to_batch_sizes(x.shape, blocks, pads))


def _lower_from_batch(b: Any, x: Any, block_shape: Any, crops: Any) -> Any:
    if block_shape.constant is None or crops.constant is None:
        return NotImplemented
    blocks, cuts = plain_sizes(block_shape.constant), _pairs(crops.constant)
    count, rest = len(blocks), len(x.shape) - 1 - len(blocks)
    final = _from_batch_sizes(x.shape, blocks, cuts)
    split = b.reshape(x, (*blocks, final[0], *x.shape[1:]))
    order = [count, *(k for i in range(count) for k in (count + 1 + i, i)),
             *range(2 * count + 1, 2 * count + 1 + rest)]
    wide = b.transpose(split, order)
    joined = b.reshape(wide, (final[0], *(d * block for d, block in zip(x.shape[1:], blocks)), *x.shape[1 + count:]))
    return b.slice(joined, [0, *(lo for lo, _ in cuts), *[0] * rest], final)


class _NumPy:
    """The builder's view operations on arrays, so that one text serves as the NumPy meaning too."""

    @staticmethod
    def pad(x: np.ndarray, before: list, after: list, value: Any) -> np.ndarray:
        return np.pad(x, list(zip(before, after)), constant_values=b"" if x.dtype == object else value)

    @staticmethod
    def reshape(x: np.ndarray, shape: Any) -> np.ndarray:
        return x.reshape(shape)

    @staticmethod
    def transpose(x: np.ndarray, perm: list) -> np.ndarray:
        return x.transpose(perm)

    @staticmethod
    def slice(x: np.ndarray, begin: list, size: Any) -> np.ndarray:
        return np.ascontiguousarray(x[tuple(np.s_[b:b + s] for b, s in zip(begin, size))])


class _Known:
    """An array as the builder's values show constants."""

    def __init__(self, constant: np.ndarray):
        self.constant = constant


def _space_to_batch_nd_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 4, 6, 3), dtype)
    return [[x, ints(2, 3), ints([0, 0], [0, 0])], [x, ints(2), ints([1, 1])], [x, ints(3, 2), ints([1, 1], [2, 0])],
            [x[:, :, 0, 0], ints(1), ints([0, 0])]]


@op("SpaceToBatchND(input: T, block_shape: Tblock_shape, paddings: Tpaddings) -> output: T", Tblock_shape=INDEX,
    Tpaddings=INDEX, shape=_moved_shape(_to_batch_sizes), lower=_lower_to_batch, samples=_space_to_batch_nd_samples)
def space_to_batch_nd(input, block_shape, paddings):
    """Blocks of the (padded) spatial dimensions are dealt out to the batch, element by element."""
    return np.ascontiguousarray(_lower_to_batch(_NumPy, input, _Known(block_shape), _Known(paddings)))


@space_to_batch_nd.gradient
def _(op, grad):
    return [batch_to_space_nd(grad, op.inputs[1], op.inputs[2]), None, None]


def _batch_to_space_nd_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (6, 2, 3, 2), dtype)
    return [[x, ints(2, 3), ints([0, 0], [0, 0])], [x, ints(3), ints([1, 2])], [x, ints(1, 2), ints([1, 0], [0, 1])]]


@op("BatchToSpaceND(input: T, block_shape: Tblock_shape, crops: Tcrops) -> output: T", Tblock_shape=INDEX, Tcrops=INDEX,
    shape=_moved_shape(_from_batch_sizes), lower=_lower_from_batch, samples=_batch_to_space_nd_samples)
def batch_to_space_nd(input, block_shape, crops):
    """The inverse of SpaceToBatchND, cropped."""
    return _lower_from_batch(_NumPy, input, _Known(block_shape), _Known(crops))


@batch_to_space_nd.gradient
def _(op, grad):
    return [space_to_batch_nd(grad, op.inputs[1], op.inputs[2]), None, None]


def _square_shape(sizes: Any) -> Any:
    def rule(c: Any) -> Any:
        value = shape_rules.with_rank(c.shapes[0], 4, "input")
        shape_rules.merge(c.shapes[1], (2, 2))
        pads = c.constant(1)
        if not shape_rules.known(pads):
            return (None, None, None, value[3])
        return sizes(value, [c.attrs["block_size"]] * 2, _pairs(pads))

    return rule


def _space_to_batch_samples(rng: Any, dtype: Any) -> list:
    return [([draw(rng, (4, 2, 4, 3), dtype), ints([0, 0], [1, 1])], {"block_size": 2})]


@op("SpaceToBatch(input: T, paddings: Tpaddings; block_size: int >= 2) -> output: T", Tpaddings=INDEX,
    shape=_square_shape(_to_batch_sizes),
    lower=lambda b, x, paddings, block_size: _lower_to_batch(b, x, _Known(np.array([block_size] * 2)), paddings),
    samples=_space_to_batch_samples)
def _space_to_batch(input, paddings, block_size):
    """SpaceToBatchND for images and square blocks."""
    return space_to_batch_nd.opdef.value(input, np.array([block_size] * 2), paddings)


@_space_to_batch.gradient
def _(op, grad):
    return [raw.BatchToSpace(grad, op.inputs[1], block_size=op.attrs["block_size"]), None]


@op("BatchToSpace(input: T, crops: Tidx; block_size: int >= 2) -> output: T", Tidx=INDEX,
    shape=_square_shape(_from_batch_sizes),
    lower=lambda b, x, crops, block_size: _lower_from_batch(b, x, _Known(np.array([block_size] * 2)), crops),
    samples=_space_to_batch_samples)
def _batch_to_space(input, crops, block_size):
    """BatchToSpaceND for images and square blocks."""
    return batch_to_space_nd.opdef.value(input, np.array([block_size] * 2), crops)


@_batch_to_space.gradient
def _(op, grad):
    return [raw.SpaceToBatch(grad, op.inputs[1], block_size=op.attrs["block_size"]), None]


# -- space to depth ------------------------------------------------------------------------------------------------

_DEPTH = 'block_size: int >= 2, data_format: string {"NHWC", "NCHW", "NCHW_VECT_C"} = "NHWC"'


def _divided(d: Any, block: int, what: str) -> Any:
    if d is None:
        return None
    if d % block != 0:
        raise ValueError(f"Dimension size must be evenly divisible by {block} but is {d} ({what})")
    return d // block


def _depth_shape(to_depth: bool) -> Any:
    def rule(c: Any) -> Any:
        block, nchw = c.attrs["block_size"], c.attrs["data_format"] != "NHWC"
        value = shape_rules.with_rank(c.shapes[0], 4, "input")
        n, h, w, ch = (value[0], value[2], value[3], value[1]) if nchw else value
        if to_depth:
            h, w = _divided(h, block, "height"), _divided(w, block, "width")
            ch = None if ch is None else ch * (block * block)
        else:
            h, w = (None if d is None else d * block for d in (h, w))
            ch = _divided(ch, block * block, "depth")
        return (n, ch, h, w) if nchw else (n, h, w, ch)

    return rule


def _space_to_depth_by(b: Any, x: Any, block: int, data_format: str) -> Any:
    if data_format != "NHWC":
        n, ch, h, w = x.shape
        split = b.reshape(x, (n, ch, h // block, block, w // block, block))
        return b.reshape(b.transpose(split, [0, 3, 5, 1, 2, 4]), (n, ch * (block * block), h // block, w // block))
    n, h, w, ch = x.shape
    split = b.reshape(x, (n, h // block, block, w // block, block, ch))
    return b.reshape(b.transpose(split, [0, 1, 3, 2, 4, 5]), (n, h // block, w // block, ch * (block * block)))


def _depth_to_space_by(b: Any, x: Any, block: int, data_format: str) -> Any:
    if data_format != "NHWC":
        n, ch, h, w = x.shape
        split = b.reshape(x, (n, block, block, ch // (block * block), h, w))
        return b.reshape(b.transpose(split, [0, 3, 4, 1, 5, 2]), (n, ch // (block * block), h * block, w * block))
    n, h, w, ch = x.shape
    split = b.reshape(x, (n, h, w, block, block, ch // (block * block)))
    return b.reshape(b.transpose(split, [0, 1, 3, 2, 4, 5]), (n, h * block, w * block, ch // (block * block)))


def _space_to_depth_samples(rng: Any, dtype: Any) -> list:
    return [([draw(rng, (2, 4, 2, 8), dtype)], {"block_size": 2}),
            ([draw(rng, (2, 8, 4, 2), dtype)], {"block_size": 2, "data_format": "NCHW"})]


@op(f"SpaceToDepth(input: T; {_DEPTH}) -> output: T", shape=_depth_shape(True),
    lower=lambda b, x, block_size, data_format: _space_to_depth_by(b, x, block_size, data_format),
    samples=_space_to_depth_samples)
def _space_to_depth(input, block_size, data_format):
    """Blocks of height and width become channels."""
    return np.ascontiguousarray(_space_to_depth_by(_NumPy, input, block_size, data_format))


@_space_to_depth.gradient
def _(op, grad):
    return raw.DepthToSpace(grad, block_size=op.attrs["block_size"], data_format=op.attrs["data_format"])


@op(f"DepthToSpace(input: T; {_DEPTH}) -> output: T", shape=_depth_shape(False),
    lower=lambda b, x, block_size, data_format: _depth_to_space_by(b, x, block_size, data_format),
    samples=_space_to_depth_samples)
def _depth_to_space(input, block_size, data_format):
    """Channels become blocks of height and width."""
    return np.ascontiguousarray(_depth_to_space_by(_NumPy, input, block_size, data_format))


@_depth_to_space.gradient
def _(op, grad):
    return raw.SpaceToDepth(grad, block_size=op.attrs["block_size"], data_format=op.attrs["data_format"])


# -- public functions ----------------------------------------------------------------------------------------------

def space_to_depth(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Any:
    """Blocks of `block_size` by `block_size` positions of an image become channels."""
    return _space_to_depth(input, block_size=block_size, data_format=data_format, name=name)


def depth_to_space(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Any:
    """Channels become blocks of `block_size` by `block_size` positions of an image."""
    return _depth_to_space(input, block_size=block_size, data_format=data_format, name=name)


def space_to_batch(input: Any, paddings: Any, block_size: int | None = None, name: str | None = None,
                   block_shape: Any = None) -> Any:
    """Blocks of space are dealt out to the batch; `paddings` [spatial dimensions, 2] go around first."""
    return _of_square_blocks(space_to_batch_nd(input, _blocks(block_shape, block_size), paddings, name=name), block_size)


def batch_to_space(input: Any, crops: Any, block_size: int | None = None, name: str | None = None,
                   block_shape: Any = None) -> Any:
    """The inverse of ``space_to_batch``; `crops` [spatial dimensions, 2] are cut off at the end."""
    return _of_square_blocks(batch_to_space_nd(input, _blocks(block_shape, block_size), crops, name=name), block_size)


def _of_square_blocks(result: Tensor, block_size: Any) -> Tensor:
    """A `block_size` is of images, which have four dimensions.  Raises ValueError if it is known that there are others."""
    if block_size is not None:
        result.set_shape(result.shape.with_rank(4))
    return result


def _blocks(block_shape: Any, block_size: Any) -> Any:
    renamed("block_shape", block_shape, "block_size", block_size)
    return np.array([block_size, block_size], np.int64) if block_size is not None else block_shape


def required_space_to_batch_paddings(input_shape: Any, block_shape: Any, base_paddings: Any = None,
                                     name: str | None = None) -> tuple:
    """(paddings, crops) int32 [n, 2] that make each of n spatial sizes a multiple of its block, at least `base_paddings`."""
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        sizes = convert_to_tensor(input_shape, dtypes.int32, name="input_shape")
        blocks = convert_to_tensor(block_shape, dtypes.int32, name="block_shape")
        blocks.shape.assert_is_fully_defined()
        count = blocks.shape[0].value
        if not count:
            return constant(np.zeros([0, 2], np.int32)), constant(np.zeros([0, 2], np.int32))
        base = convert_to_tensor(np.zeros([count, 2], np.int32) if base_paddings is None else base_paddings, dtypes.int32,
                                 name="base_paddings")
        known = [constant_value(t) for t in (sizes, blocks, base)]
        if all(v is not None for v in known):
            start, end = known[2][:, 0], known[2][:, 1]
            extra = -(known[0] + start + end) % known[1]
            return (constant(np.stack([start, end + extra], 1).astype(np.int32), name="paddings"),
                    constant(np.stack([0 * extra, extra], 1).astype(np.int32), name="crops"))
        start, end = base[:, 0], base[:, 1]
        extra = (blocks - (sizes + start + end) % blocks) % blocks
        paddings = stack([[start[i], (end + extra)[i]] for i in range(count)], name="paddings")
        crops = stack([[0, extra[i]] for i in range(count)], name="crops")
        return paddings, crops
