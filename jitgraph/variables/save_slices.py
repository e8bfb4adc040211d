"""The part that a variable is of a larger, partitioned one."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.scope_names import is_within, prepend_name_scope, strip_name_scope


class SaveSliceInfo:
    """Which part of a larger, partitioned variable a variable is, for checkpoints."""

    def __init__(self, full_name: str | None = None, full_shape: Any = None, var_offset: Any = None,
                 var_shape: Any = None, save_slice_info_def: Any = None, import_scope: str | None = None):
        if save_slice_info_def is not None:
            definition = save_slice_info_def
            full_name, full_shape = prepend_name_scope(definition.full_name, import_scope), list(definition.full_shape)
            var_offset, var_shape = list(definition.var_offset), list(definition.var_shape)
        self.full_name = full_name
        self.full_shape = full_shape
        self.var_offset = var_offset
        self.var_shape = var_shape

    @property
    def spec(self) -> str:
        """The slice as checkpoints write it: ``"10 4 0,5:0,4"``."""
        extents = ":".join(f"{o},{s}" for o, s in zip(self.var_offset, self.var_shape))
        return " ".join(str(d) for d in self.full_shape) + " " + extents

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The SaveSliceInfoDef; None if the variable is not in `export_scope`."""
        from jitgraph.protobuf.messages import SaveSliceInfoDef

        if not is_within(self.full_name or "", export_scope):
            return None
        return SaveSliceInfoDef(full_name=strip_name_scope(self.full_name or "", export_scope), full_shape=self.full_shape,
                                var_offset=self.var_offset, var_shape=self.var_shape)
