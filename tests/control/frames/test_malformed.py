"""Control flow that is not well formed: an error that names the node, at once, and never a hang."""
import json
import random
import time
from pathlib import Path

import numpy as np
import pytest

from jitgraph.graph.errors import OpError
from jitgraph.protobuf import messages

GRAPHS = Path(__file__).parent.parent.parent / "fixtures" / "graphs"
FRAME_TYPES = ("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond")


def loop(tf):
    """A loop node by node, as a dict: i = 0; while i < 5: i = i + 1."""
    raw, graph = tf.raw_ops, tf.get_default_graph()
    made = {"first": tf.constant(0, name="first")}
    made["enter"] = raw.Enter(data=made["first"], frame_name="loop")
    five = raw.Enter(data=tf.constant(5), frame_name="loop", is_constant=True)
    one = raw.Enter(data=tf.constant(1), frame_name="loop", is_constant=True)
    made["merge"] = raw.Merge(inputs=[made["enter"], made["enter"]], name="Merge").output
    made["cond"] = raw.LoopCond(input=raw.Less(x=made["merge"], y=five), name="LoopCond")
    made["done"], made["on"] = raw.Switch(data=made["merge"], pred=made["cond"], name="Switch")
    made["next"] = raw.NextIteration(data=raw.Add(x=made["on"], y=one, name="Add"), name="NextIteration")
    made["merge"].op._update_input(1, made["next"])
    made["exit"] = raw.Exit(data=made["done"], name="Exit")
    made["five"], made["graph"] = five, graph
    return made


def run(tf, fetch, feeds=None):
    with tf.Session() as session:
        return session.run(fetch, feeds)


def refuses(tf, fetch, match):
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        run(tf, fetch)


def test_a_loop_that_is_well_formed(tf):
    made = loop(tf)
    assert run(tf, made["exit"]) == 5
    assert run(tf, made["exit"], {made["first"]: 7}) == 7


def test_a_frame_without_condition(tf):
    entered = tf.raw_ops.Enter(data=tf.constant(1.0), frame_name="f", name="in")
    refuses(tf, tf.raw_ops.Exit(data=entered), r"the frame 'f' has no LoopCond nodes \(it is entered by in\)")


def test_two_conditions(tf):
    made = loop(tf)
    other = tf.raw_ops.LoopCond(input=tf.raw_ops.Less(x=made["merge"], y=made["five"]), name="Second")
    _, on = tf.raw_ops.Switch(data=made["merge"], pred=other)
    made["next"].op._update_input(0, on)
    refuses(tf, made["exit"], "the frame 'loop' has 2 LoopCond nodes: LoopCond, Second")


def test_a_merge_of_three(tf):
    made = loop(tf)
    third = tf.raw_ops.Merge(inputs=[made["enter"], made["enter"], made["enter"]], name="Three").output
    third.op._update_input(1, made["next"])
    made["done"].op._update_input(0, third)
    refuses(tf, made["exit"], "node Three .* must have 2 inputs, an Enter and a NextIteration, but has 3")


def test_a_merge_that_begins_with_something_else(tf):
    made = loop(tf)
    made["merge"].op._update_input(0, made["five"].op.inputs[0])
    refuses(tf, made["exit"], "has inputs from different frames. The input node Merge is in frame ''")


def test_leaving_what_was_not_entered(tf):
    refuses(tf, tf.raw_ops.Exit(data=tf.constant(1.0), name="out"), "node out .* leaves a frame, but none was entered")


def test_inputs_from_different_frames(tf):
    made = loop(tf)
    outside = tf.constant(3, name="outside")
    made["next"].op.inputs[0].op._update_input(1, outside)
    refuses(tf, made["exit"], "node Add .* has inputs from different frames. The input node Switch is in frame 'loop'. The "
                              "input node outside is in frame ''")


def test_a_back_edge_from_another_frame(tf):
    made = loop(tf)
    deeper = tf.raw_ops.Enter(data=made["on"], frame_name="deeper")
    made["merge"].op._update_input(1, tf.raw_ops.NextIteration(data=deeper, name="Stray"))
    refuses(tf, made["exit"], "different frames.* 'loop/deeper'")


def test_a_next_iteration_to_nowhere(tf):
    made = loop(tf)
    lost = tf.raw_ops.NextIteration(data=made["on"], name="Lost")
    refuses(tf, [made["exit"], lost.op], "node Lost .* hands a value to an iteration that does not take it")


def test_reading_the_next_iteration(tf):
    made = loop(tf)
    odd = tf.raw_ops.Add(x=made["next"], y=made["five"], name="Odd")
    refuses(tf, [made["exit"], odd.op], "node Odd .* reads NextIteration:0, which only the Merge of a loop variable can do")


def test_leaving_from_the_middle_of_an_iteration(tf):
    made = loop(tf)
    refuses(tf, tf.raw_ops.Exit(data=made["next"].op.inputs[0], name="Early"), "node Early .* must read the last value of a "
                                                                              "loop variable")


def test_computing_after_the_last_iteration(tf):
    made = loop(tf)
    late = tf.raw_ops.Add(x=made["done"], y=made["five"], name="Late")
    refuses(tf, tf.raw_ops.Exit(data=late), "node Late .* reads Switch:0, which is there only after the last iteration")


def test_a_value_that_some_iterations_do_not_have(tf):
    made = loop(tf)
    half, _ = tf.raw_ops.Switch(data=made["on"], pred=tf.raw_ops.Less(x=made["on"], y=made["five"]))
    made["next"].op._update_input(0, half)
    refuses(tf, made["exit"], "node NextIteration .* hands a value to the next iteration that is not there in each one")


def test_a_merge_of_what_has_nothing_to_do_with_each_other(tf):
    p, q, r = (tf.placeholder_with_default(True, []) for _ in range(3))
    x = tf.constant(1.0)
    a, b = tf.raw_ops.Switch(data=x, pred=p)[1], tf.raw_ops.Switch(data=x, pred=q)[1]
    b = tf.raw_ops.Switch(data=b, pred=r)[1]
    refuses(tf, tf.raw_ops.Merge(inputs=[a, b], name="odd")[0], "node odd .* do not come from the two sides of one decision")


def test_a_cycle_outside_of_a_loop(tf):
    x = tf.placeholder_with_default(1.0, [], name="x")
    a = tf.identity(x, name="a")
    b = tf.identity(a, name="b")
    a.op._update_input(0, b)
    f, t = tf.raw_ops.Switch(data=b, pred=True)
    refuses(tf, tf.raw_ops.Merge(inputs=[f, t])[0], "cycle through 'a', 'b'")


# -- what must not be taken for an error -----------------------------------------------------------------------------

def test_a_merge_of_one_side_is_there_if_that_side_is(tf):
    p = tf.placeholder(tf.bool, [])
    _, t = tf.raw_ops.Switch(data=tf.constant(4.0), pred=p)
    y, k = tf.raw_ops.Merge(inputs=[t])
    with tf.Session() as session:
        assert session.run([y, k], {p: True}) == [4.0, 0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            session.run(y, {p: False})


def test_a_merge_with_something_that_is_always_there_takes_that(tf):
    p = tf.placeholder(tf.bool, [])
    _, t = tf.raw_ops.Switch(data=tf.constant(4.0), pred=p)
    y, k = tf.raw_ops.Merge(inputs=[t, tf.constant(2.0)])
    with tf.Session() as session:
        assert session.run([y, k], {p: False}) == [2.0, 1]


def test_a_dead_operation_stops_what_waits_for_it(tf):
    p = tf.placeholder(tf.bool, [])
    v = tf.Variable(1.0, use_resource=False)
    _, t = tf.raw_ops.Switch(data=tf.constant(4.0), pred=p)
    with tf.control_dependencies([tf.identity(t)]):
        put = v.assign_add(1.0)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(put.op, {p: False})
        assert session.run(v) == 1.0
        session.run(put.op, {p: True})
        assert session.run(v) == 2.0


# -- anything ----------------------------------------------------------------------------------------------------------

def damaged(source, rng):
    """A GraphDef whose control flow is changed in one to three places."""
    file = messages.GraphDef()
    file.CopyFrom(source)
    for _ in range(rng.randrange(1, 4)):
        nodes = [node for node in file.node if node.op in FRAME_TYPES]
        one, other = rng.choice(nodes), rng.choice(rng.choice([nodes, file.node]))
        kind = rng.randrange(8)
        if kind < 3 and one.input:
            one.input[rng.randrange(len(one.input))] = other.name + rng.choice(["", "", ":1"])
        elif kind == 3:
            one.op = rng.choice(FRAME_TYPES)
        elif kind == 4:
            file.node.remove(one)
        elif kind == 5 and one.op == "Merge":
            one.input.append(other.name)
            one.attr["N"].i = len(one.input)
        elif kind == 6:
            one.input.append("^" + other.name)
        elif one.op == "Enter":
            one.attr["frame_name"].s = rng.choice([b"x", b"", other.attr["frame_name"].s])
    return file


@pytest.mark.parametrize("name", ["06_lstm_while_v1", "07_lstm_while_v1_grad", "08_cond_v1", "12_sparse_segment"])
def test_damaged_control_flow_runs_or_ends_in_an_error(tf, name):
    source = messages.GraphDef.FromString((GRAPHS / name / "graph.pb").read_bytes())
    plan = json.loads((GRAPHS / name / "io.json").read_text())["runs"][0]
    arrays = np.load(GRAPHS / name / "io.npz")
    feeds = {tensor: arrays[f"0|feed|{tensor}"] for tensor in plan["feeds"]}
    rng, start, imported = random.Random(name), time.process_time(), 0
    config = tf.ConfigProto(operation_timeout_in_ms=1000)       # a loop whose condition is wrong may be endless by right
    while imported < 12:
        try:
            with tf.Graph().as_default():
                tf.import_graph_def(damaged(source, rng), name="")
                imported += 1
                with tf.Session(config=config, jit="off") as session:
                    for fetch in plan["fetches"]:
                        try:
                            session.run(fetch, feeds)
                        except (OpError, ValueError):
                            pass
        except (OpError, ValueError):
            pass
    assert time.process_time() - start < 50
