"""Sums, means and extrema of a matrix."""

from __future__ import annotations

from ..kernel import kernel

BIG, SMALL = [(4096, 4096)], [(64, 48)]

kernel(
    "mean-columns",
    "mean over axis 0, [4096, 4096]",
    BIG,
    SMALL,
    tf1=lambda tf, x: tf.reduce_mean(x, 0),
    numpy=lambda x: x.mean(0),
    jax=lambda jax, x: x.mean(0),
    torch=lambda torch, x: x.mean(0),
    pytensor=lambda pt, x: x.mean(0),
    goals={"copy": 1.3},
)
kernel(
    "max-rows",
    "max over axis 1, [4096, 4096]",
    BIG,
    SMALL,
    tf1=lambda tf, x: tf.reduce_max(x, 1),
    numpy=lambda x: x.max(1),
    jax=lambda jax, x: x.max(1),
    torch=lambda torch, x: x.amax(1),
    pytensor=lambda pt, x: x.max(1),
    goals={"copy": 1.3},
)
kernel(
    "argmax-rows",
    "argmax over axis 1, [4096, 4096]",
    BIG,
    SMALL,
    tf1=lambda tf, x: tf.argmax(x, 1),
    numpy=lambda x: x.argmax(1),
    jax=lambda jax, x: x.argmax(1),
    torch=lambda torch, x: x.argmax(1),
    pytensor=lambda pt, x: x.argmax(1),
    goals={"copy": 1.3},
)
kernel(
    "sum-all",
    "sum over all, [4096, 4096]",
    BIG,
    SMALL,
    tf1=lambda tf, x: tf.reduce_sum(x),
    numpy=lambda x: x.sum(),
    jax=lambda jax, x: x.sum(),
    torch=lambda torch, x: x.sum(),
    pytensor=lambda pt, x: x.sum(),
    goals={"copy": 1.3},
    noise=2e-2,
)
