"""Random graphs, compiled against the reference.

Each example grows a graph op by op over a few tensors of one base shape and its relatives, with variables that are read
and assigned in between, and runs it compiled and by NumPy: results and variables must agree, with all optimisations and
with each of them switched off.  JITGRAPH_FUZZ_EXAMPLES says how many examples, of which every optimisation gets a tenth.
"""
import os
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jitgraph as tf
from jitgraph.compiler.options import OPTIMISATIONS

EXAMPLES = int(os.environ.get("JITGRAPH_FUZZ_EXAMPLES", "60"))
FEW = max(EXAMPLES // 10, 1) if "JITGRAPH_FUZZ_EXAMPLES" in os.environ else 2

UNARY = ["negative", "abs", "square", "tanh", "sigmoid", "exp_small", "log_abs", "sqrt_abs", "relu", "sign", "floor",
         "identity", "rsqrt_abs", "erf"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "squared_difference", "divide_safe", "where"]
SHAPES = ["transpose", "reshape_flat", "expand", "slice", "concat", "broadcast_row", "reverse", "gather", "stack", "pad"]
REDUCE = ["sum0", "sum1", "mean", "max1", "min0", "softmax", "argmax", "prod_small", "all_sum", "logsumexp", "any"]
STATE = ["assign", "assign_add", "read", "control"]
KINDS = UNARY + BINARY + SHAPES + REDUCE + STATE + ["matmul", "cast_int", "int_div", "grad", "loop"]

steps = st.tuples(st.sampled_from(KINDS), st.integers(0, 7), st.integers(0, 7))
sizes = st.sampled_from([0, 1, 2, 3, 5, 8, 33])


class Grower:
    """A graph that grows by one step at a time; every step adds a float tensor of rank 2 to `pool`, or skips."""

    def __init__(self, rows, columns, dynamic):
        self.x = tf.placeholder(tf.float32, [None if dynamic else rows, columns], name="x")
        self.v = tf.Variable(np.linspace(-1, 1, columns).astype("f"), name="v")
        self.pool = [self.x, tf.constant(np.linspace(-2, 2, rows * columns).reshape(rows, columns).astype("f"))]
        self.effects, self.columns = [], columns

    def step(self, kind, i, j):
        a, b = self.pool[i % len(self.pool)], self.pool[j % len(self.pool)]
        made = self.make(kind, a, b)
        if made is not None:
            self.pool.append(made)

    def make(self, kind, a, b):
        # not too near 0, where a rounding (NumPy's tanh(9.8) is one off) would become a difference that can be seen
        simple = {"exp_small": lambda: tf.exp(tf.minimum(a, 3.0)), "log_abs": lambda: tf.log(tf.abs(a) + 0.1),
                  "sqrt_abs": lambda: tf.sqrt(tf.abs(a) + 0.01), "rsqrt_abs": lambda: tf.rsqrt(tf.abs(a) + 0.5),
                  "relu": lambda: tf.nn.relu(a), "mean": lambda: a - tf.reduce_mean(a, 1, keepdims=True),
                  "sum0": lambda: a * 0.1 + tf.reduce_sum(a, 0, keepdims=True),
                  "sum1": lambda: a + 0.1 * tf.reduce_sum(a, 1, keepdims=True),
                  "max1": lambda: tf.reduce_max(a, 1, keepdims=True) - a,
                  "min0": lambda: a - tf.reduce_min(a, 0, keepdims=True), "softmax": lambda: tf.nn.softmax(a),
                  "argmax": lambda: a + tf.expand_dims(tf.cast(tf.argmax(self.x, 1), tf.float32), 1),
                  "prod_small": lambda: a + tf.reduce_prod(tf.tanh(a), 1, keepdims=True),
                  "all_sum": lambda: a + 0.01 * tf.reduce_sum(a), "logsumexp": lambda: a - tf.reduce_logsumexp(a, 1, True),
                  "any": lambda: tf.where(tf.greater(a, 0.0), a, tf.zeros_like(a)),
                  "transpose": lambda: tf.transpose(tf.transpose(a) * 2.0),
                  "reshape_flat": lambda: tf.reshape(tf.reshape(a, [-1]) + 1.0, tf.shape(a)),
                  "expand": lambda: tf.squeeze(tf.expand_dims(a, 1) * 0.5, [1]), "slice": lambda: self.sliced(a),
                  "reverse": lambda: tf.reverse(a, [1]), "broadcast_row": lambda: a + self.v,
                  "read": lambda: a * tf.identity(self.v),
                  # functions with jumps see the feed itself: rounding must not decide on which side a value is
                  "cast_int": lambda: a + tf.cast(tf.cast(self.x, tf.int32), tf.float32),
                  "int_div": lambda: a - tf.cast(tf.cast(self.x * 8.0, tf.int32) // 3, tf.float32),
                  "floor": lambda: a + tf.floor(self.x), "sign": lambda: a * tf.sign(self.x),
                  "gather": lambda: tf.gather(a, tf.range(tf.shape(a)[0])) + 1.0,
                  "loop": lambda: a * tf.while_loop(lambda x: x < 2.0, lambda x: x * 1.5 + 0.1, [tf.constant(0.5)]),
                  "assign": lambda: self.effect(tf.assign(self.v, tf.reduce_sum(tf.tanh(a), 0))),
                  "assign_add": lambda: self.effect(tf.assign_add(self.v, tf.tanh(self.v) * 0.5))}
        if kind in simple:
            return simple[kind]()
        if kind in ("squared_difference", "negative", "abs", "square", "tanh", "sigmoid", "identity", "erf"):
            function = getattr(tf, kind)
            return function(a, tf.tanh(b)) if kind == "squared_difference" and same(a, b) else \
                function(a) if kind != "squared_difference" else None
        return self.pair(kind, a, b)

    def pair(self, kind, a, b):
        if kind == "matmul":
            return tf.tanh(tf.matmul(tf.matmul(a, b, transpose_b=True), b) * 0.1) if a.shape[1].value else None
        if kind == "concat":
            return tf.concat([a, b], 1)[:, :self.columns] if self.columns else None
        if kind == "stack":
            return tf.reduce_sum(tf.stack([a, a * 0.5], 0), 0)
        if kind == "pad":
            return tf.pad(a, [[0, 0], [1, 0]])[:, 1:]
        if kind == "grad":
            found = tf.gradients(tf.reduce_sum(tf.tanh(a) * 0.5), [self.x])[0]
            return None if found is None else tf.clip_by_value(tf.convert_to_tensor(found), -5.0, 5.0)
        if kind == "control":
            with tf.control_dependencies(self.effects[-1:]):
                return a + self.v.read_value()
        if not same(a, b):
            return None
        if kind == "divide_safe":
            return a / (tf.abs(b) + 1.0)
        if kind == "where":
            return tf.where(tf.less(self.x, 0.125), a, b * 0.5)
        return getattr(tf, kind)(a, b)

    def sliced(self, a):
        return a + tf.reduce_sum(a[:, ::2], 1, keepdims=True) * 0.1

    def effect(self, tensor):
        self.effects.append(tensor)
        return None


def same(a, b):
    return a.shape.as_list() == b.shape.as_list()


def run(mode, grower, feed):
    with tf.Session(jit=mode) as session:
        session.run(tf.global_variables_initializer())
        values = session.run([grower.pool, grower.effects], {grower.x: feed})
        again = session.run([grower.pool[-1], grower.effects], {grower.x: feed})
        return values, again, session.run(grower.v)


def compare(program, rows, columns, dynamic):
    tf.reset_default_graph()
    grower = Grower(rows, columns, dynamic)
    for kind, i, j in program:
        grower.step(kind, i, j)
    feed = np.random.RandomState(rows).randn(rows, columns).astype("f")
    expected, found = run("off", grower, feed), run("always", grower, feed)
    for want, have in zip(flatten(expected), flatten(found)):
        scale = np.abs(want[np.isfinite(want)]).max() if np.isfinite(want).any() else 1.0
        np.testing.assert_allclose(have, want, rtol=2e-4, atol=2e-5 * max(scale, 1.0))


def random_graphs(examples, steps_at_least):
    """Runs a test of (program, rows, columns, dynamic) on so many random graphs."""
    drawn = given(program=st.lists(steps, min_size=steps_at_least, max_size=24), rows=sizes,
                  columns=st.sampled_from([1, 2, 4, 7]), dynamic=st.booleans())
    found = settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck),
                     derandomize="JITGRAPH_FUZZ_EXAMPLES" not in os.environ)
    return lambda test: pytest.mark.filterwarnings("ignore")(found(drawn(test)))


@random_graphs(EXAMPLES, 1)
def test_compiled_graphs_compute_what_the_reference_computes(program, rows, columns, dynamic):
    compare(program, rows, columns, dynamic)


@pytest.mark.parametrize("name", OPTIMISATIONS)
@random_graphs(FEW, 6)
def test_they_do_with_any_optimisation_switched_off(name, program, rows, columns, dynamic):
    off = ",".join([name, os.environ.get("JITGRAPH_WITHOUT", "")])
    with mock.patch.dict(os.environ, JITGRAPH_WITHOUT=off):
        compare(program, rows, columns, dynamic)


def flatten(structure):
    if isinstance(structure, (list, tuple)):
        return [x for part in structure for x in flatten(part)]
    return [np.asarray(structure)]
