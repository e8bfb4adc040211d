"""What tensors an estimator was trained with, so that others are refused."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.ops.arrays.identity import placeholder, sparse_placeholder
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.files.parsing import FixedLenFeature, VarLenFeature, parse_example


class Signature(NamedTuple):
    """The dtype and shape of a tensor; the shape is None for sparse ones."""

    dtype: Any
    shape: Any
    is_sparse: bool

    def takes(self, tensor: Any) -> bool:
        """Whether a tensor is like it, but for the batch size."""
        other = signature_of(tensor)
        if self.is_sparse or other.is_sparse:
            return self.is_sparse and other.is_sparse and self.dtype.is_compatible_with(other.dtype)
        if not self.dtype.is_compatible_with(other.dtype):
            return False
        if self.shape.dims is None or other.shape.dims is None:
            return True
        return self.shape.ndims == other.shape.ndims and all(a.is_compatible_with(b) for a, b in zip(
            self.shape.dims[1:], other.shape.dims[1:]))

    def placeholder(self) -> Any:
        """A placeholder for such tensors."""
        if self.is_sparse:
            return sparse_placeholder(dtype=self.dtype)
        return placeholder(dtype=self.dtype, shape=[None, *self.shape.as_list()[1:]])

    def feature(self) -> Any:
        """What ``tf.parse_example`` needs for such tensors; Examples hold int64, float32 and strings."""
        dtype = {dtypes.int32: dtypes.int64, dtypes.float64: dtypes.float32}.get(self.dtype, self.dtype)
        return VarLenFeature(dtype) if self.is_sparse else FixedLenFeature(self.shape[1:], dtype)


def signature_of(tensor: Any) -> Signature:
    """That of a tensor."""
    if isinstance(tensor, SparseTensor):
        return Signature(tensor.values.dtype, None, True)
    return Signature(tensor.dtype, tensor.get_shape(), False)


def signatures_of(tensors: Any) -> Any:
    """Those of a tensor, or of a dict of them; None of None."""
    if isinstance(tensors, dict):
        return {key: signature_of(tensor) for key, tensor in tensors.items()}
    return None if tensors is None else signature_of(tensors)


def take(signatures: Any, tensors: Any) -> bool:
    """Whether tensors are like those of signatures."""
    if tensors is None:
        return signatures is None
    if isinstance(tensors, dict):
        return isinstance(signatures, dict) and all(key in tensors and signature.takes(tensors[key])
                                                    for key, signature in signatures.items())
    return isinstance(signatures, Signature) and signatures.takes(tensors)


def placeholders_of(signatures: Any) -> Any:
    """Placeholders for tensors of signatures; None of None."""
    if isinstance(signatures, dict):
        return {key: signature.placeholder() for key, signature in signatures.items()}
    return None if signatures is None else signatures.placeholder()


def parsed(signatures: Any, examples: Any) -> Any:
    """Tensors like those of signatures, from serialized Examples: the feature "feature" for a single one."""
    single = isinstance(signatures, Signature)
    wanted = {"feature": signatures} if single else signatures
    found = parse_example(examples, {key: signature.feature() for key, signature in wanted.items()})
    found = {key: tensor if wanted[key].dtype.is_compatible_with(tensor.dtype) else cast(tensor, wanted[key].dtype)
             for key, tensor in found.items()}
    return found["feature"] if single else found
