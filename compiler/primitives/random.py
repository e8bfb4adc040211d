"""Random numbers, by Philox (Salmon et al., 2011)."""
from __future__ import annotations

from ..emit import cuda_philox, philox
from .kind import Kind


class Drawn(Kind):
    """What a generator gives: no two are one."""

    is_unique = True


class Uniform(Drawn):
    """Numbers in [0, 1).  Input: seeds and position."""

    name = "uniform"
    kernels = {"cpu": philox.emit_uniform, "cuda": cuda_philox.emit_uniform}


class Normal(Drawn):
    """Numbers of the standard normal distribution.  Inputs: seeds and position, constants."""

    name = "normal"
    kernels = {"cpu": philox.emit_normal, "cuda": cuda_philox.emit_normal}


class TruncatedNormal(Drawn):
    """The same without those of absolute value 2 and more, which are drawn again."""

    name = "truncated_normal"
    kernels = {"cpu": philox.emit_truncated_normal, "cuda": cuda_philox.emit_truncated_normal}


class Words(Drawn):
    """Bits: unsigned integers of 32 or 64.  Input: seeds and position."""

    name = "words"
    kernels = {"cpu": philox.emit_words, "cuda": cuda_philox.emit_words}


class Shuffle(Drawn):
    """The numbers from 0 on in random order (Fisher and Yates; Durstenfeld, 1964).  Input: seeds and position."""

    name = "shuffle"
    kernels = {"cpu": philox.emit_shuffle, "cuda": cuda_philox.emit_shuffle}


UNIFORM, NORMAL, TRUNCATED_NORMAL, WORDS, SHUFFLE = Uniform(), Normal(), TruncatedNormal(), Words(), Shuffle()
