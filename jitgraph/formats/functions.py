"""Function libraries of GraphDefs: named functions that nodes call by their op type or in an attribute."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jitgraph.formats import messages
from jitgraph.formats.op_def import declaration


@dataclass(slots=True)
class ImportedFunction:
    """A function of a graph as a file states it: the FunctionDef, and the name of the function that is its gradient."""

    name: str
    definition: Any
    gradient_name: str = ""


class FunctionLibrary:
    """The functions that the nodes of one file may call: its own, and those of the graph it joins."""

    def __init__(self, graph: Any, library: Any):
        self._graph = graph
        self._opdefs: dict[str, Any] = {}
        gradients = {entry.function_name: entry.gradient_func for entry in library.gradient}
        for definition in library.function:
            name = definition.signature.name
            known = graph._functions.get(name)
            if known is None:
                kept = messages.FunctionDef()
                kept.CopyFrom(definition)
                graph._functions[name] = ImportedFunction(name, kept, gradients.get(name, ""))
            elif getattr(known, "definition", definition) != definition:
                raise ValueError(f"Cannot add function '{name}' because a different function with the same name already "
                                 "exists.")

    def opdef(self, op_type: str) -> Any:
        """The declaration of a function as an op, None if there is no function of that name."""
        if op_type not in self._graph._functions:
            return None
        found = self._opdefs.get(op_type)
        if found is None:
            found = self._opdefs[op_type] = declaration(self._graph._functions[op_type].definition.signature)
        return found
