"""``tensorflow.python.util``: decorators, inspection, modules that load late, sets by identity."""
from __future__ import annotations

import collections
import contextlib
import functools
import importlib
import inspect
import re
import sys
import traceback
import types
from typing import Any

from jitgraph.app import logs

getmro, isclass, isfunction = inspect.getmro, inspect.isclass, inspect.isfunction
isgenerator, ismethod, ismodule, getmembers = inspect.isgenerator, inspect.ismethod, inspect.ismodule, inspect.getmembers
getsource, getfile, getdoc, getmodule, stack = inspect.getsource, inspect.getfile, inspect.getdoc, inspect.getmodule, inspect.stack
signature, currentframe, isroutine, isbuiltin = inspect.signature, inspect.currentframe, inspect.isroutine, inspect.isbuiltin
getcallargs = inspect.getcallargs

ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """As ``inspect.getfullargspec``, of what is decorated; annotations, which TensorFlow 1 has none of, do not count."""
    return inspect.getfullargspec(inspect.unwrap(unwrap(obj)[1]))._replace(annotations={})


def getargspec(obj: Any) -> ArgSpec:
    """The names of parameters and their defaults, as Python 2 gave them; of a class those of its constructor, of what is
    decorated those that a decorator states, else its own."""
    decorators, target = unwrap(obj)
    for one in decorators:
        if one.decorator_argspec is not None:
            return one.decorator_argspec
    found = inspect.getfullargspec(target)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def fn_args(fn: Any) -> tuple[str, ...]:
    """The names of the parameters of a function; of a method or callable object without the first."""
    if isinstance(fn, functools.partial):
        given = fn_args(fn.func)
        return tuple(name for name in given[len(fn.args):] if name not in (fn.keywords or {}))
    if not inspect.isroutine(fn) and not isinstance(fn, type):
        fn = type(fn).__call__.__get__(fn)
    names = inspect.getfullargspec(fn).args
    return tuple(names[1:] if inspect.ismethod(fn) else names)


def get_func_name(func: Any) -> str:
    """The name of a function, CLASS.NAME of a method, the text of the class of anything else that is called.

    Raises ValueError for what is not.
    """
    target = unwrap(func)[1]
    if not callable(target):
        raise ValueError("Argument must be callable")
    if inspect.isfunction(target):
        return target.__name__
    return f"{type(target.__self__).__name__}.{target.__name__}" if inspect.ismethod(target) else str(type(target))


def get_func_code(func: Any) -> Any:
    """The code of a function, or of the ``__call__`` of an object; None where there is none.  Raises ValueError for what is not
    called."""
    target = unwrap(func)[1]
    if not callable(target):
        raise ValueError("Argument must be callable")
    return getattr(target if hasattr(target, "__code__") else target.__call__, "__code__", None)


def has_kwargs(fn: Any) -> bool:
    """Whether a function takes any named arguments.  Raises TypeError for what is no function."""
    if not callable(fn):
        raise TypeError(f"fn should be a function-like object, but is of type {type(fn)}.")
    return inspect.getfullargspec(fn.func if isinstance(fn, functools.partial) else fn).varkw is not None


class TFDecorator:
    """What is known of a decorator: its name, what it decorates, a docstring of its own."""

    def __init__(self, decorator_name: str, target: Any, decorator_doc: str = "", decorator_argspec: Any = None):
        self.decorator_name, self.decorated_target = decorator_name, target
        self.decorator_doc, self.decorator_argspec = decorator_doc, decorator_argspec

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls what is decorated."""
        return self.decorated_target(*args, **kwargs)


def make_decorator(target: Any, decorator_func: Any, decorator_name: str | None = None, decorator_doc: str = "",
                   decorator_argspec: Any = None) -> Any:
    """`decorator_func`, which says that it wraps `target`."""
    functools.update_wrapper(decorator_func, target)
    decorator_func._tf_decorator = TFDecorator(decorator_name or inspect.stack()[1][3], target, decorator_doc, decorator_argspec)
    return decorator_func


def unwrap(maybe_tf_decorator: Any) -> tuple[list[TFDecorator], Any]:
    """(the decorators, outermost first; what they decorate)"""
    found, target = [], maybe_tf_decorator
    while isinstance(target, TFDecorator) or hasattr(target, "_tf_decorator"):
        decorator = target if isinstance(target, TFDecorator) else target._tf_decorator
        found.append(decorator)
        target = decorator.decorated_target
    return found, target


class tf_export:
    """Decorator of what is to be public, which leaves it as it is."""

    def __init__(self, *args: str, **kwargs: Any):
        self._names = args

    def __call__(self, func: Any) -> Any:
        """Leaves the function as it is."""
        return func

    def export_constant(self, module_name: str, name: str) -> None:
        """Does nothing."""


keras_export = estimator_export = api_export = tf_export


def kwarg_only(f: Any) -> Any:
    """`f` called with keywords alone; positions raise TypeError."""
    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(f"{f.__name__} only takes keyword args (possible keys: {getargspec(f).args}). Please pass these args "
                            "as kwargs instead.")
        return f(**kwargs)

    return wrapper


keyword_args_only = kwarg_only
extract_stack = traceback.extract_stack


def contextmanager(target: Any) -> Any:
    """``contextlib.contextmanager``, which ``unwrap`` sees through."""
    return make_decorator(target, contextlib.contextmanager(target), "contextmanager")


def should_use_result(fn: Any) -> Any:
    """Decorator of a function whose result is to be used; it leaves the function as it is."""
    return fn


must_use_result_or_fatal = should_use_result


def reveal_undocumented(symbol_name: str, target_module: Any = None) -> None:
    """Gives a module a name back that ``remove_undocumented`` took from it.  Raises LookupError if it took none so called."""
    module_name, _, name = symbol_name.rpartition(".")
    hidden = getattr(sys.modules[module_name], "_undocumented", {})
    if name not in hidden:
        raise LookupError(f"Symbol {symbol_name} is not a hidden symbol")
    setattr(target_module or sys.modules[module_name], name, hidden[name])


def remove_undocumented(module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None) -> None:
    """Deletes from a module what neither its docstring names by ``@@name``, nor `allowed_exception_list`, nor begins with "_"."""
    kept = set(make_all(module_name, doc_string_modules)) | set(allowed_exception_list or ())
    module = sys.modules[module_name]
    hidden = {name: value for name, value in vars(module).items() if not name.startswith("_") and name not in kept}
    vars(module).setdefault("_undocumented", {}).update(hidden)
    for name in hidden:
        delattr(module, name)


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """The names that the docstrings of modules give by ``@@name``."""
    modules = doc_string_modules if doc_string_modules is not None else [sys.modules[module_name]]
    found = [name for module in modules for name in re.findall(r"^@@([a-zA-Z0-9_]+)$", module.__doc__ or "", re.MULTILINE)]
    return list(dict.fromkeys([*found, *[name for name in ("absolute_import", "division", "print_function")
                                         if hasattr(sys.modules[module_name], name)]]))


class LazyLoader(types.ModuleType):
    """A module that is imported when one of its names is first asked for, and then stands in the caller's globals."""

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str, warning: str | None = None):
        self._local_name, self._parent_module_globals, self._warning = local_name, parent_module_globals, warning
        super().__init__(name)

    def _load(self) -> Any:
        module = importlib.import_module(self.__name__)
        self._parent_module_globals[self._local_name] = module
        if self._warning:
            logs.warning(self._warning)
            self._warning = None
        self.__dict__.update(module.__dict__)
        return module

    def __getattr__(self, item: str) -> Any:
        return getattr(self._load(), item)

    def __dir__(self) -> list[str]:
        return dir(self._load())


class Reference:
    """An object as a key: two are equal if they are of one object."""

    def __init__(self, wrapped: Any):
        self._wrapped = wrapped

    @property
    def unwrapped(self) -> Any:
        """The object."""
        return self._wrapped

    def deref(self) -> Any:
        """The object."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)


class ObjectIdentityDictionary(collections.abc.MutableMapping):
    """A dict whose keys are told apart by identity."""

    def __init__(self, *args: Any, **kwargs: Any):
        self._storage: dict[Reference, Any] = {}
        self.update(dict(*args, **kwargs))

    def __getitem__(self, key: Any) -> Any:
        return self._storage[Reference(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[Reference(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._storage[Reference(key)]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Any:
        return (key.unwrapped for key in self._storage)


class ObjectIdentitySet(collections.abc.MutableSet):
    """A set whose elements are told apart by identity, in the order in which they came."""

    def __init__(self, *args: Any):
        self._storage = {Reference(one): None for one in (args[0] if args else ())}

    def __contains__(self, key: Any) -> bool:
        return Reference(key) in self._storage

    def add(self, value: Any) -> None:
        """Adds an object."""
        self._storage[Reference(value)] = None

    def discard(self, value: Any) -> None:
        """Takes an object out, if it is there."""
        self._storage.pop(Reference(value), None)

    def update(self, items: Any) -> None:
        """Adds objects."""
        for one in items:
            self.add(one)

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Any:
        return (key.unwrapped for key in self._storage)
