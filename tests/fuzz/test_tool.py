"""The tool that compares with TensorFlow: what it writes, how it compares and how it shrinks."""
import numpy as np
import pytest

from .differential import answers, compare, generate, shrink, source


@pytest.mark.parametrize("kind", generate.KINDS)
def test_a_seed_is_a_program_that_can_be_read(kind):
    program = generate.program(3, kind)
    assert program == generate.program(3, kind) != generate.program(4, kind)
    compile(source.source(program), kind, "exec")


def test_most_programs_are_built(tf):
    programs = [generate.program(seed, kind) for kind in generate.KINDS for seed in range(5)]
    failed = [answers.answer(tf, p, lambda: tf.Session(jit="off"))["build"] for p in programs]
    assert sum(any(build) for build in failed) < len(programs) / 5


def test_rounding_is_no_difference_unless_it_is_much(tf):
    one, near, far = (answers.plain(np.float32([1, x])) for x in (1e-3, 1.01e-3, 2e-3))
    assert compare.difference(one, near) is None and "1 of 2 values differ, first at [1]" in compare.difference(one, far)
    assert compare.difference(dict(one, apart=1e-3), far) is None       # as ill-conditioned as that
    assert compare.difference(answers.plain(np.int32([1])), answers.plain(np.int64([1]))) == "dtype int64, not int32"
    nan, inf = (answers.plain(np.float32([x])) for x in (np.nan, np.inf))
    assert compare.difference(nan, nan) is None and compare.difference(nan, inf)


def test_a_program_that_differs_is_made_small():
    program = generate.program(1, "elementwise")
    culprit = program["statements"][-1]["op"]
    program["runs"] = [dict(run, fetch=[program["statements"][-1]["out"]]) for run in program["runs"]]
    small = shrink.shrink(program, lambda p: any(s["op"] == culprit for s in p["statements"]))
    assert len(small["runs"]) == 1 and len(small["statements"]) <= len(program["statements"])
    assert all(shrink.needed(small)["statements"])
