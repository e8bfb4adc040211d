"""Draws of coins and classes, as the helpers of decoders make them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.pad import pad
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, less
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.random.draws import multinomial, random_uniform
from jitgraph.ops.reduce.reductions import reduce_prod


def _sampled(draw_some: Callable, sample_shape: Any) -> Any:
    """`draw_some` of the number of elements of `sample_shape`, a shape or a scalar, in that shape."""
    with name_scope(None, "call_sampler", values=[sample_shape]):
        sample_shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
        missing = cast(equal(rank_of(sample_shape), 0), dtypes.int32)
        sample_shape = reshape(sample_shape, pad(shape_of(sample_shape), paddings=[[missing, 0]], constant_values=1))
        samples = draw_some(reduce_prod(sample_shape))
        return reshape(samples, concat([sample_shape, shape_of(samples)[1:]], 0))


def bernoulli_sample(probs: Any = None, logits: Any = None, dtype: Any = dtypes.int32, sample_shape: Any = (),
                     seed: int | None = None) -> Any:
    """1 with the probabilities `probs`, or sigmoid(`logits`), else 0: [*sample_shape, *shape of the probabilities]."""
    probs = sigmoid(logits, name="probs") if probs is None else convert_to_tensor(probs, name="probs")
    batch = shape_of(probs)

    def drawn(count: Any) -> Any:
        values = random_uniform(concat([[count], batch], 0), seed=seed, dtype=probs.dtype)
        return cast(less(values, probs), dtype)

    return _sampled(drawn, sample_shape)


def categorical_sample(logits: Any, dtype: Any = dtypes.int32, sample_shape: Any = (), seed: int | None = None) -> Any:
    """Classes drawn with the unnormalised log probabilities `logits` [..., classes]: [*sample_shape, ...]."""
    logits = convert_to_tensor(logits, name="logits")
    classes = shape_of(logits)[-1]
    batch = shape_of(logits)[:-1]

    def drawn(count: Any) -> Any:
        rows = logits if logits.shape.ndims == 2 else reshape(logits, [-1, classes])
        wide = dtypes.int64 if logits.dtype.size > 4 else dtypes.int32
        draws = multinomial(rows, count, seed=seed, output_dtype=wide)
        return cast(reshape(transpose(draws), concat([[count], batch], 0)), dtype)

    return _sampled(drawn, sample_shape)
