"""``TPUConfig`` and the ``RunConfig`` that has one."""
from __future__ import annotations

import json
import os
import re
from typing import Any, NamedTuple

from jitgraph.estimator.cluster_place import TaskType
from jitgraph.estimator.run_config import RunConfig as _RunConfig

_ITERATIONS = re.compile(r"([1-9]\d*)([smh]?)$")
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_REPLICA_CORES = [1, 2, 4, 8, 16, 32, 64, 128]


class InputPipelineConfig:
    """Where an input function is called."""

    PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2, BROADCAST, SLICED = range(1, 6)


def check_positive_integer(value: Any, name: str) -> None:
    """Raises TypeError unless `value` is an int, ValueError unless it is positive."""
    if not isinstance(value, int):
        raise TypeError(f"{name} must be int, got {type(value)}")
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")


def iterations_per_loop(value: Any) -> tuple[int, str]:
    """(number, "count" or "seconds") of a number of steps or of a time as "90s", "60m" or "1h".  Raises ValueError."""
    found = _ITERATIONS.match(str(value))
    if found is None:
        raise ValueError("Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or time-based "
                         "value `<N><s|m|h>` where <N> is any positive integer and `s`, `m`, `h` are unit of time in seconds, "
                         "minutes, hours respectively. Examples of valid values: `3600s`, `60m`, `1h`.")
    number, unit = int(found[1]), found[2]
    return (number * _SECONDS[unit], "seconds") if unit else (number, "count")


class _Config(NamedTuple):
    iterations_per_loop: Any
    num_shards: int | None
    num_cores_per_replica: int | None
    per_host_input_for_training: int
    tpu_job_name: str | None
    initial_infeed_sleep_secs: int | None
    input_partition_dims: Any
    eval_training_input_configuration: int
    experimental_host_call_every_n_steps: int


class TPUConfig(_Config):
    """How a model runs on TPUs; on a CPU only `iterations_per_loop` counts, for how often the steps per second are logged.

    Raises ValueError for values that do not suit each other.
    """

    def __new__(cls, iterations_per_loop: Any = 2, num_shards: int | None = None, num_cores_per_replica: int | None = None,
                per_host_input_for_training: Any = True, tpu_job_name: str | None = None,
                initial_infeed_sleep_secs: int | None = None, input_partition_dims: Any = None,
                eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
                experimental_host_call_every_n_steps: int = 1) -> TPUConfig:
        _check_iterations(iterations_per_loop)
        if num_shards is not None:
            check_positive_integer(num_shards, "TPUConfig num_shards")
        if input_partition_dims is not None:
            if len(input_partition_dims) not in (1, 2):
                raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
            if per_host_input_for_training is not InputPipelineConfig.PER_HOST_V2:
                raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
            if num_cores_per_replica is None:
                raise ValueError("input_partition_dims requires setting num_cores_per_replica.")
        if num_cores_per_replica is not None and num_cores_per_replica not in _REPLICA_CORES:
            raise ValueError(f"num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64, 128; got {num_cores_per_replica}")
        if eval_training_input_configuration not in (InputPipelineConfig.PER_HOST_V1, InputPipelineConfig.SLICED):
            raise ValueError("eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
                             f"{eval_training_input_configuration}")
        if isinstance(per_host_input_for_training, bool):
            per_host_input_for_training = (InputPipelineConfig.PER_HOST_V1 if per_host_input_for_training
                                           else InputPipelineConfig.PER_SHARD_V1)
        if initial_infeed_sleep_secs:
            check_positive_integer(initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs")
        environment = json.loads(os.environ.get("TF_CONFIG", "{}"))
        tpu_job_name = tpu_job_name or environment.get("service", {}).get("tpu_worker_job_name")
        return super().__new__(cls, iterations_per_loop, num_shards, num_cores_per_replica, per_host_input_for_training,
                               tpu_job_name, initial_infeed_sleep_secs, input_partition_dims,
                               eval_training_input_configuration, experimental_host_call_every_n_steps)


_check_iterations = iterations_per_loop


class RunConfig(_RunConfig):
    """A RunConfig with a ``tpu_config``, and addresses of masters, which are kept and not used.

    Raises ValueError for both `master` and `cluster`.
    """

    def __init__(self, tpu_config: TPUConfig | None = None, evaluation_master: str | None = None, master: str | None = None,
                 cluster: Any = None, **kwargs: Any):
        super().__init__(**kwargs)
        self._tpu_config, self._cluster = tpu_config or TPUConfig(), cluster
        if master is not None:
            if cluster is not None:
                raise ValueError("Both master and cluster are set.")
            self._master = master
        elif cluster:
            self._master = cluster.master()
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master
        elif not self._evaluation_master and self.task_type != TaskType.EVALUATOR:
            self._evaluation_master = self._master
        if cluster:
            self._cluster_spec = cluster.cluster_spec()

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with other values, of which `tpu_config` may be one."""
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        copied: Any = super().replace(**kwargs)
        copied._tpu_config = tpu_config
        return copied
