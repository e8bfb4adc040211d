"""How a loop counts follows from a few scalars; another run with others counts otherwise, by whatever the last one counted."""
import numpy as np
import pytest

from jitgraph.compiler.loops.expressions import Counter
from jitgraph.runtime.loop_courses import Condition, Courses
from jitgraph.tensor_arrays.tensor_array_values import by_equal_steps, span

KINDS = pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])


@KINDS
def test_each_run_counts_by_its_own_start_step_and_end(tf, dtype):
    start, step, end, bound = (tf.placeholder(dtype, [], name=name) for name in ("start", "step", "end", "bound"))
    y = tf.placeholder(tf.float32, [8])
    _, count, last = tf.while_loop(
        lambda i, n, y: tf.logical_and(tf.not_equal(i, end), n < tf.cast(bound, tf.int32) * 2),
        lambda i, n, y: (i + step, n + 1, tf.tanh(y) + tf.cast(i, tf.float32)), [start, 0, y])

    def counted(first, by, until, at_most):
        i, n, value = np.array(first, dtype), 0, np.ones(8, np.float32)
        while i != until and n < 2 * at_most:
            value, n = np.tanh(value) + np.float32(i), n + 1
            with np.errstate(over="ignore"):
                i = (i + np.array(by, dtype)).astype(dtype)
        return n, value
    with tf.Session() as session:
        runs = [(0, 1, 30, 100), (0, 1, 30, 100), (0, 1, 20, 100), (3, 1, 20, 100), (0, 2, 20, 100), (0, 2, 20, 3), (20, 1, 20, 9),
                (5, 1, 120, 100), (120, 7, 0, 25), (0, 1, 30, 100), (0, 3, 1, 100)]
        for run in runs * 2:
            found = session.run([count, last], dict(zip((start, step, end, bound, y), (*run, np.ones(8)))))
            n, value = counted(*run)
            assert found[0] == n, run
            np.testing.assert_allclose(found[1], value, rtol=1e-5, err_msg=str(run))


def test_a_sum_over_rows_in_the_order_that_the_run_says(tf):
    x, first, step = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    size = tf.shape(x)[0]
    rows = tf.TensorArray(tf.float32, size, clear_after_read=False).unstack(x)
    out = tf.TensorArray(tf.float32, size)
    _, _, total, out = tf.while_loop(
        lambda k, i, total, out: k < size,
        lambda k, i, total, out: (k + 1, i + step, 0.5 * total + rows.read(i), out.write(i, total)),
        [0, first, tf.zeros([4]), out])
    written, gradient = out.stack(), tf.gradients(total, x)[0]
    with tf.Session() as session:
        for count in (5, 9, 5, 300, 4):
            data = np.random.RandomState(count).rand(count, 4).astype(np.float32)
            for begin, by in ((0, 1), (count - 1, -1)) * 2:
                found = session.run([total, written, gradient], {x: data, first: begin, step: by})
                wanted, before, weights = np.zeros(4, np.float32), np.zeros_like(data), np.zeros_like(data)
                for k in range(count):
                    i = begin + by * k
                    before[i], wanted = wanted, 0.5 * wanted + data[i]
                    weights[i] = 0.5 ** (count - 1 - k)
                for one, other in zip(found, (wanted, before, weights)):
                    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_what_a_course_follows_from_is_asked_at_each_run():
    """The condition is asked again only where one of its scalars, a counter or a step is another."""
    asked = []
    condition = Condition(lambda values: True, lambda values: asked.append(1) or values[0] < values[2],
                          lambda values: (values[2].item(),))
    courses = Courses([Counter(0, None, lambda values, fed: values[1])])
    for begin, step, end, count in ((0, 1, 5, 5), (0, 1, 5, 5), (0, 1, 7, 7), (0, 2, 7, 4), (1, 2, 7, 3), (1, 2, 7, 3)):
        course = courses.ahead([np.int32(begin), np.int32(step), np.int32(end)], condition, 10)
        assert (course.count, course.ended, course.ranges[0]) == (count, True, range(begin, begin + step * count, step))
        assert course.numbers[0].tolist() == list(range(begin, begin + step * count + 1, step))
    assert len(asked) == 4
    assert not courses.ahead([np.int32(0), np.int32(1), np.int32(70)], condition, 10).ended


@pytest.mark.parametrize("numbers", [[3], [0, 1, 2], [5, 4, 3], [2, 4, 6], [0, 0], [0, 1, 3], [1, 0, 1], [-1, 0], [7, 8], []])
@pytest.mark.parametrize("many", [False, True])
def test_numbers_as_a_range_are_the_same_numbers(numbers, many):
    if many and len(numbers) > 2:
        numbers = [numbers[0] + (numbers[1] - numbers[0]) * k for k in range(300)] + [numbers[-1] - 1000 * (numbers[2] == 3)]
    for given in (numbers, np.array(numbers, np.int32), np.array(numbers, np.int64)):
        found = by_equal_steps(given)
        assert [*map(int, found)] == numbers
        where = span(given, 8)
        if where is not None:
            assert np.arange(8)[where].tolist() == numbers
        else:
            steps = {b - a for a, b in zip(numbers, numbers[1:])}
            assert not numbers or len(steps) > 1 or steps and not steps <= {1, -1} or min(numbers) < 0 or max(numbers) > 7
