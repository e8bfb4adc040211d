"""Functions of each element, or of each with those beside it."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.scopes import name_scope
from jitgraph.ops.elementwise import arithmetic
from jitgraph.v2.calls import from_v1


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A 0-D `scalar` times a tensor or IndexedSlices.  Raises ValueError if `scalar` is not 0-D."""
    with name_scope(name, "scalar_mul", [x]) as scope:
        return arithmetic.scalar_mul(scalar, x, scope)


@from_v1("nn.l2_normalize")
def l2_normalize(x, axis=None, epsilon=1e-12, name=None):
    """`x` divided by its Euclidean norm along `axis`, which counts as sqrt(`epsilon`) where it is less."""


@from_v1("nn.softmax")
def softmax(logits, axis=None, name=None):
    """exp(`logits`) over its sum along `axis`, the last one if none is given."""


@from_v1("nn.log_softmax")
def log_softmax(logits, axis=None, name=None):
    """The logarithm of the softmax along `axis`, the last one if none is given."""


@from_v1("nn.crelu")
def crelu(features, axis=-1, name=None):
    """relu(`features`) and relu(-`features`) beside each other along `axis`."""


@from_v1("nn.dropout")
def dropout(x, rate, noise_shape=None, seed=None, name=None):
    """`x` with a share `rate` of its elements zero and the others divided by 1 - `rate`.

    `noise_shape`: the shape of the choices, broadcast to that of `x`.  Raises ValueError for a `rate` outside of [0, 1).
    """
