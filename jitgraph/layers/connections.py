"""What layers have of Keras, whose networks connect them from ``tf.keras.Input`` on: here all stay unconnected."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import structures as nest
from jitgraph.graph.type_specs import TensorSpec
from jitgraph.variables.module import Module


class Unconnected(Module):
    """A layer of no network: it has no nodes, and so no input, output, mask or shape that is known beforehand."""

    supports_masking: bool
    _dtype: str | None

    @property
    def inbound_nodes(self) -> list:
        """The calls in networks that gave it inputs: none."""
        return []

    @property
    def outbound_nodes(self) -> list:
        """The calls in networks that took its outputs: none."""
        return []

    @property
    def dynamic(self) -> bool:
        """Whether it only runs without a graph: never."""
        return False

    @property
    def metrics(self) -> list:
        """Those of ``add_metric``: none."""
        return []

    def add_metric(self, value: Any, aggregation: str | None = None, name: str | None = None) -> None:
        """Raises NotImplementedError: metrics of layers are Keras's.  Before that, ValueError for arguments that Keras refuses."""
        if aggregation not in (None, "mean"):
            raise ValueError(f"We currently support only `mean` sample-wise metric aggregation. You provided aggregation="
                             f"`{aggregation}`")
        if name is None:
            raise ValueError("Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), "
                             "name='mean_activation', aggregation='mean')`")
        raise NotImplementedError(f"Metrics of layers are Keras's (layer {self.name}, metric {name}): use tf.metrics.mean")

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """`mask`, or None for a layer that takes none.  Raises TypeError if that is given one."""
        if self.supports_masking:
            return mask
        if any(one is not None for one in nest.flatten(mask)):
            raise TypeError(f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}")
        return None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the outputs for inputs of a shape."""
        raise NotImplementedError

    def compute_output_signature(self, input_signature: Any) -> Any:
        """The TensorSpecs of the outputs for inputs of these TensorSpecs.  Raises TypeError for anything else."""
        specs = nest.flatten(input_signature)
        for spec in specs:
            if not isinstance(spec, TensorSpec):
                raise TypeError(f"Only TensorSpec signature types are supported, but saw signature signature entry: {spec}.")
        shapes = self.compute_output_shape(nest.map_structure(lambda spec: spec.shape, input_signature))
        dtype = self._dtype or next((spec.dtype for spec in specs), None)
        return nest.map_structure(lambda shape: TensorSpec(shape, dtype), shapes)

    # -- what a network would tell

    @property
    def input(self) -> Any:
        """Raises AttributeError."""
        raise AttributeError(f"Layer {self.name} is not connected, no input to return.")

    input_mask = input

    @property
    def output(self) -> Any:
        """Raises AttributeError."""
        raise AttributeError(f"Layer {self.name} has no inbound nodes.")

    output_mask = output

    @property
    def input_shape(self) -> Any:
        """Raises AttributeError."""
        raise AttributeError("The layer has never been called and thus has no defined input shape.")

    @property
    def output_shape(self) -> Any:
        """Raises AttributeError."""
        raise AttributeError("The layer has never been called and thus has no defined output shape.")

    def get_input_at(self, node_index: int) -> Any:
        """Raises RuntimeError."""
        raise _never_called("input")

    def get_input_mask_at(self, node_index: int) -> Any:
        """Raises RuntimeError."""
        raise _never_called("input")

    def get_input_shape_at(self, node_index: int) -> Any:
        """Raises RuntimeError."""
        raise _never_called("input shape")

    def get_output_at(self, node_index: int) -> Any:
        """Raises RuntimeError."""
        raise _never_called("output")

    def get_output_mask_at(self, node_index: int) -> Any:
        """Raises RuntimeError."""
        raise _never_called("output")

    def get_output_shape_at(self, node_index: int) -> Any:
        """Raises RuntimeError."""
        raise _never_called("output shape")


def _never_called(what: str) -> RuntimeError:
    return RuntimeError(f"The layer has never been called and thus has no defined {what}.")
