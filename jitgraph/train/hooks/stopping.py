"""Hooks that end training, or wait to begin it."""
from __future__ import annotations

import time
from typing import Any

from jitgraph.app import logs
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from jitgraph.variables.global_steps import required_global_step_read


class StopAtStepHook(SessionRunHook):
    """Stops after `num_steps` further steps, or once the global step is `last_step`.

    Raises ValueError unless exactly one is given; ``begin`` raises RuntimeError without a global step.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        """Makes the node that reads the global step."""
        self._global_step_tensor = required_global_step_read("StopAtStepHook")
        self._request = SessionRunArgs(self._global_step_tensor)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Counts `num_steps` from the step of the first session; a recovered one goes on to the same last step."""
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """The global step."""
        return self._request

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Asks for the end at the last step."""
        assert self._last_step is not None
        # The run may have read the step before or after it counted: look again only where that decides.
        if run_values.results + 1 >= self._last_step and \
                run_context.session.run(self._global_step_tensor) >= self._last_step:
            run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Holds back the first run until other workers have brought the global step to `wait_until_step`.

    ``begin`` raises RuntimeError without a global step.
    """

    def __init__(self, wait_until_step: int):
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        """Makes the node that reads the global step."""
        self._worker_is_started = False
        self._global_step_tensor = required_global_step_read("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        """Waits, looking twice a second."""
        if self._worker_is_started:
            return
        if self._wait_until_step > 0:
            logs.info("Waiting for global step %d before starting training.", self._wait_until_step)
            last_logged = 0
            while (step := run_context.session.run(self._global_step_tensor)) < self._wait_until_step:
                if step - last_logged > 1000:
                    logs.info("Waiting for global step %d before starting training. Current step is %d.",
                              self._wait_until_step, step)
                    last_logged = step
                time.sleep(0.5)
        self._worker_is_started = True
