"""Which peers are installed, and by which interpreter each is run."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys

from jitgraph.bench.workload import MODULES

_ASK = "import importlib.util, json, sys; print(json.dumps([m for m in sys.argv[1:] if importlib.util.find_spec(m)]))"


def find(wanted: list[str]) -> dict[str, str]:
    """Return {peer: interpreter} for what was asked for; always with jitgraph, in the order of the table.

    Each item of `wanted` is the name of a peer (`jax`), a peer and its interpreter (`jax=/path/to/python`), or an
    interpreter alone, which stands for all peers that it has. Nothing wanted means all that this interpreter has.
    Raises ValueError, with a sentence for the user, for a peer or interpreter that is not there.
    """
    chosen: dict[str, str] = {"jitgraph": sys.executable}
    for item in wanted or [sys.executable]:
        name, equals, path = item.partition("=")
        if not equals and name not in MODULES:
            interpreter = _interpreter(name)
            # The interpreter that asks has its own jitgraph; another's would be another version.
            chosen.update({peer: interpreter for peer in installed(interpreter) if peer not in chosen})
            continue
        if name not in MODULES:
            raise ValueError(f"no peer is called {name!r}; there are {', '.join(MODULES)}")
        interpreter = _interpreter(path) if equals else sys.executable
        if name not in installed(interpreter):
            raise ValueError(f"{interpreter} has no {MODULES[name]}; write {name}=/path/to/a/python/that/has/it")
        chosen[name] = interpreter
    return {peer: chosen[peer] for peer in MODULES if peer in chosen}


def installed(interpreter: str) -> list[str]:
    """Return the peers that an interpreter can import."""
    modules = sorted(set(MODULES.values()))
    if interpreter == sys.executable:
        present = [module for module in modules if importlib.util.find_spec(module)]
    else:
        done = subprocess.run([interpreter, "-c", _ASK, *modules], capture_output=True, text=True, cwd=os.path.sep)
        if done.returncode:
            raise ValueError(f"{interpreter} is no working Python: {done.stderr.strip().splitlines()[-1:]}")
        present = json.loads(done.stdout)
    return [peer for peer, module in MODULES.items() if module in present]


def _interpreter(path: str) -> str:
    found = shutil.which(os.path.expanduser(path))
    if found is None:
        raise ValueError(f"neither a peer nor a Python: {path!r}; peers are {', '.join(MODULES)}")
    return os.path.abspath(found)
