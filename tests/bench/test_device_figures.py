"""What is said without a GPU of the kernels that are timed by bandwidth."""

import functools
import sys

import pytest

from jitgraph.compiler.emit import cuda_compile

from . import device_figures

compiles = pytest.mark.skipif(cuda_compile.missing() is not None, reason=cuda_compile.missing() or "")
QUICK = ("device-columns-1024", "device-transpose")
MOST_ASKED = {"softmax-32768": 1.32, "layernorm": 2.32}     # a part of a long row, and the scales and shifts of all rows, again


def test_the_named_kernels_are_there():
    names = device_figures.names()
    assert {"device-chain", "device-adam", "device-transpose"} <= set(names)
    assert {f"device-{kind}-{length}" for kind in ("softmax", "layernorm", "columns") for length in (1024, 32768)} <= set(names)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK))
                                  for name in device_figures.names()])
def test_instructions_ask_for_the_least(name):
    """Every sector once, but for what `MOST_ASKED` says."""
    asked, least = device_figures.simulated(name)
    most = next((most for part, most in MOST_ASKED.items() if part in name), 1.02)
    assert least <= asked <= most * least


@compiles
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK))
                                  for name in device_figures.names()])
def test_buffers_hold_the_least_and_nothing_is_spilled(name, monkeypatch):
    monkeypatch.setattr(device_figures, "simulated", lambda name: (1, 1))
    row = device_figures.figures(name)
    assert row["least"] <= row["moved"] <= 1.02 * row["least"] and row["launches"] <= 3
    for _, made, threads, loads, stores in row["kernels"]:
        assert made.spilled == made.stack == 0 and threads >= 512
        assert "columns" in name or "transpose" in name or ("16" in loads.split() and stores == "16")
    line = device_figures.table([row]).splitlines()[2]
    assert line.startswith(f"| {row['title']} | {row['launches']} | {row['moved']:,} | ")


def test_what_a_multiprocessor_holds():
    made = cuda_compile.CompiledKernel("k", "", b"", 256, registers=38, shared=0, stack=0, spilled=0)
    assert device_figures.resident(made, 256) == 1536       # 40 registers of 65536
    wide = cuda_compile.CompiledKernel("k", "", b"", 512, registers=92, shared=42368, stack=0, spilled=0)
    assert device_figures.resident(wide, 512) == 512


def test_the_hosts_share_of_a_run(monkeypatch):
    """Microseconds, of a driver that answers at once: a hundred of them would be a fault, whatever the machine is doing."""
    monkeypatch.setattr(device_figures, "host_times", functools.partial(device_figures.host_times, calls=200, repeats=3))
    monkeypatch.setattr(sys, "argv", ["device_figures", "--host"])
    assert device_figures.main() is None
    assert all(0 < seconds < 1e-4 for seconds in device_figures.host_times().values())
