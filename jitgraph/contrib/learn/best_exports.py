"""Strategies of ``tf.contrib.learn`` that export the best model, or do more with what another exports."""
from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.contrib.learn.exported import ExportStrategy, make_export_strategy
from jitgraph.contrib.learn.model_ops import MetricKey
from jitgraph.facade.names import resolve
from jitgraph.filesystem import gfile
from jitgraph.train.checkpoint_state import latest_checkpoint

_SWITCH = deprecated(None, "Switch to tf.estimator.Exporter and associated utilities.")


def _has_less_loss(best: dict, candidate: dict) -> bool:
    for name, results in (("curr_best_eval_result", best), ("cand_eval_result", candidate)):
        if not results or MetricKey.LOSS not in results:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    less: bool = best[MetricKey.LOSS] > candidate[MetricKey.LOSS]
    return less


class BestModelSelector:
    """Remembers the best results of evaluations.

    `compare_fn(best, candidate)` says whether a candidate is better, by default by its loss; `event_file_pattern` names files of
    events with the results of earlier evaluations.
    """

    @_SWITCH
    def __init__(self, event_file_pattern: str | None = None, compare_fn: Callable | None = None):
        self._is_better = compare_fn or _has_less_loss
        self._best: dict | None = None
        for path in gfile.Glob(event_file_pattern) if event_file_pattern else ():
            for event in resolve("train.summary_iterator")(path):
                if event.HasField("summary"):
                    found = {value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")}
                    if self._best is None or self._is_better(self._best, found):
                        self._best = found

    def update(self, checkpoint_path: str, eval_result: dict) -> tuple[str, dict | None]:
        """(checkpoint, its results) if they are the best so far, ("", None) if not.  Raises ValueError without either."""
        if not checkpoint_path:
            raise ValueError("Checkpoint path is empty.")
        if eval_result is None:
            raise ValueError(f"{checkpoint_path} has empty evaluation results.")
        if self._best is not None and not self._is_better(self._best, eval_result):
            return "", None
        self._best = eval_result
        return checkpoint_path, eval_result


@_SWITCH
def make_best_model_export_strategy(serving_input_fn: Any, exports_to_keep: int | None = 1, model_dir: str | None = None,
                                    event_file_pattern: str | None = None, compare_fn: Callable | None = None,
                                    default_output_alternative_key: str | None = None,
                                    strip_default_attrs: Any = None) -> ExportStrategy:
    """``make_export_strategy`` that exports only what ``BestModelSelector`` chooses, into a folder named as the checkpoint.

    `event_file_pattern` is below `model_dir`.
    """
    strategy = make_export_strategy(serving_input_fn, exports_to_keep=exports_to_keep,
                                    default_output_alternative_key=default_output_alternative_key,
                                    strip_default_attrs=strip_default_attrs)
    selector = BestModelSelector(os.path.join(model_dir, event_file_pattern) if model_dir and event_file_pattern else None,
                                 compare_fn)

    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any, eval_result: Any = None) -> Any:
        path, results = selector.update(checkpoint_path or latest_checkpoint(estimator.model_dir), eval_result)
        if not path or results is None:
            return ""
        return strategy.export(estimator, os.path.join(export_dir_base, os.path.basename(path)), path, results)

    return ExportStrategy("best_model", export_fn)


@deprecated(None, "Switch to tf.estimator.Exporter and associated utilities.")
def extend_export_strategy(base_export_strategy: ExportStrategy, post_export_fn: Callable,
                           post_export_name: str | None = None) -> ExportStrategy:
    """A strategy that exports as another does, and then calls ``post_export_fn(export, folder)``.

    The function writes into a new folder below the one that it is given and returns its path, which takes the place of the
    export.  Exporting raises ValueError for another path, and RuntimeError if a folder is there already.
    """
    def fresh(folder: str, kind: str, what: str) -> str:
        path = os.path.join(folder, f"temp-{kind}-export-{int(time.time())}")
        if gfile.Exists(path):
            raise RuntimeError(f"Failed to obtain {what} export directory")
        gfile.MakeDirs(path)
        return path

    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any = None) -> str:
        first = fresh(export_dir_base, "base", "base")
        exported = base_export_strategy.export(estimator, first, checkpoint_path)
        second = fresh(export_dir_base, "post", "temp")
        found: str = post_export_fn(exported, second)
        if not found.startswith(second):
            raise ValueError(f"post_export_fn must return a sub-directory of {second}")
        target = os.path.join(export_dir_base, os.path.relpath(found, second))
        if gfile.Exists(target):
            raise RuntimeError("Failed to obtain final export directory")
        gfile.Rename(found, target)
        gfile.DeleteRecursively(first)
        gfile.DeleteRecursively(second)
        return target

    return ExportStrategy(post_export_name or base_export_strategy.name, export_fn)
