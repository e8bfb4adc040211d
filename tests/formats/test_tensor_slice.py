"""Slices of tensors: their text, their keys, and tensors put together from them."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitgraph.formats import tensor_slice
from jitgraph.formats.tensor_slice import WHOLE
from jitgraph.graph.errors import InvalidArgumentError


def test_text():
    assert tensor_slice.parse("10 4 0,5:-") == ((10, 4), ((0, 5), (0, WHOLE)))
    assert tensor_slice.resolve(((0, 5), (0, WHOLE)), (10, 4)) == ((0, 5), (0, 4))


@pytest.mark.parametrize("text, message", [
    ("4 x 1,2:-", "Non numerical dimension"), ("4 10 1,2", "Mismatching ranks: shape = \\[4,10\\], slice = 1,2"),
    ("4 10 1,9:-", "Extent in dimension 0 out of bounds"), ("4 a", "Expected a pair"), ("4 1,-2", "Expected a pair"),
    ("4 1", "Expected a pair"), ("-", "Mismatching ranks"), ("-3 0,1", "out of bounds"), ("4  ", "Non numerical")])
def test_text_that_is_no_slice(text, message):
    with pytest.raises(InvalidArgumentError, match=message):
        tensor_slice.parse(text)


@pytest.mark.parametrize("extents, expected", [
    ((), b"\x00t\x00\x01\x00"), (((0, 4), (0, WHOLE)), b"\x00t\x00\x01\x01\x02\x80\x84\x80\x7f"),
    (((64, 63),), b"\x00t\x00\x01\x01\x01\xc0\x40\xbf")])
def test_keys(extents, expected):
    assert tensor_slice.key("t", extents) == expected


def test_keys_of_names_with_bytes_that_need_care():
    assert tensor_slice.key("a\x00b", ()) == b"\x00a\x00\xffb\x00\x01\x00"


@given(st.integers(-2**40, 2**40), st.integers(-2**40, 2**40))
def test_keys_sort_as_their_numbers(a, b):
    keys = [tensor_slice.key("t", ((number, 0),)) for number in (a, b)]
    assert (keys[0] < keys[1]) == (a < b)


@given(st.data())
def test_any_cover_gives_any_part(data):
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    full = np.arange(shape[0] * shape[1]).reshape(shape)
    cut = data.draw(st.integers(0, shape[0]))
    stored = [((0, cut), (0, shape[1])), ((cut, shape[0] - cut), (0, shape[1]))]
    parts = [(e, lambda e=e: full[tensor_slice.within(e, ((0, shape[0]), (0, shape[1])))]) for e in stored]
    wanted = []
    for size in shape:
        start = data.draw(st.integers(0, size))
        wanted.append((start, data.draw(st.integers(0, size - start))))
    found = tensor_slice.assemble(tuple(wanted), full.dtype, parts)
    (r, rows), (c, columns) = wanted
    np.testing.assert_array_equal(found, full[r:r + rows, c:c + columns])


def test_a_part_that_is_not_covered():
    with pytest.raises(ValueError, match="does not cover"):
        tensor_slice.assemble(((0, 3),), np.float32, [(((0, 2),), lambda: np.zeros(2, np.float32))])


def test_a_slice_of_another_shape():
    with pytest.raises(ValueError, match="has shape"):
        tensor_slice.assemble(((0, 2),), np.float32, [(((0, 2),), lambda: np.zeros(3, np.float32))])
