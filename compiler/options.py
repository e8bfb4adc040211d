"""Choices that change the compiled code, among them every optimisation that can be done without.

Switching one off takes the longer way that is there anyhow: results stay the same but for rounding, so that a wrong
result can be traced to the optimisation that made it, and each of them is tested against all the others.
"""
from __future__ import annotations

from dataclasses import dataclass

from jitgraph import environment

from . import simplify
from .kernel import LIBRARIES

OPTIMISATIONS = {
    "masked_places": "what a mask picks, is worked on one by one and put back where it was, is worked on where it is",
    "added_up_rows": "rows are added up for each of equal indices without the host, which would count these, on a device",
    "common_subexpressions": "structurally equal primitives are computed once",
    "joined_views": "a view of a view of the same kind is one",
    "constant_folding": "arithmetic on numbers that are known is done by the compiler",
    "late_broadcasts": "arithmetic on what is repeated along an axis is done once, and its result repeated",
    "partial_sums": "a long reduction over all axes, or over the first, is shared out in parts that are combined afterwards",
    "thin_products": "a matrix product with one row, one column or one term is a sum, or a product, of its elements",
    "library_products": "matrix products on a device are made by cuBLASLt, where that is installed",
    "library_convolutions": "large convolutions on a device are made by cuDNN, where that is installed",
    "split_products": "a product of few tiles and many terms is shared out by its terms on a device, and its parts added up",
    "joined_products": "a sum of matrix products of few terms each is one product",
    **{rule.__name__: " ".join((rule.__doc__ or "").split()) for rule in simplify.RULES},
    "narrow_products": "of a matrix product of which only a slice is used, only that is computed",
    "repeat_cheap": "a cheap value of a large tensor in memory is computed again by every user instead of being written",
    "fusion": "primitives share a kernel instead of having one each",
    "late_values": "a cheap value that only later kernels use is computed by them, not written by the one that could make it",
    "rematerialization": "later kernels that use functions of one large value read that one and compute them again",
    "merged_loops": "neighbouring loops that every access runs through as one become one",
    "column_kernels": "reductions that keep the innermost dimension go along the rows, a block of columns at a time",
    "memory_reuse": "temporaries that are not alive at the same time share memory",
    "literal_extents": "short inner loops are written with their length, so that LLVM unrolls them",
    "spills": "a costly value that several passes over a row need waits in an output row instead of being computed again",
    "float32_sums": "float32 is summed in float32 over short stretches, in float64 across them, not in float64 throughout",
    "few_pixels": "a convolution of few pixels by a large filter is a product",
    "phases": "convolutions with gaps between their taps are made of the images' phases, which have none",
    "winograd": "convolutions with small filters multiply a third as often, by Winograd's minimal filtering",
    "filter_blocks": "of a large filter, the columns that a tile reads are copied to lie together",
    "turned_blocks": "transposed operands are read a block at a time and turned in registers",
    "search_blocks": "argmax and argmin look through only those blocks that hold a new extreme",
    "product_tiles": "matrix products are made in register tiles, not by BLAS",
    "scalar_loops": "a while loop over scalars is one kernel",
    "native_iterations": "of a loop that counts, many iterations are one native call",
    "loops_side_by_side": "loops that need nothing of each other run at the same time, one in each thread",
    "product_sums": "what a loop adds up are long products of many iterations' factors, not a product in every iteration",
    "epilogues": "what is done with a product element by element is done by the kernel that makes it",
    "late_gradients": "a large gradient that only changes a variable is made when the least memory is in use",
    "kept_values": "what is made of variables and constants alone stays in memory until one of the variables changes",
    "batched_launches": "launches of one kernel on a device that need nothing of each other are one",
    "row_products": "what a loop multiplies apart from its recurrence, it multiplies for many iterations at once",
    "repeated_runs": "a run whose host does the same each time is launched again as a few graphs",
    "result_reuse": "the memory of a large result that the program has dropped serves the next run",
}
"""{name: what it does}, in the order in which they come into play."""

OF_COMPILED_LOOPS = frozenset(["scalar_loops", "native_iterations", "product_sums", "row_products"])
"""Those that make of a loop something else than runs of its body, one after the other: a session that compiles nothing does
without."""


DIRECT = "direct"
COMPILERS = {
    DIRECT: "kernels' text, which is Numba source, becomes LLVM instructions by a translator of our own",
    "numba": "Numba compiles the same text, in ten times the time",
}


@dataclass(frozen=True)
class Options:
    """Choices that change the compiled code.  `max_weight`: primitives in one kernel, elementary functions
    counting for several.  `off`: the optimisations that are switched off.  `verify`: check the invariants of every
    stage after its pass.  `compiler`: one of COMPILERS; both give the same bits.  `libraries`: the optimisations of LIBRARIES that
    the device has the library for.  `tf32`: whether these may round the factors of float32 products to TF32, of 11 bits."""

    max_weight: int = 64
    off: frozenset[str] = frozenset()
    verify: bool = True
    compiler: str = DIRECT
    libraries: frozenset[str] = frozenset()
    tf32: bool = False

    def __post_init__(self) -> None:
        unknown = sorted(set(self.off) - set(OPTIMISATIONS))
        if unknown:
            raise ValueError(f"no optimisation is called {', '.join(map(repr, unknown))} "
                             f"(Options(off=...)); there are {', '.join(OPTIMISATIONS)}")

        if self.compiler not in COMPILERS:
            raise ValueError(f"compiler must be one of {', '.join(COMPILERS)}, not {self.compiler!r} (Session(compiler=...))")

    def uses(self, optimisation: str) -> bool:
        """Whether an optimisation is switched on."""
        assert optimisation in OPTIMISATIONS, optimisation
        return optimisation not in self.unused

    @property
    def unused(self) -> frozenset[str]:
        """The optimisations that are switched off, or have nothing to do: cuBLASLt shares out the terms of its products itself."""
        off = self.off | (LIBRARIES.keys() - self.libraries)
        return off if "library_products" in off else off | {"split_products"}


STANDARD = Options()


def compiler() -> str:
    """The compiler that JITGRAPH_COMPILER names.  Raises ValueError for another word."""
    return environment.choice("JITGRAPH_COMPILER", tuple(COMPILERS), STANDARD.compiler)


def present(chosen: str | None = None, compiles: bool = True, libraries: frozenset[str] = frozenset()) -> Options:
    """The options of the programs of runs: all optimisations but those that JITGRAPH_WITHOUT names, verified if JITGRAPH_VERIFY
    says so (a sixth of the time of the passes), by the compiler that is `chosen`, else that of JITGRAPH_COMPILER.  `compiles`:
    whether they are compiled further than to an order of operations; `libraries`: those that there are, which may round factors
    where JITGRAPH_TF32 says so.

    Raises ValueError for a name that there is not.
    """
    off = environment.words("JITGRAPH_WITHOUT", OPTIMISATIONS)
    return Options(off=off if compiles else off | OF_COMPILED_LOOPS, verify=environment.flag("JITGRAPH_VERIFY"),
                   compiler=chosen or compiler(), libraries=libraries, tf32=environment.flag("JITGRAPH_TF32"))
