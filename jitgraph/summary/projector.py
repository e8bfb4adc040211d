"""``tf.contrib.tensorboard.plugins.projector``: what TensorBoard's view of embeddings is to show."""
from __future__ import annotations

import os
from typing import Any

from jitgraph.filesystem.file_io import write_string_to_file

PROJECTOR_FILENAME = "projector_config.pbtxt"


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes a ProjectorConfig beside the events of a FileWriter.  Raises ValueError for a writer without a folder."""
    logdir = summary_writer.get_logdir()
    if logdir is None:
        raise ValueError("Summary writer must have a logdir")
    from google.protobuf import text_format

    write_string_to_file(os.path.join(logdir, PROJECTOR_FILENAME), text_format.MessageToString(config))
