"""Sessions that nobody holds are freed, and so are values under handles that nobody holds."""
import gc
import weakref

import numpy as np
import pytest

from jitgraph.runtime.plan import BACKGROUND
from jitgraph.runtime.session import DEAD_HANDLES, SESSIONS


def work(tf, jit):
    """Weak references to a session that has done some of everything, and to one of its variables."""
    tf.reset_default_graph()
    v, x = tf.Variable(tf.ones([100])), tf.placeholder(tf.float32, [100])
    y = tf.reduce_sum(v * x)
    loop = tf.while_loop(lambda k, a: k < 3, lambda k, a: (k + 1, a * tf.sin(x)), [0, x])[1]
    session, feed = tf.Session(jit=jit), {x: np.ones(100)}
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run([y, loop], feed)
    session.make_callable(y, [x])(np.ones(100))
    session.partial_run(session.partial_run_setup([y, loop], [x]), y, feed)
    handle = session.run(tf.get_session_handle(y), feed)
    assert handle.eval() == 100
    return weakref.ref(session), weakref.ref(session._state.variable(v.op).array)


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_a_session_that_is_dropped_is_freed(tf, jit):
    gc.disable()        # at once, not when memory is next gone through
    try:
        session, array = work(tf, jit)
        BACKGROUND.wait()
        assert session() is None and array() is None
    finally:
        gc.enable()


def test_sessions_in_use_are_known(tf):
    session = tf.Session()
    assert session in SESSIONS
    with session:
        tf.Session.reset("")
    assert session not in SESSIONS
    with pytest.raises(RuntimeError, match="closed"):
        session.run(tf.constant(1.0))


def test_an_interactive_session_stays_the_default(tf):
    tf.InteractiveSession()
    assert tf.constant(2.0).eval() == 2.0
    tf.get_default_session().close()


def test_handles_add_nothing_to_the_graph(tf):
    x = tf.placeholder(tf.float32, [])
    keep, double = tf.get_session_handle(x + 1.0), x * 2.0
    with tf.Session() as session:
        tf.get_default_graph().finalize()
        for k in range(3 * DEAD_HANDLES):
            handle = session.run(keep, {x: k})
            assert handle.eval() == k + 1 and session.run(double, {x: handle}) == 2 * k + 2
            if k % 2:
                handle.delete()
                with pytest.raises(TypeError, match="already been deleted"):
                    handle.eval()
        assert len(session.plans) == 2
    with pytest.raises(RuntimeError, match="closed"):
        session.run(keep, {x: 1.0})


def test_values_of_handles_that_nobody_holds_are_forgotten(tf):
    x = tf.placeholder(tf.float32, [])
    keep = tf.get_session_handle(x)
    holder, value = tf.get_session_tensor("h;0;/device:CPU:0", tf.float32)
    with tf.Session() as session:
        held, raw = session.run(keep, {x: 5.0}), session.run(keep, {x: 6.0}).get_raw_handle()
        for k in range(5 * DEAD_HANDLES):
            name = session.run(keep, {x: k}).handle         # serves a little longer than the object
            assert session.run(value, {holder: name}) == k
        assert sum(key[0] == "session tensor" for key in session._state.resources) <= DEAD_HANDLES + 2
        assert held.eval() == 5.0 and session.run(value, {holder: raw}) == 6.0


def test_what_a_handle_gives_is_a_copy(tf):
    holder, value = tf.get_session_tensor("h;0;/device:CPU:0", tf.float32)
    with tf.Session() as session:
        handle = session.run(tf.get_session_handle(tf.constant([1.0, 2.0])))
        handle.eval()[0] = session.run(value, {holder: handle.handle})[0] = 9.0
        assert handle.eval().tolist() == session.run(value, {holder: handle.handle}).tolist() == [1.0, 2.0]
