"""Targets: the machines that kernels are written for.

A program has one target.  Kernels that it has no form for run on the host, the CPU, between its own; where a target has a
memory of its own, the pass `transfer` copies values between that and the host's.  How a target's kernels are launched is the
runtime's matter (`runtime.interpreter` for the CPU, `runtime.devices`).
"""
from __future__ import annotations

from typing import Any

from jitgraph import environment

from . import tuning
from .emit import cpu, native
from .kernel import Kernel
from .options import Options


class Target:
    """A machine: `name`, the numbers by which passes choose for it, and whether it `has_memory` that is not the host's."""

    name: str
    tuning: tuning.Tuning
    has_memory = False

    def __repr__(self) -> str:
        return self.name

    def admits(self, kernel: Kernel) -> bool:
        """Whether it has a form of a kernel that `schedule` made."""
        raise NotImplementedError

    def emit(self, kernel: Kernel, options: Options) -> None:
        """Fills in name, source and size arguments of a kernel that is only a loop nest so far."""
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

    def admits(self, kernel: Kernel) -> bool:
        return True

    def emit(self, kernel: Kernel, options: Options) -> None:
        cpu.emit(kernel, options)

    def parts(self, kernel: Kernel, compiler: str) -> dict[str, str]:
        return {**super().parts(kernel, compiler), **native.target_key(compiler)}


class _CUDA(Target):
    """The four kinds of loop nests.  Kernels written by hand, and groups that make no loop nest, are left to the host.

    Its room is imported by programs that have this target: few do, and all would wait for it.
    """

    name, tuning = "cuda", tuning.CUDA
    has_memory = True

    def admits(self, kernel: Kernel) -> bool:
        from .emit import cuda

        return cuda.admits(kernel)

    def emit(self, kernel: Kernel, options: Options) -> None:
        from .emit import cuda

        cuda.emit(kernel)

    def work(self, kernel: Kernel) -> Any:
        from .emit import cuda

        return cuda.launch(kernel)

    def parts(self, kernel: Kernel, compiler: str) -> dict[str, str]:
        return {**super().parts(kernel, compiler), "compiler": compiler}


CPU, CUDA = _CPU(), _CUDA()
TARGETS = {target.name: target for target in (CPU, CUDA)}
SIMULATED = "cuda-simulator"
CHOICES = {CPU.name: CPU, SIMULATED: CUDA}
"""{what JITGRAPH_TARGET may say: the target of all sessions}"""


def present() -> Target:
    """The target that JITGRAPH_TARGET names.  Raises ValueError for another word."""
    return CHOICES[environment.choice("JITGRAPH_TARGET", tuple(CHOICES), CPU.name)]
