"""What programs derive columns of their own from: the kinds of columns, by their newer and by their older names.

TensorFlow has two classes of each kind that know nothing of each other: layers of models take the newer ones, ``input_layer`` and
``linear_model`` the older ones, and a column that both take derives from both, in whichever order.  The columns of this package
derive from neither, and are instances of those that they serve as.
"""
from __future__ import annotations

from abc import ABCMeta
from typing import Any

from jitgraph.feature_column import column


class _Taken(column.FeatureColumn, metaclass=ABCMeta):
    """A column that those take whom its class, or one that it derives from, names: `taken`.  `kind`: the kind of columns of this
    package that are instances of the class, if they are taken so."""

    kind: type
    taken: str

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        takers = {vars(base).get("taken") for base in cls.__mro__}
        cls.in_layers, cls.in_scopes = "in_layers" in takers, "in_scopes" in takers

    @classmethod
    def __subclasshook__(cls, other: type) -> Any:
        return _serves_as(other, cls)


class FeatureColumn(_Taken):
    """A column that layers of models take."""

    kind = column.FeatureColumn
    taken = "in_layers"


class _FeatureColumn(_Taken):
    """A column that ``input_layer`` and ``linear_model`` take."""

    kind = column.FeatureColumn
    taken = "in_scopes"


def _serves_as(other: type, base: Any) -> Any:
    """Whether `other` is of the kind that `base` stands for, and taken as such; NotImplemented if `base` is a program's own."""
    if "kind" not in vars(base) or not issubclass(other, base.kind):
        return NotImplemented
    return bool(getattr(other, base.taken)) or NotImplemented


class DenseColumn(FeatureColumn, column.DenseColumn):
    """A column of numbers."""

    kind = column.DenseColumn


class CategoricalColumn(FeatureColumn, column.CategoricalColumn):
    """A column of ids."""

    kind = column.CategoricalColumn


class SequenceDenseColumn(FeatureColumn, column.SequenceDenseColumn):
    """A column of sequences of numbers."""

    kind = column.SequenceDenseColumn


class _DenseColumn(_FeatureColumn, column.DenseColumn):
    """A column of numbers."""

    kind = column.DenseColumn


class _CategoricalColumn(_FeatureColumn, column.CategoricalColumn):
    """A column of ids."""

    kind = column.CategoricalColumn


class _SequenceDenseColumn(_FeatureColumn, column.SequenceDenseColumn):
    """A column of sequences of numbers."""

    kind = column.SequenceDenseColumn
