"""What parameters are written with: numbers drawn at random, ``n = Li(5, 500); d = Ui(1, 5)``, and the functions of ``math``."""
from __future__ import annotations

import math
import random


def Uf(lo: float = 0.0, hi: float = 1.0) -> float:
    """A number from `lo` to `hi`, each equally likely."""
    return random.uniform(lo, hi)


def Ui(lo: int, hi: int) -> int:
    """A whole number from `lo` to `hi`, both included."""
    return random.randint(lo, hi)


def Lf(lo: float, hi: float) -> float:
    """A number from `lo` to `hi` whose logarithm is equally likely everywhere."""
    return math.exp(random.uniform(math.log(lo), math.log(hi)))


def Li(lo: int, hi: int) -> int:
    """A whole number from `lo` to `hi`, by its logarithm."""
    return math.floor(math.exp(random.uniform(math.log(lo), math.log(hi + 1 - 1e-5))))


def Nt(mu: float, sigma: float, limit: float = 3.0) -> float:
    """A normal number, held within `limit` standard deviations."""
    return min(max(random.gauss(mu, sigma), mu - limit * sigma), mu + limit * sigma)
