"""Operations that wait for a later segment: which of them could run now."""
from __future__ import annotations

import random

import pytest

from jitgraph.compiler.order import touched_variables
from jitgraph.compiler.waiting import Found, Waiting


def scanned(ops, rest, known):
    """The same by a look at each operation of the rest, in order."""
    known, free, written = set(known), set(), set()
    for op in ops:
        if op not in rest:
            continue
        touched = dict(touched_variables(op))
        written |= {variable for variable, writes in touched.items() if writes}
        if not op.opdef.at_any_time:
            written |= {t for t in op.inputs if t.dtype._is_ref_dtype or t.dtype.name == "resource"}
            continue
        if any(c in rest and c not in free for c in op.control_inputs) or not written.isdisjoint(touched):
            continue
        if any(t not in known or t in written for t in op.inputs):
            continue
        free.add(op)
        known |= set(op.outputs)
    return free


def needed(free, rest, constants):
    """Without constants that nobody needs, which are found only with those who do."""
    used = {t.op for op in free for t in op.inputs}
    return {op for op in free if op not in constants or op in used}


@pytest.mark.parametrize("seed", range(40))
def test_what_may_run_is_what_a_scan_in_order_finds(tf, seed):
    draw = random.Random(seed)
    graph = tf.Graph()
    with graph.as_default():
        variables = [tf.get_variable(f"v{k}", [], use_resource=k % 2 == 0) for k in range(3)]
        tensors = [tf.placeholder(tf.float32, []) for _ in range(3)]
        effects = []
        for _ in range(40):
            after = draw.sample(effects, min(len(effects), draw.choice([0, 0, 0, 1])))
            with tf.control_dependencies(after):
                kind = draw.choice(["add", "add", "read", "assign", "constant", "random", "print"])
                a, b = draw.choice(tensors), draw.choice(tensors)
                if kind == "add":
                    tensors.append(a + b)
                elif kind == "read":
                    tensors.append(draw.choice(variables) * a)
                elif kind == "assign":
                    effects.append(draw.choice(variables).assign_add(a).op)
                elif kind == "constant":
                    tensors.append(tf.constant(draw.random()))
                elif kind == "random":
                    tensors.append(tf.random_uniform([]) + a)
                else:
                    effects.append(tf.print(a))
    ops = graph.get_operations()
    waiting = Waiting.of(ops)
    for first in (10, 25, len(ops) // 2):
        done = {op for op in ops[:first] if draw.random() < 0.8} | {op for op in ops if op.type == "Placeholder"}
        rest = {op for op in ops if op not in done}
        known = {t for op in done for t in op.outputs} | {t for op in ops if op.type in ("VariableV2", "VarHandleOp")
                                                          for t in op.outputs}
        reached = set(known)
        visited = []

        def visit(op, visited=visited, reached=reached):
            visited.append(waiting.place[op])
            if not reached.issuperset(op.inputs):
                return Found.NOT_KNOWN
            reached.update(op.outputs)
            return Found.KNOWN

        found = waiting.free(rest, known, visit).free
        wanted = scanned(ops, rest, known)
        assert needed(found, rest, waiting.constants) == needed(wanted, rest, waiting.constants)
        assert [place for place in visited if ops[place] not in waiting.constants] == sorted(
            place for place in visited if ops[place] not in waiting.constants)


@pytest.mark.parametrize("seed", range(20))
def test_a_later_segment_looks_at_what_is_new_and_finds_all(tf, seed):
    draw = random.Random(seed)
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", [])
        tensors, effects = [tf.placeholder(tf.float32, []) for _ in range(4)], []
        for _ in range(60):
            a, b = draw.sample(tensors, 2)
            if draw.random() < 0.15:
                effects.append(v.assign_add(a).op)
            with tf.control_dependencies(draw.sample(effects, min(len(effects), draw.choice([0, 0, 1])))):
                tensors.append(a * b if draw.random() < 0.8 else a + v)
    ops = graph.get_operations()
    waiting, looked = Waiting.of(ops), None
    variable = set(v.op.outputs)
    done = {v.op, *(t.op for t in tensors[:2])}
    while len(done) < len(ops):
        rest = {op for op in ops if op not in done}
        known = variable | {t for op in done for t in op.outputs}
        reached, visited, before = set(known), [], set() if looked is None else looked.free & rest

        def visit(op, reached=reached, visited=visited, before=before):
            visited.append(op)
            if any(t not in reached and t.op not in before for t in op.inputs):
                return Found.NOT_KNOWN
            reached.update(op.outputs)
            return Found.KNOWN

        looked = waiting.free(rest, known, visit, looked)
        assert needed(looked.free, rest, waiting.constants) == needed(scanned(ops, rest, known), rest, waiting.constants)
        assert before.isdisjoint(visited)
        done.add(next(op for op in ops if op in rest))


def test_a_tensor_is_first_used_where_somebody_waits_who_needs_it(tf):
    x = tf.placeholder(tf.float32, [])
    first, second, third = x + 1.0, x * x, x - 2.0
    ops = x.graph.get_operations()
    waiting = Waiting.of(ops)
    assert waiting.first_use(x, set(ops), lambda op, k: True) == (ops.index(first.op), 0)
    assert waiting.first_use(x, set(ops) - {first.op}, lambda op, k: k == 1) == (ops.index(second.op), 1)
    assert waiting.first_use(x, {third.op}, lambda op, k: k == 1) is None
