"""Every op that is lowered: the primitives that it becomes mean what it means, before rules rewrite them and after."""
import numpy as np
import pytest

from jitgraph.compiler import Program, compile
from jitgraph.graph import dtypes

from . import harness
from .meanings import evaluate
from .test_registry import KERNELS


@pytest.mark.parametrize("until", ["lower", "simplify"])
@pytest.mark.parametrize("opdef", [pytest.param(op, id=op.type) for op in KERNELS if not op.stream])
def test_primitives_mean_what_the_op_means(tf, opdef, until):
    for dtype in harness.dtypes_of(opdef):
        for case in harness.cases(opdef, dtype):
            tf.reset_default_graph()
            feeds: dict = {}
            outputs = harness.build(tf, case, "known", feeds)
            if not outputs:
                continue
            program: Program = compile(tf.get_default_graph(), outputs, feeds={t: np.shape(a) for t, a in feeds.items()},
                                       until=until)
            if program.rest:
                continue
            found = evaluate(program, feeds)
            for tensor, wanted in zip(outputs, harness.value(case, outputs[0].op), strict=True):
                got, wanted = found[tensor], np.asarray(wanted)
                if got.dtype == np.float64 and any(v.dtype == dtypes.float32 for node in program.nodes for v in node.outputs):
                    got, wanted = np.float32(got), np.float32(wanted)           # it is computed no more precisely
                harness.assert_close(got, wanted, case, "meaning of the primitives")
