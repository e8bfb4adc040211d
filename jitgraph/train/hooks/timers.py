"""When a hook is due."""
from __future__ import annotations

import time


class SecondOrStepTimer:
    """Due every so many seconds or every so many steps, and at the first step.

    Raises ValueError unless exactly one of `every_secs` and `every_steps` is given.
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None):
        self.reset()
        self._every_secs, self._every_steps = every_secs, every_steps
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")

    def reset(self) -> None:
        """Makes the timer due at the next step."""
        self._last_triggered_step: int | None = None
        self._last_triggered_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether the timer is due at `step`; never twice at the same step."""
        last = self._last_triggered_step
        if last is None:
            return True
        if last == step:
            return False
        if self._every_steps is not None:
            return bool(step >= last + self._every_steps)
        assert self._every_secs is not None and self._last_triggered_time is not None
        return time.time() >= self._last_triggered_time + self._every_secs

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes that it was due; (seconds, steps) since the time before, (None, None) at the first time."""
        now = time.time()
        last_time, last_step = self._last_triggered_time, self._last_triggered_step
        self._last_triggered_time, self._last_triggered_step = now, step
        if last_time is None or last_step is None:
            return None, None
        return now - last_time, step - last_step

    def last_triggered_step(self) -> int | None:
        """The step at which it was due last, None if it never was."""
        return self._last_triggered_step


class NeverTriggerTimer:
    """Never due."""

    def reset(self) -> None:
        """Does nothing."""

    def should_trigger_for_step(self, step: int) -> bool:
        """False."""
        return False

    def update_last_triggered_step(self, step: int) -> tuple[None, None]:
        """(None, None)"""
        return None, None

    def last_triggered_step(self) -> None:
        """None"""
        return
