"""Names of nodes as seen from inside and from outside of a name scope: what import and export of parts need."""
from __future__ import annotations

import re

from jitgraph.graph.texts import as_text

_MARKED = re.compile(r"(\^|loc:@|)(.*)", re.DOTALL)     # a control input, a colocation group, or a plain name


def prepend_name_scope(name: str | bytes, import_scope: str | None) -> str:
    """`name` (of a node, tensor, control input ``^x`` or group ``loc:@x``) put under `import_scope`."""
    text = as_text(name)
    if not import_scope:
        return text
    mark, plain = _MARKED.fullmatch(text).groups()      # type: ignore[union-attr]
    return f"{mark}{import_scope.rstrip('/')}/{plain}"


def strip_name_scope(name: str | bytes, export_scope: str | None) -> str:
    """`name` without `export_scope` at its head; as it is if it lies elsewhere."""
    text = as_text(name)
    if not export_scope or not is_within(text, export_scope):
        return text
    mark, plain = _MARKED.fullmatch(text).groups()      # type: ignore[union-attr]
    return mark + plain[len(export_scope.rstrip("/")):].lstrip("/")


def is_within(name: str, scope: str | None) -> bool:
    """Whether what `name` names lies in `scope`; everything lies in no scope."""
    return not scope or _MARKED.fullmatch(name).group(2).startswith(scope.rstrip("/") + "/")    # type: ignore[union-attr]
