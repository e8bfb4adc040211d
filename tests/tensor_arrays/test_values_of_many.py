"""Many elements of a TensorArray, or entries of a list, at once: one array serves as all of them."""
import numpy as np
import pytest

from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.tensor_arrays.host_values import ZERO, Stack
from jitgraph.tensor_arrays.list_values import TensorList
from jitgraph.tensor_arrays.tensor_array_values import Elements, Handle, span, with_gradients

ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)


def handle(tf, **attrs):
    return Handle("rows", {"tensor_array_name": "rows", "dtype": tf.float32, "element_shape": None, "dynamic_size": False,
                           "clear_after_read": True, "identical_element_shapes": True, **attrs})


@pytest.mark.parametrize("indices, expected", [
    ([2, 3, 4], slice(2, 5, 1)), ([3, 2, 1], slice(3, 0, -1)), ([2, 1, 0], slice(2, None, -1)), ([5], slice(5, 6, 1)), ([], None),
    ([4, 5, 6], None), ([1, 0, -1], None), ([1, 3, 5], None), ([0, 2, 1, 3], None), ([1, 1], None)])
def test_indices_that_follow_one_another_are_a_part(indices, expected):
    assert span(indices, 6) == span(np.array(indices, np.int32), 6) == expected
    if expected:
        assert np.arange(6)[expected].tolist() == indices


def test_written_rows_are_the_elements(tf):
    shared = handle(tf)
    elements = shared.write_rows(Elements.missing(6), np.arange(6), ROWS)
    assert elements.size == 6 and elements.get(4).tolist() == [8, 9] and elements.get(6) is None and not elements.is_empty()
    part = shared.read_rows(elements, [3, 2])
    assert np.shares_memory(part, ROWS) and part.tolist() == [[6, 7], [4, 5]]
    with pytest.raises(InvalidArgumentError, match="Could not read index 2 twice"):
        shared.read_rows(elements, [1, 2])
    with pytest.raises(InvalidArgumentError, match="already been written"):
        handle(tf).write(elements, 0, ROWS[0])


def test_scalars_are_arrays(tf):
    elements = Elements.of_rows(ROWS[:, 1])
    assert isinstance(elements.get(2), np.ndarray) and elements.get(2).shape == () and elements.get(2) == 5
    assert elements.replaced(2, np.float32(7)).get(2) == 7 and [*elements.list.items()][1] == 3


def test_gradients_of_all_elements_stay_one_array():
    total = with_gradients(ZERO, range(5, -1, -1), ROWS, 6)
    assert np.shares_memory(total.part(range(6)), ROWS) and total.get(0).tolist() == [10, 11]
    assert with_gradients(total, [0, 0], ROWS[1:3], 6).get(0).tolist() == [16, 19]
    few = with_gradients(ZERO, [4, 2], ROWS[:2], 6)
    assert few.size == 6 and few.get(2).tolist() == [2, 3] and few.get(3) is None and few.part([2, 3]) is None


@pytest.mark.parametrize("empty", [Stack(), TensorList([], None, None)], ids=["stack", "list"])
def test_entries_come_off_in_turn_however_they_went_on(empty):
    held = empty.push(ROWS[0]).push_all(ROWS[1:4]).push_all([ROWS[4], ROWS[5]])
    assert held.size == 6
    one, top = held.pop()
    assert top.tolist() == [10, 11] and one.size == 5
    two, found = one.pop_all(3)
    assert [row.tolist() for row in found] == [[8, 9], [6, 7], [4, 5]]
    rest, found = two.pop_all(2)
    assert [row.tolist() for row in found] == [[2, 3], [0, 1]] and rest.size == 0 and held.size == 6
    with pytest.raises(IndexError, match="empty list"):
        two.pop_all(3)


def test_stacks_are_added_from_the_top():
    long, short = Stack().push_all(ROWS), Stack().push(ROWS[0] * 0 + 100).push_all(ROWS[:1])
    for total in (long + short, short + long):
        assert [row.tolist() for row in total.pop_all(6)[1]] == [[10, 12], [108, 109], [6, 7], [4, 5], [2, 3], [0, 1]]
