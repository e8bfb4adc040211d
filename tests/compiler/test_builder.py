"""What the Builder merges: primitives that are equal in all that their results depend on, and no others."""
import itertools

import numpy as np
import pytest

from jitgraph.compiler import sizes
from jitgraph.compiler.builder import Builder
from jitgraph.compiler.primitives import KINDS
from jitgraph.compiler.primitives.kind import Kind
from jitgraph.compiler.primitives.memory import INPUT
from jitgraph.declare import prim
from jitgraph.graph import dtypes

AROUND = ((1, 1), (1, 1))


def calls(b):
    """{method: calls of it that differ in one thing each}"""
    x, y = (b.node(INPUT, [], [((6, 6), dtypes.float32)]).out for _ in range(2))
    i, j = (b.node(INPUT, [], [((6,), dtypes.int64)]).out for _ in range(2))
    images, grads, w = (b.node(INPUT, [], [(shape, dtypes.float32)]).out for shape in ((2, 8, 8, 3), (2, 4, 4, 5), (3, 3, 3, 5)))
    n = sizes.SizeSpace().symbol(6)
    window = {"taps": (2, 2), "strides": (2, 2), "before": (0, 0)}
    return {
        "scatter": [lambda op=op, shape=shape, at=at, of=of, drops=drops: b.scatter(op, shape, at, of, drops)
                    for op, shape, at, of, drops in [("add", (2, 6), i, x, False), ("max", (2, 6), i, x, False),
                                                     ("add", (3, 6), i, x, False), ("add", (2, 6), j, x, False),
                                                     ("add", (2, 6), i, y, False), ("add", (2, 6), i, x, True),
                                                     ("add", (n, 6), i, x, True)]],
        "map": [lambda: x + y, lambda: x - y, lambda: y + x, lambda: x + 0.0, lambda: x + -0.0, lambda: prim.gt(x, y)],
        "cast": [lambda: b.cast(x, "int32"), lambda: b.cast(x, "int64"), lambda: b.cast(y, "int32")],
        "const": [lambda: b.const(0.0), lambda: b.const(-0.0), lambda: b.const([0.0]), lambda: b.const(0), lambda: b.const(False),
                  lambda: b.const(0, dtypes.int32)],
        "size": [lambda: b.const(n, dtypes.int32), lambda: b.const(n, dtypes.int64), lambda: b.const(n + 1, dtypes.int32)],
        "iota": [lambda: b.iota((6, 6), 0, "int32"), lambda: b.iota((6, 6), 1, "int32"), lambda: b.iota((6, 6), 1, "int64"),
                 lambda: b.iota((6, 7), 1, "int32"), lambda: b.iota((6, n), 1, "int32")],
        "views": [lambda: b.reshape(x, (4, 9)), lambda: b.reshape(x, (9, 4)), lambda: b.transpose(x, (1, 0)),
                  lambda: b.broadcast(x, (2, 6, 6)), lambda: b.slice(x, (0, 0), (2, 6)), lambda: b.slice(x, (1, 0), (2, 6)),
                  lambda: b.slice(x, (1, 0), (3, 6)), lambda: b.slice(x, (1, 0), (2, 6), (2, 1)),
                  lambda: b.slice(x, (1, 0), (2, n - 1))],
        "reduce": [lambda: b.reduce("add", x, [0]), lambda: b.reduce("add", x, [1]), lambda: b.reduce("mul", x, [1]),
                   lambda: b.reduce("add", x, [0, 1]), lambda: b.reduce("argmax", x, [0]), lambda: b.reduce("argmin", x, [0])],
        "gather": [lambda: b.gather(x, i, 0), lambda: b.gather(x, i, 1), lambda: b.gather(x, j, 0), lambda: b.gather(y, i, 0)],
        "top_k": [lambda: b.top_k(x, 2)[0], lambda: b.top_k(x, 3)[0]],
        "matmul": [lambda ta=ta, tb=tb: b.matmul(x, y, ta, tb) for ta, tb in itertools.product((False, True), repeat=2)],
        "convolve": [lambda s=s, d=d, o=o: b.convolve(images, w, o, s, d, AROUND) for s, d, o in
                     [((2, 2), (1, 1), (4, 4)), ((2, 1), (1, 1), (4, 4)), ((2, 2), (2, 2), (4, 4)), ((2, 2), (1, 1), (3, 4))]],
        "convolve_input": [lambda s=s, d=d, f=f, a=a: b.convolve_input(grads, b.transpose(w, (0, 1, 3, 2)), (8, 8), s, d, f, a)
                           for s, d, f, a in [((2, 2), (1, 1), (1, 1), AROUND), ((2, 1), (1, 1), (1, 1), AROUND),
                                              ((2, 2), (2, 1), (1, 1), AROUND), ((2, 2), (1, 1), (0, 1), AROUND),
                                              ((2, 2), (1, 1), (1, 1), ((1, 2), (1, 1)))]],
        "convolve_filter": [lambda s=s, d=d, k=k: b.convolve_filter(images, grads, (*k, 3, 5), s, d, AROUND)
                            for s, d, k in [((2, 2), (1, 1), (3, 3)), ((2, 1), (1, 1), (3, 3)), ((2, 2), (2, 1), (3, 3)),
                                        ((2, 2), (1, 1), (3, 2))]],
        "primitive": [lambda o=o, kw=kw: b.primitive("pool", [images], (2, 4, 4, 3), op=o, **{**window, **kw}) for o, kw in
                   [("max", {}), ("mean", {}), ("max", {"taps": (2, 1)}), ("max", {"strides": (1, 2)}),
                    ("max", {"before": (1, 0)})]],
        "primitive of a sequence": [
            lambda a=a: b.primitive("scan", [x], x.shape, **dict(zip(("op", "axis", "exclusive", "reverse"), a)))
            for a in [("add", 0, False, False), ("mul", 0, False, False), ("add", 1, False, False), ("add", 0, True, False),
                      ("add", 0, False, True)]],
        "concat": [lambda: b.concat([x, y], 0), lambda: b.concat([y, x], 0), lambda: b.concat([x, y], 1)],
        "pad": [lambda: b.pad(x, (1, 0), (0, 0)), lambda: b.pad(x, (0, 0), (1, 0)), lambda: b.pad(x, (1, 0), (0, 0), 2),
                lambda: b.pad(x, (1, 0), (0, 0), -0.0)],
        "read": [lambda: b.read(w, 0, (6,), dtypes.float32), lambda: b.read(w, 1, (6,), dtypes.float32),
                 lambda: b.read(x, 0, (6,), dtypes.float32)],
    }


@pytest.mark.parametrize("method", list(calls(Builder())))
def test_equal_primitives_are_one_and_others_are_not(method):
    b = Builder()
    every = calls(b)[method]
    made = [call() for call in every]
    assert len(set(made)) == len(made)
    assert all(again is first for again, first in zip([call() for call in every], made))


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.is_unique], ids=repr)
def test_what_has_effects_or_chances_is_never_merged(kind):
    b = Builder()
    assert b.node(kind, [], [((), dtypes.float32)]).out is not b.node(kind, [], [((), dtypes.float32)]).out


def test_a_new_attribute_counts_without_being_named():
    class New(Kind):
        name = "new"
        attributes = {"tilt": "of anything"}

    b, new = Builder(), New()
    del KINDS[new.name]
    made = [b.node(new, [], [((), dtypes.float32)], tilt=tilt).out for tilt in (1, 2, (1, 2), (1, (2,)), 1.0, "1", None, True)]
    assert len(set(made)) == len(made)


def test_segments_of_one_run(tf):
    x, i = tf.constant([1.0, 2.0, 4.0]), tf.placeholder(tf.int32, [3])
    fetches = [tf.unsorted_segment_sum(x, i, 2), tf.unsorted_segment_max(x, i, 2), tf.unsorted_segment_min(x, i, 2),
               tf.unsorted_segment_prod(x, i, 2), tf.unsorted_segment_sum(x, i, 3)]
    with tf.Session(jit="always") as session:
        found = session.run(fetches, {i: np.array([0, 1, 1])})
    assert [list(a) for a in found] == [[1, 6], [1, 4], [1, 2], [1, 8], [1, 6, 0]]
