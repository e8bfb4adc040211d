"""The collector of garbage is off in passes, and as it was after them."""
import gc
import os
import threading

import pytest

import jitgraph as tf
from jitgraph import compiler
from jitgraph.compiler.collecting import collecting_later


@pytest.fixture(autouse=True)
def collector():
    gc.enable()
    yield
    gc.enable()


def test_passes_run_without_the_collector_which_is_on_again_after_them():
    x = tf.placeholder(tf.float32, [None])
    seen = []
    compiler.compile(x.graph, [tf.exp(x)], feeds={x: (3,)}, show=lambda name, program: seen.append(gc.isenabled()))
    assert seen == [False] * len(compiler.PASSES) and gc.isenabled()


def test_an_error_leaves_the_collector_on():
    with pytest.raises(ZeroDivisionError), collecting_later():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_what_was_off_stays_off():
    gc.disable()
    with collecting_later():
        pass
    assert not gc.isenabled()


def test_the_last_thread_switches_it_on():
    first, second = threading.Event(), threading.Event()

    def work():
        with collecting_later():
            first.set()
            second.wait(5)

    thread = threading.Thread(target=work)
    with collecting_later():
        thread.start()
        first.wait(5)
    assert not gc.isenabled()
    second.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_collects():
    with collecting_later():
        child = os.fork()
        if not child:
            os._exit(0 if gc.isenabled() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
