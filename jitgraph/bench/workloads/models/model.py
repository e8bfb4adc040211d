"""A network of the benchmark: what it is given, what it computes, and how it is trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...workload import Workload

FORWARD_BATCHES, TRAINING_BATCH = (1, 8), 8
FORWARD_GOALS = {"tensorflow": 1.0, "jax": 1.0, "onnxruntime": 1.3}
TRAINING_GOALS = {"tensorflow": 1.0, "jax": 1.0, "torch": 1.25}


class Model:
    """A network, written once in the words that `net_tf1`, `net_jax` and `net_torch` share.

        class Perceptron(Model):
            def data(self, batch): ...                  # arrays; those that `forward` does not take stand last
            def forward(self, net, x): ...              # the result
            def loss(self, net, x, labels): ...         # a scalar

    `declare` makes its workloads: forward passes and a step of training by `optimizer` ("sgd", "momentum", "adam") with
    `rate`.  `used` is the number of arrays that `forward` takes.
    """

    optimizer, rate, used = "momentum", 1e-3, 1

    def data(self, batch: int) -> list[Any]:
        raise NotImplementedError

    def forward(self, net: Any, *inputs: Any) -> Any:
        raise NotImplementedError

    def loss(self, net: Any, *inputs: Any) -> Any:
        """Of a classifier: the mean cross entropy of the last array, its labels."""
        return net.cross_entropy(self.forward(net, *inputs[:-1]), inputs[-1])


def declare(
    name: str,
    title: str,
    model: Callable[..., Model],
    full: dict[str, Any] | None = None,
    small: dict[str, Any] | None = None,
    forward: Sequence[int] = FORWARD_BATCHES,
    training: Sequence[int] = (TRAINING_BATCH,),
    peers: Sequence[str] = ("jax", "torch", "torch-compile", "onnxruntime"),
    noise: float = 2e-2,
) -> None:
    """Declare the workloads of a network: `model(**full)` makes it, `model(**small)` a tiny one."""
    for trains, batches in ((False, forward), (True, training)):
        for batch in batches:
            verb = "training" if trains else "forward"
            _declare_one(
                Workload(
                    f"{name}-{verb}-{batch}",
                    f"{title}, {verb}, batch {batch}",
                    {"batch": batch, **(full or {})},
                    {"batch": 4, **(small or full or {})},
                    goals={peer: goal for peer, goal in (TRAINING_GOALS if trains else FORWARD_GOALS).items()
                           if peer == "tensorflow" or peer in peers},
                    noise=noise,
                ),
                model,
                trains,
                [peer for peer in peers if not (trains and peer == "onnxruntime")],
            )


def _declare_one(workload: Workload, model: Callable[..., Model], training: bool, peers: Sequence[str]) -> None:
    workload.module = model.__module__.partition(".workloads.")[2]

    def tf1(tf: Any, batch: int, **size: Any) -> Callable[[], Any]:
        from . import net_tf1

        return net_tf1.prepare(tf, model(**size), training, batch)

    def jax(batch: int, **size: Any) -> Callable[[], Any]:
        from . import net_jax

        return net_jax.prepare(model(**size), training, batch)

    def torch(_: Any, compiled: Any, batch: int, **size: Any) -> Callable[[], Any]:
        from . import net_torch

        return net_torch.prepare(model(**size), compiled, training, batch)

    def onnxruntime(batch: int, **size: Any) -> Callable[[], Any]:
        from . import net_onnx

        return net_onnx.prepare(model(**size), batch)

    workload.tf1(tf1)
    workload.on("jax")(jax)
    workload.torch(torch)
    workload.on("onnxruntime")(onnxruntime)
    for peer in ("jax", "torch", "torch-compile", "onnxruntime"):
        if peer not in peers:
            del workload.functions[peer]
