"""``tensorflow.python.eager.tape`` and ``execute``: nothing runs without a graph, so no tape records; arguments are checked."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NoReturn

from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.shapes import TensorShape
from jitgraph.protobuf import messages

_GRAPHS = "jitgraph builds graphs: {} is called only where operations run by themselves"


def could_possibly_record() -> bool:
    """False: a gradient is taken of the graph, whenever it is asked for."""
    return False


def should_record(tensors: Any) -> bool:
    """False: nothing is recorded."""
    return False


@contextlib.contextmanager
def stop_recording() -> Iterator[None]:
    """A block in which nothing is recorded, as everywhere."""
    yield


def variable_accessed(variable: Any) -> None:
    """Nothing: no tape watches."""


variables_accessed = variable_accessed


def watch(tape: Any, tensor: Any) -> None:
    """Lets a ``tf.GradientTape`` watch a tensor."""
    tape.watch(tensor)


watch_variable = watch


def delete_trace(tensor_id: Any) -> None:
    """Nothing: no tape keeps a tensor."""


def record_operation(op_type: Any, output_tensors: Any, input_tensors: Any, backward_function: Any) -> None:
    """Nothing: the graph keeps its operations."""


def execute(op_name: str, num_outputs: int, inputs: Any, attrs: Any, ctx: Any, name: str | None = None) -> NoReturn:
    """Raises NotImplementedError: there is nothing that runs an op by itself."""
    raise NotImplementedError(_GRAPHS.format("execute"))


quick_execute = execute_with_callbacks = execute


def _refuse(kind: str, name: str, value: Any) -> TypeError:
    return TypeError(f"Expected {kind} for argument '{name}' not {value!r}.")


def make_bool(v: Any, arg_name: str) -> bool:
    """The bool of an argument.  Raises TypeError for anything else."""
    if not isinstance(v, bool):
        raise _refuse("bool", arg_name, v)
    return v


def make_int(v: Any, arg_name: str) -> int:
    """The int of an argument.  Raises TypeError for text and what is no number."""
    if isinstance(v, str):
        raise _refuse("int", arg_name, v)
    try:
        return int(v)
    except (ValueError, TypeError):
        raise _refuse("int", arg_name, v) from None


def make_float(v: Any, arg_name: str) -> float:
    """The float of an argument.  Raises TypeError for anything but a number."""
    if not hasattr(v, "__float__"):
        raise _refuse("float", arg_name, v)
    return float(v)


def make_str(v: Any, arg_name: str) -> bytes:
    """The bytes of an argument.  Raises TypeError for anything but text."""
    if not isinstance(v, (bytes, str)):
        raise _refuse("string", arg_name, v)
    return v.encode() if isinstance(v, str) else v


def make_type(v: Any, arg_name: str) -> int:
    """The number of a dtype.  Raises TypeError for what is none."""
    try:
        dtype: DType = as_dtype(v).base_dtype
    except TypeError:
        raise _refuse("DataType", arg_name, v) from None
    return dtype.as_datatype_enum


def make_shape(v: Any, arg_name: str) -> Any:
    """The sizes of a shape, None of an unknown one.  Raises TypeError, ValueError for what is none."""
    try:
        shape = TensorShape(v)
    except TypeError as error:
        raise TypeError(f"Error converting {arg_name} to a TensorShape: {error}.") from error
    except ValueError as error:
        raise ValueError(f"Error converting {arg_name} to a TensorShape: {error}.") from error
    return None if shape.ndims is None else shape.as_list()


def make_tensor(v: Any, arg_name: str) -> Any:
    """A TensorProto, of its text too.  Raises TypeError for anything else."""
    if isinstance(v, messages.TensorProto):
        return v
    if isinstance(v, bytes):
        return messages.TensorProto.FromString(v)
    raise TypeError(f"Don't know how to convert {v!r} to a TensorProto for argument '{arg_name}'.")
