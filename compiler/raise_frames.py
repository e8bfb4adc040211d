"""raise_frames: Switch, Merge and the frames of loops, as graph files have them, become If and While."""
from __future__ import annotations

from typing import TYPE_CHECKING

from jitgraph.control.frames.structure import FRAME_OPS

from .prune import prune

if TYPE_CHECKING:
    from .program import Program


def raise_frames(program: Program) -> None:
    """Turns frames into functional operations, in a graph for this program alone."""
    if not any(op.type in FRAME_OPS for op in program.ops):
        return
    from jitgraph.control.frames.raising import Raised

    raised = Raised(program.ops, [*program.feeds], program.fetches)
    program.feeds = dict(zip(raised.feeds, program.feeds.values()))
    program.graph, program.fetches, program.targets = raised.graph, raised.fetches, raised.targets
    prune(program)
