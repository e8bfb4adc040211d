"""That the memory of tests is guarded: an access out of bounds ends the process."""
import ctypes
import faulthandler
import os
import signal

import numpy as np
import pytest

from .guard_pages import guard_pages, guarded_empty


def ended_by(work) -> int:
    """The signal that ends a child process which does `work`, 0 for none."""
    child = os.fork()
    if not child:
        faulthandler.disable()
        work()
        os._exit(0)
    return os.WTERMSIG(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("nbytes", [1, 4, 4095, 4096, 10_000])
@pytest.mark.parametrize("beyond", [0, 1, 5000])
def test_what_lies_behind_a_buffer_is_forbidden(nbytes, beyond):
    array = guarded_empty(nbytes)
    end = array.ctypes.data + nbytes
    assert ended_by(lambda: ctypes.memset(end - nbytes, 0, nbytes)) == 0
    assert ended_by(lambda: ctypes.memset(end + beyond, 0, 1)) == signal.SIGSEGV


@pytest.mark.parametrize("kind", ["feed", "const", "temp", "output", "variable"])
def test_every_buffer_of_a_run_is_guarded(tf, kind):
    """A kernel that is given a buffer that begins an element too late goes beyond its end."""
    x = tf.placeholder(tf.float32, [None, 70])
    v = tf.Variable(np.ones((80, 70), np.float32))
    y = tf.matmul(tf.tanh(x) * np.linspace(0.0, 1.0, 5600, dtype=np.float32).reshape(80, 70), v, transpose_b=True) + x[:, :1]
    value = np.ones((80, 70), np.float32)
    with guard_pages(), tf.Session(jit="always") as session:
        session.run(v.initializer)
        session.run(y, {x: value})
        binding, = (b for plan in session.plans for b in plan.segment.bindings.values() if plan.fetches)
        frame, = binding.frames
        slots = {slot.kind: k for k, slot in enumerate(binding.layout.slots)}

        def shifted():
            call = frame.call
            frame.call = lambda address: (frame.slots.__setitem__(slots[kind], frame.slots[slots[kind]] + 4), call(address))[1]
            session.run(y, {x: value})

        assert ended_by(lambda: session.run(y, {x: value})) == 0
        assert ended_by(shifted) == signal.SIGSEGV
