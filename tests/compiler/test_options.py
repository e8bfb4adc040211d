"""Every optimisation by itself: switched off, something is done another way, and the results are those of the reference."""
import numpy as np
import pytest

from jitgraph import compiler
from jitgraph.compiler import Options, making
from jitgraph.compiler.options import OPTIMISATIONS, present
from jitgraph.compiler.place import HostStep
from jitgraph.runtime.memory import address_of

ROWS, COLUMNS = 160, 200


def spaced(tf, x):
    low, high = tf.constant(0.5), tf.constant(2.0)
    return tf.linspace(low, high, COLUMNS) * x


def summed_after(tf, x):
    """Two users of `x - mean`, in kernels of their own."""
    centred = x - tf.reduce_mean(x, 1, keepdims=True)
    return [tf.reduce_sum(tf.square(centred), 1), tf.reduce_sum(tf.tanh(centred), 0)]


def powers(tf, x):
    """A chain of products, each needing only the one before."""
    square = tf.matmul(x, x, transpose_b=True) / 200.0
    return tf.matmul(tf.matmul(tf.matmul(square, square), square), square)


def masked(tf, x):
    """A mask that only a kernel after a product needs."""
    y = tf.nn.relu(tf.matmul(x, tf.ones([COLUMNS, COLUMNS])) + x)
    return tf.reduce_sum(tf.matmul(y, y, transpose_b=True)) * y * tf.cast(y > 0, tf.float32)


def put_back(tf, x):
    """What is not zero, twice as large, made dense again."""
    where = tf.where(tf.not_equal(x, 0.0))
    return tf.sparse_to_dense(where, tf.shape(x, out_type=tf.int64), 2.0 * tf.gather_nd(x, where), 0.0)


def activated(tf, x):
    """The gradient of a GELU of more numbers than a cache holds."""
    w = tf.ones([COLUMNS, COLUMNS]) / 100.0
    h = tf.matmul(tf.tile(x, [40, 1]), w)
    return tf.gradients(tf.reduce_mean(tf.square(tf.matmul(0.5 * h * (1.0 + tf.erf(h)), w))), h)[0][::40]


def counted(tf, x):
    return tf.while_loop(lambda i, total: i < 20, lambda i, total: (i + 1, total * 0.5 + tf.cast(i, tf.float32)),
                         [tf.constant(0), tf.reduce_sum(x[:1, :1])])[1]


# for every optimisation that the compiler makes, what may be made of x, ROWS x COLUMNS numbers, to see a difference
PROGRAMS = {
    "masked_places": put_back,
    "common_subexpressions": lambda tf, x: tf.exp(x) * 2.0 + tf.exp(x),
    "joined_views": lambda tf, x: tf.exp(tf.reshape(tf.reshape(x[:, 1:5], [-1]), [-1, 4])),
    "constant_folding": spaced,
    "late_broadcasts": lambda tf, x: tf.exp(tf.broadcast_to(x[:1], [ROWS, COLUMNS])) + x,
    "partial_sums": lambda tf, x: tf.reduce_sum(x),
    "thin_products": lambda tf, x: tf.matmul(x[:1], x, transpose_b=True),
    "multiply_by_one": lambda tf, x: tf.exp(x * 1.0),
    "select_constant": lambda tf, x: tf.where(tf.constant(True), tf.exp(x), x),
    "negate_twice": lambda tf, x: tf.exp(tf.negative(tf.negative(x))),
    "narrow_products": lambda tf, x: tf.matmul(x, tf.transpose(x))[:, 3:50],
    "repeat_cheap": summed_after,
    "fusion": lambda tf, x: tf.exp(x) * 2.0,
    "late_values": masked,
    "rematerialization": activated,
    "merged_loops": lambda tf, x: tf.exp(x),
    "column_kernels": lambda tf, x: tf.reduce_max(x, 0),
    "memory_reuse": powers,
    "literal_extents": lambda tf, x: tf.reduce_sum(tf.reshape(x, [-1, 4]), 1),
    "spills": lambda tf, x: tf.nn.softmax(x),
    "float32_sums": lambda tf, x: [tf.reduce_sum(x, 0), tf.reduce_sum(x, 1)],
    "product_tiles": lambda tf, x: tf.matmul(x, x, transpose_a=True),
    "phases": lambda tf, x: tf.nn.conv2d(tf.reshape(tf.concat([x] * 16, 0), [-1, 40, 40, 64]), tf.ones([3, 3, 64, 64]), 1, "SAME",
                                         dilations=2),
    "winograd": lambda tf, x: tf.nn.conv2d(tf.reshape(x, [-1, 20, 20, 16]), tf.ones([3, 3, 16, 16]), 1, "SAME"),
    "few_pixels": lambda tf, x: tf.nn.conv2d(tf.reshape(x[:32], [1, 5, 5, 256]), tf.ones([3, 3, 256, 512]) / 1000, 1, "SAME"),
    "filter_blocks": lambda tf, x: tf.nn.conv2d(tf.reshape(x[:32], [1, 5, 5, 256]), tf.ones([3, 3, 256, 128]) / 1000, 1, "SAME"),
    "joined_products": lambda tf, x: tf.add_n([tf.matmul(y, y, transpose_a=True) for y in tf.split(x, 80)]),
    "turned_blocks": lambda tf, x: tf.transpose(x) * 2.0,
    "search_blocks": lambda tf, x: [tf.argmax(x, 1), tf.argmin(x, 1)],
}


def both_ways(tf, name, build):
    """The program of x with all optimisations and without one, as text."""
    x = tf.placeholder(tf.float32, [None, COLUMNS])
    fetches = build(tf, x)
    fetches = fetches if isinstance(fetches, list) else [fetches]
    programs = [compiler.compile(tf.get_default_graph(), fetches, [], {x: (ROWS, COLUMNS)}, options=Options(off=frozenset(off)))
                for off in ((), (name,))]
    return x, fetches, [as_text(program.layout) for program in programs]


def as_text(layout):
    return "\n".join([*(step.node.op.type if isinstance(step, HostStep) else step[0].source for step in layout.steps),
                      *(f"{s.kind} {s.first} {s.last}" for s in layout.slots)])


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_optimisation_switched_off_changes_the_code_and_not_the_results(tf, monkeypatch, agree, name):
    x, fetches, (on, off) = both_ways(tf, name, PROGRAMS[name])
    assert on != off, "the program does not show what the optimisation does"
    monkeypatch.setenv("JITGRAPH_WITHOUT", name)
    agree(fetches, {x: np.random.RandomState(0).standard_normal((ROWS, COLUMNS)).astype(np.float32)}, np.float32)


def test_a_loop_over_scalars_without_its_kernel(tf, monkeypatch):
    from jitgraph.runtime import scalar_loops

    made = []
    run = scalar_loops.ScalarKernel.run
    monkeypatch.setattr(scalar_loops.ScalarKernel, "run", lambda kernel, values: made.append(1) or run(kernel, values))
    x = tf.placeholder(tf.float32, [None, COLUMNS])
    total = counted(tf, x)
    values = []
    for without in ("", "scalar_loops"):
        monkeypatch.setenv("JITGRAPH_WITHOUT", without)
        with tf.Session(jit="always") as session:
            values.append(session.run(total, {x: np.ones((1, COLUMNS))}))
    assert len(made) == 1 and values[0] == values[1]


@pytest.mark.parametrize("without, same", [("", True), ("result_reuse", False)])
def test_memory_of_a_dropped_result(tf, plain_memory, monkeypatch, without, same):
    monkeypatch.setenv("JITGRAPH_WITHOUT", without)
    x = tf.placeholder(tf.float32, [None])
    y = x * 2.0
    feed = np.ones(1 << 18, np.float32)
    with tf.Session(jit="always") as session:
        session.run(y, {x: feed})
        first = session.run(y, {x: feed})
        place = address_of(first)
        del first
        # whether the pool keeps the memory, or the system has it back: it may hand out the same pages again
        second = session.run(y, {x: feed})
        kept = [pool.blocks for pool in pools_of(session)]
        assert [len(blocks) for blocks in kept] == [int(same)]
        assert not same or address_of(second) == place


def pools_of(session):
    """The pools of large results of a session's plans."""
    bindings = [b for plan in session.plans for b in plan.segment.bindings.values()]
    return [pool for binding in bindings for frame in binding.frames for _, pool in frame.big_outputs]


def test_all_optimisations_are_tested():
    assert set(PROGRAMS) | {"scalar_loops", "native_iterations", "product_sums", "row_products",
                             "result_reuse", "batched_launches", "split_products", "library_products",
                             "library_convolutions", "repeated_runs", "added_up_rows",
                             "epilogues", "late_gradients", "kept_values", "loops_side_by_side"} == set(OPTIMISATIONS)


def test_names_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("JITGRAPH_WITHOUT", " fusion, spills,")
    assert present() == Options(off=frozenset({"fusion", "spills"}))
    assert not present().uses("fusion") and present().uses("memory_reuse")
    monkeypatch.delenv("JITGRAPH_WITHOUT")
    assert present() == Options()


def test_a_wrong_name_is_answered_with_those_there_are(tf, monkeypatch):
    with pytest.raises(ValueError, match=r"no optimisation is called 'fuson' .*fusion"):
        Options(off=frozenset({"fuson"}))
    monkeypatch.setenv("JITGRAPH_WITHOUT", "fuson")
    with pytest.raises(ValueError, match="late_broadcasts.*'fuson'"):
        tf.Session()


def test_every_rule_for_making_primitives_can_be_done_without():
    assert {optimisation for optimisation, _, _ in making.RULES} <= set(OPTIMISATIONS)
    assert all(rule.__doc__ for _, _, rule in making.RULES)
    for optimisation, method, rule in making.RULES:
        assert rule in making.rules(frozenset())[method]
        assert rule not in making.rules(frozenset([optimisation])).get(method, ())
