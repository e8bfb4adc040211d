"""Names of ``tensorflow.python.framework.test_util`` that ``tf.test`` does not have: decorators of tests, which run in graphs."""
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from jitgraph.graph import scopes
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.layout import transpose
from jitgraph.test.case import TestCase
from jitgraph.test.environment import is_gpu_available

TensorFlowTestCase = TestCase


def _unchanged(function: Any) -> Any:
    return function


run_v1_only_class = run_deprecated_v1 = deprecated_graph_mode_only = run_all_in_deprecated_graph_mode_only = _unchanged
disable_control_flow_v2_class = _unchanged
# There is one control flow: a second run of each test in another would be the first again.
enable_control_flow_v2 = with_control_flow_v2 = enable_output_all_intermediates = _unchanged


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


def run_v2_only(func: Any = None) -> Any:
    """Decorator of a test that needs TensorFlow 2: it is skipped."""

    def decorate(test: Callable) -> Callable:
        return _or_skipped(test, lambda: False, "Test is only compatible with v2")

    return decorate if func is None else decorate(func)


def run_gpu_only(func: Any = None) -> Any:
    """Decorator of a test that is skipped where sessions do not run on a GPU."""

    def decorate(test: Callable) -> Callable:
        return _or_skipped(test, is_gpu_available, "Test requires GPU")

    return decorate if func is None else decorate(func)


run_cuda_only = run_gpu_only


def _or_skipped(test: Callable, condition: Callable[[], bool], reason: str) -> Callable:
    if isinstance(test, type):
        raise ValueError("this decorator takes methods of tests, not classes")

    @functools.wraps(test)
    def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
        if not condition():
            self.skipTest(reason)
        test(self, *args, **kwargs)

    return decorated


def for_all_test_methods(decorator: Callable, *args: Any, **kwargs: Any) -> Callable[[type], type]:
    """Decorator of a class of tests: ``decorator(*args, **kwargs)`` decorates each of them."""

    def decorate(cls: type) -> type:
        for name in dir(cls):
            test = getattr(cls, name)
            if callable(test) and name.startswith("test") and name != "test_session":
                setattr(cls, name, decorator(*args, **kwargs)(test))
        return cls

    return decorate


def disable_xla(description: str) -> Any:
    """Decorator of a test without XLA, which there is not."""
    return _unchanged


no_xla_auto_jit = xla_allow_fallback = enable_tf_xla_constant_folding = disable_xla


def is_xla_enabled() -> bool:
    """False: there is no XLA."""
    return False


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


def device(use_gpu: bool) -> Any:
    """A block whose operations run on the first GPU if `use_gpu` is true and there is one, else on the CPU."""
    return force_gpu() if use_gpu and is_gpu_available() else force_cpu()


def force_gpu() -> Any:
    """A block whose operations run on the first GPU."""
    return scopes.device("/device:GPU:0")


def force_cpu() -> Any:
    """A block whose operations run on the CPU."""
    return scopes.device("/device:CPU:0")


def GpuSupportsHalfMatMulAndConv() -> bool:
    """Whether products and convolutions of half floats run on a GPU: where there is one."""
    return is_gpu_available()


def NHWCToNCHW(input_tensor: Any) -> Any:
    """A tensor [batch, (depth,) height, width, channels], or the list of its sizes, with the channels after the batch."""
    return _permuted(input_tensor, {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]})


def NCHWToNHWC(input_tensor: Any) -> Any:
    """A tensor [batch, channels, (depth,) height, width], or the list of its sizes, with the channels last."""
    return _permuted(input_tensor, {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]})


def _permuted(value: Any, orders: dict[int, list[int]]) -> Any:
    if isinstance(value, Tensor):
        return transpose(value, orders[len(value.shape)])
    return [value[axis] for axis in orders[len(value)]]


def assert_ops_in_graph(expected_ops: dict[str, str], graph: Any) -> dict[str, Any]:
    """The NodeDefs of `graph` by name; a ValueError where one of the names has another type, or where one is not there."""
    nodes = {node.name: node for node in graph.as_graph_def().node}
    for name, kind in expected_ops.items():
        if name not in nodes:
            raise ValueError(f"Expected ops not found in graph: {name!r} ({kind})")
        if nodes[name].op != kind:
            raise ValueError(f"Expected op for node {name!r} is different: {kind} and {nodes[name].op}")
    return {name: nodes[name] for name in expected_ops}


def InstallStackTraceHandler() -> None:
    """Does nothing: Python shows the stack itself."""
