"""Declarations of ops: builders, inference, errors, NumPy values."""
import inspect

import numpy as np
import pytest

from jitgraph.declare import op as ops
from jitgraph.declare import prim
from jitgraph.declare.op import FLOATS, INDEX, NUMBERS, elementwise, op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.registry import REGISTRY, lookup


@elementwise("TestScale(x: T, y: T; factor: float = 2.0) -> z: T", T=FLOATS, reference=lambda x, y: 2 * x * y)
def scale(x, y, factor):
    """x times y times `factor`."""
    return prim.mul(x, y) * factor


@op("TestTotal(input: T, axes: Tidx; keep_dims: bool = False) -> output: T", T=NUMBERS, Tidx=INDEX,
    shape=shape_rules.reduced)
def total(x, axes, keep_dims):
    """The sum over `axes`."""
    return np.sum(x, axis=tuple(np.ravel(axes)), keepdims=keep_dims, dtype=x.dtype)


@op("TestMany(values: N*T, others: [Ts]; mode: string {\"a\", \"b\"} = \"a\", sizes: list(int) = []) "
    "-> first: T, all: N*T, rest: [Ts]")
def many(values, others):
    """The first value, all values, the others."""
    return values[0], list(values), list(others)


@pytest.fixture(autouse=True, scope="module")
def _registered():
    yield
    for name in ("TestScale", "TestTotal", "TestMany"):
        REGISTRY.pop(name)


def test_a_builder_makes_a_node(tf):
    z = scale([1.0, 2.0], 3.0, factor=4.0, name="s")
    assert (z.name, z.op.type, z.shape.as_list()) == ("s:0", "TestScale", [2])
    assert [t.name for t in z.op.inputs] == ["s/x:0", "s/y:0"]
    assert z.op.attrs == {"T": tf.float32, "factor": 4.0}
    assert scale(1.0, 2.0).name == "TestScale:0" and scale(x=1.0, y=2.0).name == "TestScale_1:0"


def test_positional_attributes_and_name(tf):
    assert total([[1.0]], [0], True).shape.as_list() == [1, 1]
    assert total([[1.0]], [0], True, "here").op.name == "here"
    with pytest.raises(TypeError, match="takes 2 inputs"):
        total([1.0], 0, True, "name", 5)


def test_default_dtypes_of_type_attributes(tf):
    assert total([1.0], []).op.attrs["Tidx"] == tf.int32
    assert total([1.0], tf.constant([0], tf.int64)).op.attrs["Tidx"] == tf.int64


def test_several_outputs_are_a_named_tuple(tf):
    result = many([1.0, 2.0], [tf.constant(3), "x"])
    assert result.first.dtype == tf.float32 and len(result.all) == 2 and type(result).__name__ == "TestMany"
    assert [t.dtype for t in result.rest] == [tf.int32, tf.string]
    assert result.first.op.attrs["N"] == 2 and result.first.op.attrs["Ts"] == [tf.int32, tf.string]


@pytest.mark.parametrize("call, error, text", [
    (lambda tf: scale(tf.constant(1), 2.0), TypeError,
     "Value passed to parameter 'x' has DataType int32 not in list of allowed values: bfloat16, float16"),
    (lambda tf: scale(1.0, tf.constant(1.0, tf.float64)), TypeError,
     "Input 'y' of 'TestScale' Op has type float64 that does not match type float32 of argument 'x'."),
    (lambda tf: scale(1.0, "a"), TypeError, "Expected float32 passed to parameter 'y' of op 'TestScale', got 'a'"),
    (lambda tf: scale(1.0), TypeError, "No argument for input y of op TestScale"),
    (lambda tf: scale(1.0, 2.0, colour=3), TypeError, "unexpected argument 'colour'; its attributes are factor"),
    (lambda tf: scale(1.0, 2.0, factor="a"), TypeError, "Expected float for argument 'factor' not 'a'."),
    (lambda tf: scale(1.0, 2.0, factor=tf.constant(1.0)), TypeError, "Expected float for argument 'factor' not <tf.Tensor"),
    (lambda tf: tf.nn.leaky_relu([1.0], alpha=tf.Variable(0.1)), TypeError, "Expected float for argument 'alpha' not <tf.Var"),
    (lambda tf: total([1.0], 0, keep_dims=1), TypeError, "Expected bool for argument 'keep_dims' not 1."),
    (lambda tf: total([1.0], 3), ValueError, "for 'TestTotal' (op: 'TestTotal') with input shapes: [1], [] and with "
                                             "computed input tensors: input[1] = <3>."),
    (lambda tf: many(1.0, []), TypeError, "Expected list for 'values' argument to 'TestMany' Op, not 1.0."),
    (lambda tf: many([], []), ValueError, "List argument 'values' to 'TestMany' Op with length 0 shorter than minimum"),
    (lambda tf: many([tf.constant(1), tf.constant(1.0)], []), TypeError,
     "Tensors in list passed to 'values' of 'TestMany' Op have types [int32, float32] that don't all match."),
    (lambda tf: many([1], [], mode="c"), ValueError,
     "Attr 'mode' of 'TestMany' Op passed string 'c' not in: \"a\", \"b\"."),
    (lambda tf: many([1], [], sizes=3), TypeError, "Expected list for attr sizes"),
])
def test_errors_of_calls(tf, call, error, text):
    with pytest.raises(error) as caught:
        call(tf)
    assert text in str(caught.value)


def test_values_of_elementwise_ops_broadcast_in_their_dtype():
    x, y = np.ones((2, 1), np.float16), np.ones(3, np.float16)
    (z,) = scale.opdef.evaluate([x, y], {"factor": 2.0, "T": dtypes.float16})
    assert z.shape == (2, 3) and z.dtype == np.float16 and z[0, 0] == 2


def test_values_of_ops_with_lists():
    flat = many.opdef.evaluate([1, 2, "x"], {"N": 2, "Ts": [dtypes.string], "T": dtypes.int32})
    assert flat == (1, 1, 2, "x")


def test_lookup_of_an_unknown_op():
    with pytest.raises(Exception, match=r"Op type not registered 'TestSkale'\. Did you mean TestScale\?"):
        lookup("TestSkale")


def test_documentation_and_signature():
    assert scale.__doc__ == "x times y times `factor`."
    assert str(inspect.signature(scale)) == "(x, y, factor=2.0, name=None)"


def test_two_declarations_of_one_op_are_refused():
    def body(x):
        return x

    body.__module__ = "elsewhere"
    with pytest.raises(ValueError, match="declared twice"):
        op("TestScale(x: T) -> y: T")(body)


def test_gradients_register_with_the_declaration(tf):
    from jitgraph.graph.gradient_registry import gradient_function

    z = scale(1.0, 2.0)
    with pytest.raises(LookupError, match="No gradient defined for operation 'TestScale'"):
        gradient_function(z.op)

    @scale.gradient
    def _(op, grad):
        return [grad, grad]

    assert gradient_function(z.op)(z.op, 1) == [1, 1]
    scale.opdef.grad = ops.NOT_DIFFERENTIABLE
    assert gradient_function(z.op) is None


def test_overrides_and_registered_gradients_come_first(tf):
    from jitgraph.graph import gradient_registry

    @tf.RegisterGradient("TestOverride")
    def _(op, grad):
        return "override"

    try:
        with tf.get_default_graph().gradient_override_map({"TestScale": "TestOverride", "TestTotal": "Missing"}):
            z, t = scale(1.0, 2.0), total([1.0], 0)
        assert gradient_registry.gradient_function(z.op)(z.op, 1) == "override"
        with pytest.raises(LookupError, match="'Missing' is not registered"):
            gradient_registry.gradient_function(t.op)
        with pytest.raises(KeyError, match="Registering two gradient with name 'TestOverride'"):
            tf.RegisterGradient("TestOverride")(lambda op, grad: None)
    finally:
        gradient_registry._registered.pop("TestOverride")
