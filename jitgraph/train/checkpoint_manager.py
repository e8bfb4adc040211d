"""``tf.train.CheckpointManager``: the last few checkpoints of a folder."""
from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.graph.stack import get_default_session
from jitgraph.train.checkpoint_state import get_checkpoint_state, remove_checkpoint, update_state_file


class CheckpointManager:
    """Saves `checkpoint` into `directory` and deletes all but the newest `max_to_keep` (None: none is deleted).

    One is kept for every `keep_checkpoint_every_n_hours`; the files are named `checkpoint_name` and a number.  What the folder has
    is taken over.  Raises ValueError if `max_to_keep` is not positive.
    """

    def __init__(self, checkpoint: Any, directory: Any, max_to_keep: int | None, keep_checkpoint_every_n_hours: float | None = None,
                 checkpoint_name: str = "ckpt"):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_max_to_keep`, got {max_to_keep}.")
        self._checkpoint, self._directory = checkpoint, os.fspath(directory)
        self._max_to_keep, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._counting: Any = None
        now = time.time()
        state = get_checkpoint_state(self._directory)
        self._latest: str | None = None if state is None else state.model_checkpoint_path
        self._preserved = now - 1.0 if state is None else state.last_preserved_timestamp
        self._kept: dict[str, float] = {}
        if state is not None:
            if now < self._preserved:
                logs.warning("time.time() returned a value %f seconds behind the last preserved checkpoint timestamp.",
                             self._preserved - now)
                self._preserved = now
            paths = list(state.all_model_checkpoint_paths)
            times = list(state.all_model_checkpoint_timestamps) or [self._preserved] * len(paths)
            self._kept = {path: min(at, now) for path, at in zip(paths, times) if min(at, now) > self._preserved}

    @property
    def latest_checkpoint(self) -> str | None:
        """The name of the newest checkpoint, None if there is none."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The names of those that are kept, the oldest first."""
        return list(self._kept)

    def save(self, checkpoint_number: Any = None) -> str:
        """Saves a checkpoint; gives its name.  `checkpoint_number`: a number or variable in the place of the count of savings."""
        session = get_default_session()
        if session is None:
            raise ValueError("a checkpoint of a graph is saved in a session: call save() inside of one")
        counter = self._checkpoint._counter(session)
        if self._counting is None:
            self._counting = counter.assign_add(1)
        number = session.run(self._counting)
        if checkpoint_number is not None:
            number = checkpoint_number if isinstance(checkpoint_number, (int, np.integer)) else session.run(checkpoint_number)
        path = self._checkpoint.write(f"{self._prefix}-{number}", session)
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        self._latest = path
        self._record()
        while self._max_to_keep and len(self._kept) > self._max_to_keep:
            oldest = next(iter(self._kept))
            at = self._kept.pop(oldest)
            if self._hours and at - self._hours * 3600 >= self._preserved:
                self._preserved = at
            else:
                remove_checkpoint(oldest)
        self._record()
        return path

    def _record(self) -> None:
        update_state_file(self._directory, self._latest, list(self._kept), save_relative_paths=True,
                          all_model_checkpoint_timestamps=list(self._kept.values()), last_preserved_timestamp=self._preserved)
