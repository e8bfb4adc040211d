"""Python's syntax trees, made by one thread at a time."""
from __future__ import annotations

import ast
import threading
from typing import Any

_ALONE = threading.Lock()


def parse(text: str, mode: str = "exec") -> Any:
    """``ast.parse(text, mode=mode)``.

    CPython 3.11 and its kin count the depth of a tree for all threads together: where one goes on while another is halfway,
    because a collection of garbage runs Python in between, it raises a SystemError, "AST constructor recursion depth mismatch".
    """
    with _ALONE:
        return ast.parse(text, mode=mode)


def literal(text: str) -> Any:
    """``ast.literal_eval(text)``, likewise."""
    return ast.literal_eval(parse(text.lstrip(" \t"), "eval"))
