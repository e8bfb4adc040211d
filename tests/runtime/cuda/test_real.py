"""The real driver as far as it can be looked at without a GPU: by the calls that it makes of the bindings."""
import ast
import ctypes
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from jitgraph.runtime.cuda import driver as calls
from jitgraph.runtime.cuda import fake, real

SOURCE = ast.parse(Path(real.__file__).read_text())


def has_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def test_every_call_of_the_bindings_is_there_with_as_many_arguments():
    bindings = pytest.importorskip("cuda.bindings.driver")
    made = [node for node in ast.walk(SOURCE) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            and re.match("cu[A-Z]", node.func.attr)]
    assert len({node.func.attr for node in made}) > 35
    for node in made:
        stated = re.match(r"\w+\((.*)\)", inspect.getdoc(getattr(bindings, node.func.attr)).splitlines()[0])
        wanted = [one for one in stated.group(1).split(",") if one.strip()]
        assert len(node.args) == len(wanted), f"{node.func.attr}({stated.group(1)})"


def test_every_constant_of_the_bindings_is_there():
    bindings = pytest.importorskip("cuda.bindings.driver")
    named = {node.attr for node in ast.walk(SOURCE) if isinstance(node, ast.Attribute) and node.attr.startswith("CU_")}
    kinds = [bindings, bindings.CUdevice_attribute, bindings.CUstream_flags, bindings.CUstreamCaptureMode]
    assert named and all(any(hasattr(kind, name) for kind in kinds) for name in named)
    assert all(hasattr(bindings.CUresult, name) for name in real.ADVICE)


@pytest.mark.parametrize("one", [fake.FakeDriver, real.RealDriver])
def test_drivers_have_the_calls_that_are_stated(one):
    for name, stated in inspect.getmembers(calls.Driver, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.signature(getattr(one, name)) == inspect.signature(stated), name


@pytest.mark.skipif(has_driver(), reason="there is a driver")
def test_without_a_driver_one_sentence_says_what_to_do():
    pytest.importorskip("cuda.bindings.driver")
    with pytest.raises(calls.NoDriver, match="no CUDA driver was found.*install NVIDIA's driver, 580 or newer") as caught:
        real.RealDriver()
    assert caught.value.__suppress_context__        # the sentence, and not where the library was looked for


def test_without_the_packages(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(calls.NoDriver, match=r"pip install.*jitgraph\[cuda\]"):
        real.RealDriver()


def bindings_that_answer(**answers):
    """Bindings whose calls succeed with what is stated for them."""
    ok = lambda *values: lambda *given: (0, *values)
    found = {"cuInit": ok(), "cuDriverGetVersion": ok(13000), "cuDeviceGetCount": ok(1), "cuDeviceGet": ok(0),
             "cuDevicePrimaryCtxRetain": ok(7), "cuCtxSetCurrent": ok(), "cuGetErrorString": ok(b"as the driver says"),
             "CUresult": SimpleNamespace(CUDA_ERROR_OUT_OF_MEMORY=2), **answers}
    return SimpleNamespace(**found)


@pytest.mark.parametrize("answers, sentence", [
    ({"cuInit": lambda flags: (SimpleNamespace(name="CUDA_ERROR_NO_DEVICE"),)}, "the driver sees no GPU"),
    ({"cuInit": lambda flags: (SimpleNamespace(name="CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),)}, "restart the machine"),
    ({"cuInit": lambda flags: (SimpleNamespace(name="CUDA_ERROR_UNKNOWN"),)}, "CUDA_ERROR_UNKNOWN: as the driver says"),
    ({"cuDriverGetVersion": lambda: (0, 12040)}, "the driver is of CUDA 12.4, and kernels are compiled for 13.0: install"),
    ({"cuDeviceGetCount": lambda: (0, 0)}, "there is no device")])
def test_a_driver_that_does_not_serve(monkeypatch, answers, sentence):
    monkeypatch.setattr(real, "_bindings", lambda: bindings_that_answer(**answers))
    with pytest.raises(calls.NoDriver, match=sentence):
        real.RealDriver()


def test_failing_calls_say_which_and_why(monkeypatch):
    answers = bindings_that_answer(cuMemAlloc=lambda nbytes: (2, 0), cuMemFree=lambda address: (719,))
    monkeypatch.setattr(real, "_bindings", lambda: answers)
    driver = real.RealDriver()
    with pytest.raises(calls.OutOfMemory, match="allocation of 4096 bytes on device 0 failed") as caught:
        driver.alloc(0, 4096)
    assert caught.value.nbytes == 4096
    with pytest.raises(calls.DriverError, match="free failed with 719: as the driver says"):
        driver.free(0, 256)
    with pytest.raises(calls.DriverError, match="there is no device 3: there are 1"):
        driver.alloc(3, 1)


def test_a_kernel_is_compiled_once_and_then_loaded_from_the_store(doubled, monkeypatch, tmp_path):
    pytest.importorskip("cuda.core")
    from jitgraph.compiler.emit import cuda_compile
    from jitgraph.runtime.cuda import code

    monkeypatch.setenv("JITGRAPH_CACHE", str(tmp_path))
    kernel, _ = doubled
    made = code.cubin(kernel, (9, 0))
    assert made.startswith(b"\x7fELF")
    monkeypatch.setattr(cuda_compile, "compile_kernel", lambda *given: pytest.fail("compiled again"))
    assert code.cubin(kernel, (9, 0)) == made
    assert code.parts(kernel, (9, 0)) != code.parts(kernel, (8, 0))


def test_many_kernels_are_compiled_by_other_processes_too(tf, monkeypatch, tmp_path):
    """Each once, into the store, with the code that this process would have made."""
    pytest.importorskip("cuda.core")
    from jitgraph.compiler import TARGETS, compile
    from jitgraph.compiler.place import DeviceStep
    from jitgraph.runtime import compile_process
    from jitgraph.runtime.cuda import code

    monkeypatch.setenv("JITGRAPH_CACHE", str(tmp_path))
    x = tf.placeholder(tf.float32, [40])
    fetches = [tf.exp(x), tf.tanh(x) * 2.0, tf.reduce_sum(x), tf.cumsum(x), tf.exp(x) / 3.0, x[::-1] + 1.0]
    kernels = []
    for fetch in fetches:
        layout = compile(tf.get_default_graph(), [fetch], feeds={x: (40,)}, target=TARGETS["cuda"]).layout
        kernels += [step.kernel for step in layout.steps if isinstance(step, DeviceStep)]
    monkeypatch.setattr(compile_process, "wanted", lambda: True)
    asked, ask = [], compile_process.Helper._ask
    monkeypatch.setattr(compile_process.Helper, "_ask", lambda self, *given: asked.append(given) or ask(self, *given))
    found = code.cubins([*kernels, kernels[0]], (9, 0))
    assert len(found) == len(kernels) + 1 and found[0] == found[-1] and asked
    monkeypatch.setattr(code.cuda_compile, "compile_kernel", lambda *given: pytest.fail("compiled again"))
    assert code.cubins(kernels, (9, 0)) == found[:-1] == [code.cubin(kernel, (9, 0)) for kernel in kernels]
    assert all(made.startswith(b"\x7fELF") for made in found)


def test_importing_jitgraph_and_running_on_the_cpu_touches_no_cuda():
    text = ("import sys, jitgraph as tf; print(tf.Session(jit='always').run(tf.constant(1.0) + 1.0)); "
            "print([m for m in sys.modules if m.split('.')[0] == 'cuda' or m.startswith('jitgraph.runtime.cuda')])")
    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=300).stdout.split("\n")
    assert told[:2] == ["2.0", "[]"]
