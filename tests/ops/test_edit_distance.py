"""Levenshtein's distance beside its recursion."""
import functools

import numpy as np

from jitgraph.ops.sparse.edit_distance import distances


@functools.cache
def defined(a, b):
    if not a or not b:
        return len(a) + len(b)
    return min(defined(a[1:], b) + 1, defined(a, b[1:]) + 1, defined(a[1:], b[1:]) + (a[0] != b[0]))


def test_pairs_of_all_lengths_together():
    random = np.random.RandomState(0)
    for count in range(6):
        pairs = [tuple(random.randint(0, 3, random.randint(0, 9)).tolist() for _ in range(2)) for _ in range(20 * count)]
        assert distances(pairs).tolist() == [defined(tuple(a), tuple(b)) for a, b in pairs]
