"""``tf.resource_loader``: files beside the sources of a program."""
from __future__ import annotations

import inspect
import os
import sys


def load_resource(path: str) -> bytes:
    """The bytes of a file, its path relative to the folder around this package.  Raises FileNotFoundError if there is none."""
    with open(os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, path)), "rb") as file:
        return file.read()


def get_data_files_path() -> str:
    """The folder of the caller's source."""
    return os.path.dirname(inspect.getfile(sys._getframe(1)))


def get_root_dir_with_all_resources() -> str:
    """The folder below the nearest one named ``*.runfiles`` around this source, that of the source itself without one."""
    folder = own = os.path.dirname(__file__)
    below = ""
    while ".runfiles" not in os.path.basename(folder):
        above = os.path.dirname(folder)
        if above == folder:
            return own
        below, folder = folder, above
    return below or own


def get_path_to_datafile(path: str) -> str:
    """The path of a file beside the caller's source."""
    return os.path.join(os.path.dirname(inspect.getfile(sys._getframe(1))), path)


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """`path`: files are read as they are."""
    return path
