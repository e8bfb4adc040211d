"""Which variables a statement reads and sets, and which of them are read after it: those that it has to hand on."""
from __future__ import annotations

import ast
from collections.abc import Iterable

from jitgraph.autograph.tree import FUNCTIONS, SCOPES, nodes_in

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def names_set(statements: Iterable[ast.stmt]) -> set[str]:
    """The variables that statements set."""
    found: set[str] = set()
    for one in statements:
        for node in nodes_in(one, (*SCOPES, *_COMPREHENSIONS)):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                found |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ExceptHandler) and node.name:
                found.add(node.name)
            elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
                found.add(node.name)
            elif isinstance(node, ast.MatchMapping) and node.rest:
                found.add(node.rest)
            elif isinstance(node, _COMPREHENSIONS):
                found |= {each.target.id for each in ast.walk(node)
                          if isinstance(each, ast.NamedExpr) and isinstance(each.target, ast.Name)}
    return found


def places_set(statements: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """{text: the attributes and elements, ``self.x`` and ``a[i]``, that statements set}"""
    found: dict[str, ast.expr] = {}
    for one in statements:
        for node in nodes_in(one, (*SCOPES, *_COMPREHENSIONS)):
            if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store) and _is_plain(node):
                found[ast.unparse(node)] = node
    return found


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression is made of names, attributes and elements at names or constants."""
    if isinstance(node, ast.Attribute):
        return _is_plain(node.value)
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, (ast.Name, ast.Constant)) and _is_plain(node.value)
    return isinstance(node, ast.Name)


def names_read(node: ast.AST | None) -> set[str]:
    """The variables that an expression, or a function that is defined, reads from around it."""
    if node is None:
        return set()
    if isinstance(node, FUNCTIONS):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        body: list = [node.body] if isinstance(node, ast.Lambda) else node.body
        own = {one.arg for one in every if one is not None}
        declared = {name for one in body for inner in nodes_in(one) if isinstance(inner, (ast.Nonlocal, ast.Global))
                    for name in inner.names}
        if not isinstance(node, ast.Lambda):
            own |= names_set(body) - declared
        outside = [*arguments.defaults, *arguments.kw_defaults, *getattr(node, "decorator_list", [])]
        inside = set().union(*(names_read(one) for one in body)) | declared
        return (inside - own) | set().union(*(names_read(one) for one in outside))
    if isinstance(node, _COMPREHENSIONS):
        own = {inner.id for each in node.generators for inner in ast.walk(each.target) if isinstance(inner, ast.Name)}
        inside = set().union(*(names_read(child) for child in ast.iter_child_nodes(node)))
        return (inside - own) | names_read(node.generators[0].iter)
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    found: set[str] = set()
    for child in ast.iter_child_nodes(node):
        found |= names_read(child)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    return found


class Liveness:
    """For one function without jumps: ``after[statement]``, the variables that are read after it; ``at[statement]``, those that
    it or what follows reads; ``starts[if]`` has those at the beginnings of the two bodies of an if, ``around[loop]`` those
    between two turns of a loop.
    """

    def __init__(self, body: list[ast.stmt], at_the_end: set[str]):
        self.after: dict[ast.stmt, set[str]] = {}
        self.at: dict[ast.stmt, set[str]] = {}
        self.starts: dict[ast.stmt, tuple[set[str], set[str]]] = {}
        self.around: dict[ast.stmt, set[str]] = {}
        self._functions = {}
        for one in body:
            for node in nodes_in(one):
                if isinstance(node, ast.FunctionDef):
                    self._functions[node.name] = names_read(node)
                elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda) and isinstance(node.targets[0], ast.Name):
                    self._functions[node.targets[0].id] = names_read(node.value)
        self._block(body, at_the_end)

    def _read(self, node: ast.AST | None) -> set[str]:
        """What an expression reads, what the functions that it names read included."""
        found = names_read(node)
        for name in list(found):
            found |= self._functions.get(name, set())
        return found

    def _block(self, body: list[ast.stmt], after: set[str]) -> set[str]:
        for one in reversed(body):
            self.after[one] = after
            after = self.at[one] = self._before(one, after)
        return after

    def _before(self, one: ast.stmt, after: set[str]) -> set[str]:
        if isinstance(one, ast.If):
            self.starts[one] = starts = self._block(one.body, after), self._block(one.orelse, after)
            return starts[0] | starts[1] | self._read(one.test)
        if isinstance(one, (ast.For, ast.While)):
            return self._loop(one, after)
        if isinstance(one, (ast.With, ast.AsyncWith)):
            inside = self._block(one.body, after) - set().union(*(_targets(item.optional_vars) for item in one.items))
            return inside | set().union(*(self._read(item) for item in one.items))
        if isinstance(one, ast.Try):
            after = self._block(one.finalbody, after)
            handlers = set().union(*(self._block(each.body, after) | self._read(each.type) for each in one.handlers))
            inside = self._block(one.body, self._block(one.orelse, after) | handlers)
            return inside | handlers | after
        if isinstance(one, ast.Match):
            return after | self._read(one) | set().union(*(self._block(case.body, after) for case in one.cases))
        if isinstance(one, ast.Return):
            return self._read(one.value)
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return (after - {one.name}) | self._read(one)
        if isinstance(one, ast.AugAssign):
            return after | self._read(one)
        return (after - _always_set(one)) | self._read(one)

    def _loop(self, one: ast.For | ast.While, after: set[str]) -> set[str]:
        """What is read at the beginning of a loop, found by going around it until nothing is added."""
        asked = self._read(one.test) if isinstance(one, ast.While) else _targets_read(one.target)
        asked |= self._read(getattr(one, "goes_on", None))
        around = after | asked
        while True:
            before = self._block(one.body, around)
            if isinstance(one, ast.For):
                before -= _targets(one.target)
            if before <= around:
                break
            around = around | before
        self.around[one] = around
        return around | (self._read(one.iter) if isinstance(one, ast.For) else set())


def _targets(target: ast.AST | None) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} \
        if target is not None else set()


def _targets_read(target: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _always_set(one: ast.stmt) -> set[str]:
    """The variables that a simple statement sets in any case."""
    if isinstance(one, ast.Assign):
        return set().union(*map(_targets, one.targets))
    if isinstance(one, ast.AnnAssign) and one.value is not None:
        return _targets(one.target)
    if isinstance(one, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.partition(".")[0] for alias in one.names}
    return set()
