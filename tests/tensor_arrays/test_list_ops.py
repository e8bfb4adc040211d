"""Lists of tensors do what TensorFlow 1.15's do."""
import importlib.util
import json
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("lists", _HERE / "lists.py")
lists = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(lists)
OF_TENSORFLOW = json.loads((_HERE / "data" / "tf115_lists.json").read_text())


@pytest.fixture(scope="module")
def found():
    import jitgraph

    return lists.results(jitgraph)


@pytest.mark.parametrize("name", sorted(OF_TENSORFLOW))
def test_lists_are_tensorflows(found, name):
    assert found[name] == OF_TENSORFLOW[name]


# TensorFlow, whose graph knows the dtypes and shapes of lists, raises ValueError for these while it is built
@pytest.mark.parametrize("made, message", [
    ("stack(L, I(3))", "Incompatible shapes during merge"), ("stack(L, dt=tf.int32)", "op elements int32 but list elements float"),
    ("get(L, 0, dt=tf.int32)", "op elements int32 but list elements float"),
    ("length(setit(R, 1, tf.constant([1.])))", r"incompatible shape at a list index.*\[1\] list shape: \[2\]"),
    ("length(raw.TensorListFromTensor(tensor=A, element_shape=I(3)))", "Incompatible shapes during merge"),
    ("length(raw.TensorListReserve(element_shape=I(2), num_elements=-1, element_dtype=f32))", "must be a non negative number"),
    ("length(raw.TensorListScatterIntoExistingList(input_handle=L, tensor=A[:1], indices=I(-1)))", "must all be non-negative")])
def test_what_does_not_suit_a_list_is_refused(tf, run, made, message):
    names = {"tf": tf, "np": lists.np}
    exec(lists.BEFORE, names)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(eval(made, names))


def test_a_list_grows_where_an_index_asks_for_it(tf, run):
    names = {"tf": tf, "np": lists.np}
    exec(lists.BEFORE, names)
    longer = eval("stack(raw.TensorListScatterIntoExistingList(input_handle=L, tensor=A[:1], indices=I(4)))", names)
    assert run(longer).tolist() == [[1, 2], [3, 4], [5, 6], [0, 0], [1, 2]]
