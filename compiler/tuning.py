"""The numbers by which passes choose between two ways that give the same: of each target its own, as measured on one of its kind.

A pass asks `program.target.tuning`.  What a kernel's text depends on alone (tiles, stretches, blocks) stands beside the text.
"""
from __future__ import annotations

from dataclasses import dataclass

from . import sizes


@dataclass(frozen=True)
class Tuning:
    """Sizes are in elements unless said otherwise, times in nanoseconds as `Kernel.cost` estimates them."""

    # values in memory
    large: int = 1 << 14            # from which writing a value, or computing it again, is worth avoiding
    cached: int = 1 << 20           # up to which a value stays in the cache until it is read
    short: int = 3                  # operations that are cheaper than writing and reading a value in the cache
    ahead: int = 64                 # of what is computed ahead of its turn

    # reductions
    partials: int = 64              # parts of a reduction over all axes, at least
    column_parts: int = 16          # and of one over the first axes ...
    parted: int = 1 << 17           # ... from so many elements on,
    parted_rows: int = 64           # if it has so many rows
    column_blocks: int = 0          # of threads that keep a device busy with such parts: no more are made; 0 for `column_parts`
    block_columns: int = 128        # that one of these blocks sums up at once ...
    block_elements: int = 1 << 14   # ... of so many elements, at least

    column_searches: bool = True    # whether places of extremes are looked for in a block of columns at a time

    kept: int = 1 << 26             # bytes that may stay from run to run of what is made of variables alone

    # products and convolutions
    thin: int = 1 << 12             # terms from which one product with one row or column is a sum; smaller ones compile once
    thin_columns: bool = False      # whether it is one, too, where each row of the matrix has one term of all sums
    chunks: int = 16                # parts of a batch with a filter gradient of their own, at most ...
    chunk_bytes: int = 1 << 22      # ... of which none is larger
    part_windows: int = 64          # windows that a part of a filter's gradient has at least, where it is shared out by windows
    depthwise_results: int = 0      # partial results of a depthwise filter's gradient that keep a device busy; 0 for `chunks`
    filter_columns: bool = True         # whether the columns of a large filter that a tile reads are copied to lie together
    few_pixels: int = 128               # up to so many, what they see is gathered for a product ...
    large_filter: int = 1 << 20         # ... with a filter of at least so many numbers
    winograd_cached: int = 1 << 18      # numbers that a filter transformed by Winograd may have to stay in the cache
    winograd_worth: float = 0.7         # of the cost of adding up term by term
    winograd_once: int = 300            # what transforming a filter costs, in products per input and output channel

    tile: int = 0                       # rows and columns of the smallest tile of a result that a block of threads makes
    tiles: int = 0                      # of results that keep a device busy: of fewer, the terms are shared out; 0 if never
    part_terms: int = 256               # terms that a part of such a product has at least
    library_worth: int = 1 << 26        # additions and multiplications from which a library's convolution is worth launches more;
    library_exact: int = 1 << 33        # without tensor cores: of ResNet-50's with 8 images, 2 to 4 thousand million, it makes
                                        # 18 TFlop/s, as kernels do, 6 of gradients by strides, and of 15 thousand million 35 (H200)
    library_terms: int = 32             # from which a library's product is worth a launch more: 5 and 2 us where a kernel
                                        # with both takes 12 for 128 terms and 39 for 1,024 (H200)

    taps: int = 1 << 20             # of a window of a pooling, at most

    # the largest elements of rows
    largest: int = 256              # up to so many are kept in order while the row is gone through, by insertion on a CPU
    sorts: bool = False             # whether there is a kernel that sorts whole rows

    # runs on the host
    held: int = 20_000              # time up to which a run keeps the interpreter's lock
    shared: int = 80_000            # time from which a run has workers: waking them costs some of that
    divided: int = 20_000           # time from which a kernel of such a run is divided among them ...
    chunk: int = 10_000             # ... in chunks of so much time, at least
    most_chunks: int = 32

    def tiles_of(self, rows: sizes.Dim, columns: sizes.Dim) -> int:
        """How many tiles make a result of so many rows and columns at most, for the sizes at hand."""
        return sizes.count([(d + self.tile - 1) // self.tile for d in (rows, columns)])


CPU = Tuning()
CUDA = Tuning(parted_rows=512, column_blocks=396, depthwise_results=1 << 16, tile=64, tiles=128, largest=1024, sorts=True, taps=25,
              column_searches=False, filter_columns=False, few_pixels=0,
              winograd_worth=0.0, thin_columns=True)   # its convolutions are products; until a GPU has measured
