"""Units of work that are made, grow and are joined: what waits for what, beside a search through the graph."""
import random

import pytest

from jitgraph.compiler.dependencies import Dependencies


def reached(order, unit):
    found, stack = set(), [unit]
    while stack:
        new = order.needs[stack.pop()] - found
        found |= new
        stack.extend(new)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_what_is_before_what(seed):
    draw, order = random.Random(seed), Dependencies()
    for _ in range(40):
        units = list(order.needs)
        what = draw.random()
        if what < 0.6 or len(units) < 4:
            unit = order.new()
            order.depend(unit, draw.sample(units, min(len(units), draw.randrange(3))))
        elif what < 0.8:
            a, b = draw.sample(units, 2)
            if b not in reached(order, a) and a not in reached(order, b):
                order.depend(a, [b])
        else:
            a, b = draw.sample(units, 2)
            waits = any(one in reached(order, needed) for one, other in ((a, b), (b, a)) for needed in order.needs[other] - {one})
            assert order.joins(a, b) is not waits
            if not waits:
                order.join(a, b)
        for unit in order.needs:
            for other in order.needs:
                assert order.is_before(unit, [other]) is (other != unit and unit in reached(order, other))
    found = order.ordered(lambda unit: -unit)
    assert sorted(found) == sorted(order.needs)
    assert all(found.index(needed) < found.index(unit) for unit in found for needed in order.needs[unit])


def test_of_what_can_run_the_first_does():
    order = Dependencies()
    last, first, second = (order.new() for _ in range(3))
    order.depend(last, [first])
    assert order.ordered({last: 0, first: 2, second: 1}.get) == [second, first, last]
