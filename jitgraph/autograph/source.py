"""The syntax tree of a function, from its source, and a function from such a tree."""
from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import types
from typing import Any

from jitgraph.autograph.tree import OPERATORS, function, parameters, read
from jitgraph.graph.syntax import parse


def definition_of(func: types.FunctionType) -> ast.FunctionDef:
    """The tree of a function, with the lines of its file.  Raises ValueError if its source is not there, or is not one function."""
    try:
        lines, first = inspect.getsourcelines(func.__code__)
    except OSError as error:
        raise ValueError(f"Unable to locate the source code of {func}. Note that functions defined in certain environments, "
                         f"like the interactive Python shell do not expose their source code. ({error})") from error
    if func.__name__ == "<lambda>":
        return _lambda(func)
    try:
        tree = parse(textwrap.dedent("".join(lines)))
    except SyntaxError as error:
        raise ValueError(f"Failed to parse source code of {func}: {error}") from error
    ast.increment_lineno(tree, max(first, 1) - 1)
    found = tree.body[0]
    if not isinstance(found, ast.FunctionDef):
        raise ValueError(f"the source of {func} is not a function definition")
    return found


@functools.lru_cache(8)
def _parsed(text: str) -> ast.Module:
    return parse(text)


def _lambda(func: types.FunctionType) -> ast.FunctionDef:
    lines = inspect.findsource(func.__code__)[0]
    line = func.__code__.co_firstlineno
    on_it = [node for node in ast.walk(_parsed("".join(lines))) if isinstance(node, ast.Lambda) and node.lineno == line]
    names = func.__code__.co_varnames[:func.__code__.co_argcount]
    same = [node for node in on_it if tuple(one.arg for one in [*node.args.posonlyargs, *node.args.args]) == names]
    if len(same) > 1:
        same = [node for node in same if _same_code(node, func.__code__)]
    if len({ast.dump(node) for node in same}) != 1:
        raise ValueError(f"Unable to identify source code of lambda function {func}. It was defined on this line: "
                         f"{lines[line - 1]}, which must contain a single lambda with matching signature. To avoid ambiguity, "
                         "define each lambda in a separate expression.")
    node: Any = parse(ast.unparse(same[0])).body[0]
    ast.increment_lineno(node, line - 1)
    made = function("lambda_", node.value.args, [ast.Return(node.value.body)])
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _same_code(node: ast.Lambda, code: types.CodeType) -> bool:
    """Whether a lambda reads the same names and constants as a code object."""
    made = next(one for one in compile(ast.Expression(node), "", "eval").co_consts if isinstance(one, types.CodeType))
    return sorted({*made.co_names, *made.co_freevars}) == sorted({*code.co_names, *code.co_freevars}) or (
        set(made.co_names) == {*code.co_names, *code.co_freevars} and made.co_consts == code.co_consts)


def is_rewritten(func: Any) -> bool:
    """Whether a function was made by ``built``, or inside of one that was."""
    return OPERATORS in func.__code__.co_freevars


def built(tree: ast.FunctionDef, func: types.FunctionType, operators: Any, name: str) -> types.FunctionType:
    """The function of a rewritten tree, with the globals, the variables around it and the defaults of `func`."""
    free = [one for one in func.__code__.co_freevars if one != OPERATORS]
    tree.name = name                # not that of the program, which may name itself
    tree.args.defaults, tree.args.kw_defaults = [], [None] * len(tree.args.kwonlyargs)
    # the operators are named once, so that each function made here is known by them
    body = [*tree.body, ast.Expr(read(OPERATORS))] if not tree.body or not isinstance(tree.body[-1], ast.Return) else [
        *tree.body[:-1], ast.Expr(read(OPERATORS)), tree.body[-1]]
    tree.body = body
    outer = function("factory", parameters([OPERATORS, *free]), [tree, ast.Return(read(tree.name))])
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(outer, tree)], []))
    flags = func.__code__.co_flags & _FUTURE
    found: dict[str, Any] = {}
    exec(compile(module, func.__code__.co_filename, "exec", flags=flags, dont_inherit=True), found)
    code = next(one for one in found["factory"].__code__.co_consts if isinstance(one, types.CodeType) and one.co_name == tree.name)
    return made_like(func, code, operators, name)


_FUTURE = functools.reduce(int.__or__, (getattr(__import__("__future__"), one).compiler_flag
                                        for one in __import__("__future__").all_feature_names))


def made_like(func: types.FunctionType, code: types.CodeType, operators: Any, name: str) -> types.FunctionType:
    """A function of the code of ``built`` that stands where `func` does."""
    cells = dict(zip(func.__code__.co_freevars, func.__closure__ or ()))
    cells[OPERATORS] = types.CellType(operators)
    made = types.FunctionType(code, func.__globals__, name, func.__defaults__, tuple(cells[one] for one in code.co_freevars))
    made.__kwdefaults__ = func.__kwdefaults__
    made.__doc__, made.__module__ = func.__doc__, func.__module__
    return made
