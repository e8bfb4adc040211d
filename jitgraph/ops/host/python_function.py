"""Python functions as nodes: ``tf.py_func``, ``tf.numpy_function``, ``tf.py_function``.

A node names its function by a token, as in TensorFlow; the function lives as long as the graph that calls it.
"""
from __future__ import annotations

import itertools
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import tracebacks
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import errors
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.tensor import Tensor


class _Function:
    """A registered function.  Graphs hold it strongly, the table of tokens weakly."""

    __slots__ = ("__weakref__", "function")

    def __init__(self, function: Callable):
        self.function = function


_functions: weakref.WeakValueDictionary[str, _Function] = weakref.WeakValueDictionary()
_numbers = itertools.count()


def register(function: Callable, prefix: str = "pyfunc") -> str:
    """A token for `function`, which the default graph (and the graphs around it) keep alive."""
    if not callable(function):
        raise ValueError(f"Expected func to be callable, got func of type {type(function)}")
    token, kept = f"{prefix}_{next(_numbers)}", _Function(function)
    _functions[token] = kept
    graph: Any = get_default_graph()
    while graph is not None:
        graph.per_graph("python_functions", list).append(kept)
        graph = graph.outer_graph
    return token


def registered(token: str) -> Any:
    """The function of a token.  Raises ValueError if it is not of this process, or its graph is gone."""
    found = _functions.get(token)
    if found is None:
        raise ValueError(f"callback {token} is not found: the function belongs to another process or to a graph that is gone; "
                         "make the node again")
    return found.function


def _called(token: str, arguments: list, wanted: list, convert: Callable) -> list:
    """The arrays that the function of `token` gives for `arguments`, checked against the dtypes `wanted`."""
    try:
        results = _as_list(registered(token)(*arguments))
        arrays = [convert(value, dtype) for value, dtype in zip(results, [*wanted, *[None] * len(results)])]
    except errors.OpError as error:
        if error.op is None and isinstance(error, errors.InternalError):
            raise
        raise _as_op_error(error) from error
    except Exception as error:
        raise _as_op_error(error) from error
    if len(arrays) != len(wanted):
        raise errors.InvalidArgumentError(None, None, f"{token} returns {len(arrays)} values, but expects to see "
                                                      f"{len(wanted)} values.")
    for k, (array, dtype) in enumerate(zip(arrays, wanted)):
        if array.dtype != dtype.as_numpy_dtype:
            raise errors.InvalidArgumentError(
                None, None, f"{k}-th value returned by {token} is {_c_name(array.dtype)}, but expects "
                            f"{_c_name(dtype.as_numpy_dtype)}")
    return arrays


def _argument(array: np.ndarray) -> Any:
    """What the function gets for an input: a scalar, or a copy, since it may keep the array beyond this run."""
    return array[()] if array.ndim == 0 else np.array(array)


def _as_list(result: Any) -> list:
    if result is None:
        return []
    return list(result) if isinstance(result, (list, tuple)) else [result]


def _as_array(value: Any, dtype: Any = None) -> np.ndarray:
    """A result as an array in the dtype that NumPy gives it; strings as an object array of bytes."""
    if isinstance(value, Tensor):
        raise TypeError(f"the function returned {value}, a node of a graph; it runs while the graph runs, and has to "
                        "compute with NumPy")
    array = np.array(value, order="C")
    if array.dtype.kind == "V" and array.dtype.names:
        raise errors.InternalError(None, None, f"Unsupported numpy data type {array.dtype}")
    if array.dtype.kind not in "SUO":
        return array
    strings = np.empty(array.shape, object)
    for index in np.ndindex(array.shape):
        item = array[index]
        if not isinstance(item, (bytes, str)):
            raise errors.InternalError(None, None, f"Unsupported object type {type(item).__name__}")
        strings[index] = item.encode() if isinstance(item, str) else bytes(item)
    return strings


def _as_declared(value: Any, dtype: Any) -> np.ndarray:
    """A result converted to the declared dtype, as ``tf.py_function`` does."""
    array = _as_array(value)
    return array if dtype is None or array.dtype == object else array.astype(dtype.as_numpy_dtype)


def _c_name(numpy_dtype: Any) -> str:
    name = "string" if numpy_dtype == object else as_dtype(numpy_dtype).name
    return {"float32": "float", "float64": "double", "float16": "half"}.get(name, name)


_CODES: list[tuple[tuple[type[BaseException], ...], type[errors.OpError]]] = [
    ((ValueError, TypeError), errors.InvalidArgumentError),
    ((StopIteration,), errors.OutOfRangeError),
    ((MemoryError,), errors.ResourceExhaustedError),
    ((NotImplementedError,), errors.UnimplementedError),
]


def _as_op_error(error: Exception) -> errors.OpError:
    """TensorFlow's class for what the function raised; the message is the function's traceback, in which our frames lack."""
    kind: Any = next((to for of, to in _CODES if isinstance(error, of)), errors.UnknownError)
    with tracebacks.short(error, inside=True):
        text = "".join(traceback.format_exception(error))
    return kind(None, None, f"{type(error).__name__}: {error}\n{text}")


@op("PyFunc(input: [Tin]; token: string, Tout: list(type)) -> output: [Tout]", stateful=True, outward=True, host=True,
    grad=NOT_DIFFERENTIABLE, tested_in="tests/ops/test_python_function.py: a function")
def _py_func(input, token, Tout):
    """What a Python function gives for the inputs; it may have effects."""
    return _called(token, [_argument(array) for array in input], Tout, _as_array)


# `context`: the function is called when the node runs, never to fold a constant
@op("PyFuncStateless(input: [Tin]; token: string, Tout: list(type)) -> output: [Tout]", host=True, context=("op",),
    grad=NOT_DIFFERENTIABLE, tested_in="tests/ops/test_python_function.py: a function")
def _py_func_stateless(input, token, Tout, op):
    """What a Python function without effects gives for the inputs."""
    return _called(token, [_argument(array) for array in input], Tout, _as_array)


@op("EagerPyFunc(input: [Tin]; token: string, is_async: bool = false, Tout: list(type)) -> output: [Tout]",
    stateful=True, outward=True, host=True, tested_in="tests/ops/test_python_function.py: a function")
def _eager_py_func(input, token, Tout):
    """What a Python function gives for the inputs, which have a method numpy(); converted to the declared dtypes."""
    return _called(token, [np.array(array).view(Value) for array in input], Tout, _as_declared)


@_eager_py_func.gradient
def _(op, *grads):
    raise LookupError(f"The gradient of tf.py_function ('{op.name}') needs eager execution, which jitgraph has not. Give "
                      "the function's own gradient with tf.custom_gradient, or write it in tf.* ops.")


class Value(np.ndarray):
    """An array that also answers ``numpy()``: what the function of ``tf.py_function`` gets."""

    def numpy(self) -> Any:
        """The plain array, or scalar."""
        return np.asarray(self)[()]


def _node(builder: Any, func: Callable, inp: Any, Tout: Any, name: str | None) -> Any:
    token = register(func)
    if isinstance(Tout, (list, tuple)):
        return builder(inp, token=token, Tout=list(Tout), name=name)
    return builder(inp, token=token, Tout=[Tout], name=name)[0]


def py_func(func: Callable, inp: Any, Tout: Any, stateful: bool = True, name: str | None = None) -> Any:
    """A node that calls ``func(*arrays)`` whenever it runs.

    `inp`: a list of tensors, given to the function as ndarrays (scalars as NumPy scalars, strings as bytes).  `Tout`:
    the dtype of the result, or a list of them for a function that returns a list (an empty one for a function that
    returns None).  `stateful=False` allows the node to be left out or run twice.  Static shapes are unknown: the
    function decides.  A run raises InvalidArgumentError if the results differ from `Tout` in number or dtype, and what
    the function raises as: ValueError, TypeError -> InvalidArgumentError; StopIteration -> OutOfRangeError;
    MemoryError -> ResourceExhaustedError; NotImplementedError -> UnimplementedError; others -> UnknownError.
    """
    return _node(_py_func if stateful else _py_func_stateless, func, inp, Tout, name)


def numpy_function(func: Callable, inp: Any, Tout: Any, name: str | None = None) -> Any:
    """As ``py_func``, under its name in TensorFlow 2."""
    return py_func(func, inp, Tout, True, name)


def py_function(func: Callable, inp: Any, Tout: Any, name: str | None = None) -> Any:
    """As ``py_func``, for functions that call ``.numpy()`` on their arguments; results are converted to `Tout`.

    There is no eager mode: inside, compute with NumPy.  It has no gradient.
    """
    return _node(_eager_py_func, func, inp, Tout, name)
