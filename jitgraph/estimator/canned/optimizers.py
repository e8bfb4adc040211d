"""The optimizer that an argument of a ready model stands for."""
from __future__ import annotations

from typing import Any

from jitgraph.facade.names import resolve
from jitgraph.train.optimizer import Optimizer

_BY_NAME = {"Adagrad": "AdagradOptimizer", "Adam": "AdamOptimizer", "Ftrl": "FtrlOptimizer", "RMSProp": "RMSPropOptimizer",
            "SGD": "GradientDescentOptimizer"}


def optimizer_of(given: Any, learning_rate: float | None = None) -> Optimizer:
    """An Optimizer as it is, one of that name with `learning_rate`, or what a function gives.  Raises ValueError for others."""
    if isinstance(given, str):
        if given not in _BY_NAME:
            raise ValueError(f"Unsupported optimizer name: {given}. Supported names are: {tuple(sorted(_BY_NAME))}")
        if not learning_rate:
            raise ValueError("learning_rate must be specified when opt is string.")
        made: Optimizer = resolve("train." + _BY_NAME[given])(learning_rate=learning_rate)
        return made
    if callable(given):
        given = given()
    if not isinstance(given, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {given}")
    return given
