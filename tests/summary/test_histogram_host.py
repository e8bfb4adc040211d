"""The buckets of histograms, and the sums beside them, whatever the shortcut to them."""
import warnings

import numpy as np
import pytest

from jitgraph.summary import histogram_host

LIMITS = histogram_host.bucket_limits()
INSIDE = LIMITS[1:-1]
VALUES = np.concatenate([
    INSIDE, np.nextafter(INSIDE, -np.inf), np.nextafter(INSIDE, np.inf), [0.0, -0.0, 1e-45, -1e-45, 3e38, -3e38],
    np.random.RandomState(0).randn(50000) * 10.0 ** np.random.RandomState(1).uniform(-14, 22, 50000)])


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64])
def test_each_value_is_in_the_bucket_whose_limits_it_lies_between(dtype, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(histogram_host, "_counted", lambda values: None)
    values = VALUES[np.abs(VALUES) < 6e4].astype(dtype) if dtype in (np.float16, np.int64) else VALUES.astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = histogram_host.histogram_of(values, "h")
    wide = values.astype(np.float64)
    wanted = np.bincount(np.searchsorted(LIMITS[:-1], wide, "right"), minlength=len(LIMITS))
    counts = dict(zip(found.bucket_limit, found.bucket))
    assert [counts.get(limit, 0) for limit in LIMITS] == wanted.tolist()
    assert (found.num, found.min, found.max) == (values.size, wide.min(), wide.max())


def test_sums_go_from_the_first_value_to_the_last():
    values = np.random.RandomState(2).randn(100000).astype(np.float32)
    found, total, squares = histogram_host.histogram_of(values, "h"), 0.0, 0.0
    for value in values.astype(np.float64).tolist():
        total, squares = total + value, squares + value * value
    assert (found.sum, found.sum_squares) == (total, squares)


def test_no_value_at_all():
    found = histogram_host.histogram_of(np.zeros(0, np.float32), "h")
    assert (found.num, found.sum, found.min > 1e308, found.max < -1e308) == (0, 0, True, True)


@pytest.mark.parametrize("wrong, name", [(np.nan, "Nan"), (np.inf, "Infinity"), (-np.inf, "Infinity")])
def test_a_value_that_is_not_finite_is_refused(tf, wrong, name):
    values = np.ones(5000)
    values[-1] = wrong
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{name} in summary histogram for: tag"):
        histogram_host.histogram_of(values, "tag")
