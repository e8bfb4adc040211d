"""The results of evaluations in event files, and in the log."""
from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from jitgraph.app import logs
from jitgraph.graph import dtypes
from jitgraph.graph.protos.tensor_proto import make_tensor_proto
from jitgraph.protobuf.messages import Summary
from jitgraph.train.hooks.writers import cached_writer

_NOT_SHOWN = ("Summary for np.ndarray is not visible in Tensorboard by default. Consider using a Tensorboard plugin for "
              "visualization (see https://github.com/tensorflow/tensorboard-plugin-example/blob/master/README.md for more "
              "information).")
_SKIPPED = ("Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or np.ndarray or a serialized "
            "string of Summary.")


def _shown(results: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value!s}" for key, value in sorted(results.items()) if not isinstance(value, bytes))


def write_results(folder: str, results: dict[str, Any], global_step: int) -> None:
    """Logs the results of an evaluation, and adds them to the events in `folder`."""
    logs.info("Saving dict for global step %d: %s", global_step, _shown(results))
    writer = cached_writer(folder)
    summary = Summary()
    for key, value in results.items():
        if value is not None and key != "global_step":
            _add(summary, key, value)
    writer.add_summary(summary, global_step)
    writer.flush()


def _add(summary: Any, key: str, value: Any) -> None:
    if isinstance(value, (np.float32, float)):
        summary.value.add(tag=key, simple_value=float(value))
    elif isinstance(value, (np.int64, np.int32, int)):
        summary.value.add(tag=key, simple_value=int(value))
    elif isinstance(value, bytes):
        try:
            made = Summary.FromString(value)
        except DecodeError:
            logs.warn("Skipping summary for %s, cannot parse string to Summary.", key)
            return
        for number, part in enumerate(made.value):
            part.tag = f"{key}/{number}"
        summary.value.extend(made.value)
    elif isinstance(value, np.ndarray):
        part = summary.value.add(tag=key, node_name=key)
        part.tensor.CopyFrom(make_tensor_proto(value))
        logs.info(_NOT_SHOWN)
    else:
        logs.warn(_SKIPPED, key)


def write_checkpoint_path(folder: str, checkpoint_path: str, global_step: int) -> None:
    """Adds which checkpoint was evaluated to the events in `folder`."""
    logs.info("Saving 'checkpoint_path' summary for global step %d: %s", global_step, checkpoint_path)
    summary = Summary()
    summary.value.add(tag="checkpoint_path", tensor=make_tensor_proto(checkpoint_path, dtype=dtypes.string))
    writer = cached_writer(folder)
    writer.add_summary(summary, global_step)
    writer.flush()
