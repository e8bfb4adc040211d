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
    """The state of one session on a server; what is placed on a task is looked up there."""

    def __init__(self, server: Server, *args: Any) -> None:
        super().__init__(*args)
        self._server = server
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
        server = self._server.of_task(*_task(device))
        with SERVERS.lock:
            if server.kept is None:
                server.kept = Kept()
            return server.kept

    def reset(self, containers: Collection[str] | None) -> None:
        """Forgets variables and resources of this server's task."""
        super().reset(containers)
        kept = self.owner_of("")
        with self.lock:
            for key in [key for key in kept.resources if not containers or key[1] in containers]:
                kept.resources.pop(key)

    def close(self) -> None:
        """Frees what the session has for itself; operations that wait give up."""
        self.variables = {}
        super().close()


@functools.lru_cache(maxsize=1024)
def _task(device: str) -> tuple[str | None, int | None]:
    spec = DeviceSpec.from_string(device)
    return spec.job, spec.task
