"""Processes that a program starts by `multiprocessing`: what `import tensorflow` means in it, it means in them.

A forked process has it already.  One that is spawned begins with an empty Python, which is sent what it needs to be like its
parent, and then imports the program anew; among what it is sent is an object that is made by calling `prepare`.
"""

from __future__ import annotations

import functools
from typing import Any

KEY = "jitgraph"  # which `multiprocessing.spawn.prepare` passes over, as all that it does not know


class Prepared:
    """Has the process that unpickles it prepared for programs of TensorFlow 1."""

    def __reduce__(self) -> tuple:
        from jitgraph.cli.script import prepare

        return prepare, ()


@functools.cache
def follow() -> None:
    """Have processes that are spawned from now on prepared; once."""
    from multiprocessing import spawn

    before = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        return {KEY: Prepared(), **before(name)}

    spawn.get_preparation_data = get_preparation_data
