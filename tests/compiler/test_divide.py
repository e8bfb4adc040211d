"""`divide`: what of a conditional or a loop the compiler settles before it runs."""

from pathlib import Path

import numpy as np

from jitgraph.compiler import Options, compile
from jitgraph.compiler.divide import LoopCall
from jitgraph.compiler.loops.steps import (
    AddProduct,
    OfFetch,
    OfVariable,
    PushOnStack,
    StoreElement,
    TakeElement,
    TakeElementInPlace,
    TakeFlow,
    TakeFromStack,
    WriteInPlace,
)

FIXTURES = Path(__file__).parent.parent / "fixtures"


def call_of(tf, fetches, feeds=(), off=()):
    """The sub-programs of the only operation that calls functions."""
    options = Options(off=frozenset(off))
    program = compile(tf.get_default_graph(), fetches, feeds=dict.fromkeys(feeds, ()), until="divide", options=options)
    call, = program.calls.values()
    return call


def test_a_conditional_is_a_choice_of_sub_programs_for_what_is_wanted(tf):
    x = tf.placeholder(tf.float32, [2])
    first, second = tf.cond(x[0] > 0, lambda: (tf.exp(x), x), lambda: (x, tf.log(x)))
    call = call_of(tf, [second], [x])
    assert call.outputs == {1}
    one, other = call.programs
    assert not one.fetches and one.direct[0] is not None        # handed on as it is
    assert [t.op.type for t in other.fetches] == ["Log"]
    assert call_of(tf, [first, second], [x]).outputs == {0, 1}


def test_elements_of_arrays_are_taken_and_stored_by_the_loop(tf):
    x = tf.placeholder(tf.float32, [7, 2])
    call = call_of(tf, [tf.map_fn(tf.tanh, x)], [x])
    division = call.division
    take, = [step for step in division.takes if isinstance(step, TakeElement)]
    store, = [step for step in division.stores if isinstance(step, StoreElement)]
    assert take.op.type == "TensorArrayReadV3" and store.op.type == "TensorArrayWriteV3"
    assert store.at == OfVariable(1, False) and store.variable == 2
    assert isinstance(store.value, OfFetch) and division.fetches[store.value.number].op.type == "Tanh"
    assert call.body.fed == division.fed == [take.op.outputs[0]]
    assert "TensorArrayReadV3" not in {op.type for t in call.body.fetches for op in [t.op]}


def test_arrays_and_stacks_of_graph_files_change_between_the_iterations(tf):
    """A training step of an LSTM as TensorFlow 1 wrote it, whose loops write arrays in place and keep values on stacks."""
    file = tf.GraphDef.FromString((FIXTURES / "graphs/07_lstm_while_v1_grad/graph.pb").read_bytes())
    tf.import_graph_def(file, name="")
    graph = tf.get_default_graph()
    fetches = [graph.get_tensor_by_name(name) for name in ("loss:0", "g0:0", "g1:0", "g2:0")]
    program = compile(graph, fetches, feeds={graph.get_tensor_by_name("x:0"): ()}, until="divide")
    loops = [call.division for call in program.calls.values() if isinstance(call, LoopCall)]
    assert {type(step) for division in loops for step in division.changes} == {PushOnStack, WriteInPlace}
    assert {type(step) for division in loops for step in division.takes} == {TakeFlow, TakeElementInPlace, TakeFromStack}
    assert all(division.in_place for division in loops)


def products(tf):
    x = tf.placeholder(tf.float32, [3, 64])
    return x, tf.while_loop(lambda i, total: i < 9, lambda i, total: (i + 1, total + tf.matmul(x, x, transpose_a=True)),
                            [0, tf.zeros([64, 64])])[1]


def test_products_that_are_added_up_are_collected(tf):
    x, total = products(tf)
    call = call_of(tf, [total], [x])
    assert [type(step) for step in call.division.stores] == [AddProduct]
    assert call.division.sums[1].op.type == "MatMul" and not any(t.op.type == "MatMul" for t in call.body.fetches)
    other = call_of(tf, [total], [x], off=["product_sums"])
    assert not other.division.stores and other.division.targets == [0, 1]


def test_the_condition_and_the_counters_are_expressions(tf):
    n = tf.placeholder(tf.int32, [])
    i, _ = tf.while_loop(lambda i, a: tf.logical_and(i < tf.minimum(n, 6), i < 9), lambda i, a: (i + 2, a * 2.0), [0, 1.0])
    call = call_of(tf, [i], [n])
    least, = call.condition.fixed
    assert least.op.type == "Minimum"
    test = call.condition.test
    assert test.one([4], [6]) and not test.one([6], [6]) and not test.one([9], [60])
    assert test.column([np.array([4, 6, 8, 10])], [8]).tolist() == [True, True, False, False]
    counter, = call.counters
    assert counter.variable == 0 and counter.following.one([4], ()) == 6 and counter.stride([4], ()) == 2
    assert call_of(tf, [i], [n], off=["native_iterations"]).counters is None


def test_the_same_sub_programs_serve_all_plans(tf):
    a, b = tf.while_loop(lambda a, b: a < 3.0, lambda a, b: (a + 1.0, b * 2.0), [0.0, 1.0])
    first = call_of(tf, [a, b])
    assert call_of(tf, [b, a, a * 2.0]) is first
    assert call_of(tf, [a]) is not first
    tf.gradients(b, [tf.constant(1.0)])
    x = tf.constant(2.0)
    c = tf.while_loop(lambda i, c: i < 3, lambda i, c: (i + 1, c * x), [0, x])[1]
    before = call_of(tf, [c])
    tf.gradients(c, x)              # lets the loop save its variables
    after = call_of(tf, [c])
    assert after is not before and len(after.op.inputs) > len(before.invariant)
