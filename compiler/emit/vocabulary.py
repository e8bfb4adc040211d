"""The instructions that a kernel's text may name."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .call import Call
from .instruction import Form, Instruction
from .intrinsics import namespace
from .product_code import Product
from .tile import Tile
from .winograd_code import Transformation
from .words import Scratch

FORMS: dict[str, Any] = {form.__name__: form for form in (Call, Product, Scratch, Tile, Transformation)}


def names(forms: Iterable[Form]) -> dict[str, Instruction]:
    """{name: instruction} for what a text may name that has these forms."""
    return {**namespace(), **{form.name: form.instruction() for form in forms}}


def forms_from(written: Iterable[list[Any]]) -> list[Form]:
    """The forms that a list [name of the class, fields ...] each tells, as JSON carries them."""
    return [FORMS[name](*fields) for name, *fields in written]
