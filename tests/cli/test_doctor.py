"""`jitgraph doctor` examines every part and never falls ill itself."""

import json

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


def test_threads_setting_is_checked(monkeypatch):
    monkeypatch.setenv("JITGRAPH_THREADS", "many")
    assert any(row[2:3] == (doctor.BROKEN,) for row in doctor._threads())
    monkeypatch.setenv("JITGRAPH_THREADS", "3")
    assert ("kernel threads", "3, by JITGRAPH_THREADS") in doctor._threads()
