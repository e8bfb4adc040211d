"""Files: ``tf.read_file``, ``tf.write_file``, ``tf.matching_files``."""
from __future__ import annotations

import os

import numpy as np

from jitgraph.declare.op import op
from jitgraph.formats.files import local_path, op_errors
from jitgraph.graph import shape_rules


def path_of(element: bytes | str) -> str:
    """The path of a file on this machine from an element of a string tensor."""
    return local_path(os.fsdecode(element))


@op("ReadFile(filename: string) -> contents: string", shape=shape_rules.scalar, stateful=True, host=True,
    tested_in="tests/tools/test_tools.py: a file")
def read_file(filename):
    """The contents of a file.  A run raises NotFoundError if there is none of that name."""
    path = path_of(filename[()])
    with op_errors(path), open(path, "rb") as file:
        return np.array(file.read(), object)


@op("WriteFile(filename: string, contents: string)", shape=shape_rules.no_outputs, stateful=True, host=True,
    tested_in="tests/tools/test_tools.py: a file")
def write_file(filename, contents):
    """Writes a string to a file, whose folders are made if need be; what was there is replaced."""
    path = path_of(filename[()])
    with op_errors(path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(contents[()])


@op("MatchingFiles(pattern: string) -> filenames: string", shape=lambda c: (None,), dynamic=True, stateful=True,
    host=True, tested_in="tests/tools/test_tools.py: a file")
def matching_files(pattern):
    """The names of the files that match any of the glob patterns, sorted.

    A run raises NotFoundError if the folder before the first wildcard is not there.
    """
    from jitgraph.filesystem.gfile import Glob

    found = sorted({os.fsencode(name) for name in Glob([one for one in np.ravel(pattern) if one])})
    names = np.empty(len(found), object)
    names[:] = found
    return names
