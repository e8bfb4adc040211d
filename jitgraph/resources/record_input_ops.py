"""RecordInput as a node.  What it keeps is in ``record_input_host``, the class of ``tf.contrib.framework`` in ``record_inputs``."""
from __future__ import annotations

import numpy as np

from jitgraph.declare.op import op
from jitgraph.resources import record_input_host


@op("RecordInput(; file_pattern: string, file_random_seed: int = 301, file_shuffle_shift_ratio: float = 0, "
    'file_buffer_size: int = 10000, file_parallelism: int = 16, batch_size: int = 32, compression_type: string = "") -> '
    "records: string", shape=lambda c: (c.attrs["batch_size"],), stateful=True, host=True, context=("state", "op"),
    tested_in="tests/resources/test_record_input.py: files")
def record_input(state, op):
    """The next `batch_size` records of the files that match a pattern, in a random order, over and over."""
    kept = state.resource(("record input", op), lambda: record_input_host.Records(op.attrs))
    found = np.empty(op.attrs["batch_size"], object)
    found[:] = kept.take(len(found))
    return found
