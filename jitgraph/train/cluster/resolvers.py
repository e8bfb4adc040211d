"""``tf.distribute.cluster_resolver``: where the tasks of a cluster are, from arguments or from the environment."""
from __future__ import annotations

import abc
import json
import os
from typing import Any

from jitgraph.graph.devices import list_local_devices
from jitgraph.train.cluster.cluster_spec import ClusterSpec


def format_master_url(master: str, rpc_layer: str | None = None) -> str:
    """An address, with its protocol if there is one."""
    return f"{rpc_layer}://{master}" if rpc_layer else master


class ClusterResolver(abc.ABC):
    """Knows the cluster, and which task of it this process is."""

    @abc.abstractmethod
    def cluster_spec(self) -> Any:
        """The ClusterSpec."""

    @abc.abstractmethod
    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The address of a task, by default of the one that sessions connect to."""

    def num_accelerators(self, task_type: str | None = None, task_id: int | None = None,
                         config_proto: Any = None) -> dict[str, int]:
        """{kind of device: how many there are}"""
        found: dict[str, int] = {}
        for device in list_local_devices():
            found[device.device_type] = found.get(device.device_type, 0) + 1
        return found

    @property
    def environment(self) -> str | None:
        """What kind of place this is, such as "google"; "" for none."""
        return ""


class SimpleClusterResolver(ClusterResolver):
    """What it was told.  Raises TypeError unless `cluster_spec` is a ClusterSpec and `master` a string."""

    task_type: str | None
    task_id: int | None
    rpc_layer: str | None

    def __init__(self, cluster_spec: Any, master: str = "", task_type: str | None = None, task_id: int | None = None,
                 environment: str = "", num_accelerators: Any = None, rpc_layer: str | None = None):
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a ClusterSpec.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._cluster_spec, self._master = cluster_spec, master
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer
        self._environment, self._num_accelerators = environment, num_accelerators

    def cluster_spec(self) -> Any:
        """The ClusterSpec."""
        return self._cluster_spec

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The address of a task, by default `master`."""
        address = self._master
        if task_type is not None and task_id is not None:
            address = self._cluster_spec.task_address(task_type, task_id)
        return format_master_url(address, rpc_layer or self.rpc_layer)

    @property
    def environment(self) -> str | None:
        """What it was told."""
        return self._environment

    def num_accelerators(self, task_type: str | None = None, task_id: int | None = None,
                         config_proto: Any = None) -> dict[str, int]:
        """What it was told."""
        return self._num_accelerators or {}


class UnionResolver(ClusterResolver):
    """The clusters of several resolvers as one; the first says what is not told.

    Raises ValueError without resolvers or for other keywords, TypeError for other objects; KeyError where two have a task of
    the same number.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        self._rpc_layer, self._task_type, self._task_id = (kwargs.pop(one, None) for one in ("rpc_layer", "task_type", "task_id"))
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(one, ClusterResolver) for one in args):
            raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._resolvers: tuple[Any, ...] = args

    def cluster_spec(self) -> Any:
        """All jobs: tasks in a row, or by their numbers if one resolver has numbers."""
        merged: dict[str, Any] = {}
        jobs = [item for one in self._resolvers for item in one.cluster_spec().as_dict().items()]
        numbered = {job for job, tasks in jobs if isinstance(tasks, dict)}
        for job, tasks in jobs:
            if job not in numbered:
                merged.setdefault(job, []).extend(tasks)
                continue
            tasks = dict(enumerate(tasks)) if isinstance(tasks, list) else tasks
            held = merged.setdefault(job, {})
            both = set(tasks) & set(held)
            if both:
                raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {both!r}")
            held.update(tasks)
        return ClusterSpec(merged)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The address of a task, by default what the first resolver says."""
        if task_type is not None and task_id is not None:
            return format_master_url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self._rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    @property
    def task_type(self) -> Any:
        """The job of this task."""
        return self._task_type or self._resolvers[0].task_type

    @task_type.setter
    def task_type(self, task_type: Any) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> Any:
        """The number of this task."""
        return self._task_id or self._resolvers[0].task_id

    @task_id.setter
    def task_id(self, task_id: Any) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> Any:
        """The protocol."""
        return self._rpc_layer or self._resolvers[0].rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: Any) -> None:
        self._rpc_layer = rpc_layer

    @property
    def environment(self) -> str | None:
        """That of the first resolver."""
        return self._resolvers[0].environment

    def num_accelerators(self, task_type: str | None = None, task_id: int | None = None,
                         config_proto: Any = None) -> dict[str, int]:
        """That of the first resolver."""
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)


class TFConfigClusterResolver(ClusterResolver):
    """What the environment variable TF_CONFIG says, a JSON text with "cluster", "task", "rpc_layer" and "session_master"."""

    def __init__(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None,
                 environment: str | None = None):
        self._task_type, self._task_id, self._rpc_layer, self._environment = task_type, task_id, rpc_layer, environment

    @staticmethod
    def _said(key: str, default: Any = None) -> Any:
        return json.loads(os.environ.get("TF_CONFIG", "{}")).get(key, default)

    @property
    def task_type(self) -> Any:
        """The job of this task, None if nobody says it."""
        found = self._said("task", {}).get("type") if self._task_type is None else self._task_type
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, task_type: Any) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> Any:
        """The number of this task, None if nobody says it."""
        found = self._said("task", {}).get("index") if self._task_type is None else self._task_id
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, task_id: Any) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> Any:
        """The protocol, None if nobody says it."""
        return self._said("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: Any) -> None:
        self._rpc_layer = rpc_layer

    @property
    def environment(self) -> str | None:
        """What it was told."""
        return self._environment

    def cluster_spec(self) -> Any:
        """The cluster of TF_CONFIG, an empty one if there is none."""
        return ClusterSpec(self._said("cluster", {}))

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The master of TF_CONFIG; else the address of the task, "" if it is alone."""
        said = self._said("session_master")
        if said is not None:
            return said
        spec = self.cluster_spec()
        if not spec.jobs or len(spec.jobs) == 1 and len(spec.job_tasks(spec.jobs[0])) == 1:
            return ""
        return format_master_url(spec.task_address(self.task_type if task_type is None else task_type,
                                                   self.task_id if task_id is None else task_id), self.rpc_layer)
