"""Texts that become networks."""
from __future__ import annotations

import math
import sys
from typing import Any

from jitgraph.contrib.specs import composition, parameters, parts
from jitgraph.contrib.specs.composition import check_keywords


def _public(*modules: Any) -> dict[str, Any]:
    return {name: value for module in modules for name, value in vars(module).items() if not name.startswith("_")}


def _run(text: str, names: dict[str, Any], environment: dict | None) -> dict:
    check_keywords(text)
    bindings = dict(environment or {})
    exec(text, {**names}, bindings)
    return bindings


def eval_params(params: str, environment: dict | None = None) -> dict:
    """`environment` and what the assignments of a text, with ``Uf``, ``Li`` ... and the functions of math, add to it."""
    return _run(params, _public(math, parameters), environment)


def eval_spec(spec: str, environment: dict | None = None) -> dict:
    """`environment` and the networks that the assignments of a text add to it."""
    return _run(spec, _public(composition, parts), environment)


def create_net_fun(spec: str, environment: dict | None = None) -> Any:
    """The function that a text assigns to `net`.  Raises ValueError if it assigns none."""
    net = eval_spec(spec, environment).get("net")
    if net is None:
        raise ValueError(f"spec failed to create 'net': {spec}")
    return net.funcall


def create_net(spec: str, inputs: Any, environment: dict | None = None) -> Any:
    """What the network `net` of a text makes of `inputs`.  Raises ValueError if it assigns none."""
    return create_net_fun(spec, environment)(inputs)


class LocalImport:
    """A block in which the names of a dict or of a module are global names of the code around."""

    def __init__(self, names: Any):
        self.names = names if isinstance(names, dict) else vars(names)

    def __enter__(self) -> None:
        self._globals = sys._getframe(1).f_globals
        self.old = {name: self._globals[name] for name in self.names if name in self._globals}
        self._globals.update(self.names)

    def __exit__(self, *error: Any) -> None:
        for name in self.names:
            self._globals.pop(name, None)
        self._globals.update(self.old)


ops = LocalImport(_public(composition, parts))
