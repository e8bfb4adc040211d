"""Symbolic sizes: arithmetic stays symbolic, questions become guards, conversion pins."""
import numpy as np
import pytest

from jitgraph.compiler import sizes
from jitgraph.compiler.emit.bind import Numbers, compile_guards


def test_arithmetic_is_polynomial_and_keeps_the_present_value():
    n = sizes.SizeSpace().symbol(6)
    assert sizes.hint_of((n + 1) * (n - 1) - n * n) == -1
    assert not isinstance((n + 1) * (n - 1) - n * n, sizes.Size)
    assert sizes.same((n * 4) // 4, n) and sizes.same(n * n // n, n)
    assert sizes.hint_of((n + 2) // 4) == 2 and sizes.hint_of(n % 4) == 2


def test_equal_dimensions_share_a_symbol_and_small_ones_are_numbers():
    space = sizes.SizeSpace()
    assert space.symbol(8) is space.symbol(8)
    assert space.symbol(0) == 0 and space.symbol(1) == 1
    assert not space.guards


def test_what_the_polynomial_answers_leaves_no_guard():
    space = sizes.SizeSpace()
    n = space.symbol(5)
    assert n != 1 and n > 0 and n + 1 > n and n != n + 1
    assert space.guards == {}


def test_a_question_becomes_a_guard_and_a_conversion_pins():
    space = sizes.SizeSpace()
    n = space.symbol(5)
    assert n < 10
    valid = compile_guards(space)
    assert valid(9) and not valid(10) and not valid(1)
    assert range(20)[n] == 5
    valid = compile_guards(space)
    assert valid(5) and not valid(6)


@pytest.mark.parametrize("function", [
    lambda n: -n % 32, lambda n: -(-n // 32) * 32 - n, lambda n: -n // 32, lambda n: (-n - 3) // n, lambda n: -5 // n + 1,
    lambda n: (n - 40) // 8, lambda n: -((n - 9) // -7), lambda n: n // -4 + n, lambda n: (n * n - 30) // 3 * (n // 2)])
@pytest.mark.parametrize("question", [lambda x: x < 0, lambda x: x > 1, lambda x: x == 0, lambda x: x >= 2])
def test_answers_without_a_guard_hold_for_all_sizes(function, question):
    """Quotients of what is less than 0 are so too."""
    for first in (2, 5, 20, 32, 63):
        space = sizes.SizeSpace()
        answer = question(function(space.symbol(first)))
        assert answer == question(function(first))
        valid = compile_guards(space)
        assert all(question(function(other)) == answer for other in range(2, 100) if valid(other))


def test_numbers_are_computed_for_any_sizes():
    space = sizes.SizeSpace()
    n, numbers = space.symbol(5), Numbers()
    places = [numbers.add(d) for d in (n * 3 + 1, (n + 63) // 64, 7)]
    dims = numbers.compile(["s0"])
    assert [dims(100)[p] for p in places] == [301, 2, 7]


@pytest.mark.parametrize("function", [lambda n: n % 4, lambda n: -n % 4, lambda n: 9 % n, lambda n: n // 4, lambda n: 9 // n,
                                      lambda n: n % -4])
def test_remainders_of_sizes_are_folded(tf, function):
    x = tf.placeholder(tf.float32, [None])
    y = function(tf.shape(x)[0])
    with tf.Session(jit="always") as session:
        for size in (6, 7, 2, 1):
            assert session.run(y, {x: np.zeros(size)}) == function(np.int32(size))


@pytest.mark.parametrize("function", [lambda tf, x: x[:tf.shape(x)[0] // 2], lambda tf, x: x[(tf.shape(x)[0] - 1) // 3:],
                                      lambda tf, x: tf.reshape(x[:tf.shape(x)[0] // 2 * 2], [-1, tf.shape(x)[0] // 2])])
def test_what_quotients_of_sizes_cut_is_one_program(tf, function):
    x = tf.placeholder(tf.float32, [None])
    y = function(tf, x) * 2.0
    with tf.Session(jit="always") as session, tf.Session(jit="off") as reference:
        for size in (8, 11, 14, 29):
            numbers = np.arange(size, dtype=np.float32)
            np.testing.assert_array_equal(session.run(y, {x: numbers}), reference.run(y, {x: numbers}))
        assert len(session.plans[0].compiled) == 1
