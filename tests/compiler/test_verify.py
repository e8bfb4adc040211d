"""What `verify` must hold of programs: for every kind of primitive and every pass something that does not, which it finds."""

import pytest

import jitgraph.compiler as compiler
from jitgraph.compiler import PASSES, VerifyError
from jitgraph.compiler.builder import Builder
from jitgraph.compiler.place import CopyStep
from jitgraph.compiler.primitives import KINDS
from jitgraph.compiler.primitives.kind import Kind
from jitgraph.compiler.primitives.memory import INPUT
from jitgraph.compiler.targets import HOST
from jitgraph.compiler.verify import CHECKS, verify
from jitgraph.graph import dtypes

# kind: (shapes of the inputs, attributes, shapes of the outputs) of a node that must not be
WRONG = {
    "map": ([(2,), (3,)], {"prim": "neg"}, [(2,)]),
    "cast": ([(2,)], {}, [(3,)]),
    "write": ([(2,)], {"variable": None, "version": 1}, [(3,)]),
    "reshape": ([(2, 3)], {}, [(7,)]),
    "transpose": ([(2, 3)], {"perm": (1, 0)}, [(2, 3)]),
    "broadcast": ([(2,)], {}, [(2, 3)]),
    "slice": ([(2, 3)], {"begin": (0,), "strides": (1,)}, [(2,)]),
    "reduce": ([(2, 3)], {"op": "add", "axes": (0,)}, [(2,)]),
    "partial": ([(2, 3)], {"op": "add", "axes": (0,)}, [(1, 3)]),
    "gather": ([(2, 3), (4,)], {"axis": 0}, [(4, 3)]),
    "scatter": ([(4,), (5, 3)], {"op": "add", "drops": False, "picks": False, "scales": False}, [(2, 3)]),
    "matmul": ([(2, 3), (4, 5)], {"ta": False, "tb": False}, [(2, 5)]),
    "cholesky": ([(3, 3)], {}, [(2, 2)]),
    "triangular_solve": ([(3, 3), (3, 2)], {"lower": True, "adjoint": False}, [(3, 3)]),
    "scan": ([(2, 3)], {"op": "add", "axis": 0, "exclusive": False, "reverse": False}, [(3, 2)]),
    "top_k": ([(2, 3)], {"k": 2}, [(2, 2), (2, 3)]),
    "conv": ([(1, 4, 4, 2), (3, 3, 3, 5)], {"strides": (1, 1), "dilations": (1, 1)}, [(1, 2, 2, 5)]),
    "conv_input": ([(1, 4, 4, 2), (3, 3, 3, 5)], {}, [(1, 4, 4, 5)]),
    "conv_filter": ([(1, 4, 4, 2), (1, 2, 2, 5)], {"strides": (1, 1), "dilations": (1, 1)}, [(1, 3, 3, 3, 5)]),
    "image_conv": ([(1, 4, 4, 2), (5, 3, 3, 3)], {}, [(1, 4, 4, 5)]),
    "image_conv_input": ([(1, 4, 4, 5), (6, 3, 3, 2)], {}, [(1, 4, 4, 2)]),
    "image_conv_filter": ([(1, 4, 4, 2), (1, 4, 4, 5)], {}, [(5, 3, 3, 3)]),
}


def node(builder, kind, inputs, attrs, outputs):
    values = [builder.node(INPUT, [], [(shape, dtypes.float32)]).out for shape in inputs]
    return builder.node(KINDS[kind], values, [(shape, dtypes.float32) for shape in outputs], alone=True, **attrs)


@pytest.mark.parametrize("kind", WRONG)
def test_a_primitive_that_must_not_be(kind):
    wrong = node(Builder(), kind, *WRONG[kind])
    assert wrong.kind.violation(wrong)


def test_regions_of_something_else():
    builder = Builder()
    place = node(builder, "place", [(2, 3)], {"target": builder.const([1.0]), "offset": (0,)}, [])
    assert place.kind.violation(place)
    whole = node(builder, "assemble", [], {}, [(2, 3)])
    whole.after.append(place)
    assert whole.kind.violation(whole)


def test_every_kind_that_says_what_must_hold_is_looked_at():
    saying = {name for name, kind in KINDS.items() if type(kind).violation is not Kind.violation}
    assert saying == {*WRONG, "place", "assemble"}


def test_an_attribute_that_a_kind_has_not():
    with pytest.raises(AssertionError, match="no attribute"):
        node(Builder(), "cast", [(2,)], {"perm": (0,)}, [(2,)])


def _forget_first(program):
    program.ops = program.ops[1:]


def _turn_round(program):
    program.ops.reverse()


def _turn_nodes_round(program):
    program.nodes.reverse()


def _turn_units_round(program):
    program.units.reverse()


def _run_again(program):
    program.rest.append(program.ops[0])


def _shorten(program):
    next(s for k in program.steps for s in k.body if s.access is not None).access.strides.append(1)


def _turn_steps_round(program):
    program.steps.reverse()


def _turn_loops_round(program):
    import jitgraph as tf

    i = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.placeholder(tf.int32, [], name="i")])
    y = tf.while_loop(lambda j: j < 9, lambda j: j + 2, [i])
    other = compiler.compile(i.graph, [y], feeds={i.graph.get_tensor_by_name("i:0"): ()}, until="abreast")
    program.steps = other.steps[::-1]


def _keep_everything(program):
    program.kept = len(program.steps)


def _end_before(program):
    slot = next(s for s in program.layout.slots if s.kind == "temp")
    slot.first, slot.last = 1, 0


def _rename(program):
    kernel, _ = program.layout.steps[0]
    kernel.params[0].name = "other"


def _leave_a_frame(program):
    import jitgraph as tf

    program.ops = [tf.raw_ops.Enter(data=tf.constant(1), frame_name="frame").op]


def _lose_a_copy(program):
    program.layout.steps = [step for step in program.layout.steps if not isinstance(step, CopyStep) or step.to != HOST]


def _add_a_loop(program):
    import jitgraph as tf

    program.ops.append(tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]).op.inputs[0].op)


SPOILED = {"prune": _forget_first, "raise_frames": _leave_a_frame, "order": _turn_round, "hold": _turn_round, "divide": _add_a_loop,
           "specialize": _run_again, "lower": _turn_nodes_round, "simplify": _turn_nodes_round, "fuse": _turn_units_round,
           "sink": _turn_units_round, "schedule": _shorten, "epilogue": _shorten, "postpone": _turn_steps_round,
           "keep": _keep_everything, "abreast": _turn_loops_round, "place": _end_before, "transfer": _lose_a_copy,
           "emit": _rename, "batch": _lose_a_copy}


@pytest.mark.parametrize("name", [compiler_pass.__name__ for compiler_pass in PASSES])
def test_what_a_pass_must_not_leave(tf, name):
    """Every pass has a check, which finds what would spoil the next one."""
    assert set(CHECKS) == set(SPOILED)
    x = tf.placeholder(tf.float32, [64, 64], name="x")
    y = tf.reduce_sum(tf.matmul(tf.tanh(x), x) * 2.0 + 1.0, 0)
    target = compiler.TARGETS["cuda" if name in ("transfer", "batch") else "cpu"]
    program = compiler.compile(tf.get_default_graph(), [y], feeds={x: (64, 64)}, until=name, target=target)
    verify(program, name)
    SPOILED[name](program)
    with pytest.raises(VerifyError, match=f"after {name}"):
        verify(program, name)


def divided_loop(tf):
    """A program up to `divide`, and the loop in it."""
    i, a = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), [0, 1.0])
    program = compiler.compile(tf.get_default_graph(), [i, a], until="divide")
    return program, next(iter(program.calls.values()))


def test_a_variable_of_a_loop_that_gets_no_next_value(tf):
    program, loop = divided_loop(tf)
    loop.division.targets.pop()
    with pytest.raises(VerifyError, match=r"after divide: an iteration of while/While .* must give \[0, 1\]"):
        verify(program, "divide")


def test_a_sub_program_that_computes_a_tensor_of_another_graph(tf):
    program, loop = divided_loop(tf)
    loop.body.fetches.append(tf.constant(1.0, name="elsewhere"))
    with pytest.raises(VerifyError, match="after divide: .* elsewhere:0, which is not of its graph"):
        verify(program, "divide")
