"""Every workload runs at a small size and gives the numbers that NumPy gives."""

import importlib.util
from pathlib import Path

import pytest

import jitgraph
from jitgraph.bench import runner
from jitgraph.bench.workload import MODULES as PEERS
from jitgraph.bench.workloads import MODULES

WORKER = Path(runner.WORKER)
_spec = importlib.util.spec_from_file_location("worker", WORKER)
worker = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(worker)

WORKLOADS = {name: one for name, one in runner.workloads().items() if one.module in MODULES}
STEADY = [name for name, workload in WORKLOADS.items() if workload.kind == "steady"]
IN_PROCESS = ("numpy", "copy", "gemm")


def test_names_are_those_of_the_table():
    assert set(runner.STANDARD) <= set(WORKLOADS)
    for name, workload in WORKLOADS.items():
        assert name == workload.name and workload.module, name
        assert "jitgraph" in workload.functions and set(workload.functions) <= set(PEERS)
        assert set(workload.goals) <= set(workload.functions), "a goal is set against a peer that is measured"


@pytest.mark.parametrize("name", STEADY)
@pytest.mark.parametrize("peer", IN_PROCESS)
def test_numpy_runs(name, peer):
    workload = WORKLOADS[name]
    if peer not in workload.functions:
        pytest.skip(f"{name} is not done in {peer}")
    worker.digest(workload.prepare(peer, small=True)())


@pytest.mark.parametrize("name", STEADY)
def test_jitgraph_gives_numpys_numbers(name):
    """Three runs: by reference, compiled, and again; a training step's loss is that of the same step elsewhere."""
    workload = WORKLOADS[name]
    jitgraph.reset_default_graph()
    try:
        ours = workload.prepare("jitgraph", small=True)
    except AttributeError as missing:
        if name in runner.STANDARD:
            raise
        pytest.skip(str(missing))
    theirs = workload.prepare("numpy", small=True) if "numpy" in workload.functions else None
    for _ in range(3):
        digest = worker.digest(ours())
        if theirs is not None and workload.noise is not None:
            expected = worker.digest(theirs())
            assert runner.alike(digest, expected, workload.noise), (digest, expected)


def test_new_batch_sizes_are_measured():
    jitgraph.reset_default_graph()
    assert len(WORKLOADS["new-batch-size"].prepare("jitgraph", small=True)) == 5
