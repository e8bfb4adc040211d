"""``tf.data.Options``: how a pipeline runs.  Most options are accepted and change nothing: results are the same."""
from __future__ import annotations

from typing import Any

from jitgraph.data.statistics import StatsAggregator


class OptionsBase:
    """Options with fixed names and types, None where they are not set."""

    _types: dict[str, Any] = {}

    def __init__(self) -> None:
        self.__dict__["_options"] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._types:
            raise AttributeError(f"{type(self).__name__} has no option {name!r}; there are {', '.join(sorted(self._types))}")
        kind = self._types[name]
        if name not in self._options and isinstance(kind, type) and issubclass(kind, OptionsBase):
            self._options[name] = kind()
        return self._options.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._types:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        if not isinstance(value, self._types[name]):
            raise TypeError(f'Property "{name}" must be of type {self._types[name]}, got: {value!r} (type: {type(value)!r})')
        self._options[name] = value

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and all(getattr(self, name) == getattr(other, name) for name in self._types)

    def __ne__(self, other: Any) -> bool:
        return not self == other

    __hash__ = None         # type: ignore[assignment]

    def merge(self, options: Any) -> Any:
        """Options that have what is set in this or in `options`.

        Raises ValueError if an option is set to different values, TypeError for options of another kind.
        """
        if type(self) is not type(options):
            raise TypeError(f"Incompatible options type: {type(options)!r} vs {type(self)!r}")
        merged, default = type(self)(), type(self)()
        for name in self._types:
            one, other, unset = getattr(self, name), getattr(options, name), getattr(default, name)
            if other == unset:
                chosen = one
            elif one in (unset, other):
                chosen = other
            elif isinstance(one, OptionsBase):
                chosen = one.merge(other)
            else:
                raise ValueError(f"Cannot merge incompatible values ({one!r} and {other!r}) of option: {name}")
            if chosen is not None and chosen != unset:
                setattr(merged, name, chosen)
        return merged


class MapVectorizationOptions(OptionsBase):
    """Options of TensorFlow's vectorisation of map."""

    _types = {"enabled": bool, "use_choose_fastest": bool}


class OptimizationOptions(OptionsBase):
    """Which rewrites of TensorFlow's optimiser apply.  Of them, `shuffle_and_repeat_fusion` decides the order of elements."""

    _types = {**dict.fromkeys(("apply_default_optimizations", "autotune", "autotune_buffers", "filter_fusion",
                               "filter_with_random_uniform_fusion", "hoist_random_uniform", "map_and_batch_fusion",
                               "map_and_filter_fusion", "map_fusion", "map_parallelization", "noop_elimination", "parallel_batch",
                               "shuffle_and_repeat_fusion"), bool),
              "autotune_algorithm": int, "autotune_cpu_budget": int, "map_vectorization": MapVectorizationOptions}

    def enabled(self) -> list[str]:
        """The names of the rewrites that are switched on, sorted."""
        always = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")
        found = {name for name, kind in self._types.items() if kind is bool and getattr(self, name)}
        found -= {"apply_default_optimizations", "autotune", "autotune_buffers"}
        if self.apply_default_optimizations is not False:
            found.update(name for name in always if getattr(self, name) is not False)
        return sorted(found)


class ThreadingOptions(OptionsBase):
    """Sizes of thread pools."""

    _types = {"max_intra_op_parallelism": int, "private_threadpool_size": int}


class DistributeOptions(OptionsBase):
    """Options of distribution."""

    _types = {"auto_shard": bool, "num_devices": int, "_make_stateless": bool}


class StatsOptions(OptionsBase):
    """The StatsAggregator that takes the statistics, and what their names begin with."""

    _types = {"aggregator": StatsAggregator, "prefix": str, "counter_prefix": str, "latency_all_edges": bool}


class Options(OptionsBase):
    """What ``Dataset.with_options`` takes."""

    _types = {"experimental_deterministic": bool, "experimental_distribute": DistributeOptions,
              "experimental_optimization": OptimizationOptions, "experimental_slack": bool, "experimental_stats": StatsOptions,
              "experimental_threading": ThreadingOptions, "experimental_stateful_whitelist": list}

    def static_optimizations(self) -> list[str]:
        """The names of the rewrites of the whole pipeline."""
        found = self.experimental_optimization.enabled()
        found += ["make_sloppy"] * (self.experimental_deterministic is False) + ["slack"] * bool(self.experimental_slack)
        return found
