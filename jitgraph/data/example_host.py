"""Parsed Examples on the host."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.data.simple_host import Same
from jitgraph.data.source_host import Element, Run, Source, Take
from jitgraph.ops.files.example import parse_batch
from jitgraph.ops.sparse.sparse_strings import as_variants

_NO_NAMES = np.empty(0, object)


class ParsedExamples(Same):
    """The features of each batch of serialized Examples, in the order of their keys; sparse ones as three variants.

    `attrs`: sparse_types, Tdense and dense_shapes as ParseExample has them.
    """

    def __init__(self, source: Source, sparse_keys: list[str], dense_keys: list[str], defaults: list[np.ndarray],
                 attrs: dict[str, Any]):
        super().__init__(source)
        self.sparse_keys, self.dense_keys, self.defaults, self.attrs = sparse_keys, dense_keys, defaults, attrs

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        take = self.source.resume(run.at("parse_example"), count)
        return lambda: self._parsed(take()[0])

    def _parsed(self, serialized: np.ndarray) -> Element:
        found = parse_batch(serialized, _NO_NAMES, self.sparse_keys, self.dense_keys, self.defaults, self.attrs)
        *sparse, dense = found
        by_key = dict(zip(self.sparse_keys, map(as_variants, *sparse)))
        by_key.update(zip(self.dense_keys, dense))
        return tuple(by_key[key] for key in sorted(by_key))
