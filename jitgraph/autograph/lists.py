"""Lists of the graph in the place of Python's, for functions that are rewritten with ``Feature.LISTS``.

    l = []                                        l = []
    ag.set_element_type(l, tf.int32)              l = ag__.typed_list(l, tf.int32)
    for i in tf.range(n):               ->        for i in tf.range(n):
        l.append(i)                                   l = ag__.list_append(l, i)
    return ag.stack(l)                            return ag__.list_stack(ag.stack, l, {'l': (tf.int32,)})

A list whose elements have a type is a tensor of variants, which loops hand on; others stay Python's.
"""
from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.autograph.tree import OPERATORS, assigned, operator, read
from jitgraph.autograph.values import is_dense
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.shapes import TensorShape

UNSPECIFIED: Any = object()


def set_element_type(entity: Any, dtype: Any, shape: Any = UNSPECIFIED) -> None:
    """Says of what `dtype` and `shape` the elements of a list are, to a function that is rewritten with ``Feature.LISTS``.

    Elsewhere it does nothing.
    """


def stack(list_or_tensor: Any, element_dtype: Any = None, strict: bool = True) -> Any:
    """The elements of a list of the graph, along a first dimension; a tensor as it is.

    Anything else is given back if not `strict`.  Raises ValueError for it if `strict`, and for a list whose `element_dtype` is not
    known.
    """
    if not _is_list(list_or_tensor):
        if is_dense(list_or_tensor) or not strict:
            return list_or_tensor
        raise ValueError(f"{list_or_tensor} must be stackable when strict=True")
    if element_dtype is None:
        raise ValueError("cannot stack a list without knowing its element type; use set_element_type to annotate it")
    return raw.TensorListStack(list_or_tensor, -1, element_dtype=element_dtype)


def _is_list(value: Any) -> bool:
    return is_dense(value) and value.dtype is dtypes.variant


def typed_list(value: Any, dtype: Any, shape: Any = UNSPECIFIED) -> Any:
    """A list of the graph with the elements of one of Python's; other values as they are.  Raises ValueError for other dtypes."""
    if not isinstance(value, list):
        return value
    sizes = -1 if shape is UNSPECIFIED else TensorShape(shape).as_list()
    made = raw.EmptyTensorList(convert_to_tensor(sizes, dtypes.int32), -1, element_dtype=dtype)
    for one in value:
        element = convert_to_tensor(one)
        if element.dtype != dtype:
            raise ValueError(f"incompatible dtype; specified: {dtype}, inferred from {value}: {element.dtype}")
        made = raw.TensorListPushBack(made, element)
    return made


def list_append(value: Any, element: Any) -> Any:
    """The list with one more element; of other objects, what their ``append`` leaves."""
    if _is_list(value):
        return raw.TensorListPushBack(value, convert_to_tensor(element))
    value.append(element)
    return value


def list_pop(value: Any, dtype: Any, shape: Any, *place: Any) -> tuple[Any, Any]:
    """(the list without its last element, the element).  Raises NotImplementedError for another place in a list of the graph."""
    if not _is_list(value):
        return value, value.pop(*place)
    if place:
        raise NotImplementedError("tensor lists only support removing from the end")
    if dtype is None:
        raise ValueError("cannot pop from a list without knowing its element type; use set_element_type to annotate it")
    if shape is UNSPECIFIED:
        raise ValueError("cannot pop from a list without knowing its element shape; use set_element_type to annotate it")
    left, last = raw.TensorListPopBack(value, -1, element_dtype=dtype)
    last.set_shape(shape)
    return left, last


def list_stack(function: Callable, value: Any, dtype: Any, **options: Any) -> Any:
    """``function(value)``; of a list of the graph, its elements along a first dimension."""
    return stack(value, dtype) if _is_list(value) else function(value, **options)


class _Lists(ast.NodeTransformer):
    """The rewriting that is shown above; types are those that the function itself states."""

    def __init__(self, definition: ast.FunctionDef):
        self._types: dict[str, tuple[ast.expr, ast.expr | None]] = {}
        self._popped: list[ast.stmt] = []
        for node in ast.walk(definition):
            if isinstance(node, ast.Call) and _is_called(node, "set_element_type") and len(node.args) > 1 \
                    and isinstance(node.args[0], ast.Name):
                shapes = [one.value for one in node.keywords if one.arg == "shape"]
                self._types[node.args[0].id] = node.args[1], (*node.args[2:], *shapes, None)[0]

    def visit(self, node: ast.AST) -> Any:
        """A statement, before it those that take elements from lists."""
        if not isinstance(node, ast.stmt) or hasattr(node, "body"):
            return super().visit(node)
        before, self._popped = self._popped, []
        made = super().visit(node)
        found, self._popped = [*self._popped, made], before
        return [ast.copy_location(one, node) for one in found] if len(found) > 1 else ast.copy_location(made, node)

    def _type_of(self, name: str) -> tuple[ast.expr, ast.expr]:
        """The dtype and the shape of the elements of a list."""
        dtype, shape = self._types.get(name, (ast.Constant(None), None))
        unspecified = ast.Attribute(read(OPERATORS), "UNSPECIFIED", ast.Load())
        return copy.deepcopy(dtype), unspecified if shape is None else copy.deepcopy(shape)

    def visit_Expr(self, node: ast.Expr) -> Any:
        self.generic_visit(node)
        call = node.value
        if not isinstance(call, ast.Call) or not call.args:
            return node
        if _is_called(call, "set_element_type") and isinstance(call.args[0], ast.Name):
            made = operator("typed_list", *call.args)
            made.keywords = call.keywords
            return assigned(call.args[0].id, made)
        target = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "append" else None
        if isinstance(target, ast.Name) and len(call.args) == 1:
            return assigned(target.id, operator("list_append", read(target.id), call.args[0]))
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute):
            return node
        target = node.func.value
        if node.func.attr == "pop" and isinstance(target, ast.Name) and len(node.args) <= 1:
            name = f"popped_{len(self._popped)}_{node.lineno}_{node.col_offset}"
            asked = operator("list_pop", read(target.id), *self._type_of(target.id), *node.args)
            self._popped.append(ast.Assign(
                [ast.Tuple([ast.Name(target.id, ast.Store()), ast.Name(name, ast.Store())], ast.Store())], asked))
            return read(name)
        if node.func.attr == "stack" and len(node.args) == 1 and isinstance(node.args[0], ast.Name) \
                and all(one.arg == "strict" for one in node.keywords):
            made = operator("list_stack", node.func, node.args[0], self._type_of(node.args[0].id)[0])
            made.keywords = node.keywords
            return made
        return node


def _is_called(node: ast.Call, name: str) -> bool:
    return (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")) == name


def with_lists(definition: ast.FunctionDef) -> ast.FunctionDef:
    """The function with lists of the graph."""
    made: ast.FunctionDef = _Lists(definition).generic_visit(definition)     # type: ignore[assignment]
    return ast.fix_missing_locations(made)
