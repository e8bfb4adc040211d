"""Which nodes depend on which tensors."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import structures as nest
from jitgraph.graph.operation import Operation


def depends(target: Any, inputs: Any) -> bool:
    """Whether an operation or tensor depends on one of the tensors `inputs`."""
    sources = {id(tensor) for tensor in nest.flatten(inputs, expand_composites=True)}
    pending = [target if isinstance(target, Operation) else target.op]
    seen = {pending[0]}
    while pending:
        operation = pending.pop()
        if any(id(tensor) in sources for tensor in operation.inputs):
            return True
        for other in [*(tensor.op for tensor in operation.inputs), *operation.control_inputs]:
            if other not in seen:
                seen.add(other)
                pending.append(other)
    return not isinstance(target, Operation) and id(target) in sources
