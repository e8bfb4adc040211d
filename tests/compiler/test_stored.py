"""Programs in files: equal ones have one address, others another, and what is read back is what was written."""
import dataclasses
import functools
import os
import pickle
import zlib

import numpy as np
import pytest

from jitgraph.compiler import Options, Program, compile, compile_ops, show
from jitgraph.compiler import stored as stored_module
from jitgraph.compiler.stored import Stored


@pytest.fixture(autouse=True)
def small_programs_too(monkeypatch):
    monkeypatch.setattr(stored_module, "LEAST", 0)


def ordered(graph, fetches, feeds=(), targets=(), **fields):
    """A program as `compile_ops` takes it."""
    fields.setdefault("options", Options(verify=False))
    given = dict(feeds)
    start = compile(graph, fetches, targets, dict.fromkeys([*given, *fields.get("known", {})], ()), until="divide", **fields)
    program = Program(start.graph, start.fetches, start.targets, given, **fields)
    program.ops, program.calls = list(start.ops), start.calls
    return program


def build(tf, constant=2.0, name="y", dtype="float32", limit=6.0, shape=(None, 3), middle=None, write=False):
    """A graph with a feed, a variable, a constant and a conditional; (graph, fetches, feed)."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(dtype, shape, name="x")
        v = tf.get_variable("v", [3, 4], dtype)
        y = tf.matmul(x, v) * constant
        y = tf.where(y > limit, y, middle(y) if middle else -y, name=name)
        z = tf.cond(tf.reduce_sum(y) > limit, lambda: y + constant, lambda: y - 1)
        fetches = [z, tf.assign_add(v, tf.ones_like(v))] if write else [z]
    return graph, fetches, x


def address(tf, feed=(5, 3), options=None, **choices):
    graph, fetches, x = build(tf, **choices)
    return Stored(ordered(graph, fetches, {x: feed}, **({} if options is None else {"options": options}))).address


def test_the_same_graph_made_again_has_the_same_address(tf):
    assert address(tf) == address(tf) is not None


@pytest.mark.parametrize("choice", [
    {"constant": 2.5}, {"constant": -2.0}, {"name": "other"}, {"dtype": "float64"}, {"limit": 7.0}, {"shape": (5, 3)},
    {"feed": (6, 3)}, {"write": True}, {"middle": abs}, {"options": Options(verify=False, off=frozenset(["fusion"]))},
    {"options": Options(verify=False, compiler="numba")}], ids=repr)
def test_whatever_passes_look_at_is_in_the_address(tf, choice):
    assert address(tf, **choice) != address(tf)


def test_the_order_of_attributes_is_not_in_the_address(tf):
    """A graph that is read from a file has them in an order that differs from process to process."""
    graph, fetches, x = build(tf)
    program = ordered(graph, fetches, {x: (5, 3)})
    for op in program.ops:
        op.attrs = dict(reversed(op.attrs.items()))
    assert Stored(program).address == address(tf)


def test_what_a_function_does_is_in_the_address(tf):
    def branch(k):
        graph = tf.Graph()
        with graph.as_default():
            x = tf.placeholder("float32", [3])
            y = tf.cond(x[0] > 0, lambda: x * k, lambda: x)
        return Stored(ordered(graph, [y], {x: (3,)})).address

    assert branch(2.0) == branch(2.0) != branch(3.0)


def test_a_large_constant_is_in_the_address_and_not_in_the_file(tf):
    def program(values):
        graph = tf.Graph()
        with graph.as_default():
            x = tf.placeholder("float32", [1000])
            y = x + tf.constant(values)
        return ordered(graph, [y], {x: (1000,)})

    values = np.random.RandomState(0).rand(1000).astype(np.float32)
    others = values.copy()
    others[500] += 1
    one, other = Stored(program(values)), Stored(program(others))
    assert one.address != other.address
    compile_ops(one.program)
    assert len(one.dump()) < 4000


def test_what_is_known_of_feeds_is_in_the_address(tf):
    graph = tf.Graph()
    with graph.as_default():
        n = tf.placeholder("int32", [2])
        y = tf.zeros(n) + 1

    def known(*sizes):
        return Stored(ordered(graph, [y], known={n: np.array(sizes, np.int32)})).address

    assert known(2, 3) == known(2, 3) != known(3, 2)


def describe(program):
    """What a person is told of it, but how long passes took, and the shapes of what is inside kernels."""
    found = show.describe(program, lambda kernel: {})
    return {name: value for name, value in found.items() if name not in ("times", "nodes")}


def written_and_read(program):
    """(the program compiled, what a reader of its file makes of the same)."""
    fresh = dataclasses.replace(program, ops=list(program.ops), infos={}, space=type(program.space)(), results={}, nodes=[],
                                rest=[], live=[], pins=[], measured=[], outputs=[], units=[], steps=[], times={}, waiting=None)
    writer, reader = Stored(program), Stored(fresh)
    compile_ops(program)
    data = writer.dump()
    assert data is not None
    return program, reader.restore(data)


def test_what_is_read_is_what_was_written(tf):
    graph, fetches, x = build(tf, write=True)
    made, read = written_and_read(ordered(graph, fetches, {x: (5, 3)}))
    assert describe(read) == describe(made)
    assert [op.name for op in read.ops] == [op.name for op in made.ops]
    assert read.space.guard_source() == made.space.guard_source()
    assert all(slot.key is other.key for slot, other in zip(read.layout.slots, made.layout.slots))


def test_a_program_that_ends_early_tells_what_is_left(tf):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder("float32", [None])
        y = tf.boolean_mask(x, x > 0) * 2
    made, read = written_and_read(ordered(graph, [y], {x: (5,)}))
    assert made.rest and read.rest == made.rest and read.live == made.live and read.doubted == made.doubted


def test_a_deep_graph_needs_no_deep_recursion(tf):
    graph = tf.Graph()
    with graph.as_default():
        x = y = tf.placeholder("float32", [4, 4])
        for _ in range(3000):
            y = tf.matmul(y, x)
    made, read = written_and_read(ordered(graph, [y], {x: (4, 4)}))
    assert len(read.layout.steps) == len(made.layout.steps) == 3000


def test_what_is_made_of_a_function_of_the_program_has_no_address(tf):
    """A token names it, and the next process has another function of that token."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder("float32", [4])
        y = tf.kernel_func(lambda a: a * 2.0, [x], tf.float32) + 1
    assert Stored(ordered(graph, [y], {x: (4,)})).address is None


def test_functions_that_are_not_ours_are_not_written(tf):
    graph, fetches, x = build(tf)
    stored = Stored(ordered(graph, fetches, {x: (5, 3)}))
    compile_ops(stored.program)
    stored.program.nodes[-1].attrs["function"] = functools.partial(describe, None)
    stored.program.results = {fetches[0]: stored.program.nodes[-1].out}
    assert stored.dump() is None


@pytest.mark.parametrize("damage", [lambda d: d[:100], lambda d: b"", lambda d: d[:50] + b"x" + d[51:]])
def test_a_damaged_file_is_none(tf, damage):
    graph, fetches, x = build(tf)
    program = ordered(graph, fetches, {x: (5, 3)})
    stored = Stored(program)
    compile_ops(program)
    assert stored.restore(damage(stored.dump())) is None


def test_a_file_names_nothing_but_what_programs_are_made_of(tf):
    graph, fetches, x = build(tf)
    stored = Stored(ordered(graph, fetches, {x: (5, 3)}))
    called = []
    bad = pickle.dumps([]) + pickle.dumps(Caller(called))
    assert stored.restore(zlib.compress(bad)) is None and not called


class Caller:
    """Something that would call a function where it is read."""

    def __init__(self, called):
        self.called = called

    def __reduce__(self):
        return os.system, ("exit 1",)
