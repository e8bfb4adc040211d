"""What ops give, beside what TensorFlow 1.15 gave for the same programs (recorded/*.npz, see recorded/record.py)."""
import importlib.util
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parent / "recorded"
TOLERANCE = {"float16": 2e-3, "float32": 1e-5, "complex64": 1e-5, "float64": 1e-9, "complex128": 1e-9}


def _record():
    spec = importlib.util.spec_from_file_location("record", FOLDER / "record.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RECORD = _record()
NAMES = sorted(path.stem for path in FOLDER.glob("*.npz"))


def assert_as_recorded(case, got, wanted):
    assert len(got) == len(wanted), f"{case}: {len(got)} results, not {len(wanted)}"
    for i, (array, one) in enumerate(zip(got, wanted)):
        what = f"result {i} of {case}"
        assert array.shape == one.shape, f"{what}: shape {array.shape}, not {one.shape}"
        if one.dtype.kind == "S":
            assert [bytes(b) for b in array.ravel()] == one.ravel().tolist(), what
            continue
        assert array.dtype == one.dtype, f"{what}: dtype {array.dtype}, not {one.dtype}"
        tolerance = TOLERANCE.get(one.dtype.name)
        if tolerance is None:
            np.testing.assert_array_equal(array, one, what)
        else:
            scale = max(1, np.abs(np.where(np.isfinite(one), one, 0)).max()) if one.size else 1
            np.testing.assert_allclose(array, one, rtol=tolerance, atol=tolerance * scale, err_msg=what)


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_those_of_tensorflow(tf, name, jit):
    if name == "image":                 # some cases encode and decode
        pytest.importorskip("PIL")
    recorded = np.load(FOLDER / f"{name}.npz")
    cases = RECORD.load(name).cases(tf)
    if jit == "always":                 # compiling takes long, and the registry's tests compile each op
        cases = dict(list(cases.items())[::7])
    assert {key.partition("|")[0] for key in recorded} >= set(cases)
    for case, build in cases.items():
        if f"{case}|error" in recorded:
            with pytest.raises(Exception) as caught:
                RECORD.run(tf, build, jit=jit)
            assert type(caught.value).__name__ == bytes(recorded[f"{case}|error"]).decode(), f"{case}: {caught.value}"
            continue
        wanted = [recorded[f"{case}|{i}"] for i in range(len([k for k in recorded if k.startswith(case + "|")]))]
        assert_as_recorded(case, RECORD.run(tf, build, jit=jit), wanted)
