"""What a session owns between runs: variables, positions of random streams, host resources."""
from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler import options, targets
from jitgraph.compiler.open_variables import uninitialized
from jitgraph.compiler.order import variable_key
from jitgraph.graph.errors import CancelledError
from jitgraph.graph.operation import Operation

from . import postponed, watch
from .memory import address_of, aligned_empty
from .variable import Variable

if TYPE_CHECKING:
    from jitgraph.graph.function_graph import FunctionGraph

    from .cuda.machine import Machine
    from .functions import ChoiceCaller, Delegate, LoopCaller
    from .plan import Plan

SHORTEST_WAIT = 1e-4       # seconds
LONGEST_WAIT = 1.0          # seconds between two looks of a waiting operation at its session and the clock


class State:
    """Variables by (container, shared name); shared by the plans of one session.

    `jit` is the session's mode; `make_plan` makes a plan (the class Plan), `make_function` what the host calls for the graph of
    a function (the class Delegate); `compiler` is the one that programs are compiled by, that of JITGRAPH_COMPILER if None;
    `target`: what they are for, and `machine` the devices of that, None where it is the host; `functions` holds the plans of the
    functions that operations call; `generation` counts changes of buffer addresses, so that plans know when to look again.
    """

    generation = 0
    server: Any = None      # whose sessions this is of, see `ServedState`

    def __init__(self, jit: str, make_plan: Callable[..., Plan], compiler: str | None = None,
                 make_function: Callable[[FunctionGraph, State], Delegate] | None = None) -> None:
        self.jit, self.make_plan, self.compiler, self.make_function = jit, make_plan, compiler, make_function
        self.target: Any = targets.present()
        self.machine: Machine | None = None
        if self.target.has_memory:
            from .cuda.machine import machine_of

            self.machine = machine_of(self.target)
            self.target = self.target.seeing(tuple(range(len(self.machine.devices))))
        self.functions: dict[tuple[Operation, frozenset[int] | None], ChoiceCaller | LoopCaller] = {}
        self.variables: dict[tuple[str, str], Variable] = {}
        self.streams: dict[Operation, Stream] = {}
        self.resources: dict[tuple[Any, ...], Any] = {}
        self.waiting: list[threading.Condition] = []
        self.closed = False
        self.lock = threading.RLock()

    def configure(self, config: Any) -> None:
        """Takes over what a `tf.ConfigProto`, or None, says of the devices of `machine`.  Raises InvalidArgumentError."""
        if self.machine is not None:
            from .cuda.visible import limit_memory, visible

            self.target = self.target.seeing(visible(config, self.machine))
            limit_memory(config, self.machine)

    @property
    def options(self) -> options.Options:
        """What programs of this session are compiled with."""
        libraries = self.machine.libraries if self.machine is not None else frozenset()
        return options.present(self.compiler, self.jit != "off", libraries)

    def variable(self, op: Operation) -> Variable:
        """The variable behind a variable operation."""
        key = variable_key(op)
        found = self.variables.get(key)
        if found is None:
            with self.lock:
                found = self.variables.setdefault(key, self.new_variable(op.name))
        return found

    def new_variable(self, name: str) -> Variable:
        """A variable without a buffer."""
        if self.machine is None:
            return Variable(name)
        from .cuda.variable import DeviceVariable

        return DeviceVariable(name, self.machine)

    def allocate(self, variable: Variable, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """A buffer of this shape for the variable: the present one if it has as many elements, else a new one of zeros."""
        dtype = np.dtype(dtype)
        array = variable.array
        if array is None or array.shape != tuple(shape) or array.dtype != dtype:
            if array is not None and array.dtype == dtype and array.size == math.prod(shape):
                array = array.reshape(shape)
            elif dtype == object:
                array = np.empty(shape, dtype=object)
            else:
                size = int(np.prod(shape, dtype=np.int64))
                array = aligned_empty(max(size, 1) * dtype.itemsize)[:size * dtype.itemsize].view(dtype).reshape(shape)
                array[...] = 0
            with self.lock:
                variable.array, variable.address = array, 0 if dtype == object else address_of(array)
                variable.written()
                self.generation += 1
        return array

    def read(self, op: Operation) -> np.ndarray:
        """The variable's present value (its buffer).  Raises FailedPreconditionError if it was never written."""
        found = self._written(op).value()
        assert found is not None
        return found

    def there(self, op: Operation) -> Any:
        """The same on a device, where one has it: nothing is copied to the host."""
        return self._written(op).there()

    def _written(self, op: Operation) -> Variable:
        variable = self.variable(op)
        if not variable.initialized:
            raise uninitialized(op)
        return variable

    def assign(self, op: Operation, value: Any) -> np.ndarray:
        """Sets a variable; returns its buffer."""
        variable = self.variable(op)
        value = np.asarray(value)
        array = self.allocate(variable, value.shape, value.dtype)
        array[...] = value
        variable.written()
        variable.initialized = True
        return array

    def stream(self, op: Operation) -> Stream:
        """The position of a random operation's stream."""
        op = op.origin or op
        found = self.streams.get(op)
        if found is None:
            with self.lock:
                found = self.streams.setdefault(op, Stream())
        return found

    def with_own_streams(self) -> OwnStreams:
        """This state, with random streams that start anew."""
        return OwnStreams(self)

    def resource(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """The object of the host under `key` (a queue, a table, a counter), made by `make` at the first call."""
        found = self.resources.get(key)
        if found is None:
            with self.lock:
                found = self.resources.get(key)
                if found is None:
                    found = self.resources[key] = make()
        return found

    def owner(self, op: Operation) -> Any:
        """What keeps the queue, table or the like behind a node: this state; the task of a cluster that it is placed on."""
        return self

    def wait(self, condition: threading.Condition, ready: Callable[[], bool], look: Callable[[], float] | None = None) -> None:
        """Waits on `condition`, which the caller holds, until ready() is true; others keep running meanwhile.

        It is asked whenever somebody notifies the condition, and at the time look(), if that is given (of ``time.monotonic``).
        Raises CancelledError once the session is closed, DeadlineExceededError when the time that the run was given
        (`watch`) is over.
        """
        if ready():
            return
        self.waiting.append(condition)
        try:
            while not ready():
                watch.check()
                if self.closed:
                    raise CancelledError(None, None, "The operation was cancelled: its session is closed")
                # the limit is for platforms where a lock cannot be interrupted by Ctrl-C
                longest = LONGEST_WAIT if look is None else min(max(look() - time.monotonic(), SHORTEST_WAIT), LONGEST_WAIT)
                condition.wait(min(watch.seconds_left(), longest))
        finally:
            self.waiting.remove(condition)

    def later(self, op: Operation) -> Callable[[postponed.Finish], None] | None:
        """What takes the waiting of an operation for the end of its run, None where it is to wait at once."""
        return postponed.taker(op)

    def close(self) -> None:
        """Frees everything; operations that wait give up."""
        self.closed = True
        for condition in list(self.waiting):
            with condition:
                condition.notify_all()
        self.variables.clear()
        for caller in list(self.functions.values()):
            caller.close()
        self.functions.clear()
        self.streams.clear()
        self.resources.clear()


class OwnStreams:
    """A session's state with random streams of its own, which start anew."""

    def __init__(self, state: State):
        self._state = state
        self.streams: dict[Operation, Stream] = {}
        self.functions: dict[tuple[Operation, frozenset[int] | None], ChoiceCaller | LoopCaller] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    def stream(self, op: Operation) -> Stream:
        """The position of a random operation's stream."""
        return self.streams.setdefault(op.origin or op, Stream())


class Stream:
    """Where a random operation's generator stands: `blocks` already reserved, and the seed pair for unseeded ones."""

    __slots__ = ("blocks", "_entropy")

    def __init__(self) -> None:
        self.blocks = 0
        self._entropy: tuple[int, int] | None = None

    @property
    def entropy(self) -> tuple[int, int]:
        if self._entropy is None:
            import secrets

            self._entropy = (secrets.randbits(63), secrets.randbits(63))
        return self._entropy

    def copy(self) -> Stream:
        other = Stream()
        other.blocks, other._entropy = self.blocks, self._entropy
        return other
