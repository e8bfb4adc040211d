"""Inputs that do not go together are refused by the reference and by compiled code alike, in the same words.

Walks the registry: the inputs of an op's first case, one of them changed in shape, or an integer in value.
"""
import numpy as np
import pytest

from . import harness

OPS = [op for op in harness.all_ops() if harness.samples_of(op) is not None and op.lower and not op.host
       and not harness.on_variables(op)]
WRITERS = [op for op in harness.all_ops() if op.state == "write" and harness.on_variables(op)
           and harness.samples_of(op) is not None]


def changes(array):
    """The array in other shapes, and with other integers."""
    if array.dtype == object:
        return
    for axis in range(array.ndim):
        if array.shape[axis]:
            yield np.concatenate([array, np.take(array, [0], axis)], axis)
            yield np.take(array, range(array.shape[axis] - 1), axis)
    if array.ndim and array.shape[0]:
        yield array[0]
    yield array[None]
    if array.dtype in (np.int32, np.int64) and array.size:
        for value in (-7, 1000):
            other = array.copy()
            other.flat[-1] = value
            yield other


def variations(inputs):
    for position, one in enumerate(inputs):
        parts = one if isinstance(one, list) else [one]
        for changed in changes(parts[-1]) if parts else ():
            other = [*parts[:-1], changed] if isinstance(one, list) else changed
            yield [*inputs[:position], other, *inputs[position + 1:]]


def outcome(tf, case, jit):
    """What a run of a node with inputs of unknown rank ends in: shapes, or class and message of an error."""
    with tf.Graph().as_default(), tf.Session(jit=jit) as session:
        feeds: dict = {}
        outputs = harness.build(tf, case, "rank unknown", feeds)
        try:
            return [np.shape(value) for value in session.run(outputs, feeds)]
        except tf.errors.OpError as error:
            return type(error).__name__, str(error).partition("\n\t [[node")[0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("opdef", [pytest.param(op, id=op.type) for op in OPS])
def test_both_refuse_in_the_same_words(tf, opdef):
    dtypes = harness.dtypes_of(opdef)
    dtype = next((d for d in dtypes if d is None or d.name == "float32"), dtypes[0])
    for case in harness.cases(opdef, dtype)[:1]:
        for inputs in list(variations(case.inputs))[:16]:
            other = harness.Case(opdef, dtype, inputs, case.attrs)
            assert outcome(tf, other, "off") == outcome(tf, other, "always"), str(other)


def after_an_update(tf, case, jit):
    """What an op makes of its variables where nothing is known of its other inputs: their values, or class and message of an
    error, after which they must be as before."""
    with tf.Graph().as_default(), tf.Session(jit=jit) as session:
        variables, feeds, arguments = [], {}, []
        for arg, array in zip(case.opdef.inputs, case.inputs):
            if arg.is_ref or arg.dtype is tf.resource:
                variable = tf.get_variable(f"v{len(variables)}", initializer=array, use_resource=not arg.is_ref)
                variables.append(variable)
                arguments.append(variable._ref() if arg.is_ref else variable.handle)
            else:
                arguments.append(tf.placeholder(tf.as_dtype(array.dtype)))
                feeds[arguments[-1]] = array
        node = case.opdef.builder(*arguments, **case.attrs)
        session.run(tf.global_variables_initializer())
        try:
            session.run(node if isinstance(node, tf.Operation) else node.op, feeds)
        except tf.errors.OpError as error:
            for variable, before in zip(variables, case.inputs):
                np.testing.assert_array_equal(session.run(variable), before)
            return type(error).__name__, str(error).partition("\n\t [[node")[0]
        return [np.shape(session.run(variable)) for variable in variables]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("opdef", [pytest.param(op, id=op.type) for op in WRITERS])
def test_both_refuse_updates_in_the_same_words(tf, opdef):
    """And nobody broadcasts a gradient, or reads behind its end."""
    dtypes = harness.dtypes_of(opdef)
    dtype = next((d for d in dtypes if d is None or d.name == "float32"), dtypes[0])
    count = sum(arg.is_ref or arg.dtype is tf.resource for arg in opdef.inputs)
    for case in harness.cases(opdef, dtype)[:1]:
        for position, one in enumerate(case.inputs[count:], count):
            for changed in list(changes(one))[:8]:
                other = harness.Case(opdef, dtype, [*case.inputs[:position], changed, *case.inputs[position + 1:]], case.attrs)
                found = after_an_update(tf, other, "off")
                assert found == after_an_update(tf, other, "always"), str(other)
                if opdef.type.removeprefix("Resource").startswith(("Apply", "SparseApply")) and changed.shape != one.shape:
                    assert found[0] == "InvalidArgumentError", str(other)


@pytest.mark.parametrize("make, feed, message", [
    (lambda tf, x: tf.matmul(x, tf.ones([4, 2])), np.ones([3, 5]), r"In\[0\] mismatch In\[1\] shape: 5 vs. 4: \[3,5\] \[4,2\] 0 0"),
    (lambda tf, x: tf.matmul(tf.ensure_shape(x, [None, None]), tf.ones([4, 2])), np.ones([3, 5]),
     r"Matrix size-incompatible: In\[0\]: \[3,5\], In\[1\]: \[4,2\]"),
    (lambda tf, x: x + tf.ones([2, 3]), np.ones([3, 3]), r"Incompatible shapes: \[3,3\] vs. \[2,3\]"),
    (lambda tf, x: tf.split(x, 2)[0], np.ones([3, 3]), "Number of ways to split should evenly divide the split dimension"),
    (lambda tf, x: tf.stack([x, tf.ones([2, 3])]), np.ones([3, 3]), "Shapes of all inputs must match: values"),
    (lambda tf, x: tf.reshape(x, [4]), np.ones([3]), "Input to reshape is a tensor with 3 values, but the requested shape has 4"),
    (lambda tf, x: tf.add_n([x, tf.ones([2, 3])]), np.ones([1, 3]), "Dimension 0 in both shapes must be equal, but are 1 and 2"),
])
def test_a_first_and_a_later_run_say_the_same(tf, make, feed, message):
    """And so do functions of make_callable."""
    x = tf.placeholder(tf.float32)
    y = make(tf, x)
    said = set()
    with tf.Session() as session:
        run = session.make_callable(y, [x])
        for go in (lambda: session.run(y, {x: feed}), lambda: session.run(y, {x: feed}), lambda: run(feed), lambda: run(feed)):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message) as caught:
                go()
            said.add(str(caught.value))
    assert len(said) == 1
