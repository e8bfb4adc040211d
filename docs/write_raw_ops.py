"""Writes jitgraph/raw_ops.pyi: what checkers and editors see of `tf.raw_ops`.  ``python docs/write_raw_ops.py``

The functions themselves are looked up by name when a program asks for them, since most programs use few.
"""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

STUB = Path(__file__).parent.parent / "jitgraph" / "raw_ops.pyi"
HEAD = '''"""``tf.raw_ops``: the function of every declared op under the op's own name.

Written by docs/write_raw_ops.py from the declarations; above each op stands the module that declares it.
"""
from typing import Any as _Any
from typing import overload

from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor
'''


def text() -> str:
    """The stub."""
    from jitgraph.graph.registry import load_all

    return HEAD + "".join("\n" + _function(opdef) for name, opdef in sorted(load_all().items()) if _is_ours(name, opdef))


def _is_ours(name: str, opdef: Any) -> bool:
    return name == opdef.type and opdef.builder.__module__.startswith("jitgraph.")


def _function(opdef: Any) -> str:
    result = _result(opdef)
    renamed = {name: public for public, name in opdef.renamed.items()}
    forms = [renamed, {}] if renamed else [{}]
    mark = "@overload\n" if len(forms) > 1 else ""
    return f"# {opdef.builder.__module__}\n" + "".join(
        f"{mark}def {opdef.type}({', '.join(_parameters(opdef, form))}) -> {result}: ...\n" for form in forms)


def _parameters(opdef: Any, renamed: dict[str, str]) -> list[str]:
    """Inputs, attributes and the name, as positional arguments; what inputs decide may be given by its name."""
    from jitgraph.graph.signature import REQUIRED

    found = [f"{renamed.get(arg.name, arg.name)}: _Any" for arg in opdef.inputs]
    for name in opdef.given:
        default = "" if opdef.attrs[name].default is REQUIRED else " = ..."
        found.append(f"{renamed.get(name, name)}: _Any{default}")
    found.append("name: _Any = ...")
    implied = [name for name, attr in opdef.attrs.items() if attr.implied]
    return found + ["*", *(f"{name}: _Any = ..." for name in implied)] if implied else found


def _result(opdef: Any) -> str:
    if not opdef.outputs:
        return "Operation"
    if len(opdef.outputs) > 1:
        return "_Any"           # a named tuple
    return "list[Tensor]" if opdef.outputs[0].is_list else "Tensor"


if __name__ == "__main__":
    STUB.write_text(text())
    sys.exit(0)
