"""``tf.train.ClusterSpec``: the tasks of a cluster and their addresses."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.texts import as_text
from jitgraph.protobuf.messages import ClusterDef


class ClusterSpec:
    """Jobs, their tasks, and the address of each: ``ClusterSpec({"ps": ["host:2222"], "worker": ["host:2223"]})``.

    `cluster`: {job: list of addresses, or {task number: address}}, a ClusterDef, or a ClusterSpec.  Raises TypeError for
    anything else.
    """

    def __init__(self, cluster: Any):
        if isinstance(cluster, dict):
            self._cluster_spec = {job: _numbered(job, tasks) for job, tasks in cluster.items()}
            self._cluster_def = _definition(self._cluster_spec)
            return
        if isinstance(cluster, ClusterSpec):
            cluster = ClusterDef.FromString(cluster.as_cluster_def().SerializeToString())
        if not isinstance(cluster, ClusterDef):
            raise TypeError("`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a "
                            "`ClusterDef` protocol buffer")
        self._cluster_def = cluster
        self._cluster_spec = {job.name: dict(job.tasks.items()) for job in cluster.job}

    def __bool__(self) -> bool:
        return bool(self._cluster_spec)

    __nonzero__ = __bool__

    def __eq__(self, other: Any) -> bool:
        return self._cluster_spec == (other._cluster_spec if isinstance(other, ClusterSpec) else other)

    __hash__ = None     # type: ignore[assignment]

    def __str__(self) -> str:
        jobs = self.as_dict()
        return "ClusterSpec({" + ", ".join(f"{job!r}: {jobs[job]!r}" for job in sorted(jobs)) + "})"

    def as_dict(self) -> dict:
        """{job: list of addresses}; {task number: address} where numbers are missing."""
        found: dict = {}
        for job, tasks in self._cluster_spec.items():
            dense = bool(tasks) and max(tasks) + 1 == len(tasks)
            found[job] = self.job_tasks(job) if dense else dict(sorted(tasks.items()))
        return found

    def as_cluster_def(self) -> Any:
        """The ClusterDef."""
        return self._cluster_def

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._cluster_spec)

    def num_tasks(self, job_name: str) -> int:
        """How many tasks a job has.  Raises ValueError for an unknown job."""
        return len(self._tasks(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of a job's tasks, in order.  Raises ValueError for an unknown job."""
        return sorted(self._tasks(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task.  Raises ValueError for an unknown job or task."""
        tasks = self._tasks(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks, None where a number is missing.  Raises ValueError for an unknown job."""
        tasks = self._tasks(job_name)
        return [tasks.get(number) for number in range(max(tasks) + 1)]

    def _tasks(self, job_name: str) -> dict[int, str]:
        if job_name not in self._cluster_spec:
            raise ValueError(f"No such job in cluster: {job_name!r}")
        return self._cluster_spec[job_name]


def _numbered(job: Any, tasks: Any) -> dict[int, Any]:
    if isinstance(tasks, (list, tuple)):
        return dict(enumerate(tasks))
    if isinstance(tasks, dict):
        return dict(tasks)
    raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")


def _definition(jobs: dict[Any, dict[int, Any]]) -> Any:
    definition = ClusterDef()
    for job, tasks in sorted(jobs.items()):
        if not isinstance(job, (str, bytes)):
            raise TypeError(f"Job name {job!r} must be bytes or unicode")
        entry = definition.job.add()
        entry.name = as_text(job)
        for number, address in sorted(tasks.items()):
            if not isinstance(address, (str, bytes)):
                raise TypeError(f"Task address {address!r} must be bytes or unicode")
            entry.tasks[number] = as_text(address)
    return definition
