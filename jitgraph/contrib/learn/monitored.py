"""Monitors, the older form of hooks, and the hook that runs them."""
from __future__ import annotations

from typing import Any

from jitgraph.estimator.arguments import argument_names
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunHook
from jitgraph.train.hooks.watching import graph_element
from jitgraph.variables.global_steps import get_global_step


class BaseMonitor:
    """What is called before and after each step of a training."""

    def __init__(self) -> None:
        self._begun = False
        self._current_epoch: int | None = None
        self._current_step: int | None = None
        self._max_steps: int | None = None
        self._estimator: Any = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether it runs elsewhere than in the chief."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """Says who trains."""
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Before the session is made."""
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps, self._begun = max_steps, True

    def end(self, session: Any = None) -> None:
        """After the last step."""
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps, self._begun = None, False

    def epoch_begin(self, epoch: int) -> None:
        """Before an epoch."""
        if self._current_epoch is not None:
            raise ValueError("epoch_begin called twice without epoch_end.")
        if epoch < 0:
            raise ValueError(f"Invalid epoch {epoch}.")
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        """After an epoch."""
        if self._current_epoch != epoch:
            raise ValueError(f"epoch_end expected {self._current_epoch} but got {epoch}.")
        self._current_epoch = None

    def step_begin(self, step: int) -> list:
        """Before a step: the tensors to run with it."""
        if step < 0 or (self._max_steps is not None and step > self._max_steps):
            raise ValueError(f"Invalid step {step}.")
        self._current_step = step
        return []

    def step_end(self, step: int, output: dict) -> Any:
        """After a step, with {tensor: value}; whether to stop."""
        if self._current_step != step:
            raise ValueError(f"step_end expected {self._current_step} but got {step}.")
        self._current_step = None
        return False

    def post_step(self, step: int, session: Any) -> None:
        """After all monitors saw the step."""


class EveryN(BaseMonitor):
    """A monitor that acts at the first steps, and then every `every_n_steps`."""

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1):
        super().__init__()
        self._every_n_steps, self._first_n_steps = every_n_steps, first_n_steps
        self._last_successful_step: int | None = None
        self._last_active_step = 0
        self._is_active = False

    def every_n_step_begin(self, step: int) -> list:
        """Before such a step: the tensors to run."""
        return []

    def every_n_step_end(self, step: int, outputs: dict) -> Any:
        """After such a step; whether to stop."""
        return False

    def every_n_post_step(self, step: int | None, session: Any) -> None:
        """After all monitors saw such a step."""

    def step_begin(self, step: int) -> list:
        """``every_n_step_begin`` at its steps."""
        super().step_begin(step)
        self._is_active = (step <= self._first_n_steps or step >= self._every_n_steps + self._last_active_step
                           or step == self._max_steps)
        return self.every_n_step_begin(step) if self._is_active else []

    def step_end(self, step: int, output: dict) -> Any:
        """``every_n_step_end`` at its steps."""
        super().step_end(step, output)
        return self.every_n_step_end(step, output) if self._is_active else False

    def post_step(self, step: int, session: Any) -> None:
        """``every_n_post_step`` at its steps."""
        super().post_step(step, session)
        if self._is_active:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session: Any = None) -> None:
        """``every_n_post_step`` for the last step."""
        super().end(session=session)
        if self._last_successful_step != self._last_active_step:
            self.every_n_post_step(self._last_successful_step, session)


def output_of(outputs: dict, request: Any) -> Any:
    """The value of a tensor, by itself or by its name."""
    return outputs[request] if request in outputs else outputs[request.name]


class RunHookAdapterForMonitors(SessionRunHook):
    """The hook that runs monitors."""

    def __init__(self, monitors: list):
        self._monitors = monitors

    def begin(self) -> None:
        """Begins the monitors."""
        self._last_step: int | None = None
        self._global_step = get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: Any) -> Any:
        """Asks for the step and for what monitors want."""
        if self._last_step is None:
            self._last_step = int(run_context.session.run(self._global_step)) + 1
        request: dict = {"step": self._global_step}
        wanted: list[Any] = []
        for monitor in self._monitors:
            more = monitor.step_begin(self._last_step)
            if more and not isinstance(more, list):
                raise ValueError("Monitor.step_begin should return a list.")
            wanted += more or []
        if wanted:
            request["monitors"] = {each: graph_element(each) for each in wanted}
        return SessionRunArgs(request)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Gives them what they asked for."""
        results = run_values.results.get("monitors", {})
        for monitor in self._monitors:
            if monitor.step_end(self._last_step, results):
                run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._last_step, run_context.session)
        self._last_step = int(run_values.results["step"]) + 1

    def end(self, session: Any) -> None:
        """Ends the monitors."""
        self._last_step = None
        for monitor in self._monitors:
            monitor.end(**({"session": session} if "session" in argument_names(monitor.end) else {}))


def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: Any) -> list[SessionRunHook]:
    """Hooks as they are, and one more for the monitors among them."""
    given = monitors_or_hooks or []
    hooks = [each for each in given if isinstance(each, SessionRunHook)]
    monitors = [each for each in given if not isinstance(each, SessionRunHook)]
    if not estimator.config.is_chief:
        monitors = [monitor for monitor in monitors if monitor.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks
