"""Operations executed on the host by their NumPy meaning: state is passed to them, their errors become TensorFlow's."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.infer import MISUSED, check_shapes, incompatible, told_shapes
from jitgraph.compiler.open_variables import shapes_hold, uninitialized
from jitgraph.graph import errors, shapes
from jitgraph.graph.build import group_inputs
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from .memory import Elsewhere

if TYPE_CHECKING:
    from .state import State

OBJECTS = ("resource", "variant")       # dtypes of things of the host


def call(op: Operation, arrays: Sequence[Any], state: State) -> tuple[Any, ...]:
    """The output arrays of one operation.  Raises an OpError that names the operation and the user's line."""
    with np.errstate(all="ignore"):
        return HostCall(op, state)(arrays)


class HostCall:
    """An operation that is executed on the host again and again: what is the same for each time stands ready.

    Whoever calls it tells NumPy before, once for all calls of a run, not to warn of what numbers come to.
    """

    def __init__(self, op: Operation, state: State):
        self.op, self.opdef, self.state = op, op.opdef, state
        if self.opdef is None or self.opdef.value is None:
            raise errors.UnimplementedError(None, op, f"op {op.type} (node '{op.name}') has no implementation in jitgraph")
        self.named = {**self.opdef.arguments(self.opdef.value, op.attrs),
                      **{name: {"state": state, "op": op}[name] for name in self.opdef.context}}
        self.groups = None if not any(arg.is_list for arg in self.opdef.inputs) else \
            group_inputs(self.opdef, list(range(len(op.inputs))), op.attrs)
        self.lists = [arg.is_list for arg in self.opdef.outputs]
        self.outputs = [(k, t, _numpy_dtype(t), None if t.dtype.name in OBJECTS else t._shape) for k, t in enumerate(op.outputs)]
        self.fitting: list[Any] = [None] * len(op.outputs)      # the last shape of each that was seen to be as stated
        self.is_plain = self.groups is None and not self.opdef.stream
        self.is_single = len(self.lists) == 1 and not self.lists[0]
        self.passes = self._passes()
        self.function = functools.partial(self.opdef.value, **self.named) if self.named else self.opdef.value

    def _passes(self) -> Callable[[np.ndarray], bool] | None:
        """Of a check, whether its first input passes it, whatever the others are, which need not be looked at then."""
        passes, unknown = self.opdef.passes, [None] * (len(self.op.inputs) - 1)
        return None if passes is None or self.op.outputs else lambda first: passes(first, *unknown)

    def __call__(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The output arrays for these inputs."""
        op = self.op
        try:
            if self.is_plain:
                result = self.function(*arrays)
                results = (result,) if self.is_single else self._flat(result)
            else:
                results = self.meaning(arrays)
        except errors.OpError as error:
            raise located(error, op) from None
        except (*MISUSED, ZeroDivisionError, np.linalg.LinAlgError) as error:
            check_shapes(op, arrays)            # whose words say more, and are those of compiling
            raise incompatible(op, [np.shape(a) for a in arrays], error) from error
        except MemoryError as error:
            raise errors.ResourceExhaustedError(None, op, f"OOM when computing {op.name}: {error}") from None
        values = []
        for result, (k, tensor, dtype, stated) in zip(results, self.outputs):
            if type(result) is not np.ndarray or result.dtype is not dtype:
                result = _as_declared(result, tensor)
            values.append(result)
            if stated is not None and result.shape != self.fitting[k]:
                self._check_shape(k, arrays, results, result.shape)
        return tuple(values)

    def _check_shape(self, k: int, arrays: Sequence[Any], results: Sequence[Any], shape: tuple[int, ...]) -> None:
        stated = self.outputs[k][-1]
        if not shapes.compatible(stated, shape):
            self._check_results(arrays, tuple(results))
        else:
            self.fitting[k] = shape

    def _check_results(self, arrays: Sequence[Any], values: tuple[Any, ...]) -> None:
        """What a program says by set_shape counts only where the operation itself does not tell."""
        op = self.op
        if shapes_hold(op.graph):
            told = told_shapes(op, arrays)
            check_results(op, [t._shape if s is None or None in s else s for t, s in zip(op.outputs, told)], values)

    def meaning(self, arrays: Sequence[Any]) -> list[Any] | tuple[Any, ...]:
        """What the operation's NumPy meaning gives, one value per output."""
        opdef = self.opdef
        named = {**self.named, "stream": self.state.stream(self.op)} if opdef.stream else self.named
        if self.groups is None:
            result = opdef.value(*arrays, **named)
        else:
            given = [[arrays[k] for k in group] if isinstance(group, list) else arrays[group] for group in self.groups]
            result = opdef.value(*given, **named)
        return self._flat(result)

    def _flat(self, result: Any) -> list[Any] | tuple[Any, ...]:
        """One value per output, from what a declaration returns."""
        if len(self.lists) == 1:
            return result if self.lists[0] else (result,)
        flat: list[Any] = []
        for is_list, part in zip(self.lists, result or ()):
            flat.extend(part) if is_list else flat.append(part)
        return flat


def check_results(op: Operation, stated: Iterable[Sequence[Any] | None], values: Iterable[Any]) -> None:
    """Raises InvalidArgumentError for a value that has not the shape stated for it."""
    for value, tensor, shape in zip(values, op.outputs, stated):
        if not _fits(value, tensor, shape):
            raise unexpected_shape(tensor, np.shape(value), shape)


def _fits(value: Any, tensor: Tensor, shape: Sequence[Any] | None) -> bool:
    return tensor.dtype.name in OBJECTS or shapes.compatible(shape, np.shape(value))


def apart(results: Iterable[Any], arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Results in memory of their own, which later writes to `arrays`, the buffers of variables, do not change."""
    return tuple(np.array(r) if isinstance(r, np.ndarray) and any(np.may_share_memory(r, a) for a in arrays if a is not None)
                 else r for r in results)


def check(op: Operation, arrays: Sequence[Any]) -> None:
    """Computes what an operation that writes state would write, for the sake of the errors that it may raise."""
    try:
        with np.errstate(all="ignore"):
            op.opdef.value(*arrays, **op.opdef.arguments(op.opdef.value, op.attrs))
    except errors.OpError as error:
        raise located(error, op) from None
    except MISUSED as error:
        raise incompatible(op, [np.shape(a) for a in arrays], error) from error


def call_on_state(op: Operation, refs: dict[int, Operation], others: Iterable[Any], state: State,
                  needed: bool = True) -> tuple[Any, ...]:
    """An operation on variables: its NumPy meaning takes their present values and, if it writes, gives the new ones; nothing if
    that is not `needed`.

    Raises the error of `uninitialized` for a variable without a value; an operation that needs no value takes None for it.
    """
    with state.lock:
        return _on_state(op, refs, others, state, needed)


def _on_state(op: Operation, refs: dict[int, Operation], others: Iterable[Any], state: State, needed: bool) -> tuple[Any, ...]:
    opdef, rest = op.opdef, iter(others)
    arrays = [_present(state, refs[k]) if k in refs else next(rest) for k in range(len(op.inputs))]
    needs_value = opdef.needs_value and not opdef.assigns
    for k, variable in refs.items():
        if arrays[k] is None and needs_value:
            raise uninitialized(variable, op)
    if opdef.state != "write":
        return apart(call(op, arrays, state), arrays)
    if opdef.answers:
        return _answered(op, next(iter(refs.values())), arrays, state)
    before = np.array(arrays[0]) if needed and op.outputs and not op.outputs[0].dtype._is_ref_dtype else None
    try:
        written = [*zip(refs.values(), _new_values(op, refs, arrays, state))]
    except errors.OpError as error:
        raise located(error, op) from None
    except MISUSED as error:
        raise incompatible(op, [() if a is None else np.shape(a) for a in arrays], error) from error
    for variable, value in written:
        state.assign(variable, value)
    first = next(iter(refs.values()))
    return tuple(np.array(state.read(first)) if before is None else before for _ in op.outputs) if needed else ()


def _answered(op: Operation, variable: Operation, arrays: Sequence[Any], state: State) -> tuple[Any, ...]:
    """What an operation gives that writes its variable and gives something else."""
    try:
        new, *results = op.opdef.value(*arrays, **op.opdef.arguments(op.opdef.value, op.attrs))
    except errors.OpError as error:
        raise located(error, op) from None
    state.assign(variable, new)
    return tuple(_as_declared(result, tensor) for result, tensor in zip(results, op.outputs))


def _new_values(op: Operation, refs: dict[int, Operation], arrays: Sequence[Any], state: State) -> Iterator[np.ndarray]:
    """What an operation that writes gives to each of its variables."""
    function = getattr(op.opdef, "updates", None) or op.opdef.value
    with np.errstate(all="ignore"):
        new = function(*arrays, **op.opdef.arguments(function, op.attrs))
    for variable, value in zip(refs.values(), new if isinstance(new, tuple) else (new,)):
        dtype = variable.attrs["dtype"].base_dtype
        value = np.asarray(value).astype(dtype.as_numpy_dtype, copy=False)
        if op.opdef.assigns:
            _check_assigned(op, variable, value.shape, state)
        elif dtype.name != "string":
            value = np.broadcast_to(value, state.read(variable).shape)
        yield value


def _check_assigned(op: Operation, variable: Operation, shape: tuple[int, ...], state: State) -> None:
    """Raises InvalidArgumentError for an assignment of a shape that the variable may not have."""
    stated = variable.attrs["shape"]
    if variable.opdef.variable == "resource":
        fits = shapes.compatible(stated, shape)
    elif op.attrs["validate_shape"]:
        present = _present(state, variable)
        # TensorFlow takes a variable that has no value, and for which no shape was stated, for a scalar
        stated = (stated or ()) if present is None else present.shape
        fits = shapes.compatible(stated, shape)
    else:
        return
    if not fits:
        raise incompatible(op, [[("?" if d is None else d) for d in stated], shape], None)


def _present(state: State, variable: Operation) -> np.ndarray | None:
    found = state.variable(variable)
    return found.value() if found.initialized else None


def _numpy_dtype(tensor: Tensor) -> np.dtype | None:
    """The dtype of a value as it is declared; None for things of the host."""
    dtype = tensor.dtype.base_dtype
    if dtype.name in OBJECTS:
        return None
    return np.dtype(object if dtype.name == "string" else dtype.as_numpy_dtype)


def _as_declared(result: Any, tensor: Tensor) -> Any:
    """The value in the dtype that the graph declares."""
    dtype = tensor.dtype.base_dtype
    if dtype.name == "resource" and not isinstance(result, np.ndarray):     # NumPy unpacks what it picks from an array
        array = np.empty((), object)
        array[()] = result
        return array
    if dtype.name in OBJECTS or isinstance(result, Elsewhere):
        return result
    return np.asarray(result, dtype=object if dtype.name == "string" else dtype.as_numpy_dtype)


def unexpected_shape(tensor: Tensor, shape: tuple[int, ...], planned: Sequence[Any] | None) -> errors.InvalidArgumentError:
    """The error for a value of another shape than the graph states, or a plan was made for."""
    return errors.InvalidArgumentError(None, tensor.op, f"The value of {tensor.name} has shape {list(shape)}, but the "
                                                        f"graph states {shapes.brackets(planned)} (set_shape?)")


def located(error: errors.OpError, op: Operation) -> errors.OpError:
    """The same error, naming the operation (whose creation line the message shows)."""
    if getattr(error, "op", None) is not None:
        return error
    more = (error.error_code,) if type(error) is errors.OpError else ()       # which the other classes know themselves
    return type(error)(None, op, getattr(error, "message", None) or str(error), *more)
