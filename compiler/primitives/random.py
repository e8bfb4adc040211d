"""Random numbers, by Philox (Salmon et al., 2011)."""
from __future__ import annotations

from ..emit import philox
from .kind import Kind


class Uniform(Kind):
    """Numbers in [0, 1).  Input: seeds and position."""

    name = "uniform"
    is_unique = True
    kernels = {"cpu": philox.emit_uniform}


class Normal(Kind):
    """Numbers of the standard normal distribution.  Inputs: seeds and position, constants."""

    name = "normal"
    is_unique = True
    kernels = {"cpu": philox.emit_normal}


class TruncatedNormal(Kind):
    """The same without those of absolute value 2 and more, which are drawn again."""

    name = "truncated_normal"
    is_unique = True
    kernels = {"cpu": philox.emit_truncated_normal}


class Words(Kind):
    """Bits: unsigned integers of 32 or 64.  Input: seeds and position."""

    name = "words"
    is_unique = True
    kernels = {"cpu": philox.emit_words}


class Shuffle(Kind):
    """The numbers from 0 on in random order (Fisher and Yates; Durstenfeld, 1964).  Input: seeds and position."""

    name = "shuffle"
    is_unique = True
    kernels = {"cpu": philox.emit_shuffle}


UNIFORM, NORMAL, TRUNCATED_NORMAL, WORDS, SHUFFLE = Uniform(), Normal(), TruncatedNormal(), Words(), Shuffle()
