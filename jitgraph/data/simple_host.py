"""Sources from memory, and those that take, leave out, repeat and join the elements of others."""
from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from jitgraph.data.source_host import INFINITE, UNKNOWN, Element, Run, Session, Source, Take, drained, stacked
from jitgraph.graph import errors


def _ended() -> Element:
    raise StopIteration


class One(Source):
    """A single element."""

    def __init__(self, element: Element):
        self.element = element

    def iterate(self, run: Run) -> Take:
        return iter((self.element,)).__next__

    def size(self) -> int:
        return 1


class Slices(Source):
    """The slices of arrays along their first dimension."""

    def __init__(self, arrays: list[np.ndarray]):
        self.arrays = arrays
        self.count = len(arrays[0])

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        arrays, numbers = self.arrays, iter(range(count, self.count))
        if run.numbers:
            return numbers.__next__
        if len(arrays) == 1:
            only, = arrays
            return lambda: (only[next(numbers), ...],)

        def take() -> Element:
            number = next(numbers)
            return tuple([array[number, ...] for array in arrays])

        return take

    def numbered(self) -> bool:
        return True

    def rows(self, numbers: list) -> Element:
        return tuple([array[numbers] for array in self.arrays])

    def size(self) -> int:
        return self.count


class Listed(Source):
    """Elements in a list."""

    def __init__(self, elements: list[Element]):
        self.elements = elements

    def iterate(self, run: Run) -> Take:
        return iter(self.elements).__next__

    def size(self) -> int:
        return len(self.elements)


class SparseSlices(Source):
    """The rows of a sparse tensor, as indices, values and shape; its indices have to be in order."""

    def __init__(self, indices: np.ndarray, values: np.ndarray, shape: np.ndarray):
        if len(indices) and np.any(np.diff(indices[:, 0]) < 0):
            raise errors.UnimplementedError(None, None, "The SparseTensor must be ordered in the batch dimension; handling "
                                                        "arbitrarily ordered input is not currently supported.")
        self.parts = indices, values, shape

    def iterate(self, run: Run) -> Take:
        indices, values, shape = self.parts
        ends = np.searchsorted(indices[:, 0], np.arange(int(shape[0]) + 1))
        rows = iter([(np.array(indices[a:b, 1:]), np.array(values[a:b]), np.array(shape[1:])) for a, b in itertools.pairwise(ends)])
        return rows.__next__

    def size(self) -> int:
        return int(self.parts[2][0])


class Counting(Source):
    """int64 numbers from `start` on to before `stop`."""

    def __init__(self, start: int, stop: int, step: int):
        if step == 0:
            raise errors.InvalidArgumentError(None, None, "step must be a non-zero integer.")
        self.numbers = range(start, stop, step)

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        numbers, array = iter(self.numbers[count:]), np.array
        return numbers.__next__ if run.numbers else lambda: (array(next(numbers), np.int64),)

    def numbered(self) -> bool:
        return True

    def rows(self, numbers: list) -> Element:
        return np.array(numbers, np.int64),

    def size(self) -> int:
        return len(self.numbers)


class Unary(Source):
    """A source made of one other."""

    def __init__(self, source: Source):
        self.source = source
        self.inputs = (source,)


class Same(Unary):
    """The elements of another source, and as many."""

    def iterate(self, run: Run) -> Take:
        return self.source.iterate(run)

    def resume(self, run: Run, count: int) -> Take:
        return self.source.resume(run, count)

    def size(self) -> int:
        return self.source.size()


class Taken(Unary):
    """The first elements, all of them if `count` is negative."""

    orders = True

    def __init__(self, source: Source, count: int):
        super().__init__(source)
        self.count = count

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        take = self.source.resume(run.at("take"), count if self.count < 0 else min(count, self.count))
        if self.count < 0:
            return take
        left = max(self.count - count, 0)

        def taken() -> Element:
            nonlocal left
            if not left:
                raise StopIteration
            element = take()
            left -= 1           # an error is none of them
            return element

        return taken

    def size(self) -> int:
        size = self.source.size()
        return size if self.count < 0 or size == UNKNOWN else self.count if size == INFINITE else min(size, self.count)


class Skipped(Unary):
    """The elements after the first ones; none if `count` is negative."""

    orders = True

    def __init__(self, source: Source, count: int):
        super().__init__(source)
        self.count = count

    def iterate(self, run: Run) -> Take:
        if self.count < 0:
            return _ended
        take, left = self.source.iterate(run.at("skip")), self.count

        def skipped() -> Element:
            nonlocal left
            while left:
                take()
                left -= 1       # an error is none of them
            return take()

        return skipped

    def size(self) -> int:
        size = self.source.size()
        return 0 if self.count < 0 else size if size < 0 else max(size - self.count, 0)


class Sharded(Unary):
    """Every element whose number has the remainder `index`."""

    orders = True

    def __init__(self, source: Source, shards: int, index: int, require_non_empty: bool):
        if shards < 1:
            raise errors.InvalidArgumentError(None, None, f"Number of shards must be greater than zero (currently num_shards = "
                                                          f"{shards}).")
        if not 0 <= index < shards:
            raise errors.InvalidArgumentError(None, None, f"Index must be between 0 and {shards - 1} (currently index = "
                                                          f"{index}).")
        super().__init__(source)
        self.shards, self.index = shards, index

    def iterate(self, run: Run) -> Take:
        take, ahead = self.source.iterate(run.at("shard")), self.index

        def sharded() -> Element:
            nonlocal ahead
            while ahead:
                take()              # in whose place an error does not stand: the next element has its number
                ahead -= 1
            element = take()
            ahead = self.shards - 1
            return element

        return sharded

    def size(self) -> int:
        size = self.source.size()
        return size if size < 0 else len(range(self.index, size, self.shards))


class Joined(Source):
    """The elements of one source and then those of another."""

    def __init__(self, first: Source, second: Source):
        self.inputs = first, second

    def iterate(self, run: Run) -> Take:
        take, waiting = self.inputs[0].iterate(run.at(("concatenate", 0))), [(1, self.inputs[1])]

        def joined() -> Element:
            nonlocal take
            while True:
                try:
                    return take()
                except StopIteration:
                    if not waiting:
                        raise
                    number, source = waiting.pop()
                    take = source.iterate(run.at(("concatenate", number)))

        return joined

    def size(self) -> int:
        sizes = [source.size() for source in self.inputs]
        return INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)


class Zipped(Source):
    """Elements made of the components of one element of each source, as long as all have some."""

    orders = True

    def __init__(self, sources: list[Source]):
        self.inputs = tuple(sources)

    def iterate(self, run: Run) -> Take:
        takes = [source.iterate(run.at(("zip", number))) for number, source in enumerate(self.inputs)]
        if run.numbers:
            return lambda: [take() for take in takes]

        def zipped() -> Element:
            return tuple([component for take in takes for component in take()])

        return zipped

    def rows(self, numbers: list) -> Element:
        return tuple([component for source, column in zip(self.inputs, zip(*numbers)) for component in source.rows(list(column))])

    def size(self) -> int:
        sizes = [source.size() for source in self.inputs if source.size() != INFINITE]
        return INFINITE if not sizes else UNKNOWN if UNKNOWN in sizes else min(sizes)


class Batched(Unary):
    """Elements stacked, `size` at a time."""

    def __init__(self, source: Source, size: int, drop_remainder: bool):
        if size <= 0:
            raise errors.InvalidArgumentError(None, None, "Batch size must be greater than zero.")
        super().__init__(source)
        self.batch, self.drop = size, drop_remainder

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        if isinstance(self.source, Slices):
            return self._of_slices(self.source, count)
        numbered = self.source.numbered()
        together = self.source.rows if numbered else stacked
        take = self.source.resume(run.with_(numbers=numbered).at("batch"), count * self.batch)
        gather = gathering(take, self.batch, self.drop, whole=self.source.fails_by_batches)
        return lambda: together(gather())

    def _of_slices(self, source: Slices, count: int) -> Take:
        """Slices that stand together are a batch already."""
        last = source.count - self.batch + 1 if self.drop else source.count
        begins = iter(range(count * self.batch, last, self.batch))

        def batched() -> Element:
            begin = next(begins)
            return tuple([array[begin:begin + self.batch] for array in source.arrays])

        return batched

    def size(self) -> int:
        size = self.source.size()
        return size if size < 0 else size // self.batch if self.drop else -(-size // self.batch)


def gathering(take: Take, size: int, drop_remainder: bool, whole: bool = False) -> Any:
    """A function that gives the next `size` elements as a list, at the end what is left (or drops it).

    With `whole`, a batch with an error takes all of its elements before it raises that.
    """
    ended = False

    def gather() -> list[Element]:
        nonlocal ended
        found: list[Element] = []
        failure: errors.OpError | None = None
        if not ended:
            try:
                for _ in range(size):
                    try:
                        found.append(take())
                    except errors.OpError as error:
                        if not whole:
                            raise
                        failure = failure or error
            except StopIteration:
                ended = True
        if failure is not None:
            raise failure
        if not found or drop_remainder and len(found) < size:
            raise StopIteration
        return found

    return gather


class Padded(Unary):
    """Elements padded to a common shape and stacked.

    `shapes`: of each component, a negative size standing for the largest of the batch; `padding`: what is filled in.
    """

    def __init__(self, source: Source, size: int, shapes: list, padding: list, drop_remainder: bool):
        if size <= 0:
            raise errors.InvalidArgumentError(None, None, f"Batch size must be greater than zero.  Got {size}")
        super().__init__(source)
        self.batch, self.shapes, self.padding, self.drop = size, shapes, padding, drop_remainder

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        gather = gathering(self.source.resume(run.at("padded_batch"), count * self.batch), self.batch, self.drop)

        def padded() -> Element:
            elements = gather()
            return tuple(self._component(k, [element[k] for element in elements]) for k in range(len(elements[0])))

        return padded

    def _component(self, k: int, arrays: list[np.ndarray]) -> np.ndarray:
        wanted = self.shapes[k]
        for array in arrays:
            if array.ndim != len(wanted):
                raise errors.InvalidArgumentError(
                    None, None, "All elements in a batch must have the same rank as the padded shape for component "
                                f"{k}: expected rank {len(wanted)} but got element with rank {array.ndim}")
        sizes = []
        for d, size in enumerate(wanted):
            if size < -1:
                raise errors.InvalidArgumentError(None, None, f"Dimension {size} must be >= -1: padded_shapes of component {k}")
            largest = max(array.shape[d] for array in arrays)
            if 0 <= size < largest:
                raise errors.DataLossError(
                    None, None, f"Attempted to pad to a smaller size than the input element: component {k} has {largest} "
                                f"elements along dimension {d}, padded_shapes says {size}.")
            sizes.append(largest if size < 0 else size)
        out = np.empty((len(arrays), *sizes), arrays[0].dtype)
        out[...] = self.padding[k][()]
        for number, array in enumerate(arrays):
            out[number, ...][tuple(slice(size) for size in array.shape)] = array if array.ndim else array[()]
        return out

    size = Batched.size


class Unbatched(Unary):
    """The slices of each element along its first dimension."""

    def iterate(self, run: Run) -> Take:
        take, rows = self.source.iterate(run.at("unbatch")), iter(())

        def unbatched() -> Element:
            nonlocal rows
            while True:
                row = next(rows, None)
                if row is not None:
                    return row
                element = take()
                if any(len(array) != len(element[0]) for array in element):
                    raise errors.InvalidArgumentError(
                        None, None, "Input element must have the same batch size in each component. Component 0 had size "
                                    f"{len(element[0])} but component 1 had size, {len(element[1])}.")
                rows = iter([tuple([array[k, ...] for array in element]) for k in range(len(element[0]))])

        return unbatched


def _element_or_error(take: Take) -> Element | errors.OpError:
    try:
        return take()
    except errors.OpError as error:
        return error


class Windowed(Unary):
    """Stretches of elements, each component of them as a dataset of its own."""

    def __init__(self, source: Source, size: int, shift: int, stride: int, drop_remainder: bool):
        for name, value in (("size", size), ("shift", shift), ("stride", stride)):
            if value <= 0:
                raise errors.InvalidArgumentError(None, None, f"Window {name} must be greater than zero.")
        super().__init__(source)
        self.window, self.shift, self.stride, self.drop = size, shift, stride, drop_remainder

    def iterate(self, run: Run) -> Take:
        from jitgraph.resources import handle

        take, ended, ahead = self.source.iterate(run.at("window")), False, 0
        held: list[Element | errors.OpError] = []       # an error stands in the place of its element
        span = self.stride * (self.window - 1) + 1

        def windowed() -> Element:
            nonlocal ended, ahead, held
            try:
                while not ended and ahead:      # elements between this window and the one before
                    ahead -= 1
                    _element_or_error(take)
                while not ended and len(held) < span:
                    held.append(_element_or_error(take))
            except StopIteration:
                ended = True
            if not held or self.drop and len(held) < span:
                raise StopIteration
            chosen = held[:span:self.stride]
            ahead = max(self.shift - len(held), 0)
            held = held[self.shift:]
            elements = []
            for one in chosen:
                if isinstance(one, errors.OpError):
                    raise one
                elements.append(one)
            return tuple(handle(Listed([(element[k],) for element in elements])) for k in range(len(elements[0])))

        return windowed

    def size(self) -> int:
        size = self.source.size()
        if size < 0:
            return size
        if not self.drop:
            return -(-size // self.shift)
        rest = size - self.stride * (self.window - 1) - 1
        return rest // self.shift + 1 if rest >= 0 else 0


class Cached(Unary):
    """The elements of another source, which is asked for them only in the first iteration that comes to its end."""

    def place(self, run: Run) -> list:
        """Where the list of the elements is kept, once there is one."""
        return run.session.keep(("cache", run.path), list)

    def iterate(self, run: Run) -> Take:
        kept = self.place(run)
        if kept:
            return iter(kept[0]).__next__
        take = self.source.iterate(run.at("cache"))
        found: list[Element] = []

        def caching() -> Element:
            try:
                element = tuple(_unwritten(array) for array in take())
            except StopIteration:
                if not kept:
                    kept.append(found)
                raise
            found.append(element)
            return element

        return caching

    def size(self) -> int:
        return self.source.size()


def _unwritten(array: np.ndarray) -> np.ndarray:
    if array.flags.writeable:
        array.setflags(write=False)
    return array


def all_of(source: Source, session: Session) -> list[Element]:
    """The elements of a source, in an iteration of its own."""
    return drained(source.iterate(Run(session)))
