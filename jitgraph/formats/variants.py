"""Values of dtype variant as bytes: what a checkpoint holds of them."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Encoded:
    """A value of the host as bytes, and what kind of value they stand for."""

    type_name: str
    metadata: bytes

    def serialized(self) -> bytes:
        """The VariantTensorDataProto."""
        from jitgraph.protobuf.messages import VariantTensorDataProto

        return VariantTensorDataProto(type_name=self.type_name, metadata=self.metadata).SerializeToString()


def parsed(data: bytes) -> Encoded:
    """The value of a VariantTensorDataProto.  Raises ValueError for other bytes."""
    from google.protobuf.message import DecodeError

    from jitgraph.protobuf.messages import VariantTensorDataProto

    try:
        found: Any = VariantTensorDataProto.FromString(data)
    except DecodeError as error:
        raise ValueError(str(error)) from None
    return Encoded(found.type_name, found.metadata)
