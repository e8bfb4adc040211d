"""What layers write into ``get_config`` and read from it: initializers, activations, regularizers and functions as plain data."""
from __future__ import annotations

import base64
import marshal
import sys
import types
from collections.abc import Callable
from typing import Any


def config_of(layer: Any) -> dict[str, Any]:
    """The arguments that the classes of `layer` name in ``_config_fields``, those of base classes first, as plain data."""
    config: dict[str, Any] = {}
    for owner in reversed(type(layer).__mro__):
        for field in vars(owner).get("_config_fields", ()):
            config[field] = _plain(field, getattr(layer, field) if hasattr(layer, field) else getattr(layer, f"_{field}"))
    return config


def has_fields(layer: Any) -> bool:
    """Whether a class of `layer` says what its configuration holds, be it nothing."""
    return any("_config_fields" in vars(owner) for owner in type(layer).__mro__)


def _plain(field: str, value: Any) -> Any:
    if field == "activation":
        return "linear" if value is None else described(value)
    if field.endswith(("initializer", "regularizer", "constraint", "cell")):
        return described(value)
    return value


def described(value: Any) -> Any:
    """`value` as plain data: None as it is, an object as class name and configuration, a function by its name.

    Raises ValueError for what has neither a configuration nor a name.
    """
    if value is None:
        return None
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if hasattr(value, "__name__"):
        return value.__name__
    raise ValueError("Cannot serialize", value)


def class_and_config(given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The class name and the configuration that ``described`` wrote.  Raises ValueError for other dictionaries."""
    if "class_name" not in given or "config" not in given:
        raise ValueError(f"Improper config format: {given}")
    return given["class_name"], given["config"]


# A function of a wrapper is written with its code: by its name alone, no program could find a lambda again.

def function_config(key: str, function: Callable | None, module_key: str) -> dict[str, Any]:
    """What stands for `function` in a configuration, under `key`, `key` + "_type" and `module_key`; nothing for None."""
    if function is None:
        return {}
    written: Any = function.__name__ if not isinstance(function, types.FunctionType) else _code(function)
    kind = "lambda" if isinstance(function, types.FunctionType) else "function"
    return {key: written, f"{key}_type": kind, module_key: function.__module__}


def _code(function: types.FunctionType) -> tuple[str, Any, Any]:
    closure = tuple(cell.cell_contents for cell in function.__closure__) if function.__closure__ else None
    return base64.encodebytes(marshal.dumps(function.__code__)).decode("ascii"), function.__defaults__, closure


def function_from_config(config: dict[str, Any], key: str, module_key: str) -> Callable | None:
    """The function that ``function_config`` wrote, its keys taken out of `config`.  Raises ValueError for an unknown name."""
    written = config.pop(key, None)
    if written is None:
        return None
    loaded = sys.modules.get(config.pop(module_key))
    module = {} if loaded is None else vars(loaded)
    if config.pop(f"{key}_type") == "function":
        if written not in module:
            raise ValueError(f"Unknown function in wrapper: {written}")
        found: Callable = module[written]
        return found
    code, defaults, closure = written
    cells = None if closure is None else tuple(map(types.CellType, closure))
    return types.FunctionType(marshal.loads(base64.b64decode(code)), module, None,
                              None if defaults is None else tuple(defaults), cells)
