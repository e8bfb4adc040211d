"""The counts of histograms by compiled code beside those by NumPy."""
import numpy as np
import pytest

from jitgraph.summary import histogram_host

RNG = np.random.RandomState(0)
LIMITS = histogram_host.bucket_limits()
CASES = {
    "at the limits and next to them": np.concatenate([LIMITS, np.nextafter(LIMITS, 0), np.nextafter(LIMITS[1:-1], np.inf)] * 3),
    "of all sizes": np.exp(RNG.uniform(-60, 60, 5000)) * np.sign(RNG.standard_normal(5000)),
    "outside of what has limits": np.array([0.0, -0.0, 5e-324, 1e-300, 1e300, -1e300, LIMITS[-1], LIMITS[0]] * 1000),
    "float32": RNG.standard_normal((100, 500)).astype(np.float32), "float16": RNG.standard_normal(5000).astype(np.float16),
    "integers": RNG.randint(-5, 1000, 5000), "truth": RNG.random_sample(5000) > 0.5, "one": np.array(2.5),
}


@pytest.mark.parametrize("case", list(CASES))
def test_compiled_counts_are_numpys(case, monkeypatch):
    values = CASES[case]
    found = histogram_host.histogram_of(values, "tag")
    monkeypatch.setattr(histogram_host, "_counted", lambda values: None)
    assert found == histogram_host.histogram_of(values, "tag")


@pytest.mark.parametrize("wrong, name", [(np.nan, "Nan"), (np.inf, "Infinity"), (-np.inf, "Infinity")])
def test_a_value_that_is_not_finite_is_refused(tf, wrong, name):
    values = RNG.standard_normal(5000)
    values[-1] = wrong
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{name} in summary histogram for: tag"):
        histogram_host.histogram_of(values, "tag")
