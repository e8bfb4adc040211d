"""What a kernel moves: all of a tensor, or the part that it touches."""
import numpy as np
import pytest

from jitgraph import compiler
from jitgraph.compiler import sizes, work


def moved(tf, fetches, targets, feeds):
    """{name: [bytes of each kernel of that name]} of a run."""
    found: dict = {}
    program = compiler.compile(tf.get_default_graph(), fetches, targets, {t: tuple(t.shape.as_list()) for t in feeds})
    for step in program.layout.steps:
        if isinstance(step, tuple):
            found.setdefault(step[0].name, []).append(sizes.hint_of(work.moved(step[0])))
    return found


@pytest.mark.parametrize("make, bytes_moved", [
    (lambda tf, x, y: x + y[:, :1], {"map_add": 4 * (64 * 48 + 64 + 64 * 48)}),             # a column for all
    (lambda tf, x, y: tf.exp(y[:, 8:16]), {"map_exp": 4 * (64 * 8 + 64 * 8)}),              # a slice
    (lambda tf, x, y: tf.concat([x, y], 1), {"map_copy": 2 * [4 * 2 * 64 * 48]}),           # the parts of a result
    (lambda tf, x, y: tf.gather(x, [3, 5]), {"map_gather": 4 * 2 * 2 * 48 + 2 * 4}),        # picked rows
])
def test_bytes(tf, make, bytes_moved):
    x, y = tf.placeholder(tf.float32, [64, 48]), tf.placeholder(tf.float32, [64, 48])
    found = moved(tf, [make(tf, x, y)], [], [x, y])
    (name, counts), = found.items()
    (_, wanted), = bytes_moved.items()
    assert counts == (wanted if isinstance(wanted, list) else [wanted]), name


def test_rows_of_a_variable(tf):
    table = tf.Variable(np.zeros((1000, 16), np.float32))
    rows, ids = tf.placeholder(tf.float32, [5, 16]), tf.placeholder(tf.int32, [5])
    found = moved(tf, [], [tf.scatter_add(table, ids, rows).op], [rows, ids])
    total = sum(sum(counts) for name, counts in found.items() if "bounds" not in name)
    assert total == 5 * 16 * 4 * 3 + 5 * 4, "read and written in place, and what is added"
