"""What noise would hide: how many rows the instruction table of well-known programs has, how many different kernels, and
how much memory their temporaries take.  A change that makes more of any is seen here; one that makes less changes the table.
"""
import re
from dataclasses import astuple, dataclass

import numpy as np
import pytest

import jitgraph as tf
from jitgraph import compiler
from jitgraph.compiler import sizes
from jitgraph.compiler.emit.bind import compile_guards
from jitgraph.compiler.kernel import Kernel
from jitgraph.compiler.place import assign_offsets, temp_bytes

BATCH = 32


@dataclass
class Counts:
    """`rows`: steps of the instruction table; `kernels`: different texts among them; `kilobytes`: memory for temporaries."""

    rows: int
    kernels: int
    kilobytes: int


def variable(*shape):
    return tf.Variable(np.zeros(shape, np.float32))


def cross_entropy(logits):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.placeholder(tf.int32, [None]), logits=logits))


def elementwise(x):
    return tf.sigmoid(2.0 * x + 1.0) * tf.tanh(x) - tf.exp(-x * x)


def perceptron():
    """Two layers, 784 - 256 - 10, as everyone writes them."""
    x = tf.placeholder(tf.float32, [None, 784])
    h = tf.nn.relu(tf.matmul(x, variable(784, 256)) + variable(256))
    return cross_entropy(tf.matmul(h, variable(256, 10)) + variable(10))


def convolutional():
    """Two convolutions with pooling, two dense layers."""
    h = tf.placeholder(tf.float32, [None, 28, 28, 1])
    for channels, out in ((1, 32), (32, 64)):
        h = tf.nn.relu(tf.nn.conv2d(h, variable(5, 5, channels, out), [1, 1, 1, 1], "SAME") + variable(out))
        h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.nn.relu(tf.matmul(tf.reshape(h, [-1, 3136]), variable(3136, 128)) + variable(128))
    return cross_entropy(tf.matmul(h, variable(128, 10)) + variable(10))


def recurrent(steps=3, width=64):
    """An LSTM cell over a few steps, written out."""
    x, h = tf.placeholder(tf.float32, [None, steps, width]), tf.zeros([BATCH, width])
    c, w, b = h, variable(2 * width, 4 * width), variable(4 * width)
    for t in range(steps):
        i, j, f, o = tf.split(tf.matmul(tf.concat([x[:, t], h], 1), w) + b, 4, 1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
    return tf.reduce_mean(tf.square(h))


def normalised():
    x, gain, bias = tf.placeholder(tf.float32, [None, 512]), variable(512), variable(512)
    mean, variance = tf.nn.moments(x, [1], keep_dims=True)
    return tf.nn.batch_normalization(x, mean, variance, bias, gain, 1e-5)


def batch_normalised():
    x = tf.placeholder(tf.float32, [None, 16, 16, 8])
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    return tf.nn.relu(tf.nn.batch_normalization(x, mean, variance, variable(8), variable(8), 1e-3))


def attention():
    """One head over 48 places."""
    q, k, v = (tf.placeholder(tf.float32, [None, 48, 64]) for _ in range(3))
    return tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.125), v)


def embedded():
    table = variable(1000, 64)
    return tf.reduce_mean(tf.square(tf.reduce_sum(tf.nn.embedding_lookup(table, tf.placeholder(tf.int32, [None, 12])), 1)))


def adam(loss):
    return tf.train.AdamOptimizer(0.01).minimize(loss)


def descent(loss):
    return tf.train.GradientDescentOptimizer(0.1).minimize(loss)


PROGRAMS = {
    "elementwise": (lambda: elementwise(tf.placeholder(tf.float32, [None, 100])), Counts(1, 1, 0)),
    "softmax": (lambda: tf.nn.softmax(tf.placeholder(tf.float32, [None, 100])), Counts(1, 1, 0)),
    "layer norm": (normalised, Counts(1, 1, 0)),
    "batch norm": (batch_normalised, Counts(3, 3, 0)),
    "attention": (attention, Counts(3, 2, 576)),
    "dense": (perceptron, Counts(7, 7, 33)),
    "dense, step of Adam": (lambda: adam(perceptron()), Counts(15, 11, 816)),
    "convolutional, step of Adam": (lambda: adam(convolutional()), Counts(40, 27, 13248)),
    "recurrent, step of descent": (lambda: descent(recurrent()), Counts(28, 16, 344)),
    "embedding, step of descent": (lambda: descent(embedded()), Counts(5, 5, 192)),
}


def compiled(build, batch=BATCH):
    """The program of what `build` makes in an empty graph."""
    tf.reset_default_graph()
    wanted = build()
    feeds = {op.outputs[0]: tuple(batch if d is None else d for d in op.outputs[0].shape.as_list())
             for op in tf.get_default_graph().get_operations() if op.type == "Placeholder"}
    fetches, targets = ([], [wanted]) if isinstance(wanted, tf.Operation) else ([wanted], [])
    return compiler.compile(tf.get_default_graph(), fetches, targets, feeds)


def texts(program):
    """Different texts; how high a product's tiles are depends on the machine's registers, and makes none different here."""
    return {re.sub(r"(product_[a-z0-9]+x\d+_)\d+", r"\1", step[0].source) for step in program.layout.steps}


@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_kernels_and_memory(name):
    build, expected = PROGRAMS[name]
    program = compiled(build)
    steps = program.layout.steps
    assert all(isinstance(step, tuple) and isinstance(step[0], Kernel) for step in steps), "a step of the host"
    spans = [(sizes.hint_of(temp_bytes(s)), s.first, s.last) for s in program.layout.slots if s.kind == "temp"]
    found = Counts(len(steps), len(texts(program)), assign_offsets(spans)[1] >> 10)
    assert astuple(found) == astuple(expected), [step[0].name for step in steps]


@pytest.mark.parametrize("name", [n for n in PROGRAMS if not n.startswith("recurrent")])
def test_another_batch_size_needs_nothing_new(name):
    """A program holds for any batch size, and one compiled for another size has the same kernels."""
    build, _ = PROGRAMS[name]
    program = compiled(build, 16)
    assert program.space.symbols and compile_guards(program.space)(*[200] * len(program.space.symbols))
    assert texts(program) == texts(compiled(build, 60))         # far more are worth sharing out, see Tuning.parted


def test_a_deeper_network_needs_no_more_kernels():
    """Layers of one form share their kernels, forwards and backwards."""
    def deep(layers):
        h = tf.placeholder(tf.float32, [None, 64])
        for _ in range(layers):
            h = tf.nn.relu(tf.matmul(h, variable(64, 64)) + variable(64))
        return adam(cross_entropy(h))

    assert texts(compiled(lambda: deep(4))) == texts(compiled(lambda: deep(9)))


def test_where_a_part_begins_makes_no_other_kernel():
    """Nor does a part that begins at as many elements as a row has, or a result whose rows are as long as the operand's."""
    def part(begin, width, rows):
        def build():
            x = tf.placeholder(tf.float32, [None, rows])
            return tf.concat([tf.exp(x[:, begin:begin + width]), tf.zeros([tf.shape(x)[0], 9])], 1)
        return build

    assert len({text for begin, width, rows in [(0, 30, 120), (30, 30, 120), (60, 30, 120), (20, 50, 120), (11, 40, 59)]
                for text in texts(compiled(part(begin, width, rows))) if "exp" in text}) == 1
