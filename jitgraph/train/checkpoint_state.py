"""Which checkpoints a folder has: the state file ``checkpoint``, and the files behind a prefix."""
from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from google.protobuf import text_format

from jitgraph.app import logs
from jitgraph.formats import bundle, checkpoint_v1
from jitgraph.formats.checkpoint import missing_folder, path_string
from jitgraph.formats.files import local_path, op_errors, write_bytes
from jitgraph.graph.errors import NotFoundError
from jitgraph.protobuf import messages

STATE_FILE = "checkpoint"
V1, V2 = messages.SaverDef.V1, messages.SaverDef.V2


def _state_path(folder: str, latest_filename: str | None) -> str:
    return os.path.join(folder, STATE_FILE if latest_filename is None else latest_filename)


def generate_checkpoint_state_proto(save_dir: Any, model_checkpoint_path: Any, all_model_checkpoint_paths: Any = None,
                                    all_model_checkpoint_timestamps: Any = None,
                                    last_preserved_timestamp: float | None = None) -> Any:
    """The CheckpointState that says which checkpoint in `save_dir` is the newest, and which others are kept.

    Relative paths are made relative to `save_dir` if that is relative too.  Raises ValueError if there are not as many
    timestamps as paths.
    """
    folder, newest = path_string(save_dir), path_string(model_checkpoint_path)
    paths = [path_string(path) for path in all_model_checkpoint_paths or []]
    if all_model_checkpoint_timestamps is not None and len(all_model_checkpoint_timestamps) != len(paths):
        raise ValueError(f"Checkpoint timestamps, if provided, must match checkpoint paths (got {len(paths)} paths and "
                         f"{len(all_model_checkpoint_timestamps)} timestamps)")
    if not paths or paths[-1] != newest:
        paths.append(newest)
    if not os.path.isabs(folder):
        paths = [path if os.path.isabs(path) else os.path.relpath(path, folder) for path in paths]
        newest = newest if os.path.isabs(newest) else os.path.relpath(newest, folder)
    return messages.CheckpointState(model_checkpoint_path=newest, all_model_checkpoint_paths=paths,
                                    all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
                                    last_preserved_timestamp=last_preserved_timestamp or 0.0)


def update_checkpoint_state(save_dir: Any, model_checkpoint_path: Any, all_model_checkpoint_paths: Any = None,
                            latest_filename: str | None = None, all_model_checkpoint_timestamps: Any = None,
                            last_preserved_timestamp: float | None = None) -> None:
    """Writes the state file of `save_dir`, all at once.

    Raises RuntimeError if a checkpoint has the name of that file, ``tf.errors`` if it cannot be written.
    """
    update_state_file(save_dir, model_checkpoint_path, all_model_checkpoint_paths, latest_filename, False,
                      all_model_checkpoint_timestamps, last_preserved_timestamp)


def update_state_file(save_dir: Any, model_checkpoint_path: Any, all_model_checkpoint_paths: Any = None,
                      latest_filename: str | None = None, save_relative_paths: bool = False,
                      all_model_checkpoint_timestamps: Any = None, last_preserved_timestamp: float | None = None) -> None:
    """``update_checkpoint_state``; with `save_relative_paths`, paths are written relative to the folder."""
    folder, newest = path_string(save_dir), path_string(model_checkpoint_path)
    state_path = _state_path(folder, latest_filename)
    paths = [path_string(path) for path in all_model_checkpoint_paths or []]
    if save_relative_paths:
        inside = [os.path.relpath(path, folder) if os.path.isabs(path) else path for path in [newest, *paths]]
        newest, paths = inside[0], inside[1:]
    state = generate_checkpoint_state_proto(folder, newest, paths, all_model_checkpoint_timestamps,
                                            last_preserved_timestamp)
    if state_path == state.model_checkpoint_path:
        raise RuntimeError(f"Save path '{state.model_checkpoint_path}' conflicts with path used for checkpoint state.  "
                           "Please use a different save path.")
    with op_errors(state_path):
        write_bytes(state_path, text_format.MessageToString(state, descriptor_pool=messages.POOL))


def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> Any:
    """The CheckpointState in the state file of a folder, with paths as seen from here; None if there is none.

    Raises ValueError if the file names no checkpoint.
    """
    folder = path_string(checkpoint_dir)
    path = _state_path(folder, latest_filename)
    state = messages.CheckpointState()
    try:
        with open(local_path(path), encoding="utf-8") as file:
            text_format.Parse(file.read(), state, descriptor_pool=messages.POOL)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, text_format.ParseError) as error:
        logs.warn("%s: %s", path, error)
        logs.warn("%s: Checkpoint ignored", path)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {folder}")
    state.model_checkpoint_path = os.path.join(folder, state.model_checkpoint_path)
    state.all_model_checkpoint_paths[:] = [os.path.join(folder, p) for p in state.all_model_checkpoint_paths]
    return state


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The prefix of the newest checkpoint that the state file of a folder names; None if there is none."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    if checkpoint_exists(state.model_checkpoint_path):
        return state.model_checkpoint_path
    logs.error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


def _main_files(prefix: str) -> list[str]:
    """The files that make a checkpoint be there: the index, or those of the old format.  Raises NotFoundError without a folder."""
    index = bundle.index_path(prefix)
    if missing_folder(prefix):
        raise NotFoundError(None, None, f"{missing_folder(prefix)}; No such file or directory: where the checkpoint {prefix} was "
                                        "looked for")
    return [index] if os.path.exists(index) else glob.glob(index) or checkpoint_v1.files(prefix)


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is a checkpoint of that prefix, in either format.  Raises NotFoundError if its folder is not there."""
    prefix = path_string(checkpoint_prefix)
    return bool(prefix) and bool(_main_files(prefix))


def get_checkpoint_mtimes(checkpoint_prefixes: Any) -> list[float]:
    """When each checkpoint was written, in seconds; those that are not there are left out.

    Raises NotFoundError if the folder of one is not there.
    """
    times = []
    for prefix in checkpoint_prefixes:
        files = _main_files(path_string(prefix))
        if files:
            times.append(os.stat(files[0]).st_mtime)
    return times


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """The file of the MetaGraph beside a checkpoint; the same for all shards of one."""
    return re.sub(r"-[\d?]+-of-\d+$", "", checkpoint_filename) + "." + meta_graph_suffix


def remove_checkpoint(checkpoint_prefix: Any, checkpoint_format_version: int = V2,
                      meta_graph_suffix: str = "meta") -> None:
    """Removes the files of a checkpoint and of its MetaGraph.  Raises NotFoundError if the folder is not there."""
    prefix = local_path(path_string(checkpoint_prefix))
    _main_files(prefix)
    files = [meta_graph_filename(prefix, meta_graph_suffix)]
    if checkpoint_format_version == V2:
        pattern = bundle.data_pattern(prefix)
        folder = os.path.dirname(prefix)
        files.append(bundle.index_path(prefix))     # first, so that what is left is no checkpoint
        with suppress(OSError):
            names = [os.path.join(folder, name) for name in os.listdir(folder or ".")]
            files.extend(name for name in names if pattern.match(name))
    else:
        files.extend(checkpoint_v1.files(prefix))
    for path in files:
        with op_errors(path), suppress(FileNotFoundError):
            os.unlink(path)


def checkpoints_iterator(checkpoint_dir: Any, min_interval_secs: float = 0, timeout: float | None = None,
                         timeout_fn: Any = None) -> Iterator[str]:
    """Waits for new checkpoints in a folder and gives the prefix of each.

    `min_interval_secs`: at least so long between two.  `timeout`: seconds to wait for one (for ever if None), after
    which ``timeout_fn()`` says whether to stop; without it, the iteration ends.
    """
    import time

    prefix = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, prefix, timeout=timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        started, prefix = time.monotonic(), found
        yield prefix
        time.sleep(max(0.0, min_interval_secs - (time.monotonic() - started)))


def wait_for_new_checkpoint(checkpoint_dir: Any, last_checkpoint: str | None = None, seconds_to_sleep: float = 1,
                            timeout: float | None = None) -> str | None:
    """The newest checkpoint of a folder once it is another than `last_checkpoint`; None after `timeout` seconds."""
    import time

    end = None if timeout is None else time.monotonic() + timeout
    while True:
        found = latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            return found
        if end is not None and time.monotonic() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)


def state_with_times(paths: list[str]) -> list[tuple[str, float]]:
    """(path, time) of the checkpoints among `paths` that are there."""
    found: list[tuple[str, float]] = []
    for path in paths:
        with suppress(NotFoundError, OSError):
            found.extend((path, time) for time in get_checkpoint_mtimes([path]))
    return found
