"""`tf.contrib.learn.datasets`: the data sets by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.datasets.base import Dataset, load_boston, load_iris
from jitgraph.datasets.mnist import load_mnist
from jitgraph.datasets.synthetic import circles, spirals

DATASETS: dict[str, Callable] = {"iris": load_iris, "boston": load_boston, "mnist": load_mnist}
SYNTHETIC: dict[str, Callable] = {"circles": circles, "spirals": spirals}


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """Return the data set of a name in `DATASETS`. Raises ValueError for another."""
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}; there are {', '.join(DATASETS)}")
    return DATASETS[name]()


def make_dataset(
    name: str, n_samples: int = 100, noise: float | None = None, seed: int | None = 42, *args: Any, **kwargs: Any
) -> Dataset:
    """Return points by the function of a name in `SYNTHETIC`. Raises ValueError for another."""
    if name not in SYNTHETIC:
        raise ValueError(f"Synthetic dataset not found: {name}; there are {', '.join(SYNTHETIC)}")
    return SYNTHETIC[name](n_samples, noise, seed, *args, **kwargs)
