"""``ProfileOptionBuilder``: what ``tf.profiler.profile`` shows, and of which operations."""
from __future__ import annotations

import copy
from typing import Any

TRAINABLE_VARIABLES = "_trainable_variables"

_DEFAULTS: dict[str, Any] = {
    "max_depth": 100, "min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "min_occurrence": 0,
    "order_by": "name", "account_type_regexes": [".*"], "start_name_regexes": [".*"], "trim_name_regexes": [],
    "show_name_regexes": [".*"], "hide_name_regexes": [], "account_displayed_op_only": False, "select": ["micros"], "step": -1,
    "output": "stdout"}


class ProfileOptionBuilder:
    """A dict of options, made step by step: each method that changes it gives the builder itself; ``build`` gives the dict."""

    def __init__(self, options: dict | None = None):
        self._options = copy.deepcopy(_DEFAULTS if options is None else options)

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """Options for the numbers of parameters of trainable variables."""
        return {**copy.deepcopy(_DEFAULTS), "max_depth": 10000, "account_type_regexes": [TRAINABLE_VARIABLES],
                "account_displayed_op_only": True, "select": ["params"]}

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """Options for the arithmetic of each operation whose shapes are known."""
        return {**copy.deepcopy(_DEFAULTS), "max_depth": 10000, "min_float_ops": 1, "order_by": "float_ops",
                "account_displayed_op_only": True, "select": ["float_ops"]}

    @staticmethod
    def time_and_memory(min_micros: int = 1, min_bytes: int = 1, min_accelerator_micros: int = 0, min_cpu_micros: int = 0,
                        min_peak_bytes: int = 0, min_residual_bytes: int = 0, min_output_bytes: int = 0) -> dict[str, Any]:
        """Options for the times and the memory of a run, of which the RunMetadata is given."""
        return {**copy.deepcopy(_DEFAULTS), "max_depth": 10000, "min_bytes": min_bytes, "min_peak_bytes": min_peak_bytes,
                "min_residual_bytes": min_residual_bytes, "min_output_bytes": min_output_bytes, "min_micros": min_micros,
                "min_accelerator_micros": min_accelerator_micros, "min_cpu_micros": min_cpu_micros, "order_by": "micros",
                "account_displayed_op_only": True, "select": ["micros", "bytes"]}

    def build(self) -> dict[str, Any]:
        """A copy of the options."""
        return copy.deepcopy(self._options)

    def _with(self, **changes: Any) -> ProfileOptionBuilder:
        self._options.update(changes)
        return self

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Shows nodes up to this depth."""
        return self._with(max_depth=max_depth)

    def with_min_memory(self, min_bytes: int = 0, min_peak_bytes: int = 0, min_residual_bytes: int = 0,
                        min_output_bytes: int = 0) -> ProfileOptionBuilder:
        """Shows nodes that use at least so much memory."""
        return self._with(min_bytes=min_bytes, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes,
                          min_output_bytes=min_output_bytes)

    def with_min_execution_time(self, min_micros: int = 0, min_accelerator_micros: int = 0,
                                min_cpu_micros: int = 0) -> ProfileOptionBuilder:
        """Shows nodes that take at least so long, in microseconds."""
        return self._with(min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros)

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Shows nodes that hold at least so many parameters."""
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """Shows types of which there are at least so many operations."""
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Shows nodes of at least so much arithmetic."""
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: list[str]) -> ProfileOptionBuilder:
        """Counts operations whose type matches one of the expressions; ``_trainable_variables`` is such a type."""
        return self._with(account_type_regexes=copy.copy(account_type_regexes))

    def with_node_names(self, start_name_regexes: Any = None, show_name_regexes: Any = None, hide_name_regexes: Any = None,
                        trim_name_regexes: Any = None) -> ProfileOptionBuilder:
        """Begins at, shows, hides, and ends at nodes whose names match."""
        given = {"start_name_regexes": start_name_regexes, "show_name_regexes": show_name_regexes,
                 "hide_name_regexes": hide_name_regexes, "trim_name_regexes": trim_name_regexes}
        return self._with(**{name: copy.copy(value) for name, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Whether a node counts only what is shown below it."""
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Prints nothing."""
        return self._with(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Prints to the standard output."""
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Writes to a file."""
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: str) -> ProfileOptionBuilder:
        """Writes a timeline; see ``jitgraph.app.timeline``."""
        return self._with(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file: str) -> ProfileOptionBuilder:
        """Writes a profile for pprof, of ``cmd="code"``; the other views write nothing."""
        return self._with(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """Sorts by "name", "params", "float_ops", "micros", "occurrence" ..."""
        return self._with(order_by=attribute)

    def select(self, attributes: list[str]) -> ProfileOptionBuilder:
        """Shows these attributes: "params", "float_ops", "micros", "occurrence"."""
        return self._with(select=copy.copy(attributes))

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Shows one step of a Profiler; -1 is the mean of all."""
        return self._with(step=step)
