"""Compiles what `jitgraph.declare.host_code` declares: loops that operations of the host run."""
from __future__ import annotations

from jitgraph.declare import host_code

from . import settings
from .library import LIBRARY


def address(code: host_code.HostCode) -> int:
    """Where the machine code of a loop lies; 0 if nothing is to be compiled."""
    return 0 if settings.jit() == "off" else LIBRARY.host_code(code.name, code.source, code.codes)


host_code.compiled = address
