"""The networks of the benchmark, tiny: their results and losses are TensorFlow's, by reference and compiled."""

import json
from pathlib import Path

import pytest

import jitgraph
from jitgraph.bench import runner
from jitgraph.bench.workloads import MODELS

from .test_workloads import worker

WANTED = json.loads((Path(__file__).parent / "data" / "models.json").read_text())
NETWORKS = {name: one for name, one in runner.workloads().items() if one.module in MODELS}
DEEP = ("mobilenet", "inception", "vgg", "densenet")      # their training takes seconds to compile
LONG = ("unet-training-8", "ssd-training-8", "densenet121-forward-1", "inception-v3-forward-1")
CHAOTIC = ("resnet", "inception", "densenet")       # a rounding that turns a ReLU over is seen in the loss after the first step


def cases():
    for name, workload in NETWORKS.items():
        same = [other for other in WANTED if other < name and other.rpartition("-")[0] == name.rpartition("-")[0]]
        if not same:            # of the batches of a forward pass, the tiny ones are the same
            slow = name.startswith(DEEP) and "training" in name or name in LONG
            yield pytest.param(workload, id=name, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize("workload", list(cases()))
def test_a_network_gives_what_it_gives_in_tensorflow(workload):
    jitgraph.reset_default_graph()
    call = workload.prepare("jitgraph", small=True)
    for step, wanted in enumerate(WANTED[workload.name]):
        digest = worker.digest(call())
        comparable = workload.noise is not None and not (step and workload.name.startswith(CHAOTIC))
        assert not comparable or runner.alike(digest, wanted, workload.noise), (digest, wanted)


def test_every_network_has_an_answer():
    assert set(WANTED) == set(NETWORKS)


def test_goals_are_set_against_peers_that_have_the_network():
    assert all(set(one.goals) <= set(one.functions) for one in NETWORKS.values())
