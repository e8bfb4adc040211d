"""The compiled loops of connectionist temporal classification beside NumPy and Python."""
import numpy as np
import pytest

from jitgraph.ops.nn import ctc_loops, ctc_ops
from jitgraph.runtime import host_loops  # noqa: F401  (gives the loops their compiler)


def sequences(r, dtype):
    """Logits [time, batch, classes], lengths and labels, some of which have no path, or a single state."""
    steps, batch, classes = r.randint(1, 12), r.randint(1, 5), r.randint(2, 7)
    logits = (r.standard_normal((steps, batch, classes)) * r.choice([1, 10, 80])).astype(dtype)
    lengths = r.randint(1, steps + 1, batch)
    return logits, lengths, [list(r.randint(0, classes - 1, r.randint(0, min(n, 6) + 1))) for n in lengths]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("merge", [True, False])
def test_the_compiled_loss_is_numpys(monkeypatch, dtype, merge):
    """Within the roundings of logarithms as large as those of the least likely paths."""
    r = np.random.RandomState(0)
    cases = [sequences(r, dtype) for _ in range(40)]
    found = [ctc_ops._losses_and_gradient(logits, labels, lengths, merge) for logits, lengths, labels in cases]
    assert all(code._function for code in ctc_loops._LOSSES.values() if code.codes[0] == f"f{8 * np.dtype(dtype).itemsize}")
    monkeypatch.setattr(ctc_loops, "losses", lambda *arguments: None)
    with np.errstate(all="ignore"):
        wanted = [ctc_ops._losses_and_gradient(logits, labels, lengths, merge) for logits, lengths, labels in cases]
    for (logits, *_), (loss, gradient), (wanted_loss, wanted_gradient) in zip(cases, found, wanted):
        error = 4 * np.finfo(dtype).eps * (1 + np.abs(logits).max() * len(logits))
        np.testing.assert_allclose(loss, wanted_loss, 1e-6, error)
        np.testing.assert_allclose(gradient, wanted_gradient, atol=error)
        assert loss.dtype == gradient.dtype == dtype
    losses = np.concatenate([loss for loss, _ in found])
    assert np.isinf(losses).any() == merge and np.isfinite(losses).sum() > 50      # repeated labels ask for a blank between


def test_a_loss_of_nan_is_nan():
    logits = np.full((3, 1, 4), np.nan, np.float32)
    loss, _ = ctc_ops._losses_and_gradient(logits, [[1]], np.array([3]), True)
    assert np.isnan(loss).all()


def log_probabilities(r):
    logits = r.standard_normal((r.randint(1, 25), r.randint(2, 7))) * r.choice([0.3, 1, 5])
    return ctc_ops._log_softmax(logits)


def test_the_compiled_search_is_pythons(monkeypatch):
    r = np.random.RandomState(1)
    cases = [(log_probabilities(r), r.randint(1, 12)) for _ in range(30)]
    found = [ctc_loops.search(*case) for case in cases]
    monkeypatch.setattr(ctc_loops.HostCode, "__call__", lambda self, *buffers, **sizes: None)
    for one, case in zip(found, cases):
        other = ctc_loops.search(*case)
        np.testing.assert_allclose(one.scores, other.scores, 1e-12)
        assert [one.labelling(k, False) for k in range(len(one.kept))] == [other.labelling(k, False) for k in range(len(one.kept))]


def test_room_for_more_prefixes_is_made(monkeypatch):
    r = np.random.RandomState(2)
    given = ctc_ops._log_softmax(r.standard_normal((300, 6)))
    wanted = ctc_loops.search(given, 8)
    monkeypatch.setattr(ctc_loops, "_ROOM", 0)
    found = ctc_loops.search(given, 8)
    assert len(found.labels) > 2 * 8 * 5, "the first room was enough"
    assert found.labelling(0, True) == wanted.labelling(0, True) and len(wanted.labelling(0, True)) > 20
    np.testing.assert_array_equal(found.scores, wanted.scores)
