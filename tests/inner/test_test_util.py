"""Decorators of test_util that nothing recorded shows: what they open for a test."""
import importlib


def test_all_tests_of_a_class_have_a_session(tf):
    importlib.import_module("jitgraph.compat").install()
    from tensorflow.python.framework import test_util

    seen = {}

    @test_util.run_all_in_graph_and_eager_modes
    class Case(test_util.TensorFlowTestCase):
        def runTest(self):
            pass

        def testPlain(self):
            seen["plain"] = tf.get_default_session()

        def testSkipEagerGraph(self):
            seen["skips"] = tf.get_default_session()

        def helper(self):
            seen["helper"] = tf.get_default_session()

    case = Case()
    case.testPlain(), case.testSkipEagerGraph(), case.helper()
    assert isinstance(seen["plain"], tf.Session)
    assert seen["skips"] is seen["helper"] is None
