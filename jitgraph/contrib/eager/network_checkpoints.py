"""Checkpoints of a ``tfe.Network``: variables under names without that of the network."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.eager.networks import Network
from jitgraph.graph.stack import get_default_session
from jitgraph.train.checkpoint_values import list_variables, load_checkpoint
from jitgraph.train.saver import Saver
from jitgraph.variables.global_steps import get_global_step


def _without_scope(network: Network) -> Callable[[str], str]:
    prefix = f"{network.scope_name}/"
    return lambda name: name.removeprefix(prefix)


def _path(network: Network, save_path: str) -> str:
    return os.path.join(save_path, network.name.replace("/", "_")) if os.path.isdir(save_path) else save_path


def _conflict(name: str, one: Any, other: Any, network: Network, given: bool) -> ValueError:
    found = f"two variables named '{name}' ('{one._shared_name}' and '{other._shared_name}')"
    if given:
        return ValueError(f"The map_func for the Network '{network.name}' resulted in {found}. Try stripping less from the "
                          "variable names, or renaming parts of the Network. For reference, variables created by sub-Layers of "
                          f"this Network are prefixed with '{network.scope_name}', but if they are re-used after being added to "
                          "another Network, they will have that Network's full variable prefix instead.")
    return ValueError(f"The default checkpoint variable name mapping strategy for Network '{network.name}' resulted in a naming "
                      f"conflict: {found} after the prefix '{network.scope_name}' was stripped. This should only happen when "
                      "layers are shared with another network: pass `map_func=lambda n: n` to save and restore to use full names.")


def _by_name(network: Network, mapped: Callable[[str], str], given: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for variable in network.variables:
        name = mapped(variable._shared_name)
        if found.setdefault(name, variable) is not variable:
            raise _conflict(name, found[name], variable, network, given)
    return found


def save_network_checkpoint(network: Network, save_path: str, global_step: Any = None,
                            map_func: Callable[[str], str] | None = None) -> str:
    """Saves the variables of a network in the default session, and returns the path of the checkpoint.

    `save_path`: its prefix, or a folder, where it has the name of the network; `global_step`: the number behind the name, the
    default graph's global step if None; `map_func`: the name in the checkpoint for that of a variable, by default the name without
    the network's scope.  Raises ValueError before the first call of the network, and for names that meet.
    """
    if not network.built:
        raise ValueError("Attempt to save the Network before it was first called. This means variables have not yet been created, "
                         "so there is nothing to save.")
    step = get_global_step() if global_step is None else global_step
    variables = _by_name(network, map_func or _without_scope(network), map_func is not None)
    path = Saver(variables).save(get_default_session(), _path(network, save_path), write_meta_graph=False, global_step=step)
    assert path is not None
    return path


class _Later:
    """Values of a checkpoint for variables that are not made yet."""

    def __init__(self, network: Network, values: dict[str, Any], mapped: Callable[[str], str], given: bool):
        self.network_of, self.values, self.mapped, self.given = network, values, mapped, given
        self.session = get_default_session()
        self.taken: dict[str, Any] = {}

    def __contains__(self, name: str) -> bool:
        return self.mapped(name) in self.values

    def make(self, getter: Callable, name: str, options: dict[str, Any]) -> Any:
        """The variable, which begins with its value the first time that it is asked for."""
        key = self.mapped(name)
        value = self.values[key]
        if value is not None:
            options |= {"initializer": value, "shape": None}
        variable = getter(name, **options)
        if value is not None:
            self.values[key] = None
            self.session.run(variable.initializer)
        if self.taken.setdefault(key, variable) is not variable:
            raise _conflict(key, self.taken[key], variable, self.network_of, self.given)
        return variable


def _restore_later(layer: Any, values: _Later) -> None:
    """Lets variables that a layer will make begin with values; the last that were asked for go first."""
    if isinstance(layer, Network):
        layer._set_scope()
    pending = layer.__dict__.setdefault("_pending_values", [])
    pending.append(values)

    def custom_getter(getter: Callable, name: str, **options: Any) -> Any:
        for one in reversed(pending):
            if name in one:
                return one.make(getter, name, options)
        return getter(name, **options)

    layer._scope.set_custom_getter(custom_getter)
    if isinstance(layer, Network):
        for inner in layer.layers:
            if not isinstance(inner, Network):
                layer._set_scope_of(inner)
            _restore_later(inner, values)


def restore_network_checkpoint(network: Network, save_path: str, map_func: Callable[[str], str] | None = None) -> None:
    """Restores what ``save_network_checkpoint`` saved, in the default session.

    Variables that the network has are restored now, the others begin with their values when they are made; the arguments are those
    of saving.  Raises ValueError for names that meet, and for a path where there is no checkpoint.
    """
    network._finalize_name(None)
    network._set_scope()
    path, mapped = _path(network, save_path), map_func or _without_scope(network)
    there = _by_name(network, mapped, map_func is not None)
    if there:
        Saver(there).restore(get_default_session(), path)
    reader = load_checkpoint(path)
    missing = {name: reader.get_tensor(name) for name, _ in list_variables(path) if name not in there}
    if missing:
        _restore_later(network, _Later(network, missing, mapped, map_func is not None))
