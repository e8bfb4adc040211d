"""Sessions on the servers of a cluster: what a task keeps is shared by all of them, and outlives each."""
from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any

from jitgraph.compiler.order import variable_key
from jitgraph.graph.devices import DeviceSpec
from jitgraph.graph.operation import Operation
from jitgraph.train.cluster.server import SERVERS, Server

from .state import State
from .variable import Variable


class Kept:
    """The variables and resources of one task."""

    def __init__(self) -> None:
        self.variables: dict[tuple[str, str], Variable] = {}
        self.resources: dict[tuple[Any, ...], Any] = {}

    def resource(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """The object under `key`, made by `make` at the first call."""
        with SERVERS.lock:
            found = self.resources.get(key)
            if found is None:
                found = self.resources[key] = make()
            return found


class ServedState(State):
    """The state of one session on a server; what is placed on a task is looked up there.

    A session that is `isolated` keeps things of its own in place of the tasks'.
    """

    def __init__(self, server: Server, isolated: bool, *args: Any) -> None:
        super().__init__(*args)
        self.server = server
        self._own: dict[Server, Kept] | None = {} if isolated else None
        self.lock = SERVERS.lock        # several sessions write the same buffers
        self.variables = self.owner_of("").variables

    @property
    def generation(self) -> int:        # type: ignore[override]  # an attribute of State, here that of all servers
        return SERVERS.generation

    @generation.setter
    def generation(self, value: int) -> None:
        SERVERS.generation = value

    def variable(self, op: Operation) -> Variable:
        """The variable behind a variable operation, on the task of its device."""
        variables, key = self.owner(op).variables, variable_key(op)
        with self.lock:
            return variables.setdefault(key, self.new_variable(op.name))

    def owner(self, op: Operation) -> Kept:
        """What keeps the thing behind a node."""
        return self.owner_of(op.device or "")

    def owner_of(self, device: str) -> Kept:
        """What keeps the things on a device."""
        server = self.server.of_task(*_task(device))
        with SERVERS.lock:
            if self._own is not None:
                return self._own.setdefault(server, Kept())
            if server.kept is None:
                server.kept = Kept()
            return server.kept

    def close(self) -> None:
        """Frees what the session has for itself; operations that wait give up."""
        self.variables = {}
        self._own = None if self._own is None else {}
        super().close()


def forget_kept(server: Server, containers: Collection[str] | None) -> None:
    """Forgets what the tasks of a server's cluster keep in `containers`, all without it."""
    with SERVERS.lock:
        for kept in [task.kept for task in server.tasks_here() if task.kept is not None]:
            for key in [key for key in kept.variables if not containers or key[0] in containers]:
                kept.variables.pop(key)
            for key in [key for key in kept.resources if not containers or key[0] == "handle" or key[1] in containers]:
                kept.resources.pop(key)


@functools.lru_cache(maxsize=1024)
def _task(device: str) -> tuple[str | None, int | None]:
    spec = DeviceSpec.from_string(device)
    return spec.job, spec.task
