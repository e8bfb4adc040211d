"""tf.test: the test case with sessions and assertions on arrays, benchmarks, stubs, graphs compared."""
import collections
import os
import subprocess
import sys
import unittest

import numpy as np
import pytest
from absl.testing import absltest

from jitgraph.protobuf.messages import BenchmarkEntries


@pytest.fixture
def case(tf):
    class Case(tf.test.TestCase):
        def runTest(self):
            pass

    made = Case()
    made.setUp()
    yield made
    made.tearDown()


def test_sessions_and_seeds(tf, case):
    assert tf.get_default_graph().seed == 87654321
    x = tf.constant([1.0, 2.0])
    with case.session() as session:
        assert tf.get_default_session() is session
        assert case.evaluate({"a": x, "b": [x + 1]})["b"][0].tolist() == [2.0, 3.0]
    with case.cached_session() as first, case.cached_session() as again:
        assert first is again and x.eval().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="different"), case.cached_session(graph=tf.Graph()):
        pass
    with pytest.raises(ValueError, match="different"), case.cached_session(config=tf.ConfigProto()):
        pass
    with case.test_session(config=tf.ConfigProto()) as again:      # the older one does not ask
        assert again is first
    with case.test_session(graph=tf.Graph()) as other:
        assert other is not first


def test_a_case_begins_outside_of_all_graphs(tf, case):
    """The fixtures of GPflow's tests enter a session around each of them."""
    with tf.Session(graph=tf.Graph()) as session:
        case.setUp()
        assert tf.constant(1.0).graph is not session.graph and tf.get_default_session() is session
    assert tf.get_default_graph() is not session.graph


def test_close(tf, case):
    case.assertAllClose([1.0, 2.0], tf.constant([1.0, 2.0 + 1e-7]))
    case.assertAllClose({"a": [1.0], "b": (2.0, [3.0, float("nan")])}, {"a": [1.0], "b": (2.0, [3.0, float("nan")])})
    Point = collections.namedtuple("Point", "x y")
    case.assertAllClose(Point(1.0, 2.0), Point(1.0, 2.0))
    with pytest.raises(AssertionError, match="not close where"):
        case.assertAllClose([1.0, 2.0], [1.0, 2.1])
    with pytest.raises(AssertionError, match="Shape mismatch"):
        case.assertAllClose([1.0, 2.0], [[1.0, 2.0]])
    with pytest.raises(AssertionError, match="mismatched keys"):
        case.assertAllClose({"a": 1}, {"b": 1})
    with pytest.raises(ValueError, match="dict to non-dict"):
        case.assertAllClose({"a": 1}, [1])
    case.assertNotAllClose([1.0], [1.1])
    case.assertAllCloseAccordingToType(np.float16([1.0]), np.float16([1.0009]))
    with pytest.raises(AssertionError):
        case.assertAllCloseAccordingToType(np.float32([1.0]), np.float32([1.0009]))


def test_equal(tf, case):
    case.assertAllEqual(tf.constant([1, 2]), [1, 2])
    case.assertAllEqual([np.nan, 1.0], [np.nan, 1.0])
    case.assertAllEqual([b"a"], tf.constant(["a"]))
    with pytest.raises(AssertionError, match=r"not equal lhs = \[2\]"):
        case.assertAllEqual([1, 2], [1, 3])
    case.assertNotAllEqual([1], [2])
    case.assertShapeEqual(np.zeros([2, 3]), tf.zeros([2, 3]))
    case.assertDTypeEqual(tf.zeros([1]), np.float32)
    case.assertDeviceEqual("/cpu:0", "/device:CPU:0")
    case.assertNear(1.0, 1.05, 0.1)
    case.assertArrayNear([1.0], [1.05], 0.1)
    case.assertNDArrayNear(np.ones(2), np.ones(2), 1e-6)


def test_order_and_membership(tf, case):
    case.assertAllGreater(tf.constant([1, 2]), 0)
    case.assertAllInRange([0.0, 1.0], 0, 1)
    case.assertAllInSet([1, 1], {1, 2})
    case.assertLen([1], 1), case.assertEmpty([]), case.assertNotEmpty([1]), case.assertStartsWith("abc", "ab")
    with pytest.raises(AssertionError, match=r"expected all in \[0, 1\)"):
        case.assertAllInRange([0.0, 1.0], 0, 1, open_upper_bound=True)
    with pytest.raises(AssertionError, match="expected all <= 1"):
        case.assertAllLessEqual([1, 2], 1)
    with pytest.raises(AssertionError, match="not in the set"):
        case.assertAllInSet([3], [1])


def test_errors_and_messages(tf, case):
    x = tf.placeholder(tf.float32, [], "x")
    with case.session() as session, case.assertRaisesOpError("must feed a value"):
        session.run(x)
    with case.assertRaisesWithPredicateMatch(ValueError, lambda e: "b" in str(e)):
        raise ValueError("b")
    with pytest.raises(AssertionError, match="not raised"), case.assertRaisesOpError("x"):
        pass
    case.assertProtoEquals("name: 'a' op: 'B'", tf.NodeDef(name="a", op="B"))
    with pytest.raises(AssertionError):
        case.assertProtoEquals("name: 'a'", tf.NodeDef(name="b"))


def test_checked_threads(tf, case):
    def fail():
        raise RuntimeError("inside")

    thread = case.checkedThread(fail)
    thread.start()
    with pytest.raises(AssertionError, match="inside"):
        thread.join()


def test_written_to_a_stream(tf, case, capfd):
    with capfd.disabled(), case.captureWritesToStream(sys.stderr) as written:
        os.write(2, b"to stderr")
        assert "to stderr" in written.contents()


def test_graphs_are_compared_by_node(tf):
    def graph(value, order=(0, 1)):
        with tf.Graph().as_default() as made:
            for k in order:
                tf.constant([value, 3.0][k], name=f"c{k}")
        return made.as_graph_def()

    tf.test.assert_equal_graph_def(graph(1.0), graph(1.0, (1, 0)))
    with pytest.raises(AssertionError, match="c0"):
        tf.test.assert_equal_graph_def(graph(1.0), graph(2.0))
    with pytest.raises(AssertionError, match="Did not find expected node 'c1'"):
        tf.test.assert_equal_graph_def(graph(1.0, (0,)), graph(1.0))


def test_stubs(tf):
    class Thing:
        value = 1

    with tf.test.StubOutForTesting() as stubs:
        stubs.Set(Thing, "value", 2)
        stubs.SmartSet(os, "getcwd", lambda: "nowhere")
        assert (Thing.value, os.getcwd()) == (2, "nowhere")
        with pytest.raises(AttributeError):
            stubs.SmartSet(os, "no_such_name", 1)
    assert Thing.value == 1 and os.getcwd() != "nowhere"


def test_benchmark(tf, capsys):
    class Timing(tf.test.Benchmark):
        def benchmarkAdd(self):
            with tf.Session() as session:
                return self.run_op_benchmark(session, tf.constant(1.0) + 1.0, min_iters=3)

    found = Timing().benchmarkAdd()
    assert found["name"] is None and found["iters"] == 3 and found["wall_time"] > 0
    assert "wall_time" in capsys.readouterr().out


def test_main_runs_the_tests_of_a_script(tmp_path):
    script = tmp_path / "square_test.py"
    script.write_text("""
import jitgraph as tf

class SquareTest(tf.test.TestCase):
    def testSquare(self):
        with self.test_session():
            self.assertAllEqual(tf.square([2, 3]).eval(), [4, 9])

    def testWrong(self):
        self.assertAllEqual([1], [2])

    def testTemporary(self):
        made = self.create_tempdir().create_file("a.txt", content="here")
        self.assertEqual(self.create_tempfile(content="there").read_text(), "there")
        self.assertIn("testTemporary", made.full_path)

if __name__ == "__main__":
    tf.test.main()
""")
    found = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=150)
    assert "Ran 4 tests" in found.stderr and "failures=1, skipped=1" in found.stderr and found.returncode != 0


def test_rows_of_several_lengths_are_compared_as_lists(case):
    case.assertAllEqual([[1], [1, 2]], [[1], [1, 2]])
    with pytest.raises(AssertionError, match="not equal"):
        case.assertAllEqual([[1], [1, 2]], [[1], [1, 3]])


def test_a_test_has_the_flags_of_tests(tf, case):
    assert {"test_srcdir", "test_tmpdir", "test_random_seed"} <= set(tf.flags.FLAGS)


def test_it_is_a_unit_test_of_absl(tf, case):
    case.assertNoCommonElements([1], [2])
    case.assertContainsInOrder(["a", "b"], "a then b")
    with pytest.raises(AssertionError):
        case.assertTotallyOrdered([2], [1])
    assert issubclass(tf.test.TestCase, absltest.TestCase) and issubclass(tf.test.TestCase, unittest.TestCase)
    assert case.shortDescription().endswith("Case.runTest")
    assert os.path.isdir(tf.test.get_temp_dir())
    assert tf.test.is_gpu_available() == bool(tf.test.gpu_device_name())


def test_what_is_meant_for_a_gpu_runs_elsewhere_in_the_sessions_of_a_test(tf, case):
    """Unless a config or force_gpu says otherwise."""
    with tf.device("/device:GPU:0"):
        x = tf.constant(1.0) + 1
    for session in (case.session, case.test_session):
        with session() as one:
            assert one.run(x) == 2
    for given in ({"config": tf.ConfigProto()}, {"force_gpu": True}):
        with case.session(**given) as one, pytest.raises(tf.errors.InvalidArgumentError):
            one.run(x)


def test_lists_of_tensors_are_compared_one_by_one(tf):
    class Case(tf.test.TestCase):
        def test(self):
            with self.session():
                self.assertAllClose([tf.constant([1.0, 2.0]), tf.constant(3.0)], [[1.0, 2.0], tf.constant(3.0)])
                self.assertAllEqual(self._GetNdArray(tf.constant([1, 2])), [1, 2])
                with self.assertRaises(AssertionError):
                    self.assertAllClose([tf.constant([1.0, 2.0])], [[1.0, 3.0]])

    assert Case("test").run().wasSuccessful()


BENCHMARKS = """
import jitgraph.compat; jitgraph.compat.install()
import tensorflow as tf
tf.flags.DEFINE_integer("size", 3, "how many")

class Adds(tf.test.Benchmark):
    def benchmarkAdd(self):
        with tf.Session() as session:
            found = self.run_op_benchmark(session, tf.ones([3]) + 1.0, min_iters=tf.flags.FLAGS.size, name="add", extras={"k": 2})
            print(found["iters"], found["name"])

    def benchmarkReport(self):
        metrics = [dict(name="m", value=1, min_value=0.5)]
        self.report_benchmark(iters=3, wall_time=1.5, extras={"text": "a", "b": True}, metrics=metrics)

class Sizes(tf.test.TestCase):
    def testSize(self):
        self.assertEqual(tf.flags.FLAGS.size, 3)

if __name__ == "__main__":
    tf.test.main()
    print("not reached")
"""
REPORT = """\
entry {
  name: "Adds.benchmarkReport"
  iters: 3
  wall_time: 1.5
  extras {
    key: "b"
    value {
      double_value: 1.0
    }
  }
  extras {
    key: "text"
    value {
      string_value: "a"
    }
  }
  metrics {
    name: "m"
    value: 1.0
    min_value {
      value: 0.5
    }
  }
}

"""


@pytest.fixture
def started(tmp_path):
    """started("--size=5"): run the program of benchmarks and tests; gives returncode, stdout, stderr."""
    program = tmp_path / "program.py"
    program.write_text(BENCHMARKS)

    def run(*arguments, **environment):
        return subprocess.run([sys.executable, str(program), *arguments], env={**os.environ, **environment}, capture_output=True,
                              text=True, timeout=60)

    return run


def test_main_parses_flags_and_runs_the_tests_that_are_named(started):
    done = started("--size=4", "Sizes.testSize")
    assert done.returncode == 1 and "AssertionError: 4 != 3" in done.stderr and "Ran 1 test in" in done.stderr
    assert started().returncode == 0
    assert "Unknown command line flag 'nope'" in started("--nope").stderr


def test_main_runs_benchmarks_and_prints_their_reports_as_tensorflow_does(started, tmp_path):
    done = started("--benchmarks=Adds.*Report", "--size=5")
    assert (done.returncode, done.stdout) == (0, REPORT), done.stderr
    done = started("--benchmarks=all", "--size=5", TEST_REPORT_FILE_PREFIX=str(tmp_path / "of_"))
    assert (done.returncode, done.stdout) == (0, "5 add\n"), done.stderr
    entry = BenchmarkEntries.FromString((tmp_path / "of_Adds.add").read_bytes()).entry[0]
    assert (entry.name, entry.iters, entry.extras["k"].double_value) == ("Adds.add", 5, 2.0) and entry.wall_time > 0
    again = started("--benchmarks=all", TEST_REPORT_FILE_PREFIX=str(tmp_path / "of_"))
    assert again.returncode == 1 and "File already exists" in again.stderr


WORDS = """\

Not equal to tolerance rtol=1e-06, atol=1e-06
Mismatched value: a[x] is different from b[x]. why
not close where = (array([1]),)
not close lhs = [2.]
not close rhs = [2.5]
not close dif = [0.5]
not close tol = [3.5e-06]
dtype = float64, shape = (2,)
"""


def test_what_differs_is_told_in_the_words_of_tensorflow(tf):
    case = tf.test.TestCase()
    with pytest.raises(AssertionError) as caught:
        case.assertAllClose({"x": [1.0, 2.0]}, {"x": [1.0, 2.5]}, msg="why")
    assert str(caught.value).startswith(WORDS)
    with pytest.raises(AssertionError, match=r"mismatched keys: a has keys \['x'\], but b has keys \['y'\]"):
        case.assertAllClose({"x": 1.0}, {"y": 1.0})
    with pytest.raises(AssertionError, match=r"where = \(array\(\[1\]\),\)\nnot equal lhs = \[2\]\nnot equal rhs = \[3\]"):
        case.assertAllEqual([1, 2], [1, 3])
    with pytest.raises(AssertionError, match="does not have an ordered numeric type"):
        case.assertAllInRange(["a"], 1, 2)
