"""Ranges of integers: never too narrow, shown by values."""
import itertools

import numpy as np
import pytest

from jitgraph.compiler import ranges

LOW, HIGH = -128, 127
MEANINGS = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "min": min, "max": max,
            "floor_mod": lambda a, b: a % b, "trunc_mod": lambda a, b: int(np.fmod(a, b)), "bit_and": lambda a, b: a & b,
            "floor_div": lambda a, b: a // b, "trunc_div": lambda a, b: int(a / b)}
INTERVALS = [(-128, -127), (-9, -2), (-3, 4), (0, 0), (0, 5), (2, 7), (100, 127), (-128, 127)]


@pytest.mark.parametrize("prim", MEANINGS)
def test_no_value_lies_outside(prim):
    informative = 0
    for x, y in itertools.product(INTERVALS, repeat=2):
        if "mod" in prim or "div" in prim:
            y = (max(y[0], 1), max(y[1], 1))
        found = ranges.of_primitive(prim, [x, y], ["i8", "i8"], "i8")
        if found is None:
            continue
        informative += 1
        for a, b in itertools.product(range(x[0], x[1] + 1), range(y[0], y[1] + 1)):
            assert found[0] <= MEANINGS[prim](a, b) <= found[1], (x, y, a, b)
    assert informative > 5


def test_what_may_wrap_around_is_unknown():
    assert ranges.of_primitive("add", [(0, 100), (0, 27)], ["i8", "i8"], "i8") == (0, 127)
    assert ranges.of_primitive("add", [(0, 100), (0, 28)], ["i8", "i8"], "i8") is None
    assert ranges.of_primitive("cast", [(0, 255)], ["u8"], "i8") is None
    assert ranges.of_primitive("cast", [None], ["u8"], "i32") == (0, 255)
    assert ranges.of_primitive("neg", [(-128, 0)], ["i8"], "i8") is None
    assert ranges.of_primitive("select", [None, (0, 5), (-9, -2)], ["b1", "i8", "i8"], "i8") == (-9, 5)
    assert ranges.of_primitive("add", [None, None], ["f32", "f32"], "f32") is None


@pytest.mark.parametrize("prim", ["floor_mod", "trunc_mod"])
def test_a_remainder_without_division_is_the_remainder(prim):
    spared = 0
    for divisor, x in itertools.product((1, 3, 10, 100), INTERVALS):
        text = ranges.remainder(prim, x, divisor)
        if text is None:
            continue
        spared += 1
        for value in range(x[0], x[1] + 1):
            scope = {"select": lambda c, a, b: a if c else b, "i8": np.int8}
            assert eval(text.format(x=value, d=divisor, code="i8"), scope) == MEANINGS[prim](value, divisor), (x, value, divisor)
    assert spared > 5
    assert ranges.remainder(prim, None, 3) is None and ranges.remainder(prim, (0, 1), -3) is None
