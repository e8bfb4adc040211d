"""``HParams``: named values with types, read from text such as "rate=0.5,layers=[3,4]"."""
from __future__ import annotations

import json
import numbers
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitgraph.compat import as_bytes, as_str
from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.protobuf import messages

_CLAUSE = re.compile(r"(?P<name>[a-zA-Z][\w.]*)(\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
                     r"((?P<one>[^,\[]*)|\[(?P<many>[^\]]*)\])($|,\s*)")


def parse_values(values: str, type_map: dict[str, Any], ignore_unknown: bool = False) -> dict[str, Any]:
    """{name: value} for "a=1,b=[x,y],c[2]=3", where an index gives {index: value}.

    `type_map` has the type of each name (of the elements of a list).  Raises ValueError for text of another form, for names
    that have no type (left out if `ignore_unknown`), for values of another type, and for a name that is set twice.
    """
    found: dict[str, Any] = {}
    for name, index, one, many in _clauses(values):
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        parse = _parser(type_map[name])
        try:
            parsed = parse(one) if many is None else [parse(part) for part in re.split("[ ,]", many) if part]
        except ValueError:
            raise ValueError(f"Could not parse hparam '{name}' of type '{type_map[name].__name__}' with value "
                             f"'{one if many is None else many}' in {values}") from None
        if index is None:
            if name in found:
                raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
            found[name] = parsed
            continue
        if many is not None:
            raise ValueError("Assignment of a list to a list index.")
        parts = found.setdefault(name, {})
        if not isinstance(parts, dict) or int(index) in parts:
            twice = f"{name}[{index}]" if isinstance(parts, dict) else name
            raise ValueError(f"Multiple assignments to variable '{twice}' in {values}")
        parts[int(index)] = parsed
    return found


def _clauses(values: str) -> Iterator[tuple]:
    """(name, index, value, values of a list) of each clause; what is not there is None."""
    position = 0
    while position < len(values):
        match = _CLAUSE.match(values, position)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        yield match["name"], match["index"], match["one"], match["many"]


def _parser(kind: Any) -> Callable:
    return _parse_bool if kind is bool else kind


def _parse_bool(text: str) -> bool:
    known = {"true": True, "True": True, "false": False, "False": False}
    return known[text] if text in known else bool(int(text))


def _cast(name: str, kind: type, value: Any) -> Any:
    """`value` as a `kind`, where nothing is lost.  Raises ValueError otherwise."""
    if type(value) is kind or issubclass(kind, type(None)):
        return value
    is_text = issubclass(kind, (str, bytes)) and not isinstance(value, (str, bytes))
    is_bool = issubclass(kind, bool) != isinstance(value, bool)
    no_number = any(issubclass(kind, base) and not isinstance(value, base) for base in (numbers.Integral, numbers.Number))
    if is_text or is_bool or no_number:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    convert: Callable = kind
    return convert(value)


def _field(kind: type, is_list: bool) -> str:
    """The field of an HParamType that holds values of a type.  Raises ValueError for a type that none holds."""
    for types, name in (((bool,), "bool"), ((int, np.integer), "int64"), ((str, bytes), "bytes"), ((float,), "float")):
        if issubclass(kind, types):
            return f"{name}_{'list' if is_list else 'value'}"
    raise ValueError(f"Unsupported parameter type: {kind}")


def _values_of(definition: Any) -> dict[str, Any]:
    if not isinstance(definition, messages.HParamDef):
        raise AssertionError(f"hparam_def has to be an HParamDef, {definition!r} found")
    found: dict[str, Any] = {}
    for name, held in definition.hparam.items():
        field = held.WhichOneof("kind")
        value = getattr(held, field)
        if field.endswith("_list"):
            found[name] = [as_str(one) for one in value.value] if field == "bytes_list" else list(value.value)
        else:
            found[name] = as_str(value) if field == "bytes_value" else value
    return found


class HParams:
    """Hyperparameters as attributes: ``HParams(rate=0.1, layers=[3, 4]).rate``.

    The first value of each gives its type, to which later ones are cast: bool, int, float, str, or a list of one of them.
    `hparam_def`: an HParamDef, whose values they are instead.
    """

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any):
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        if hparam_def and kwargs:
            raise ValueError("hparam_def and initial values are mutually exclusive")
        for name, value in (_values_of(hparam_def) if hparam_def else kwargs).items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds one.  Raises ValueError for a name that is taken and for an empty list."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, (list, tuple))
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._hparam_types[name] = (type(value[0]) if is_list else type(value), is_list)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Changes one.  Raises KeyError for an unknown name, ValueError for a value that cannot be cast to its type."""
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list) != is_list:
            raise ValueError(f"Must pass a list for multi-valued parameter: {name}." if is_list else
                             f"Must not pass a list for single-valued parameter: {name}")
        setattr(self, name, [_cast(name, kind, one) for one in value] if is_list else _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes one, if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Itself, changed as text says.  Raises ValueError for what ``parse_values`` and ``set_hparam`` do."""
        return self.override_from_dict(parse_values(values, {name: kind for name, (kind, _) in self._hparam_types.items()}))

    def parse_json(self, values_json: str) -> HParams:
        """Itself, changed as the object in a JSON text says."""
        return self.override_from_dict(json.loads(values_json))

    def override_from_dict(self, values_dict: dict[str, Any]) -> HParams:
        """Itself, changed as a dict says."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    @deprecated(None, "Use `override_from_dict`.")
    def set_from_map(self, values_map: dict[str, Any]) -> HParams:
        """The older name of ``override_from_dict``."""
        return self.override_from_dict(values_map)

    def set_model_structure(self, model_structure: Any) -> None:
        """Keeps anything beside the values."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """What ``set_model_structure`` kept."""
        return self._model_structure

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """The values as a JSON text."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The values as an HParamDef.  Raises ValueError for values of other types than bool, int, float and str."""
        found = messages.HParamDef()
        for name, (kind, is_list) in self._hparam_types.items():
            field, value = _field(kind, is_list), getattr(self, name)
            if not is_list:
                setattr(found.hparam[name], field, as_bytes(value) if field == "bytes_value" else value)
                continue
            elements = getattr(found.hparam[name], field)
            elements.value.extend(map(as_bytes, value) if field == "bytes_list" else value)
        return found

    @staticmethod
    def from_proto(hparam_def: Any, import_scope: str | None = None) -> HParams:
        """The values of an HParamDef."""
        return HParams(hparam_def=hparam_def)

    def values(self) -> dict[str, Any]:
        """{name: value}"""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """The value, or `default` for an unknown name.  Raises ValueError if the default could not be that value."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            wrong = (f"Hparam '{key}' of type '{f'list<{kind}>' if is_list else kind}' is incompatible with "
                     f"default={default}")
            if is_list != isinstance(default, list):
                raise ValueError(wrong)
            try:
                for one in default if is_list else [default]:
                    _cast(key, kind, one)
            except ValueError as error:
                raise ValueError(f"{wrong}. {error}") from None
        return getattr(self, key)

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"
