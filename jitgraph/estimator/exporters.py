"""What ``train_and_evaluate`` exports after an evaluation: ``tf.estimator.BestExporter`` and its kin."""
from __future__ import annotations

import abc
import os
from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.estimator.arguments import argument_names
from jitgraph.estimator.spec import LOSS
from jitgraph.filesystem import gfile
from jitgraph.graph.errors import NotFoundError
from jitgraph.summary.event_reader import summary_iterator

_DIGITS_OF_SECONDS = 10         # in the name of an export: the seconds since 1970


class Exporter(abc.ABC):
    """Exports a model, with a name of its own."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of its folder."""

    @abc.abstractmethod
    def export(self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: dict, is_the_final_export: bool) -> Any:
        """Writes into `export_path` what an estimator is at a checkpoint; gives the path, or None if it exports nothing."""


class _SavedModelExporter(Exporter):
    """An exporter of SavedModels."""

    def __init__(self, name: str, serving_input_receiver_fn: Any, assets_extra: Any = None, as_text: bool = False,
                 exports_to_keep: int | None = None):
        self._name = name
        self._receiver_fn, self._assets_extra, self._as_text = serving_input_receiver_fn, assets_extra, as_text
        self._exports_to_keep = exports_to_keep

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self._name

    def _write(self, estimator: Any, export_path: str, checkpoint_path: str) -> Any:
        path = estimator.export_saved_model(export_path, self._receiver_fn, assets_extra=self._assets_extra,
                                            as_text=self._as_text, checkpoint_path=checkpoint_path)
        if self._exports_to_keep is not None:
            self._remove_older(export_path)
        return path

    def _remove_older(self, folder: str) -> None:
        names = [os.path.basename(name.rstrip("/")) for name in gfile.ListDirectory(folder)]
        versions = sorted(name for name in names if name.isdigit() and len(name) == _DIGITS_OF_SECONDS)
        for name in versions[:len(versions) - (self._exports_to_keep or 0)]:
            path = os.path.join(folder, name)
            try:
                gfile.DeleteRecursively(path)
            except NotFoundError as error:
                logs.warn("Can not delete %s recursively: %s", path, error)


def _check_kept(exports_to_keep: int | None, message: str) -> None:
    if exports_to_keep is not None and exports_to_keep <= 0:
        raise ValueError(message)


def loss_smaller(best_eval_result: dict | None, current_eval_result: dict | None) -> bool:
    """Whether the loss of an evaluation is below that of the best so far.  Raises ValueError if either has none."""
    if not best_eval_result or LOSS not in best_eval_result:
        raise ValueError("best_eval_result cannot be empty or no loss is found in it.")
    if not current_eval_result or LOSS not in current_eval_result:
        raise ValueError("current_eval_result cannot be empty or no loss is found in it.")
    return bool(best_eval_result[LOSS] > current_eval_result[LOSS])


def _check_comparison(compare_fn: Callable) -> None:
    names = set(argument_names(compare_fn))
    for name in ("best_eval_result", "current_eval_result"):
        if name not in names:
            raise ValueError(f"compare_fn ({compare_fn}) must include {name} argument.")
    others = list(names - {"best_eval_result", "current_eval_result"})
    if others:
        raise ValueError(f"compare_fn ({compare_fn}) has following not expected args: {others}")


class BestExporter(_SavedModelExporter):
    """Exports a model whenever an evaluation was better than all before, by default in its loss.

    `compare_fn(best_eval_result, current_eval_result)` says whether it was; `event_file_pattern`: the events, in the model's
    folder, of the evaluations before this program.  Raises ValueError for another comparison, or no exports to keep.
    """

    def __init__(self, name: str = "best_exporter", serving_input_receiver_fn: Any = None,
                 event_file_pattern: str | None = "eval/*.tfevents.*", compare_fn: Any = loss_smaller, assets_extra: Any = None,
                 as_text: bool = False, exports_to_keep: int | None = 5):
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        _check_comparison(compare_fn)
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        self._compare_fn, self._event_file_pattern = compare_fn, event_file_pattern
        self._model_dir: str | None = None
        self._best_eval_result: dict | None = None
        _check_kept(exports_to_keep, f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}")

    def export(self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: dict, is_the_final_export: bool) -> Any:
        """The path of the SavedModel, None if the evaluation was no better."""
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            logs.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            self._best_eval_result = self._best_in(os.path.join(estimator.model_dir, self._event_file_pattern))
        best = self._best_eval_result
        if best is not None and not self._compare_fn(best_eval_result=best, current_eval_result=eval_result):
            return None
        logs.info("Performing best model export.")
        self._best_eval_result = eval_result
        return self._write(estimator, export_path, checkpoint_path)

    def _best_in(self, pattern: str) -> dict | None:
        best = None
        for path in gfile.Glob(pattern):
            for event in summary_iterator(path):
                found = {value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")}
                if found and (best is None or self._compare_fn(best, found)):
                    best = found
        return best


class FinalExporter(_SavedModelExporter):
    """Exports the model once, at the end of the training."""

    def __init__(self, name: str, serving_input_receiver_fn: Any, assets_extra: Any = None, as_text: bool = False):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def export(self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: dict, is_the_final_export: bool) -> Any:
        """The path of the SavedModel, None before the end."""
        if not is_the_final_export:
            return None
        logs.info("Performing the final export in the end of training.")
        return self._write(estimator, export_path, checkpoint_path)


class LatestExporter(_SavedModelExporter):
    """Exports the model after each evaluation, and keeps the newest exports.  Raises ValueError for none to keep."""

    def __init__(self, name: str, serving_input_receiver_fn: Any, assets_extra: Any = None, as_text: bool = False,
                 exports_to_keep: int | None = 5):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        _check_kept(exports_to_keep, "`exports_to_keep`, if provided, must be positive number")

    def export(self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: dict, is_the_final_export: bool) -> Any:
        """The path of the SavedModel."""
        return self._write(estimator, export_path, checkpoint_path)
