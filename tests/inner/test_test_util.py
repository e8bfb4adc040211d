"""Decorators of test_util that nothing recorded shows: what they open for a test."""
import importlib
import unittest

import pytest


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


@pytest.fixture
def test_util(tf):
    importlib.import_module("jitgraph.compat").install()
    return importlib.import_module("tensorflow.python.framework.test_util")


def test_tests_for_other_machines_are_skipped(test_util, monkeypatch):
    class Case(test_util.TensorFlowTestCase):
        @test_util.run_gpu_only
        def testGpu(self):
            pass

        @test_util.run_v2_only
        def testV2(self):
            pass

    monkeypatch.setattr("jitgraph.inner.test_util.is_gpu_available", lambda: False)
    with pytest.raises(unittest.SkipTest, match="requires GPU"):
        Case("testGpu").testGpu()
    with pytest.raises(unittest.SkipTest, match="v2"):
        Case("testV2").testV2()
    with pytest.raises(ValueError, match="not classes"):
        test_util.run_cuda_only(Case)


def test_tests_for_another_control_flow_run_as_they_are(test_util):
    @test_util.with_control_flow_v2
    @test_util.for_all_test_methods(test_util.disable_xla, "no reason")
    class Case(test_util.TensorFlowTestCase):
        @test_util.enable_control_flow_v2
        @test_util.xla_allow_fallback("no reason")
        def testOne(self):
            return "ran"

    assert Case("testOne").testOne() == "ran"


def test_for_all_test_methods_decorates_each_test(test_util):
    def named(word):
        return lambda test: lambda self: (word, test(self))

    @test_util.for_all_test_methods(named, "seen")
    class Case(test_util.TensorFlowTestCase):
        def testOne(self):
            return 1

        def helper(self):
            return 2

    case = Case("testOne")
    assert (case.testOne(), case.helper()) == (("seen", 1), 2)


def test_layouts_of_images(tf, test_util):
    image = tf.constant(list(range(24)), shape=[1, 2, 3, 4])
    first = test_util.NHWCToNCHW(image)
    assert first.shape.as_list() == test_util.NHWCToNCHW([1, 2, 3, 4]) == [1, 4, 2, 3]
    with tf.Session() as session:
        assert session.run(first)[0, 3, 1, 2] == 23
        assert (session.run(test_util.NCHWToNHWC(first)) == session.run(image)).all()
    assert test_util.NCHWToNHWC(test_util.NHWCToNCHW([1, 2, 3, 4, 5])) == [1, 2, 3, 4, 5]


def test_assert_ops_in_graph(tf, test_util):
    with tf.Graph().as_default() as graph, test_util.force_cpu():
        tf.add(1, 2, name="sum")
    assert test_util.assert_ops_in_graph({"sum": "Add"}, graph)["sum"].device == "/device:CPU:0"
    with pytest.raises(ValueError, match="different"):
        test_util.assert_ops_in_graph({"sum": "Mul"}, graph)
    with pytest.raises(ValueError, match="not found"):
        test_util.assert_ops_in_graph({"product": "Mul"}, graph)


def test_device_takes_whether_it_is_a_gpu(tf, test_util, monkeypatch):
    monkeypatch.setattr("jitgraph.inner.test_util.is_gpu_available", lambda: True)
    for use_gpu, kind in ((True, "GPU"), (False, "CPU")):
        with test_util.device(use_gpu=use_gpu):
            assert tf.constant(1).device == f"/device:{kind}:0"
