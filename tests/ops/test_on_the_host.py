"""What computes numbers without a kernel says why."""
from pathlib import Path

import numpy as np
import pytest

from jitgraph.graph import dtypes
from jitgraph.graph.registry import load_all

TYPES = (Path(__file__).parent / "data" / "op_types_of_programs.txt").read_text().split()


def has_kernel(opdef):
    return bool(opdef.scalar or opdef.lower or opdef.updates) and not opdef.host


def computes_numbers(opdef):
    """Not for variables, order, frames, queues, files, datasets, arrays of tensors or texts."""
    acts = opdef.stateful and not opdef.stream or opdef.effect or opdef.state or opdef.context or opdef.variable or opdef.element
    in_frames = opdef.builder.__module__ == "jitgraph.control.frame_ops"
    texts = any(arg.dtype == dtypes.string for arg in [*opdef.inputs, *opdef.outputs])
    return not (acts or in_frames or texts or opdef.placeholder or not opdef.outputs)


@pytest.mark.parametrize("op_type", TYPES)
def test_what_real_programs_use_has_a_kernel_or_a_measured_reason(op_type):
    opdef = load_all()[op_type]
    if computes_numbers(opdef) and not has_kernel(opdef):
        assert "of TensorFlow's time" in opdef.host_because, f"{op_type} has no kernel, and no measurement that says why"


def test_nothing_else_has_a_reason():
    assert [opdef.type for opdef in load_all().values() if opdef.host_because and has_kernel(opdef)] == []


def test_inspect_shows_the_reason(tf):
    from jitgraph.compiler import show

    show.record()
    with tf.Session(jit="always") as session:
        x = tf.placeholder(tf.float32, [3])
        session.run(tf.unique(x * 2)[0], {x: [1, 2, 1]})
    plan, = [found["plan"] for found in show.recorded() if any(step["name"] == "Unique" for step in found["plan"])]
    reasons = {step["name"]: step["because"] for step in plan}
    assert "hash table" in reasons["Unique"] and {because for name, because in reasons.items() if name != "Unique"} == {""}


@pytest.mark.parametrize("dtype", ["int32", "float32", "string"])
def test_what_is_no_vector_has_no_distinct_elements_in_any_run(tf, dtype):
    x = tf.placeholder(dtype)
    distinct = tf.unique(x)
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="unique expects a 1D vector"):
                session.run(distinct, {x: np.array([["1", "2"]], object if dtype == "string" else dtype)})
