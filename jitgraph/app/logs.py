"""``tf.logging``: messages to the standard error, as ``INFO:tensorflow:message``."""
from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

DEBUG, INFO, WARN, ERROR, FATAL = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL
_LEVEL_NAMES = {DEBUG: "DEBUG", INFO: "INFO", WARN: "WARN", ERROR: "ERROR", FATAL: "FATAL"}

_lock = threading.Lock()
_counts: dict[tuple[str, int], int] = {}
_state: set[str] = set()
_before: list[Callable[[], None]] = []      # what is called before a message is written, one at most


class _Current(logging.StreamHandler):
    """Writes to what ``sys.stderr`` (in an interactive Python ``sys.stdout``) is at the moment, so that redirecting it works."""

    @property
    def stream(self) -> Any:
        return sys.stdout if _is_interactive() else sys.stderr

    @stream.setter
    def stream(self, value: Any) -> None:
        pass

    def emit(self, record: logging.LogRecord) -> None:
        for make_room in _before:
            make_room()
        super().emit(record)


def _is_interactive() -> bool:
    return hasattr(sys, "ps1") or bool(sys.flags.interactive)


def _logger() -> logging.Logger:
    """The logger, with a handler of its own unless the program (or absl, in ``tf.app.run``) gave the root logger one before."""
    logger = logging.getLogger("tensorflow")
    with _lock:
        if "configured" not in _state:
            _state.add("configured")
            logger.findCaller = _line_that_logs     # type: ignore[method-assign]
            if not logging.getLogger().handlers:
                if _is_interactive():
                    logger.setLevel(INFO)
                handler = _Current()
                handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
                logger.addHandler(handler)
    return logger


def _line_that_logs(stack_info: bool = False, stacklevel: int = 1) -> tuple[str, int, str, str | None]:
    """(file, line, function, the stack if asked for) of the call that is no function of this file nor of Python's ``logging``:
    formats that show them, such as absl's, name the program's line."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename in (__file__, logging.__file__):
        frame = frame.f_back
    stack = "".join(traceback.format_stack(frame)).rstrip() if stack_info else None
    return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, stack


def get_logger() -> logging.Logger:
    """The Python logger behind these functions, named "tensorflow"."""
    return _logger()


def terminal() -> Any:
    """The terminal that messages of level INFO are written to; None if it is none, they are not shown or others handle them."""
    logger = _logger()
    handlers = [handler for handler in logger.handlers if isinstance(handler, _Current)]
    if not handlers or not logger.isEnabledFor(INFO):
        return None
    stream = handlers[0].stream
    return stream if stream is not None and stream.isatty() else None


def before_message(make_room: Callable[[], None] | None) -> None:
    """What is to be called before each message from now on, as by a line that gives way; None for nothing."""
    _before[:] = [] if make_room is None else [make_room]


def get_verbosity() -> int:
    """The lowest level that is shown: that of the root logger, WARN at first, unless one was set."""
    return _logger().getEffectiveLevel()


def set_verbosity(v: int | str) -> None:
    """Shows messages of level `v` (``tf.logging.INFO``, 20, "INFO") and above."""
    _logger().setLevel(v if isinstance(v, int) else {"WARN": WARN}.get(v, v))


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args`` at `level`."""
    _logger().log(level, msg, *args, **kwargs)


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at level DEBUG."""
    _logger().debug(msg, *args, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at level INFO."""
    _logger().info(msg, *args, **kwargs)


def warn(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at level WARN."""
    _logger().warning(msg, *args, **kwargs)


warning = warn


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at level ERROR."""
    _logger().error(msg, *args, **kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at level FATAL; the program goes on."""
    _logger().critical(msg, *args, **kwargs)


def vlog(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at `level`."""
    _logger().log(level, msg, *args, **kwargs)


def flush() -> None:
    """Writes out what is buffered."""
    for handler in _logger().handlers:
        handler.flush()


def _count_here() -> int:
    """How often the caller's caller came to its present line."""
    frame = sys._getframe(2)
    key = (frame.f_code.co_filename, frame.f_lineno)
    with _lock:
        _counts[key] = _counts.get(key, -1) + 1
        return _counts[key]


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs the first and then every `n`-th time that this line is reached."""
    if _count_here() % n == 0:
        log(level, msg, *args)


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs the first `n` times that this line is reached."""
    if _count_here() < n:
        log(level, msg, *args)


def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Logs if `condition` is true."""
    if condition:
        log(level, msg, *args)


def TaskLevelStatusMessage(msg: Any) -> None:
    """Logs at level ERROR."""
    error(msg)
