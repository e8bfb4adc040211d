"""Every op with a kernel, fed sizes that nobody planned for: compiled, it gives the value of the reference or its error.

A placeholder of unknown sizes may be fed anything.  Each size of each operand in turn becomes one less, one more, and 1;
most such operands do not go together, and a kernel that does not notice reads what lies beyond them.
"""
from __future__ import annotations

import numpy as np
import pytest

from . import harness
from .test_registry import KERNELS, _compiled_dtypes, _parameters


def _other_sizes(arrays):
    """Copies of `arrays` in which one size of one array is another."""
    for k, array in enumerate(arrays):
        for axis, size in enumerate(array.shape):
            for other in sorted({size - 1, size + 1, 1} - {size, -1}):
                if size:
                    changed = np.take(array, np.arange(other), axis, mode="wrap")
                    yield f"size {size} of axis {axis} of operand {k} is {other}", [*arrays[:k], changed, *arrays[k + 1:]]


def _answer(session, outputs, feeds, tf):
    try:
        return session.run(outputs, feeds)
    except tf.errors.OpError as error:
        return error
    except ValueError as error:
        return error


@pytest.mark.sampled(2)
@pytest.mark.parametrize("opdef", _parameters(op for op in KERNELS if not op.stateful))
def test_kernel_agrees_with_the_reference_about_other_sizes(tf, opdef):
    for dtype in _compiled_dtypes(opdef)[:1]:
        for case in harness.cases(opdef, dtype)[:1]:
            tf.reset_default_graph()
            feeds = {}
            outputs = harness.build(tf, case, "sizes unknown", feeds)
            with tf.Session(jit="off") as reference, tf.Session(jit="always") as compiled:
                for what, arrays in _other_sizes(list(feeds.values())):
                    fed = dict(zip(feeds, arrays))
                    wanted = _answer(reference, outputs, fed, tf)
                    got = _answer(compiled, outputs, fed, tf)
                    assert isinstance(wanted, Exception) == isinstance(got, Exception), \
                        f"{case}, where {what}: {got!r} instead of {wanted!r}"
                    if isinstance(wanted, Exception):
                        assert type(got) is type(wanted), f"{case}, where {what}: {got!r} instead of {wanted!r}"
                        assert str(got) == str(wanted), f"{case}, where {what}"
                        continue
                    for one, other in zip(got, wanted):
                        harness.assert_close(one, other, case, f"kernel, where {what},")
