"""Random reads and writes of variables, beside a NumPy model of the promise: they happen in the order of their creation."""
import os

import numpy as np
import pytest

from .differential import answers, source, unordered

EXAMPLES = int(os.environ.get("JITGRAPH_FUZZ_EXAMPLES", "120")) // 10



@pytest.mark.parametrize("mode", ["off", "always", "auto"])
def test_what_is_not_ordered_happens_in_the_order_of_creation(tf, mode):
    for seed in range(EXAMPLES):
        program = unordered.program(seed)
        answer = answers.answer(tf, program, lambda: tf.Session(jit=mode))
        for k, (run, wanted) in enumerate(zip(answer["runs"], unordered.meaning(program))):
            where = f"program {seed}, run {k}"
            assert "error" not in run, f"{where}: {run}\n{source.source(program)}"
            for name, value in wanted.items():
                found = answers.array_of(run["values"][name])
                np.testing.assert_array_equal(found, value, f"{where}, {name}\n{source.source(program)}")
