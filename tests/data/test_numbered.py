"""Batches of elements that have numbers are made at once: they are the elements, stacked."""
import random

import numpy as np
import pytest

from jitgraph.data.function_host import Mapped
from jitgraph.data.order_host import Repeated, Shuffled
from jitgraph.data.simple_host import Batched, Counting, Listed, Sharded, Skipped, Slices, Taken, Zipped
from jitgraph.data.source_host import INFINITE, Run, Session, drained, passed, stacked

STEPS = [
    lambda source, draw: Taken(source, draw.choice([-1, 0, 3, 20])),
    lambda source, draw: Skipped(source, draw.choice([0, 2, 7])),
    lambda source, draw: Sharded(source, 3, draw.randrange(3), False),
    lambda source, draw: Repeated(source, draw.choice([0, 2, 3])),
    lambda source, draw: Shuffled(source, draw.choice([1, 3, 100]), 5, draw.randrange(9), draw.random() < 0.5),
    lambda source, draw: Shuffled(source, draw.choice([1, 3, 100]), 5, 1, True, draw.choice([0, 1, 3])),
    lambda source, draw: Zipped([source, Counting(3, 40, 2)]),
    lambda source, draw: Zipped([_leaf(draw), source, source]),
]


def _leaf(draw):
    count = draw.choice([0, 1, 5, 13])
    texts = np.array([b"text %d" % k for k in range(count)], object)
    return draw.choice([Counting(0, count, 1), Slices([np.arange(count * 6.0).reshape(count, 2, 3), texts])])


def _chain(seed):
    draw = random.Random(seed)
    source = _leaf(draw)
    for _ in range(draw.randrange(1, 6)):
        source = draw.choice(STEPS)(source, draw)
    return source, draw.choice([1, 2, 7]), draw.random() < 0.5


def _run(fused):
    return Run(Session(None), fused=fused)


def _check_equal(ours, expected):
    assert len(ours) == len(expected)
    for batch, wanted in zip(ours, expected):
        assert [part.dtype for part in batch] == [part.dtype for part in wanted]
        for part, other in zip(batch, wanted):
            np.testing.assert_array_equal(part, other)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("seed", range(150))
def test_batches_are_the_elements_stacked(seed, fused):
    source, size, drop = _chain(seed)
    assert source.numbered()
    found = drained(Batched(source, size, drop).iterate(_run(fused)))
    elements = drained(source.iterate(_run(fused).at("batch")))
    groups = [elements[k:k + size] for k in range(0, len(elements), size)]
    _check_equal(found, [stacked(group) for group in groups if len(group) == size or not drop])
    for count in (1, 3):
        _check_equal(drained(Batched(source, size, drop).resume(_run(fused), count)), found[count:])


def test_batches_without_end_go_on():
    source = Repeated(Shuffled(Counting(0, 5, 1), 3, 1, 2), -1)
    take, each = Batched(source, 4, False).iterate(_run(True)), source.iterate(_run(True).at("batch"))
    for _ in range(9):
        np.testing.assert_array_equal(take()[0], stacked([each() for _ in range(4)])[0])
    assert Batched(source, 4, False).size() == INFINITE
    passed(take, 1000)


@pytest.mark.parametrize("other", [
    Listed([(np.zeros(2),), (np.zeros(3),)]),               # elements of several shapes
    Mapped(Counting(0, 3, 1), None),                        # functions may fail
    Batched(Counting(0, 7, 1), 2, False),                   # the last one is smaller
])
def test_what_has_no_numbers(other):
    assert not other.numbered()
    for step in STEPS:
        assert not step(other, random.Random(1)).numbered()
