"""Methods and operators of ragged tensors that stand on functions of ragged tensors."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.tensor import Tensor
from jitgraph.ragged import conversions, elementwise, indexing
from jitgraph.ragged.ragged_tensor import RaggedTensor

_BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "truediv", "floordiv": "floordiv", "mod": "floormod",
           "pow": "pow", "and": "logical_and", "or": "logical_or", "xor": "logical_xor"}
_COMPARED = {"gt": "greater", "ge": "greater_equal", "lt": "less", "le": "less_equal"}
_UNARY = {"abs": "abs", "neg": "negative", "invert": "logical_not"}


def _from_tensor(cls: type, tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1, name: str | None = None,
                 row_splits_dtype: Any = dtypes.int64) -> Any:
    """The rows of a dense tensor: whole, of `lengths`, or without the `padding` at their ends.

    Raises ValueError for both, TypeError or ValueError for a `ragged_rank` that is no positive number.
    """
    return conversions.from_tensor(tensor, lengths, padding, ragged_rank, name, row_splits_dtype)


def _from_sparse(cls: type, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64) -> Any:
    """The rows of a sparse matrix whose elements stand at the beginnings of its rows."""
    return conversions.from_sparse(st_input, name, row_splits_dtype)


def _to_tensor(self: Any, default_value: Any = None, name: str | None = None) -> Tensor:
    """A dense tensor, `default_value` (0, "") after the ends of rows."""
    return conversions.to_tensor(self, default_value, name)


def _to_sparse(self: Any, name: str | None = None) -> Any:
    """A SparseTensor of all elements."""
    return conversions.to_sparse(self, name)


def _getitem(self: Any, key: Any) -> Any:
    """Rows, and parts of all rows."""
    return indexing.getitem(self, key)


def _operator(name: str, swapped: bool = False) -> Any:
    def made(self: Any, *other: Any) -> Any:
        return elementwise.operator(name, *((*other, self) if swapped else (self, *other)))

    return made


RaggedTensor.from_tensor = classmethod(_from_tensor)
RaggedTensor.from_sparse = classmethod(_from_sparse)
RaggedTensor.to_tensor, RaggedTensor.to_sparse, RaggedTensor.__getitem__ = _to_tensor, _to_sparse, _getitem
for _symbol, _name in {**_BINARY, **_COMPARED, **_UNARY}.items():
    setattr(RaggedTensor, f"__{_symbol}__", _operator(_name))
for _symbol, _name in _BINARY.items():
    setattr(RaggedTensor, f"__r{_symbol}__", _operator(_name, swapped=True))
