"""What the CPU can do that kernels are compiled for: the one that this runs on."""
from __future__ import annotations

import functools


def target_features() -> tuple[str, str]:
    """(CPU name, feature string) that kernels are compiled for: the host's, with 512-bit vectors where it has them."""
    import llvmlite.binding as llvm

    name, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features()
    text = features.flatten()
    if features.get("avx512f"):
        text += ",-prefer-256-bit"
    return name, text


@functools.cache
def vector_bytes() -> int:
    """Bytes in a vector register of the machine that kernels are compiled for."""
    features = set(target_features()[1].split(","))
    return 64 if "+avx512f" in features else 32 if "+avx" in features else 16


@functools.cache
def vector_registers() -> int:
    """How many vector registers that machine has."""
    return 32 if vector_bytes() == 64 or _is_arm64() else 16


@functools.cache
def has_fma() -> bool:
    """Whether that machine has fused multiply-add instructions."""
    return not _is_x86() or "+fma" in target_features()[1].split(",")


@functools.cache
def has_halves() -> bool:
    """Whether that machine converts vectors of float16 to float32 and back; others do it by calls of functions."""
    return _is_arm64() or "+f16c" in target_features()[1].split(",")


@functools.cache
def has_ldexp() -> bool:
    """Whether that machine multiplies vectors by powers of two in one instruction."""
    return "+avx512f" in target_features()[1].split(",")


def _is_arm64() -> bool:
    import platform

    return platform.machine().lower() in ("aarch64", "arm64")


def _is_x86() -> bool:
    import platform

    return platform.machine().lower() in ("x86_64", "amd64", "i386", "i686", "x86")
