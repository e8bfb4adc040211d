"""Programs of TensorFlow 1's time find what Python and NumPy have given up since."""
import subprocess
import sys

PROGRAM = """
import base64, collections, configparser, fractions, imp, inspect, random, threading, time, unittest
import numpy as np
import tensorflow as tf
from collections import Iterable, MutableMapping
from xml.etree import cElementTree
import xml.etree.cElementTree as ET

assert isinstance([], Iterable) and issubclass(dict, MutableMapping) and isinstance(len, collections.Callable)
assert inspect.getargspec(lambda a, *b, c=1, **d: 0) == (["a"], "b", "d", None)
assert time.clock() <= time.clock()
assert base64.decodestring(base64.encodestring(b"abc")) == b"abc" and not threading.Thread().isAlive()
assert ET.fromstring("<a>5</a>").text == cElementTree.fromstring("<a>5</a>").text == "5"
assert imp.load_source("beside", "beside.py").answer == 5 and imp.reload(collections)
x = tf.placeholder(np.float, [None])
with tf.Session() as session:
    total = session.run(tf.reduce_sum(x), {x: np.arange(4).astype(np.int)})
assert np.float_ is np.float64 and np.asscalar(total) == 6 and np.isinf(np.Inf) and np.isnan(np.NaN)
assert np.product([2, 3]) == 6 and np.alltrue([1, 1])
assert np.reshape([1, 2], newshape=(2, 1)).shape == np.reshape([1, 2], (2, 1)).shape == (2, 1)
assert np.row_stack([[1], [2]]).shape == (2, 1) and np.mat([[1, 2]]).shape == (1, 2)
assert np.float64 in np.sctypes["float"] and bool in np.sctypes["others"] and np.longfloat is np.longdouble
assert np.typeDict["float32"] is np.float32 and issubclass(np.AxisError, ValueError)
assert issubclass(np.VisibleDeprecationWarning, Warning)
assert np.find_common_type([np.float32], [np.int64, np.float64]) == "f4" and np.find_common_type([np.float32], [complex]) == "c16"
assert np.find_common_type([], [np.int64, np.float32]) == "f8" and np.find_common_type(["f4", "i4"], ["i8"]) == "f8"
assert np.cast[np.float32](5).dtype == "f4" and np.cast["int64"]([1.5]).tolist() == [1]
assert np.rank([[1]]) == 2 and np.obj2sctype("f4") is np.float32 and np.lib.pad([1], 1, "constant").tolist() == [0, 1, 0]
assert np.linalg.linalg.norm is np.linalg.norm
a = np.arange(6.0).reshape(2, 3)
assert a.tostring() == a.tobytes() and np.float32(1).tostring() == np.float32(1).tobytes() and a.ptp(0).tolist() == [3, 3, 3]
a.itemset(4, 9), a.itemset((0, 1), 8), a.itemset(1, 2, 7), np.zeros(()).itemset(5)
assert a.tolist() == [[0, 8, 2], [3, 9, 7]] and a.newbyteorder().dtype == ">f8"
assert fractions.gcd(12, 18) == 6 and sorted(random.sample({1, 2, 3}, 3)) == [1, 2, 3] and random.sample([4], 1) == [4]
assert 0 <= random.randint(0, 1e8 - 1) < 1e8 and random.randrange(1.0) == 0
settings = configparser.SafeConfigParser()
settings.readfp(["[train]", "steps = 5"])
unittest.TestCase().assertEquals(settings.get("train", "steps"), "5")
np.disp("", linefeed=False)
print(np.array(["a"], np.object), np.in1d([1, 2], [2]), np.asfarray([1, 2]))
"""


def test_an_old_program_runs(tmp_path):
    (tmp_path / "old.py").write_text(PROGRAM)
    (tmp_path / "beside.py").write_text("answer = 5\n")
    done = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-m", "jitgraph", "run", "old.py"], cwd=tmp_path,
                          capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("['a'] [False  True] [1. 2.]\n", "", 0)


def test_importing_jitgraph_puts_nothing_back():
    program = "import time, jitgraph, jitgraph.old_names; assert not hasattr(time, 'clock')"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_what_is_there_keeps_its_meaning():
    program = ("import collections, numpy as np; collections.Iterable = 5; before = np.bool, np.long, np.round\n"
               "from jitgraph import old_names; old_names.put_back()\n"
               "assert collections.Iterable == 5 and (np.bool, np.long, np.round) == before")
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_modules_that_moved_are_found_when_they_are_asked_for():
    program = ("import sys, urllib; from jitgraph import old_names; old_names.put_back()\n"
               "assert 'scipy' not in sys.modules and 'urllib.request' not in sys.modules\n"
               "from scipy.sparse.linalg.eigen.arpack import eigsh\n"
               "import scipy.sparse.linalg\n"
               "assert eigsh is scipy.sparse.linalg.eigsh and callable(urllib.request.urlopen) and not hasattr(urllib, 'nothing')")
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
