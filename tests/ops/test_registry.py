"""Every declared op: value against reference, shape rule and kernel against value, gradient against differences.

Whoever declares an op gets these tests.  Where random inputs do not do, the declaration says how inputs look
(``samples=``, see ``jitgraph.declare.samples``).
"""
from __future__ import annotations

import os

import numpy as np
import pytest

from jitgraph.compiler.infer import Info, apply_rule
from jitgraph.graph import dtypes

from . import harness

OPS = harness.all_ops()
WITH_CASES = [op for op in OPS if harness.samples_of(op) is not None and not harness.on_variables(op)]
KERNELS = [op for op in WITH_CASES if (op.scalar or op.lower) and not op.host]
THOROUGH = bool(os.environ.get("JITGRAPH_TEST_ALL_DTYPES"))


def _parameters(ops):
    return [pytest.param(op, id=op.type) for op in ops]


@pytest.mark.parametrize("opdef", _parameters(op for op in WITH_CASES if op.reference))
def test_value_is_that_of_the_reference(tf, opdef):
    for dtype in harness.dtypes_of(opdef):
        for case in harness.cases(opdef, dtype):
            node = _node(tf, case)
            wanted = harness.reference(case, node)
            for got, one in zip(harness.value(case, node), wanted, strict=True):
                harness.assert_close(got, np.asarray(one).astype(got.dtype), case, "value")


def _node(tf, case):
    made = harness.build(tf, case)
    return made[0].op if made else tf.get_default_graph().get_operations()[-1]


@pytest.mark.parametrize("opdef", _parameters(WITH_CASES))
def test_shapes_and_dtypes_are_those_of_the_value(tf, opdef):
    for dtype in harness.dtypes_of(opdef):
        for case in harness.cases(opdef, dtype):
            node = _node(tf, case)
            values = harness.value(case, node)
            assert len(values) == len(node.outputs)
            for tensor, got in zip(node.outputs, values):
                assert np.dtype(tensor.dtype.as_numpy_dtype) == np.asarray(got).dtype, f"dtype of {case}"
            for kind in ("constant", "known", "sizes unknown", "rank unknown"):
                for tensor, got in zip(harness.build(tf, case, kind), values):
                    assert tensor.shape.is_compatible_with(np.shape(got)), \
                        f"{case} with {kind} inputs: rule {tensor.shape}, value {np.shape(got)}"
                    if kind == "constant" and not opdef.dynamic and opdef.scalar:
                        assert tensor.shape.as_list() == list(np.shape(got))


@pytest.mark.parametrize("opdef", _parameters(op for op in WITH_CASES if op.shape and not op.dynamic and not op.calls))
def test_a_run_knows_all_shapes_from_its_inputs(tf, opdef):
    """What is not known before the op runs ends a compiled program there."""
    for case in harness.cases(opdef, harness.dtypes_of(opdef)[0])[:1]:
        node = _node(tf, case)
        arrays = [a for x in case.inputs for a in (x if isinstance(x, list) else [x])]
        inputs = [Info(t.dtype.base_dtype, np.shape(a), a if t.dtype.is_integer else None) for t, a in zip(node.inputs, arrays)]
        for shape, value in zip(apply_rule(node, inputs), harness.value(case, node), strict=True):
            assert shape is not None and tuple(shape) == np.shape(value), f"{case}: rule {shape}, value {np.shape(value)}"


def _compiled_dtypes(opdef):
    """All dtypes take minutes to compile; by default a float, an integer and a bool one stand for their kinds."""
    allowed = harness.dtypes_of(opdef)
    if THOROUGH:
        return allowed
    some = [d for d in allowed if d in (dtypes.float32, dtypes.int32, dtypes.bool_, None)]
    return some or allowed[:1]


@pytest.fixture
def compiled_session(tf, monkeypatch, guarded_memory):
    """A session that compiles at the first run."""
    try:
        import jitgraph.runtime.session  # noqa: F401
    except ImportError as error:
        pytest.skip(f"the runtime is not there: {error}")
    monkeypatch.setenv("JITGRAPH_JIT", "always")
    return tf.Session


def _strided(array):
    """The same array, not contiguous."""
    return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim and array.dtype != object else array


@pytest.mark.parametrize("opdef", _parameters(KERNELS))
def test_kernel_computes_the_value(tf, compiled_session, opdef):
    for dtype in _compiled_dtypes(opdef):
        tf.reset_default_graph()
        fetches, feeds, wanted, cases = [], {}, [], []
        for case in harness.cases(opdef, dtype):
            outputs = harness.build(tf, case, "known", feeds)
            if not outputs:
                continue
            fetches.extend(outputs)
            wanted.extend(harness.value(case, outputs[0].op))
            cases.extend([case] * len(outputs))
        if not fetches:         # there are no samples of this dtype
            continue
        for arrays in (feeds, {tensor: _strided(array) for tensor, array in feeds.items()}):
            with compiled_session() as session:
                for got, one, case in zip(session.run(fetches, arrays), wanted, cases):
                    assert np.asarray(got).dtype == np.asarray(one).dtype, f"dtype of the kernel of {case}"
                    harness.assert_close(got, one, case, "kernel")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("opdef", _parameters(KERNELS))
def test_kernel_of_sizes_that_the_run_computes(tf, compiled_session, opdef):
    """As above, where no size of an input is known before the run, and none is the size of a feed."""
    for dtype in _compiled_dtypes(opdef)[:1]:
        tf.reset_default_graph()
        fetches, feeds, wanted, cases = [], {}, [], []
        for case in harness.cases(opdef, dtype):
            outputs = harness.build(tf, case, "sizes computed", feeds)
            fetches.extend(outputs)
            wanted.extend(harness.value(case, outputs[0].op) if outputs else ())
            cases.extend([case] * len(outputs))
        with compiled_session() as session:
            for got, one, case in zip(session.run(fetches, feeds), wanted, cases):
                harness.assert_close(got, one, case, "kernel")


# TensorFlow's gradient is zero, which is right for real numbers only; or the results are real numbers of a complex dtype
REAL_ONLY = {"Sign", "LogMatrixDeterminant", "Svd"}
# its own gradient is an op that has no float64
SINGLE_GRADIENT = {"MaxPool3DGradGrad"}


@pytest.mark.parametrize("opdef", _parameters(op for op in WITH_CASES if harness.differentiable(op) and not op.stream
                                             and not op.gradient_differs))
def test_gradient_is_that_of_differences(tf, monkeypatch, opdef):
    monkeypatch.setenv("JITGRAPH_JIT", "off")
    allowed = harness.dtypes_of(opdef)
    checked = 0
    for dtype in _precise(opdef, allowed):
        if dtype not in allowed or dtype is not None and dtype.is_complex and opdef.type in REAL_ONLY:
            continue
        for case in harness.cases(opdef, dtype):
            tf.reset_default_graph()
            feeds: dict = {}
            outputs = harness.build(tf, case, "known", feeds)
            values = harness.value(case, outputs[0].op) if outputs else ()
            for tensor, array in feeds.items():
                for output, result in zip(outputs, values):
                    checked += _check_gradient(tf, case, tensor, array, output, np.shape(result), feeds)
    if not checked:
        pytest.skip("every gradient is None")


def _precise(opdef, allowed):
    """float64 and complex128, or where the op has neither (or its gradient has not), float32."""
    if opdef.type in SINGLE_GRADIENT or not {dtypes.float64, dtypes.complex128} & set(allowed):
        return (dtypes.float32, None)
    return (dtypes.float64, dtypes.complex128)


def _check_gradient(tf, case, x, array, y, y_shape, feeds):
    if not array.size or array.dtype.kind not in "fc" or not (y.dtype.is_floating or y.dtype.is_complex):
        return 0
    if case.opdef.gradient_of is not None and y.value_index not in case.opdef.gradient_of:
        return 0
    try:
        if tf.gradients(y, x, tf.constant(np.ones(y_shape, y.dtype.as_numpy_dtype)))[0] is None:
            return 0
    except LookupError as error:
        pytest.skip(str(error))
    others = {t: a for t, a in feeds.items() if t is not x}
    precise = min(array.dtype.type(0).real.dtype.itemsize, y.dtype.as_numpy_dtype(0).real.dtype.itemsize) == 8
    delta, allowed = (1e-6, 1e-5) if precise else (1e-3, 1e-2 * max(1, float(np.abs(array).max())))
    with tf.Session():
        error = tf.test.compute_gradient_error(x, array.shape, y, y_shape, x_init_value=array, delta=delta,
                                               extra_feed_dict=others)
    assert error < allowed, f"gradient of {case} with respect to {x.name}: off by {error}; inputs {case.inputs}"
    return 1
