"""Sources that give a worker or a replica its share: files or elements of one worker, batches cut into smaller ones."""
from __future__ import annotations

import collections
import copy

import numpy as np

from jitgraph.data.function_host import Flattened, Interleaved
from jitgraph.data.order_host import Shuffled
from jitgraph.data.simple_host import Joined, Sharded, Unary, Zipped
from jitgraph.data.source_host import INFINITE, UNKNOWN, Element, Function, Run, Source, Take
from jitgraph.declare.invalid import invalid

_READERS = {"FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "TextLineDataset", "TFRecordDataset"}


def of_worker(source: Source, workers: int, index: int) -> Source:
    """The share of worker `index`: of the files, where a dataset reads files whose names are its elements, else of elements.

    Raises InvalidArgumentError unless 0 <= index < workers.
    """
    if workers < 1:
        raise invalid("num_workers must be greater than zero.")
    if not 0 <= index < workers:
        raise invalid(f"index must be between 0 and {workers - 1}")
    return _of_files(source, workers, index) or Sharded(source, workers, index, False)


def _of_files(source: Source, workers: int, index: int) -> Source | None:
    """The source with a share of its files; None if it reads none."""
    if isinstance(source, (Flattened, Interleaved)) and _reads_files(source.function):
        return _over(source, _share(source.source, workers, index))
    if isinstance(source, Unary):
        inner = _of_files(source.source, workers, index)
        return None if inner is None else _over(source, inner)
    if isinstance(source, (Joined, Zipped)):
        parts = [_of_files(one, workers, index) for one in source.inputs]
        if not any(parts):
            return None
        made = copy.copy(source)
        made.inputs = tuple(part or one for part, one in zip(parts, source.inputs))
        return made
    return None


def _share(source: Source, workers: int, index: int) -> Source:
    # names that each worker shuffles on its own would be read twice, or never: they are shuffled after the choice
    if isinstance(source, Shuffled):
        return _over(source, _share(source.source, workers, index))
    return Sharded(source, workers, index, False)


def _over(source: Unary, inner: Source) -> Source:
    made = copy.copy(source)
    Unary.__init__(made, inner)
    return made


def _reads_files(function: Function) -> bool:
    from jitgraph.graph.calls import functions_of

    graphs = [function.graph]
    while graphs:
        for op in graphs.pop().get_operations():
            if op.type in _READERS:
                return True
            graphs += functions_of(op)
    return False


class Rebatched(Unary):
    """The batches of another source, each cut into `count` ones: the last are smaller, or empty."""

    def __init__(self, source: Source, count: int):
        if count < 1:
            raise invalid("num_replicas must be greater than zero.")
        super().__init__(source)
        self.count = count

    def iterate(self, run: Run) -> Take:
        take = self.source.iterate(run.at("rebatch"))
        waiting: collections.deque[Element] = collections.deque()

        def rebatched() -> Element:
            if not waiting:
                waiting.extend(self._parts(take()))
            return waiting.popleft()

        return rebatched

    def _parts(self, element: Element) -> list[Element]:
        for k, array in enumerate(element):
            if not np.ndim(array):
                raise invalid("Cannot rebatch dataset: All components must have at least one dimension. Perhaps your input dataset "
                              f"is not batched? Component {k} is scalar.")
            if len(array) != len(element[0]):
                raise invalid("Cannot rebatch dataset: All components must have the same size in their first dimension. Component "
                              f"{k} has {len(array)}, component 0 has {len(element[0])}.")
        size = -(-len(element[0]) // self.count)
        return [tuple([array[k * size:(k + 1) * size] for array in element]) for k in range(self.count)]

    def size(self) -> int:
        size = self.source.size()
        return size if size in (INFINITE, UNKNOWN) else size * self.count
