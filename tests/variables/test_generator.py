"""tf.random.experimental.Generator: what TensorFlow 1.15 draws from the same states."""
import json
from pathlib import Path

import numpy as np
import pytest

import jitgraph
from tests.variables import generator_programs

HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "data" / "tf115_generator.json").read_text())
PROGRAMS = generator_programs.programs(jitgraph)
ROUNDED = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-12}      # sines and logarithms, scaled; the rest is exact


@pytest.fixture(autouse=True)
def resources(tf):
    tf.enable_resource_variables()
    yield
    tf.disable_resource_variables()


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_generators_draw_what_they_do_in_tensorflow(tf, name, jit):
    found, wanted = generator_programs.outcome(tf, PROGRAMS[name], jit=jit), RECORDED[name]
    assert found.get("error") == wanted.get("error")
    if "error" in wanted:
        return
    assert {kind for kind in found["types"] if "Stateful" in kind} == {kind for kind in wanted["types"] if "Stateful" in kind}
    assert len(found["values"]) == len(wanted["values"])
    for mine, theirs in zip(found["values"], wanted["values"]):
        if theirs is None:
            assert mine is None
            continue
        assert mine[:2] == theirs[:2]
        if theirs[0] in ROUNDED:
            np.testing.assert_allclose(mine[2], theirs[2], rtol=ROUNDED[theirs[0]], atol=ROUNDED[theirs[0]])
        else:
            assert mine[2] == theirs[2]


def test_the_global_generator_is_made_once_and_may_be_set(tf):
    rng = tf.random.experimental
    assert rng.get_global_generator() is rng.get_global_generator()
    mine = rng.Generator.from_seed(3)
    rng.set_global_generator(mine)
    assert rng.get_global_generator() is mine


def test_each_run_moves_the_state_on(tf):
    generator = tf.random.experimental.Generator.from_seed(3)
    drawn = generator.normal([2])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert not np.array_equal(session.run(drawn), session.run(drawn))
        assert session.run(generator.state).tolist() == [3 + 2 * 2 * 256, 0, 0]


def test_the_older_op_has_its_algorithm_in_the_state(tf):
    """TensorFlow 1.15 knows it of graph files only."""
    state, same = tf.Variable([1, 5, 6, 7], dtype=tf.int64), tf.random.experimental.Generator.from_state([5, 6, 7], 1)
    older = tf.raw_ops.StatefulStandardNormal(resource=state.handle, shape=[3])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(older).tolist() == session.run(same.normal([3])).tolist()
        assert session.run(state).tolist() == [1, 5 + 3 * 256, 6, 7]


def test_a_copy_begins_where_the_other_is(tf):
    first = tf.random.experimental.Generator.from_seed(3)
    with tf.control_dependencies([first.state.initializer]):
        drawn = first.uniform([2])
    second = tf.random.experimental.Generator(copy_from=first)
    with tf.Session() as session:
        session.run(drawn)
        session.run(second.state.initializer)
        assert session.run(second.uniform([2])).tolist() == session.run(first.uniform([2])).tolist()


def test_binomial_numbers_are_those_of_tensorflow(tf):
    variable = tf.Variable(tf.constant([1, 2, 3], tf.int64), use_resource=True, dtype=tf.int64)
    draw = tf.raw_ops.StatefulRandomBinomial(resource=variable.handle, algorithm=1, shape=[6], counts=20.0, probs=0.2,
                                            dtype=tf.int64)
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(draw).tolist() == [6, 3, 1, 2, 3, 3]
        assert session.run(variable).tolist() == [1318401, 2, 3]
        assert session.run(draw).tolist() == [3, 6, 3, 7, 4, 7]
