"""`jitgraph doctor` examines every part and never falls ill itself."""

import json
import re
import sys
from pathlib import Path

import pytest

from jitgraph.cli import doctor, main


def test_report_covers_every_part(capsys):
    findings = doctor.report()
    assert {finding.part for finding in findings} == set(doctor.PARTS)
    what = {(finding.part, finding.what) for finding in findings}
    assert {("packages", "numba"), ("CPU", "vector width"), ("threads", "cores"), ("CUDA", "driver")} <= what
    assert all(finding.advice for finding in findings if finding.state != doctor.GOOD)


def test_output_as_text_and_json(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "PARTS", {"CPU": doctor._cpu})
    assert main(["doctor"]) == 0
    assert "vector width" in capsys.readouterr().out
    assert main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["part"] == "CPU"


def test_what_cannot_be_examined_is_a_finding(monkeypatch, capsys):
    def broken():
        raise OSError("no such device")

    monkeypatch.setattr(doctor, "PARTS", {"disk": broken})
    assert main(["doctor"]) == 1
    assert "no such device" in capsys.readouterr().out


@pytest.mark.parametrize(
    "features, bits", [({"avx512f", "avx2", "sse2"}, 512), ({"avx", "sse2"}, 256), ({"neon"}, 128), (set(), 64)]
)
def test_vector_width(features, bits):
    assert doctor.vector_bits(features) == bits


def test_settings_are_checked(monkeypatch):
    monkeypatch.setenv("JITGRAPH_THREADS", "many")
    monkeypatch.setenv("JITGRAPH_THREAD", "2")
    found = {row[0]: row[1:] for row in doctor._settings()}
    assert found["JITGRAPH_THREADS"][:2] == ("'many'", doctor.BROKEN) and "1 or more" in found["JITGRAPH_THREADS"][2]
    assert "no variable is called so" in found["JITGRAPH_THREAD"][2]
    monkeypatch.setenv("JITGRAPH_THREADS", "3")
    assert ("kernel threads", "3, by JITGRAPH_THREADS") in doctor._threads()


def test_every_dependency_and_every_extra_is_listed(monkeypatch):
    tomllib = pytest.importorskip("tomllib")
    asked = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    names = [re.split("[^A-Za-z0-9._-]", line)[0] for line in asked["dependencies"]]
    assert {row[0] for row in doctor._packages()} >= {*names, "Python", "jitgraph"}
    assert {row[0] for row in doctor._extras()} == set(asked["optional-dependencies"])
    monkeypatch.setattr(doctor, "_version", lambda package: None)
    broken = {row[0]: row[2:] for row in doctor._packages() if row[2:]}
    assert set(broken) == set(names)
    assert broken["rich"] == (doctor.BROKEN, f"{sys.executable} -m pip install rich")
    image, = (row for row in doctor._extras() if row[0] == "image")
    assert image[1:] == ("pillow, simplejpeg, pyspng not found", doctor.MISSING,
                         f"{sys.executable} -m pip install 'jitgraph[image]'")


def test_what_was_found_of_a_gpu(monkeypatch):
    from jitgraph.runtime.cuda import fake, real

    monkeypatch.setattr(real, "RealDriver", lambda: fake.FakeDriver(2))
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator:2")
    found = {row[0]: row[1] for row in doctor._cuda()}
    assert found["driver"] == "the simulator of a grid"
    assert found["gpu:1"] == "Simulated GPU 1, compute capability 9.0, 1 multiprocessors, 16384 MB, 16384 MB free"
    assert found["sessions"] == "run on cuda-simulator:2, by JITGRAPH_TARGET"


def test_a_driver_that_does_not_serve_is_told_with_what_to_do(monkeypatch):
    from jitgraph.runtime.cuda import driver, real

    def refuse():
        raise driver.NoDriver("the driver is of CUDA 12.4: install NVIDIA's driver 580 or newer")

    monkeypatch.setattr(real, "RealDriver", refuse)
    (row,) = [row for row in doctor._cuda() if row[0] == "driver"]
    assert row[1:] == ("none that serves", doctor.MISSING, "the driver is of CUDA 12.4: install NVIDIA's driver 580 or newer")


def test_packages_that_do_not_belong_together(monkeypatch):
    """A newer toolkit loads, and writes what the driver refuses."""
    found = {"numba-cuda": "0.30.4", "cuda-toolkit": "13.2.1", "cuda-bindings": "12.9.0"}
    monkeypatch.setattr(doctor, "_version", found.get)
    rows = {row[0]: row[1:] for row in doctor._versions()}
    assert set(rows) == {"cuda-toolkit", "cuda-bindings"}
    told, state, advice = rows["cuda-toolkit"]
    assert told == "13.2.1, and ==13.0.* is needed" and state == doctor.MISSING and "jitgraph[cuda]" in advice


def test_a_device_with_too_little_memory(monkeypatch):
    from jitgraph.runtime.cuda import fake, real

    driver = fake.FakeDriver(2)
    monkeypatch.setattr(driver, "memory", lambda k: ((100 << 20, 16 << 30), (15 << 30, 16 << 30))[k])
    monkeypatch.setattr(real, "RealDriver", lambda: driver)
    rows = {row[0]: row[1:] for row in doctor._driver()}
    assert rows["gpu:0"][0].endswith(", 100 MB free") and rows["gpu:0"][1] == doctor.MISSING and "nvidia-smi" in rows["gpu:0"][2]
    assert len(rows["gpu:1"]) == 1


def test_a_device_that_does_not_exist(monkeypatch):
    from jitgraph.runtime.cuda import fake, real

    monkeypatch.setattr(real, "RealDriver", lambda: fake.FakeDriver(1))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,7")
    rows = {row[0]: row[1:] for row in doctor._driver()}
    assert rows["CUDA_VISIBLE_DEVICES"][:2] == ("0,7, of which 1 serve", doctor.MISSING)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert "CUDA_VISIBLE_DEVICES" not in {row[0] for row in doctor._driver()}


def test_libraries_for_products_and_convolutions(monkeypatch):
    from jitgraph.runtime.cuda import cublaslt, cudnn, fake, installed

    modules = {"library_products": cublaslt, "library_convolutions": cudnn}
    for optimisation, module in modules.items():
        library = fake.FakeDriver().library(0, optimisation)
        monkeypatch.setattr(module, "load", lambda library=library, module=module: (library, f"/lib/{module.__name__}.so"))
    monkeypatch.setenv("JITGRAPH_TF32", "1")
    rows = doctor._libraries()
    assert [row[0] for row in rows] == ["cuBLASLt", "cuDNN", "TF32"]
    assert rows[0][1].startswith("13.0.2, /lib/") and rows[1][1].startswith("9.19.0, /lib/")

    def refuse():
        raise installed.NotFound("neither here nor there")

    for module in modules.values():
        monkeypatch.setattr(module, "load", refuse)
    products, convolutions, _ = doctor._libraries()
    for (_, told, state, todo), extra in ((products, "cublas"), (convolutions, "cudnn")):
        assert "neither here nor there" in told and state == doctor.MISSING and f"jitgraph[{extra}]" in todo


@pytest.mark.parametrize("target, state", [("cuda", doctor.BROKEN), ("cpu", doctor.GOOD), ("cuda-simulator", doctor.GOOD)])
def test_sessions_that_are_to_run_on_a_device_without_a_driver(monkeypatch, target, state):
    from jitgraph.runtime.cuda import driver, real

    def refuse():
        raise driver.NoDriver("no CUDA driver was found")

    monkeypatch.setattr(real, "RealDriver", refuse)
    monkeypatch.setenv("JITGRAPH_TARGET", target)
    (row,) = [doctor.Finding("CUDA", *row) for row in doctor._cuda() if row[0] == "sessions"]
    assert row.state == state and ("JITGRAPH_TARGET=cpu" in row.advice) == (state == doctor.BROKEN)
