"""Rows that are reduced and mapped again: softmax, layernorm and their like, and their gradients."""

from __future__ import annotations

from typing import Any

from ..kernel import kernel

SOFTMAX, SOFTMAX_SMALL = (4096, 1024), (64, 32)
NORM, NORM_SMALL = (8192, 1024), (64, 32)


def _softmax_numpy(x: Any) -> Any:
    import numpy as np

    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _log_softmax_numpy(x: Any) -> Any:
    import numpy as np

    shifted = x - x.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _pytensor_special(name: str) -> Any:
    def expression(pt: Any, x: Any) -> Any:
        import pytensor.tensor.special as special

        return getattr(special, name)(x, axis=-1)

    return expression


def _norm_tf(axis: int) -> Any:
    def expression(tf: Any, x: Any, scale: Any, shift: Any) -> Any:
        centred = x - tf.reduce_mean(x, axis, keepdims=True)
        variance = tf.reduce_mean(tf.square(centred), axis, keepdims=True)
        return centred * tf.rsqrt(variance + 1e-5) * scale + shift

    return expression


def _norm_numpy(axis: int) -> Any:
    def expression(x: Any, scale: Any, shift: Any) -> Any:
        import numpy as np

        mean = x.mean(axis=axis, keepdims=True)
        return (x - mean) / np.sqrt(x.var(axis=axis, keepdims=True, mean=mean) + np.float32(1e-5)) * scale + shift

    return expression


def _norm_jax(axis: int) -> Any:
    def expression(jax: Any, x: Any, scale: Any, shift: Any) -> Any:
        mean = x.mean(axis=axis, keepdims=True)
        variance = x.var(axis=axis, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift

    return expression


def _norm_pytensor(axis: int) -> Any:
    def expression(pt: Any, x: Any, scale: Any, shift: Any) -> Any:
        mean = x.mean(axis=axis, keepdims=True)
        variance = pt.sqr(x - mean).mean(axis=axis, keepdims=True)
        return (x - mean) / pt.sqrt(variance + 1e-5) * scale + shift

    return expression


def _batchnorm_torch(torch: Any, x: Any, scale: Any, shift: Any) -> Any:
    return torch.nn.functional.batch_norm(x, None, None, scale, shift, training=True)


for _gradient in (False, True):
    _extra, _of = ("-gradient", "gradient of ") if _gradient else ("", "")
    kernel(
        "softmax" + _extra,
        _of + "softmax [4096, 1024]",
        [SOFTMAX] * (1 + _gradient),
        [SOFTMAX_SMALL] * (1 + _gradient),
        tf1=lambda tf, x: tf.nn.softmax(x),
        numpy=None if _gradient else _softmax_numpy,
        jax=lambda jax, x: jax.nn.softmax(x),
        torch=lambda torch, x: torch.softmax(x, -1),
        pytensor=_pytensor_special("softmax"),
        gradient=_gradient,
        goals={"copy": 1.3},
        noise=None if _gradient else 1e-3,
    )
    kernel(
        "log-softmax" + _extra,
        _of + "log-softmax [4096, 1024]",
        [SOFTMAX] * (1 + _gradient),
        [SOFTMAX_SMALL] * (1 + _gradient),
        tf1=lambda tf, x: tf.nn.log_softmax(x),
        numpy=None if _gradient else _log_softmax_numpy,
        jax=lambda jax, x: jax.nn.log_softmax(x),
        torch=lambda torch, x: torch.log_softmax(x, -1),
        pytensor=_pytensor_special("log_softmax"),
        gradient=_gradient,
        goals={"copy": 1.3},
    )
    kernel(
        "layernorm" + _extra,
        _of + "layernorm [8192, 1024]",
        [NORM, (1024,), (1024,)] + [NORM] * _gradient,
        [NORM_SMALL, (32,), (32,)] + [NORM_SMALL] * _gradient,
        tf1=_norm_tf(1),
        numpy=None if _gradient else _norm_numpy(1),
        jax=_norm_jax(1),
        torch=lambda torch, x, scale, shift: torch.nn.functional.layer_norm(x, (x.shape[1],), scale, shift),
        pytensor=_norm_pytensor(1),
        gradient=_gradient,
        goals={"copy": 1.3},
    )
    kernel(
        "batchnorm" + _extra,
        _of + "batch norm [8192, 1024]",
        [NORM, (1024,), (1024,)] + [NORM] * _gradient,
        [NORM_SMALL, (32,), (32,)] + [NORM_SMALL] * _gradient,
        tf1=_norm_tf(0),
        numpy=None if _gradient else _norm_numpy(0),
        jax=_norm_jax(0),
        torch=_batchnorm_torch,
        pytensor=_norm_pytensor(0),
        gradient=_gradient,
        goals={"copy": 1.3},
    )
