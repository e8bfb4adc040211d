"""Python functions of scalars that are compiled into kernels: ``jitgraph.kernel_func``.

A node names its function by a token, as a node of ``tf.py_func`` does; it cannot be loaded in another process.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.kernel_trace import Untraceable, trace
from jitgraph.declare.op import op
from jitgraph.declare.scalar_expression import NoDerivative, derivative, evaluate
from jitgraph.graph import errors, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.elementwise.broadcasting import Unbroadcast
from jitgraph.ops.host.python_function import register, registered


class KernelFunction:
    """A function of scalars with its dtypes: an expression if it can be traced, else compiled by Numba for the host."""

    def __init__(self, function: Callable, inputs: list[DType], outputs: list[DType], gradient: Callable | None = None,
                 results: list | None = None):
        self.function, self.inputs, self.outputs, self.gradient = function, inputs, outputs, gradient
        self.name = getattr(function, "__name__", type(function).__name__)
        self.reason = ""                    # why there is no expression
        self.results = results
        self._compiled: Any = None
        if results is None:
            try:
                self.results = trace(function, inputs, len(outputs))
            except Untraceable as error:
                self.reason = str(error)
                self._compile()             # so that what Numba cannot compile is refused here and not in a run

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """The results for arrays that broadcast."""
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        if self.results is not None:
            with np.errstate(all="ignore"):
                found = evaluate(self.results, list(arrays))
        else:
            found = self._compile()(*arrays)
        return [np.ascontiguousarray(np.broadcast_to(np.asarray(value).astype(dtype.as_numpy_dtype), shape))
                for value, dtype in zip(found, self.outputs)]

    def _compile(self) -> Callable:
        """A loop around the function, compiled by Numba.  Raises ValueError, in its own words, if Numba refuses."""
        if self._compiled is not None:
            return self._compiled
        from numba import njit, vectorize
        from numba.core.errors import NumbaError

        inner, names = njit(error_model="numpy")(self.function), ", ".join(f"x{k}" for k in range(len(self.inputs)))
        try:
            inner.compile(tuple(_numba_type(d) for d in self.inputs))
        except NumbaError as error:
            raise ValueError(_refusal(self.name, self.inputs, self.reason, error)) from None
        scope = {"inner": inner}
        parts = [""] if len(self.outputs) == 1 else [f"[{k}]" for k in range(len(self.outputs))]
        loops = [vectorize(nopython=True)(eval(f"lambda {names}: inner({names}){part}", scope)) for part in parts]
        self._compiled = lambda *arrays: [loop(*arrays) for loop in loops]
        return self._compiled

    def slopes(self) -> list:
        """For each input the sum over the outputs of (gradient of the output) * (derivative), as expressions.

        The gradients of the outputs are the inputs that follow the function's own.
        """
        if self.results is None:
            raise NoDerivative(f"it cannot be traced ({self.reason})")
        count = len(self.inputs)
        found = []
        for k in range(count):
            total: Any = 0.0
            for position, result in enumerate(self.results):
                slope = derivative(result, k)
                if hasattr(slope, "trace") or slope != 0:
                    maker = next(r.trace for r in self.results if hasattr(r, "trace"))
                    incoming = maker.input(count + position, self.outputs[position])
                    total = incoming * slope + total
            found.append(total)
        return found


def _numba_type(dtype: DType) -> Any:
    from numba import from_dtype

    return from_dtype(np.dtype(dtype.as_numpy_dtype))


def _refusal(name: str, inputs: list[DType], reason: str, error: Exception) -> str:
    lines = (line.strip() for line in str(error).splitlines())
    said = next((line for line in lines if line and not line.startswith(("Failed in", "File", "During", "-", ">>>"))),
                type(error).__name__)
    kinds = ", ".join(d.name for d in inputs)
    return (f"kernel_func cannot compile {name}({kinds}): {said}. It is a function of single numbers: use operators, math.*, "
            f"NumPy's functions of one element, if and loops, or call it with tf.py_func. (It has no plain expression: {reason}.)")


def _lower(b: Any, input: Any, token: str, Tout: list) -> Any:
    kernel = registered(token)
    if kernel.results is None:
        return NotImplemented
    shape = b.common_shape(input)
    return [b.broadcast(b.cast(b.lift(value, dtype), dtype), shape)
            for value, dtype in zip(evaluate(kernel.results, list(input)), Tout)]


@op("KernelFunc(input: [Tin]; Tin: list(type) >= 1, token: string, Tout: list(type) >= 1) -> output: [Tout]",
    shape=lambda c: [shape_rules.broadcast(c)] * len(c.attrs["Tout"]), lower=_lower,
    tested_in="tests/ops/test_kernel_function.py: a function", origin="jitgraph")
def _kernel_func(input, token, Tout):
    """A Python function of scalars, applied to each element of inputs that broadcast."""
    try:
        return registered(token)(*input)
    except (ZeroDivisionError, ValueError) as error:
        raise errors.InvalidArgumentError(None, None, f"{token}: {error}") from error


@_kernel_func.gradient
def _(op, *grads):
    kernel = registered(op.attrs["token"])
    inputs, count = list(op.inputs), len(op.inputs)
    dtypes = [t.dtype.base_dtype for t in inputs]
    if kernel.gradient is not None:
        made = KernelFunction(kernel.gradient, [*dtypes, *kernel.outputs], dtypes)
    else:
        try:
            slopes = kernel.slopes()
        except NoDerivative as error:
            raise LookupError(f"The gradient of kernel_func '{op.name}' ({kernel.name}) cannot be derived: {error}. Give it "
                              "with grad=, a function of the inputs and the gradients of the outputs.") from None
        made = KernelFunction(kernel.function, [*dtypes, *kernel.outputs], dtypes, results=slopes)
    found = _apply(made, [*inputs, *grads], name=None)
    back = []
    for tensor, grad in zip(inputs, found[:count]):
        differentiable = tensor.dtype.is_floating
        back.append(Unbroadcast(tensor, op.outputs[0]).to_x(grad) if differentiable else None)
    return back


def _apply(kernel: KernelFunction, inputs: list, name: str | None) -> list:
    return _kernel_func(inputs, token=register(kernel, "kernel"), Tout=kernel.outputs, name=name)


def kernel_func(func: Callable, inp: Any, Tout: Any, shape: Any = None, grad: Callable | None = None,
                name: str | None = None) -> Any:
    """A node that applies ``func(*numbers)`` to each element of the tensors `inp`, which broadcast.

    The function is written as an expression by calling it with traced numbers, and becomes part of the kernel around the node,
    which Numba compiles: operators, ``math.*``, NumPy's functions of one element, other functions, ``if``, and loops of a known
    length.  A function whose loops depend on the values is compiled by Numba by itself and runs between kernels.  It is
    called while the graph is built and must not have effects.

    `Tout`: the dtype of the result, or a list of them for a function that returns several.  `shape`: a static shape of the
    results, if more is known than that of the inputs.  `grad`: a function of the inputs and of the gradient of each output that
    returns the gradient of each input, compiled likewise; without it the derivative is found from the expression (0 for whole
    numbers, and through rounding).  Raises ValueError if the function cannot be compiled, and from ``tf.gradients``
    LookupError if a derivative is needed that cannot be found.  A graph file that holds such a node cannot be
    run in another process.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    several = isinstance(Tout, (list, tuple))
    with name_scope(name, "KernelFunc", list(inp)) as scope:
        tensors = [convert_to_tensor(one, name=f"input_{k}") for k, one in enumerate(inp)]
        if not tensors:
            raise ValueError("kernel_func needs at least one input")
        kernel = KernelFunction(func, [t.dtype.base_dtype for t in tensors],
                                [as_dtype(d) for d in (Tout if several else [Tout])], grad)
        results = _apply(kernel, [raw.Identity(t) if t.dtype._is_ref_dtype else t for t in tensors], scope)
    for result in results:
        if shape is not None:
            result.set_shape(shape)
    return results if several else results[0]
