"""Operations executed on the host by their NumPy meaning: state is passed to them, their errors become TensorFlow's."""
from __future__ import annotations

import numpy as np

from jitgraph.compiler.lower import is_closed
from jitgraph.compiler.specialize import incompatible
from jitgraph.graph import errors

from .state import uninitialized


def call(op, arrays, state) -> tuple:
    """The output arrays of one operation.  Raises an OpError that names the operation and the user's line."""
    opdef = op.opdef
    if opdef is None or opdef.value is None:
        raise errors.UnimplementedError(None, op, f"op {op.type} (node '{op.name}') has no implementation in jitgraph")
    extra = {}
    if getattr(opdef, "stream", False):
        extra["stream"] = state.stream(op)
    for name in getattr(opdef, "context", ()) or ():
        extra[name] = {"state": state, "op": op}[name]
    try:
        with np.errstate(all="ignore"):
            results = evaluate(opdef, arrays, op.attrs, extra)
    except errors.OpError as error:
        raise located(error, op) from None
    except (ValueError, IndexError, ZeroDivisionError, np.linalg.LinAlgError) as error:
        raise incompatible(op, [np.shape(a) for a in arrays], error) from error
    return tuple(_as_declared(r, t) for r, t in zip(results, op.outputs))


def check(op, arrays):
    """Computes what an operation that writes state would write, for the sake of the errors that it may raise."""
    try:
        with np.errstate(all="ignore"):
            op.opdef.value(*arrays, **op.opdef.arguments(op.opdef.value, op.attrs))
    except errors.OpError as error:
        raise located(error, op) from None


# operations on variables that work on one without a value
NEED_NO_VALUE = ("Assign", "AssignVariableOp", "IsVariableInitialized", "VarIsInitializedOp")


def call_on_state(op, refs: dict, others, state) -> tuple:
    """An operation on variables: its NumPy meaning takes their present values and, if it writes, gives the new ones.

    Raises FailedPreconditionError for a variable without a value; those of NEED_NO_VALUE take None for it.
    """
    with state.lock:
        return _on_state(op, refs, others, state)


def _on_state(op, refs, others, state) -> tuple:
    opdef, rest = op.opdef, iter(others)
    arrays = [_present(state, refs[k]) if k in refs else next(rest) for k in range(len(op.inputs))]
    needs_value = op.type not in NEED_NO_VALUE
    for k, variable in refs.items():
        if arrays[k] is None and needs_value:
            raise uninitialized(variable)
    if opdef.state != "write":
        return call(op, arrays, state)
    updates = getattr(opdef, "updates", None)
    with np.errstate(all="ignore"):
        if updates is not None:
            new = updates(*arrays, **opdef.arguments(updates, op.attrs))
        else:
            try:
                new = opdef.value(*arrays, **opdef.arguments(opdef.value, op.attrs))
            except errors.OpError as error:
                raise located(error, op) from None
    new = new if isinstance(new, tuple) else (new,)
    before = np.array(arrays[0]) if op.outputs and not op.outputs[0].dtype._is_ref_dtype else None
    for variable, value in zip(refs.values(), [np.asarray(v) for v in new]):
        dtype = variable.attrs["dtype"].base_dtype
        value = value.astype(dtype.as_numpy_dtype, copy=False)
        if not needs_value and is_closed(variable) and value.shape != tuple(variable.attrs["shape"]):
            raise errors.InvalidArgumentError(None, op, "Assign requires shapes of both tensors to match. lhs shape= "
                                              f"{list(variable.attrs['shape'])} rhs shape= {list(value.shape)}")
        state.assign(variable, value if dtype.name == "string" or not is_closed(variable)
                     else np.broadcast_to(value, tuple(variable.attrs["shape"])))
    first = next(iter(refs.values()))
    return tuple(np.array(state.read(first)) if before is None else before for _ in op.outputs)


def _present(state, variable):
    found = state.variable(variable)
    return found.array if found.initialized else None


def evaluate(opdef, arrays, attrs, extra) -> tuple:
    if not extra:
        return opdef.evaluate(list(arrays), attrs)
    from jitgraph.graph.build import group_inputs

    result = opdef.value(*group_inputs(opdef, list(arrays), attrs), **opdef.arguments(opdef.value, attrs), **extra)
    if len(opdef.outputs) == 1 and not opdef.outputs[0].is_list:
        return (result,)
    flat: list = []
    for arg, part in zip(opdef.outputs, [result] if len(opdef.outputs) == 1 else (result or ())):
        flat.extend(part) if arg.is_list else flat.append(part)
    return tuple(flat)


def _as_declared(result, tensor):
    """The value in the dtype that the graph declares, checked against the shape that it states."""
    dtype = tensor.dtype.base_dtype
    if dtype.name == "resource" and not isinstance(result, np.ndarray):     # NumPy unpacks what it picks from an array
        array = np.empty((), object)
        array[()] = result
        return array
    if dtype.name in ("resource", "variant"):
        return result
    array = np.asarray(result, dtype=object if dtype.name == "string" else dtype.as_numpy_dtype)
    static = tensor._shape
    if static is not None and array.shape != static and (len(static) != array.ndim or any(
            s is not None and s != d for s, d in zip(static, array.shape))):
        # memory and kernels are planned for the shape in the graph, so a wrong one must not get through
        raise errors.InvalidArgumentError(None, tensor.op, f"The value of {tensor.name} has shape {list(array.shape)}, "
                                                           f"but the graph states {tensor.shape} (set_shape?)")
    return array


def located(error, op):
    """The same error, naming the operation (whose creation line the message shows)."""
    if getattr(error, "op", None) is not None:
        return error
    return type(error)(None, op, getattr(error, "message", None) or str(error))
