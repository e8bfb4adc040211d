"""Distributions whose positive parameters are the softplus of what is given."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.distributions.real_numbers import Chi2, InverseGamma
from jitgraph.distributions.beta import Beta
from jitgraph.distributions.gamma import Exponential, Gamma
from jitgraph.distributions.location_scale import Laplace, Normal, StudentT
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.elementwise.activation import softplus
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.elementary import floor


def _softplus(value: Any, name: str) -> Any:
    return softplus(value, name=f"softplus_{name}")


class NormalWithSoftplusScale(Normal):
    """Normal of ``softplus(scale)``."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "NormalWithSoftplusScale"):
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            super().__init__(loc=loc, scale=_softplus(scale, "scale"), validate_args=validate_args,
                             allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class LaplaceWithSoftplusScale(Laplace):
    """Laplace of ``softplus(scale)``."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "LaplaceWithSoftplusScale"):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            super().__init__(loc=loc, scale=_softplus(scale, "scale"), validate_args=validate_args,
                             allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class StudentTWithAbsDfSoftplusScale(StudentT):
    """StudentT of ``floor(abs(df))`` and ``softplus(scale)``."""

    def __init__(self, df: Any, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "StudentTWithAbsDfSoftplusScale"):
        parameters = dict(locals())
        with name_scope(name, values=[df, scale]) as name:
            super().__init__(df=floor(absolute(df)), loc=loc, scale=_softplus(scale, "scale"), validate_args=validate_args,
                             allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class GammaWithSoftplusConcentrationRate(Gamma):
    """Gamma of the softplus of both parameters."""

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "GammaWithSoftplusConcentrationRate"):
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            super().__init__(concentration=_softplus(concentration, "concentration"), rate=_softplus(rate, "rate"),
                             validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """InverseGamma of the softplus of both parameters."""

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "InverseGammaWithSoftplusConcentrationRate"):
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            super().__init__(concentration=_softplus(concentration, "concentration"), rate=_softplus(rate, "rate"),
                             validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class ExponentialWithSoftplusRate(Exponential):
    """Exponential of ``softplus(rate)``."""

    def __init__(self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "ExponentialWithSoftplusRate"):
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            super().__init__(rate=_softplus(rate, "rate"), validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class BetaWithSoftplusConcentration(Beta):
    """Beta of the softplus of both parameters."""

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "BetaWithSoftplusConcentration"):
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            super().__init__(concentration1=_softplus(concentration1, "concentration1"),
                             concentration0=_softplus(concentration0, "concentration0"), validate_args=validate_args,
                             allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class Chi2WithAbsDf(Chi2):
    """Chi2 of ``floor(abs(df))``."""

    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2WithAbsDf"):
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            super().__init__(df=floor(absolute(df, name="abs_df"), name="floor_abs_df"), validate_args=validate_args,
                             allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters
