"""The benchmark of devices: every workload of memory runs on the simulated grid; the table says what was measured."""

import json

import numpy as np
import pytest

import jitgraph as tf
from jitgraph.bench import device
from jitgraph.bench.workloads.models import net_tf1
from jitgraph.cli import device_worker, main
from jitgraph.runtime.cuda import machine

from . import device_share
from .device_share import Zeros

OURS = [name for name in device.workloads() if name not in device.NETWORKS]


@pytest.fixture
def simulated(monkeypatch):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    monkeypatch.setenv("JITGRAPH_JIT", "always")


QUICK = ("device-copy", "device-softmax-1024", "device-columns-1024", "device-run")   # one of each kind of kernel


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in OURS])
def test_ours_runs(simulated, name):
    found = device_worker.answer("jitgraph", name, 0.0, True, device_worker.settle("jitgraph"))
    assert "error" not in found and 0 < found["host"] <= found["median"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", device.NETWORKS)
def test_networks_run(simulated, monkeypatch, name):
    """All that the row of a network asks of the host and of the driver, for kernels that compute nothing but zeros."""
    monkeypatch.setitem(machine._MACHINES, 1, machine.Machine(Zeros()))
    found = device_worker.answer("jitgraph", name, 0.0, True, device_worker.settle("jitgraph"))
    assert "error" not in found and 0 < found["host"] <= found["median"]


def test_values_stay_on_the_device(simulated):
    """A call moves nothing but what the kernels do: one launch, no copies."""
    tf.reset_default_graph()
    call = device.workloads()["device-softmax-1024"].prepare("jitgraph", True)
    call()
    session = next(cell.cell_contents for cell in call.__closure__ if isinstance(cell.cell_contents, tf.Session))
    (compiled,) = session.plans[-1].compiled
    assert len(compiled.launches) == 1 and not compiled.kernels
    kept = session.run("kept:0")
    np.testing.assert_allclose(kept.sum(1), 1, rtol=1e-5)


@pytest.mark.parametrize("name", ["device-product-float16", "device-convolve-float16"])
def test_float16_is_what_products_read(simulated, name):
    """No factor is copied to another type."""
    tf.reset_default_graph()
    call = device.workloads()[name].prepare("jitgraph", True)
    call()
    session = next(cell.cell_contents for cell in call.__closure__ if isinstance(cell.cell_contents, tf.Session))
    kernels = [step.kernel for compiled in session.plans[-1].compiled for step in compiled.launches]
    (product,) = [kernel for kernel in kernels if kernel.kind in ("matmul", "conv")]
    assert {param.dtype for param in product.params if param.use == "in"} == {"f16"}


@pytest.mark.parametrize("peer, products, rounds", [("jitgraph", 1, False), ("jitgraph-own", 0, False), ("jitgraph-tf32", 1, True)])
def test_ours_with_and_without_cublaslt_and_rounding(simulated, monkeypatch, peer, products, rounds):
    for name in ("JITGRAPH_WITHOUT", "JITGRAPH_TF32"):
        monkeypatch.setenv(name, "")            # what the peer sets is undone
    wait = device_worker.settle(peer)
    name = "device-product-float32"
    tf.reset_default_graph()
    call = device.workloads()[name].prepare(device.AS.get(peer, peer), True)
    call()
    wait()
    session = next(cell.cell_contents for cell in call.__closure__ if isinstance(cell.cell_contents, tf.Session))
    (compiled,) = session.plans[-1].compiled
    made = [step.kernel.library for step in compiled.launches if step.kernel.library is not None]
    assert len(made) == products and all(call.short == rounds for call in made)


HALF = ("bert-forward-8", "ptb-dynamic-forward-20", "mobilenet-training-8")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in HALF)) for name in device.MODELS])
def test_products_of_networks_in_float16_read_16_bits(simulated, monkeypatch, name):
    monkeypatch.setattr(net_tf1, "COMPUTED", "float32")
    device_worker.settle("jitgraph-half")
    steps = device_share.planned(name).layout.steps
    kernels = [step.kernel for step in steps if isinstance(step, device_share.DeviceStep)]
    products = [kernel for kernel in kernels if kernel.kind in ("matmul", "conv")]
    assert products and all({param.dtype for param in kernel.params if param.use == "in"} & {"f16"} for kernel in products)


@pytest.mark.parametrize("name", ["bert-training-8", "ptb-dynamic-forward-20"])
def test_networks_in_float16_give_what_they_give_in_float32(monkeypatch, name):
    """But for rounding, and not the very same: they are computed in another type."""
    found = []
    for computed in ("float32", "float16"):
        monkeypatch.setattr(net_tf1, "COMPUTED", computed)
        tf.reset_default_graph()
        call = device.workloads()[name].prepare("jitgraph", True)
        found.append(np.asarray([call() for _ in range(3)], np.float64))
    np.testing.assert_allclose(found[1], found[0], rtol=2e-2, atol=2e-2 * np.abs(found[0]).max())
    assert (found[1] != found[0]).any()


def test_peers_in_float16_measure_the_networks_that_have_a_form_in_it():
    assert all(device.measured(peer, name) for peer in device.HALVES for name in device.MODELS)
    assert not any(device.measured(peer, name) for peer in device.HALVES for name in ("cnn", "device-copy"))
    assert device.measured("torch-tf32", "cnn") and not device.measured("jax", "device-run")


def rows():
    known = device.workloads()
    copied = device.Row(known["device-copy"], 8_000_000, {"jitgraph": {"median": 2e-6, "host": 1e-6}, "torch": {"median": 4e-6}})
    failed = device.Row(known["mlp-128"], 0, {"jitgraph": {"median": 3e-6, "host": 1e-6}, "jax": {"error": "ImportError: no"}})
    chain = device.Row(known["device-chain"], 6_000_000, {"jitgraph": {"median": 2e-6, "host": 1e-6}, "torch": {"median": 1e-6}})
    return [copied, chain, failed]


def test_the_table():
    table = device.markdown(rows(), "Some GPU")
    assert table.startswith("# Some GPU, 20") and "4,000 GB/s" in table
    assert "| 2.0 (100%) | 4.0 (50%) |  | 0.50 | 1.0 |" in table
    assert "| 2.0 (75%) | 1.0 (150%) |  | 2.00 | 1.0 |" in table
    assert "failed" in table and "- mlp-128, jax: ImportError: no" in table
    assert device.as_json(rows(), "Some GPU")["bandwidth"] == 4e12


def test_without_a_driver_one_sentence_says_so(monkeypatch, capsys):
    from jitgraph.runtime.cuda import machine
    from jitgraph.runtime.cuda.driver import NoDriver

    def none(target):
        raise NoDriver("no CUDA driver was found")

    monkeypatch.setattr(machine, "machine_of", none)
    assert main(["bench", "--device", "gpu"]) == 2
    assert capsys.readouterr().err.strip() == "jitgraph: no CUDA driver was found"


def test_the_command_writes_both(simulated, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(device, "PEERS", {"jitgraph": "jitgraph"})
    files = [tmp_path / "gpu.md", tmp_path / "gpu.json"]
    given = ["bench", "--device", "gpu", "--small", "--seconds", "0.01", "--only", "device-run", "--only", "device-copy"]
    assert main([*given, "--markdown", str(files[0]), "--json", str(files[1])]) == 0
    assert "| one Session.run of a counter |" in files[0].read_text() == capsys.readouterr().out.rstrip("\n") + "\n"
    found = json.loads(files[1].read_text())
    assert [row["name"] for row in found["rows"]] == ["device-copy", "device-run"] and found["bandwidth"] > 0


def test_an_unknown_workload():
    with pytest.raises(ValueError, match="no workload for devices is called 'device-x'; there are device-copy"):
        device.choose(["device-x"])
