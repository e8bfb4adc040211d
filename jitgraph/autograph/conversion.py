"""Functions rewritten, and which of those that they call are rewritten too."""
from __future__ import annotations

import ast
import functools
import inspect
import sysconfig
import types
import unittest
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from jitgraph.app import logs
from jitgraph.autograph import builtin_functions, lists, operators, values
from jitgraph.autograph.features import Feature, Options, Status, under
from jitgraph.autograph.messages import say
from jitgraph.autograph.rewriting import rewritten
from jitgraph.autograph.source import built, definition_of, is_rewritten, made_like
from jitgraph.control.program_order import acts, branches_in_order, put_in_order
from jitgraph.graph import structures as nest
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.ops.arrays.identity import identity

LEFT = "__ag_compiled"
"""The attribute of functions that are left as they are."""

# modules whose functions are not rewritten, those inside of them included
_LEFT_MODULES = frozenset(("jitgraph", "tensorflow", "tensorflow_probability", "numpy", "scipy", "absl", "numba", "six"))
_LIBRARY = (sysconfig.get_paths()["stdlib"], "<frozen")

_codes: weakref.WeakKeyDictionary[types.CodeType, dict] = weakref.WeakKeyDictionary()


def converted(function: Any, options: Options) -> Any:
    """A function or class rewritten.  Raises ValueError or NotImplementedError if it cannot be."""
    if inspect.isclass(function):
        return _converted_class(function, options)
    function = getattr(function, "__func__", function)
    if not isinstance(function, types.FunctionType):
        raise NotImplementedError(f'cannot convert entity "{function}": object conversion is not yet supported.')
    known = _codes.setdefault(function.__code__, {})
    name = "tf__" + ("lambda" if function.__name__ == "<lambda>" else function.__name__)
    code = known.get(options)
    if code is None:
        say(1, "Converting %s", function)
        tree = _tree(function, options)
        say(2, "Compiled output of %s:\n\n%s\n", function, _Text(tree))
        made = built(tree, function, _Operators(options), name)
        known[options] = made.__code__
    else:
        made = made_like(function, code, _Operators(options), name)
    return _in_order(made) if options.uses(Feature.AUTO_CONTROL_DEPS) else made


def _in_order(function: Callable) -> Callable:
    """A function whose nodes read and write in the order of the program, and whose result waits for what they do."""
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        graph = get_default_graph()
        before = len(graph.get_operations())
        with branches_in_order(graph):
            result = function(*args, **kwargs)
        made = graph.get_operations()[before:]
        put_in_order(made)
        with control_dependencies([op for op in made if acts(op)]):
            return nest.map_structure(lambda one: identity(one) if values.is_dense(one) else one, result)

    return called


def _tree(function: Any, options: Options) -> ast.FunctionDef:
    flags = function.__code__.co_flags
    if flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise NotImplementedError("Generators are not supported by AutoGraph")
    return rewritten(definition_of(function), options.uses)


class _Text:
    """The text of a tree, made when somebody looks at it."""

    def __init__(self, tree: ast.AST):
        self._tree = tree

    def __str__(self) -> str:
        return ast.unparse(self._tree)


def code_of(function: Any, options: Options) -> str:
    """The text of a function rewritten."""
    tree = _tree(getattr(function, "__func__", function), options)
    tree.name = "tf__" + tree.name.removesuffix("_" if tree.name == "lambda_" else "")
    return ast.unparse(ast.fix_missing_locations(tree))


def _converted_class(cls: type, options: Options) -> type:
    """A class whose own methods are rewritten.  Raises NotImplementedError if it inherits from one of the program's."""
    methods = {name: one for name, one in vars(cls).items() if isinstance(one, types.FunctionType)}
    if not methods:
        raise ValueError(f"cannot convert {cls}: no member methods")
    if any(base is not object and not is_left(base, options) for base in cls.__bases__):
        raise NotImplementedError("Conversion of classes that do not directly extend classes from whitelisted modules is "
                                  "temporarily suspended. If this breaks existing code please notify the AutoGraph team "
                                  "immediately.")
    held = {name: one for name, one in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    made = type(cls)("Tf" + cls.__name__, cls.__bases__, held)
    for name, one in methods.items():
        rewritten_one = converted(one, options)
        rewritten_one.__name__ = name
        setattr(made, name, rewritten_one)
    return made


def is_left(function: Any, options: Options) -> bool:
    """Whether a function is one of a library that is left as it is."""
    inner = function.func if isinstance(function, functools.partial) else function
    module = getattr(inner, "__module__", None) or ""
    if module.partition(".")[0] in _LEFT_MODULES and not isinstance(function, functools.partial):
        return True
    if inspect.isclass(inner):
        return False
    code = getattr(getattr(inner, "__func__", inner), "__code__", None)
    if code is not None and (code.co_filename.startswith(_LIBRARY) and "site-packages" not in code.co_filename
                             or code.co_filename == "<string>"):
        return True
    if inspect.isgeneratorfunction(inner):
        logs.warning("Entity %s appears to be a generator function. It will not be converted by AutoGraph.", inner)
        return True
    if inspect.ismethod(inner):
        owner = inner.__self__ if inspect.isclass(inner.__self__) else type(inner.__self__)
        return issubclass(owner, unittest.TestCase) or issubclass(owner, tuple) and hasattr(owner, "_fields")
    if code is None and not isinstance(function, functools.partial):
        call = vars(type(inner)).get("__call__", type(inner).__call__ if callable(inner) else None)
        return not isinstance(call, types.FunctionType) or is_left(call, options)
    return False


def called(function: Any, options: Options) -> Any:
    """What is called in the place of `function`: Python's functions that know tensors, functions rewritten, or the function."""
    try:
        known = builtin_functions.FUNCTIONS.get(function)
    except TypeError:
        known = None
    if known is not None:
        return known
    if inspect.isclass(function) or isinstance(function, types.BuiltinFunctionType) or hasattr(function, LEFT):
        return function
    if not options.requested and (is_left(function, options) or not options.converts_others):
        return function
    return _rewritten_or_left(function, options)


def _rewritten_or_left(function: Any, options: Options) -> Any:
    """A function rewritten; with a warning the function itself, where it cannot be."""
    if isinstance(function, functools.partial):
        made = _rewritten_or_left(function.func, options)
        return function if made is function.func else functools.partial(made, *function.args, **function.keywords)
    target: Any = function if isinstance(function, (types.FunctionType, types.MethodType)) else type(function).__call__
    inner = getattr(target, "__func__", target)
    if not isinstance(inner, types.FunctionType) or is_rewritten(inner) or hasattr(inner, LEFT):
        return function
    known = _codes.setdefault(inner.__code__, {})
    if known.get((options, "left")):
        return function
    try:
        made = converted(inner, options)
    except (ValueError, NotImplementedError, SyntaxError) as error:
        known[options, "left"] = True
        say(1, "Error transforming entity %s", function)
        logs.warning("Entity %s could not be transformed and will be executed as-is. Cause: %s", function, error)
        return function
    if target is not function:
        return functools.partial(made, function)
    return types.MethodType(made, function.__self__) if isinstance(function, types.MethodType) else made


class _Operators:
    """What rewritten code finds under the name ``ag__``; the options are those of its function."""

    Undefined, UndefinedReturnValue = values.Undefined, values.UndefinedReturnValue
    retval, if_defined = staticmethod(values.retval), staticmethod(values.if_defined)
    if_stmt, if_exp = staticmethod(operators.if_stmt), staticmethod(operators.if_exp)
    while_stmt, for_stmt = staticmethod(operators.while_stmt), staticmethod(operators.for_stmt)
    and_, or_, not_ = staticmethod(operators.and_), staticmethod(operators.or_), staticmethod(operators.not_)
    eq, not_eq = staticmethod(operators.eq), staticmethod(operators.not_eq)
    assert_stmt = staticmethod(operators.assert_stmt)
    typed_list, list_append = staticmethod(lists.typed_list), staticmethod(lists.list_append)
    list_pop, list_stack, UNSPECIFIED = staticmethod(lists.list_pop), staticmethod(lists.list_stack), lists.UNSPECIFIED

    def __init__(self, options: Options):
        self._options = options
        self._of_called = options.of_called()

    def called(self, function: Any) -> Any:
        """What is called in the place of `function`."""
        return called(function, self._of_called)

    @staticmethod
    def get_nothing() -> tuple:
        """The attributes and elements that a statement sets: none."""
        return ()

    @staticmethod
    def set_nothing(_: tuple) -> None:
        """Sets none."""

    @staticmethod
    def left(function: Callable) -> Callable:
        """An inner function, which is rewritten already."""
        setattr(function, LEFT, True)
        return function

    @staticmethod
    def function_scope(name: str) -> Any:
        """The name scope of a function's body."""
        return name_scope("fn" + name if name.startswith("_") else name)


def call_converted(function: Callable, options: Options, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The result of a function rewritten, which those that it is given to know that it was."""
    with under(Status.ENABLED) if options.requested else ExitStack():
        return called(function, options)(*args, **kwargs)


