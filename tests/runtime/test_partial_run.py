"""partial_run: what runs when, once, and what is refused."""

import pytest


@pytest.fixture
def program(tf):
    """r1 = count(a) + b, r2 = r1 * c, and how often `count` was called."""
    calls = []
    a, b, c = (tf.placeholder(tf.float32, [], name=name) for name in "abc")
    r1 = tf.add(tf.py_func(lambda x: calls.append(1) or x, [a], tf.float32), b)
    return a, b, c, r1, tf.multiply(r1, c), calls


def test_later_calls_go_on_from_earlier_ones(tf, program):
    a, b, c, r1, r2, calls = program
    with tf.Session() as session:
        handle = session.partial_run_setup([r1, r2], [a, b, c])
        assert session.partial_run(handle, r1, {a: 1, b: 2}) == 3.0
        assert session.partial_run(handle, {"r": [r2]}, {c: 3}) == {"r": [9.0]} and len(calls) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup'"):
            session.partial_run(handle, r2)


def test_state_changes_once_and_only_when_needed(tf):
    a, c, v = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, []), tf.Variable(0.0)
    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
        first = a + 0.0
        second = first * c + v
    with tf.Session() as session:
        session.run(v.initializer)
        handle = session.partial_run_setup([first, second], [a, c])
        assert session.run(v) == 0.0
        assert session.partial_run(handle, first, {a: 2}) == 2.0 and session.run(v) == 1.0
        assert session.partial_run(handle, second, {c: 5}) == 11.0 and session.run(v) == 1.0


def test_handles_are_independent_and_names_will_do(tf, program):
    _, b, _, r1, _, _ = program
    with tf.Session() as session:
        handles = [session.partial_run_setup([r1.name], ["a:0", "b:0"]) for _ in range(2)]
        assert [session.partial_run(h, r1.name, {"a:0": k, b: 2}) for k, h in enumerate(handles)] == [2.0, 3.0]


@pytest.mark.parametrize("given, then, message", [
    ({"a": 1, "b": 2}, ("r1", {}), "has already been fetched"), ({"a": 1, "b": 2}, ("r2", {"a": 1}), "has already been fed"),
    ({"a": 1, "b": 2}, ("r2", {}), "can't be computed from the feeds"), ({"a": 1, "b": 2}, ("a", {}), "The fetch a:0 was not")])
def test_what_is_refused(tf, program, given, then, message):
    a, b, c, r1, r2, _ = program
    names = {"a": a, "b": b, "c": c, "r1": r1, "r2": r2}
    with tf.Session() as session:
        handle = session.partial_run_setup([r1, r2], [a, b, c])
        session.partial_run(handle, r1, {names[k]: v for k, v in given.items()})
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.partial_run(handle, names[then[0]], {names[k]: v for k, v in then[1].items()})
        assert session.partial_run(handle, r2, {c: 2}) == 6.0


def test_setup_needs_something_to_fetch(tf, program):
    a, b, _, r1, _, _ = program
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least one target"):
            session.partial_run_setup([], [a])
        handle = session.partial_run_setup([r1], [a])
        with pytest.raises(tf.errors.InvalidArgumentError, match="The feed b:0 was not specified"):
            session.partial_run(handle, r1, {a: 1, b: 2})


def test_what_only_control_edges_ask_for_is_left_out(tf):
    a = tf.placeholder(tf.int32, [])
    with tf.control_dependencies([tf.gather(tf.constant([1, 2]), a)]):
        y = a + 1
    with tf.Session() as session:
        assert session.partial_run(session.partial_run_setup([y], [a]), y, {a: 7}) == 8
