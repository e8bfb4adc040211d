"""Functions whose ifs, loops, calls and logical operators ask the operators under the name ``ag__`` what to do.

    if a:                 def if_true(x=x):
        x = x + 1             x = x + 1
    else:                     return (x,)
        y = 2         ->  def if_false():
    return x                  y = 2
                              return (x,)
                          (x,) = ag__.if_stmt(a, if_true, if_false, ag__.get_nothing, ag__.set_nothing, ('x',), ())
                          return x

The bodies become functions of the variables that they need and return those that are read later; ``get_state`` and ``set_state``,
in the place of ``get_nothing`` and ``set_nothing``, hand on the attributes and elements that they set.
"""
from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from typing import Any

from jitgraph.autograph.features import Feature
from jitgraph.autograph.jumps import without_jumps
from jitgraph.autograph.lists import with_lists
from jitgraph.autograph.liveness import Liveness, names_set, places_set
from jitgraph.autograph.tree import (
    LOOPS,
    OPERATORS,
    assigned,
    function,
    holds,
    is_operator,
    later,
    nodes_in,
    operator,
    parameters,
    read,
    row,
    stored,
    strings,
)

_DEBUGGERS = ("pdb.set_trace", "ipdb.set_trace", "breakpoint")
_COMPARED = {ast.Eq: "eq", ast.NotEq: "not_eq"}


def rewritten(definition: ast.FunctionDef, uses: Callable[[Feature], bool]) -> ast.FunctionDef:
    """The function, which calls the operators; `uses` says which optional features it has.

    Raises NotImplementedError for what is not rewritten: generators, mangled names, deletions and assignments in expressions
    where they would be lost.
    """
    _check(definition)
    if uses(Feature.LISTS):
        definition = with_lists(definition)
    taken = {node.id for node in ast.walk(definition) if isinstance(node, ast.Name)}
    return _Rewriting(definition, uses, taken, outermost=True).function()


def _check(definition: ast.FunctionDef) -> None:
    for node in ast.walk(definition):
        if isinstance(node, ast.Attribute) and node.attr.startswith("__") and not node.attr.endswith("__"):
            raise NotImplementedError("Mangled names are not yet supported by AutoGraph")
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            raise NotImplementedError("Generators are not supported by AutoGraph")
        if isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef)):
            raise NotImplementedError("coroutines are not supported by AutoGraph")
        if isinstance(node, (ast.If, *LOOPS)) and any(
                isinstance(inner, ast.Delete) and any(isinstance(each, ast.Name) for each in inner.targets)
                for inner in nodes_in(node)):
            raise NotImplementedError("a variable is deleted in an if or a loop")
        parts = [node.test] if isinstance(node, ast.While) else [node] if isinstance(node, (ast.BoolOp, ast.IfExp)) else []
        if any(holds(part, (ast.NamedExpr,)) for part in parts):
            raise NotImplementedError("an assignment stands in a condition of a loop or a logical expression")


class _Rewriting(ast.NodeTransformer):
    def __init__(self, definition: ast.FunctionDef, uses: Callable[[Feature], bool], taken: set[str], outermost: bool):
        self._definition, self._uses, self._taken, self._outermost = definition, uses, taken, outermost
        self._undefined: set[str] = set()
        self._flags: set[str] = set()
        arguments = definition.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        self._parameters = {one.arg for one in every if one is not None}
        self._first = next((one.arg for one in [*arguments.posonlyargs, *arguments.args]), None)
        self._declared = {name for one in definition.body for node in nodes_in(one)
                          if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
        self._set_inside = {name for node in ast.walk(definition) if isinstance(node, ast.Nonlocal) for name in node.names}
        self._live: Liveness

    def _fresh(self, base: str) -> str:
        found = next(name for name in itertools.chain([base], (f"{base}_{k}" for k in itertools.count(1)))
                     if name not in self._taken)
        self._taken.add(found)
        return found

    def _flag(self, base: str) -> str:
        found = self._fresh(base)
        self._flags.add(found)
        return found

    def function(self) -> ast.FunctionDef:
        """The function itself."""
        made = self._definition
        body = without_jumps(made.body, self._flag)
        self._live = Liveness(body, set(self._declared))
        documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        head, body = body[:documented], self._statements(body[documented:])
        undefined: list[ast.stmt] = [assigned(name, operator("Undefined", ast.Constant(name)))
                                     for name in sorted(self._undefined - self._parameters - self._declared - self._flags)]
        declared = [one for one in body if isinstance(one, (ast.Global, ast.Nonlocal))]
        body = [*undefined, *(one for one in body if one not in declared)]
        if self._uses(Feature.NAME_SCOPES):
            body = [ast.With([ast.withitem(operator("function_scope", ast.Constant(made.name)))], body or [ast.Pass()])]
        made.body = [*head, *declared, *body] or [ast.Pass()]
        made.returns = None
        for one in ast.walk(made.args):
            if isinstance(one, ast.arg):
                one.annotation = None
        made.decorator_list = [] if self._outermost else [*made.decorator_list, ast.Attribute(read(OPERATORS), "left", ast.Load())]
        return made

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for one in body:
            result = self.visit(one)
            for each in result if isinstance(result, list) else [result]:
                found.append(ast.fix_missing_locations(ast.copy_location(each, one)) if not hasattr(each, "lineno") else each)
        return found

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Statements of inner blocks are rewritten as blocks."""
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and all(isinstance(one, ast.stmt) for one in value):
                setattr(node, field, self._statements(value))
            elif isinstance(value, list):
                setattr(node, field, [self.visit(one) if isinstance(one, ast.AST) else one for one in value])
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
        return node

    # -- statements ----------------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node.args)
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        return _Rewriting(node, self._uses, self._taken, outermost=False).function()

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node

    def visit_With(self, node: ast.With) -> Any:
        node.body = self._statements(node.body)
        return node

    def visit_Assert(self, node: ast.Assert) -> Any:
        self.generic_visit(node)
        if not self._uses(Feature.ASSERT_STATEMENTS):
            return node
        if node.msg is not None and not (isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str)):
            raise NotImplementedError("can only convert string messages for now.")
        return ast.Expr(operator("assert_stmt", node.test, later(node.msg or ast.Constant("Assertion error"))))

    def visit_If(self, node: ast.If) -> Any:
        set_here, set_there = names_set(node.body), names_set(node.orelse)
        results = sorted((set_here | set_there) & self._live.after[node])
        places = self._places([*node.body, *node.orelse], set_here | set_there, self._live.at[node])
        starts = self._live.starts[node]
        test = self.visit(node.test)
        branches = [self._branch(name, kept & start, body, results) for name, kept, start, body in (
            ("if_true", set_here, starts[0], node.body), ("if_false", set_there, starts[1], node.orelse))]
        self._note({*results, *(set_here & starts[0]), *(set_there & starts[1])})
        state = self._state(places)
        asked = operator("if_stmt", test, *(read(one.name) for one in branches), *_state_of(state), strings(results),
                         strings(list(places)))
        return [*state, *branches, _results(results, asked)]

    def _branch(self, name: str, needed: set[str], body: list[ast.stmt], results: list[str]) -> ast.FunctionDef:
        taken = sorted(needed)
        inside = [*self._statements(body), ast.Return(row([read(one) for one in results]))]
        return function(self._fresh(name), parameters(taken, [read(one) for one in taken]), inside)

    def visit_While(self, node: ast.While) -> Any:
        turning, places = self._turning(node, names_set(node.body))
        goes_on = getattr(node, "goes_on", None)
        test = self.visit(node.test)
        if goes_on is not None:
            test = operator("and_", later(goes_on), later(test))
        asks = function(self._fresh("loop_test"), parameters(turning), [ast.Return(test)])
        body = self._body(turning, [], node.body)
        state = self._state(places)
        asked = operator("while_stmt", read(asks.name), read(body.name), *_state_of(state),
                         row([read(one) for one in turning]), strings(turning), strings(list(places)))
        return [*state, body, asks, _results(turning, asked)]

    def visit_For(self, node: ast.For) -> Any:
        item = self._fresh("itr")
        first: ast.stmt = ast.copy_location(ast.Assign([node.target], read(item)), node)
        turning, places = self._turning(node, names_set([first, *node.body]))
        over = self.visit(node.iter)
        goes_on = getattr(node, "goes_on", None)
        asks: ast.expr = ast.Constant(None) if goes_on is None else later(goes_on, turning)
        body = self._body(turning, [item], node.body, [first])
        state = self._state(places)
        asked = operator("for_stmt", over, asks, read(body.name), *_state_of(state),
                         row([read(one) for one in turning]), strings(turning), strings(list(places)))
        return [*state, body, _results(turning, asked)]

    def _turning(self, node: ast.For | ast.While, set_inside: set[str]) -> tuple[list[str], dict[str, ast.expr]]:
        """The variables of a loop, and the attributes and elements."""
        found = set_inside & self._live.around[node]
        self._note(found)
        return sorted(found), self._places(node.body, set_inside, self._live.at[node])

    def _body(self, turning: list[str], more: list[str], body: list[ast.stmt], first: list[ast.stmt] = []) -> ast.FunctionDef:  # noqa: B006
        inside = [*first, *self._statements(body), ast.Return(row([read(one) for one in turning]))]
        return function(self._fresh("loop_body"), parameters([*more, *turning]), inside)

    def _note(self, names: set[str]) -> None:
        if names & (self._set_inside - self._declared):
            raise NotImplementedError(f"an inner function sets {sorted(names & self._set_inside)}")
        self._undefined |= names

    def _places(self, body: list[ast.stmt], set_inside: set[str], live: set[str]) -> dict[str, ast.expr]:
        """The attributes and elements that are set, of what was there before."""
        return {text: place for text, place in sorted(places_set(body).items())
                if all(node.id not in set_inside or node.id in live for node in ast.walk(place) if isinstance(node, ast.Name))}

    def _state(self, places: dict[str, ast.expr]) -> list[ast.FunctionDef]:
        """The functions that give and set the attributes and elements `places`."""
        if not places:
            return []
        values = row([operator("if_defined", later(_loaded(place)), ast.Constant(text)) for text, place in places.items()])
        given = self._fresh("values")
        sets: list[ast.stmt] = [ast.Assign([ast.Tuple([_copied(place) for place in places.values()], ast.Store())], read(given))]
        return [function(self._fresh("get_state"), parameters([]), [ast.Return(values)]),
                function(self._fresh("set_state"), parameters([given]), sets)]

    # -- expressions ---------------------------------------------------------------------------------------------------

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        *values, found = [self.visit(one) for one in node.values]
        for one in reversed(values):
            found = operator(name, later(one), later(found))
        return ast.copy_location(found, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return ast.copy_location(operator("not_", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if not self._uses(Feature.EQUALITY_OPERATORS):
            return node
        found: ast.expr | None = None
        left = node.left
        for kind, right in zip(node.ops, node.comparators):
            name = _COMPARED.get(type(kind))
            one = operator(name, left, right) if name else ast.Compare(left, [kind], [right])
            found = one if found is None else operator("and_", later(found), later(one))
            left = right
        return ast.copy_location(found, node)           # type: ignore[type-var]

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        return ast.copy_location(operator("if_exp", node.test, later(node.body), later(node.orelse)), node)

    def visit_Call(self, node: ast.Call) -> Any:
        name = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
        if name == "super" and not node.args and not node.keywords and self._first is not None:
            node.args = [read("__class__"), read(self._first)]
            return node
        written = is_operator(node)
        self.generic_visit(node)
        if written or name in _DEBUGGERS or name == "super" or name == "print" and not self._uses(Feature.BUILTIN_FUNCTIONS):
            return node
        node.func = ast.copy_location(operator("called", node.func), node.func)
        return node


def _state_of(functions: list[ast.FunctionDef]) -> list[ast.expr]:
    if functions:
        return [read(one.name) for one in functions]
    return [ast.Attribute(read(OPERATORS), name, ast.Load()) for name in ("get_nothing", "set_nothing")]


def _results(names: list[str], asked: ast.expr) -> ast.stmt:
    return ast.Assign([stored(names)], asked) if names else ast.Expr(asked)


class _Copy(ast.NodeTransformer):
    def __init__(self, context: ast.expr_context):
        self._context = context

    def visit(self, node: ast.AST) -> Any:
        fields = {name: self._one(value) for name, value in ast.iter_fields(node)}
        made: Any = type(node)(**fields)
        return ast.copy_location(made, node)

    def _one(self, value: Any) -> Any:
        if isinstance(value, ast.expr_context):
            return ast.Load()
        return self.visit(value) if isinstance(value, ast.AST) else value


def _copied(place: ast.expr) -> ast.expr:
    made: Any = _Copy(ast.Load()).visit(place)
    made.ctx = ast.Store()
    return made


def _loaded(place: ast.expr) -> ast.expr:
    return _Copy(ast.Load()).visit(place)
