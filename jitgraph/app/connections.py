"""``tf.config.experimental_connect_to_host`` and ``..._to_cluster``: what programs call before they make a graph.

In TensorFlow 1.15 both tell the context of eager execution of machines, which graphs and sessions do not ask: a session finds
its machines by the target that it is given.  Here they check what they are given, as there, and do nothing more.
"""
from __future__ import annotations

from typing import Any


def experimental_connect_to_host(remote_host: Any = None, job_name: str = "worker") -> None:
    """Tells of a host "address:port", or a list of them.  Raises ValueError for none.  It changes nothing for sessions."""
    if not remote_host:
        raise ValueError("Must provide at least one remote_host")


def experimental_connect_to_cluster(cluster_spec_or_resolver: Any, job_name: str = "localhost", task_index: int = 0,
                                    protocol: str | None = None) -> None:
    """Tells of the machines of a ``tf.train.ClusterSpec`` or of a cluster resolver.  Raises ValueError for anything else.  It
    changes nothing for sessions."""
    resolved = getattr(cluster_spec_or_resolver, "cluster_spec", None)
    spec = resolved() if callable(resolved) else cluster_spec_or_resolver
    if not hasattr(spec, "as_cluster_def"):
        raise ValueError("`cluster_spec_or_resolver` must be a `ClusterSpec` or a `ClusterResolver`.")
