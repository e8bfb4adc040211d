"""Resource variables without an initial value: those of loaded models, whose initializers read checkpoints."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import shapes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import control_dependencies, init_scope, name_scope
from jitgraph.graph.stack import get_default_session
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import placeholder
from jitgraph.variables import resource_ops
from jitgraph.variables.resource_variables import ResourceVariable
from jitgraph.variables.synchronization import VariableAggregation, VariableSynchronization


class UninitializedVariable(ResourceVariable):
    """A resource variable of this shape and dtype; ``initialize_by`` says what gives it a value.

    It is a global variable, never a trainable one: whether what was loaded is trained further is for the program to say.
    """

    def __init__(self, name: str | None, shape: Any, dtype: Any, trainable: bool = True,
                 synchronization: Any = VariableSynchronization.AUTO, aggregation: Any = VariableAggregation.NONE,
                 collections: Any = (GraphKeys.GLOBAL_VARIABLES,)):
        self._save_slice_info = None
        self._constraint = None
        self._trainable, self._cached = trainable, None
        self._synchronization = VariableSynchronization(synchronization)
        self._aggregation = VariableAggregation(aggregation)
        self._dtype, self._static_shape = as_dtype(dtype), shapes.raw_shape(shape)
        self._initializer_op = self._initial_value = None       # type: ignore[assignment]
        self._setter: tuple | None = None
        with init_scope():
            with name_scope(name, "Variable") as scope:
                self._handle = resource_ops.var_handle_op(
                    dtype=self._dtype, shape=self._static_shape, shared_name=scope[:-1], name=scope,
                    container=get_default_graph()._container)
                self._handle_name = self._handle.name
                with name_scope("Read"):
                    self._graph_element = self._read()
            get_default_graph().add_to_collections(list(collections), self)

    def initialize_by(self, operation: Any) -> None:
        """Lets an operation, or one that gives a tensor, be the initializer."""
        self._initializer_op = operation.op if isinstance(operation, Tensor) else operation

    def load(self, value: Any, session: Any = None) -> None:
        """Writes `value` into the variable in `session` or the default session, now."""
        session = session or get_default_session()
        if session is None:
            raise ValueError("Either session argument should be provided or default session should be established")
        if self._setter is None:
            with self.graph.as_default(), control_dependencies(None), name_scope(self.op.name + "/load/"):
                given = placeholder(self._dtype, self._static_shape)
                self._setter = given, self.assign(given, read_value=False)
        given, assigned = self._setter
        session.run(assigned, {given: value})
