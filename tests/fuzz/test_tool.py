"""The tool that compares with TensorFlow: what it writes, how it compares and how it shrinks."""
import numpy as np
import pytest

from .differential import answers, compare, faults, generate, roundings, shrink, source


@pytest.mark.parametrize("kind", generate.KINDS)
def test_a_seed_is_a_program_that_can_be_read(kind):
    program = generate.program(3, kind)
    assert program == generate.program(3, kind) != generate.program(4, kind)
    compile(source.source(program), kind, "exec")


def test_nothing_is_fed_that_others_wait_for():
    """A fed operation does not run, so that what comes after it would come at any time."""
    fed = 0
    for seed in range(200):
        program = generate.program(seed, "state")
        over = set(program["runs"][0]["feed"]) - {s["out"] for s in program["statements"] if s["op"] == "placeholder"}
        assert not over & {name for s in program["statements"] for name in s.get("after", ())}, seed
        fed += bool(over)
    assert fed > 5


def test_most_programs_are_built(tf):
    programs = [generate.program(seed, kind) for kind in generate.KINDS for seed in range(5)]
    failed = [answers.answer(tf, p, lambda: tf.Session(jit="off"))["build"] for p in programs]
    assert sum(any(build) for build in failed) < len(programs) / 5


def test_a_few_roundings_are_no_difference():
    one, near, far = (answers.plain(np.float32([1, x])) for x in (1e-3, 1.01e-3, 2e-3))
    assert compare.difference(one, near) is None and "1 of 2 values differ, first at [1]" in compare.difference(one, far)
    assert compare.difference(dict(one, moved=np.float64([0, 1e-3])), far) is None      # as ill-conditioned as that
    assert compare.difference(dict(one, moved=np.float64([1e-3, 0])), far)
    assert compare.difference(dict(one, wide=np.float64([1, 2e-3])), far) is None       # nearer to the truth than TensorFlow
    assert compare.difference(dict(one, wide=np.float64([1, 3e-3])), far)
    assert compare.difference(answers.plain(np.int32([1])), answers.plain(np.int64([1]))) == "dtype int64, not int32"
    nan, inf = (answers.plain(np.float32([x])) for x in (np.nan, np.inf))
    assert compare.difference(nan, nan) is None and compare.difference(nan, inf)


def moves(tf, function, *arrays, dtype=np.float32):
    """How far rounding moves the elements of a function of tensors."""
    inputs = [tf.placeholder(dtype, np.shape(a)) for a in arrays]
    fetch, feeds = function(*inputs), dict(zip(inputs, arrays))
    with tf.Session(jit="off") as session:
        plain, *others = [session.run(fetch, feeds).astype(np.float64)]
        for seed in range(roundings.TRIALS):
            with roundings.moved(seed):
                others.append(session.run(fetch, feeds).astype(np.float64))
    return roundings.spread(plain, others)


UNIT = 2.0**-23


@pytest.mark.parametrize("what, function, arrays, least, most", [
    ("a root", "tf.sqrt(x)", [[2.0, 3.0]], UNIT / 4, 8 * UNIT),
    ("an exact root", "tf.sqrt(x)", [[4.0, 9.0]], 0, 0),
    ("sums of whole numbers", "tf.reduce_sum(x) - x", [[4.0, 9.0]], 0, 0),
    ("terms that cancel", "(1 / x + 1e4) - 1e4", [[3.0, 7.0]], 1e4 * UNIT / 8, 1e5 * UNIT),
    ("a sum of many terms", "tf.reduce_sum(x)", [np.sqrt(np.linspace(0, 2.25, 4097))], 4097 * 8 * UNIT, 4097 * 200 * UNIT),
    ("a row that adds up to 1", "tf.reduce_sum(tf.nn.softmax(x)) - 1", [np.linspace(0, 1, 4097)], 8 * UNIT, 500 * UNIT),
    ("a mean of equal numbers", "tf.reduce_mean(x) - x[0]", [np.full(4097, 0.7615942, np.float32)], UNIT / 4, 400 * UNIT),
    ("a mean of whole numbers", "tf.reduce_mean(x) - 3", [np.full(4096, 3.0)], 0, 0),
    ("what is lost in a sum", "tf.reduce_sum(x)", [[1e-30, -1.0, 0.0, 1e-30, 1.0, 1e-30]], UNIT / 4, 64 * UNIT),
    ("the signs of a singular matrix", "tf.gradients(tf.reduce_sum(tf.svd(x, compute_uv=False)), x)[0][:, 1]",
     [[[4.0, 0.0], [3.5, 0.0]]], 0.3, 3),
    ("the signs of others", "tf.gradients(tf.reduce_sum(tf.svd(x, compute_uv=False)), x)[0]",
     [[[4.0, 0.5], [3.5, 2.0]]], UNIT / 64, 64 * UNIT),
    ("a saturated tanh", "1 - tf.square(tf.tanh(x))", [[9.8]], UNIT / 4, 16 * UNIT),
    ("pixels between others", "tf.image.resize_bicubic(x[None, :, :, None], [5, 7])[0]", [[[1.0, -3.0, 2.5], [4.0, -1.0, 0.5]]],
     UNIT / 64, 64 * UNIT),
    ("terms that are gone", "tf.matmul([[1.75, -0.75, -1.0]], tf.tanh(x))", [[[1.0], [1.0], [1.0]]], UNIT / 8, 16 * UNIT),
    ("whole terms that are gone", "tf.matmul([[1.75, -0.75, -1.0]], x)", [[[4.0], [4.0], [4.0]]], 0, 0),
    ("two of them", "(lambda y: y[0] - y[1])(tf.tanh(x))", [[9.8, 10.2]], UNIT / 4, 16 * UNIT),
    ("two that are the same", "(lambda y: y[0] - y[1])(tf.tanh(x))", [[9.8, 9.8]], 0, 0),
    ("two in different places", "(lambda y: y[0] - y[1])(tf.exp(x))", [[1.8, 1.8]], UNIT / 4, 64 * UNIT),
    ("which of two is the least", "tf.gradients(tf.reduce_min(tf.nn.lrn(x[:, None, None, None])), x)[0]", [[1.8, 1.8]], 0.02, 1),
    ("a small divisor", "1e-6 / (tf.exp(x) - tf.exp(x + 1e-6))", [[1.0]], 0.01, 10),
    ("its gradient", "tf.gradients(tf.log(tf.exp(x) - 1), x)[0]", [[1e-3]], 0.02, 100),
    ("each of the elements", "tf.exp(x)", [[0.0, 10.0]], np.float64([0, 1e4 * UNIT / 2]), np.float64([0, 1e6 * UNIT]))])
def test_how_far_rounding_moves(tf, what, function, arrays, least, most):
    found = moves(tf, lambda x: eval(function, {"tf": tf, "x": x}), *arrays)
    assert (least <= found).all() and (found <= most).all(), found


def test_an_error_is_not_taken_for_rounding(tf):
    """A formula that is wrong by one part in a thousand, where rounding moves the right one by less."""
    x = np.linspace(0.5, 3, 50, dtype=np.float32)
    right, wrong = (lambda x: tf.exp(x) - 1), (lambda x: 1.001 * tf.exp(x) - 1)
    allowed = roundings.ALLOWED * moves(tf, right, x)
    assert (allowed < 0.001 * np.exp(x)).all() and (roundings.ALLOWED * moves(tf, wrong, x) < 0.001 * np.exp(x)).all()


def test_what_tensorflow_computes_wrongly_is_left_out_and_nothing_else():
    def statement(op, out, *names):
        return {"op": op, "in": [{"t": n} for n in names], "out": out}

    gradients = {"op": "gradients", "in": [[{"t": "angle"}], [{"t": "x"}]], "out": ["slope"]}
    statements = [statement("placeholder", "x"), statement("atan2", "angle", "x", "x"), gradients,
                  statement("tanh", "of_slope", "slope"), statement("tanh", "of_angle", "angle")]
    run = {"fetch": ["of_slope", "of_angle"], "feed": {"x": {}, "slope": {}}}
    found = faults.comparable({"statements": statements, "runs": [run]})
    assert [s["out"] for s in found["statements"]] == ["x", "angle", "of_angle"]
    assert found["runs"] == [{"fetch": ["of_angle"], "feed": {"x": {}}}]
    twice = [*statements[:1], statement("matrix_determinant", "angle", "x"), *statements[2:]]
    once = faults.comparable({"statements": twice, "runs": [run]})
    assert len(once["statements"]) == 5                                 # its first gradient is right
    again = {"op": "gradients", "in": [[{"t": "of_slope"}], [{"t": "x"}]], "out": ["curve"]}
    assert len(faults.comparable({"statements": [*twice, again], "runs": [run]})["statements"]) == 5


def test_floor_divisions_of_the_lowest_integer_are_left_out():
    def statement(op, out, *given):
        return {"op": op, "in": [{"t": n} for n in given], "out": out}

    statements = [statement("placeholder", "x"), statement("unsorted_segment_max", "most", "x"),
                  statement("square", "of_most", "most"), statement("div", "wrong", "of_most", "x"),
                  statement("div", "right", "x", "x"), statement("tanh", "below", "wrong")]
    run = {"fetch": ["of_most", "right", "below"], "feed": {"x": {}}}
    found = faults.comparable({"statements": statements, "runs": [run]})
    assert [s["out"] for s in found["statements"]] == ["x", "most", "of_most", "right"]


@pytest.mark.parametrize("padding, value, left", [("SAME", np.nan, ["y"]), ("SAME", 1.0, ["y", "g", "z"]),
                                                  ("VALID", np.nan, ["y", "g", "z"])])
def test_whether_a_nan_is_multiplied_by_padding_is_chance(padding, value, left):
    statements = [{"op": "nn.conv3d", "in": [], "out": "y", "with": {"padding": padding}},
                  {"op": "gradients", "in": [[{"t": "y"}], []], "out": ["g"]},
                  {"op": "tanh", "in": [{"t": "g"}], "out": "z"}]

    class Answering:
        def ask(self, program):
            values = {n: answers.plain(np.float32(1 if n == "y" else value)) for n in program["runs"][0]["fetch"]}
            return {"build": [None] * 3, "static": {}, "runs": [{"values": values}]}

    run = {"fetch": ["y", "g", "z"], "feed": {}}
    asked, _ = faults.answered(Answering(), {"statements": statements, "runs": [run]})
    assert asked["runs"][0]["fetch"] == left


@pytest.mark.parametrize("op, runs", [("random_normal", 2), ("square", 3)])
def test_what_is_drawn_after_a_failed_run_is_chance(op, runs):
    class Failing:
        def ask(self, program):
            return {"build": [None], "static": {}, "runs": [{"values": {}}, {"error": "InvalidArgumentError"}, {"values": {}}]}

    run = {"fetch": ["y"], "feed": {}}
    asked, answer = faults.answered(Failing(), {"statements": [{"op": op, "out": "y"}], "runs": [run] * 3})
    assert len(asked["runs"]) == len(answer["runs"]) == runs


def test_a_program_that_differs_is_made_small():
    program = generate.program(1, "elementwise")
    culprit = program["statements"][-1]["op"]
    program["runs"] = [dict(run, fetch=[program["statements"][-1]["out"]]) for run in program["runs"]]
    small = shrink.shrink(program, lambda p: any(s["op"] == culprit for s in p["statements"]))
    assert len(small["runs"]) == 1 and len(small["statements"]) <= len(program["statements"])
    assert all(shrink.needed(small)["statements"])


@pytest.mark.parametrize("loop, drawn", [("while_loop", []), ("tanh", ["z"])])
def test_what_is_drawn_after_a_gradient_that_a_loop_refuses_is_chance(loop, drawn):
    statements = [{"op": loop, "in": [], "out": "y"}, {"op": "gradients", "in": [[{"t": "y"}], []], "out": ["g"]},
                  {"op": "random_normal", "in": [], "out": "x", "with": {"seed": 1}},
                  {"op": "random_normal", "in": [], "out": "z"}]

    class Refusing:
        def ask(self, program):
            failures = ["LookupError: no gradient" if s["op"] == "gradients" else None for s in program["statements"]]
            return {"build": failures, "static": {}, "runs": [{"values": {}}]}

    run = {"fetch": ["x", "z"], "feed": {}}
    asked, _ = faults.answered(Refusing(), {"statements": statements, "runs": [run]})
    assert asked["runs"][0]["fetch"] == ["x", *drawn]
