"""What the tests over the registry share: the cases of an op, nodes for a case, and how close numbers must be."""
from __future__ import annotations

import functools
import inspect
import zlib
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from jitgraph.declare import samples as sampling
from jitgraph.declare.op import NOT_DIFFERENTIABLE
from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import DType
from jitgraph.graph.op_types import OpDef
from jitgraph.graph.registry import load_all
from jitgraph.ops.random.philox import Stream
from jitgraph.runtime import hostcall

# relative and absolute tolerance of results that differ in the order of operations only
CLOSE = {"bfloat16": 2e-2, "float16": 4e-3, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-11, "complex128": 1e-11}


@dataclass
class Case:
    """One set of inputs and attributes of an op."""

    opdef: OpDef
    dtype: DType | None
    inputs: list
    attrs: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        shapes = [[np.shape(a) for a in x] if isinstance(x, list) else np.shape(x) for x in self.inputs]
        return f"{self.opdef.type} {self.dtype.name if self.dtype else ''} shapes {shapes} attrs {self.attrs}"


def all_ops() -> list[OpDef]:
    """All ops, without those that other tests declare."""
    return [opdef for _, opdef in sorted(load_all().items()) if opdef.value.__module__.startswith("jitgraph.")]


def samples_of(opdef: OpDef) -> Any:
    """The function of samples of an op: its own, or of broadcasting random inputs."""
    if opdef.samples is not None:
        return opdef.samples
    drawable = not opdef.tested_in and not opdef.stateful and opdef.state is None and not any(a.is_list or a.is_ref
                                                                                              for a in opdef.inputs)
    required = [a for a in opdef.attrs.values() if not a.implied and a.default is _REQUIRED]
    if not drawable or required or opdef.context:
        return None
    if opdef.scalar is not None or len(opdef.inputs) == 1 and opdef.inputs[0].type_attr:
        return functools.partial(_default_samples, opdef)
    return None


def _required() -> Any:
    from jitgraph.graph.signature import REQUIRED

    return REQUIRED


_REQUIRED = _required()


def _default_samples(opdef: OpDef, rng: np.random.Generator, dtype: Any) -> list:
    kinds = [arg.dtype.as_numpy_dtype if arg.dtype is not None else dtype for arg in opdef.inputs]
    return [[sampling.draw(rng, shape, kind) for shape, kind in zip(shapes, kinds)]
            for shapes in sampling.SHAPES[len(kinds)]]


def main_attr(opdef: OpDef) -> Any:
    """The type attribute that an op's cases run over: T, dtype, or that of the first input that has one."""
    named = [arg.type_attr for arg in opdef.inputs if arg.type_attr is not None]
    if not named:
        return None
    return opdef.attrs[next((name for name in ("T", "dtype") if name in named), named[0])]


_EVERYTHING = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.uint8, dtypes.bool_, dtypes.complex64,
               dtypes.string)


def dtypes_of(opdef: OpDef) -> list:
    """The dtypes that an op's cases run over; [None] if it has no type attribute."""
    attr = main_attr(opdef)
    if attr is None:
        return [None]
    allowed = attr.allowed if attr.allowed is not None else _EVERYTHING
    return [d for d in allowed if d not in (dtypes.resource, dtypes.variant) and not d.is_quantized]


def cases(opdef: OpDef, dtype: DType | None) -> list[Case]:
    samples = samples_of(opdef)
    if samples is None:
        return []
    rng = np.random.default_rng(zlib.crc32(opdef.type.encode()))
    numpy_dtype = np.dtype(dtype.as_numpy_dtype) if dtype is not None else None
    found = []
    for sample in samples(rng, numpy_dtype):
        arrays, attrs = sample if isinstance(sample, tuple) else (sample, {})
        found.append(Case(opdef, dtype, [[_array(one) for one in a] if isinstance(a, list) else _array(a)
                                         for a in arrays], attrs))
    return found


def _array(value: Any) -> np.ndarray:
    return np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value)


def on_variables(opdef: OpDef) -> bool:
    """Whether an op works on variables themselves, for which the first arrays of its samples stand."""
    return opdef.state is not None and not opdef.variable


def differentiable(opdef: OpDef) -> bool:
    return opdef.grad is not None and opdef.grad is not NOT_DIFFERENTIABLE


def build(tf: Any, case: Case, shape: Any = "constant", feeds: dict | None = None) -> list:
    """The outputs of a node for a case.  `shape`: "constant", "known", "sizes unknown", "sizes computed" (by the run) or
    "rank unknown" inputs.

    All but constants are placeholders, added to `feeds`; inputs that are not of the op's main dtype (axes, sizes) stay
    constants as long as sizes are known, as they are in programs.
    """
    attr = main_attr(case.opdef)
    arguments = []
    for arg, value in zip(case.opdef.inputs, case.inputs):
        data = attr is None or arg.type_attr == attr.name
        kind = shape if data or shape == "rank unknown" else "constant"
        if isinstance(value, list):
            arguments.append([_tensor(tf, one, kind, feeds) for one in value])
        else:
            arguments.append(_tensor(tf, value, kind, feeds))
    result = case.opdef.builder(*arguments, **case.attrs)
    if isinstance(result, tf.Tensor):
        return [result]
    if isinstance(result, tf.Operation):
        return []
    return [t for part in result for t in (part if isinstance(part, list) else [part])]


def _tensor(tf: Any, array: np.ndarray, kind: str, feeds: dict | None) -> Any:
    if kind == "constant":
        return tf.constant(array)
    if kind == "sizes computed":        # the run takes away the first of each axis
        return _tensor(tf, _with_more(array), "sizes unknown", feeds)[(slice(1, None),) * array.ndim]
    shape = {"known": array.shape, "sizes unknown": [None] * array.ndim, "rank unknown": None}[kind]
    dtype = tf.string if array.dtype == object else tf.as_dtype(array.dtype)
    placeholder = tf.placeholder(dtype, shape)
    if feeds is not None:
        feeds[placeholder] = array
    return placeholder


def _with_more(array: np.ndarray) -> np.ndarray:
    """The array with one more element before the first along every axis."""
    more = np.full([d + 1 for d in array.shape], array.flat[0] if array.size else b"" if array.dtype == object else 0, array.dtype)
    more[(slice(1, None),) * array.ndim] = array
    return more


def value(case: Case, node: Any) -> tuple:
    """The NumPy value of a node made for a case."""
    flat = [a for x in case.inputs for a in (x if isinstance(x, list) else [x])]
    state = SimpleNamespace(stream=lambda op: Stream())         # at its beginning, as in the first run of a session
    with np.errstate(all="ignore"):
        return tuple(hostcall.HostCall(node, state).meaning(flat))


def reference(case: Case, node: Any) -> Any:
    """What the independent reference gives, floats computed in double precision."""
    wide = [[_wide(a) for a in x] if isinstance(x, list) else _wide(x) for x in case.inputs]
    function = case.opdef.reference
    attrs = {}
    if not isinstance(function, np.ufunc):
        accepted = inspect.signature(function).parameters
        every = any(p.kind is p.VAR_KEYWORD for p in accepted.values())
        attrs = {name: node.attrs[name] for name in case.opdef.given if every or name in accepted}
    with np.errstate(all="ignore"):
        found = function(*wide, **attrs)
    return found if isinstance(found, tuple) else (found,)


def _wide(array: np.ndarray) -> np.ndarray:
    if array.dtype.name in ("bfloat16", "float16", "float32"):
        return array.astype(np.float64)
    return array.astype(np.complex128) if array.dtype == np.complex64 else array


def assert_close(got: Any, wanted: Any, case: Any, what: str) -> None:
    """Equal shapes and dtypes; equal numbers, or as close as the dtype allows."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.shape == wanted.shape, f"{what} of {case}: shape {got.shape}, not {wanted.shape}"
    tolerance = CLOSE.get(got.dtype.name)
    if tolerance is None:
        if not np.array_equal(got, wanted):
            raise AssertionError(f"{what} of {case}:\n{got}\nnot\n{wanted}\ninputs {case.inputs}")
        return
    kind = np.complex128 if got.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(got.astype(kind), wanted.astype(kind), rtol=tolerance, atol=tolerance,
                               err_msg=f"{what} of {case}, inputs {case.inputs}")
