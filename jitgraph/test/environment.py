"""Where tests run: directories, devices, and the way to start them."""
from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from jitgraph.graph.devices import Accelerators


def get_temp_dir() -> str:
    """A directory for temporary files of this process's tests."""
    found = os.environ.get("TEST_TMPDIR") or os.path.join(tempfile.gettempdir(), f"jitgraph-test-{os.getpid()}")
    os.makedirs(found, exist_ok=True)
    return found


def test_src_dir_path(relative_path: str) -> str:
    """The path of a file of the tested sources, relative to TEST_SRCDIR (or the current directory)."""
    return os.path.join(os.environ.get("TEST_SRCDIR", os.getcwd()), relative_path)


test_src_dir_path.__test__ = False      # type: ignore[attr-defined]


def main(argv: Any = None) -> None:
    """Parses the flags and runs the tests of the main module; ends the process, with status 1 if a test fails.

    `argv`: the command line, ``sys.argv`` if not given.  Names of test cases and of tests in it choose among them; with
    ``--benchmarks=PATTERN`` benchmarks run in their place: those of which the full name, ``module.Class.benchmarkThis``, has a
    match, or "all".
    """
    from absl.testing import absltest

    from jitgraph.app.command_flags import run
    from jitgraph.test.benchmark import run_benchmarks

    command_line = sys.argv if argv is None else argv
    found = next((word for word in sys.argv if word.startswith(("--benchmarks=", "-benchmarks="))), None)
    if found is None:
        run(lambda rest: absltest.main(argv=rest), argv=command_line)
    else:
        sys.argv.remove(found)
        run(lambda rest: run_benchmarks(found.split("=")[1]), argv=sys.argv)


def is_built_with_cuda() -> bool:
    """Whether kernels for NVIDIA GPUs can be compiled here."""
    import importlib.util

    return importlib.util.find_spec("numba_cuda") is not None


def is_built_with_gpu_support() -> bool:
    """Whether kernels for some GPU can be compiled here."""
    return is_built_with_cuda()


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether sessions of this process run on a GPU: of this (major, minor) compute capability or a higher one, if it is given."""
    least = tuple(min_cuda_compute_capability or (0, 0))
    return any(kind == "GPU" and capability >= least for _, kind, _, _, capability in Accelerators.found(None))


def gpu_device_name() -> str:
    """The name of the first GPU that sessions run on, "" where they run on the CPU."""
    return next((name for name, kind, *_ in Accelerators.found(None) if kind == "GPU"), "")


def assert_equal_graph_def(actual: Any, expected: Any, checkpoint_v2: bool = False, hash_table_shared_name: bool = False) -> None:
    """Raises AssertionError, naming the first difference, if two GraphDefs have other nodes; their order does not count.

    `checkpoint_v2` and `hash_table_shared_name`: names of temporary files and of tables do not count either.
    """
    for what, given in (("actual", actual), ("expected", expected)):
        if type(given).__name__ != "GraphDef":
            raise TypeError(f"Expected tf.GraphDef for {what}, got {type(given).__name__}")
    ours, theirs = ({node.name: node for node in one.node} for one in (actual, expected))
    for name, node in ours.items():
        if name not in theirs:
            raise AssertionError(f"Found unexpected node {name!r}, of type {node.op}")
        if node.op != theirs[name].op:
            raise AssertionError(f"Node named {name!r} has op {node.op!r} that is not expected {theirs[name].op!r}")
        one, other = (type(node).FromString(n.SerializeToString()) for n in (node, theirs[name]))
        for cleaned in (one, other):
            if hash_table_shared_name and cleaned.op in ("HashTable", "HashTableV2") and "shared_name" in cleaned.attr:
                del cleaned.attr["shared_name"]
            if checkpoint_v2 and cleaned.op == "Const" and "_temp_" in str(cleaned.attr["value"]):
                del cleaned.attr["value"]
        if one != other:
            raise AssertionError(f"Node named {name!r} differs:\n{one}\nexpected:\n{other}")
    missing = sorted({*theirs} - {*ours})
    if missing:
        raise AssertionError(f"Did not find expected node {missing[0]!r}, of type {theirs[missing[0]].op}")


class StubOutForTesting:
    """Puts something in the place of attributes for the time of a test; also a context manager.

    ``Set(parent, name, new)`` replaces any attribute, ``SmartSet`` one that exists (AttributeError otherwise); ``UnsetAll`` and
    ``SmartUnsetAll`` put them back in the opposite order.
    """

    def __init__(self) -> None:
        self._kept: list[tuple] = []
        self._kept_smart: list[tuple] = []

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, *error: Any) -> None:
        self.CleanUp()

    def CleanUp(self) -> None:
        """Puts everything back."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:
        """Replaces an attribute."""
        self._kept.append((parent, vars(parent).get(child_name, getattr(parent, child_name)), child_name))
        setattr(parent, child_name, new_child)

    def UnsetAll(self) -> None:
        """Puts back what ``Set`` replaced."""
        _put_back(self._kept)

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:
        """Replaces an attribute where it is defined: in the object, or the class that it comes from."""
        owner = obj
        if isinstance(obj, type):
            owner = next((cls for cls in obj.__mro__ if attr_name in vars(cls)), obj)
        if not hasattr(owner, attr_name):
            raise AttributeError(f"Attribute not found: {attr_name}")
        self._kept_smart.append((owner, vars(owner).get(attr_name, getattr(owner, attr_name)), attr_name))
        setattr(owner, attr_name, new_attr)

    def SmartUnsetAll(self) -> None:
        """Puts back what ``SmartSet`` replaced."""
        _put_back(self._kept_smart)


def _put_back(kept: list[tuple]) -> None:
    while kept:
        parent, old, name = kept.pop()
        setattr(parent, name, old)


def is_built_with_rocm() -> bool:
    """False: there are no kernels for GPUs of AMD."""
    return False


def create_local_cluster(num_workers: int, num_ps: int, protocol: str = "grpc", worker_config: Any = None,
                         ps_config: Any = None) -> tuple[list, list]:
    """(servers of workers, servers of parameters), all in this process; as ``tf.train.Server`` allows."""
    from jitgraph.train.cluster.cluster_spec import ClusterSpec
    from jitgraph.train.cluster.server import Server

    def ports(count: int) -> list[str]:
        return [f"localhost:{_free_port()}" for _ in range(count)]

    cluster = ClusterSpec({"worker": ports(num_workers), "ps": ports(num_ps)})
    workers = [Server(cluster, job_name="worker", protocol=protocol, task_index=i, config=worker_config, start=True)
               for i in range(num_workers)]
    return workers, [Server(cluster, job_name="ps", protocol=protocol, task_index=i, config=ps_config, start=True)
                     for i in range(num_ps)]


def _free_port() -> int:
    import socket

    with socket.socket() as bound:
        bound.bind(("localhost", 0))
        return bound.getsockname()[1]
