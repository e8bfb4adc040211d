"""``tfe.Network``: layers that are called together, with variables named as the layers are nested."""
from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from jitgraph.graph.default_graph import get_default_graph
from jitgraph.layers.base import Layer
from jitgraph.layers.layer_names import snake_case
from jitgraph.variables.variable_scopes import VariableScope, get_variable_scope, variable_scope, variable_store

_NAMES = "jitgraph.contrib.eager.networks"
_TAKEN = "A Network named '{}' already exists (or a variable_scope was created with this name). Names must be unique."


def _unique(name: str, counts: dict, avoid: Any, namespace: str = "") -> str:
    """`name`, with a number behind it if `counts` has it already or the name stands in `avoid`."""
    while True:
        number = counts.get((namespace, name), 0)
        counts[namespace, name] = number + 1
        proposed = f"{name}_{number}" if number else name
        if proposed not in avoid:
            return proposed


class Network(Layer):
    """A layer that is made of others: a subclass tracks them with ``track_layer`` and calls them in ``call``.

    `name`: that of its variable scope, made of the name of the class if None.  Variables are resource variables, named
    NETWORK/LAYER/VARIABLE.  Raises ValueError for a name with a slash or a VariableScope; the first call raises it if the name is
    taken.
    """

    _use_resource = True
    _owner: Any = None          # a weak reference to the network it was added to first

    def __init__(self, name: str | None = None):
        if isinstance(name, VariableScope):
            raise ValueError("VariableScopes are not valid Network names.")
        if name is not None and "/" in name:
            raise ValueError("Forward slashes ('/') are not allowed in Network names.")
        super().__init__(name=name)
        self._layers: list[Layer] = []
        self._owned_layers: dict[str, Layer] = {}
        self._counts: dict = {}
        self._plain_layers: list[Layer] = []            # those that are no networks
        self._around = get_variable_scope()
        self._opened = dict(variable_store().opened)

    def _take_name(self, name: Any) -> None:
        self._name, self._base_name = name, None        # made when it is added to a network, or called

    def _finalize_name(self, parent: Network | None) -> None:
        if self._name:
            return
        own = snake_case(type(self).__name__)
        if parent is not None:
            self._name = _unique(own, parent._counts, parent._owned_layers)
        else:
            prefix = f"{self._around.name}/" if self._around.name else ""
            avoid = {name[len(prefix):] for name in self._opened if name and name.startswith(prefix)}
            counts: dict = get_default_graph().per_graph(_NAMES, dict)
            self._name = _unique(own, counts, avoid, self._around.name)
        self._base_name = own

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        owner = self._owner() if self._owner else None
        if owner is None:
            self._finalize_name(None)
        if scope is not None:
            raise ValueError("Networks may not be created with explicit scopes.")
        if owner is not None:
            owner._set_scope()
        with variable_scope(owner._scope if owner is not None else self._around) as around:
            if f"{around.name}/{self._name}" in self._opened:
                raise ValueError(_TAKEN.format(self._name))
            with variable_scope(None, use_resource=True, default_name=self._name) as entered:
                self._take_scope(entered, owner)
        for layer in self._plain_layers:
            self._set_scope_of(layer)

    def _take_scope(self, scope: VariableScope, owner: Network | None) -> None:
        prefix, _, last = scope.name.rpartition("/")
        if last != self._name:
            raise ValueError(_TAKEN.format(self._name))
        if owner is not None and prefix != owner.scope_name:
            raise ValueError("Network variable names must match a nesting of sub-Network names. Expected prefix "
                             f"'{owner.scope_name}' from parent network, but got '{prefix}' when attempting to create a "
                             f"variable_scope for Network '{self._name}'. Likely an explicit variable_scope was inserted into the "
                             "nesting.")
        self._scope = scope
        if owner is None and prefix:
            self._name = scope.name

    def _set_scope_of(self, layer: Any) -> None:
        """Puts a layer into the scope of the network that it was added to first."""
        if layer._scope is not None:
            return
        owner = layer._owner() if getattr(layer, "_owner", None) else None
        if owner is None:
            raise ValueError(f"The parent of a Layer added to Network {self.name} was garbage collected before the Layer was "
                             "built. If this limitation bothers you please file a feature request.")
        owner._set_scope()
        with variable_scope(owner._scope), variable_scope(None, use_resource=True, default_name=layer.name) as scope:
            layer._scope = scope

    @property
    def name(self) -> str:
        """Its name.  Raises ValueError while there is none yet."""
        if self._name is None:
            raise ValueError("The network does not yet have a final name, but a name was requested for it. Networks get a name "
                             "when they are added to another Network via track_layer, or when they are first called/built.")
        return self._name

    def track_layer(self, layer: Any) -> Any:
        """Adds a layer or a network, which it returns.

        Raises TypeError for anything else, ValueError if there is one of that name, RuntimeError before ``__init__``.
        """
        if not hasattr(self, "_layers"):
            raise RuntimeError("Need to call Network.__init__ before adding layers")
        if not isinstance(layer, Layer):
            raise TypeError(f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer")
        layer._use_resource = True
        owned: Any = layer      # with attributes that only layers of networks have
        if isinstance(layer, Network):
            layer._finalize_name(self)
            if layer._owner is None or layer._owner() is None:
                layer._owner = weakref.ref(self)
        elif not layer.built:
            if not getattr(layer, "_owner", None) or owned._owner() is None:
                if layer._name != layer._base_name:
                    layer._base_name = snake_case(type(layer).__name__)
                    layer._name = _unique(layer._base_name, self._counts, self._owned_layers)
                owned._owner = weakref.ref(self)
            self._plain_layers.append(layer)
        if not layer.built and owned._owner() is self:
            known = self._owned_layers.setdefault(layer.name, layer)
            if known is not layer:
                raise ValueError(f"Attempt to add two Layers with the name '{layer.name}' to the same Network.")
            if any(one is layer for one in self._layers):
                return layer
        self._layers.append(layer)
        return layer

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """The layer of that name, or number.  Raises ValueError if there is none, or unless one of both is given."""
        if index is not None:
            if name is not None:
                raise ValueError("Exactly one of 'index' or 'name' must be provided")
            if len(self._layers) <= index:
                raise ValueError(f"Was asked to retrieve layer at index {index} but model only has {len(self._layers)} layers.")
            return self._layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in self._layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    @property
    def layers(self) -> list[Layer]:
        """The layers, in the order in which they were added."""
        return self._layers

    @property
    def weights(self) -> list:
        """The variables of its layers, layer by layer."""
        return [one for layer in self._layers for one in layer.weights]

    @property
    def trainable_weights(self) -> list:
        """Those that are trained."""
        return [one for layer in self._layers for one in layer.trainable_weights]

    @property
    def non_trainable_weights(self) -> list:
        """Those that are not trained."""
        return [one for layer in self._layers for one in layer.non_trainable_weights]

    @property
    def losses(self) -> list:
        """The losses of its layers."""
        return [loss for layer in self._layers for loss in layer.losses]

    @property
    def trainable(self) -> bool:
        """True."""
        return True

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not value:
            raise AttributeError("cannot mark Network as not trainable")

    def add_variable(self, name: str, shape: Any, dtype: Any = None, initializer: Any = None,       # type: ignore[override]
                     regularizer: Any = None, trainable: bool = True, constraint: Any = None) -> Any:
        """Raises RuntimeError: variables are those of layers."""
        raise RuntimeError("add_variable not supported in Network class yet: track a layer that has the variable")

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Raises RuntimeError: losses are those of layers."""
        raise RuntimeError("add_loss is not supported in Network class yet: let a tracked layer add the loss")


class Sequential(Network):
    """Layers and functions, each called with what the one before gives.

    `layers_funcs`: what ``add`` is called with.  A call takes ``training`` for those that have such an argument.
    """

    def __init__(self, layers_funcs: Any = None, name: str | None = None):
        super().__init__(name=name)
        self._steps: list[tuple[bool, Callable]] = []
        for one in layers_funcs or ():
            self.add(one)

    def add(self, layer_func: Any) -> None:
        """One more layer or function.  Raises TypeError for anything else."""
        from inspect import signature

        if isinstance(layer_func, Layer):
            called: Any = layer_func.call
            self.track_layer(layer_func)
        elif callable(layer_func):
            called = layer_func
        else:
            raise TypeError("Sequential.add() takes only tf.layers.Layer objects or callables; not "
                            f"'{layer_func}' of type '{type(layer_func)}'.")
        self._steps.append(("training" in signature(called).parameters, layer_func))

    def call(self, inputs: Any, training: Any = None) -> Any:       # type: ignore[override]
        """What the last gives."""
        for takes_training, step in self._steps:
            inputs = step(inputs, training) if takes_training and training is not None else step(inputs)
        return inputs
