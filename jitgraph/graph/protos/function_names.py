"""The names by which nodes call functions in a graph file."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jitgraph.graph.calls import functions_of
from jitgraph.protobuf import messages

if TYPE_CHECKING:
    from jitgraph.graph.function_graph import FunctionGraph


def state_of(function: FunctionGraph) -> tuple:
    """What changes whenever the function, or one that it calls, does."""
    inner = tuple(state_of(called) for op in function._nodes_by_id for called in functions_of(op))
    return function.version, function.mutations, len(function.inputs), len(function.outputs), inner


def _as_imported(function: FunctionGraph) -> bool:
    """Whether the function is just as a file stated it."""
    stated = function.__dict__.get("imported")
    return stated is not None and stated[1] == state_of(function)


def note_copy(copy: FunctionGraph, function: FunctionGraph) -> None:
    """Remembers that `copy` is a copy of `function`, and as long as it stays one is called by its name."""
    copy.copied = written_as(function), state_of(copy)


def written_as(function: FunctionGraph) -> FunctionGraph:
    """The function that stands in files for it: what it is an unchanged copy of, else itself."""
    if function.copied is None or function.copied[1] != state_of(function):
        return function
    return function.copied[0]


def reference(function: FunctionGraph) -> Any:
    """The NameAttrList by which nodes call the function."""
    written = written_as(function)
    if _as_imported(written):
        return written.__dict__["imported"][0]
    return messages.NameAttrList(name=exported_name(written))


def exported_name(function: FunctionGraph) -> str:
    """The name of the function in its outermost graph, where no two have the same."""
    if function.exported_name is None:
        root = function._root
        names: set[str] = root.per_graph("function_names", set)
        base = re.sub(r"\W", "_", function.name)
        name, number = base, 1
        while name in names or name in root._functions:
            name, number = f"{base}_{number}", number + 1
        names.add(name)
        function.exported_name = name
    return function.exported_name
