"""Every declared op has samples, over which the tests of the registry run, or says where its tests stand and why."""
from pathlib import Path

import pytest

from . import harness

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("opdef", [pytest.param(op, id=op.type) for op in harness.all_ops()])
def test_it_has_samples_or_names_its_tests(opdef):
    sampled = any(harness.cases(opdef, dtype) for dtype in harness.dtypes_of(opdef))
    if opdef.tested_in:
        path, _, reason = opdef.tested_in.partition(": ")
        assert not sampled, f"{opdef.type} has samples and names other tests"
        assert (ROOT / path).exists() and reason, f"{opdef.type}: {opdef.tested_in!r} is not a path of tests and a reason"
    else:
        assert sampled, f"{opdef.type} needs samples=, or tested_in= with the path of its tests and why no sample will do"
