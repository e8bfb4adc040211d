"""What all tests share: a fresh default graph, a store of their own, golden files, and how hard hypothesis searches."""

import _thread
import contextlib
import difflib
import gc
import os
import resource
import signal
import threading
import time
import zlib
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from .guard_pages import guard_pages

hypothesis.settings.register_profile(
    "ci", max_examples=40, deadline=None, derandomize=True, database=None, print_blob=True
)
hypothesis.settings.register_profile(
    "fuzz", max_examples=int(os.environ.get("JITGRAPH_FUZZ_EXAMPLES", "2000")), deadline=None, print_blob=True
)
hypothesis.settings.load_profile("fuzz" if "JITGRAPH_FUZZ_EXAMPLES" in os.environ else "ci")


def pytest_configure(config):
    """Has every pass verified, and refuses to test another checkout than the one that these tests are of: an editable install
    points to one alone."""
    import jitgraph.compiler
    import jitgraph.runtime

    os.environ.setdefault("JITGRAPH_VERIFY", "1")
    root = Path(__file__).resolve().parent.parent
    for module, folder in ((jitgraph, "jitgraph"), (jitgraph.compiler, "compiler"), (jitgraph.runtime, "runtime")):
        found = Path(module.__file__).resolve().parent
        if found != root / folder:
            raise pytest.UsageError(f"these tests are in {root}, but {module.__name__} would be imported from {found}: run them "
                                    "by the Python of this checkout (make test, or .venv/bin/python -m pytest)")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leaves all cases of a test that is `sampled(n)` to `make slow`, but the first and about one of n.  Which ones their names
    tell, so that no value of one parameter falls out."""
    seen = set()
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled is not None:
            test = item.nodeid.partition("[")[0]
            if test in seen and zlib.crc32(item.nodeid.encode()) % sampled.args[0]:
                item.add_marker("slow")
            seen.add(test)


def pytest_collection_finish(session):
    """Tests and modules stay until the end: the collector of garbage need not go through them again and again."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="write the golden files anew instead of comparing with them")


@pytest.fixture(scope="session", autouse=True)
def store_directory(tmp_path_factory):
    """A store of the test run's own, so that no test depends on what this machine compiled before."""
    directory = tmp_path_factory.mktemp("store")
    before = os.environ.get("JITGRAPH_CACHE")
    os.environ["JITGRAPH_CACHE"] = str(directory)
    yield directory
    if before is None:
        del os.environ["JITGRAPH_CACHE"]
    else:
        os.environ["JITGRAPH_CACHE"] = before


@pytest.fixture
def tf():
    """The public module, with an empty default graph.  New variables are references again afterwards: estimators of trees make
    them resources for the whole program, as TensorFlow's do."""
    import jitgraph

    jitgraph.reset_default_graph()
    yield jitgraph
    jitgraph.reset_default_graph()
    jitgraph.disable_resource_variables()


@pytest.fixture
def run(tf):
    """run(fetches, feed_dict=None): initialise the variables, if there are any, and evaluate once in a new session."""

    def _run(fetches, feed_dict=None):
        with tf.Session() as session:
            if tf.global_variables():
                session.run(tf.global_variables_initializer())
            return session.run(fetches, feed_dict)

    return _run


@pytest.fixture
def interrupt():
    """interrupt(call): a Ctrl-C while `call` runs, which ends it soon."""

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)      # a shell's job in the background would ignore it

    def _interrupt(call):
        timer = threading.Timer(0.7, _thread.interrupt_main)
        timer.start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            call()
        assert time.monotonic() - start < 20
        timer.join()

    yield _interrupt
    signal.signal(signal.SIGINT, handler)


@pytest.fixture
def files_no_longer_than():
    """with files_no_longer_than(bytes): as on a disk that is full, the operating system refuses what would make a file longer."""
    @contextlib.contextmanager
    def limited(size):
        before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)

    return limited


@pytest.fixture
def plain_memory():
    """For a test of memory itself, among those that use `guarded_memory`."""


@pytest.fixture
def guarded_memory(request):
    """Memory in which an access out of bounds by a kernel ends the test run."""
    with contextlib.nullcontext() if "plain_memory" in request.fixturenames else guard_pages():
        yield


@pytest.fixture
def rng():
    return np.random.RandomState(1234)


@pytest.fixture
def golden(request):
    """golden(name, text): compare with tests/golden/NAME; `pytest --update` writes the file instead."""
    directory = Path(__file__).parent / "golden"

    def _golden(name, text):
        path = directory / name
        if request.config.getoption("--update"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return
        if not path.exists():
            pytest.fail(f"{path} is not there yet; write it with: pytest --update {request.node.nodeid}")
        expected = path.read_text()
        if text != expected:
            lines = difflib.unified_diff(expected.splitlines(), text.splitlines(), name, "now", lineterm="")
            pytest.fail("differs from the golden file (--update accepts it):\n" + "\n".join(lines), pytrace=False)

    return _golden
