"""Features whose products are those of a kernel."""
from __future__ import annotations

import abc
import math
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.elementwise.arithmetic import add
from jitgraph.ops.elementwise.elementary import cos
from jitgraph.ops.linalg.matmul import matmul


class DenseKernelMapper(abc.ABC):
    """Maps tensors of rows to others; subclasses override ``map`` and have a ``name`` and an ``output_dim``."""

    name: str
    output_dim: int

    @abc.abstractmethod
    def map(self, input_tensor: Any) -> Any:
        """[batch, output_dim] of a tensor [batch, ...]."""


class RandomFourierFeatureMapper(DenseKernelMapper):
    """Maps rows of `input_dim` numbers to `output_dim` whose products are near exp(-distance ** 2 / (2 `stddev` ** 2)).

    Mappers of one `seed` are one map (Rahimi and Recht, 2007).
    """

    def __init__(self, input_dim: int, output_dim: int, stddev: float = 1.0, seed: int = 1, name: str | None = None):
        self.input_dim, self.output_dim = input_dim, output_dim
        self._stddev, self._seed = stddev, seed
        self.name = name or str(id(self))

    def map(self, input_tensor: Any) -> Any:
        """[batch, output_dim] of a float32 tensor [batch, input_dim].  Raises ValueError for other shapes."""
        shape = input_tensor.get_shape()
        if len(shape) != 2:
            raise ValueError(f"The shape of the tensor should be 2. Got {len(shape)} instead.")
        if shape[1] != self.input_dim:
            raise ValueError(f"Invalid dimension: expected {self.input_dim} input features, got {shape[1]} instead.")
        random = np.random.RandomState(self._seed)
        omega = constant(random.normal(scale=1 / self._stddev, size=[self.input_dim, self.output_dim]), dtype=dtypes.float32)
        bias = constant(random.uniform(low=0.0, high=2 * np.pi, size=[self.output_dim]), dtype=dtypes.float32)
        return math.sqrt(2 / self.output_dim) * cos(add(matmul(input_tensor, omega), bias))
