"""Targets: the machines that kernels are written for.

A program has one target.  Kernels that it has no form for run on the host, the CPU, between its own; where a target has a
memory of its own, the pass `transfer` copies values between that and the host's.  How a target's kernels are launched is the
runtime's matter (`runtime.interpreter` for the CPU, `runtime.cuda`).
"""
from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jitgraph import environment
from jitgraph.graph.devices import DeviceSpec

from . import tuning
from .emit import cpu, cpu_features, native
from .kernel import CODES, COMPLEX, ELEMENTS, HALVES, Kernel
from .options import Options

if TYPE_CHECKING:
    from jitgraph.graph.operation import Operation

    from .ir import Node

HOST = -1               # the number of the host's memory; those of devices are 0, 1 ...


class Target:
    """A machine: `name`, the numbers by which passes choose for it, and whether it `has_memory` that is not the host's."""

    name: str
    tuning: tuning.Tuning
    has_memory = False
    elements: Mapping[str, str] = CODES     # {dtype: its code} of what its kernels load and store
    ordinals: tuple[int, ...] = ()      # what the driver calls the devices that programs see as 0, 1 ...

    def __repr__(self) -> str:
        return self.name

    def admits(self, kernel: Kernel) -> bool:
        """Whether it runs a kernel: one that was written for it, or a loop nest that it has a form of."""
        raise NotImplementedError

    def elements_at(self, op: Operation | None) -> Mapping[str, str]:
        """The dtypes that kernels of an operation may have, on its device."""
        return self.elements if self.place_of(op) != HOST else CODES

    def place(self, node: Node) -> int:
        """The memory in which a primitive is to be computed: that of a device, or HOST."""
        return HOST

    def place_of(self, op: Operation | None) -> int:
        """The memory in which an operation is to be computed, by its device."""
        return HOST

    def seeing(self, ordinals: tuple[int, ...]) -> Target:
        """The same with these devices."""
        return self

    def emit(self, kernel: Kernel, options: Options) -> None:
        """Fills in name, source and size arguments of a kernel that is only a loop nest so far."""
        raise NotImplementedError

    def most_batched(self, kernel: Kernel) -> int:
        """How many blocks of work a launch of a kernel may have to be joined with others of its text, -1 if none may."""
        return -1

    def batched(self, kernels: list[Kernel]) -> Kernel:
        """One kernel that does the work of several of one text."""
        raise NotImplementedError

    def work(self, kernel: Kernel) -> Any:
        """How much work a launch of a kernel has, for a target that launches them one by one: `blocks` and `width`, which may
        depend on sizes."""
        raise NotImplementedError

    def parts(self, kernel: Kernel, compiler: str) -> dict[str, str]:
        """What the object code of a kernel by this compiler depends on, see `key`."""
        return {"name": kernel.name, "text": kernel.source, "types": " ".join(p.dtype for p in kernel.params), "target": self.name}


class _CPU(Target):
    name, tuning = "cpu", tuning.CPU

    @functools.cached_property
    def elements(self) -> Mapping[str, str]:  # type: ignore[override]
        return ELEMENTS if cpu_features.has_halves() else {**CODES, **COMPLEX}

    def elements_at(self, op: Operation | None) -> Mapping[str, str]:
        return self.elements

    def admits(self, kernel: Kernel) -> bool:
        return True

    def emit(self, kernel: Kernel, options: Options) -> None:
        cpu.emit(kernel, options)

    def parts(self, kernel: Kernel, compiler: str) -> dict[str, str]:
        return {**super().parts(kernel, compiler), **native.target_key(compiler)}


class _CUDA(Target):
    """The four kinds of loop nests, and the kernels written by hand for it.  All else is left to the host.

    Its room is imported by programs that have this target: few do, and all would wait for it.  `simulated`: how many devices
    the simulator has, 0 for the machine's own.
    """

    name, tuning = "cuda", tuning.CUDA
    has_memory = True
    elements = {**CODES, **HALVES}

    def __init__(self, simulated: int = 0, ordinals: tuple[int, ...] = (0,)) -> None:
        self.simulated, self.ordinals = simulated, ordinals

    def seeing(self, ordinals: tuple[int, ...]) -> Target:
        return cuda(self.simulated, ordinals)

    def place(self, node: Node) -> int:
        changed = node.attrs.get("variable")        # where that is, it is changed
        return self.place_of(changed if changed is not None and not (node.op and node.op._device) else node.op)

    def place_of(self, op: Operation | None) -> int:
        return _place(op._device if op is not None else "", len(self.ordinals))

    def admits(self, kernel: Kernel) -> bool:
        from .emit import cuda

        return cuda.admits(kernel)

    def emit(self, kernel: Kernel, options: Options) -> None:
        from .emit import cuda

        cuda.emit(kernel)

    def work(self, kernel: Kernel) -> Any:
        from .emit import cuda

        return cuda.launch(kernel)

    def most_batched(self, kernel: Kernel) -> int:
        from .emit import cuda

        return cuda.MAX_BLOCKS if cuda.is_nest(kernel) else -1

    def batched(self, kernels: list[Kernel]) -> Kernel:
        from .emit import cuda

        return cuda.emit_batch(kernels)

    def parts(self, kernel: Kernel, compiler: str) -> dict[str, str]:
        text = kernel.batch[0] if kernel.batch else kernel      # a batch of any number has one text, and the types of each member
        parts = {**super().parts(text, compiler), "compiler": compiler}
        return {**parts, "name": kernel.name, "text": kernel.source}


@functools.lru_cache(maxsize=256)
def _place(device: str, count: int) -> int:
    spec = DeviceSpec.from_string(device) if device else DeviceSpec()
    if not count or spec.device_type == "CPU":
        return HOST
    asked = spec.device_index or 0
    return asked if spec.device_type == "GPU" and asked < count else 0


cuda = functools.cache(_CUDA)
CPU, CUDA = _CPU(), cuda()
TARGETS = {target.name: target for target in (CPU, CUDA)}
SIMULATED = "cuda-simulator"
CHOICES = (CPU.name, CUDA.name, SIMULATED)
"""What JITGRAPH_TARGET may say: the target of all sessions.  `cuda-simulator:4` simulates four devices."""


def present() -> Target:
    """The target that JITGRAPH_TARGET names.  Raises ValueError for another word."""
    given = environment.text("JITGRAPH_TARGET")
    name, _, count = given.partition(":")
    if name == SIMULATED and (given == name or count.isascii() and count.isdigit() and 0 < int(count) <= 64):
        return cuda(int(count or 1), tuple(range(int(count or 1))))
    if given != name and name in CHOICES:
        raise ValueError(f"JITGRAPH_TARGET cannot be {given!r}: only {SIMULATED} takes a number, of 1 to 64 devices, as "
                         f"{SIMULATED}:2; which GPUs a session sees is said by visible_device_list of tf.GPUOptions, or by "
                         "CUDA_VISIBLE_DEVICES")
    return TARGETS[environment.choice("JITGRAPH_TARGET", CHOICES, CPU.name)]
