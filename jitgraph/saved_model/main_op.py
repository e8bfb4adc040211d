"""Operations to run once after a model is loaded."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import group, no_op
from jitgraph.facade import names
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import control_dependencies
from jitgraph.variables.variable_collections import global_variables_initializer, local_variables_initializer


def _tables_initializer() -> Operation:
    from jitgraph.resources.tables import tables_initializer

    if "tables_initializer" in names.table():
        return tables_initializer()
    return no_op(name="init_all_tables")


def main_op() -> Operation:
    """An operation that initializes all variables and tables."""
    return group(global_variables_initializer(), local_variables_initializer(), _tables_initializer())


def main_op_with_restore(restore_op_name: Any) -> Operation:
    """``main_op``, then the operation `restore_op_name`."""
    with control_dependencies([main_op()]):
        return group(restore_op_name)
