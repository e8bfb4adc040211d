"""Which task of a cluster this program is, as the environment variable ``TF_CONFIG`` says it."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph.train.cluster.cluster_spec import ClusterSpec

_NOTE = "\n\nNote that these values may be coming from the TF_CONFIG environment variable."


class TaskType:
    """The kinds of tasks: the chief (or a master, which evaluates too), workers, parameter servers, an evaluator."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


class ClusterPlace(NamedTuple):
    """What a RunConfig knows of its cluster."""

    service: Any
    cluster_spec: ClusterSpec
    task_type: str
    task_id: int
    global_id_in_cluster: int | None
    master: str
    evaluation_master: str
    is_chief: bool
    num_ps_replicas: int
    num_worker_replicas: int


def place_in_cluster(environment: dict[str, Any]) -> ClusterPlace:
    """The place that ``TF_CONFIG`` (decoded) gives this program; without a cluster, that of the only worker.

    Raises ValueError for tasks that the cluster has not, TypeError for a service that is no dict.
    """
    service = environment.get("service")
    if service is not None and not isinstance(service, dict):
        raise TypeError(f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}')
    cluster = ClusterSpec(environment.get("cluster", {}))
    task = environment.get("task", {})
    if not cluster:
        return _alone(environment, service, cluster, task)
    chief = TaskType.MASTER if TaskType.MASTER in cluster.jobs else TaskType.CHIEF
    if chief == TaskType.MASTER and TaskType.CHIEF in cluster.jobs:
        raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
    kind, number = _checked_task(cluster, task, chief)
    evaluation_master = environment.get("eval_session_master", "") if kind == TaskType.EVALUATOR else ""
    if kind == TaskType.EVALUATOR:
        if chief == TaskType.MASTER:
            raise ValueError("If `master` node exists in `cluster`, task_type `evaluator` is not supported.")
        return ClusterPlace(service, ClusterSpec({}), kind, number, None, "", evaluation_master, False, 0, 0)
    jobs = cluster.as_dict()
    workers = len(jobs.get(TaskType.WORKER, [])) + len(jobs.get(chief, []))
    return ClusterPlace(service, cluster, kind, number, _number_of(cluster, kind, number, chief),
                        _master(environment, cluster, kind, number), evaluation_master, kind == chief,
                        len(jobs.get(TaskType.PS, [])), workers)


def _alone(environment: dict[str, Any], service: Any, cluster: ClusterSpec, task: dict[str, Any]) -> ClusterPlace:
    kind, number = task.get("type", TaskType.WORKER), int(task.get("index", 0))
    if kind != TaskType.WORKER:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
    if number != 0:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
    return ClusterPlace(service, cluster, kind, number, 0, environment.get("session_master", ""),
                        environment.get("eval_session_master", ""), True, 0, 1)


def _checked_task(cluster: ClusterSpec, task: dict[str, Any], chief: str) -> tuple[str, int]:
    if chief not in cluster.jobs:
        raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node.')
    if len(cluster.job_tasks(chief)) > 1:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{chief}" node.')
    kind, number = task.get("type"), task.get("index")
    if not kind:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if number is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    number = int(number)
    if number < 0:
        raise ValueError("Task index must be non-negative number.")
    if kind == TaskType.EVALUATOR:
        return kind, number
    if kind not in cluster.jobs:
        raise ValueError(f"{kind} is not a valid task_type in the cluster_spec:\n{cluster}{_NOTE}")
    if number >= len(cluster.job_tasks(kind)):
        raise ValueError(f"{number} is not a valid task_id for task_type {kind} in the cluster_spec:\n{cluster}{_NOTE}")
    return kind, number


def _master(environment: dict[str, Any], cluster: ClusterSpec, kind: str, number: int) -> str:
    if "session_master" in environment:
        return environment["session_master"]
    jobs = cluster.jobs
    if len(jobs) == 1 and len(cluster.job_tasks(jobs[0])) == 1:
        return ""
    return f"grpc://{cluster.job_tasks(kind)[number]}"


def _number_of(cluster: ClusterSpec, kind: str, number: int, chief: str) -> int:
    """The number of a task among all: the chief first, then the others by name, parameter servers last."""
    others = sorted(job for job in cluster.jobs if job not in (chief, TaskType.PS))
    for job in [chief, *others, TaskType.PS]:
        if job == kind:
            break
        number += len(cluster.job_tasks(job))
    return number
