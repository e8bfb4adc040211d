"""How monitored sessions get their ``tf.Session``: initialised by a chief, or waited for by a worker."""
from __future__ import annotations

import abc
from typing import Any

from jitgraph.graph.default_graph import get_default_graph
from jitgraph.train.sessions.scaffold import Scaffold
from jitgraph.train.sessions.session_manager import SessionManager


class SessionCreator(abc.ABC):
    """Makes a session; called again after a recovery."""

    @abc.abstractmethod
    def create_session(self) -> Any:
        """A session that is ready to run."""


class _ScaffoldCreator(SessionCreator):
    """A creator whose sessions are made ready by the parts of a Scaffold."""

    def __init__(self, scaffold: Scaffold | None, master: str, config: Any):
        self._scaffold = scaffold or Scaffold()
        self._session_manager: SessionManager | None = None
        self._master, self._config = master, config

    def _get_session_manager(self) -> SessionManager:
        if self._session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._scaffold.local_init_op, ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op, graph=get_default_graph())
        return self._session_manager


class ChiefSessionCreator(_ScaffoldCreator):
    """Makes sessions that are restored from a checkpoint, or initialised.

    Args:
      scaffold: the parts of the graph; one is made if None.
      master: the target of the session.
      config: its ConfigProto.
      checkpoint_dir: the folder whose newest checkpoint is restored.
      checkpoint_filename_with_path: or this checkpoint.
    """

    def __init__(self, scaffold: Scaffold | None = None, master: str = "", config: Any = None, checkpoint_dir: Any = None,
                 checkpoint_filename_with_path: Any = None):
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self) -> Any:
        """A session; finalizes the graph.  See ``SessionManager.prepare_session`` for what it raises."""
        scaffold = self._scaffold.finalize()
        return self._get_session_manager().prepare_session(
            self._master, saver=scaffold.saver, checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path, config=self._config,
            init_op=scaffold.init_op, init_feed_dict=scaffold.init_feed_dict, init_fn=scaffold.init_fn)


class WorkerSessionCreator(_ScaffoldCreator):
    """Waits until the chief, on the same server, has initialised the variables.

    Args:
      scaffold, master, config: as of ChiefSessionCreator.
      max_wait_secs: how long to wait.
    """

    def __init__(self, scaffold: Scaffold | None = None, master: str = "", config: Any = None,
                 max_wait_secs: float = 30 * 60):
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Any:
        """A session; finalizes the graph.  Raises DeadlineExceededError if the chief was too slow."""
        self._scaffold.finalize()
        return self._get_session_manager().wait_for_session(self._master, config=self._config,
                                                            max_wait_secs=self._max_wait_secs)
