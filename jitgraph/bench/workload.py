"""A workload: one thing to compute, and how each peer computes it by its best idiom.

    gelu = Workload("gelu", "gelu, 10M float32", full={"n": 10_000_000}, small={"n": 1000})

    @gelu.tf1                                    # jitgraph, TensorFlow and TensorFlow with XLA: the same TF1 program
    def _(tf, n): ...

    @gelu.on("jax")
    def _(n): ...

Each function prepares everything and returns the call to be timed; of a workload with kind="once" it returns the
seconds it measured itself. What the first call returns is compared between peers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

MODULES = {
    "jitgraph": "jitgraph",
    "copy": "numpy",
    "gemm": "numpy",
    "numpy": "numpy",
    "jax": "jax",
    "tensorflow": "tensorflow",
    "tensorflow-xla": "tensorflow",
    "torch": "torch",
    "torch-compile": "torch",
    "onnxruntime": "onnxruntime",
    "pytensor": "pytensor",
}
"""{peer: the module whose presence means that it is installed}; `copy` is NumPy copying as many bytes, `gemm` NumPy
multiplying matrices with as many operations: what memory and arithmetic allow."""

# Lazy modules give an empty shell at once; what counts is when a program can begin.
FIRST_NAMES = {
    "jitgraph": ("placeholder", "Variable", "matmul", "Session"),
    "tensorflow": ("compat.v1.placeholder", "compat.v1.Session"),
    "jax": ("jit", "numpy.matmul"),
    "numpy": ("matmul",),
    "torch": ("matmul", "compile"),
    "pytensor": ("function", "shared"),
}
REGISTRY: dict[str, Workload] = {}
"""All workloads of the modules loaded so far, by name, in the order of their declaration."""


class Workload:
    """One row of the table.

    `full` and `small` are the sizes handed to the functions; `unit` is the unit of the table, us, ms or s; `goals` says
    what ratio ours / peer is to be reached; `noise` is the relative difference allowed between the peers' results, or
    None where they cannot be compared.
    """

    def __init__(
        self,
        name: str,
        title: str,
        full: dict[str, Any] | None = None,
        small: dict[str, Any] | None = None,
        unit: str = "ms",
        kind: str = "steady",
        goals: dict[str, float] | None = None,
        noise: float | None = 1e-3,
    ) -> None:
        self.name, self.title, self.unit, self.kind = name, title, unit, kind
        self.full, self.small = full or {}, small or full or {}
        self.goals, self.noise = goals or {}, noise
        self.functions: dict[str, Callable[..., Any]] = {}
        self.moves: Callable[..., int] | None = None    # bytes that a call must read and write, of a size
        self.module = _declaring_module()
        REGISTRY[name] = self

    def on(self, *peers: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare how these peers compute it: function(**size)."""

        def declare(function: Callable[..., Any]) -> Callable[..., Any]:
            self.functions.update(dict.fromkeys(peers, function))
            return function

        return declare

    def tf1(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Declare the TensorFlow 1 program, function(tf, **size): for jitgraph, and TensorFlow with and without XLA."""
        for peer in ("jitgraph", "tensorflow", "tensorflow-xla"):
            self.functions[peer] = lambda peer=peer, **size: function(tensorflow_1(peer), **size)
        return function

    def torch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Declare the torch program, function(torch, compiled, **size), eager and with `compiled` = torch.compile."""

        def run(whole: bool, **size: Any) -> Any:
            import torch

            compiled = torch.compile if whole else lambda wrapped: wrapped
            return function(torch, compiled, **size)

        self.functions["torch"] = lambda **size: run(False, **size)
        self.functions["torch-compile"] = lambda **size: run(True, **size)
        return function

    def arithmetic(self, operations: Callable[..., float]) -> None:
        """Declare how many multiplications and additions it takes, operations(**size), for peer `gemm`."""
        self.functions["gemm"] = lambda **size: _product(operations(**size))

    def prepare(self, peer: str, small: bool = False) -> Any:
        """Return the call to be timed on a peer (kind "steady"), or the seconds measured (kind "once")."""
        return self.functions[peer](**(self.small if small else self.full))


def _product(operations: float) -> Callable[[], None]:
    """Return the call of a product of matrices that takes so many operations."""
    import numpy as np

    terms = 1024
    side = max(round((operations / 2 / terms) ** 0.5), 1)
    left, right = np.ones((side, terms), np.float32), np.ones((terms, side), np.float32)
    target = np.empty((side, side), np.float32)

    def call() -> None:
        np.matmul(left, right, out=target)

    return call


def _declaring_module() -> str:
    """Return the name of the module in workloads/ that is declaring a workload, perhaps through a helper."""
    frame: Any = sys._getframe(1)
    while frame is not None and ".workloads." not in frame.f_globals["__name__"]:
        frame = frame.f_back
    return frame.f_globals["__name__"].partition(".workloads.")[2] if frame is not None else ""


def tensorflow_1(peer: str) -> Any:
    """Return the module that a TensorFlow 1 program calls `tf`, set up for a peer."""
    if peer == "jitgraph":
        import jitgraph

        return jitgraph
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    if peer == "tensorflow-xla":
        os.environ["TF_XLA_FLAGS"] = "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit --tf_xla_min_cluster_size=2"
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    return tf


def jitted(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """The call of a JAX function, compiled, on arguments that lie on the device, until its result is there."""
    import jax

    compiled = jax.jit(function)
    placed = [jax.device_put(argument) for argument in arguments]
    return lambda: jax.block_until_ready(compiled(*placed))
