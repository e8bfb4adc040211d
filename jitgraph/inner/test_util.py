"""Names of ``tensorflow.python.framework.test_util`` that ``tf.test`` does not have: decorators of tests, which run in graphs."""
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from jitgraph.test.case import TestCase

TensorFlowTestCase = TestCase


def _unchanged(function: Any) -> Any:
    return function


run_v1_only_class = run_deprecated_v1 = deprecated_graph_mode_only = run_all_in_deprecated_graph_mode_only = _unchanged
disable_control_flow_v2_class = _unchanged


def run_in_graph_and_eager_modes(func: Any = None, config: Any = None, use_gpu: bool = True, reset_test: bool = True,
                                 assert_no_eager_garbage: bool = False) -> Any:
    """Decorator of a test, which runs once, in a graph and a session of its own."""

    def decorate(test: Callable) -> Callable:
        if isinstance(test, type):
            raise ValueError("`run_in_graph_and_eager_modes` only supports test methods. Did you mean to use "
                             "`run_all_in_graph_and_eager_modes`?")

        @functools.wraps(test)
        def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
            with self.test_session(use_gpu=use_gpu, config=config):
                test(self, *args, **kwargs)

        return decorated

    return decorate if func is None else decorate(func)


def run_all_in_graph_and_eager_modes(cls: type) -> type:
    """Decorator of a class of tests: each runs as ``run_in_graph_and_eager_modes`` says, but those that skip eager execution."""
    for name in dir(cls):
        left_out = name.startswith(("testSkipEager", "test_skip_eager")) or name == "test_session"
        if name.startswith("test") and not left_out and callable(getattr(cls, name)):
            setattr(cls, name, run_in_graph_and_eager_modes(getattr(cls, name)))
    return cls


def run_v1_only(reason: str, func: Any = None) -> Any:
    """Decorator of a test that needs TensorFlow 1, which this is."""
    return _unchanged if func is None else func


def disable_control_flow_v2(unused_msg: str) -> Any:
    """Decorator of a test without the newer control flow."""
    return _unchanged


def disable_xla(description: str) -> Any:
    """Decorator of a test without XLA, which there is not."""
    return _unchanged


def skip_if(condition: Any) -> Any:
    """Decorator of a test that is skipped if `condition`, or what it gives, is true."""

    def decorate(test: Callable) -> Callable:
        @functools.wraps(test)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            return None if (condition() if callable(condition) else condition) else test(*args, **kwargs)

        return decorated

    return decorate


def IsMklEnabled() -> bool:
    """False: there is no MKL."""
    return False


def use_gpu() -> Any:
    """A block whose operations may run on a GPU."""
    return contextlib.nullcontext()


def InstallStackTraceHandler() -> None:
    """Does nothing: Python shows the stack itself."""
