"""Peers are found, turns are taken, failures are told, and results become tables, JSON and pages."""

import io
import json
import os
import sys

import pytest

from jitgraph.bench import measure, peers, report, runner
from jitgraph.bench.runner import Measurement, Row, Scaling
from jitgraph.bench.workload import Workload
from jitgraph.cli import main


def measured(peer, *times, digest=(4, 0.5, 0.5, 0.25), memory=200_000_000):
    one = {"memory": memory, "version": "1.2", "batches": 5, "digest": list(digest)}
    return Measurement(peer, [{**one, "best": t, "median": t} for t in times])


@pytest.fixture
def rows():
    workload = Workload("sample", "a <sample>", goals={"numpy": 0.5, "jax": 1.0})
    return [
        Row(
            workload,
            {
                "jitgraph": measured("jitgraph", 2e-3, 1e-3, 3e-3, memory=100_000_000),
                "numpy": measured("numpy", 3e-3),
                "jax": Measurement("jax", error="ImportError: no jax"),
                "torch": measured("torch", 1.0, digest=(4, 0.6, 0.6, 0.36)),
            },
        )
    ]


def test_rows_compare(rows):
    row = rows[0]
    ours = row.measurements["jitgraph"]
    assert (ours.best, ours.median) == (1e-3, 2e-3)
    assert row.ratio("numpy") == pytest.approx(2 / 3) and row.ratio("numpy", "best") == pytest.approx(1 / 3)
    assert row.ratio("jax") is None and row.ratio("jitgraph") is None
    assert row.differing() == ["torch"]
    assert report.verdict(row) == "numpy 0.5x: no"


def test_table_tells_times_ratios_and_failures(rows):
    from rich.console import Console

    console = Console(width=140, file=io.StringIO(), record=True)
    console.print(report.table(rows))
    text = console.export_text()
    for part in ("a <sample>", "2.00 ms", "0.67x", "3.00 ms", "failed", "numpy 0.5x: no"):
        assert part in text
    remarks = report.remarks(rows)
    assert any("jax failed: ImportError: no jax" in line for line in remarks)
    assert any("result of torch differs" in line for line in remarks)


def test_json_and_page_hold_everything(rows):
    data = json.loads(json.dumps(report.as_json(rows)))
    assert data["workloads"][0]["peers"]["numpy"]["ratio"] == pytest.approx(2 / 3)
    assert data["versions"]["numpy"] == "1.2" and data["machine"]["cores"] >= 1
    page = report.page(rows)
    assert page.count('class="row') == 3 and "a &lt;sample&gt;" in page
    assert 'class="bar cut"' in page, "torch's bar is five hundred times ours"


def test_memory_is_compared_like_time(rows):
    from rich.console import Console

    rows[0].measurements["tensorflow"] = measured("tensorflow", 1.0, memory=400_000_000)
    assert rows[0].ratio("numpy", "memory") == 0.5
    assert report.verdict(rows[0], "memory") == "tensorflow 1.0x: yes", "jax failed, numpy has no goal"
    rows[0].measurements["jax"] = measured("jax", 1.0, memory=90_000_000)
    assert report.verdict(rows[0], "memory") == "tensorflow 1.0x: yes\njax 1.0x: no"
    console = Console(width=140, file=io.StringIO(), record=True)
    console.print(report.memory_table(rows))
    text = console.export_text()
    for part in ("100 MB", "0.25x", "400 MB", "jax 1.0x: no"):
        assert part in text
    page = report.page(rows)
    assert "400 MB" in page and "memory: goal tensorflow 1.0x: yes, jax 1.0x: no" in page
    assert report.as_json(rows)["workloads"][0]["peers"]["tensorflow"]["ratio_of_memory"] == 0.25


def test_scaling_is_told():
    from rich.console import Console

    workload = Workload("sample", "a sample")
    rows = [
        Scaling(workload, 2, measured("jitgraph", 3.6e-3), measured("jitgraph", 2e-3)),
        Scaling(workload, 2, measured("jitgraph", 3.0e-3), measured("jitgraph", 2e-3)),
        Scaling(workload, 2, measured("jitgraph", 3.0e-3), Measurement("jitgraph", error="no")),
    ]
    assert [row.speedup for row in rows] == [pytest.approx(1.8), pytest.approx(1.5), None]
    console = Console(width=140, file=io.StringIO(), record=True)
    console.print(report.scaling_table(rows))
    lines = [line.split()[2:] for line in console.export_text().splitlines() if "a sample" in line]
    assert lines == [
        ["3.60", "ms", "2.00", "ms", "1.80", "yes"],
        ["3.00", "ms", "2.00", "ms", "1.50", "no"],
        ["3.00", "ms", "no"],
    ]
    assert [row["speedup"] for row in report.scaling_as_json(rows)["scaling"]] == [row.speedup for row in rows]


@pytest.mark.skipif(len(runner.cpus()) < 2, reason="needs two cores")
def test_one_core_and_two_take_turns(capsys):
    told = []
    (row,) = runner.scale(["import", "affine"], rounds=2, seconds=0.01, small=True, tell=told.append)
    assert row.workload.name == "affine", "what can be measured but once is left out"
    assert [one.split(", ")[0] for one in told] == ["affine: jitgraph on 1", "affine: jitgraph on 2"] * 2
    assert len(row.one.rounds) == len(row.several.rounds) == 2 and row.speedup > 0
    assert main(["bench", "--scaling", "--only", "import", "--small"]) == 0
    assert "speed-up" in capsys.readouterr().out


def test_scaling_needs_the_cores(capsys):
    with pytest.raises(ValueError, match="4096 cores are to be compared with one"):
        runner.scale(["affine"], cores=4096)
    assert main(["bench", "--scaling", "--peers", "numpy"]) == 2
    assert "leave out --peers" in capsys.readouterr().err


def test_words():
    assert [report.proportion(r) for r in (0.0312, 0.31, 0.999, 1.0, 1.26, 34.4, None)] == [
        "0.031x", "0.31x", "1.0x", "1.0x", "1.3x", "34x", ""
    ]  # fmt: skip
    assert [report.duration(s) for s in (9.996e-6, -5e-6, 1e-3, 0.999, 120)] == [
        "10.0 us",
        "-5.00 us",
        "1.00 ms",
        "999 ms",
        "120 s",
    ]


def test_steady_counts_every_call():
    calls = []
    result = measure.steady(lambda: calls.append(1), seconds=0.02)
    assert 0 < result["best"] <= result["median"] < 1e-3 and result["batches"] >= 5
    assert len(calls) > 1000
    assert measure.single([3.0, 1.0, 2.0]) == {"best": 1.0, "median": 2.0, "batches": 3}


def test_digests_alike():
    assert runner.alike([2, 0.0, 1.0, 1.0], [2, 1e-4, 1.0, 1.0], 1e-3)
    assert not runner.alike([2, 0.0, 1.0, 1.0], [2, 1e-2, 1.0, 1.0], 1e-3)
    assert not runner.alike([2, 0.0, 1.0, 1.0], [3, 0.0, 1.0, 1.0], 1e-3)


def test_peers_are_found():
    assert list(peers.find([]))[:4] == ["jitgraph", "copy", "gemm", "numpy"]
    assert peers.find(["numpy"]) == {"jitgraph": sys.executable, "numpy": sys.executable}
    assert peers.find([f"numpy={sys.executable}"])["numpy"] == sys.executable
    # A link to the interpreter is another interpreter, that is asked.
    assert (
        "numpy" in peers.installed(os.path.realpath(sys.executable))
        or os.path.realpath(sys.executable) != sys.executable
    )


@pytest.mark.parametrize(
    "wanted, message",
    [
        ("nnumpy", "neither a peer nor a Python"),
        ("nnumpy=/usr/bin/env", "no peer is called"),
        ("numpy=/absent", "neither a peer"),
    ],
)
def test_absent_peers_are_told(wanted, message):
    with pytest.raises(ValueError, match=message):
        peers.find([wanted])


def test_patterns_choose_workloads():
    assert runner.choose(["mlp-1*"]) == ["mlp-128", "mlp-1024"]
    assert set(runner.choose([])) == set(runner.STANDARD)
    whole = runner.choose([], models=True)
    assert "resnet50-training-8" in whole and runner.choose(["resnet50-*"]) == [n for n in whole if n.startswith("resnet50-")]
    assert [*runner.choose([], everything=True), *whole] == list(runner.workloads())
    with pytest.raises(ValueError, match="no workload is called 'absent'"):
        runner.choose(["absent"])


def test_command_measures_in_processes(tmp_path, capsys):
    """The whole way, for a workload that needs nothing of ours but the import."""
    files = {"json": tmp_path / "bench.json", "html": tmp_path / "bench.html"}
    options = [f"--{kind}={path}" for kind, path in files.items()]
    assert main(["bench", "--only", "import", "--peers", "numpy", "--rounds", "2", "--small", *options]) == 0
    out = capsys.readouterr().out
    assert "import" in out and "numpy" in out
    peers_measured = json.loads(files["json"].read_text())["workloads"][0]["peers"]
    assert set(peers_measured) == {"jitgraph", "numpy"} and len(peers_measured["numpy"]["rounds"]) == 2
    assert files["html"].read_text().startswith("<!doctype html>")


def test_a_worker_that_fails_or_hangs_is_told():
    rows = list(runner.run(["import"], {"numpy": "/bin/false"}, rounds=2))
    assert rows[0].measurements["numpy"].error == "ended with code 1"
    rows = list(runner.run(["import"], {"numpy": sys.executable}, rounds=1, limit=0.001))
    assert "took longer than" in rows[0].measurements["numpy"].error


def test_wrong_usage_is_told(capsys, tmp_path):
    assert main(["bench", "--only", "absent"]) == 2
    assert main(["bench", "--peers", "absent"]) == 2
    assert main(["bench", "--only", "import", "--json", str(tmp_path / "absent" / "x.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 3
    assert main(["bench", "--list"]) == 0
    assert "mlp-128" in capsys.readouterr().out
