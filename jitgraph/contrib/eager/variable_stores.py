"""``tfe.EagerVariableStore``: a place of its own for what ``get_variable`` makes."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from jitgraph.variables.resource_variables import ResourceVariable
from jitgraph.variables.variable_scopes import variable_store


class EagerVariableStore:
    """Variables that layers make while it is the default: ``get_variable`` finds and keeps them here, not in the graph's store.

    In a graph, a name that is asked for again wants ``reuse=tf.AUTO_REUSE``, as everywhere.  `store`: another's ``_store``.
    """

    def __init__(self, store: Any = None):
        self._store: tuple[dict[str, Any], dict[str, Any]] = ({}, {}) if store is None else store

    @contextlib.contextmanager
    def as_default(self) -> Iterator[None]:
        """While it is entered, variables of the default graph are looked for here."""
        store = variable_store()
        before = store.variables, store.partitioned
        store.variables, store.partitioned = self._store
        try:
            yield
        finally:
            store.variables, store.partitioned = before

    def variables(self) -> list:
        """The variables, ordered by name."""
        return sorted(self._store[0].values(), key=lambda one: one.name)

    def trainable_variables(self) -> list:
        """Those that are trained."""
        return [one for one in self.variables() if one.trainable]

    def non_trainable_variables(self) -> list:
        """Those that are not."""
        return [one for one in self.variables() if not one.trainable]

    def copy(self) -> EagerVariableStore:
        """A store of new variables that begin with the values of these."""
        made = EagerVariableStore()
        for key, one in self._store[0].items():
            made._store[0][key] = ResourceVariable(one.read_value(), name=one.name.partition(":")[0], trainable=one.trainable)
        return made
