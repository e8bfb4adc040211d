"""Protocol buffers in files, as text or binary."""
from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format

from jitgraph.formats.checkpoint import path_string
from jitgraph.formats.files import local_path, op_errors, write_bytes
from jitgraph.protobuf import messages


def write_message(message: Any, path: str, as_text: bool) -> None:
    """Writes a message to a file; its folder is made if need be."""
    with op_errors(path):
        os.makedirs(os.path.dirname(local_path(path)) or ".", exist_ok=True)
        write_bytes(path, text_format.MessageToString(message, descriptor_pool=messages.POOL) if as_text
                    else message.SerializeToString(deterministic=True))


def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """``tf.train.write_graph``: writes a Graph or GraphDef to the file `name` in `logdir`; returns its path.

    The folder is made if need be.  Raises ``tf.errors`` if it cannot be written.
    """
    graph_def = graph_or_graph_def.as_graph_def() if hasattr(graph_or_graph_def, "as_graph_def") else graph_or_graph_def
    path = os.path.join(path_string(logdir), name)
    write_message(graph_def, path, as_text)
    return path
