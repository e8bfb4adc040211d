"""``tf.raw_ops``: the function of every declared op under the op's own name, ``raw_ops.AddV2(x=a, y=b)``."""
from __future__ import annotations

import typing  # by its name: ``Any`` here is an op

from jitgraph.graph.errors import NotFoundError
from jitgraph.graph.registry import lookup


def __getattr__(name: str) -> typing.Any:
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return lookup(name).builder
    except NotFoundError as error:
        from jitgraph.facade.not_here import instead_of, missing

        full = f"raw_ops.{name}"
        raise (missing(full) if instead_of(full) else AttributeError(str(error))) from None


def __dir__() -> list[str]:
    from jitgraph.graph.registry import load_all

    return sorted(name for name, opdef in load_all().items() if name == opdef.type)     # not those for graph files
