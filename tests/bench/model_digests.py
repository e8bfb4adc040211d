"""What TensorFlow gives for the small networks of the benchmark, as JSON: for tests/bench/data/models.json."""

import importlib
import json
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "jitgraph" / "bench"
RUNS = 3


def main():
    sys.path.insert(0, str(BENCH))
    worker = importlib.import_module("worker")
    worker.load_bench()
    workloads = importlib.import_module("bench.workloads")
    registry = importlib.import_module("bench.workload").REGISTRY
    for module in workloads.MODELS:
        importlib.import_module("bench.workloads." + module)
    found = {}
    import tensorflow.compat.v1 as tf

    for name, workload in registry.items():
        tf.reset_default_graph()
        call = workload.prepare("tensorflow", small=True)
        found[name] = [worker.digest(call()) for _ in range(RUNS)]
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
