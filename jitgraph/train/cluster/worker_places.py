"""``tensorflow.python.distribute.multi_worker_util``: which task of a cluster does what."""
from __future__ import annotations

from typing import Any

from jitgraph.protobuf.messages import ClusterDef
from jitgraph.train.cluster.cluster_spec import ClusterSpec

_KINDS = ("chief", "evaluator", "ps", "worker")


def normalize_cluster_spec(cluster_spec: Any) -> ClusterSpec:
    """A ClusterSpec, of a dict or ClusterDef too.  Raises ValueError for anything else."""
    if isinstance(cluster_spec, (dict, ClusterDef)):
        return ClusterSpec(cluster_spec)
    if not isinstance(cluster_spec, ClusterSpec):
        raise ValueError("`cluster_spec' should be dict or a `tf.train.ClusterSpec` or a `tf.train.ClusterDef` object")
    return cluster_spec


def _checked(cluster_spec: Any, task_type: Any, task_id: Any) -> dict[str, list]:
    """{kind of task: addresses}.  Raises ValueError for a task that is not there, and for a cluster with several chiefs."""
    if cluster_spec is None or task_type is None or task_id is None:
        raise ValueError("None of `cluster_spec`, `task_type`, and `task_id` should be `None`.")
    cluster = normalize_cluster_spec(cluster_spec).as_dict()
    if task_type not in _KINDS:
        raise ValueError(f"Unrecognized task_type: {task_type!r}, valid task types are: \"chief\", \"worker\", \"evaluator\" and "
                         "\"ps\".")
    if task_type not in cluster:
        raise ValueError(f"`task_type` {task_type!r} not found in cluster_spec.")
    if len(cluster.get("chief", ())) > 1 or len(cluster.get("evaluator", ())) > 1:
        raise ValueError("There must be at most one 'chief' job, and at most one 'evaluator' job.")
    if task_id >= len(cluster[task_type]):
        raise ValueError(f"The `task_id` {task_id} exceeds the maximum id of {task_type}.")
    return cluster


def is_chief(cluster_spec: Any = None, task_type: str | None = None, task_id: int | None = None) -> bool:
    """Whether a task initialises and saves variables: the chief, else the first worker, and an evaluator for itself."""
    cluster = _checked(cluster_spec, task_type, task_id)
    if task_type in ("chief", "evaluator"):
        return True
    return "chief" not in cluster and task_type == "worker" and task_id == 0


def collective_leader(cluster_spec: Any, task_type: str | None, task_id: int | None) -> str:
    """The device of the task that leads what all workers do together; "" for one program alone."""
    cluster = normalize_cluster_spec(cluster_spec).as_dict()
    if not cluster:
        return ""
    _checked(cluster_spec, task_type, task_id)
    if task_type == "evaluator":
        return ""
    return "/job:chief/replica:0/task:0" if "chief" in cluster else "/job:worker/replica:0/task:0"


def worker_count(cluster_spec: Any, task_type: str) -> int:
    """How many tasks train, the chief among them; of an evaluator 1.  Raises ValueError for a server of parameters."""
    cluster = _checked(cluster_spec, task_type, 0)
    if task_type not in ("chief", "worker", "evaluator"):
        raise ValueError(f"Unexpected `task_type` {task_type!r}")
    return len(cluster["evaluator"]) if task_type == "evaluator" else len(cluster.get("chief", ())) + len(cluster.get("worker", ()))


def id_in_cluster(cluster_spec: Any, task_type: str, task_id: int) -> int:
    """The number of a task among those that train, the chief first.  Raises ValueError for a server of parameters."""
    cluster = _checked(cluster_spec, task_type, task_id)
    if task_type in ("chief", "evaluator"):
        return 0
    if task_type == "worker":
        return task_id + len(cluster.get("chief", ()))
    raise ValueError(f"There is no id for task_type {task_type!r}")


def has_worker_context() -> bool:
    """False: no strategy starts workers here."""
    return False


def should_save_checkpoint() -> bool:
    """True: this is the one program that can."""
    return True


def should_load_checkpoint() -> bool:
    """True: this is the one program that can."""
    return True


def wait_for_other_workers() -> None:
    """Nothing: there are none."""
