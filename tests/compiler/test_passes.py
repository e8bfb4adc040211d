"""The compiler as a list of passes: stop anywhere, verify everywhere, and what fusion makes of typical graphs."""
import re

import numpy as np
import pytest

import jitgraph as tf
from jitgraph import compiler
from jitgraph.compiler import PASSES, Options, place
from jitgraph.compiler.kernel import Kernel


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()


def compiled(fetches, feeds=None, targets=(), **options):
    return compiler.compile(tf.get_default_graph(), fetches, targets, feeds, options=Options(verify=True, **options))


def kernels(program):
    return [step[0] for step in program.layout.steps if isinstance(step, tuple)]


def test_the_compilers_page_has_a_line_for_every_pass():
    said = re.findall(r"^    (\w+) {2,}\w", compiler.__doc__, re.MULTILINE)
    assert said == [p.__name__ for p in PASSES]
    assert all(p.__doc__ for p in PASSES)


@pytest.mark.parametrize("stage", [p.__name__ for p in PASSES])
def test_compilation_stops_after_any_pass(stage):
    x = tf.placeholder(tf.float32, [None, 4])
    seen = []
    program = compiler.compile(tf.get_default_graph(), [tf.nn.softmax(x * 2.0)], [], {x: (3, 4)}, until=stage,
                               show=lambda name, p: seen.append(name))
    assert seen[-1] == stage and set(program.times) == set(seen)


def test_an_elementwise_tree_is_one_kernel():
    x = tf.placeholder(tf.float32, [None])
    program = compiled([tf.sigmoid(2.0 * x + 1.0) * tf.tanh(x) - tf.exp(-x * x)], {x: (10,)})
    (kernel,) = kernels(program)
    assert kernel.kind == "map" and len(kernel.params) == 2


def test_softmax_of_rows_is_one_kernel():
    x, b = tf.placeholder(tf.float32, [None, 10]), tf.placeholder(tf.float32, [10])
    (kernel,) = kernels(compiled([tf.nn.softmax(x + b)], {x: (7, 10), b: (10,)}))
    assert kernel.kind == "rows"


@pytest.mark.parametrize("more", [False, True])
def test_a_result_that_is_part_of_a_product_is_made_where_it_is_given(more):
    """Only that part is computed, and not copied; unless something else looks at it, whose view it stays."""
    x, y = tf.placeholder(tf.float32, [6, 40]), tf.placeholder(tf.float32, [40, 50])
    part = tf.matmul(x, y)[1:5, 10:]
    fetches = [part, tf.transpose(part)] if more else [part]
    feeds = {x: (6, 40), y: (40, 50)}
    program = compiled(fetches, feeds)
    assert len(kernels(program)) == 1 + 2 * more
    assert [program.layout.slots[slot].kind for slot in program.layout.steps[0][1]].count("output") == 1 - more
    a, b = (np.random.RandomState(k).standard_normal(shape).astype(np.float32) for k, shape in enumerate(feeds.values()))
    with tf.Session(jit="always") as session:
        for found, wanted in zip(session.run(fetches, {x: a, y: b}), [(a @ b)[1:5, 10:], (a @ b)[1:5, 10:].T]):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_several_outputs_and_in_place_updates_share_a_kernel():
    v, m = tf.Variable(tf.zeros([8])), tf.Variable(tf.ones([8]))
    g = tf.placeholder(tf.float32, [8])
    new_m = m * 0.9 + g * 0.1
    both = tf.group(tf.assign(m, new_m), tf.assign(v, v - new_m))
    (kernel,) = kernels(compiled([], {g: (8,)}, [both]))
    assert sorted(p.use for p in kernel.params) == ["in", "inout", "inout"]


def test_fusion_switched_off_gives_one_primitive_per_kernel():
    x = tf.placeholder(tf.float32, [5])
    assert len(kernels(compiled([tf.exp(x) + x * 2.0], {x: (5,)}, off=frozenset({"fusion"})))) == 3


def test_a_read_after_a_write_does_not_share_its_kernel_unless_aligned():
    v = tf.Variable(np.arange(6.0, dtype="f"))
    update = tf.assign(v, tf.reverse(v, [0]))
    assert len(kernels(compiled([], {}, [update.op]))) == 2


def test_common_subexpressions_are_computed_once():
    x = tf.placeholder(tf.float32, [4])
    program = compiled([tf.exp(x * 2.0), tf.exp(x * 2.0) + 1.0], {x: (4,)})
    (kernel,) = kernels(program)
    assert [s.prim for s in kernel.body if s.kind == "op"].count("exp") == 1


def test_shape_arithmetic_disappears():
    x = tf.placeholder(tf.float32, [None, 3])
    flat = tf.reshape(x, [tf.shape(x)[0] * 3]) + 1.0
    program = compiled([flat], {x: (5, 3)})
    assert len(kernels(program)) == 1 and not program.rest
    fits, = program.space.guard_source()       # all that is left is that 3 * 5 is no number that wraps around
    assert fits.endswith("<= 0") and "3*s0" in fits


def test_temporaries_share_memory():
    x = tf.placeholder(tf.float32, [64, 64])
    h = x
    for _ in range(6):
        h = tf.matmul(h, x)
    program = compiled([h], {x: (64, 64)})
    spans = [(64 * 64 * 4, s.first, s.last) for s in program.layout.slots if s.kind == "temp"]
    offsets, total = place.assign_offsets(spans)
    assert len(spans) == 5 and total == 2 * 64 * 64 * 4
    for i, (size, first, last) in enumerate(spans):
        for j in range(i):
            apart = spans[j][2] < first or last < spans[j][1]
            assert apart or abs(offsets[i] - offsets[j]) >= size


@pytest.mark.parametrize("few", [0, 1000])
def test_memory_is_shared_by_what_is_not_alive_together(monkeypatch, few):
    """Few spans get no more than is alive at once, or nearly; many are placed by a faster rule."""
    monkeypatch.setattr(place, "FEW_SPANS", few)
    random = np.random.RandomState(0)
    for count in (0, 1, 7, 40, 120):
        first = random.randint(0, 60, count)
        spans = [(int(2 ** random.uniform(0, 20)) if k else 0, f, f + random.randint(0, 25)) for k, f in enumerate(first)]
        offsets, total = place.assign_offsets(spans)
        alive = max((sum(s[0] for s in spans if s[1] <= t <= s[2]) for t in range(100)), default=0)
        assert total <= (1.3 if few else 2.0) * alive + 64 * count
        for i, (size, begin, end) in enumerate(spans):
            assert offsets[i] % 64 == 0 and offsets[i] + size <= total
            for j in range(i):
                apart = spans[j][2] < begin or end < spans[j][1]
                assert apart or offsets[i] + size <= offsets[j] or offsets[j] + spans[j][0] <= offsets[i]


def test_rewrite_rules_state_before_and_after():
    from jitgraph.compiler import simplify

    assert all("->" in rule.__doc__ for rule in simplify.RULES)


def test_rules_do_not_change_values():
    x = tf.placeholder(tf.float32, [3, 4])
    cases = [x * 1.0, x / 1.0, tf.negative(tf.negative(x)), tf.matmul(tf.transpose(x), x)]
    feed = np.random.RandomState(0).randn(3, 4).astype("f")
    for y in cases:
        with tf.Session(jit="off") as off, tf.Session(jit="always") as on:
            np.testing.assert_allclose(on.run(y, {x: feed}), off.run(y, {x: feed}), rtol=1e-6)


def test_kernel_ir_is_plain_data():
    x = tf.placeholder(tf.float32, [None, 10])
    program = compiled([tf.nn.softmax(x)], {x: (7, 10)})
    assert all(isinstance(step, Kernel) for step in program.steps)


def test_a_rule_never_puts_a_changing_variable_in_place_of_a_value():
    v = tf.Variable([1.0, 2.0])
    old = v * 1.0
    update = tf.assign(v, v + 10.0)
    with tf.control_dependencies([update]):
        late = old + 0.5
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        found = session.run([late, old, update])
        assert [x.tolist() for x in found] == [[1.5, 2.5], [1.0, 2.0], [11.0, 12.0]]


def test_a_result_that_a_rule_turns_into_a_view_keeps_its_shape():
    x = tf.placeholder(tf.float32, [2, 1, 4])
    with tf.Session(jit="always") as session:
        assert session.run(tf.reduce_mean(x, 1, keepdims=True), {x: np.ones((2, 1, 4))}).shape == (2, 1, 4)


def test_writes_of_one_variable_keep_their_order_whatever_they_wait_for():
    v = tf.Variable(tf.zeros([4]))
    slow = tf.reduce_sum(tf.matmul(tf.ones([8, 8]), tf.ones([8, 4])), 0)
    first, second = tf.assign(v, slow), tf.assign(v, [1.0, 2.0, 3.0, 4.0])
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        session.run([first.op, second.op])
        assert session.run(v).tolist() == [1, 2, 3, 4]


def test_a_rearranged_read_between_two_writes():
    v = tf.Variable([1.0, 2.0, 3.0])
    one = tf.assign(v, v * 2.0)
    turned = tf.reverse(one, [0])
    two = tf.assign(v, turned + v)
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        assert [x.tolist() for x in session.run([one, turned, two])] == [[2, 4, 6], [6, 4, 2], [8, 8, 8]]


@pytest.mark.parametrize("cuts", [(0, 40), (0, 1, 2, 17, 40), (0, 5, 5, 39, 40)])
def test_the_items_of_a_map_are_the_same_in_any_parts(cuts):
    """Of loops one in another a part finds its first item's indices, and counts from there."""
    x = tf.placeholder(tf.float32, [2, 5, 3])
    program = compiled([tf.tile(x, [2, 1, 2])], {x: (2, 5, 3)})
    kernel = kernels(program)[0]
    assert kernel.kind == "map" and kernel.items == 40
    given, found = np.random.RandomState(0).rand(2, 5, 3).astype(np.float32), np.zeros(4 * 5 * 6, np.float32)
    scope: dict = {"quotient": lambda a, b: a // b, "larger": max}
    exec(kernel.source, scope)
    for begin, end in zip(cuts, cuts[1:]):
        assert scope[kernel.name](given.ravel(), found, kernel.sizes, begin, end) == 0
    np.testing.assert_array_equal(found.reshape(4, 5, 6), np.tile(given, [2, 1, 2]))
