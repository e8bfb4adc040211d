"""Random seeds: how the seed of a graph and the seed of an op become the attributes ``seed`` and ``seed2``."""
from __future__ import annotations

from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.python_numbers import number_of

DEFAULT_GRAPH_SEED = 87654321
_MAXIMUM = 2 ** 31 - 1


def set_random_seed(seed: int) -> None:
    """Sets the seed of the default graph (``tf.set_random_seed``).

    Random ops made afterwards without a seed of their own then depend on it and on how many operations the graph has.
    """
    get_default_graph().seed = seed


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The two seeds of a new random op, from its own `op_seed` and the seed of the default graph.

    Both None if neither is set: the op is then seeded from entropy.  The rule of TensorFlow 1.x: an op without a seed
    in a graph with one takes the number of operations made so far.
    """
    graph = get_default_graph()
    if graph.seed is not None:
        if op_seed is None:
            op_seed = graph._last_id
        pair = graph.seed, op_seed
    elif op_seed is not None:
        pair = DEFAULT_GRAPH_SEED, op_seed
    else:
        return None, None
    first, second = (int(number_of(seed)) % _MAXIMUM for seed in pair)
    return (0, _MAXIMUM) if (first, second) == (0, 0) else (first, second)
