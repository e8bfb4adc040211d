"""Kernels for CUDA as object code, each of which is made once in a process: several tests look at the same ones."""

from jitgraph.compiler.emit import cuda_compile

_MADE = {}


def compile_kernel(kernel, capability=cuda_compile.HOPPER):
    """As `cuda_compile.compile_kernel`."""
    key = kernel.source, tuple(cuda_compile.argument_codes(kernel)), kernel.kind, kernel.threads, capability
    if key not in _MADE:
        _MADE[key] = cuda_compile.compile_kernel(kernel, capability)
    return _MADE[key]
