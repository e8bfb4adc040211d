"""Some 600 calls of public functions give what TensorFlow 1.15 gives, of plain and special numbers, and of views."""
import numpy as np
import pytest

from . import call_values

CASES = list(enumerate(call_values.cases()))


@pytest.fixture(scope="module")
def recorded():
    found = {}
    with np.load(call_values.RECORDED) as data:
        for key in data.files:
            number, _, place = key.partition("/")
            found.setdefault(int(number), {})[int(place)] = data[key]
    return {number: [parts[k] for k in sorted(parts)] for number, parts in found.items()}


def check(tf, jit, recorded, chosen):
    different = []
    for number, (call, turned, kind) in chosen:
        wanted = recorded.get(number)
        found = None if wanted is None else call_values.answers(tf, call, turned, kind, lambda: tf.Session(jit=jit), runs=2)
        if wanted is not None and found is None or not all(same(wanted, answer) for answer in found or ()):
            different.append(f"{call}{' of views' * turned}, {kind}, {jit}: {found}, TensorFlow: {wanted}")
    assert not different, "\n".join(different)


def same(wanted, found):
    if isinstance(found, str):
        return len(wanted) == 1 and wanted[0].dtype.kind == "U" and str(wanted[0]) == found
    return len(wanted) == len(found) and all(map(alike, wanted, found))


def alike(wanted, found):
    if wanted.dtype.kind == "S":
        return found.dtype.kind in "OS" and found.astype(np.bytes_).tolist() == wanted.tolist()
    if wanted.shape != found.shape or wanted.dtype != found.dtype:
        return False
    if wanted.dtype.kind in "fc":
        with np.errstate(all="ignore"):
            return np.allclose(found, wanted, rtol=3e-5, atol=3e-6, equal_nan=True)
    return bool((wanted == found).all())


@pytest.mark.parametrize("jit", ["off", "always"])
def test_every_tenth_call(tf, jit, recorded):
    assert len(recorded) > 1300
    check(tf, jit, recorded, CASES[::10])


@pytest.mark.slow
@pytest.mark.timeout(1800)        # thirteen hundred calls, for which others have a test each
@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_all_calls(tf, jit, recorded):
    check(tf, jit, recorded, CASES)
