"""``tf.contrib.tfprof.model_analyzer``: ``tf.profiler.profile`` by its older name, and options for it."""
from __future__ import annotations

from typing import Any

from jitgraph.profiler import advice
from jitgraph.profiler.contexts import ProfileContext  # noqa: F401  (a public name here)
from jitgraph.profiler.options import ProfileOptionBuilder
from jitgraph.profiler.profiling import (
    Profiler,  # noqa: F401  (a public name here)
    profile,
)

TRAINABLE_VARS_PARAMS_STAT_OPTIONS = ProfileOptionBuilder.trainable_variables_parameter()
"""Options for the numbers of parameters of trainable variables."""

FLOAT_OPS_OPTIONS = ProfileOptionBuilder.float_operation()
"""Options for the arithmetic of each operation whose shapes are known."""

PRINT_ALL_TIMING_MEMORY = {**ProfileOptionBuilder.time_and_memory(), "order_by": "name"}
"""Options for the times and the memory of a run, by name."""

ALL_ADVICE: dict[str, dict] = {name: {} for name in (
    "ExpensiveOperationChecker", "AcceleratorUtilizationChecker", "JobChecker", "OperationChecker")}
"""Options of ``advise`` for all checkers."""


def print_model_analysis(graph: Any, run_meta: Any = None, op_log: Any = None, tfprof_cmd: str = "scope",
                         tfprof_options: Any = 0) -> Any:
    """``tf.profiler.profile`` of a graph: prints what `tfprof_options` select, and gives a GraphNodeProto."""
    return profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)


def advise(graph: Any, run_meta: Any = None, tfprof_options: Any = 0) -> Any:
    """``tf.profiler.advise``: an AdviceProto of the checkers that `tfprof_options` names, all if it is 0."""
    return advice.advise(graph, run_meta, tfprof_options)
