"""Candidate sampling: a few classes drawn in place of all, for losses over many classes."""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.formats.files import local_path
from jitgraph.graph import shape_rules
from jitgraph.ops.random.draws import seeds
from jitgraph.ops.random.philox import Bits, Reader, by_element, unit_float32, unit_float64

_OUTPUTS = "sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32"
_ATTRS = "num_true: int >= 1, num_sampled: int >= 1, unique: bool, range_max: int >= 1"
_SEEDS = "seed: int = 0, seed2: int = 0"
_BLOCKS_PER_SAMPLE = 512


def _sampler_shape(c: Any) -> list:
    true = shape_rules.with_rank(c.shapes[0], 2, "true_classes")
    count = c.attrs["num_sampled"]
    return [(count,), (true[0], c.attrs["num_true"]), (count,)]


def _expected(probability: np.ndarray, count: int, tries: int) -> np.ndarray:
    """How often a class of this probability is drawn: in all `tries` that it took to find `count` (different) classes."""
    p = probability.astype(np.float32)
    return p * np.float32(count) if tries == count else -np.expm1(tries * np.log1p(-p.astype(np.float64))).astype(
        np.float32)


def _drawn(true_classes: np.ndarray, num_true: int, count: int, unique: bool, limit: int, draws: Iterator[int],
           probability: Any) -> tuple:
    """The outputs of a sampler, given the classes that it draws one after the other and the probabilities of classes."""
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise invalid(f"true_classes must have num_true columns, expected: {list(true_classes.shape)} was: {num_true}")
    if unique and count > limit:
        raise invalid(f"sampler's range ({limit}) is too small to pick {count} different classes")
    if unique:
        found: dict[int, None] = {}             # in order
        tries = 0
        while len(found) < count:
            tries += 1
            found[next(draws)] = None
        classes = np.fromiter(found, np.int64, count)
    else:
        tries, classes = count, np.fromiter(draws, np.int64, count)
    return (classes, _expected(probability(true_classes), count, tries), _expected(probability(classes), count, tries))


def _bits(stream: Any, seed: int, seed2: int, count: int) -> Bits:
    return Bits.reserve(stream, seed, seed2, _BLOCKS_PER_SAMPLE * count)


def _one_by_one(draw: Callable[[], int]) -> Iterator[int]:
    while True:
        yield draw()


def _log_uniform_draws(bits: Bits, count: int, log_range: float, range_max: int) -> Iterator[int]:
    """Classes as of the log-uniform sampler without end, each of two words; computed for `count` samples at a time."""
    for begin in itertools.count(0, count):             # as many blocks, and twice as many draws
        units = unit_float64(bits.blocks(np.arange(begin, begin + count, dtype=np.uint64)).reshape(-1))
        yield from ((by_element(math.exp, units * log_range).astype(np.int64) - 1) % range_max).tolist()


def _candidate_samples(rng, dtype):
    return [([np.array([[1], [3]])], {"num_true": 1, "num_sampled": 4, "unique": unique, "range_max": 9, "seed": 7})
            for unique in (True, False)]


@op(f"LogUniformCandidateSampler(true_classes: int64; {_ATTRS}, {_SEEDS}) -> {_OUTPUTS}", shape=_sampler_shape,
    stateful=True, stream=True, samples=_candidate_samples,
    host_because="64 classes of 50,000, one after the other until they differ, take 0.94 of TensorFlow's time")
def _log_uniform(true_classes, num_true, num_sampled, unique, range_max, seed, seed2, stream):
    """Classes drawn with probability (log(k + 2) - log(k + 1)) / log(range_max + 1)."""
    bits, log_range = _bits(stream, seed, seed2, num_sampled), math.log1p(range_max)
    return _drawn(true_classes, num_true, num_sampled, unique, range_max,
                  _log_uniform_draws(bits, num_sampled, log_range, range_max),
                  lambda k: np.log((k + 2.0) / (k + 1.0)) / log_range)


@op(f"UniformCandidateSampler(true_classes: int64; {_ATTRS}, {_SEEDS}) -> {_OUTPUTS}", shape=_sampler_shape,
    stateful=True, stream=True, samples=_candidate_samples)
def _uniform(true_classes, num_true, num_sampled, unique, range_max, seed, seed2, stream):
    """Classes drawn with equal probability."""
    reader = Reader(_bits(stream, seed, seed2, num_sampled), ahead=num_sampled)
    return _drawn(true_classes, num_true, num_sampled, unique, range_max, _one_by_one(lambda: reader.below(range_max)),
                  lambda k: np.full(k.shape, 1.0 / range_max))


class _Table:
    """Draws from given weights in constant time (Walker's alias method)."""

    def __init__(self, weights: list[float]):
        count, total = len(weights), sum(weights)
        self.total = total
        share = [w * count / total for w in weights]
        self.other = list(range(count))
        low, high = [i for i in range(count) if share[i] < 1.0], [i for i in range(count) if share[i] >= 1.0]
        while high and low:
            small, large = low.pop(), high.pop()
            self.other[small] = large
            share[large] -= 1.0 - share[small]
            (low if share[large] < 1.0 else high).append(large)
        for i in [*low, *high]:
            share[i] = 1.0
        self.share = [float(np.float32(s)) for s in share]

    def draw(self, reader: Reader) -> int:
        fraction = float(unit_float32(np.array([reader.word()], np.uint32))[0])
        index = _below32(reader, len(self.share))
        return index if fraction < self.share[index] else self.other[index]


def _below32(reader: Reader, limit: int) -> int:
    reject = 0 if limit & (limit - 1) == 0 else (2 ** 32 - 1) % limit + 1
    while True:
        drawn = reader.word()
        if drawn >= reject:
            return drawn % limit


def _weights(vocab_file: str, unigrams: list, distortion: float, reserved: int, num_shards: int, shard: int) -> list:
    if vocab_file:
        with open(local_path(vocab_file)) as lines:
            unigrams = [float(line.rsplit(",", 1)[1]) for line in lines if line.strip()]
    weights = [0.0 for i in range(reserved) if i % num_shards == shard]
    return weights + [float(np.float32(float(u) ** distortion)) for i, u in enumerate(unigrams, reserved)
                      if i % num_shards == shard]


@op(f"FixedUnigramCandidateSampler(true_classes: int64; {_ATTRS}, vocab_file: string = \"\", distortion: float = 1.0, "
    "num_reserved_ids: int = 0, num_shards: int >= 1 = 1, shard: int >= 0 = 0, unigrams: list(float) = [], "
    f"{_SEEDS}) -> {_OUTPUTS}", shape=_sampler_shape, stateful=True, stream=True,
    samples=lambda rng, dtype: [([np.array([[1], [3]])], {"num_true": 1, "num_sampled": 3, "unique": True, "range_max": 5,
                                                          "unigrams": [1.0, 2.0, 3.0, 4.0, 5.0], "seed": 7})])
def _fixed_unigram(true_classes, num_true, num_sampled, unique, range_max, vocab_file, distortion, num_reserved_ids,
                   num_shards, shard, unigrams, seed, seed2, stream):
    """Classes drawn with probabilities in proportion to `unigrams` (or the counts in a file) to the power `distortion`."""
    weights = _weights(vocab_file, unigrams, distortion, num_reserved_ids, num_shards, shard)
    if len(weights) != range_max:
        raise invalid(f"range_max is {range_max} but there are {len(weights)} unigrams")
    table, reader = _Table(weights), Reader(_bits(stream, seed, seed2, num_sampled), ahead=num_sampled)
    share = np.array(weights, np.float64) / table.total
    return _drawn(true_classes, num_true, num_sampled, unique, range_max, _one_by_one(lambda: table.draw(reader)),
                  lambda k: np.where((k >= 0) & (k < range_max), share[np.clip(k, 0, range_max - 1)], 0))


class _Seen:
    """How often each class of a range was a true class so far, and once more."""

    def __init__(self, range_max: int):
        self.counts = np.ones(range_max, np.int64)

    def probability(self, classes: np.ndarray) -> np.ndarray:
        known = (classes >= 0) & (classes < len(self.counts))
        found = self.counts[np.clip(classes, 0, len(self.counts) - 1)].astype(np.float32) / np.float32(self.counts.sum())
        return np.where(known, found, np.float32(0))

    def learn(self, classes: np.ndarray) -> None:
        if np.any((classes < 0) | (classes >= len(self.counts))):       # TensorFlow writes beyond its table
            raise invalid(f"true_classes must be in [0, {len(self.counts)})")
        np.add.at(self.counts, classes.reshape(-1), 1)


def _unigram(name: str) -> Any:
    """The two ops of a distribution learned from the true classes; of the names, one is of a kernel without locks."""

    def value(true_classes, num_true, num_sampled, unique, range_max, seed, seed2, stream, state, op):
        reader = Reader(_bits(stream, seed, seed2, num_sampled), ahead=num_sampled)
        seen = state.resource(("unigrams", op.origin or op), lambda: _Seen(range_max))
        ends, total = np.cumsum(seen.counts), int(seen.counts.sum())
        found = _drawn(true_classes, num_true, num_sampled, unique, range_max,
                       _one_by_one(lambda: int(np.searchsorted(ends, _below32(reader, total), "right"))), seen.probability)
        seen.learn(true_classes)
        return found

    value.__doc__ = "Classes drawn with probabilities in proportion to how often they were true classes in the runs before, "
    "and once."
    return op(f"{name}(true_classes: int64; {_ATTRS}, {_SEEDS}) -> {_OUTPUTS}", shape=_sampler_shape, stateful=True, stream=True,
              host=True, context=("state", "op"), tested_in="tests/ops/recorded/fractional.py: a session that remembers")(value)


_learned_unigram, _ = _unigram("LearnedUnigramCandidateSampler"), _unigram("ThreadUnsafeUnigramCandidateSampler")


@op(f"AllCandidateSampler(true_classes: int64; num_true: int >= 1, num_sampled: int >= 1, unique: bool, {_SEEDS}) "
    f"-> {_OUTPUTS}", shape=_sampler_shape, stateful=True,
    samples=lambda rng, dtype: [([np.array([[1], [3]])], {"num_true": 1, "num_sampled": 5, "unique": True, "seed": 7})])
def _all(true_classes, num_true, num_sampled):
    """All classes."""
    return (np.arange(num_sampled, dtype=np.int64), np.ones(true_classes.shape, np.float32),
            np.ones(num_sampled, np.float32))


@op(f"ComputeAccidentalHits(true_classes: int64, sampled_candidates: int64; num_true: int, {_SEEDS}) "
    "-> indices: int32, ids: int64, weights: float32", shape=lambda c: [(None,), (None,), (None,)], dynamic=True,
    samples=lambda rng, dtype: [([np.array([[1, 2], [3, 4]]), np.array([4, 1, 9])], {"num_true": 2})])
def _accidental_hits(true_classes, sampled_candidates, num_true):
    """Where a sampled class is a true class: rows, positions among the samples, and a weight that rules them out."""
    places = {int(k): i for i, k in enumerate(sampled_candidates)}
    hits = [(i // num_true, places[int(k)]) for i, k in enumerate(true_classes.reshape(-1)) if int(k) in places]
    return (np.array([row for row, _ in hits], np.int32), np.array([place for _, place in hits], np.int64),
            np.full(len(hits), np.finfo(np.float32).min, np.float32))


# -- public functions ----------------------------------------------------------------------------------------------

def uniform_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                              seed: int | None = None, name: str | None = None) -> Any:
    """(sampled, true expected count, sampled expected count): `num_sampled` classes of [0, range_max), all as likely.

    `true_classes` int64 [batch, num_true]; `unique`: no class twice.
    """
    return _uniform(true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, range_max=range_max,
                    name=name, **seeds(seed))


def log_uniform_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                                  seed: int | None = None, name: str | None = None) -> Any:
    """As ``uniform_candidate_sampler``, small classes being likelier: for classes sorted by falling frequency."""
    return _log_uniform(true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, range_max=range_max,
                        name=name, **seeds(seed))


def fixed_unigram_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                                    vocab_file: str = "", distortion: float = 1.0, num_reserved_ids: int = 0,
                                    num_shards: int >= 1 = 1, shard: int >= 0 = 0, unigrams: Any = (), seed: int | None = None,
                                    name: str | None = None) -> Any:
    """As ``uniform_candidate_sampler``, with the frequencies `unigrams` (or of a file) to the power `distortion`."""
    return _fixed_unigram(true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, range_max=range_max,
                          vocab_file=vocab_file, distortion=distortion, num_reserved_ids=num_reserved_ids,
                          num_shards=num_shards, shard=shard, unigrams=list(unigrams), name=name, **seeds(seed))


def learned_unigram_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                                      seed: int | None = None, name: str | None = None) -> Any:
    """As ``uniform_candidate_sampler``, with probabilities that are learned: in proportion to how often a class was a true
    one in the runs before, and once."""
    return _learned_unigram(true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, range_max=range_max,
                            name=name, **seeds(seed))


def all_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, seed: int | None = None,
                          name: str | None = None) -> Any:
    """As ``uniform_candidate_sampler``, giving all classes: for tests."""
    return _all(true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, name=name, **seeds(seed))


def compute_accidental_hits(true_classes: Any, sampled_candidates: Any, num_true: int, seed: int | None = None,
                            name: str | None = None) -> Any:
    """(row, position among the samples, weight) of each sampled class that is a true class of its row."""
    return raw.ComputeAccidentalHits(true_classes, sampled_candidates, num_true=num_true, name=name, **seeds(seed))
