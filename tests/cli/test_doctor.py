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
    assert image[1:] == ("pillow not found", doctor.MISSING, f"{sys.executable} -m pip install 'jitgraph[image]'")
