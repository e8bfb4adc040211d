"""What a program of primitives computes, by the NumPy meaning of each."""
import numpy as np

from jitgraph.compiler.primitives.assembly import ASSEMBLE
from jitgraph.compiler.primitives.host import HOST
from jitgraph.compiler.primitives.memory import INPUT


def evaluate(program, feeds):
    """The values of the program's results, for {tensor: array}."""
    values = {}
    for node in program.nodes:
        if node.kind is INPUT:
            found = np.asarray(feeds[node.attrs["tensor"]])
        else:
            with np.errstate(all="ignore"):
                found = _meaning(node, values)
        for value, array in zip(node.outputs, found if isinstance(found, tuple) else (found,)):
            assert array.dtype == value.dtype.as_numpy_dtype, f"{node}: {array.dtype}"
            assert array.shape == value.shape or any(node.attrs.get("open", ())), f"{node}: {array.shape}"
            values[value] = array
        if not node.outputs:
            values[node] = found            # a Place, which an Assemble looks for
    return {tensor: values[value] for tensor, value in program.results.items()}


def _meaning(node, values):
    arrays = [values[value] for value in node.inputs]
    if node.kind is HOST and node.attrs["call"] == "op":
        return tuple(np.asarray(one) for one in node.op.opdef.evaluate(arrays, node.op.attrs))
    if node.kind is ASSEMBLE:
        arrays += [values[before] for before in node.after]
    return node.kind.meaning(node, *arrays)
