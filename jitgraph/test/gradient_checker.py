"""Symbolic derivatives against differences: ``tf.test.compute_gradient`` and ``compute_gradient_error``."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.autodiff.gradients import gradients
from jitgraph.graph import dtypes
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.stack import get_default_session

_ALLOWED = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


def default_session() -> Any:
    """The default session.  Raises ValueError if there is none."""
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session: call it inside `with tf.Session():`.")
    return session


def _reals(array: np.ndarray) -> np.ndarray:
    """The elements as a flat real array that shares memory: complex ones as real and imaginary part."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _numeric(run: Any, value: np.ndarray, y_size: int, delta: float) -> np.ndarray:
    """The Jacobian by central differences: rows are the elements of x, columns those of y."""
    point = value.copy()
    parts = _reals(point)
    jacobian = np.zeros((parts.size, y_size))
    step = np.asarray(delta, parts.dtype)
    for row in range(parts.size):
        before = parts[row]
        parts[row] = before + step
        above = _reals(np.array(run(point)))
        parts[row] = before - step
        below = _reals(np.array(run(point)))
        parts[row] = before
        jacobian[row] = (above.astype(np.float64) - below.astype(np.float64)) / (2 * float(delta))
    return jacobian


def _symbolic(run: Any, y_shape: tuple, y_dtype: Any, x_shape: tuple, x_dtype: Any) -> np.ndarray:
    """The Jacobian column by column: the gradient with a weight of one at one element of y."""
    weights = np.zeros(y_shape, y_dtype)
    parts = _reals(weights)
    x_parts = int(np.prod(x_shape)) * (2 if np.dtype(x_dtype).kind == "c" else 1)
    jacobian = np.zeros((x_parts, parts.size))
    for column in range(parts.size):
        parts[column] = 1
        jacobian[:, column] = _reals(np.asarray(_dense(run(weights), x_shape), x_dtype).copy())
        parts[column] = 0
    return jacobian


def _dense(grad: Any, shape: tuple) -> np.ndarray:
    if not hasattr(grad, "indices"):
        return grad
    full = np.zeros(shape, grad.values.dtype)
    np.add.at(full, grad.indices, grad.values)
    return full


def _checked(x: Any, x_shape: Any, y: Any, y_shape: Any, value: Any, delta: float, feeds: dict) -> tuple:
    session = default_session()
    target = convert_to_tensor(x)
    y = convert_to_tensor(y)
    for tensor, what in ((target, "x"), (y, "y")):
        if tensor.dtype.base_dtype not in _ALLOWED:
            raise AssertionError(f"Don't support type {tensor.dtype.name} for {what}")
    x_shape, y_shape = tuple(x_shape), tuple(y_shape)
    x_dtype, y_dtype = target.dtype.as_numpy_dtype, y.dtype.as_numpy_dtype
    if value is None:
        value = np.random.random_sample(x_shape)
    value = np.array(value, x_dtype)
    if value.shape != x_shape:
        raise AssertionError(f"x_init_value has shape {value.shape}, x_shape is {x_shape}")
    with y.graph.as_default():
        weights = raw.Identity(convert_to_tensor(np.ones(y_shape, y_dtype)))
        grad = gradients(y, x, weights)[0]
    if grad is None:
        raise AssertionError(f"y ({y.name}) does not depend on x ({target.name}) in a differentiable way")
    fetch = grad if isinstance(grad, IndexedSlices) else convert_to_tensor(grad)
    theoretical = _symbolic(lambda w: session.run(fetch, {**feeds, x: value, weights: w}), y_shape, y_dtype, x_shape,
                            x_dtype)
    numeric = _numeric(lambda point: session.run(y, {**feeds, x: point}), value, theoretical.shape[1], delta)
    return theoretical, numeric


def compute_gradient(x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3,
                     init_targets: Any = None, extra_feed_dict: Any = None) -> Any:
    """The Jacobian of y with respect to x, symbolic and by differences of `delta`: two arrays [size of x, size of y].

    `x` is a tensor, or a list of them (then lists of shapes and values, and a list of pairs).  `x_init_value` is where
    (random by default), `init_targets` are run first, `extra_feed_dict` is fed besides.  Needs a default session.
    Complex numbers count as two real ones.
    """
    feeds = dict(extra_feed_dict or {})
    if init_targets is not None:
        session = default_session()
        for target in init_targets if isinstance(init_targets, (list, tuple)) else [init_targets]:
            session.run(target)
    if not isinstance(x, (list, tuple)):
        return _checked(x, x_shape, y, y_shape, x_init_value, delta, feeds)
    values = [None] * len(x) if x_init_value is None else x_init_value
    values = [np.random.random_sample(tuple(s)).astype(convert_to_tensor(t).dtype.as_numpy_dtype) if v is None else v
              for t, s, v in zip(x, x_shape, values)]
    pairs = []
    for index, one in enumerate(x):
        others = {t: v for position, (t, v) in enumerate(zip(x, values)) if position != index}
        pairs.append(_checked(one, x_shape[index], y, y_shape, values[index], delta, {**feeds, **others}))
    return pairs


def compute_gradient_error(x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3,
                           init_targets: Any = None, extra_feed_dict: Any = None) -> float:
    """The largest difference between the two Jacobians of ``compute_gradient``."""
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = found if isinstance(found, list) else [found]
    errors = [np.max(np.abs(symbolic - numeric)) for symbolic, numeric in pairs if symbolic.size]
    return float(max(errors, default=0.0))
