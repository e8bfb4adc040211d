"""Critical sections: the nodes that they are made of, and that no two runs are in one at once."""
import threading
from pathlib import Path

import pytest

from tests import recorded

HERE = Path(__file__).parent


@pytest.mark.parametrize("program", recorded.texts(HERE)[1])
def test_programs_leave_behind_what_they_do_in_tensorflow(tf, program):
    recorded.check(tf, HERE, program, jit="off")


@pytest.mark.parametrize("jit", ["off", "always"])
def test_no_two_runs_are_in_a_section_at_once(tf, jit):
    """What is between reading and writing is slow, so that threads would read what another has read."""
    v = tf.Variable(0.0, use_resource=True)
    slow = threading.Event()

    def add():
        read = v.read_value()
        with tf.control_dependencies([tf.py_func(lambda: slow.wait(0.01), [], tf.bool)]):
            return v.assign(read + 1.0)

    added = tf.CriticalSection().execute(lambda: tf.identity(add()))
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        session.run(added)
        threads = [threading.Thread(target=session.run, args=(added,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert session.run(v) == 9.0


def test_a_run_that_fails_leaves_the_section(tf):
    x = tf.placeholder(tf.float32, [])
    section = tf.CriticalSection()
    root = section.execute(lambda: tf.py_func(lambda x: 1.0 / float(x), [x], tf.float64))
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(tf.errors.UnknownError):
                session.run(root, {x: 0.0})
        found = []
        thread = threading.Thread(target=lambda: found.append(session.run(root, {x: 4.0})))
        thread.start()
        thread.join(30)
        assert found == [0.25]
