"""What a loop does itself, instead of leaving it to the plan of its body: saving values for a gradient, and taking them
back.  Both are steps on the host, which a loop can do without asking for them by name."""
from __future__ import annotations

from dataclasses import dataclass

from jitgraph.host_values import boxed, unboxed


@dataclass
class Push:
    """Variable `variable` is a list to which every iteration appends result number `result`."""

    variable: int
    result: int


@dataclass
class Pop:
    """Variable `variable` is a list from which every iteration takes the value of a tensor."""

    variable: int


class LoopSteps:
    """How one iteration gets from the loop's variables to the next ones.

    `fed`: tensors of the body that the loop computes; `fetches`: tensors that the plan computes, of which the first
    `len(targets)` are the next values of the variables `targets`.
    """

    def __init__(self, body, invariant):
        self.pushes: list[Push] = []
        self.pops: list[Pop] = []
        self.fed: list = []
        self.targets: list[int] = []
        self.fetches: list = []
        pushed = []
        for k, output in enumerate(body.outputs):
            if invariant[k]:
                continue
            if self._is_push(body, k, output):
                pushed.append((k, output.op.inputs[1]))
            elif self._is_pop(body, k, output):
                self.pops.append(Pop(k))
                self.fed.append(output.op.outputs[1])
            else:
                self.targets.append(k)
                self.fetches.append(output)
        for k, tensor in pushed:
            self.pushes.append(Push(k, len(self.fetches)))
            self.fetches.append(tensor)

    def _is_push(self, body, k, output) -> bool:
        op = output.op
        return op.type == "TensorListPushBack" and op.inputs[0] is body.inputs[k] and not output._consumers \
            and not op.control_inputs and len(body.inputs[k]._consumers) == 1

    def _is_pop(self, body, k, output) -> bool:
        op = output.op
        return op.type == "TensorListPopBack" and op.inputs[0] is body.inputs[k] and output.value_index == 0 \
            and not output._consumers and not op.control_inputs and len(body.inputs[k]._consumers) == 1

    def before(self, values) -> list:
        """Takes from the lists what the iteration needs."""
        fed = []
        for pop in self.pops:
            rest, value = unboxed(values[pop.variable]).pop()
            values[pop.variable] = boxed(rest)
            fed.append(value)
        return fed

    def after(self, values, found):
        """Stores the results of an iteration."""
        for push in self.pushes:
            values[push.variable] = boxed(unboxed(values[push.variable]).push(found[push.result]))
        for k, value in zip(self.targets, found):
            values[k] = value


