"""The compiler: a graph, what is fetched and what is fed -> kernels and a plan.  It knows no session.

This page shows the whole of it.  Each pass is one function in the file of its name; after each, `verify` checks what must
hold, in tests and wherever JITGRAPH_VERIFY asks for it.  Nothing registers itself: a pass, or a rewrite rule (`making.RULES`,
`simplify.RULES`), that stands in no list does not exist; what can be done without stands in `options.OPTIMISATIONS`.

    prune       keep what fetches and targets need, cut at feeds
    raise_frames    Switch, Merge and frames of graph files become If and While
    order       control edges and the state rule become one sequence
    hold        reads that a write may leave behind with an old buffer go before it
    divide      the functions of conditionals and loops become sub-programs, which their operations run
    specialize  dtypes and shapes from the feeds; fold what is then constant; stop where shapes depend on values
    lower       operations become primitives
    simplify    rewrite rules on primitives
    fuse        primitives become groups, one kernel each
    sink        cheap values move into the groups that use them
    schedule    groups become loop nests
    epilogue    what is done with a product element by element joins the kernel that makes it
    postpone    a large gradient is made when there is room for it
    keep        what is made of variables alone is made first, and stays until they change
    abreast     loops that need nothing of each other stand side by side
    place       values get buffers; the instruction table
    transfer    where the target has a memory of its own, values are copied to where they are needed
    emit        loop nests become Python source, a subset that Numba knows too
    batch       launches of one kernel that need nothing of each other become one

Where shapes come only with the run (`tf.where`, `tf.unique`), a program ends early; `Program.rest` holds the operations
that a next segment compiles once the sizes are known.  What `masked` finds to put back what it picked needs no such end.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from . import (
    abreast,
    batch,
    divide,
    emit,
    epilogue,
    fuse,
    hold,
    keep,
    lower,
    order,
    place,
    postpone,
    prune,
    raise_frames,
    schedule,
    simplify,
    sink,
    specialize,
    transfer,
)
from .collecting import collecting_later
from .options import Options
from .program import Program
from .targets import CPU, TARGETS, Target
from .verify import VerifyError, verify

__all__ = ["CPU", "Options", "PASSES", "Program", "TARGETS", "VerifyError", "compile", "compile_ops"]

PASSES = [prune.prune, raise_frames.raise_frames, order.order, hold.hold, divide.divide, specialize.specialize,
          lower.lower, simplify.simplify, fuse.fuse, sink.sink, schedule.schedule, epilogue.epilogue,
          postpone.postpone, keep.keep, abreast.abreast, place.place, transfer.transfer, emit.emit, batch.batch]


def compile(graph: Graph, fetches: Iterable[Tensor], targets: Iterable[Operation] = (),
            feeds: Mapping[Tensor, tuple[int, ...]] | None = None, *, target: Target = CPU, until: str | None = None,
            show: Callable[[str, Program], Any] | None = None,
            **fields: Any) -> Program:
    """Compiles one run signature of `graph`.

    Args:
      fetches, targets: tensors and operations that the run wants.
      feeds: dict of fed tensor -> present shape.
      until: the name of the pass after which to stop, for a look at what it made.
      show: called as show(pass_name, program) after every pass.
      target: the machine that kernels are for, one of `targets.TARGETS`; what it has no form for runs on the host.
      fields: further fields of Program (`variable_shapes`, `known`, `options`).
    Raises the error class that TensorFlow gives for what is wrong with the graph, with the operation and user's line.
    """
    program = Program(graph, list(fetches), list(targets), dict(feeds or {}), target=target, **fields)
    return _run(program, PASSES, until, show)


def compile_ops(program: Program, until: str | None = None, show: Callable[[str, Program], Any] | None = None) -> Program:
    """Compiles a later segment, whose operations are already pruned and ordered."""
    return _run(program, PASSES[PASSES.index(specialize.specialize):], until, show)


def _run(program: Program, passes: Sequence[Callable[[Program], None]], until: str | None,
         show: Callable[[str, Program], Any] | None) -> Program:
    with collecting_later():
        for compiler_pass in passes:
            name = compiler_pass.__name__
            start = time.perf_counter()
            compiler_pass(program)
            program.times[name] = time.perf_counter() - start
            if program.options.verify:
                verify(program, name)
            if show is not None:
                show(name, program)
            if name == until:
                break
    return program
