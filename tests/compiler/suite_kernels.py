"""Object code of every kernel that a run of tests launches on simulated devices, as a plugin of pytest:

    JITGRAPH_TARGET=cuda-simulator python -m pytest -p tests.compiler.suite_kernels tests/conformance/core

After the tests, each text that a simulated device was given is compiled for two generations of GPUs, and looked at as
`test_cuda_gates` looks at the kernels of its graphs: nothing spilled, no more registers and shared memory than any device has, no
calls, and no float64 in what has only narrower numbers, but for sums, for functions that carry more digits on the way, and for
numbers drawn as TensorFlow draws them.  What does not hold is listed, and the run fails.
"""

from jitgraph.compiler.emit import cuda_compile
from jitgraph.compiler.emit.compile_error import CompileError
from jitgraph.runtime.cuda.fake import FakeDriver

CAPABILITIES = [(8, 0), (9, 0)]
FOLDED = ("add", "mul")
PRECISE = ("sin", "cos", "tan", "lgamma", "digamma", "pow")
_kernels = {}
_object_code = FakeDriver.object_code


def _recorded(driver, kernel, capability):
    _kernels.setdefault((kernel.source, tuple(cuda_compile.argument_codes(kernel))), kernel)
    return _object_code(driver, kernel, capability)


def pytest_configure(config):
    FakeDriver.object_code = _recorded


def faults(kernel, made):
    """What is wrong with the object code of a kernel, in words."""
    found = []
    if made.spilled or made.stack or ".local" in made.ptx:
        found.append(f"{made.spilled} bytes are spilled, of a stack of {made.stack}")
    if made.registers > 128 or made.shared > 48 << 10:
        found.append(f"{made.registers} registers, {made.shared} bytes of shared memory")
    if ".extern" in made.ptx or "call" in made.ptx:
        found.append("something is called")
    if ".f64" in made.ptx and not _may_be_wide(kernel):
        found.append("float64 in a kernel of narrower numbers")
    return found


def _may_be_wide(kernel):
    """Whether a kernel has float64 by right: in its memory or its casts, for sums, or for functions that need it."""
    body = [s for member in (kernel, *kernel.batch) for s in member.body]
    return "f64" in kernel.source or any(param.dtype == "f64" for param in kernel.params) \
        or any(s.prim in PRECISE or s.kind == "reduce" and s.prim in FOLDED for s in body)


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    failed = 0
    for kernel in _kernels.values():
        for capability in CAPABILITIES:
            try:
                found = faults(kernel, cuda_compile.compile_kernel(kernel, capability))
            except CompileError as error:
                found = [str(error).splitlines()[-1]]
            failed += bool(found)
            for fault in found:
                terminalreporter.write_line("{}, sm_{}{}: {}".format(kernel.name, *capability, fault))
    terminalreporter.write_line(f"{len(_kernels)} kernels for {len(CAPABILITIES)} kinds of devices: {failed} faults")
    if failed:
        terminalreporter._session.exitstatus = 1
