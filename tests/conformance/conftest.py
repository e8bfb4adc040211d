"""Fixtures of the conformance suite: one library under test, a fresh default graph per test.

The environment variable JITGRAPH_CONFORMANCE_MODULE names the library (default ``jitgraph``). With the value
``tensorflow`` the suite runs on a real TensorFlow, which is how its expectations were validated: a 1.x release as it is,
a 2.x release through ``tensorflow.compat.v1`` with v2 behaviour disabled.

Markers: ``tf1_only`` uses an API that TensorFlow 2.x no longer has (validated on TensorFlow 1.15.5 where it is not in
``core``); ``beyond_tf`` states a promise of jitgraph that TensorFlow does not give.
"""
import importlib
import os

import numpy as np
import pytest

MODULE = os.environ.get("JITGRAPH_CONFORMANCE_MODULE", "jitgraph")
_loaded = {}


def _load():
    if "tf" not in _loaded:
        _loaded["generation"] = None
        if MODULE == "tensorflow":
            os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
            os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
            import tensorflow as module
            _loaded["generation"] = int(module.__version__.split(".")[0])
            if _loaded["generation"] > 1:
                import tensorflow.compat.v1 as module
                module.disable_v2_behavior()
                module.logging.set_verbosity(module.logging.ERROR)
            else:
                module.compat.v1.logging.set_verbosity(module.compat.v1.logging.ERROR)
        else:
            module = importlib.import_module(MODULE)
        _loaded["tf"] = module
    return _loaded["tf"]


def pytest_configure(config):
    config.addinivalue_line("markers", "tf1_only: needs an API that TensorFlow 2.x has removed")
    config.addinivalue_line("markers", "beyond_tf: a jitgraph guarantee that TensorFlow does not give")


def pytest_collection_modifyitems(config, items):
    if MODULE != "tensorflow" or os.environ.get("JITGRAPH_CONFORMANCE_FORCE"):
        return
    _load()
    skipped = ["beyond_tf"] + (["tf1_only"] if _loaded["generation"] > 1 else [])
    for item in items:
        for marker in skipped:
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason="%s: not on this TensorFlow" % marker))


@pytest.fixture(autouse=True, params=["always", "off"] if MODULE == "jitgraph" else [None])
def jit(request, monkeypatch):
    """Every test runs compiled and by the reference."""
    if request.param:
        monkeypatch.setenv("JITGRAPH_JIT", request.param)


@pytest.fixture
def tf():
    """The API module, with an empty default graph."""
    module = _load()
    module.reset_default_graph()
    yield module
    module.reset_default_graph()


@pytest.fixture
def run(tf):
    """run(fetches, feed_dict=None): initialize the variables if there are any, evaluate once."""
    def _run(fetches, feed_dict=None):
        with tf.Session() as sess:
            if tf.global_variables():
                sess.run(tf.global_variables_initializer())
            if tf.local_variables():
                sess.run(tf.local_variables_initializer())
            return sess.run(fetches, feed_dict)
    return _run


@pytest.fixture
def evaluate(tf):
    """evaluate(fetches, feed_dict=None): initialize everything (tables too) in a new session, then run."""
    def _evaluate(fetches, feed_dict=None):
        with tf.Session() as sess:
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
            return sess.run(fetches, feed_dict)
    return _evaluate


@pytest.fixture
def submodule():
    """submodule("python.client.timeline"): that module of TensorFlow, as the library under test provides it."""
    def _submodule(dotted):
        _load()
        if MODULE != "tensorflow":
            importlib.import_module(MODULE + ".compat").install()  # `import tensorflow` now means jitgraph
        return importlib.import_module("tensorflow." + dotted)
    return _submodule


@pytest.fixture
def rng():
    return np.random.RandomState(1234)
