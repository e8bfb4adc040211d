"""Seeds of random ops, by the rule of TensorFlow 1.x."""
import importlib.util
import json
from pathlib import Path

import pytest

from jitgraph.graph.seeds import get_seed


@pytest.mark.parametrize("graph_seed, op_seed, expected", [
    (None, None, (None, None)), (None, 5, (87654321, 5)), (7, 5, (7, 5)), (0, 0, (0, 2 ** 31 - 1)),
    (2 ** 31 - 1, 0, (0, 2 ** 31 - 1)), (2 ** 31, 3, (1, 3)), (-1, 1, (2 ** 31 - 2, 1))])
def test_pairs(tf, graph_seed, op_seed, expected):
    if graph_seed is not None:
        tf.set_random_seed(graph_seed)
    assert get_seed(op_seed) == expected


def test_the_default_op_seed_counts_operations(tf):
    tf.set_random_seed(1234)
    tf.constant(1), tf.constant(2)
    assert get_seed(None) == (1234, 2)
    assert tf.random_uniform([2]).op.graph.get_operation_by_name("random_uniform/RandomUniform").attrs["seed2"] == 5


def test_seeds_belong_to_a_graph(tf):
    tf.set_random_seed(1)
    with tf.Graph().as_default():
        assert get_seed(None) == (None, None)


_HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("seed_programs", _HERE / "seed_programs.py")
seed_programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(seed_programs)
OF_TENSORFLOW = json.loads((_HERE / "data" / "tf115_default_seeds.json").read_text())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", sorted(OF_TENSORFLOW))
def test_the_default_seed_is_tensorflows(tf, name):
    """Gradients, conditionals and loops count as the nodes that TensorFlow makes of them."""
    assert seed_programs.default_seed(tf, seed_programs.programs(tf)[name]) == OF_TENSORFLOW[name]
