"""``tensorflow.python.keras.utils.tf_utils`` and ``generic_utils``, as far as they do not need Keras."""
from __future__ import annotations


def register_symbolic_tensor_type(cls: type) -> None:
    """Nothing to do: it is about what Keras's layers take."""
