"""``tf.train.Scaffold``: what of a graph initialises, checks, saves and summarises it."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.control.order_ops import group
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.ops.arrays.join import concat
from jitgraph.resources.registered import initialize_resources, local_resources, report_uninitialized_resources, shared_resources
from jitgraph.resources.tables import tables_initializer
from jitgraph.train.hooks.writers import merged_summaries
from jitgraph.train.saver import _get_saver_or_default
from jitgraph.variables.variable_collections import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

_PARTS = ("init_op", "init_feed_dict", "ready_op", "ready_for_local_init_op", "local_init_op", "summary_op", "saver")


class Scaffold:
    """The parts of a graph that a monitored session needs.  What is None is found in collections, or made, by ``finalize``.

    Args:
      init_op: initialises the global variables.
      init_feed_dict: what is fed to it.
      init_fn: ``init_fn(scaffold, session)``, called after it.
      ready_op: a vector of strings, the names of what is not initialised; empty when all is.
      ready_for_local_init_op: the same of what must be initialised before `local_init_op` runs.
      local_init_op: initialises local variables and tables; it runs after a restore, too.
      summary_op: a tensor with all summaries.
      saver: a ``tf.train.Saver``.
      copy_from_scaffold: a Scaffold that gives what is None here.
    Raises TypeError if `copy_from_scaffold` is no Scaffold.
    """

    def __init__(self, init_op: Any = None, init_feed_dict: dict | None = None, init_fn: Callable | None = None,
                 ready_op: Any = None, ready_for_local_init_op: Any = None, local_init_op: Any = None,
                 summary_op: Any = None, saver: Any = None, copy_from_scaffold: Scaffold | None = None):
        given = {"init_op": init_op, "init_feed_dict": init_feed_dict, "ready_op": ready_op,
                 "ready_for_local_init_op": ready_for_local_init_op, "local_init_op": local_init_op,
                 "summary_op": summary_op, "saver": saver}
        if copy_from_scaffold is not None:
            if not isinstance(copy_from_scaffold, Scaffold):
                raise TypeError("copy_from_scaffold is not a Scaffold instance.")
            init_fn = copy_from_scaffold._user_init_fn if init_fn is None else init_fn
            given = {part: getattr(copy_from_scaffold, part) if value is None else value for part, value in given.items()}
        self._user_init_fn = init_fn
        self._init_fn = (lambda session: init_fn(self, session)) if init_fn else None
        for part in _PARTS:
            setattr(self, "_" + part, given[part])

    _init_op: Any
    _init_feed_dict: Any
    _ready_op: Any
    _ready_for_local_init_op: Any
    _local_init_op: Any
    _summary_op: Any
    _saver: Any

    def finalize(self) -> Scaffold:
        """Finds or makes what was not given, and finalizes the default graph.

        Raises RuntimeError if a collection holds several candidates.
        """
        for part, key, make in (
                ("init_op", GraphKeys.INIT_OP, _default_init_op),
                ("ready_op", GraphKeys.READY_OP, _default_ready_op),
                ("ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP, _default_ready_for_local_init_op),
                ("local_init_op", GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op),
                ("summary_op", GraphKeys.SUMMARY_OP, merged_summaries)):
            if getattr(self, "_" + part) is None:
                setattr(self, "_" + part, Scaffold.get_or_default(part, key, make))
        if self._saver is None:
            self._saver = _get_saver_or_default()
        self._saver.build()
        get_default_graph().finalize()
        logs.info("Graph was finalized.")
        return self

    @property
    def init_fn(self) -> Callable | None:
        """A function of the session that calls the user's, or None."""
        return self._init_fn

    @property
    def init_op(self) -> Any:
        """Initialises the global variables."""
        return self._init_op

    @property
    def ready_op(self) -> Any:
        """The names of what is not initialised."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """The names of what must be initialised before ``local_init_op``."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        """Initialises local variables and tables."""
        return self._local_init_op

    @property
    def summary_op(self) -> Any:
        """All summaries, or None."""
        return self._summary_op

    @property
    def saver(self) -> Any:
        """The Saver."""
        return self._saver

    @property
    def init_feed_dict(self) -> dict | None:
        """What is fed to ``init_op``."""
        return self._init_feed_dict

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable) -> Any:
        """The one member of a collection; if it is empty, what the function makes, which is put there.

        Raises RuntimeError if the collection has several.
        """
        graph = get_default_graph()
        found = graph.get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(f'More than one item in the collection "{collection_key}". Please indicate which one to use '
                               f"by passing it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)")
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            graph.add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Any:
        """An operation that initialises local variables, tables and local resources."""
        return group(local_variables_initializer(), tables_initializer(), initialize_resources(local_resources()))


def _default_init_op() -> Any:
    return group(global_variables_initializer(), initialize_resources(shared_resources()))


def _default_ready_op() -> Any:
    return concat([report_uninitialized_variables(), report_uninitialized_resources()], 0)


def _default_ready_for_local_init_op() -> Any:
    return concat([report_uninitialized_variables(global_variables()),
                              report_uninitialized_resources(shared_resources())], 0)
