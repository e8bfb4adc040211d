"""Random tensors.  Bits, distributions and seeds are TensorFlow's, see ``philox`` and ``jitgraph.graph.seeds``.

The NumPy meaning of these ops takes a keyword ``stream``: the position of this node's generator in its session.
"""
from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.host_code import HostCode
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import FLOATS, INDICES, REALS, TypeSet, as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.seeds import get_seed
from jitgraph.graph.shapes import Dimension
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.shape import plain_sizes, stated_sizes
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise import single_precision
from jitgraph.ops.random import philox
from jitgraph.ops.random.philox import Bits

_INTEGERS = TypeSet(dtypes.int32, dtypes.int64)


def _count(shape: Any) -> int:
    return math.prod(stated_sizes(shape))


def _filled(distribution: Any, shape: Any, seed: int, seed2: int, dtype: Any, stream: Any) -> np.ndarray:
    count = _count(shape)
    bits = Bits.reserve(stream, seed, seed2, philox.RESERVED * count)
    return distribution(bits, count, dtype.as_numpy_dtype).reshape([int(d) for d in shape])


_from_shape = shape_rules.from_value(0)


def _lowered(kind: str, dtypes_: tuple[str, ...], constants: Any = None) -> Any:
    """Numbers drawn in a kernel; the host moves the stream on."""

    def lower(b, shape, seed, seed2, dtype):
        if dtype.name not in dtypes_ or shape.constant is None:
            raise NotImplementedError
        return b.random(kind, plain_sizes(shape.constant), dtype, _reserver(seed, seed2), constants)

    return lower


_MANTISSA = {"float16": 10, "bfloat16": 7}          # bits of what is drawn of 16-bit numbers in [0, 1)


def _lower_uniform(b: Any, shape: Any, seed: int, seed2: int, dtype: Any) -> Any:
    """Of 16 bits as TensorFlow draws them, the last bits of a word for the mantissa: not float32's, rounded."""
    if dtype.name not in _MANTISSA or shape.constant is None:
        return _lower_wide_uniform(b, shape, seed, seed2, dtype)
    words = b.random("words", plain_sizes(shape.constant), dtypes.uint32, _reserver(seed, seed2))
    count = 1 << _MANTISSA[dtype.name]
    return b.cast(b.cast(words % b.const(count, dtypes.uint32), dtypes.float32) * b.const(1 / count, dtypes.float32), dtype)


_lower_wide_uniform = _lowered("uniform", ("float32", "float64"))


def _reserver(seed: int, seed2: int) -> Any:
    return functools.partial(_reserve, seed, seed2)         # not a function of its own: a program's file can tell this one


def _reserve(seed: int, seed2: int, stream: Any, count: Any) -> np.ndarray:
    return _position(Bits.reserve(stream, seed, seed2, philox.RESERVED * int(count)))


def _position(bits: Bits) -> np.ndarray:
    """Where the kernel begins: int64 [3]."""
    return np.array([bits.seed, bits.seed2, bits.start], np.uint64).view(np.int64)


def _drawn_samples(rng, dtype):
    return [([np.array(shape, dtype)], {"dtype": one, "seed": 7, "seed2": 9})
            for shape in ([2, 3], [], [0, 2]) for one in (dtypes.float32, dtypes.float64, dtypes.float16)]


@op("RandomUniform(shape: T; seed: int = 0, seed2: int = 0, dtype: type) -> output: dtype", T=INDICES, dtype=FLOATS,
    shape=_from_shape, stateful=True, stream=True, grad=NOT_DIFFERENTIABLE, lower=_lower_uniform,
    samples=_drawn_samples)
def _random_uniform(shape, seed, seed2, dtype, stream):
    """Numbers in [0, 1), uniformly distributed."""
    return _filled(philox.uniform, shape, seed, seed2, dtype, stream)


def _lower_integers(b: Any, shape: Any, minval: Any, maxval: Any, seed: int, seed2: int) -> Any:
    """By an unsigned remainder; where the range is not known now, the host refuses an empty one."""
    if any(v.constant is None for v in (shape, minval, maxval)) or not minval.constant < maxval.constant:
        return NotImplemented
    kind = dtypes.uint64 if minval.dtype.size == 8 else dtypes.uint32
    words = b.random("words", plain_sizes(shape.constant), kind, _reserver(seed, seed2))
    rest = words % b.const(int(maxval.constant) - int(minval.constant), kind)
    return b.cast(rest, minval.dtype) + minval


def _from_shape_in_range(c: Any) -> Any:
    for k, what in ((1, "minval"), (2, "maxval")):
        shape_rules.with_rank(c.shapes[k], 0, what)
    return _from_shape(c)


@op("RandomUniformInt(shape: T, minval: Tout, maxval: Tout; seed: int = 0, seed2: int = 0) -> output: Tout", T=INDICES,
    Tout=_INTEGERS, shape=_from_shape_in_range, stateful=True, stream=True, lower=_lower_integers,
    samples=lambda rng, dtype: [([np.array([2, 3], dtype), np.array(-3, np.int64), np.array(9, np.int64)], {"seed": 7})])
def _random_uniform_int(shape, minval, maxval, seed, seed2, stream):
    """Integers in [minval, maxval), uniformly distributed but for a bias of the remainder."""
    count = _count(shape)
    if count and minval >= maxval:
        raise invalid(f"Need minval < maxval, got {minval} >= {maxval}")
    bits = Bits.reserve(stream, seed, seed2, philox.RESERVED * count)
    if not count:
        return np.empty([int(d) for d in shape], np.asarray(minval).dtype)
    return philox.integers(bits, count, int(minval), int(maxval), np.asarray(minval).dtype).reshape(
        [int(d) for d in shape])


@op("RandomStandardNormal(shape: T; seed: int = 0, seed2: int = 0, dtype: type) -> output: dtype", T=INDICES,
    dtype=FLOATS, shape=_from_shape, stateful=True, stream=True, grad=NOT_DIFFERENTIABLE,
    lower=_lowered("normal", ("float32",), single_precision.CONSTANTS), samples=_drawn_samples)
def _random_standard_normal(shape, seed, seed2, dtype, stream):
    """Numbers of the normal distribution with mean 0 and variance 1."""
    return _filled(philox.normal, shape, seed, seed2, dtype, stream)


@op("TruncatedNormal(shape: T; seed: int = 0, seed2: int = 0, dtype: type) -> output: dtype", T=INDICES, dtype=FLOATS,
    shape=_from_shape, stateful=True, stream=True, grad=NOT_DIFFERENTIABLE,
    lower=_lowered("truncated_normal", ("float32",), single_precision.CONSTANTS), samples=_drawn_samples)
def _truncated_normal(shape, seed, seed2, dtype, stream):
    """Numbers of the standard normal distribution, without those of absolute value 2 and more."""
    return _filled(philox.truncated_normal, shape, seed, seed2, dtype, stream)


def _shuffling_blocks(rows: int) -> int:
    """How many blocks of the sequence shuffling takes: TensorFlow draws nothing for one row."""
    return (rows + 2) // 4 if rows > 1 else 0


def _lower_shuffle(b: Any, value: Any, seed: int, seed2: int) -> Any:
    if not value.rank or not all(isinstance(d, int) and d for d in value.shape[1:]):
        return NotImplemented
    return b.gather(value, b.random("shuffle", value.shape[:1], dtypes.int64, functools.partial(_reserve_shuffle, seed, seed2)))


def _reserve_shuffle(seed: int, seed2: int, stream: Any, rows: Any) -> np.ndarray:
    return _position(Bits.reserve(stream, seed, seed2, _shuffling_blocks(int(rows))))


@op("RandomShuffle(value: T; seed: int = 0, seed2: int = 0) -> output: T", shape=shape_rules.same_as_input,
    stateful=True, stream=True, lower=_lower_shuffle,
    samples=lambda rng, dtype: [([draw(rng, shape, dtype)], {"seed": 7}) for shape in ((4, 3), (5,), ())])
def _random_shuffle(value, seed, seed2, stream):
    """The rows of `value` in random order."""
    if value.size <= 1 or value.shape[0] <= 1:      # TensorFlow draws nothing then
        return value
    rows = value.shape[0]
    bits = Bits.reserve(stream, seed, seed2, _shuffling_blocks(rows))
    steps = bits.words(rows - 1).astype(np.int64) % np.arange(rows, 1, -1)
    order = list(range(rows))
    for i, step in enumerate(steps.tolist()):
        j = i + step
        order[i], order[j] = order[j], order[i]
    return value[order]


def _multinomial_shape(c: Any) -> Any:
    logits = shape_rules.with_rank(c.shapes[0], 2, "logits")
    samples = c.constant(1)
    return (logits[0], samples.item() if shape_rules.known(samples) else None)


def _class_draws(bits: Bits, rows: int, samples: int) -> np.ndarray:
    return philox.unit_float64(bits.words(2 * rows * samples)).reshape(rows, samples)


_CLASSES = HostCode("drawn_classes", ("f64", "f64", "i64"), """def drawn_classes(x0, x1, y0, sizes, begin, end):
    classes, samples = sizes[0], sizes[1]
    for row in range(begin, end):
        total = x0[row * classes + classes - 1]
        for k in range(row * samples, (row + 1) * samples):
            drawn = x1[k] * total
            low, high = 0, classes
            while low < high:
                middle = low + high >> 1
                if drawn < x0[row * classes + middle]:
                    high = middle
                else:
                    low = middle + 1
            y0[k] = low
    return 0
""")


def _found_classes(running: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """For each row of running sums of probabilities the classes that numbers in [0, 1) fall into: int64."""
    (rows, classes), samples = running.shape, draws.shape[1]
    out = np.empty(draws.shape, np.int64)
    if _CLASSES(np.ascontiguousarray(running), draws, out, sizes=(classes, samples), end=rows) is None:
        for row, drawn, result in zip(running, draws * running[:, -1:], out):
            result[:] = row.searchsorted(drawn, side="right")
    return out


def _lower_multinomial(b: Any, logits: Any, num_samples: Any, seed: int, seed2: int, output_dtype: Any) -> Any:
    """The running sums in kernels, the draws and the search on the host."""
    count, (rows, classes) = num_samples.constant, logits.shape
    known = count is not None and count.dtype != object and isinstance(classes, int) and count.item() >= 0 and classes > 0
    if logits.dtype.name not in ("float32", "float64") or not known:
        return NotImplemented
    samples = count.item()
    low = b.const(-np.inf, logits.dtype)
    finite = b.map("lt", [b.map("abs", [logits]), b.const(np.inf, logits.dtype)])
    top = b.reduce("max", b.map("select", [finite, logits, low]), [1], True)
    top = b.map("select", [b.map("eq", [top, low]), b.const(0, logits.dtype), top])
    shifted = b.cast(b.map("sub", [logits, top]), dtypes.float64)
    weights = b.map("select", [finite, b.map("exp", [shifted]), b.const(0, dtypes.float64)])
    running = b.primitive("scan", [weights], weights.shape, op="add", axis=1, exclusive=False, reverse=False)
    draws = functools.partial(_draw_classes, seed, seed2, samples)
    drawn = b.stream(draws, [b.const(rows, dtypes.int64)], (rows, samples), dtypes.float64)
    return b.cast(b.host(_found_classes, [running, drawn], (rows, samples), dtypes.int64), output_dtype)


def _draw_classes(seed: int, seed2: int, samples: int, stream: Any, rows: Any) -> np.ndarray:
    bits = Bits.reserve(stream, seed, seed2, 256 * int(rows) * 2 * -(-samples // 4) * 4)
    return _class_draws(bits, int(rows), samples)


@op("Multinomial(logits: T, num_samples: int32; seed: int = 0, seed2: int = 0, output_dtype: type = int64)"
    " -> output: output_dtype", T=REALS, output_dtype=_INTEGERS.with_default(dtypes.int64),
    shape=_multinomial_shape, stateful=True, stream=True, grad=NOT_DIFFERENTIABLE, lower=_lower_multinomial,
    samples=lambda rng, dtype: [([draw(rng, (2, 3), dtype), np.array(4, np.int32)], {"seed": 7, "output_dtype": one})
                                for one in (dtypes.int32, dtypes.int64)])
def _multinomial(logits, num_samples, seed, seed2, output_dtype, stream):
    """For each row of unnormalised log-probabilities `logits`, `num_samples` drawn classes."""
    rows, classes = logits.shape
    samples = int(num_samples)
    if samples < 0:
        raise invalid(f"num_samples should be nonnegative, got {samples}")
    if classes <= 0:
        raise invalid(f"num_classes should be positive, got {classes}")
    bits = Bits.reserve(stream, seed, seed2, 256 * rows * 2 * -(-samples // 4) * 4)
    return draw_classes(bits, logits, samples, output_dtype.as_numpy_dtype)


def draw_classes(bits: Bits, logits: np.ndarray, samples: int, dtype: Any) -> np.ndarray:
    """For each row of unnormalised log-probabilities, `samples` classes."""
    rows, classes = logits.shape
    draws = _class_draws(bits, rows, samples)
    finite = np.isfinite(logits)
    top = np.where(finite, logits, -np.inf).max(1, keepdims=True)
    running = np.zeros((rows, classes))
    with np.errstate(invalid="ignore"):
        np.exp((logits - np.where(np.isfinite(top), top, 0)).astype(np.float64), where=finite, out=running)
    np.cumsum(running, axis=1, out=running)
    return _found_classes(running, draws).astype(dtype)


# -- public functions ----------------------------------------------------------------------------------------------

def shape_tensor(shape: Any) -> Any:
    """A shape (list with numbers, Dimensions and tensors; TensorShape; tensor) as an integer vector."""
    if isinstance(shape, (list, tuple)):
        if not shape:
            return convert_to_tensor(shape, dtypes.int32, name="shape")
        shape = tuple([d.value if isinstance(d, Dimension) else d for d in shape])
    return convert_to_tensor(shape, name="shape")


def seeds(seed: int | None) -> dict[str, Any]:
    """The attributes `seed` and `seed2` of a random op made now."""
    first, second = get_seed(seed)
    return {"seed": first or 0, "seed2": second or 0}


def random_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: int | None = None,
                  name: str | None = None) -> Any:
    """Normally distributed numbers: a tensor of `shape` with the given mean and standard deviation."""
    return _scaled(_random_standard_normal, "random_normal", shape, mean, stddev, dtype, seed, name)


def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                     seed: int | None = None, name: str | None = None) -> Any:
    """As ``random_normal``, without values two and more standard deviations away from the mean."""
    return _scaled(_truncated_normal, "truncated_normal", shape, mean, stddev, dtype, seed, name)


def _scaled(draw: Any, default_name: str, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: int | None,
            name: str | None) -> Any:
    dtype = as_dtype(dtype)
    with name_scope(name, default_name, [shape, mean, stddev]) as scope:
        shape = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype, name="stddev")
        standard = draw(shape, dtype=dtype, **seeds(seed))
        return raw.Add(raw.Mul(standard, stddev, name="mul"), mean, name=scope)


def random_uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
                   seed: int | None = None, name: str | None = None) -> Any:
    """Uniformly distributed numbers in [minval, maxval), by default [0, 1).

    `dtype` may be a float type, int32 or int64; integers need `maxval`, else ValueError is raised.
    """
    dtype = as_dtype(dtype)
    if dtype not in FLOATS and dtype not in _INTEGERS:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        shape = shape_tensor(shape)
        minval = convert_to_tensor(minval, dtype, name="min")
        maxval = convert_to_tensor(maxval, dtype, name="max")
        pair = seeds(seed)
        if dtype.is_integer:
            return _random_uniform_int(shape, minval, maxval, name=scope, **pair)
        unit = _random_uniform(shape, dtype=dtype, **pair)
        width = raw.Sub(maxval, minval, name="sub")
        return raw.Add(raw.Mul(unit, width, name="mul"), minval, name=scope)


def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Any:
    """The rows of `value` in random order."""
    return _random_shuffle(value, name=name, **seeds(seed))


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Any:
    """A part of `value` of the shape `size` at a random place.  A run raises InvalidArgumentError if it is too large."""
    with name_scope(name, "random_crop", [value, size]) as scope:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, dtypes.int32, name="size")
        full = shape_of(value)
        from jitgraph.control.order_ops import with_dependencies
        from jitgraph.ops.reduce.reductions import reduce_all

        enough = reduce_all(raw.GreaterEqual(full, size))
        with name_scope("Assert"):
            message = "Need value.shape >= size, got "
            constant(message)           # TensorFlow makes it twice; the number of nodes decides the seed below
            fits = raw.Assert(enough, [message, full, size], summarize=1000)

        full = with_dependencies([fits], full)
        limit = full - size + 1
        offset = random_uniform(shape_of(full), maxval=size.dtype.max, dtype=size.dtype, seed=seed) % limit
        return raw.Slice(value, offset, size, name=scope)


def multinomial(logits: Any, num_samples: Any, seed: int | None = None, name: str | None = None,
                output_dtype: Any = None) -> Any:
    """`num_samples` classes drawn for each row of `logits` [batch, classes] (unnormalised log-probabilities).

    The result is int64 (or `output_dtype`) [batch, num_samples].
    """
    with name_scope(name, "multinomial", [logits]):
        return _drawn(logits, num_samples, output_dtype, seed)


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None,
                name: str | None = None) -> Any:
    """As ``multinomial``."""
    with name_scope(name, "categorical", [logits]):
        return _drawn(logits, num_samples, dtype, seed)


def _drawn(logits: Any, num_samples: Any, dtype: Any, seed: int | None) -> Any:
    logits = convert_to_tensor(logits, name="logits")
    return _multinomial(logits, num_samples, output_dtype=as_dtype(dtype or dtypes.int64), **seeds(seed))
