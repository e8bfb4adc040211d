"""A forward pass by ONNX Runtime, of the network that torch exports."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any


def prepare(model: Any, batch: int) -> Callable[[], Any]:
    """Return the call of a forward pass of `model`."""
    import onnxruntime
    import torch

    from . import net_torch

    values = net_torch.given(model, False, batch)
    values = [v.contiguous() for v in values]
    first = net_torch.Net(False)
    model.forward(first, *values)

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.made = torch.nn.ParameterList([p.detach().contiguous() for p in first.made])
            for index, average in enumerate(first.averages):
                self.register_buffer(f"average_{index}", average)

        def forward(self, *given: Any) -> Any:
            averages = [getattr(self, f"average_{index}") for index in range(len(first.averages))]
            return model.forward(net_torch.Net(False, list(self.made), averages), *given)

    file = io.BytesIO()
    torch.onnx.export(Module().eval(), tuple(values), file, dynamo=False, opset_version=17)
    session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
    feeds = {one.name: value.numpy() for one, value in zip(session.get_inputs(), values)}

    def call() -> Any:
        result = session.run(None, feeds)[0]
        return result.transpose(0, *range(2, result.ndim), 1) if result.ndim in (4, 5) and values[0].ndim in (4, 5) else result

    return call
