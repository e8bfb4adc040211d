"""`tf.contrib.learn.datasets.synthetic`: points of the plane in classes that no line parts.

The random numbers are NumPy's global ones, drawn in TensorFlow's order, so that seeded data are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.datasets.base import Dataset


def circles(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    factor: float = 0.8,
    n_classes: int = 2,
    *args: Any,
    **kwargs: Any,
) -> Dataset:
    """Return points on `n_classes` circles around 0, each `factor` times as wide as the one before, in random order.

    `data` is float64 [n_samples, 2], `target` int32 [n_samples]. `noise`: the standard deviation of what is added to the
    points. `seed` seeds NumPy's global generator.
    """
    _seed(seed)
    angles = np.linspace(0, 2 * np.pi, n_samples // n_classes)
    rings = [(np.cos(angles), np.sin(angles))]
    while len(rings) < n_classes:
        rings.append((rings[-1][0] * factor, rings[-1][1] * factor))
    extra = n_samples % n_classes
    if extra:
        rings.append((np.cos(np.random.rand(extra) * 2 * np.pi), np.sin(np.random.rand(extra) * 2 * np.pi)))
    return _shuffled(rings, n_classes, n_samples, noise)


def spirals(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    mode: str = "archimedes",
    n_loops: int = 2,
    *args: Any,
    **kwargs: Any,
) -> Dataset:
    """Return points on two spirals of `n_loops` loops, in random order.

    `data` is float64 [n_samples, 2], `target` int32 [n_samples]. `mode`: how the radius grows with the angle,
    "archimedes" (in proportion), "bernoulli" (exponentially) or "fermat" (as its root). Raises ValueError for another.
    """
    if mode not in _RADII:
        raise ValueError(f"Cannot generate spiral with mode {mode}")
    _seed(seed)
    angles = np.linspace(0, 2 * n_loops * np.pi, n_samples // 2)
    arms = [_spiral(_RADII[mode], angles, k * np.pi, **kwargs) for k in range(2)]
    if n_samples % 2:
        arms.append(_spiral(_RADII[mode], np.random.rand(n_samples % 2) * 2 * np.pi, 0.0, **kwargs))
    return _shuffled(arms, 2, n_samples, noise)


def _seed(seed: int | None) -> None:
    if seed is not None:
        np.random.seed(seed)


_RADII: dict[str, Callable] = {
    "archimedes": lambda angles, **_: angles,
    "bernoulli": lambda angles, exp_scale=0.1, **_: np.exp(exp_scale * angles),
    "fermat": lambda angles, **_: np.sqrt(angles),
}


def _spiral(radius: Callable, angles: np.ndarray, offset: float, **kwargs: Any) -> tuple[np.ndarray, np.ndarray]:
    """The points of a spiral, scaled so that each coordinate reaches 1."""
    x, y = (radius(angles, **kwargs) * wave(angles + offset) for wave in (np.cos, np.sin))
    return x / np.max(np.abs(x)), y / np.max(np.abs(y))


def _shuffled(curves: list, classes: int, samples: int, noise: float | None) -> Dataset:
    """The points of curves, one class each; those of a curve too many, which make up the number, are of the first."""
    labels = [np.full(len(x), k if k < classes else 0, np.int32) for k, (x, _) in enumerate(curves)]
    points = np.concatenate([np.stack(curve, axis=1) for curve in curves])
    order = np.random.permutation(range(samples))
    if noise is not None:
        points += np.random.normal(scale=noise, size=points.shape)
    return Dataset(points[order], np.concatenate(labels)[order])
