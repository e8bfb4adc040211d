"""LLVM makes vector loops of the kernels that decide the speed, with no more instructions than there have been.

Looked at is what LLVM's optimiser leaves, before the instructions of any machine are chosen; only the width of a register
is the machine's, so that a count is per register of elements and about the same everywhere.
"""
import re

import numpy as np
import pytest

import jitgraph as tf
from jitgraph import compiler
from jitgraph.compiler.emit import cpu_features, native

LABEL = re.compile(r"^([\w.$\"]+):")
STEP = re.compile(r"= add (?:nuw |nsw )*i64 %\S+, (\d+)")


def matrix(dtype=tf.float32):
    return tf.placeholder(dtype, [None, 100])


def moving_average():
    m, v = (tf.Variable(np.zeros([100], np.float32)) for _ in range(2))
    g = tf.placeholder(tf.float32, [100])
    m = tf.assign(m, 0.9 * m + 0.1 * g)
    return tf.assign_sub(v, 0.01 * m * tf.rsqrt(tf.square(g) + 1e-7))


def normalised():
    x = matrix()
    mean, variance = tf.nn.moments(x, [1], keep_dims=True)
    return (x - mean) * tf.rsqrt(variance + 1e-5)


def fused():
    x = matrix()
    return tf.sigmoid(2.0 * x + 1.0) * tf.tanh(x) - tf.exp(-x * x)


def log_softmax_gradient():
    x = matrix()
    return tf.gradients(tf.nn.log_softmax(x), x, matrix())[0]


# name: program, widest type in its vector loops, how many of these at least, and a third more than the instructions that the
# longest takes per register of that type
PROGRAMS = {
    "fused": (fused, "float", 1, 135),
    "exp of float64": (lambda: tf.exp(matrix(tf.float64)), "double", 1, 60),
    "softmax": (lambda: tf.nn.softmax(matrix()), "float", 3, 50),
    "layer norm": (normalised, "float", 3, 15),
    "sum of rows": (lambda: tf.reduce_sum(matrix(), 1), "float", 1, 10),
    "sum of columns": (lambda: tf.reduce_sum(tf.square(matrix()), 0), "double", 1, 73),
    "largest of rows": (lambda: tf.reduce_max(matrix(), 1), "float", 1, 8),
    "largest and sum of rows": (lambda: tf.reduce_max(matrix(), 1) + tf.reduce_sum(tf.abs(matrix()), 1), "float", 1, 15),
    "gradient of log-softmax": (log_softmax_gradient, "float", 3, 60),
    "place of the largest": (lambda: tf.argmax(matrix(), 1), "float", 1, 12),
    "update of variables": (moving_average, "float", 1, 40),
}


def optimised(build):
    """What LLVM made of the one kernel of a program."""
    tf.reset_default_graph()
    wanted = build()
    feeds = {op.outputs[0]: tuple(8 if d is None else d for d in op.outputs[0].shape.as_list())
             for op in tf.get_default_graph().get_operations() if op.type == "Placeholder"}
    (step,) = compiler.compile(tf.get_default_graph(), [wanted], [], feeds).layout.steps
    kernel = step[0]
    module = native.translated(kernel.source, kernel.name, native.memory_codes(kernel), "jg_looked_at", kernel.forms)
    return str(native.optimised(module, thoroughly=native.decided_by_registers(kernel.forms)))


def vector_loops(text):
    """The instructions of each vector loop but those for what the main ones leave: [[line, ...], ...]."""
    found, block = [], None
    for line in text.splitlines():
        label = LABEL.match(line)
        if label:
            name = label.group(1).strip('"')
            block = [] if name.startswith("vector.body") and "preheader" not in name else None
            if block is not None:
                found.append(block)
        elif block is not None and line.strip():
            block.append(line.strip())
    return found


def per_register(loop, lanes):
    """Instructions per register of elements; a loop may take several at once."""
    steps = [int(step) for step in STEP.findall("\n".join(loop))]
    return len(loop) * lanes / max(steps)


@pytest.mark.parametrize("name", PROGRAMS)
def test_inner_loops_are_vector_loops(name):
    build, kind, number, most = PROGRAMS[name]
    text = optimised(build)
    lanes = cpu_features.vector_bytes() // (4 if kind == "float" else 8)
    loops = [loop for loop in vector_loops(text) if any(f"<{lanes} x {kind}>" in line for line in loop)]
    assert len(loops) >= number, "LLVM no longer vectorises this kernel"
    called = re.findall(r"call [^\n]*@(?!llvm\.|jg_looked_at\.)[^\n]*", text)         # its entry calls the kernel
    assert not called, "a function is called that should stand in the kernel"
    counts = [round(per_register(loop, lanes)) for loop in loops]
    assert max(counts) <= most, f"{counts} instructions per {lanes} elements"
