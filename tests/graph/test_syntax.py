"""Syntax trees are made by one thread at a time."""
import gc
import sys
import threading
import weakref

from jitgraph.graph.syntax import literal, parse


def test_threads_that_make_trees_while_garbage_is_collected_do_not_disturb_one_another():
    class Kept:
        """What Python runs code for when it is collected: there a thread may give way to another."""

        def __init__(self):
            self.circle = self
            weakref.finalize(self, sum, range(50))

    text = "\n".join(f"x{k} = [(a + {k}) * (b - {k}) for a in f(c, {k})]" for k in range(40))
    failures, before, interval = [], gc.get_threshold(), sys.getswitchinterval()

    def work():
        try:
            for _ in range(30):
                Kept()
                parse(text)
        except SystemError as error:
            failures.append(error)

    gc.set_threshold(50)
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.set_threshold(*before)
        sys.setswitchinterval(interval)
    assert not failures


def test_literals():
    assert literal(" [1, 'a', -2.5]") == [1, "a", -2.5]
    assert parse("a + 1", mode="eval").body.left.id == "a"
