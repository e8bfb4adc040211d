"""Numbers of the Poisson distribution, drawn by a compiled loop: what `random_rejection` draws one by one in Python.

An acceptance that hangs on the last bit of a logarithm (one of 10^15) may go the other way.
"""
from __future__ import annotations

import math
import textwrap

import numpy as np

from jitgraph.declare.host_code import HostCode
from jitgraph.ops.random.philox import RESERVED, Bits
from jitgraph.ops.random.philox_text import BLOCK, START

_SMALL, _LARGE, _GIVEN = range(3)       # by a product, by rejection, no drawing
_FACTS = 8                              # numbers of a rate: kind, rate, limit or result, a, b, 1 / alpha, log(rate), squeeze

# a sample's uniform numbers come in pairs from a block each, the second one first
_NEXT = f"""            if held < 0:
                counter = start + u64(block)
{textwrap.indent(BLOCK, '    ')}
                block = block + 1
                held = f64(i64(((c0 & u64(0xFFFFF)) << half) | c1)) * {2.0 ** -52!r}
                u = f64(i64(((c2 & u64(0xFFFFF)) << half) | c3)) * {2.0 ** -52!r}
            else:
                u = held
                held = f64(-1)"""

_LOOP = HostCode("poisson", ("i64", "f64", "f64", "f64"), f"""def poisson(x0, x1, x2, y0, sizes, begin, end):
    samples = sizes[0]
    largest = x2[0]
{START}
    for q in range(begin, end):
        at = quotient(q, samples) * {_FACTS}
        kind, rate, limit, a, b = i64(x1[at]), x1[at + 1], x1[at + 2], x1[at + 3], x1[at + 4]
        inverse_alpha, log_rate, squeeze = x1[at + 5], x1[at + 6], x1[at + 7]
        block, held, u, first, count, product = q * {RESERVED}, f64(-1), f64(0), f64(-1), f64(0), f64(1)
        going = kind != {_GIVEN}
        if kind == {_GIVEN}:
            count = limit
        while going:
{_NEXT}
            if kind == {_SMALL}:
                product = product * u
                going = (product > limit) | (count > largest)
                if going:
                    count = count + 1.0
            else:
                if first < 0:
                    first = u
                else:
                    side = first - 0.5
                    first = f64(-1)
                    edge = 0.5 - fabs(side)
                    if edge != 0.0:
                        k = floor((2.0 * a / edge + b) * side + rate + 0.43)
                        count = k
                        if k <= largest:
                            if (edge >= 0.07) & (u <= squeeze):
                                going = edge < 0
                            else:
                                if (k >= 0) & ((edge >= 0.013) | (u <= edge)):
                                    going = log(u * inverse_alpha / (a / (edge * edge) + b)) > k * log_rate - rate - lgamma(k + 1.0)
        y0[q] = count
    return 0
""")


def poissons(rates: np.ndarray, count: int, bits: Bits, largest: float) -> np.ndarray | None:
    """`count` numbers for each of the rates, row by row: float64 [rates * count]; None where the loop is not compiled."""
    facts = np.zeros((rates.size, _FACTS))
    for row, rate in zip(facts, rates.reshape(-1).tolist()):
        rate = float(rate)
        row[1] = rate
        if not rate >= 0 or math.isinf(rate):
            row[0], row[2] = _GIVEN, rate if rate > 0 else 0
        elif rate < 10:
            row[0], row[2] = _SMALL, math.exp(-rate)
        else:
            b = 0.931 + 2.53 * math.sqrt(rate)
            row[0], row[3:] = _LARGE, (-0.059 + 0.02483 * b, b, 1.1239 + 1.1328 / (b - 3.4), math.log(rate),
                                       0.9277 - 3.6224 / (b - 2))
    seeds = np.array([bits.seed, bits.seed2, bits.start], np.uint64).view(np.int64)
    out = np.empty(rates.size * count)
    done = _LOOP(seeds, facts, np.array([largest]), out, sizes=(count,), end=out.size)
    return None if done is None else out
