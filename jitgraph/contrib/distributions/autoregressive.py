"""``Autoregressive``: a distribution whose elements depend on those before them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.distributions.argument_checks import gen_new_seed
from jitgraph.distributions.distribution import Distribution
from jitgraph.graph.scopes import name_scope


class Autoregressive(Distribution):
    """The distribution of x whose density at x is that of ``distribution_fn(x)``.

    ``distribution_fn(x)`` gives a distribution of all of x, of which the element i depends on ``x[..., :i]`` alone.  It is called
    `num_steps` times for samples, from `sample0` on, or from what it gives without an argument.
    """

    def __init__(self, distribution_fn: Callable, sample0: Any = None, num_steps: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Autoregressive"):
        """`num_steps`: as many as an event has elements if it is None.  Raises ValueError if that is not known, or below 1."""
        parameters = dict(locals())
        with name_scope(name) as name:
            self._distribution_fn = distribution_fn
            self._sample0 = sample0
            self._distribution0 = distribution_fn() if sample0 is None else distribution_fn(sample0)
            if num_steps is None:
                num_steps = self._distribution0.event_shape.num_elements()
                if num_steps is None:
                    raise ValueError("distribution_fn must generate a distribution with fully known `event_shape`.")
            if num_steps < 1:
                raise ValueError(f"num_steps ({num_steps}) must be at least 1.")
            self._num_steps = num_steps
        first = self._distribution0
        super().__init__(dtype=first.dtype, reparameterization_type=first.reparameterization_type, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=first._graph_parents, name=name)

    @property
    def distribution_fn(self) -> Callable:
        """What gives the distribution for values."""
        return self._distribution_fn

    @property
    def sample0(self) -> Any:
        """The values to begin with."""
        return self._sample0

    @property
    def num_steps(self) -> Any:
        """How often samples are drawn anew."""
        return self._num_steps

    @property
    def distribution0(self) -> Distribution:
        """The distribution to begin with."""
        return self._distribution0

    def _batch_shape(self) -> Any:
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self) -> Any:
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution0.event_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        if seed is None:            # all steps must draw the same numbers
            seed = gen_new_seed(seed=np.random.randint(2**32 - 1), salt="autoregressive")
        samples = self.distribution0.sample(n, seed=seed)
        for _ in range(self._num_steps):
            samples = self.distribution_fn(samples).sample(seed=seed)
        return samples

    def _log_prob(self, value: Any) -> Any:
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value: Any) -> Any:
        return self.distribution_fn(value).prob(value)
