"""The one-line signature of an op: ``"Sum(input: T, reduction_indices: Tidx; keep_dims: bool = False) -> output: T"``.

Inputs and outputs: ``x: T`` (T is a type attribute), ``x: float32``, ``values: N*T`` (a list of length N),
``args: [Tin]`` (a list with one type each), ``ref: &T`` (a reference, that is, a variable).
Attributes, after the semicolon: ``name: kind``, kind one of bool int float string type shape tensor func, or
``list(kind)``; then, each optional, ``>= minimum``, ``{"A", "B"}`` (allowed strings), ``= default`` (a tensor: ``uint8[1, 2]``).
Type attributes and list lengths that inputs imply need no mention after the semicolon.
"""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.attributes import single
from jitgraph.graph.dtypes import DType, TypeSet
from jitgraph.graph.syntax import literal

KINDS = ("bool", "int", "float", "string", "type", "shape", "tensor", "func")
REQUIRED = object()         # the default of an attribute that must be given


@dataclass(slots=True)
class Arg:
    """An input or output of an op."""

    name: str
    dtype: DType | None = None      # fixed type
    type_attr: str | None = None    # or the attribute that names it
    number_attr: str | None = None  # a list of this many
    list_attr: str | None = None    # a list, the types named by this attribute
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        """Whether it is a list of tensors."""
        return self.number_attr is not None or self.list_attr is not None


@dataclass(slots=True)
class Attr:
    """An attribute of an op.  ``implied``: an input decides it, so callers do not give it."""

    name: str
    kind: str
    default: Any = REQUIRED
    allowed: Any = None             # a TypeSet for types, a tuple for strings
    minimum: int | None = None
    implied: bool = False


@dataclass(slots=True)
class Signature:
    """A parsed signature."""

    type: str
    inputs: list[Arg] = field(default_factory=list)
    outputs: list[Arg] = field(default_factory=list)
    attrs: dict[str, Attr] = field(default_factory=dict)


_ARG = re.compile(r"(\w+)\s*:\s*(&?)\s*(?:(\w+)\s*\*\s*)?(&?)\s*(\[?)\s*(\w+)\s*(\]?)$")
_ATTR = re.compile(r"(\w+)\s*:\s*(list\(\w+\)|\w+)\s*(?:>=\s*(-?\d+))?\s*(\{[^}]*\})?\s*(?:=\s*(.+))?$", re.DOTALL)


def op_type(text: str) -> str:
    """The name before the parenthesis.  Raises ValueError if there is none."""
    name, parenthesis, _ = text.partition("(")
    name = name.strip()
    if not parenthesis or not name.isidentifier():
        raise ValueError(f"{text!r} is not an op signature: expected Name(inputs; attrs) -> outputs")
    return name


def parse(text: str, type_sets: dict[str, Any]) -> Signature:
    """The parsed form of a signature.  `type_sets` gives the allowed dtypes of type attributes.

    Raises ValueError, naming the op and the part, for text that is not a signature.
    """
    signature = Signature(op_type(text))
    inside, rest = _inside(text, text.index("(") + 1)
    inputs, _, attrs = _partition(inside, ";")
    for part in _split(attrs):
        attr = _attr(part, signature.type)
        signature.attrs[attr.name] = attr
    signature.inputs = [_arg(part, signature) for part in _split(inputs)]
    for arg in signature.inputs:
        _imply(arg, signature)
    rest = rest.strip()
    if rest:
        if not rest.startswith("->"):
            raise ValueError(f"{signature.type}: expected '->' before the outputs, got {rest!r}")
        signature.outputs = [_arg(part, signature) for part in _split(rest[2:])]
    _check_outputs(signature)
    for name, types in type_sets.items():
        _allow(signature, name, types)
    return signature


def _inside(text: str, start: int) -> tuple[str, str]:
    depth = 1
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return text[start:position], text[position + 1:]
    raise ValueError(f"{text!r}: the parenthesis is not closed")


def _parts(text: str, separator: str) -> list[str]:
    parts, depth, quote, current = [], 0, "", ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == separator and depth == 0:
            parts.append(current)
            current = ""
            continue
        current += letter
    return [*parts, current]


def _split(text: str) -> list[str]:
    return [part.strip() for part in _parts(text, ",") if part.strip()]


def _partition(text: str, separator: str) -> tuple[str, str, str]:
    first, *others = _parts(text, separator)
    return first, separator, separator.join(others)


def _arg(text: str, signature: Signature) -> Arg:
    match = _ARG.match(text)
    if not match:
        raise ValueError(f"{signature.type}: {text!r} is not an input or output (name: T, N*T, [T] or &T)")
    name, ref_before, number, ref_after, bracket, type_name, _ = match.groups()
    arg = Arg(name, number_attr=number, is_ref=bool(ref_before or ref_after))
    if bracket:
        arg.list_attr = type_name
    elif type_name in dtypes._BY_NAME and type_name not in signature.attrs:
        arg.dtype = dtypes.as_dtype(type_name)
    else:
        arg.type_attr = type_name
    return arg


def _attr(text: str, op_type: str) -> Attr:
    match = _ATTR.match(text)
    if not match:
        raise ValueError(f"{op_type}: {text!r} is not an attribute (name: kind = default)")
    name, kind, minimum, allowed, default = match.groups()
    if (kind[5:-1] if kind.startswith("list(") else kind) not in KINDS:
        raise ValueError(f"{op_type}: attribute {name} has the unknown kind {kind!r}; kinds are {', '.join(KINDS)}")
    attr = Attr(name, kind)
    attr.minimum = int(minimum) if minimum else None
    attr.allowed = tuple(literal("[" + allowed[1:-1] + "]")) if allowed else None
    if default is not None:
        attr.default = _default(default.strip(), kind)
    return attr


def _default(text: str, kind: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if kind == "type":
        return dtypes.as_dtype(text)
    if kind == "list(type)":
        return [dtypes.as_dtype(name.strip()) for name in text.strip("[]").split(",") if name.strip()]
    if kind == "tensor":
        dtype, bracket, values = text.partition("[")
        return np.array(literal(bracket + values), dtypes.as_dtype(dtype).as_numpy_dtype)
    value = literal(text)
    if kind == "float":
        return single(value)
    if kind == "list(float)":
        return [single(one) for one in value]
    if kind == "shape" and value is not None:
        return tuple(value)
    return value


def _imply(arg: Arg, signature: Signature) -> None:
    """Declares the attributes that an input decides."""
    for name, kind in ((arg.type_attr, "type"), (arg.number_attr, "int"), (arg.list_attr, "list(type)")):
        if name is not None:
            signature.attrs.setdefault(name, Attr(name, kind)).implied = True
    if arg.number_attr and signature.attrs[arg.number_attr].minimum is None:
        signature.attrs[arg.number_attr].minimum = 1


def _check_outputs(signature: Signature) -> None:
    for arg in signature.outputs:
        for name in (arg.type_attr, arg.number_attr, arg.list_attr):
            if name is not None and name not in signature.attrs:
                raise ValueError(f"{signature.type}: output {arg.name} has type {name}, which is neither a dtype, nor "
                                 f"a type of an input, nor a declared attribute (add '{name}: type' after the "
                                 "semicolon)")


def _allow(signature: Signature, name: str, types: Any) -> None:
    if name not in signature.attrs or "type" not in signature.attrs[name].kind:
        raise ValueError(f"{signature.type}: {name}= gives dtypes, but the signature has no type attribute {name}")
    attr = signature.attrs[name]
    if isinstance(types, DType):
        types = TypeSet(types)
    attr.allowed = types
    if types.default is not None and attr.default is REQUIRED:
        attr.default = types.default
