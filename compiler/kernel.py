"""The kernel IR: a loop nest with roles, scalar statements in single assignment, loads and stores with strides.

It assumes nothing about the machine; `emit/cpu.py` and `emit/cuda.py` write it out as Python source.

Loops have roles: `outer` loops are independent and enumerate the *items* that threads share out; `reduce` loops
accumulate; `inner` is the one kept loop inside the reduction of a "cols" kernel.  Kinds:

    map      outer loops only; the last one is the innermost (an item is one run of it, or one element if alone)
    rows     for each item: a pass over the reduce loops for every phase of reductions, then a pass that stores
    cols     for each item (a block of inner columns): one pass that accumulates every column, then one that stores
    partial  items are the `parts` chunks of the outermost reduce loop; each stores its own partial result

In a "cols" kernel with parts, the first loop is over the parts of the rows; each part has results of its own.  How many
parts there are is what the buffer of partial results has room for, there and in a "partial" kernel.
"""
from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from .sizes import Dim

if TYPE_CHECKING:
    from .emit.instruction import Form
    from .ir import Node, Value


class Loop(NamedTuple):
    size: Dim
    role: str               # outer | reduce | inner


@dataclass
class Param:
    """A buffer that a kernel gets: its element type and how it is used (in, out, inout)."""

    name: str
    dtype: str              # code, see CODES
    use: str


class Access(NamedTuple):
    """Where an element lies: param[offset + sum(strides[k] * loop[k])], strides in elements."""

    param: int
    strides: list[Dim]      # per loop
    offset: Dim = 0


@dataclass(eq=False)
class Statement:
    """One scalar statement.

    load     name = access                       index    name = offset + sum(strides * loops), an int64
    scalar   name = a number passed by value      op       name = prim(args)
    gather   name = access at index args[0] times `stride`, the index checked against `limit`
    reduce   name = combination `prim` of args[0] over the reduce loops
    store    access = args[0]
    """

    kind: str
    name: str = ""
    prim: str = ""
    args: tuple[Any, ...] = ()      # names; of a scalar, its number
    dtype: str = ""
    access: Access | None = None
    level: str = "full"     # full: at every point of the domain; row: once per kept point
    stride: Dim = 0
    limit: Dim = 0
    node: Node | None = None        # the lowered node, for showing where the statement came from


class Region(NamedTuple):
    """Which part of its result an item of a kernel makes, as text: lines with their indentation, which from the number `item` set
    `first` and `count`, its rows, and where these are not `whole`, `left` and `right`, its columns, of the result as a matrix.

    `slots`: lines before them, which take sizes from the arguments; `depth`: the indentation of what is done for such a part.
    """

    lines: list[tuple[int, str]]
    slots: list[str]
    whole: bool = True
    depth: int = 0


LIBRARIES = {"library_products": "cuBLASLt", "library_convolutions": "cuDNN"}
"""{optimisation: the library of a device that it needs}"""


class LibraryProduct(NamedTuple):
    """A matrix product that a device's library can make in the place of a kernel's text:

        y = relu(alpha * a @ b + beta * c + bias)

    `sizes` are, as in a Kernel: rows, columns, terms, batch; of a, then of b: where it begins, how far apart its matrices and its
    rows lie; alpha, if it is `scaled`.  `turned`: whether a, and b, lie transposed.  `y`, `c` and `bias` are the numbers of the
    kernel's parameters, -1 for none; a and b are the first two, of elements `factor`; those of all others are `result`.
    """

    sizes: list[Any]
    turned: tuple[bool, bool]
    factor: str
    result: str
    y: int
    c: int = -1
    bias: int = -1
    scaled: bool = False
    sign: int = 1               # of alpha
    beta: int = 0
    relu: bool = False
    short: bool = False         # whether the factors may be rounded to TF32

    @property
    def operands(self) -> tuple[int, ...]:
        """The numbers of the kernel's parameters that the library gets, in its order."""
        return 0, 1, self.c, self.bias, self.y

    def words(self) -> str:
        """Who makes it, with what follows the product, for people."""
        done = [*["scaled"] * (self.scaled or self.sign < 0), *["added up"] * (self.c >= 0), *["bias"] * (self.bias >= 0),
                *["relu"] * self.relu]
        return "cuBLASLt" + (" with " + ", ".join(done) if done else "")


class LibraryConvolution(NamedTuple):
    """A convolution of images, or a gradient of one, that a device's library can make in the place of a kernel's text.

    `what`: forward, input or filter, by that which it makes; `operands`: the numbers of the kernel's parameters that are images,
    filter [out, kh, kw, in] and results, or the gradients of these.  `sizes` are, as in a Kernel: how many images, their rows,
    columns and channels; the rows, columns and channels of results; rows and columns of the filter, and of zeros before images.
    """

    sizes: list[Any]
    what: str
    operands: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    element: str
    short: bool = False         # whether factors may be rounded to TF32

    def words(self) -> str:
        """Who makes it, for people."""
        return "cuDNN"


@dataclass(eq=False)
class Kernel:
    kind: str
    loops: list[Loop]
    params: list[Param] = field(default_factory=list)
    body: list[Statement] = field(default_factory=list)     # statements in order
    scalars: list[Value] = field(default_factory=list)      # values passed by value, see Statement "scalar"
    buffers: list[Value] = field(default_factory=list)      # the lowered value (or target) behind each param
    nodes: list[Node] = field(default_factory=list)
    parts: int = 0                                  # how many partial results each reduction has, 0 for one that is whole
    batch: list[Kernel] = field(default_factory=list)   # those of which one launch does the work, see `emit.cuda`
    # filled in by emit
    name: str = ""
    source: str = ""
    forms: list[Form] = field(default_factory=list)             # of the instructions that its text names and that have many
    origins: list[Node | None] = field(default_factory=list)    # the node behind each line of a text made from a loop nest
    sizes: list[Any] = field(default_factory=list)  # a slot: Dim, ("scalar", value, code or part), ("blas", code) or ("kernel", it)
    joins: tuple[Kernel, Kernel] | None = None      # the kernel that its text calls by its address, and what it does after that
    region: Region | None = None                    # of a kernel written by hand that can be called so
    library: LibraryProduct | LibraryConvolution | None = None  # the same by a library of the device, where that takes its sizes
    items: Dim = 1                                  # what threads share out; of a kernel written by hand for CUDA: blocks ...
    threads: int = 0                                # ... of so many threads
    cost: tuple[float, Dim] = (1.0, 1)              # rough nanoseconds of one step, and steps per item

    @property
    def parts_of_columns(self) -> int:
        """The number of parts that the first loop is over, 0 where there is no such loop."""
        return self.parts if self.kind == "cols" else 0

    def span(self, param: int) -> range | None:
        """The elements of a buffer from the first to the last that it stores, of a loop nest that only stores to it; None where
        that is not known, or depends on sizes."""
        accesses = [s.access for s in self.body if s.access is not None and s.access.param == param]
        if self.parts or not accesses or self.params[param].use != "out":
            return None
        first, last = [], []
        for access in accesses:
            steps = [(loop.size, stride) for loop, stride in zip(self.loops, access.strides, strict=True)]
            if not all(isinstance(number, int) for number in (access.offset, *itertools.chain(*steps))):
                return None
            reach = [(max(size, 1) - 1) * stride for size, stride in steps]
            first.append(access.offset + sum(min(r, 0) for r in reach))
            last.append(access.offset + sum(max(r, 0) for r in reach))
        return range(min(first), max(last) + 1)


CODES = {"float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
         "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "b1"}
HALVES = {"float16": "f16", "bfloat16": "fb16"}
"""What kernels load and store where their target knows it, and compute with as float32, each result rounded."""
COMPLEX = {"complex64": "c64", "complex128": "c128"}
"""What kernels have as pairs of their parts, where their target knows it."""
ELEMENTS = {**CODES, **HALVES, **COMPLEX}
DTYPE_NAMES = {code: name for name, code in CODES.items()}
WIDTH = {"f16": 2, "fb16": 2, "f32": 4, "f64": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8,
         "u8": 1, "u16": 2, "u32": 4, "u64": 8, "b1": 1, "c64": 8, "c128": 16}
LITERAL_EXTENT = 8      # inner loops up to this length are written with their length, and unrolled where they carry a number
CHECK_INDEX, CHECK_DIVISION, CHECK_POWER = 1, 2, 4      # bits of a kernel's return value


def is_half(code: str) -> bool:
    """Whether it is that of a float of 16 bits."""
    return code in ("f16", "fb16")


def is_complex(code: str) -> bool:
    """Whether it is that of a complex number."""
    return code[0] == "c"


def part_code(code: str) -> str:
    """The code of the parts of a complex number."""
    return "f32" if code == "c64" else "f64"


def memory_code(code: str) -> str:
    """What lies in memory for an element: of truth values bytes, of floats of 16 bits these bits."""
    return "u8" if code == "b1" else "u16" if is_half(code) else code
