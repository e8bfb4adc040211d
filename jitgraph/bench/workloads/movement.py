"""Numbers that mostly change their place."""

from __future__ import annotations

from ..kernel import kernel

SQUARE, SMALL = (4096, 4096), (48, 48)

kernel(
    "transpose-add",
    "transpose + add [4096, 4096]",
    [SQUARE, SQUARE],
    [SMALL, SMALL],
    tf1=lambda tf, x, y: tf.transpose(x) + y,
    numpy=lambda x, y: x.T + y,
    jax=lambda jax, x, y: x.T + y,
    torch=lambda torch, x, y: x.T + y,
    pytensor=lambda pt, x, y: x.T + y,
    goals={"copy": 2.5},
)
kernel(
    "concat",
    "concat of two [4096, 2048] along axis 1",
    [(4096, 2048), (4096, 2048)],
    [(48, 24), (48, 24)],
    tf1=lambda tf, x, y: tf.concat([x, y], 1),
    numpy=lambda x, y: __import__("numpy").concatenate([x, y], 1),
    jax=lambda jax, x, y: jax.numpy.concatenate([x, y], 1),
    torch=lambda torch, x, y: torch.cat([x, y], 1),
    pytensor=lambda pt, x, y: pt.concatenate([x, y], axis=1),
    goals={"copy": 2.5},
)
kernel(
    "pad",
    "pad [4096, 4096] by 1 all around",
    [SQUARE],
    [SMALL],
    tf1=lambda tf, x: tf.pad(x, [[1, 1], [1, 1]]),
    numpy=lambda x: __import__("numpy").pad(x, 1),
    jax=lambda jax, x: jax.numpy.pad(x, 1),
    torch=lambda torch, x: torch.nn.functional.pad(x, (1, 1, 1, 1)),
    goals={"copy": 2.5},
)
kernel(
    "reverse",
    "reverse [4096, 4096] along axis 1",
    [SQUARE],
    [SMALL],
    tf1=lambda tf, x: tf.reverse(x, [1]),
    numpy=lambda x: x[:, ::-1].copy(),
    jax=lambda jax, x: x[:, ::-1],
    torch=lambda torch, x: x.flip(1),
    pytensor=lambda pt, x: x[:, ::-1] + 0,
    goals={"copy": 2.5},
)
kernel(
    "cumsum",
    "cumsum [4096, 4096] along axis 1",
    [SQUARE],
    [SMALL],
    tf1=lambda tf, x: tf.cumsum(x, 1),
    numpy=lambda x: x.cumsum(1),
    jax=lambda jax, x: x.cumsum(1),
    torch=lambda torch, x: x.cumsum(1),
    pytensor=lambda pt, x: x.cumsum(1),
    goals={"copy": 2.5},
)
