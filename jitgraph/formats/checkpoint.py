"""Checkpoints by their prefix, whatever their format: ``tf.train.NewCheckpointReader``."""
from __future__ import annotations

import glob
import os
from typing import Any

from jitgraph.formats import bundle, checkpoint_v1
from jitgraph.formats.bundle_reader import BundleReader
from jitgraph.formats.checkpoint_v1 import V1Reader
from jitgraph.formats.files import local_path
from jitgraph.graph.errors import InvalidArgumentError, NotFoundError


def path_string(path: Any) -> str:
    """A path given as str, bytes or path object as str.  Raises TypeError for anything else."""
    if isinstance(path, bytes):
        return path.decode()
    if isinstance(path, str):
        return path
    try:
        return os.fspath(path)
    except TypeError:
        raise TypeError(f"Expected binary or unicode string, got {path!r}") from None


def open_checkpoint(prefix: str) -> BundleReader | V1Reader:
    """The checkpoint `prefix`.

    Raises NotFoundError if there is none, InvalidArgumentError if there is not even its folder, DataLossError if the file is none
    or is damaged.
    """
    if os.path.exists(bundle.index_path(prefix)):
        return BundleReader(prefix)
    if checkpoint_v1.files(prefix):
        return V1Reader(prefix)
    if missing_folder(prefix):
        raise InvalidArgumentError(None, None, "Unsuccessful TensorSliceReader constructor: Failed to get matching files on "
                                               f"{prefix}: Not found: {missing_folder(prefix)}; No such file or directory")
    raise NotFoundError(None, None, "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
                                    f"{prefix}")


def missing_folder(prefix: str) -> str | None:
    """The folder that the checkpoint `prefix` should be in, if it is not there."""
    folder = os.path.dirname(local_path(prefix))
    return folder if folder and not glob.has_magic(folder) and not os.path.isdir(folder) else None


class CheckpointReader:
    """What a checkpoint holds: ``tf.train.NewCheckpointReader("model.ckpt-100")``.

    Raises NotFoundError if there is no such checkpoint, InvalidArgumentError if there is no such folder, DataLossError if it is
    damaged.
    """

    def __init__(self, filepattern: Any):
        self._reader = open_checkpoint(path_string(filepattern))

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """{name: shape as a list} of all tensors."""
        return {name: list(self._reader.shape(name)) for name in self._reader.names()}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """{name: DType} of all tensors."""
        return {name: self._reader.dtype(name) for name in self._reader.names()}

    def has_tensor(self, tensor_str: Any) -> bool:
        """Whether there is a tensor of that name."""
        return path_string(tensor_str) in self._reader

    def get_tensor(self, tensor_str: Any) -> Any:
        """The value of a tensor: an ndarray, or a NumPy scalar (bytes for strings) if it has no dimensions.

        Raises NotFoundError if there is none of that name.
        """
        return self._reader.read(path_string(tensor_str))[()]

    def debug_string(self) -> bytes:
        """All tensors, a line each: name, dtype, shape."""
        return "".join(line + "\n" for line in self._reader.lines()).encode()
