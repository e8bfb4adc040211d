"""An op is declared once: ``@op`` and ``@elementwise``.

::

    @op("Sum(input: T, reduction_indices: Tidx; keep_dims: bool = False) -> output: T", T=NUMBERS, Tidx=INDEX,
        shape=reduced, lower=lambda b, x, axes, keep_dims: b.reduce("add", x, axes, keep_dims))
    def sum(x, axes, keep_dims):
        '''Sum over the axes `reduction_indices`.'''
        return np.sum(x, axis=tuple(np.ravel(axes)), keepdims=keep_dims, dtype=x.dtype)

    @sum.gradient
    def _(op, grad): ...

The body is the NumPy meaning.  The decorated name becomes the builder: ``sum(x, [0], keep_dims=True, name="total")``
checks and converts its inputs, infers dtypes and shapes, and adds a node.  An elementwise op states only its scalar
expression in prims; its NumPy value, its shape rule (broadcasting) and its kernel follow.  The grammar of signatures
is in ``jitgraph.graph.signature``, the shape rules in ``jitgraph.graph.shape_rules``.
"""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import tracebacks
from jitgraph.graph import build, dispatch, operators, shape_rules  # noqa: F401  (operators: gives Tensor its operators)
from jitgraph.graph import signature as signatures
from jitgraph.graph.dtypes import (
    ANY,
    BOOL,
    COMPLEX,
    FLOATS,
    INDEX,
    INDICES,
    INTS,
    NUMBERS,
    QUANTIZED,
    REALS,
    SIGNED_INTS,
    STRING,
    UNSIGNED_INTS,
    TypeSet,
)
from jitgraph.graph.gradient_registry import NOT_DIFFERENTIABLE
from jitgraph.graph.op_types import OpDef
from jitgraph.graph.registry import REGISTRY

__all__ = ["ANY", "BOOL", "COMPLEX", "FLOATS", "INDEX", "INDICES", "INTS", "NOT_DIFFERENTIABLE", "NUMBERS", "OpBuilder", "OpDef",
           "QUANTIZED", "REALS", "SIGNED_INTS", "STRING", "TypeSet", "UNSIGNED_INTS", "elementwise",
           "op"]


class OpBuilder:
    """The function that adds a node of one op type; ``opdef`` is the declaration, ``value`` its NumPy meaning."""

    def __init__(self, opdef: OpDef, body: Callable):
        self.opdef = opdef
        self.__name__ = body.__name__
        self.__qualname__ = body.__qualname__
        self.__module__ = body.__module__
        self.__doc__ = body.__doc__
        self.__wrapped_body__ = body

    def __call__(self, *args: Any, name: str | None = None, **kwargs: Any) -> Any:
        try:
            return build.apply(self.opdef, args, kwargs, name)
        except (TypeError, ValueError) as error:
            found = dispatch.other_form(self, args, {**kwargs, "name": name})
            if found is NotImplemented:
                tracebacks.shorten(error)
                raise
            return found
        except BaseException as error:
            tracebacks.shorten(error)
            raise

    @property
    def __signature__(self) -> inspect.Signature:
        return build.python_signature(self.opdef)

    def gradient(self, function: Callable) -> Callable:
        """Decorator: `function(op, *grads)` gives the gradient of each input, written in ops."""
        self.opdef.grad = function
        return function

    def __repr__(self) -> str:
        return f"<op {self.opdef.type}>"


def op(signature: str, *, shape: Callable | None = None, lower: Callable | None = None, grad: Callable | None = None,
       on_device: Callable | None = None,
       stateful: bool = False, state: str | None = None, host: bool = False, checks: bool = False, dynamic: bool =
       False, reference: Callable | None = None, samples: Callable | None = None, tested_in: str = "",
       updates: Callable | None = None, stream: bool = False, context: tuple[str, ...] = (), effect: bool = False,
       host_because: str = "", outward: bool = False, takes: bool = False, hands_on: bool = False, asks: bool = False,
       moves: str | None = None,
       renamed: dict[str, str] | None = None, constant: Callable | None = None, static: bool = False,
       of_shape: Callable | None = None, symbolic: bool | Callable = False, placeholder: bool = False, forwards: bool = False,
       distinct: str | None = None, each: bool | Callable = False,
       adds: bool = False, element: str | None = None, elements: Callable | None = None, of_elements: Callable | None = None,
       keeps: tuple[int, ...] = (), variable: str | None = None, assigns: bool = False,
       needs_value: bool = True, answers: bool = False, selects: Callable | None = None, holds: bool = False, idle: bool = False,
       passes: Callable | None = None, recurring: bool = False, lasting: bool = False, costly: bool = False,
       flops: Callable | None = None,
       gradient_of: tuple[int, ...] | None = None, gradient_differs: str = "", origin: str = "",
       **type_sets: Any) -> Callable[[Callable], OpBuilder]:
    """Declares an op whose body is its NumPy meaning.  See the module's docstring, and ``OpDef`` for the arguments."""

    def declare(body: Callable) -> OpBuilder:
        return _register(signature, type_sets, body, value=body, shape=shape, lower=lower, grad=grad, on_device=on_device,
                         stateful=stateful, state=state, host=host, checks=checks, dynamic=dynamic,
                         reference=reference, samples=samples, tested_in=tested_in, updates=updates, stream=stream,
                         context=context, effect=effect, outward=outward, takes=takes, host_because=host_because,
                         hands_on=hands_on, asks=asks, moves=moves, renamed=renamed or {}, constant=constant,
                         static=static, of_shape=of_shape,
                         symbolic=symbolic, placeholder=placeholder, forwards=forwards,
                         distinct=distinct, each=each, adds=adds, element=element, elements=elements, of_elements=of_elements,
                         keeps=keeps, variable=variable, assigns=assigns, needs_value=needs_value, answers=answers, selects=selects,
                         holds=holds, idle=idle, passes=passes, recurring=recurring, lasting=lasting, costly=costly, flops=flops,
                         gradient_of=gradient_of, gradient_differs=gradient_differs, origin=origin)

    return declare


def elementwise(signature: str, *, shape: Callable | None = None, grad: Callable | None = None,
                stateful: bool = False, checks: bool = False, reference: Callable | None = None,
                samples: Callable | None = None, constant: Callable | None = None, static: bool = False,
                symbolic: bool | Callable = False, adds: bool = False, gradient_differs: str = "",
                **type_sets: Any) -> Callable[[Callable], OpBuilder]:
    """Declares an op whose body is a scalar expression in prims, applied to each element with broadcasting."""

    def declare(body: Callable) -> OpBuilder:
        builder = _register(signature, type_sets, body, scalar=body, shape=shape or shape_rules.broadcast,
                            grad=grad, stateful=stateful, checks=checks, reference=reference, samples=samples,
                            constant=constant, static=static, symbolic=symbolic, adds=adds, gradient_differs=gradient_differs)
        builder.opdef.value = _scalar_value(builder.opdef)
        return builder

    return declare


def _register(signature: str, type_sets: dict[str, Any], body: Callable, **fields: Any) -> OpBuilder:
    op_type = signatures.op_type(signature)
    if op_type in REGISTRY and REGISTRY[op_type].builder.__module__ != body.__module__:
        raise ValueError(f"op {op_type} is declared twice: in {REGISTRY[op_type].builder.__module__} and in "
                         f"{body.__module__}")
    opdef = OpDef(op_type, functools.partial(signatures.parse, signature, type_sets), **fields)
    opdef.builder = OpBuilder(opdef, body)
    REGISTRY[op_type] = opdef
    return opdef.builder


def _scalar_value(opdef: OpDef) -> Callable:
    """The NumPy meaning of an elementwise op: its expression on whole arrays, broadcast, in the declared dtypes."""
    scalar = opdef.scalar
    assert scalar is not None

    def value(*arrays: Any, **attrs: Any) -> Any:
        flat = [np.asarray(a) for part in arrays for a in (part if isinstance(part, (list, tuple)) else (part,))]
        with np.errstate(all="ignore"):
            results = scalar(*arrays, **opdef.arguments(scalar, attrs))
        full = np.broadcast_shapes(*(a.shape for a in flat)) if len(flat) > 1 else flat[0].shape
        several = isinstance(results, tuple)
        finished = []
        for arg, result in zip(opdef.outputs, results if several else (results,)):
            result = np.asarray(result, _output_dtype(opdef, arg, flat, attrs))
            finished.append(result if result.shape == full else np.broadcast_to(result, full).copy())
        return tuple(finished) if several else finished[0]

    return value


def _output_dtype(opdef: OpDef, arg: signatures.Arg, flat: list, attrs: dict[str, Any]) -> Any:
    if arg.dtype is not None:
        return arg.dtype.as_numpy_dtype
    if arg.type_attr in attrs:
        return attrs[arg.type_attr].as_numpy_dtype
    for index, other in enumerate(opdef.inputs):
        if other.type_attr == arg.type_attr:
            return flat[index].dtype
    return None
