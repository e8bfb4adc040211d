"""Compiles what `jitgraph.declare.host_code` declares: loops that operations of the host run."""
from __future__ import annotations

from jitgraph.compiler.kernel import Kernel, Param
from jitgraph.compiler.options import DIRECT
from jitgraph.declare import host_code

from . import settings
from .library import LIBRARY


def address(code: host_code.HostCode) -> int:
    """Where the machine code of a loop lies; 0 if nothing is to be compiled."""
    if settings.jit() == "off":
        return 0
    params = [Param(f"x{k}", code, "inout") for k, code in enumerate(code.codes)]
    found, = LIBRARY.addresses([Kernel("host_code", [], params, name=code.name, source=code.source)], DIRECT)
    return found


host_code.compiled = address
