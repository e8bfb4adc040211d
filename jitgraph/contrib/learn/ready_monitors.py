"""The monitors of ``tf.contrib.learn.monitors``."""
from __future__ import annotations

import copy
import os
import time
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.contrib.learn.monitored import BaseMonitor, EveryN, output_of
from jitgraph.estimator.estimator import Estimator as CoreEstimator
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import get_collection
from jitgraph.protobuf.messages import SessionLog, Summary
from jitgraph.summary.file_writer import FileWriter
from jitgraph.train.checkpoint_state import latest_checkpoint
from jitgraph.train.hooks.writers import cached_writer


class NanLossDuringTrainingError(RuntimeError):
    """The loss is not a number."""

    def __str__(self) -> str:
        return "NaN loss during training."


class StopAtStep(BaseMonitor):
    """Stops after `num_steps`, or at `last_step`."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        super().__init__()
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    @property
    def run_on_all_workers(self) -> bool:
        """Everywhere."""
        return True

    def step_begin(self, step: int) -> list:
        """Counts from the first step."""
        super().step_begin(step)
        if self._last_step is None:
            self._last_step = step + (self._num_steps or 0) - 1
        return []

    def step_end(self, step: int, output: dict) -> Any:
        """Whether it was the last."""
        super().step_end(step, output)
        return step >= (self._last_step or 0)


class PrintTensor(EveryN):
    """Logs tensors by name."""

    def __init__(self, tensor_names: Any, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._names = tensor_names if isinstance(tensor_names, dict) else {name: name for name in tensor_names}

    def every_n_step_begin(self, step: int) -> list:
        """The tensors."""
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: dict) -> None:
        """Logs them."""
        shown = [f"{tag} = {output_of(outputs, name)!s}" for tag, name in self._names.items() if name in outputs]
        logs.info("Step %d: %s", step, ", ".join(shown))


class LoggingTrainable(EveryN):
    """Logs the variables that are trained."""

    def __init__(self, scope: Any = None, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._scope = scope
        self._names: dict[str, str] = {}

    def every_n_step_begin(self, step: int) -> list:
        """The variables."""
        found = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=self._scope)
        self._names = {variable.name: variable.value().name for variable in found}
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: dict) -> None:
        """Logs them."""
        shown = [f"{tag} = {output_of(outputs, name)!s}" for tag, name in self._names.items() if name in outputs]
        logs.info("Logging Trainable: Step %d: %s", step, ", ".join(shown))


class SummarySaver(EveryN):
    """Writes summaries."""

    def __init__(self, summary_op: Any, save_steps: int = 100, output_dir: Any = None, summary_writer: Any = None,
                 scaffold: Any = None):
        super().__init__(every_n_steps=save_steps)
        self._summary_op, self._scaffold = summary_op, scaffold
        self._writer = summary_writer or (FileWriter(output_dir) if output_dir else None)

    def set_estimator(self, estimator: Any) -> None:
        """Writes into its folder unless another was given."""
        super().set_estimator(estimator)
        if self._writer is None:
            self._writer = FileWriter(estimator.model_dir)

    def every_n_step_begin(self, step: int) -> list:
        """The summaries."""
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step: int, outputs: dict) -> Any:
        """Writes them."""
        if self._summary_op is not None and self._writer:
            self._writer.add_summary(output_of(outputs, self._summary_op), step)
        return False

    def end(self, session: Any = None) -> None:
        """Flushes."""
        super().end(session=session)
        if self._writer:
            self._writer.flush()


class ValidationMonitor(EveryN):
    """Evaluates new checkpoints, and stops when a metric was not better for `early_stopping_rounds` steps."""

    def __init__(self, x: Any = None, y: Any = None, input_fn: Any = None, batch_size: int | None = None,
                 eval_steps: int | None = None, every_n_steps: int = 100, metrics: Any = None, hooks: Any = None,
                 early_stopping_rounds: int | None = None, early_stopping_metric: str = "loss",
                 early_stopping_metric_minimize: bool = True, name: str | None = None, check_interval_secs: float | None = 5):
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self.x, self.y, self.input_fn, self.batch_size, self.eval_steps = x, y, input_fn, batch_size, eval_steps
        self.metrics, self.hooks, self.name = metrics, hooks, name
        self.early_stopping_rounds, self.early_stopping_metric = early_stopping_rounds, early_stopping_metric
        self.early_stopping_metric_minimize = early_stopping_metric_minimize
        self.best_step: int | None = None
        self.best_value: Any = None
        self.best_metrics: Any = None
        self.early_stopped = False
        self._check_interval_secs = check_interval_secs
        self._last_check: float | None = None
        self._latest: str | None = None

    def _evaluated(self) -> dict[str, Any]:
        common = {"input_fn": self.input_fn, "steps": self.eval_steps, "hooks": self.hooks, "name": self.name}
        if not isinstance(self._estimator, CoreEstimator):
            return self._estimator.evaluate(x=self.x, y=self.y, batch_size=self.batch_size, metrics=self.metrics, **common)
        if any(given is not None for given in (self.x, self.y, self.batch_size, self.metrics)):
            raise ValueError("tf.estimator.Estimator does not support following arguments: x, y, batch_size, metrics. Should set "
                             "as `None` in ValidationMonitor")
        return self._estimator.evaluate(**common)

    def every_n_step_end(self, step: int, outputs: dict) -> Any:
        """Evaluates if there is a new checkpoint; whether to stop."""
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        now, since = time.time(), self._last_check
        if self._check_interval_secs is not None and since is not None and now - since <= self._check_interval_secs:
            return False
        self._last_check = now
        latest = latest_checkpoint(self._estimator.model_dir)
        if latest is None or latest == self._latest:
            return False
        self._latest = latest
        found = self._evaluated()
        logs.info("Validation (step %d): %s", step, ", ".join(f"{name} = {value!s}" for name, value in found.items()))
        return self.early_stopping_rounds is not None and self._stops(step, found)

    def _stops(self, step: int, found: dict[str, Any]) -> bool:
        if self.early_stopping_metric not in found:
            raise ValueError(f"Metric {self.early_stopping_metric} missing from outputs {set(found)}.")
        value, best = found[self.early_stopping_metric], self.best_value
        if best is None or (value < best if self.early_stopping_metric_minimize else value > best):
            self.best_value, self.best_metrics, self.best_step = value, copy.deepcopy(found), step
        if step - (self.best_step or 0) < (self.early_stopping_rounds or 0):
            return False
        logs.info(f"Stopping. Best step: {self.best_step} with {self.early_stopping_metric} = {self.best_value}.")
        self.early_stopped = True
        return True


class CaptureVariable(EveryN):
    """Keeps the values of a tensor: {step: value}."""

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self.values: dict[int, Any] = {}

    def every_n_step_begin(self, step: int) -> list:
        """The tensor."""
        return [self._var_name]

    def every_n_step_end(self, step: int, outputs: dict) -> None:
        """Keeps it."""
        self.values[step] = output_of(outputs, self._var_name)


def get_default_monitors(loss_op: Any = None, summary_op: Any = None, save_summary_steps: int = 100, output_dir: Any = None,
                         summary_writer: Any = None) -> list:
    """A monitor that logs the loss, and one that writes summaries, as far as they are given."""
    found: list = [] if loss_op is None else [PrintTensor(tensor_names={"loss": loss_op.name})]
    if summary_op is not None:
        found.append(SummarySaver(summary_op, save_steps=save_summary_steps, output_dir=output_dir, summary_writer=summary_writer))
    return found


class GraphDump(BaseMonitor):
    """Keeps the values of nearly all tensors at each step, to compare two trainings."""

    IGNORE_OPS = ("Const", "Assign", "Identity", "Placeholder", "RandomUniform", "Cast", "RestoreSlice")

    def __init__(self, ignore_ops: Any = None):
        super().__init__()
        self._ignore_ops = ignore_ops or GraphDump.IGNORE_OPS
        self.data: dict[int, Any] = {}

    def begin(self, max_steps: int | None = None) -> None:
        """Finds the tensors."""
        super().begin(max_steps=max_steps)
        found = [op for op in get_default_graph().get_operations() if op.type not in self._ignore_ops]
        self._tensors = [op.outputs[0] for op in found if op.outputs]

    def step_begin(self, step: int) -> list:
        """The tensors."""
        super().step_begin(step)
        return self._tensors

    def step_end(self, step: int, output: dict) -> None:
        """Keeps them."""
        super().step_end(step, output)
        self.data[step] = output

    def compare(self, other_dump: GraphDump, step: int, atol: float = 1e-6) -> tuple[list, dict]:
        """(names whose values are equal, {name: the difference}) of two trainings at a step."""
        matched, differing = [], {}
        theirs = {tensor.name: value for tensor, value in other_dump.data.get(step, {}).items()}
        for tensor, value in self.data.get(step, {}).items():
            if tensor.name not in theirs:
                raise ValueError(f"{tensor.name} missing at step {step}.")
            other = theirs[tensor.name]
            if np.asarray(value).dtype.kind in "fiub" and np.allclose(value, other, atol=atol):
                matched.append(tensor.name)
            elif np.asarray(value).dtype.kind in "fiub":
                differing[tensor.name] = value - other
        return matched, differing


class ExportMonitor(EveryN):
    """Writes the newest checkpoint as a session bundle every `every_n_steps`, and at the end; see ``export`` of estimators.

    `input_fn` takes nothing and gives features and labels; without one, features are parsed from Examples.  A checkpoint that
    has been written is not written again.  Raises ValueError, when it writes, for a ``tf.estimator.Estimator``.
    """

    def __init__(self, every_n_steps: int, export_dir: Any, input_fn: Any = None, input_feature_key: str | None = None,
                 exports_to_keep: int | None = 5, signature_fn: Any = None, default_batch_size: int = 1):
        super().__init__(every_n_steps=every_n_steps)
        self.export_dir, self.exports_to_keep, self.signature_fn = export_dir, exports_to_keep, signature_fn
        self._arguments = {"input_fn": input_fn, "input_feature_key": input_feature_key, "default_batch_size": default_batch_size,
                           "use_deprecated_input_fn": input_fn is None}
        self.last_export_dir: Any = None

    def every_n_step_end(self, step: int, outputs: dict) -> None:
        """Writes it."""
        super().every_n_step_end(step, outputs)
        self._export("Skipping exporting because the existing checkpoint has already been exported. Consider exporting less "
                     "frequently.")

    def end(self, session: Any = None) -> None:
        """Writes the last one, if there is one."""
        super().end(session=session)
        if latest_checkpoint(self._estimator.model_dir) is None:
            logs.info("Skipping export at the end since model has not been saved yet.")
        else:
            self._export("Skipping exporting for the same step.")

    def _export(self, otherwise: str) -> None:
        if isinstance(self._estimator, CoreEstimator):
            raise ValueError("ExportMonitor does not support `tf.estimator.Estimator. `. Please pass an ExportStrategy to "
                             "Experiment instead.")
        try:
            self.last_export_dir = self._estimator.export(self.export_dir, exports_to_keep=self.exports_to_keep,
                                                          signature_fn=self.signature_fn, **self._arguments)
        except RuntimeError:
            logs.info(otherwise)


class CheckpointSaver(BaseMonitor):
    """Writes checkpoints every `save_steps` or `save_secs`."""

    def __init__(self, checkpoint_dir: Any, save_secs: float | None = None, save_steps: int | None = None, saver: Any = None,
                 checkpoint_basename: str = "model.ckpt", scaffold: Any = None):
        logs.info("Create CheckpointSaver.")
        super().__init__()
        if save_steps is None and save_secs is None:
            raise ValueError("Either save_steps or save_secs should be provided")
        if save_steps is not None and save_secs is not None:
            raise ValueError("Can not provide both save_steps and save_secs.")
        self._saver, self._scaffold, self._save_secs, self._save_steps = saver, scaffold, save_secs, save_steps
        self._writer, self._save_path = cached_writer(checkpoint_dir), os.path.join(checkpoint_dir, checkpoint_basename)

    def begin(self, max_steps: int | None = None) -> None:
        """Forgets what was saved."""
        super().begin(max_steps)
        self._saved_time: float | None = None
        self._saved_step: int | None = None
        self._begun_step: int | None = None

    def step_begin(self, step: int) -> list:
        """Notes the step."""
        super().step_begin(step)
        self._begun_step = step
        return []

    def post_step(self, step: int, session: Any) -> None:
        """Saves if it is time."""
        super().post_step(step, session)
        if self._saved_time is None or self._saved_step is None:
            self._save(step, session)
        elif self._save_steps is not None and step >= self._saved_step + self._save_steps:
            self._save(step, session)
        elif self._save_secs is not None and time.time() >= self._saved_time + self._save_secs:
            self._save(step, session)

    def end(self, session: Any = None) -> None:
        """Saves the last step."""
        super().end(session)
        self._save(self._begun_step, session)

    def _save(self, step: int | None, session: Any) -> None:
        if step == self._saved_step:
            return
        logs.info("Saving checkpoints for %d into %s.", step, self._save_path)
        self._saved_time, self._saved_step = time.time(), step
        (self._saver or self._scaffold.saver).save(session, self._save_path, global_step=step)
        self._writer.add_session_log(SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path), step)


class StepCounter(EveryN):
    """Writes how many steps a second are done."""

    def __init__(self, every_n_steps: int = 100, output_dir: Any = None, summary_writer: Any = None):
        super().__init__(every_n_steps=every_n_steps)
        self._reported: tuple[int, float] | None = None
        self._writer = summary_writer or (cached_writer(output_dir) if output_dir else None)

    def set_estimator(self, estimator: Any) -> None:
        """Writes into its folder unless another was given."""
        super().set_estimator(estimator)
        if self._writer is None:
            self._writer = cached_writer(estimator.model_dir)

    def every_n_step_end(self, current_step: int, outputs: dict) -> None:   # type: ignore[override]
        """Writes it."""
        now = time.time()
        if self._reported is not None and self._writer:
            value = (current_step - self._reported[0]) / (now - self._reported[1])
            self._writer.add_summary(Summary(value=[Summary.Value(tag="global_step/sec", simple_value=value)]), current_step)
        self._reported = current_step, now


class NanLoss(EveryN):
    """Stops, or raises NanLossDuringTrainingError, when the loss is not a number."""

    def __init__(self, loss_tensor: Any, every_n_steps: int = 100, fail_on_nan_loss: bool = True):
        super().__init__(every_n_steps=every_n_steps)
        self._loss_tensor, self._fail_on_nan_loss = loss_tensor, fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> list:
        """The loss."""
        return [self._loss_tensor]

    def every_n_step_end(self, step: int, outputs: dict) -> Any:
        """Looks at it."""
        if not np.isnan(output_of(outputs, self._loss_tensor)):
            return False
        if self._fail_on_nan_loss:
            logs.error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError
        logs.warning("Model diverged with loss = NaN.")
        return True
