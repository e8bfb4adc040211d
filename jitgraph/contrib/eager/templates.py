"""``tf.contrib.eager.make_template``: functions that share their variables, by a graph of their own if asked for."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.functions.graph_function import defun
from jitgraph.variables import template


def make_template(name_: str, func_: Callable, create_scope_now_: bool = False, unique_name_: str | None = None,
                  custom_getter_: Any = None, create_graph_function_: bool = False, **kwargs: Any) -> template.Template:
    """``tf.make_template`` of `func_`, or with `create_graph_function_` of the ``defun`` of it."""
    made = defun(func_) if create_graph_function_ else func_
    return template.make_template(name_, made, create_scope_now_, unique_name_, custom_getter_, **kwargs)
