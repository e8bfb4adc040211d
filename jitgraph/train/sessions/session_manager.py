"""``tf.train.SessionManager``: a session whose variables are initialised, restored or waited for."""
from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.facade.names import resolve
from jitgraph.graph import errors
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.train.checkpoint_state import get_checkpoint_state


class SessionManager:
    """Makes sessions that are ready to train.

    Args:
      local_init_op: initialises what is not in checkpoints; it runs in every new session.
      ready_op: a vector of strings, the names of what is not initialised; None if nothing needs to be checked.
      ready_for_local_init_op: the same of what `local_init_op` needs.
      graph: the graph of the sessions; the default graph if None.
      recovery_wait_secs: seconds between two looks at a session or folder that is not ready.
      local_init_run_options: the RunOptions of `local_init_op`.
    Raises ValueError for a `ready_for_local_init_op` without a `local_init_op`.
    """

    def __init__(self, local_init_op: Any = None, ready_op: Any = None, ready_for_local_init_op: Any = None,
                 graph: Any = None, recovery_wait_secs: float = 30, local_init_run_options: Any = None):
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError("If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                             f"ready_for_local_init_op [{ready_for_local_init_op}]")
        self._local_init_op, self._ready_op = local_init_op, ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = get_default_graph() if graph is None else graph
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options

    def prepare_session(self, master: str, init_op: Any = None, saver: Any = None, checkpoint_dir: Any = None,
                        checkpoint_filename_with_path: Any = None, wait_for_checkpoint: bool = False,
                        max_wait_secs: float = 7200, config: Any = None, init_feed_dict: dict | None = None,
                        init_fn: Callable | None = None) -> Any:
        """A session whose variables are restored from a checkpoint if there is one, else initialised.

        Args:
          master: the target of the session, "" or that of a Server.
          init_op: what initialises it if there is no checkpoint.
          saver: restores the checkpoint.
          checkpoint_dir: the folder whose newest checkpoint is restored.
          checkpoint_filename_with_path: or this checkpoint.
          wait_for_checkpoint: whether to wait for one, at most `max_wait_secs` seconds.
          config: the ConfigProto of the session.
          init_feed_dict: what is fed to `init_op`.
          init_fn: called with the session after `init_op`.
        Raises ValueError if a folder and a checkpoint are given; RuntimeError if there is nothing to initialise it by, or if
        variables are not initialised afterwards: it lists them.
        """
        session, restored = self._restore_checkpoint(master, saver, checkpoint_dir, checkpoint_filename_with_path,
                                                     wait_for_checkpoint, max_wait_secs, config)
        if not restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                session.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(session)
        ready, message = self._try_run_local_init_op(session)
        if not ready:
            raise RuntimeError("Init operations did not make model ready for local_init.  "
                               f"Init op: {_name(init_op)}, init fn: {init_fn}, error: {message}")
        ready, message = self._model_ready(session)
        if not ready:
            raise RuntimeError(f"Init operations did not make model ready.  Init op: {_name(init_op)}, init fn: {init_fn}, "
                               f"local_init_op: {self._local_init_op}, error: {message}")
        return session

    def recover_session(self, master: str, saver: Any = None, checkpoint_dir: Any = None,
                        checkpoint_filename_with_path: Any = None, wait_for_checkpoint: bool = False,
                        max_wait_secs: float = 7200, config: Any = None) -> tuple[Any, bool]:
        """(session, whether it was restored from a checkpoint and is ready); see ``prepare_session``."""
        session, restored = self._restore_checkpoint(master, saver, checkpoint_dir, checkpoint_filename_with_path,
                                                     wait_for_checkpoint, max_wait_secs, config)
        ready, message = self._try_run_local_init_op(session)
        if not restored:
            return session, False
        source = checkpoint_dir or checkpoint_filename_with_path
        if not ready:
            logs.info("Restoring model from %s did not make model ready for local init: %s", source, message)
            return session, False
        ready, message = self._model_ready(session)
        if not ready:
            logs.info("Restoring model from %s did not make model ready: %s", source, message)
            return session, False
        logs.info("Restored model from %s", source)
        return session, True

    def wait_for_session(self, master: str, config: Any = None, max_wait_secs: float | None = math.inf) -> Any:
        """A session whose variables another session on the same server has initialised.

        Raises DeadlineExceededError if that has not happened after `max_wait_secs` seconds.
        """
        limit = math.inf if max_wait_secs is None else max_wait_secs
        end = time.monotonic() + limit
        while True:
            session = self._session(master, config)
            message = None
            local_ready, local_message = self._try_run_local_init_op(session)
            if local_ready:
                ready, message = self._model_ready(session)
                if ready:
                    return session
            with suppress(Exception):
                session.close()
            if max(end - time.monotonic(), 0.0) < self._recovery_wait_secs:
                raise errors.DeadlineExceededError(None, None, f"Session was not ready after waiting {limit:.0f} secs.")
            logs.info("Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s", local_message, message)
            time.sleep(self._recovery_wait_secs)

    def _session(self, master: Any, config: Any) -> Any:
        return resolve("Session")(master, graph=self._graph, config=config)

    def _restore_checkpoint(self, master: Any, saver: Any, folder: Any, path: Any, wait: bool, max_wait_secs: float,
                            config: Any) -> tuple[Any, bool]:
        """(a new session, whether a checkpoint was restored into it)"""
        session = self._session(master, config)
        if folder and path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        if not saver or not (folder or path):
            return session, False
        if path:
            saver.restore(session, path)
            return session, True
        waited = 0.0
        while True:
            state = get_checkpoint_state(folder)
            if state and state.model_checkpoint_path:
                break
            if not wait or waited >= max_wait_secs:
                return session, False
            logs.info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            waited += self._recovery_wait_secs
        saver.restore(session, state.model_checkpoint_path)
        saver.recover_last_checkpoints(list(state.all_model_checkpoint_paths))
        return session, True

    def _model_ready(self, session: Any) -> tuple[bool, str | None]:
        return _ready(self._ready_op, session, "Model not ready")

    def _try_run_local_init_op(self, session: Any) -> tuple[bool, str | None]:
        """(whether it ran, or there is none; else what it lacks)"""
        if self._local_init_op is None:
            return True, None
        ready, message = _ready(self._ready_for_local_init_op, session, "Model not ready for local init")
        if ready:
            logs.info("Running local_init_op.")
            session.run(self._local_init_op, options=self._local_init_run_options)
            logs.info("Done running local_init_op.")
        return ready, message


def _name(item: Any) -> str:
    return "None" if item is None else getattr(item, "name", f"<no name for {type(item)}>")


def _ready(op: Any, session: Any, what: str) -> tuple[bool, str | None]:
    """(whether nothing is left to initialise; else the names of what is)"""
    if op is None:
        return True, None
    try:
        missing = session.run(op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            logs.warning("%s : error [%s]", what, error)
            raise
        return False, str(error)
    # None: an operation.  A vector of int32: what assert_variables_initialized gives.
    if missing is None or missing.dtype == np.int32 or missing.size == 0:
        return True, None
    return False, "Variables not initialized: " + ", ".join(name.decode() for name in missing)
