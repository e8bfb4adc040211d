"""``tf.variable_scope`` and ``tf.get_variable``: variables shared by name."""
from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.scopes import graph_of, name_scope
from jitgraph.graph.shapes import as_shape
from jitgraph.graph.stack import DefaultGraph
from jitgraph.variables import default_kind
from jitgraph.variables.partitioners import get_partitioned
from jitgraph.variables.synchronization import VariableAggregation, VariableSynchronization
from jitgraph.variables.variable_store import VariableStore, check_reuse, is_trainable


def no_regularizer(_: Any) -> None:
    """A regularizer that does nothing: stops the inheritance of a scope's regularizer."""


class VariableScope:
    """A scope of ``get_variable``: a name, whether to share variables, and defaults for new ones.

    Attributes: ``name``, ``original_name_scope``, ``reuse``, ``initializer``, ``regularizer``, ``caching_device``,
    ``partitioner``, ``custom_getter``, ``dtype``, ``use_resource``, ``constraint``.
    """

    initializer: Any
    regularizer: Any
    caching_device: Any
    partitioner: Any
    custom_getter: Any
    use_resource: bool | None
    constraint: Any

    def __init__(self, reuse: Any, name: str = "", initializer: Any = None, regularizer: Any = None,
                 caching_device: Any = None, partitioner: Any = None, custom_getter: Any = None, name_scope: str = "",
                 dtype: Any = dtypes.float32, use_resource: bool | None = None, constraint: Any = None):
        self._name = name
        self._name_scope = name_scope
        self._reuse = reuse
        self._dtype = dtype
        self.initializer = initializer
        self.regularizer = regularizer
        self.caching_device = caching_device
        self.partitioner = partitioner
        self.custom_getter = custom_getter
        self.use_resource = use_resource
        self.constraint = constraint

    @property
    def name(self) -> str:
        """The prefix of the names of variables, without a trailing slash."""
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope that was opened with it, with a trailing slash."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        """False, True or AUTO_REUSE."""
        return self._reuse

    @property
    def dtype(self) -> Any:
        """The default dtype of new variables."""
        return self._dtype

    def reuse_variables(self) -> None:
        """Makes ``get_variable`` share existing variables from here on, in this scope and the scopes inside."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Sets the default initializer of new variables."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """Sets the default regularizer of new variables."""
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Sets the device on which new variables are read."""
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        """Sets the default partitioner of new variables."""
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Sets the function through which variables are got."""
        self.custom_getter = custom_getter

    def set_dtype(self, dtype: Any) -> None:
        """Sets the default dtype of new variables."""
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool) -> None:
        """Sets whether new variables are resource variables."""
        self.use_resource = use_resource

    def get_collection(self, name: str) -> list:
        """The members of a collection of the default graph that are in this scope."""
        return get_default_graph().get_collection(name, self._name + "/" if self._name else "")

    def trainable_variables(self) -> list:
        """The trainable variables in this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list:
        """The global variables in this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list:
        """The local variables in this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, var_store: VariableStore, name: str | None, shape: Any = None, dtype: Any = None,
                     initializer: Any = None, regularizer: Any = None, reuse: Any = None, trainable: bool | None = None,
                     collections: Any = None, caching_device: Any = None, partitioner: Any = None,
                     validate_shape: bool = True, use_resource: bool | None = None, custom_getter: Any = None,
                     constraint: Any = None, synchronization: Any = VariableSynchronization.AUTO,
                     aggregation: Any = VariableAggregation.NONE) -> Any:
        """The variable `name` of this scope (None: that of the scope's own name); options left None take the scope's defaults."""
        return self._got(var_store, name, initializer, {
            "shape": shape, "dtype": dtype, "initializer": initializer, "regularizer": regularizer, "reuse": reuse,
            "trainable": trainable, "collections": collections, "caching_device": caching_device,
            "partitioner": partitioner, "validate_shape": validate_shape, "use_resource": use_resource,
            "custom_getter": custom_getter, "constraint": constraint, "synchronization": synchronization,
            "aggregation": aggregation})

    def _got(self, store: VariableStore, name: str | None, own_initializer: Any, options: dict[str, Any]) -> Any:
        for key in ("initializer", "regularizer", "caching_device", "partitioner", "constraint", "use_resource"):
            if options[key] is None:
                options[key] = getattr(self, key)
        if options["custom_getter"] is None:
            options["custom_getter"] = self.custom_getter
        if options["reuse"] is None:
            options["reuse"] = self._reuse
        full_name: Any = name
        if self._name:      # "" makes it a name scope that is entered again: slots do that
            full_name = self._name if name is None else f"{self._name}/{name}"
        with name_scope(None):          # the names of variables depend on variable scopes alone
            initializer = options["initializer"]
            if options["dtype"] is not None and own_initializer is not None and not callable(own_initializer):
                found = convert_to_tensor(own_initializer).dtype.base_dtype
                if found != options["dtype"]:
                    raise ValueError(f"Initializer type '{found}' and explicit dtype '{options['dtype']}' don't match.")
            if options["dtype"] is None:
                given = getattr(initializer, "dtype", None) if not callable(initializer) else None
                options["dtype"] = given if isinstance(given, DType) else self._dtype
            options["dtype"] = as_dtype(options["dtype"])
            custom_getter = options.pop("custom_getter")
            if custom_getter is None:
                return _get_true(store, full_name, options)
            if not callable(custom_getter):
                raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
            getter = functools.partial(_getter, store)
            options["trainable"] = is_trainable(options["trainable"], options["synchronization"])
            return custom_getter(getter=getter, name=full_name, **options)


_OPTIONS: dict[str, Any] = {
    "shape": None, "dtype": dtypes.float32, "initializer": None, "regularizer": None, "reuse": None, "trainable": None,
    "collections": None, "caching_device": None, "partitioner": None, "validate_shape": True, "use_resource": None,
    "constraint": None, "synchronization": VariableSynchronization.AUTO, "aggregation": VariableAggregation.NONE}


def _getter(store: VariableStore, name: str, *args: Any, **kwargs: Any) -> Any:
    """What a custom getter calls as ``getter(name, *args, **kwargs)``."""
    options = dict(_OPTIONS)
    options.update(zip(_OPTIONS, args))
    unknown = set(kwargs) - set(_OPTIONS)
    if unknown:
        raise TypeError(f"getter() got an unexpected argument {sorted(unknown)[0]!r}")
    options.update(kwargs)
    options["dtype"] = as_dtype(options["dtype"])
    return _get_true(store, name, options)


def _get_true(store: VariableStore, name: str, options: dict[str, Any]) -> Any:
    partitioner, shape = options.get("partitioner"), options["shape"]
    is_scalar = shape is not None and as_shape(shape).ndims == 0
    if partitioner is None and options["reuse"] is True and name in store.partitioned:
        return store.partitioned[name]
    if partitioner is None or is_scalar:
        if f"{name}/part_0" in store.variables:
            raise ValueError("No partitioner was provided, but a partitioned version of the variable was found: "
                             f"{name}/part_0. Perhaps a variable of the same name was already created with "
                             "partitioning?")
        return store.get(name, options)
    if not callable(partitioner):
        raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
    return get_partitioned(store, name, options)


def variable_store() -> VariableStore:
    """The store of the default graph."""
    return get_default_graph().per_graph(default_kind.STORE, lambda: VariableStore({}, {}, lambda: VariableScope(False)))


def get_variable_scope() -> VariableScope:
    """The current variable scope."""
    return variable_store().scope


def get_variable(name: str | None, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
                 trainable: bool | None = None, collections: Any = None, caching_device: Any = None,
                 partitioner: Any = None, validate_shape: bool = True, use_resource: bool | None = None,
                 custom_getter: Any = None, constraint: Any = None,
                 synchronization: Any = VariableSynchronization.AUTO,
                 aggregation: Any = VariableAggregation.NONE) -> Any:
    """The variable `name` of the current variable scope: made, or shared if the scope says ``reuse``.

    `dtype` is float32 unless the scope says otherwise; without an `initializer`, floats begin as glorot_uniform and
    integers as zeros.  Raises ValueError if it exists and the scope does not reuse, if it does not exist and the scope
    reuses, or if shape or dtype do not fit the existing one.
    """
    return get_variable_scope().get_variable(
        variable_store(), name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, reuse=None,
        trainable=trainable, collections=collections, caching_device=caching_device, partitioner=partitioner,
        validate_shape=validate_shape, use_resource=use_resource, custom_getter=custom_getter, constraint=constraint,
        synchronization=synchronization, aggregation=aggregation)


def get_local_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
                       regularizer: Any = None, trainable: bool = False, collections: Any = None,
                       caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
                       use_resource: bool | None = None, custom_getter: Any = None, constraint: Any = None,
                       synchronization: Any = VariableSynchronization.AUTO,
                       aggregation: Any = VariableAggregation.NONE) -> Any:
    """Like ``get_variable``, in the collection ``local_variables`` and not trainable."""
    collections = [*(collections or []), GraphKeys.LOCAL_VARIABLES]
    return get_variable(name, shape, dtype, initializer, regularizer, False, collections, caching_device, partitioner,
                        validate_shape, use_resource, custom_getter, constraint, synchronization, aggregation)


class _PureVariableScope:
    """A variable scope that opens no name scope."""

    def __init__(self, name_or_scope: Any, reuse: Any = None, overrides: dict[str, Any] | None = None,
                 old_name_scope: str | None = None):
        check_reuse(reuse)
        self._name_or_scope = name_or_scope
        self._reuse = reuse
        self._overrides = overrides or {}
        self._old_name_scope = old_name_scope

    def __enter__(self) -> VariableScope:
        self._store = store = variable_store()
        self._before = old = store.scope
        source: VariableScope
        if isinstance(self._name_or_scope, VariableScope):
            source = self._name_or_scope
            self._new_name = source.name
            reuse = self._reuse if self._reuse else source.reuse
            original = source.original_name_scope if self._old_name_scope is None else self._old_name_scope
        else:
            source = old
            self._new_name = f"{old.name}/{self._name_or_scope}" if old.name else self._name_or_scope
            reuse = self._reuse or old.reuse
            original = self._name_or_scope if self._old_name_scope is None else self._old_name_scope
        store.open_scope(self._new_name)
        # of a scope that is entered again, this entering is all that names outside of it know later
        self._counts = copy.copy(store.opened) if isinstance(self._name_or_scope, VariableScope) else None
        scope = VariableScope(reuse, self._new_name, source.initializer, source.regularizer, source.caching_device,
                              source.partitioner, source.custom_getter, original, source.dtype, source.use_resource)
        self._override(scope)
        store.scope = self._entered = scope
        return scope

    def _override(self, scope: VariableScope) -> None:
        for key, value in self._overrides.items():
            if value is None:
                continue
            if key == "custom_getter":
                scope.custom_getter = _composed(value, scope.custom_getter)
            elif key == "dtype":
                scope.set_dtype(value)
            else:
                setattr(scope, key, value)

    def __exit__(self, *exc: Any) -> None:
        if self._store.scope is not self._entered:
            raise RuntimeError("Improper nesting of variable_scope.")
        self._store.close_subscopes(self._new_name)
        if self._counts is not None:
            self._store.opened = self._counts
        self._store.scope = self._before


def _composed(inner: Callable, outer: Callable | None) -> Callable:
    """The custom getter of an inner scope around that of the outer one."""
    if outer is None:
        return inner

    return lambda getter, *args, **kwargs: inner(functools.partial(outer, getter), *args, **kwargs)


class variable_scope:
    """``with tf.variable_scope(name) as scope:`` a scope of ``get_variable`` and a name scope in one.

    `name_or_scope` is a name or a VariableScope to enter again; None takes `default_name`, made unique.  `reuse` True
    shares existing variables, AUTO_REUSE makes or shares; it is inherited.  The other arguments are defaults for
    variables made inside.  ``auxiliary_name_scope=False`` opens no name scope.
    """

    def __init__(self, name_or_scope: Any, default_name: str | None = None, values: Any = None, initializer: Any = None,
                 regularizer: Any = None, caching_device: Any = None, partitioner: Any = None,
                 custom_getter: Any = None, reuse: Any = None, dtype: Any = None, use_resource: bool | None = None,
                 constraint: Any = None, auxiliary_name_scope: bool = True):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}")
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._values = values or []
        self._overrides = {"initializer": initializer, "regularizer": regularizer, "caching_device": caching_device,
                           "partitioner": partitioner, "custom_getter": custom_getter, "dtype": dtype,
                           "use_resource": use_resource, "constraint": constraint}
        # reuse=False and None mean the same: inherit
        self._reuse = None if reuse is False else reuse
        self._auxiliary = auxiliary_name_scope

    def __enter__(self) -> VariableScope:
        self._contexts: list[Any] = []
        try:
            return self._enter_all()
        except Exception:
            self.__exit__(None, None, None)
            raise

    def _enter_all(self) -> VariableScope:
        graph = graph_of(self._values)
        if graph is not get_default_graph():
            self._enter(DefaultGraph(graph))
        if self._name_or_scope is None:
            return self._enter_default()
        if not isinstance(self._name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        name = self._name_or_scope if isinstance(self._name_or_scope, str) else self._name_or_scope.name.split("/")[-1]
        opened = self._open_name_scope(name)
        if isinstance(self._name_or_scope, str):
            return self._enter(_PureVariableScope(self._name_or_scope, self._reuse, self._overrides, opened))
        return self._enter(_PureVariableScope(self._name_or_scope, self._reuse, self._overrides,
                                              None if self._auxiliary else self._name_or_scope.original_name_scope))

    def _open_name_scope(self, name: str) -> str:
        """Opens the name scope that goes with it (the current one again, if it opens none); returns it."""
        if not self._auxiliary:
            current = get_default_graph().get_name_scope()
            return current + "/" if current else ""
        return self._enter(name_scope(name)) if name else ""

    def _enter_default(self) -> VariableScope:
        if self._reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        assert self._default_name is not None
        opened = self._open_name_scope(self._default_name)
        return self._enter(_PureVariableScope(_unique_scope_name(self._default_name), None, self._overrides, opened))

    def _enter(self, context: Any) -> Any:
        entered = context.__enter__()
        self._contexts.append(context)
        return entered

    def __exit__(self, *exc: Any) -> None:
        while self._contexts:
            self._contexts[-1].__exit__(*exc)           # which refuses to be left out of order, and may be left later
            self._contexts.pop()

    def __call__(self, function: Callable) -> Callable:
        """As a decorator: the function runs inside a fresh entering of this scope."""

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with copy.copy(self):
                return function(*args, **kwargs)

        return inside


def _unique_scope_name(prefix: str) -> str:
    store = variable_store()
    full = f"{store.scope.name}/{prefix}" if store.scope.name else prefix
    if not store.opened.get(full):
        return prefix
    number = 1
    while store.opened.get(f"{full}_{number}"):
        number += 1
    return f"{prefix}_{number}"


def variable_op_scope(values: Any, name_or_scope: Any, default_name: str | None = None,
                      initializer: Any = None, regularizer: Any = None, caching_device: Any = None,
                      partitioner: Any = None, custom_getter: Any = None, reuse: Any = None, dtype: Any = None,
                      use_resource: bool | None = None, constraint: Any = None) -> variable_scope:
    """The older form of ``variable_scope(name_or_scope, default_name, values)``."""
    return variable_scope(name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner,
                          custom_getter, reuse, dtype, use_resource, constraint)
