"""One measurement: run by the interpreter that has the peer, prints one line of JSON.

    python worker.py MODULE WORKLOAD PEER --seconds 1 [--small]

The folder around this file is loaded as the package `bench`, without `jitgraph`, which the interpreter may not have.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def load_bench():
    """Load the folder around this file as the package `bench`.

    Not through sys.path, where the names of the files beside it would hide modules of the peers.
    """
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]
    spec = importlib.util.spec_from_file_location(
        "bench", os.path.join(HERE, "__init__.py"), submodule_search_locations=[HERE]
    )
    sys.modules["bench"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["bench"])


def digest(result):
    """Return some numbers that tell results apart: count, mean, mean magnitude, mean of squares of all arrays in it."""
    import numpy as np

    parts = result if isinstance(result, (list, tuple)) else [result]
    arrays = [np.asarray(part, dtype=np.float64).ravel() for part in parts if part is not None]
    if not arrays or not sum(array.size for array in arrays):
        return []
    values = np.concatenate(arrays)
    return [values.size, float(values.mean()), float(np.abs(values).mean()), float(np.square(values).mean())]


def peak_memory():
    """Return the most memory this process has held, in bytes."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def version(peer):
    """Return the version of a peer's distribution."""
    try:
        from importlib import metadata
    except ImportError:             # Python 3.7, under which TensorFlow 1 runs
        return importlib.import_module(importlib.import_module("bench.workload").MODULES[peer]).__version__

    name = importlib.import_module("bench.workload").MODULES[peer]
    for distribution in (name, name + "-cpu"):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            pass
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("workload")
    parser.add_argument("peer")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    load_bench()
    measure = importlib.import_module("bench.measure")
    registry = importlib.import_module("bench.workload").REGISTRY
    importlib.import_module("bench.workloads." + options.module)
    workload = registry[options.workload]
    prepared = workload.prepare(options.peer, options.small)
    answer = {}
    if workload.kind == "once":
        answer.update(measure.single(prepared))
    else:
        answer["digest"] = digest(prepared())
        answer.update(measure.steady(prepared, options.seconds))
    answer["memory"] = peak_memory()
    answer["version"] = version(options.peer)
    print("\n" + json.dumps(answer), flush=True)
    # Thread pools of peers have been seen to hang or complain at exit; nothing is left to be said.
    os._exit(0)


if __name__ == "__main__":
    main()
