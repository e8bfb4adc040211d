"""Running the kernels of loops over scalars, see `jitgraph.compiler.loops.scalar_loop`."""
from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler import divide
from jitgraph.compiler.loops.scalar_loop import DTYPES, ENDED, UNFINISHED
from jitgraph.compiler.order import variable_of
from jitgraph.graph.function_graph import is_state

from . import watch
from .library import LIBRARY
from .memory import address_of

if TYPE_CHECKING:
    from .state import State

ITERATIONS = 1 << 22        # in one call: some ten milliseconds, after which signals are looked at

_CALL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


class ScalarKernel:
    """The kernel of one While, compiled when it first runs."""

    def __init__(self, call: divide.LoopCall, state: State) -> None:
        assert call.kernel is not None
        self.loop, self.state, body = call.kernel, state, call.body.graph
        self.variables: dict[int, Any] = {k: variable_of(t) for k, t in enumerate(body.inputs) if is_state(t)}
        self.changes = [k for k, t in enumerate(body.outputs) if t is not body.inputs[k]]
        self.dtypes = [DTYPES[code].as_numpy_dtype for code in self.loop.codes[:len(body.inputs)]]
        self.constants = [np.array(c) for c in self.loop.constants]
        self.function: Callable[..., int] | None = None
        self.lock = threading.Lock()

    def prepare(self) -> Callable[..., int]:
        """Compiles the kernel, or takes it from the store."""
        with self.lock:
            if self.function is None:
                address, = LIBRARY.addresses([self.loop.kernel], self.state.options.compiler)
                self.function = _CALL(address)
        return self.function

    def run(self, values: list[Any]) -> bool:
        """Iterates until the condition fails; False if it stopped before an iteration that must run elsewhere."""
        function = self.function or self.prepare()
        if any(not self.state.variable(op).initialized for op in self.variables.values()):
            return False            # perhaps the loop does not read it
        arrays: list[np.ndarray] = []
        for k, dtype in enumerate(self.dtypes):
            value = self.state.read(self.variables[k]) if k in self.variables else values[k]
            arrays.append(np.array(value, dtype).reshape(()))
        every = arrays + self.constants
        buffers = np.array([address_of(a) for a in every], np.int64)
        pointer, limit, code = address_of(buffers), watch.present(), UNFINISHED
        while code == UNFINISHED:
            code = function(pointer, 0, 0, ITERATIONS)
            if limit is not None:
                limit.check()
        for k in self.changes:
            values[k] = arrays[k]
        return code == ENDED
