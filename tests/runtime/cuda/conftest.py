"""Drivers to hold to the rules, and kernels to run on them."""
from dataclasses import replace

import pytest


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.gpu)])
def driver(request):
    """Every driver that there is."""
    if request.param == "real":
        from jitgraph.runtime.cuda.real import RealDriver

        return RealDriver()
    from jitgraph.runtime.cuda.fake import FakeDriver

    return FakeDriver()


@pytest.fixture
def fake():
    """make(devices=1, ...): a fake driver."""
    from jitgraph.runtime.cuda.fake import FakeDriver

    return FakeDriver


@pytest.fixture
def all_are_large(monkeypatch):
    """Convolutions of all sizes are worth a library's launch."""
    from jitgraph.compiler.targets import CUDA

    monkeypatch.setattr(type(CUDA), "tuning", replace(CUDA.tuning, library_worth=0, library_exact=0))


@pytest.fixture
def doubled(tf):
    """(kernel, words of its sizes) that writes twice what it reads of 100 floats."""
    from jitgraph.compiler import TARGETS, compile
    from jitgraph.compiler.place import DeviceStep

    x = tf.placeholder(tf.float32, [100], name="x")
    program = compile(tf.get_default_graph(), [x + x], feeds={x: (100,)}, target=TARGETS["cuda"])
    (kernel,) = [step.kernel for step in program.layout.steps if isinstance(step, DeviceStep)]
    return kernel, [int(size) for size in kernel.sizes] + [0]
