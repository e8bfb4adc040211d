"""A program on its way through the passes: what is asked for, and what each pass has found out so far."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .options import Options
from .sizes import SizeSpace
from .targets import CPU, Target

if TYPE_CHECKING:
    from jitgraph.graph.graph import Graph
    from jitgraph.graph.operation import Operation
    from jitgraph.graph.tensor import Tensor

    from .divide import ChoiceCall, LoopCall
    from .fuse import Group
    from .infer import Info
    from .ir import Node, Value
    from .kernel import Kernel
    from .loops.row_products import EarlyTerms
    from .masked import Masked
    from .stored import Numbered
    from .waiting import Looked, Waiting


@dataclass
class Program:
    """One run signature of a graph.

    `feeds` maps fed tensors to their present shapes; `known` maps tensors to values that an earlier segment computed
    and that are the same at every run; `sized` maps small integer tensors to the values that an earlier segment gave
    them now, which count as sizes; `variable_shapes` gives the present shape of open variables
    (`open_variables`), None for one without a value; `contrary` are fed tensors whose values are known to differ from what
    the graph knows of them; `early` are products of which some terms are fed.  Everything
    below is filled in by the passes, in this order.
    """

    graph: Graph
    fetches: list[Tensor]                   # tensors
    targets: list[Operation]                # operations
    feeds: dict[Tensor, tuple[int, ...]]    # tensor -> shape
    variable_shapes: dict[Operation, tuple[int, ...] | None] = field(default_factory=dict)
    known: dict[Tensor, Any] = field(default_factory=dict)
    sized: dict[Tensor, Any] = field(default_factory=dict)      # tensor -> its present value
    contrary: tuple[Tensor, ...] = ()
    early: dict[Operation, EarlyTerms] = field(default_factory=dict)
    options: Options = field(default_factory=Options)
    target: Target = CPU
    ops: list[Operation] = field(default_factory=list)          # prune, order: the operations of the run, in order
    wanted: dict[Operation, frozenset[int] | None] = field(default_factory=dict)     # prune: conditional or loop -> numbers of the
                                                        # outputs asked for, None: all
    outliving: list[Tensor] = field(default_factory=list)       # hold: reads that may outlive the buffer of their variable
    calls: dict[Operation, ChoiceCall | LoopCall] = field(default_factory=dict)     # divide: operation -> its sub-programs
    space: SizeSpace = field(default_factory=SizeSpace)
    infos: dict[Tensor, Info] = field(default_factory=dict)     # specialize: tensor -> Info
    repeated: set[Operation] | None = None              # specialize: what looks for equal elements where there are none
    added_up: set[Operation] | None = None              # specialize: what looks for equal elements of which rows are added up
    masked: Masked | None = None                        # specialize: what a mask picks and puts back where it was
    waiting: Waiting | None = None                      # specialize: of a plan that has several segments, for all of them
    looked: Looked | None = None                        # specialize: of a plan's segment, for the next one
    numbered: Numbered | None = None                    # stored: of a plan that has several segments, for all of them
    doubted: set[Tensor] | None = None                  # specialize: tensors whose stated shapes a feed may contradict
    measured: list[Operation] = field(default_factory=list)     # specialize: variables that need a value, whoever uses it
    rest: list[Operation] = field(default_factory=list)         # specialize: operations left for a later segment
    pins: list[Tensor] = field(default_factory=list)    # specialize: integer tensors whose values are sizes for the rest
    live: list[Tensor] = field(default_factory=list)    # specialize: tensors that the rest uses
    nodes: list[Node] = field(default_factory=list)     # lower: the primitives
    results: dict[Tensor, Value] = field(default_factory=dict)  # lower: fetched or live tensor -> Value
    outputs: list[Value] = field(default_factory=list)  # lower: the values of `results` that are computed
    units: list[Group | Node] = field(default_factory=list)     # fuse: groups and lone nodes, in order
    steps: list[Kernel | Node] = field(default_factory=list)    # schedule: kernels and lone nodes, in order
    kept: int = 0                                       # keep: how many of these come first, and only run where a variable changed
    layout: Any = None                                  # place
    times: dict[str, float] = field(default_factory=dict)       # seconds per pass
