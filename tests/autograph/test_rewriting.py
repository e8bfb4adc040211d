"""What is rewritten and what is not, where errors point, and what is said."""
import functools
import traceback
from pathlib import Path

import pytest


def _searched(items, wanted):
    for item in items:
        if item == wanted:
            found = "there"
            break
    else:
        found = "nowhere"
    return found


def _counted_down(n):
    while n > 0:
        n -= 1
    else:
        n -= 10
    return n


def _walrus(text):
    while (place := text.find("a")) >= 0:
        text = text[place + 1:]
    return text


def _first_error(values):
    for value in values:
        try:
            1 / value
        except ZeroDivisionError:
            return "zero"
        finally:
            values = []
    return values


def _outer(x):
    total = 0

    def add():
        nonlocal total
        total += 1

    for _ in range(3):
        add()
    return total + x


def _fails(x):
    if x > 0:
        y = x + 1
        raise RuntimeError(y)
    return x


class _Shape:
    def area(self):
        return 2


class _Square(_Shape):
    def area(self):
        def twice(x):
            if x > 1:
                return super().area() * x if False else super(_Square, self).area() * x
            return x
        return twice(super().area())


def _sliced(x, n):
    if n > 0:
        first, *rest = [x, n, n]
        x = first + len(rest)
    return x


def _deleted(x):
    if x:
        y = 1
        del y
    return x


@pytest.mark.parametrize("function, arguments", [
    (_searched, ([1, 2], 2)), (_searched, ([1, 2], 3)), (_counted_down, (3,)), (_first_error, ([1, 0],)), (_first_error, ([],)),
    (_outer, (4,)), (lambda: _Square().area(), ()), (_sliced, (3, 1)), (functools.partial(_sliced, 3), (0,))])
def test_python_is_as_before(tf, function, arguments):
    from jitgraph.autograph.conversion import call_converted
    from jitgraph.autograph.features import Options

    assert call_converted(function, Options.of(None), arguments, {}) == function(*arguments)


def test_the_else_of_a_loop_is_kept(tf):
    """TensorFlow 1.15 loses it."""
    n = tf.autograph.to_graph(_counted_down)(tf.constant(3))
    with tf.Session() as session:
        assert session.run(n) == -10


@pytest.mark.parametrize("function", [_walrus, _deleted])
def test_what_cannot_be_rewritten_is_called_as_it_is(tf, function, caplog):
    made = tf.function(lambda: tf.constant(str(function("banana"))))
    with tf.Session() as session:
        assert session.run(made()) == str(function("banana")).encode()
    assert "could not be transformed and will be executed as-is" in caplog.text
    with pytest.raises(NotImplementedError):
        tf.autograph.to_graph(function)


def test_two_lambdas_of_a_line_are_told_apart_by_what_they_read(tf):
    data = tf.data.Dataset.range(4).map(lambda x: x * 2 if x > 1 else x).map(lambda x: abs(x) if x > 3 else -x)
    with tf.Session() as session:
        get = data.make_one_shot_iterator().get_next()
        assert [session.run(get) for _ in range(4)] == [0, -1, 4, 6]


def test_errors_point_to_the_lines_of_the_program(tf):
    with pytest.raises(RuntimeError) as caught:
        tf.autograph.to_graph(_fails)(tf.constant(1))
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert Path(frame.filename) == Path(__file__) and frame.line == "raise RuntimeError(y)"
    op = caught.value.args[0].op
    assert any(Path(one[0]) == Path(__file__) and one[3] == "y = x + 1" for one in op.traceback)


def test_the_text_of_a_function(tf):
    text = tf.autograph.to_code(_counted_down)
    assert text.startswith("def tf___counted_down(n):") and "ag__.while_stmt(loop_test, loop_body," in text
    with pytest.raises(Exception, match="Unable to locate the source code") as caught:
        namespace = {}
        exec("def f(x): return x", namespace)
        tf.autograph.to_code(namespace["f"])
    assert type(caught.value).__name__ == "ConversionError"


def test_verbosity(tf, capsys):
    tf.autograph.set_verbosity(2, True)
    try:
        tf.autograph.to_graph(lambda n: n + 2)
    finally:
        tf.autograph.set_verbosity(0)
    tf.autograph.trace("seen", 3)
    printed = capsys.readouterr().out
    assert "Converting <function" in printed and "return n + 2" in printed and printed.endswith("seen 3\n")


def test_features(tf):
    feature = tf.autograph.experimental.Feature
    assert feature.ALL not in feature.all_but(feature.LISTS) and len(feature.all_but([feature.LISTS])) == 5
    from jitgraph.autograph.features import Options

    assert Options.of(feature.ALL).uses(feature.LISTS) and not Options.of(None).uses(feature.LISTS)
