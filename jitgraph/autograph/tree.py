"""Small pieces of Python's syntax tree, made and looked at."""
from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

OPERATORS = "ag__"
"""The name under which a rewritten function finds the operators that it calls."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (*FUNCTIONS, ast.ClassDef)
LOOPS = (ast.For, ast.While)


def nodes_in(root: ast.AST, stop: tuple = SCOPES) -> Iterator[ast.AST]:
    """A node and what stands below it, not looking into what is of the kinds `stop`."""
    yield root
    if not isinstance(root, stop):
        for child in ast.iter_child_nodes(root):
            yield from nodes_in(child, stop)


def holds(root: ast.AST, kinds: tuple, stop: tuple = SCOPES) -> bool:
    """Whether a node of one of the kinds is at or below `root`."""
    return any(isinstance(node, kinds) for node in nodes_in(root, stop))


def read(name: str) -> ast.Name:
    """A variable that is read."""
    return ast.Name(name, ast.Load())


def assigned(name: str, value: ast.expr) -> ast.Assign:
    """``name = value``"""
    return ast.Assign([ast.Name(name, ast.Store())], value)


def operator(name: str, *arguments: ast.expr) -> ast.Call:
    """``ag__.name(*arguments)``"""
    return ast.Call(ast.Attribute(read(OPERATORS), name, ast.Load()), list(arguments), [])


def is_operator(node: ast.AST) -> bool:
    """Whether a node is a call of one of the operators."""
    return (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
            and node.func.value.id == OPERATORS)


def parameters(names: Sequence[str], defaults: Sequence[ast.expr] = ()) -> ast.arguments:
    """The parameters of a function, all by position."""
    return ast.arguments(posonlyargs=[], args=[ast.arg(name) for name in names], kwonlyargs=[], kw_defaults=[],
                         defaults=list(defaults))


def later(value: ast.expr, names: Sequence[str] = ()) -> ast.Lambda:
    """``lambda *names: value``"""
    return ast.Lambda(parameters(names), value)


def function(name: str, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    """``def name(arguments): body``"""
    made: Any = ast.FunctionDef(name, arguments, body or [ast.Pass()], [])
    made.type_params = []
    return made


def row(values: Sequence[ast.expr]) -> ast.Tuple:
    """``(a, b, c)``"""
    return ast.Tuple(list(values), ast.Load())


def stored(names: Sequence[str]) -> ast.expr:
    """``(a, b, c)`` to the left of ``=``"""
    return ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())


def strings(names: Sequence[str]) -> ast.Tuple:
    """``("a", "b")``"""
    return row([ast.Constant(name) for name in names])
