"""The names of `tensorflow.python.debug`, TensorFlow's debugger, which is not here.

Programs import them at their head and use them only where a flag asks for the debugger: they can be imported and
be base classes, and say what to use in their place when they are called.
"""
from __future__ import annotations

from typing import Any

from jitgraph.inner.later import stand_in

_NAMES = frozenset("""
    DebugDumpDir DebugTensorDatum DumpingDebugHook DumpingDebugWrapperSession GradientsDebugger GrpcDebugHook
    GrpcDebugWrapperSession InconvertibleTensorProto LocalCLIDebugHook LocalCLIDebugWrapperSession TensorBoardDebugHook
    TensorBoardDebugWrapperSession WatchOptions add_debug_tensor_watch has_inf_or_nan load_tensor_from_event
    load_tensor_from_event_file reconstruct_non_debug_graph_def watch_graph watch_graph_with_blacklists""".split())


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'tensorflow.python.debug' has no attribute {name!r}")
    return stand_in(name, f"tensorflow.python.debug.{name}: the debugger of TensorFlow is not part of jitgraph. Find where "
                          "numbers stop being finite with tf.add_check_numerics_ops, or print tensors with tf.print.")


def __dir__() -> list[str]:
    return sorted(_NAMES)
