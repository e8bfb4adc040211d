"""Shape rules, against NumPy where it has the answer."""
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitgraph.graph import shape_rules as rules

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


class Context:
    """What a rule sees."""

    def __init__(self, shapes, constants=(), running=False, **attrs):
        self.shapes, self.attrs, self.running = shapes, attrs, running
        self.inputs = [SimpleNamespace(op=SimpleNamespace(type="Placeholder")) for _ in shapes]
        self._constants = constants

    def constant(self, index):
        return self._constants[index]


@given(SHAPES, SHAPES)
def test_broadcasting_as_numpy(a, b):
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(ValueError, match="Dimensions must be equal, but are"):
            rules.broadcast_shapes(a, b)
    else:
        assert rules.broadcast_shapes(a, b) == expected


@given(SHAPES, SHAPES, st.data())
def test_hidden_sizes_never_contradict(a, b, data):
    """With some sizes hidden the rule knows less, but nothing else."""
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        return
    hide = [tuple(None if data.draw(st.booleans()) else d for d in s) for s in (a, b)]
    found = rules.broadcast_shapes(*hide)
    assert len(found) == len(expected)
    assert all(f is None or f == e for f, e in zip(found, expected))


@pytest.mark.parametrize("a, b, expected", [
    ((None,), (1,), (None,)), ((None,), (3,), (3,)), ((2, None), (None, 1), (2, None)), (None, (2,), None),
    ((None,), (0,), (None,))])
def test_broadcasting_what_is_unknown(a, b, expected):
    assert rules.broadcast_shapes(a, b) == expected == rules.broadcast_shapes(b, a)


def test_merging():
    assert rules.merge((None, 2), (3, None)) == (3, 2) and rules.merge(None, (1,)) == (1,)
    with pytest.raises(ValueError, match=r"Dimension 1 in both shapes must be equal, but are 2 and 3. Shapes are \[1"):
        rules.merge((1, 2), (1, 3))
    with pytest.raises(ValueError, match="equal rank"):
        rules.merge((1,), (1, 3))


@given(SHAPES.filter(len), st.data(), st.booleans())
def test_reductions_as_numpy(shape, data, keep):
    axes = data.draw(st.lists(st.integers(-len(shape), len(shape) - 1), unique_by=lambda a: a % len(shape)))
    expected = np.sum(np.zeros(shape), axis=tuple(axes), keepdims=keep).shape
    found = rules.reduced(Context([shape, (len(axes),)], (None, np.array(axes, np.int32)), keep_dims=keep))
    assert found == expected


def test_reductions_over_unknown_axes():
    assert rules.reduced(Context([(2, 3), (None,)], (None, None), keep_dims=True)) == (None, None)
    assert rules.reduced(Context([(2, 3), (None,)], (None, None), keep_dims=False)) is None
    assert rules.reduced(Context([(2, 3), ()], (None, None), keep_dims=False)) == (None,)
    with pytest.raises(ValueError, match="Invalid reduction dimension 2"):
        rules.reduced(Context([(2, 3), ()], (None, np.array(2)), keep_dims=False))


def test_shapes_from_values():
    stated = np.array([2, -1, 3])
    assert rules.shape_from(Context([(3,)], (stated,)), 0) == (2, None, 3)
    assert rules.shape_from(Context([(3,)], (stated,), running=True), 0, free=True) == (2, None, 3)
    with pytest.raises(ValueError, match="Dimension -1 must be >= 0"):
        rules.shape_from(Context([(3,)], (stated,), running=True), 0)
    assert rules.shape_from(Context([(2,)], (np.array([4, None], object),)), 0) == (4, None)
    assert rules.shape_from(Context([(2,)], (None,)), 0) == (None, None)
    assert rules.shape_from(Context([(None,)], (None,)), 0) is None
    with pytest.raises(ValueError, match="Dimension -2 must be >= 0"):
        rules.shape_from(Context([(1,)], (np.array([-2]),)), 0)


def test_ranks_and_counts():
    assert rules.with_rank(None, 2) == (None, None)
    with pytest.raises(ValueError, match="Shape must be rank 2 but is rank 1"):
        rules.with_rank((1,), 2)
    assert rules.elements((2, 3)) == 6 and rules.elements((2, None)) is None and rules.elements(()) == 1
