"""Operations that see strings in another way cost a run nothing: host operations read them through views."""
from __future__ import annotations

import numpy as np
import pytest

import jitgraph as tf
from jitgraph.compiler import compile


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


VIEWS = {
    "reshape": lambda x: tf.reshape(x, [-1]),
    "expand_dims": lambda x: tf.expand_dims(x, 1),
    "squeeze": lambda x: tf.squeeze(tf.expand_dims(x, 0)),
    "transpose": tf.transpose,
    "column": lambda x: x[:, 1],
    "part": lambda x: x[::2, 1:3],
    "backwards": lambda x: x[:, ::-1],
    "reverse": lambda x: tf.reverse(x, [0]),
    "unstack": lambda x: tf.unstack(x, axis=1)[2],
    "split": lambda x: tf.split(x, 2, 1)[1],
    "broadcast": lambda x: tf.broadcast_to(x, [2, 3, 4]),
    "part of a transpose": lambda x: tf.transpose(tf.expand_dims(x[1:], 0))[1:],
}
COPIES = {
    "reshape of a transpose": lambda x: tf.reshape(tf.transpose(x), [-1]),
    "reshape of a part": lambda x: tf.reshape(x[:, 1:3], [-1]),
    "concat": lambda x: tf.concat([x, x], 0),
    "tile": lambda x: tf.tile(x, [2, 1]),
    "gather": lambda x: tf.gather(x, [1, 1], axis=1),
}
TEXTS = np.array([[b"a%d%d" % (i, k) for k in range(4)] for i in range(3)], object)


def host_types(fetch, x):
    """The types of the operations that the host executes for a fetch."""
    program = compile(fetch.graph, [fetch], feeds={x: (3, 4)}, until="lower")
    return [node.op.type for node in program.nodes if node.kind.name == "host"]


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_no_steps(graph, name):
    x = tf.placeholder(tf.string, [3, 4])
    assert host_types(tf.strings.length(VIEWS[name](x)), x) == ["StringLength"]


@pytest.mark.parametrize("name", COPIES)
def test_others_are_steps(graph, name):
    x = tf.placeholder(tf.string, [3, 4])
    assert len(host_types(tf.strings.length(COPIES[name](x)), x)) > 1


@pytest.mark.parametrize("name", [*VIEWS, *COPIES])
def test_what_is_seen_is_what_the_reference_gives(graph, name):
    x = tf.placeholder(tf.string, [None, 4])
    if name == "broadcast":
        x.set_shape([3, 4])
    seen = {**VIEWS, **COPIES}[name](x)
    fetches = [seen, tf.strings.length(seen), tf.strings.join([seen, "!"]), tf.strings.regex_replace(seen, "a", "b")]
    for texts in (TEXTS, TEXTS, TEXTS if name == "broadcast" else TEXTS[:2]):
        found = []
        for jit in ("always", "off"):
            with tf.Session(jit=jit) as session:
                found.append(session.run(fetches, {x: texts}))
        for have, want in zip(*found):
            assert have.dtype == want.dtype and have.shape == want.shape and not np.may_share_memory(have, texts)
            np.testing.assert_array_equal(have, want)
