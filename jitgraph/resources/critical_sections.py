"""``tf.CriticalSection``: parts of the graph of which one runs at a time."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import group, tuple_
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import add_to_collection, colocate_with, control_dependencies, get_collection, init_scope, name_scope
from jitgraph.ops.arrays.identity import identity

_SECTIONS, _EXECUTIONS = "critical_sections", "critical_section_executions"


class _Execution(NamedTuple):
    op: Operation
    handle: Any
    resources: list
    exclusive_resource_access: bool


def _identity(value: Any) -> Any:
    if isinstance(value, Operation):
        return group(value)
    return value.identity() if hasattr(value, "identity") else identity(value)


class CriticalSection:
    """A section of the graph that no two runs are in at once, whatever thread each is in.

    >>> section = tf.CriticalSection()
    >>> before = section.execute(lambda: read_and_add(counter))

    Sections of one `shared_name` are one section.  Raises ValueError if `critical_section_def` and a name are given,
    NotImplementedError for a `critical_section_def`.
    """

    def __init__(self, name: str | None = None, shared_name: str | None = None, critical_section_def: Any = None,
                 import_scope: str | None = None):
        if critical_section_def:
            if name is not None:
                raise ValueError("critical_section_def and shared_name are mutually exclusive.")
            raise NotImplementedError("Not yet implemented")
        with name_scope(name, "CriticalSection") as scope, init_scope():
            container = get_default_graph()._container or ""
            self._handle = raw.MutexV2(shared_name=scope if shared_name is None else shared_name, container=container, name=scope)
        add_to_collection(_SECTIONS, self)

    @property
    def name(self) -> str:
        """The name of the node."""
        return self._handle.op.name

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None) -> Any:
        """What `fn()` gives, its nodes being run inside of the section.

        Raises ValueError if `fn` uses the section itself, or a resource that `fn` uses is used in another section and one of
        both wants it for itself (`exclusive_resource_access`).
        """
        with name_scope(name, "critical_section_execute"):
            lock = raw.MutexLock(self._handle)
            graph = get_default_graph()
            there = set(graph.get_operations())
            with control_dependencies([lock]):
                result = fn()
            made = [op for op in graph.get_operations() if op not in there]
            _wait_for_inputs(made, lock.op)
            captured = list(dict.fromkeys(x for op in made for x in op.inputs if x.dtype == dtypes.resource))
            if any(self._is_mine(x) for x in captured):
                raise ValueError("The function fn attempts to directly access the CriticalSection in which it would be running.  "
                                 "This is illegal and would cause deadlocks.")
            self._check_others(captured, exclusive_resource_access)
            flat = [_identity(x) for x in nest.flatten(result)]
            with control_dependencies(flat), colocate_with(self._handle):
                done = raw.ConsumeMutexLock(lock)
            result = nest.pack_sequence_as(result, tuple_(nest.flatten(result)))
            with control_dependencies([done]):
                outputs = nest.map_structure(_identity, result)
            add_to_collection(_EXECUTIONS, _Execution(lock.op, self._handle, captured, exclusive_resource_access))
            return outputs

    def _is_mine(self, tensor: Any) -> bool:
        if tensor.op.type != "MutexV2":
            return False
        shared = tensor.op.attrs["shared_name"]
        return bool(shared) and shared == self._handle.op.attrs["shared_name"] and tensor.op.device == self._handle.op.device

    def _check_others(self, captured: list, exclusive: bool) -> None:
        for other in get_collection(_EXECUTIONS):
            if self._is_mine(other.handle) or not (exclusive or other.exclusive_resource_access):
                continue
            both = [x for x in captured if x in other.resources]
            if both:
                raise ValueError(
                    f"This execution would access resources: {both}.  Either this lock (CriticalSection: {self._handle}) or lock "
                    f"'{other}' (CriticalSection: {other.handle}) requested exclusive resource access of this resource.  Did you "
                    "mean to call execute with keyword argument exclusive_resource_access=False?")


def _wait_for_inputs(made: list[Operation], lock: Operation) -> None:
    """The lock is taken when all is there that the section needs, so that nothing waits while it is held."""
    needed = dict.fromkeys(x.op for op in made for x in op.inputs)
    needed.update(dict.fromkeys(x for op in made for x in op.control_inputs))
    for op in (*made, *lock.control_inputs, *(x.op for x in lock.inputs), lock):
        needed.pop(op, None)
    if needed:
        lock._add_control_input(group(*sorted(needed, key=lambda op: op._id)))
