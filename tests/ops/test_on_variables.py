"""Every declared op on variables: what it makes of them, by reference and compiled, is what its declaration says."""
from __future__ import annotations

import numpy as np
import pytest

from jitgraph.graph import dtypes

from . import harness

OPS = [op for op in harness.all_ops() if harness.on_variables(op) and harness.samples_of(op) is not None]


def _is_variable(arg):
    return arg.is_ref or arg.dtype is dtypes.resource


def _some_dtypes(opdef):
    allowed = harness.dtypes_of(opdef)
    return [d for d in allowed if d in (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.complex64,
                                        None)] or allowed


def _variable(tf, arg, array):
    """A variable that holds `array`: (what the op takes, the operation that gives it the value, its value)."""
    dtype = tf.string if array.dtype == object else tf.as_dtype(array.dtype)
    if arg.is_ref:
        ref = tf.raw_ops.VariableV2(shape=array.shape, dtype=dtype)
        return ref, tf.raw_ops.Assign(ref, array).op, ref
    handle = tf.raw_ops.VarHandleOp(dtype=dtype, shape=array.shape)
    assign = tf.raw_ops.AssignVariableOp(handle, array)
    with tf.control_dependencies(None):
        return handle, assign, tf.raw_ops.ReadVariableOp(handle, dtype=dtype)


def _node(tf, case):
    """(the node, the assignments of its variables, their values, in order)"""
    arguments, assignments, values = [], [], []
    for arg, array in zip(case.opdef.inputs, case.inputs):
        if _is_variable(arg):
            taken, assigned, value = _variable(tf, arg, array)
            assignments.append(assigned)
            values.append(value)
            arguments.append(taken)
        else:
            arguments.append(tf.constant(array))
    made = case.opdef.builder(*arguments, **case.attrs)
    return (made if isinstance(made, tf.Operation) else made.op), assignments, values


def _declared(case, node):
    """The values of the variables and of the outputs that the declaration states."""
    opdef = case.opdef
    count = sum(map(_is_variable, opdef.inputs))
    if opdef.state == "read" and (opdef.forwards or not opdef.needs_value):
        return case.inputs[:count], [case.inputs[0] if opdef.forwards else np.array(True)]
    with np.errstate(all="ignore"):
        found = opdef.value(*case.inputs, **opdef.arguments(opdef.value, node.attrs))
    if opdef.state == "read":
        return case.inputs[:count], [found]
    new = found if isinstance(found, tuple) else (found,)
    is_ref = bool(node.outputs) and node.outputs[0].dtype._is_ref_dtype
    return list(new), [new[0] if is_ref else case.inputs[0]] * len(node.outputs)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("opdef", [pytest.param(op, id=op.type) for op in OPS])
def test_variables_and_outputs_are_as_declared(tf, opdef):
    for dtype in _some_dtypes(opdef):
        cases = harness.cases(opdef, dtype)
        if not cases:
            continue
        tf.reset_default_graph()
        made = [_node(tf, case) for case in cases]
        nodes = [node for node, _, _ in made]
        for jit in ("off", "always"):
            with tf.Session(jit=jit) as session:
                session.run([assigned for _, assignments, _ in made for assigned in assignments])
                results = session.run([list(node.outputs) for node in nodes] + nodes)
                after = session.run([values for _, _, values in made])
            for case, node, result, left in zip(cases, nodes, results, after):
                variables, outputs = _declared(case, node)
                for got, wanted in zip(left, variables, strict=True):
                    assert got.dtype == wanted.dtype
                    harness.assert_close(got, wanted, case, f"variable after a run with jit={jit!r}")
                for tensor, got, wanted in zip(node.outputs, result, outputs, strict=True):
                    assert got.dtype == tensor.dtype.base_dtype.as_numpy_dtype and tensor.shape.is_compatible_with(got.shape)
                    harness.assert_close(got, wanted, case, f"output with jit={jit!r}")
