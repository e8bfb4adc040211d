"""``tf.train.Server``: a task of a cluster.  So far all tasks that a session uses are servers of its own process.

Sessions with the target of a server share its variables and queues, and those of the other servers of its cluster: a
program with a parameter server and workers runs in one process, with a thread for each.
"""
from __future__ import annotations

import socket
import threading
from typing import Any

from jitgraph.graph.errors import InvalidArgumentError, UnimplementedError, UnknownError
from jitgraph.protobuf.messages import ServerDef
from jitgraph.train.cluster.cluster_spec import ClusterSpec

ONE_PROCESS = "so far a cluster lives in one process: start a Server for each of its tasks there"


class Server:
    """A task: what is placed on it is kept here, and sessions may have its ``target``.

    Args:
      server_or_cluster_def: a ServerDef, or what ``ClusterSpec`` takes.
      job_name, task_index: which task of the cluster this is; may be left out if there is one only.
      protocol: "grpc".
      config: the ConfigProto of sessions that have none.
      start: whether to start it; else ``start`` does.
    Raises TypeError for a cluster that is none, ValueError if the task is not clear, InvalidArgumentError if there is no
    such task, UnknownError if its port is taken.
    """

    def __init__(self, server_or_cluster_def: Any, job_name: str | None = None, task_index: int | None = None,
                 protocol: str | None = None, config: Any = None, start: bool = True):
        self._server_def = _definition(server_or_cluster_def, job_name, task_index, protocol, config)
        self._cluster = ClusterSpec(self._server_def.cluster)
        self.job_name, self.task_index = self._server_def.job_name, self._server_def.task_index
        try:
            address = self._cluster.task_address(self.job_name, self.task_index)
        except ValueError:
            raise InvalidArgumentError(None, None,
                                       f'Task {self.task_index} was not defined in job "{self.job_name}"') from None
        self._port = _reserved(address)
        self.address = f"localhost:{self._port.getsockname()[1]}" if address.endswith(":0") else address
        self.kept: Any = None       # what the runtime holds for this task: variables, queues, tables
        if start:
            self.start()

    def start(self) -> None:
        """Lets sessions have it as their target.  Starting again does nothing."""
        with SERVERS.lock:
            SERVERS.by_target.setdefault(self.target, self)

    def join(self) -> None:
        """Waits for ever, as the program of a parameter server does."""
        threading.Event().wait()

    @property
    def server_def(self) -> Any:
        """The ServerDef."""
        return self._server_def

    @property
    def target(self) -> str:
        """The target for ``tf.Session``."""
        return f"grpc://localhost:{self._port.getsockname()[1]}"

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """A server on a free port, alone in its cluster."""
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)

    def of_task(self, job: str | None, task: int | None) -> Server:
        """The server of a task of this cluster; of the job's first task if `task` is None.

        Raises ValueError if there is no such task, UnimplementedError if it is not in this process.
        """
        if job is None or (job, task) == (self.job_name, self.task_index):
            return self
        number = self._cluster.task_indices(job)[0] if task is None else task
        address = self._cluster.task_address(job, number)
        with SERVERS.lock:
            for server in SERVERS.by_target.values():
                if (server.job_name, server.task_index) == (job, number) and server._cluster == self._cluster and \
                        server._cluster.task_address(job, number) == address:
                    return server
        raise UnimplementedError(None, None, f"/job:{job}/task:{number} at {address} is not a server of this process; "
                                             f"{ONE_PROCESS}.")

    def tasks_here(self) -> list[Server]:
        """The servers of its cluster in this process, itself among them."""
        def is_beside(other: Server) -> bool:       # local servers, each alone, have clusters that look alike
            return other._cluster == self._cluster and (other.job_name, other.task_index) != (self.job_name, self.task_index)

        return [server for server in SERVERS.by_target.values() if server is self or is_beside(server)]


class Servers:
    """The servers of this process; `generation` counts how often a buffer that they keep has moved."""

    def __init__(self) -> None:
        self.by_target: dict[str, Server] = {}
        self.lock = threading.RLock()
        self.generation = 0

    def of_target(self, target: str) -> Server:
        """The server with a target.  Raises UnimplementedError if there is none in this process."""
        with self.lock:
            found = self.by_target.get(target)
        if found is None:
            raise UnimplementedError(None, None, f"tf.Session({target!r}): no tf.train.Server of this process has that target; "
                                                 f"{ONE_PROCESS}, or use tf.Session().")
        return found


SERVERS = Servers()     # like the ports that they hold, servers belong to the process


def _reserved(address: str) -> socket.socket:
    """A socket that holds the port of an address, so that no other server has the same target."""
    port = address.rpartition(":")[2]
    if not port.isdigit():
        raise InvalidArgumentError(None, None, f'Could not parse port for local server from "{address}".')
    held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        held.bind(("", int(port)))
    except OSError as error:
        held.close()
        raise UnknownError(None, None, f"Could not start gRPC server: port {port} is taken ({error.strerror})") from None
    return held


def _definition(given: Any, job_name: str | None, task_index: int | None, protocol: str | None, config: Any) -> Any:
    if isinstance(given, ServerDef):
        definition = ServerDef.FromString(given.SerializeToString())
        for field, value in (("job_name", job_name), ("task_index", task_index), ("protocol", protocol)):
            if value is not None:
                setattr(definition, field, value)
    else:
        try:
            cluster = ClusterSpec(given)
        except TypeError:
            raise TypeError("Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or "
                            "`tf.train.ClusterSpec`.") from None
        if job_name is None:
            job_name = _only(cluster.jobs, "job_name")
        if task_index is None:
            task_index = _only(cluster.task_indices(job_name), "task_index")
        definition = ServerDef(cluster=cluster.as_cluster_def(), job_name=job_name, task_index=task_index,
                               protocol=protocol or "grpc")
    if config is not None:
        definition.default_session_config.MergeFrom(config)
    return definition


def _only(candidates: list, what: str) -> Any:
    if len(candidates) != 1:
        raise ValueError(f"Must specify an explicit `{what}`.")
    return candidates[0]
