"""Conditions of loops as Python expressions: `i < n` costs less than a run of a plan."""
from __future__ import annotations

from jitgraph.graph.function_graph import is_state

INFIX = {"Less": "<", "LessEqual": "<=", "Greater": ">", "GreaterEqual": ">=", "Equal": "==", "NotEqual": "!=",
         "LogicalAnd": "and", "LogicalOr": "or"}
LONGEST = 20        # nodes; a longer condition is left to its plan


def python_condition(graph):
    """A function of the list of the loop's variables that says whether the loop goes on; None for other conditions.

    Expressible are comparisons of scalars, combined by `and`, `or` and `not`: they mean the same in Python.
    """
    if graph.control_outputs:
        return None
    writer = _Writer(graph)
    text = writer.text(graph.outputs[0])
    if text is None:
        return None
    return eval(compile(f"lambda v: {text}", "<condition of a loop>", "eval"), writer.scope)


class _Writer:
    def __init__(self, graph):
        self.places = {t: k for k, t in enumerate(graph.inputs) if not is_state(t)}
        self.scope: dict = {}
        self.nodes = 0

    def text(self, tensor):
        """The expression for a tensor, None if there is none."""
        self.nodes += 1
        op = tensor.op
        if self.nodes > LONGEST or tensor._shape != () or op.control_inputs or tensor.dtype.name == "bfloat16":
            return None
        if tensor in self.places:
            return f"v[{self.places[tensor]}]"
        if op.type == "Const":
            name = f"c{len(self.scope)}"
            self.scope[name] = op.attrs["value"][()]
            return name
        if op.type not in INFIX and op.type not in ("LogicalNot", "Identity"):
            return None
        parts = [self.text(t) for t in op.inputs]
        if None in parts:
            return None
        if op.type in INFIX:
            return f"({parts[0]} {INFIX[op.type]} {parts[1]})"
        return f"(not {parts[0]})" if op.type == "LogicalNot" else parts[0]
