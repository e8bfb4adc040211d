"""Puts operations that round into a graph: after weights, activations, and what is added."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.framework.graph_queries import get_name_scope
from jitgraph.contrib.quantize.layers_found import ACTIVATIONS, Layer, find_layers
from jitgraph.contrib.quantize.quant_ops import LastValueQuantize, MovingAvgQuantize
from jitgraph.contrib.quantize.rewiring import CreateOrGetQuantizationStep, DropStringPrefix, InputToOps, RerouteTensor
from jitgraph.control.conditionals import cond
from jitgraph.graph.collections import GraphKeys
from jitgraph.ops.elementwise.compare import greater_equal

_RELUS = ("Relu", "Relu6")
_SUMS = ("Add", "AddV2", "Mul")
_PASSING = ("Reshape", "Identity", "BatchToSpaceND", "SpaceToBatchND", "MaxPool", "Max")
_ROUNDING = ("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVarsPerChannel")


def Quantize(graph: Any, is_training: bool, weight_bits: int = 8, activation_bits: int = 8, symmetric: bool = False,
             ema_decay: float = 0.999, quant_delay: int | None = None, vars_collection: Any = GraphKeys.GLOBAL_VARIABLES,
             scope: str | None = None) -> None:
    """Rounds weights and activations of the layers of a graph, in the name scope `scope` if there is one.

    Weights take the range of the last step, activations a moving average of decay `ema_decay`; `quant_delay`: from which step on.
    Raises ValueError where no input could be changed.
    """
    if scope and not scope.endswith("/"):
        scope += "/"
    _Rounding(graph, is_training, weight_bits, activation_bits, symmetric, ema_decay, quant_delay, vars_collection, scope).run()


def _outer(name: str) -> str:
    return name.rpartition("/")[0]


class _Rounding:
    """The options of ``Quantize``, and which operations have their rounding already."""

    def __init__(self, graph: Any, is_training: bool, weight_bits: int, activation_bits: int, symmetric: bool, decay: float,
                 delay: int | None, collection: Any, scope: str | None):
        self._graph, self._scope, self._delay, self._decay = graph, scope, delay, decay
        self._weight_bits, self._activation_bits = weight_bits, activation_bits
        self._options = {"is_training": is_training, "vars_collection": collection}
        self._symmetric = symmetric
        self._readers = InputToOps(graph)
        self._done: set[Any] = set()

    def run(self) -> None:
        """Rounds all layers, then the sums that lie between what is rounded."""
        for layer in find_layers(self._graph):
            self._round_layer(layer)
        self._readers = InputToOps(self._graph)
        for op in self._graph.get_operations():
            if self._is_sum_of_rounded(op):
                logs.info("Inserting fake quant op activation_%s_quant after %s", op.type, op.name)
                self._insert(op.name, f"activation_{op.type}_quant", op, symmetric=False, within=True)

    def _round_layer(self, layer: Layer) -> None:
        context = outer = _outer(layer.op.name)
        if layer.weights is not None:
            self._insert(context, "weights_quant", layer.weights.op, moving=False, readers_within=True)
        if layer.activation is not None:
            outer = context if layer.bypass is None else _outer(context)
            self._insert(outer, "act_quant", layer.activation, init_min=0.0, within=True)
            self._done.add(layer.activation)
        if layer.bypass is not None:
            self._insert(context, "conv_quant", layer.bias_add, within=True, readers_within=True)
            self._done.add(layer.bias_add)
            if self._is_read_by(layer.bypass, ACTIVATIONS):
                logs.info("Skipping %s, because its followed by an activation.", layer.bypass.name)
            else:
                self._insert(outer, "add_quant", layer.bypass, within=True, readers_within=True)
                self._done.add(layer.bypass)
        after = layer.bypass_after
        if after is not None:
            if self._is_read_by(after, _RELUS):
                logs.info("Skipping %s, because its followed by an activation.", after.name)
            else:
                self._insert(_outer(after.name), "post_activation_bypass_quant", after, within=True)
                self._done.add(after)

    def _is_read_by(self, op: Any, types: tuple) -> bool:
        return any(reader.type in types for reader in self._readers.ConsumerOperations(op))

    def _is_sum_of_rounded(self, op: Any) -> bool:
        """Whether an addition or a product, which no layer has, is of something that was rounded."""
        if op in self._done or op.type not in _SUMS:
            return False
        readers = op.outputs[0].consumers() if len(op.outputs) == 1 else []
        if len(readers) == 1 and readers[0].type in _RELUS:
            logs.info("Skipping quant after %s", op.name)
            return False
        for tensor in op.inputs:
            source = tensor.op
            while source.type in _PASSING:
                source = source.inputs[0].op
            if source.type == _ROUNDING[0] or source.name.find("delayed_quant/Merge") > 0:
                return True
            if source.type in _SUMS and any(self._is_sum_of_rounded(one.op) for one in source.inputs):
                return True
        return False

    def _insert(self, context: str, name: str, producer: Any, moving: bool = True, init_min: float = -6.0,
                symmetric: bool | None = None, within: bool = False, readers_within: bool = False) -> None:
        """Rounds what `producer` gives; `within`, `readers_within`: only if it, or all that read it, are in the scope."""
        readers, scope = self._readers.ConsumerOperations(producer), self._scope
        outside = [producer] if within else []
        outside = [op for op in outside + (list(readers) if readers_within else []) if scope and not op.name.startswith(scope)]
        if outside:
            logs.info('_InsertQuantOp context="%s" name="%s" ignores "%s" because it is not in scope "%s"', context, name,
                      outside[0].name, scope)
            return
        prefix = f"{context}/{name}" if context else name
        if get_name_scope():
            prefix = DropStringPrefix(prefix, f"{get_name_scope()}/")
        inputs = producer.outputs[0]
        if _is_rounded(inputs):
            return
        options = {"init_min": init_min, "init_max": 6.0, "symmetric": self._symmetric if symmetric is None else symmetric,
                   "name_prefix": prefix, **self._options}
        if moving:
            rounded = MovingAvgQuantize(inputs, ema_decay=self._decay, num_bits=self._activation_bits, **options)
        else:
            rounded = LastValueQuantize(inputs, num_bits=self._weight_bits, narrow_range=True, **options)
        if self._delay and self._delay > 0:
            begun = greater_equal(CreateOrGetQuantizationStep(), self._delay, name=f"{prefix}/activate_quant")
            always = rounded
            rounded = cond(begun, lambda: always, lambda: inputs, name=f"{prefix}/delayed_quant")
        if readers and RerouteTensor(rounded, inputs, can_modify=readers) < len(readers):
            raise ValueError(f"No inputs quantized for ops: [{', '.join(op.name for op in readers)}]")


def _is_rounded(tensor: Any) -> bool:
    readers = list(tensor.consumers())
    while readers:
        reader = readers.pop()
        if reader.type in _ROUNDING:
            return True
        if reader.type in ("Reshape", "Identity"):
            readers.extend(one for output in reader.outputs for one in output.consumers())
    return False
