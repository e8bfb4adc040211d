"""Orders of dimensions by letters: ``NHWC`` and ``NCHW``."""
from __future__ import annotations

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.dtypes import INDEX

_FORMATS = 'src_format: string = "NHWC", dst_format: string = "NCHW"'


def _places(src_format: str, dst_format: str) -> tuple[np.ndarray, np.ndarray]:
    """Where each dimension of the source stands in the destination, and the other way round."""
    if sorted(src_format) != sorted(dst_format):
        raise invalid(f"Destination format {dst_format} is not a permutation of the source format {src_format}")
    return (np.array([dst_format.index(letter) for letter in src_format]),
            np.array([src_format.index(letter) for letter in dst_format]))


@op(f"DataFormatDimMap(x: T; {_FORMATS}) -> y: T", T=INDEX, shape=shape_rules.same_as_input, checks=True)
def data_format_dim_map(x, src_format, dst_format):
    """For each number of a dimension in `src_format` its number in `dst_format`."""
    there, _ = _places(src_format, dst_format)
    if ((x < -len(there)) | (x >= len(there))).any():
        raise invalid(f"the dimensions must be in [{-len(there)}, {len(there)})")
    return there[x].astype(x.dtype)


@op(f"DataFormatVecPermute(x: T; {_FORMATS}) -> y: T", T=INDEX, shape=shape_rules.same_as_input, checks=True,
    samples=lambda rng, dtype: [[np.arange(size, dtype=dtype).reshape(shape)] for size, shape in (
        (4, (4,)), (8, (4, 2)), (2, (2,)), (4, (2, 2)))])
def data_format_vec_permute(x, src_format, dst_format):
    """The sizes (or pairs) in `x`, given in the order of `src_format`, in that of `dst_format`; of 2, those of H and W."""
    if x.ndim not in (1, 2) or x.shape[0] not in (2, 4) or x.ndim == 2 and x.shape[1] != 2:
        raise invalid(f"x must have shape [4], [4, 2], [2] or [2, 2], got {list(x.shape)}")
    if x.shape[0] == 2:
        src_format, dst_format = ("".join(letter for letter in text if letter in "HW") for text in (src_format, dst_format))
    return x[_places(src_format, dst_format)[1]]
