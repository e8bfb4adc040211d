"""Unmodified programs: `import tensorflow` means jitgraph, and TensorFlow's own `tf.compat` names.

    import jitgraph.compat
    jitgraph.compat.install()
    import tensorflow as tf                              # is jitgraph
    from tensorflow.python.framework import ops          # a view of jitgraph's public names
    import tensorflow.compat.v1 as tf                    # is jitgraph too
    import tensorflow.compat.v2 as tf                    # has TensorFlow 2's names for programs that build graphs

`jitgraph run` does this for a script. Nothing is hidden before `install()` is called: an installed TensorFlow stays
what `import tensorflow` gives, and `uninstall()` brings it back.
"""

from __future__ import annotations

import collections.abc
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import numbers
import os
import sys
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from jitgraph.facade import exported_names, names, names_v2, not_here, tensorflow_modules
from jitgraph.facade.namespaces import kept

__path__: list[
    str
] = []  # this file is also the package `tensorflow.compat`, of which `tensorflow.compat.v1` is imported

_NAME = "tensorflow"
_ESTIMATOR = "tensorflow_estimator"     # a package of its own, whose modules are also those of tensorflow.python.estimator
_FACADE = __name__.rpartition(".")[0]
_V2 = "compat.v2."
# Packages of this project that are no part of TensorFlow's API, though they can be reached as attributes.
_INTERNAL = {
    "bench",
    "cli",
    "compiler",
    "formats",
    "graph",
    "names",
    "op",
    "ops",
    "prim",
    "runtime",
    "tensorflow_modules",
    "v2",
}


# -- TensorFlow's tf.compat ------------------------------------------------------------------------------------------

collections_abc = collections.abc       # which `tensorflow.python.util.compat` has for Python 2 and 3
bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)


def as_bytes(bytes_or_text: bytes | bytearray | str, encoding: str = "utf-8") -> bytes:
    """Return the bytes of a text in `encoding`, and bytes as they are. Anything else is a TypeError."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: bytes | str, encoding: str = "utf-8") -> str:
    """Return the text that bytes spell in `encoding`, and a text as it is. Anything else is a TypeError."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any) -> str:
    """Return bytes as text, and str(value) of anything else."""
    return as_str(value) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """Return the str of a path object, and anything else as it is."""
    return as_str_any(path.__fspath__()) if isinstance(path, os.PathLike) else path


def dimension_value(dimension: Any) -> int | None:
    """Return the size of a Dimension, and an int or None as it is."""
    return getattr(dimension, "value", dimension)


def dimension_at_index(shape: Any, index: int) -> Any:
    """Return the Dimension of a shape at `index`; an unknown one where the rank is unknown."""
    facade = sys.modules[_FACADE]
    return facade.Dimension(None) if shape.rank is None else shape.dims[index]


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Return True: there is no older reader of our graphs to wait for."""
    return True


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Any:
    """A block for which older readers of graphs count from another day; it changes nothing."""
    yield


def __getattr__(name: str) -> Any:
    if name == "v1":
        return importlib.import_module(_FACADE)
    if name == "v2":
        return names_v2.namespace()
    raise AttributeError(f"module 'tensorflow.compat' has no attribute {name!r}")


# -- the import hook -------------------------------------------------------------------------------------------------


class View(ModuleType):
    """A module of TensorFlow's inside: no contents, its names are found in other places.

    `places` is a list of public namespaces and, marked with a colon, modules, as tensorflow_modules.py lists them. The
    public names come last. A name found nowhere is an AttributeError that says where it was sought.
    """

    def __init__(self, name: str, places: str) -> None:
        super().__init__(name, doc=f"{name}, as jitgraph provides it.")
        # A path makes it a package, so that a failing `from view import name` asks the finder, whose message helps.
        self.__path__: list[str] = []
        self.__dict__["_places"] = places.split()

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return self._brought()
        if name.startswith("__"):
            raise AttributeError(name)
        value = self._find(name)
        if value is None and name != "newaxis":
            # Given a name and an object, Python adds no guess of its own.
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} in jitgraph", name="", obj=None)
        self.__dict__[name] = value
        return value

    def _find(self, name: str) -> Any:
        dotted = f"{self.__name__.removeprefix(_NAME + '.')}.{name}"
        if tensorflow_modules.is_listed(dotted) and dotted not in tensorflow_modules.HIDDEN_BY_FUNCTIONS:
            return importlib.import_module(f"{_NAME}.{dotted}")
        if dotted in names.table():         # of the namespace whose place in its package an import has given to this module
            return names.resolve(dotted)
        exported = exported_names.find(dotted.rpartition(".")[0], name)
        if exported is not None:
            return exported
        for place in self._in_order():
            holder = _namespace(place)
            if holder is self:              # an import puts a module into its package, in the place of the namespace
                continue
            if hasattr(holder, name) and not (name in _INTERNAL and holder is sys.modules[_FACADE]):
                return getattr(holder, name)
        if "raw_ops" in self._places:
            return _raw_op(name)
        # TensorFlow's modules import each other, and programs reach through: `rnn.rnn_cell_impl`.
        beside = tensorflow_modules.sibling(self.__name__.removeprefix(_NAME + "."), name)
        return importlib.import_module(f"{_NAME}.{beside}") if beside else None

    def _brought(self) -> list[str]:
        """What `import *` brings: the names of the places, but for modules that these import, and the modules of a package."""
        modules = tensorflow_modules.modules_in(self.__name__.removeprefix(_NAME + "."))
        names_there = {name for place in self._places for name in dir(_namespace(place)) if not name.startswith("_")}
        found = []
        for name in sorted(modules | names_there):
            with contextlib.suppress(AttributeError, ImportError):
                if name in modules or not isinstance(getattr(self, name), ModuleType):
                    found.append(name)
        return found

    def _in_order(self) -> list[str]:
        """The places, the public names last.  Raw ops come after these where the module is not theirs: `io_ops.TextLineReader`
        is the class, not the op of that type."""
        if self.__name__.rpartition(".")[2].startswith("gen_"):
            return [*self._places, ""]
        raw = [place for place in self._places if place == "raw_ops"]
        return [*(place for place in self._places if place != "raw_ops"), "", *raw]

    def __dir__(self) -> list[str]:
        holders = [_namespace(place) for place in [*self._places, ""]]
        return sorted({name for holder in holders if holder is not None for name in dir(holder)} - _INTERNAL)


def _namespace(place: str) -> Any:
    """Return the module or namespace at a place of tensorflow_modules.py, or None where it does not exist."""
    if place.startswith(":"):
        try:
            return importlib.import_module(place[1:])
        except ModuleNotFoundError as error:
            if error.name and place[1:].startswith(error.name):
                return None
            raise
    holder: Any = importlib.import_module(_FACADE)
    for part in place.split(".") if place else []:
        holder = getattr(holder, part, None)
    return holder


def _raw_op(name: str) -> Any:
    """Return the builder of the op whose type is `name` in camel case (`mat_mul` gives MatMul), or None."""
    raw_ops = _namespace("raw_ops")
    wanted = name.strip("_").replace("_", "").lower()
    return next((getattr(raw_ops, found) for found in dir(raw_ops) if found.lower() == wanted), None)


def inner_module(dotted: str) -> ModuleType | None:
    """Return what `tensorflow.DOTTED` means, or None: one of our modules where it is public, else a view."""
    facade = importlib.import_module(_FACADE)
    if dotted in ("", "compat.v1"):
        return facade
    dotted = dotted.removeprefix("compat.v1.")
    if dotted == "compat":
        return sys.modules[__name__]
    if f"{dotted}.".startswith(_V2):
        return _v2_module(dotted.removeprefix(_V2.rstrip(".")).lstrip("."))
    places = tensorflow_modules.places(dotted)
    if places is not None:
        return View(f"{_NAME}.{dotted}", places)
    if dotted.split(".")[0] in _INTERNAL:
        return None
    found = _namespace(dotted)
    if isinstance(found, ModuleType):
        if not hasattr(found, "__path__"):
            # A path, so that `import tensorflow.nn.rnn_cell` gets past `nn`; the name, so that `from tensorflow.nn import
            # absent` asks our finder, which says what to do.
            found.__path__ = []  # type: ignore[attr-defined]
            found.__name__ = f"{_NAME}.{dotted}"
        return found
    return View(f"{_NAME}.{dotted}", dotted) if isinstance(found, SimpleNamespace) else None


def _v2_module(dotted: str) -> ModuleType | None:
    """Return what `tensorflow.compat.v2.DOTTED` means, or None."""
    if dotted.partition(".")[0] == "compat":
        return inner_module(dotted)
    if dotted not in names_v2.namespaces():
        return None
    found = names_v2.resolve(dotted) if dotted else names_v2.namespace()
    if not hasattr(found, "__path__"):
        found.__path__ = []
        found.__name__ = f"{_NAME}.{_V2}{dotted}".rstrip(".")
    return found


def _estimator_module(dotted: str) -> ModuleType | None:
    """Return what `tensorflow_estimator.DOTTED` means, or None."""
    if dotted in ("", "python", "contrib"):
        return View(f"{_ESTIMATOR}.{dotted}".rstrip("."), "")
    return importlib.import_module(f"{_NAME}.{dotted}")


class _Loader(importlib.abc.Loader):
    """Puts a module that exists already under the name that was imported."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        # Returning it from create_module instead would overwrite its __spec__ with that of the name `tensorflow`.
        assert module.__spec__ is not None
        sys.modules[module.__spec__.name] = self.module


class _Finder(importlib.abc.MetaPathFinder):
    """Answers for `tensorflow` and everything below it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        top, _, dotted = fullname.partition(".")
        if top not in (_NAME, _ESTIMATOR):
            return None
        module = inner_module(dotted) if top == _NAME else _estimator_module(dotted)
        if module is None:
            # With its name, `from package import module` would swallow the sentence; without, pydoc.locate, which texts of
            # configurations are looked up by ("tensorflow.layers.Dense"), does not go on with the attributes of the package.
            raise ModuleNotFoundError(_not_there(dotted), name=None if _called_by_from() else fullname)
        return importlib.util.spec_from_loader(fullname, _Loader(module), is_package=True)


def _called_by_from() -> bool:
    """Whether the import that is going on is that of `from package import module`, told by importlib's own frame."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") == "importlib._bootstrap":
        if frame.f_code.co_name == "_handle_fromlist":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


class _Absent(importlib.abc.MetaPathFinder):
    """Says, last of all finders, what to write instead of a name that jitgraph has not: `from tensorflow import keras`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        top, _, dotted = fullname.partition(".")
        spaces = importlib.import_module(f"{_FACADE}.facade.names").namespaces()
        if top != _FACADE or dotted in spaces or dotted.rpartition(".")[0] not in spaces:
            return None
        # With its own `name`, `from package import module` would swallow the sentence.
        raise ModuleNotFoundError(not_here.sentence(dotted), name=_FACADE)


def _not_there(dotted: str) -> str:
    """The sentence for a module that is not there: what ``tf.DOTTED`` says, but for TensorFlow's inner modules."""
    if dotted.startswith(_V2):
        return names_v2.sentence(dotted.removeprefix(_V2))
    if not_here.instead_of(dotted) or not dotted.startswith(("python.", "core.")):
        return not_here.sentence(tensorflow_modules.public(dotted.removeprefix("compat.v1.")))
    return f"jitgraph has no 'tensorflow.{dotted}': see what `tensorflow.{dotted.rpartition('.')[0]}` offers with dir()."


_FINDER = _Finder()
_ABSENT = _Absent()


def install() -> None:
    """Make `import tensorflow`, its submodules and `tensorflow.compat.v1` mean jitgraph in this process.

    Calling it again changes nothing. Raises RuntimeError if the real TensorFlow has been imported already: modules that
    hold its names would go on using them.
    """
    facade = importlib.import_module(_FACADE)
    present = sys.modules.get(_NAME)
    if present is not None and present is not facade:
        raise RuntimeError(
            "tensorflow is already imported in this process; call jitgraph.compat.install() before the first "
            "`import tensorflow`"
        )
    sys.modules[_NAME] = facade
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
        sys.meta_path.append(_ABSENT)


def uninstall() -> None:
    """Undo `install()`: `import tensorflow` finds what is installed by that name. Calling it again changes nothing."""
    if _FINDER not in sys.meta_path:
        return
    sys.meta_path.remove(_FINDER)
    sys.meta_path.remove(_ABSENT)
    facade = importlib.import_module(_FACADE)
    for name in [name for name in list(sys.modules) if name.partition(".")[0] in (_NAME, _ESTIMATOR)]:
        module = sys.modules.pop(name)
        attribute = name.removeprefix(_NAME + ".")
        # Importing a submodule also binds it in its parent, which here is the facade.
        if isinstance(module, View) and kept(facade).get(attribute) is module:
            delattr(facade, attribute)


def installed() -> bool:
    """Return whether `import tensorflow` means jitgraph now."""
    return _FINDER in sys.meta_path
