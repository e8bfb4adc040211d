"""``tf.contrib.learn.RunConfig``: how an estimator runs, and the place of the program in a cluster."""
from __future__ import annotations

import json
import os
from typing import Any

from jitgraph.app import logs
from jitgraph.estimator.run_config import REPLACEABLE
from jitgraph.estimator.run_config import RunConfig as CoreConfig
from jitgraph.protobuf.messages import ConfigProto
from jitgraph.train.cluster.cluster_spec import ClusterSpec

_NOT_TOLD_APART = {"tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "session_config",
                   "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps"}
_USE_DEFAULT = 0


class Environment:
    """Where programs run."""

    CLOUD = "cloud"
    GOOGLE = "google"
    LOCAL = "local"


class TaskType:
    """The kinds of tasks of a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


def _master_of(cluster: Any, task_type: str | None, task_id: int) -> str:
    if not cluster or (len(cluster.jobs) == 1 and cluster.num_tasks(cluster.jobs[0]) == 1) or not task_type:
        return ""
    note = "Note that these values may be coming from the TF_CONFIG environment variable."
    if task_type not in cluster.jobs:
        raise ValueError(f"{task_type} is not a valid task_type in the cluster_spec:\n{cluster}\n\n{note}")
    addresses = cluster.job_tasks(task_type)
    if not 0 <= task_id < len(addresses):
        raise ValueError(f"{task_id} is not a valid task_id for task_type {task_type} in the cluster_spec:\n{cluster}\n\n{note}")
    return "grpc://" + addresses[task_id]


class RunConfig(CoreConfig):
    """As ``tf.estimator.RunConfig``, with a `master` and the arguments of a session's configuration."""

    def __init__(self, master: str | None = None, num_cores: int = 0, log_device_placement: bool = False,
                 gpu_memory_fraction: float = 1, tf_random_seed: int | None = None, save_summary_steps: int | None = 100,
                 save_checkpoints_secs: Any = _USE_DEFAULT, save_checkpoints_steps: Any = None, keep_checkpoint_max: int = 5,
                 keep_checkpoint_every_n_hours: float = 10000, log_step_count_steps: int | None = 100, protocol: Any = None,
                 evaluation_master: str = "", model_dir: Any = None, session_config: Any = None,
                 session_creation_timeout_secs: int = 7200):
        environment = json.loads(os.environ.get("TF_CONFIG") or "{}")
        if save_checkpoints_secs == _USE_DEFAULT:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        given = locals()
        for name in REPLACEABLE:
            setattr(self, "_" + name, given.get(name))
        self._model_dir = _model_dir(environment, model_dir)
        self._take(environment, master)
        self._evaluation_master = evaluation_master or ""
        self._tf_config = ConfigProto(log_device_placement=log_device_placement, inter_op_parallelism_threads=num_cores,
                                      intra_op_parallelism_threads=num_cores)
        self._tf_config.gpu_options.per_process_gpu_memory_fraction = gpu_memory_fraction

    def _take(self, environment: dict, master: str | None) -> None:
        task = environment.get("task", {})
        self._task_type, self._task_id = task.get("type"), int(task.get("index") or 0)
        self._cluster_spec = ClusterSpec(environment.get("cluster", {}))
        self._environment = environment.get("environment", Environment.LOCAL)
        jobs = self._cluster_spec.as_dict()
        self._num_ps_replicas = len(jobs.get("ps", []))
        self._num_worker_replicas = len(jobs.get("worker", [])) + len(jobs.get("master", []))
        self._master = master if master is not None else _master_of(self._cluster_spec, self._task_type, self._task_id)
        chief = {None: None, Environment.CLOUD: TaskType.MASTER}.get(
            None if self._task_type is None else self._environment, TaskType.WORKER)
        self._is_chief = self._task_id == 0 and self._task_type == chief

    @staticmethod
    def get_task_id() -> int:
        """The number of this task by ``TF_CONFIG``; 0 without it."""
        return int(json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {}).get("index") or 0)

    def uid(self, whitelist: Any = None) -> str:
        """What tells configurations apart, but for the fields of `whitelist`."""
        left_out = _NOT_TOLD_APART if whitelist is None else set(whitelist)
        state = {key: value for key, value in sorted(self.__dict__.items()) if key[1:] not in left_out}
        state["_cluster_spec"] = sorted(self._cluster_spec.as_dict().items())
        return ", ".join(f"{key}={value!r}" for key, value in state.items())


def _model_dir(environment: dict, model_dir: Any) -> Any:
    stated = environment.get("model_dir")
    if stated is not None:
        if model_dir is not None and stated != model_dir:
            raise ValueError("`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir in "
                             f'TF_CONFIG. model_dir: {model_dir}\nTF_CONFIG["model_dir"]: {stated}.\n')
        logs.info("Using model_dir in TF_CONFIG: %s", stated)
    return model_dir or stated
