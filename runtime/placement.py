"""Where operations run: what ``tf.device`` asked for, held against the devices that there are.

There is one machine with CPUs, and with the GPUs that the session's target has.  What asks for no device is for the first GPU, if
there is one; ``ConfigProto.allow_soft_placement`` lets what asks for a device that is not there run on one that is, and on the
CPU what TensorFlow has no kernel for on a GPU: strings, queues, Python functions.  What else has no kernel for a GPU here runs on
the CPU in any case.
"""
from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jitgraph.compiler import targets
from jitgraph.compiler.prune import must_be_fed
from jitgraph.graph.calls import bodies
from jitgraph.graph.devices import Accelerators, DeviceSpec
from jitgraph.graph.errors import InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    from jitgraph.graph.graph import Graph
    from jitgraph.graph.operation import Operation
    from jitgraph.train.cluster.server import Server

    from .state import State

OBJECTS = ("string", "resource", "variant")     # which no GPU has
TASK = "/job:localhost/replica:0/task:0"
_CPUS = (None, "CPU", "XLA_CPU")        # compiled as the latter says; there is no other


def server_of(target: str) -> Server | None:
    """The server behind a session's target, None for "".

    Raises UnimplementedError for one of another process: that does not do the work, and neither does this one.
    """
    if target.startswith("grpc"):
        from jitgraph.train.cluster.server import SERVERS

        return SERVERS.of_target(target)
    if target:
        raise NotFoundError(None, None, "No session factory registered for the given session options: {target: "
                            f'"{target}"}}. Registered factories are {{DIRECT_SESSION}}, which tf.Session() gives.')
    return None


class Placement:
    """The placement of the operations of a graph in a session; each is looked at once."""

    def __init__(self, graph: Graph, config: Any, state: State, server: Server | None = None) -> None:
        self._state = state
        self._graph, self._seen, self._server = graph, 0, server
        self.task = TASK if server is None else f"/job:{server.job_name}/replica:0/task:{server.task_index}"
        self._cpus = 1 if config is None else config.device_count.get("CPU", 1)
        self._soft = config is not None and config.allow_soft_placement
        self._log = config is not None and config.log_device_placement

    def check(self) -> None:
        """Raises InvalidArgumentError for an operation that cannot run where it was asked to; says where each runs if wanted."""
        operations = self._graph._nodes_by_id
        if self._seen < len(operations):
            if self._log and not self._seen:
                print("\n".join(["Device mapping:", *self._mapping()]), flush=True)
            self._place(operations[self._seen:])
            self._seen = len(operations)

    def _place(self, operations: Iterable[Operation]) -> None:
        for op in operations:
            if op._device and not _fits(self._within_task(op), self._cpus, self._gpus, self._soft):
                raise InvalidArgumentError(None, op, self._refusal(op))
            if op._device and not self._soft and self._gpus and _is_for_cpus(op) and _asks_for_gpu(op._device):
                raise InvalidArgumentError(None, op, _without_kernel(op))
            if self._log:
                print(f"{op.name}: ({op.type}): {self.task}{self._device_of(op)}", flush=True)
            for function in bodies(op):
                self._place(function._nodes_by_id)

    @property
    def _gpus(self) -> int:
        return len(self._state.target.ordinals)

    def devices(self) -> list[tuple[str, str]]:
        """(name, type) of each device."""
        return [(f"{self.task}/device:{kind}:{k}", kind) for kind, count in (("CPU", self._cpus), ("GPU", self._gpus))
                for k in range(count)]

    def _mapping(self) -> list[str]:
        """A line for each GPU, as TensorFlow has it."""
        if self._state.machine is None:
            return []
        from .cuda.visible import description

        return [f"{self.task}/device:GPU:{k} -> {description(k, ordinal, self._state.machine)}"
                for k, ordinal in enumerate(self._state.target.ordinals)]

    def _device_of(self, op: Operation) -> str:
        """Where an operation runs, as far as it says: what is for the host alone runs there."""
        gpu, opdef = self._state.target.place_of(op), op.opdef
        lowered = opdef is not None and (must_be_fed(op) or not opdef.host and any((opdef.lower, opdef.scalar, opdef.state,
                                                                                    opdef.variable)) or opdef.on_device)
        if gpu == targets.HOST or not lowered or any(t.dtype.base_dtype.name in OBJECTS for t in (*op.inputs, *op.outputs)):
            return f"/device:CPU:{_index(op._device, self._cpus)}"
        return f"/device:GPU:{gpu}"

    def _within_task(self, op: Operation) -> str:
        """The device without its task, if that is one of the server's cluster in this process."""
        if self._server is None:
            return op._device
        spec = DeviceSpec.from_string(op._device)
        try:
            self._server.of_task(spec.job, spec.task)
        except ValueError:
            return op._device
        return DeviceSpec(device_type=spec.device_type, device_index=spec.device_index).to_string()

    def _refusal(self, op: Operation) -> str:
        there = ", ".join(name for name, _ in self.devices())
        gpu = DeviceSpec.from_string(op._device).device_type == "GPU" and not self._gpus
        hint = " The requested device appears to be a GPU, but jitgraph runs on the CPU." if gpu else ""
        local = _fits(self._within_task(op), self._cpus, self._gpus, True)
        advice = " tf.ConfigProto(allow_soft_placement=True) runs it on a device that there is." if local else ""
        return (f"Cannot assign a device for operation {op.name}: node {op.name} was explicitly assigned to {op._device} but "
                f"available devices are [ {there} ]. Make sure the device specification refers to a valid device.{hint}{advice}")


def _is_for_cpus(op: Operation) -> bool:
    """Whether TensorFlow runs an operation on the CPU alone."""
    opdef = op.opdef
    # of what is seen outside, TensorFlow runs functions of eager tensors on GPUs
    return opdef is not None and (opdef.outward and op.type != "EagerPyFunc" or opdef.moves is not None
                                  or any(t.dtype.base_dtype.name == "string" for t in (*op.inputs, *op.outputs)))


@functools.lru_cache(maxsize=1024)
def _asks_for_gpu(device: str) -> bool:
    return DeviceSpec.from_string(device).device_type == "GPU"


def _without_kernel(op: Operation) -> str:
    return (f"Cannot assign a device for operation {op.name}: Could not satisfy explicit device specification '{op._device}' "
            f"because no supported kernel for GPU devices is available.\nOp: {op.type}\nRegistered kernels:\n  device='CPU'\n"
            "tf.ConfigProto(allow_soft_placement=True) runs it on the CPU.")


@functools.lru_cache(maxsize=1024)
def _fits(device: str, cpus: int, gpus: int, soft: bool) -> bool:
    spec = DeviceSpec.from_string(device)
    if spec.job not in (None, "localhost") or spec.replica not in (None, 0) or spec.task not in (None, 0):
        return False
    count = cpus if spec.device_type in _CPUS else gpus if spec.device_type == "GPU" else 0
    return soft or count > 0 and (spec.device_index is None or spec.device_index < count)


@functools.lru_cache(maxsize=1024)
def _index(device: str, cpus: int) -> int:
    spec = DeviceSpec.from_string(device) if device else DeviceSpec()
    index = spec.device_index or 0
    return index if spec.device_type == "CPU" and index < cpus else 0


def _accelerators(config: Any) -> list[tuple[str, str, int, str, tuple[int, int]]]:
    if not targets.present().has_memory:
        return []
    from .cuda.visible import local

    return local(config)


Accelerators.found = staticmethod(_accelerators)        # the graph language knows no devices of its own
