"""The layers of a graph whose weights and activations are rounded."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.app import logs
from jitgraph.contrib.quantize.graph_matcher import GraphMatcher, OneofPattern, OpTypePattern, Pattern

LAYERS = "Conv2D|MatMul|DepthwiseConv2dNative"
ACTIVATIONS = ("Relu", "Relu6", "Identity")
_ADDS = "Add|AddV2"
_ANY = "*"


class Layer(NamedTuple):
    """A layer: its operation, its weights, the activation, what is added before it and after it, the addition of biases."""

    op: Any
    weights: Any
    activation: Any
    bypass: Any
    bypass_after: Any
    bias_add: Any


class _Patterns:
    """What layers look like, with batch normalizations folded."""

    def __init__(self) -> None:
        def kind(types: str, inputs: Any = None, ordered: bool = False) -> OpTypePattern:
            return OpTypePattern(types, inputs=inputs, ordered_inputs=ordered)

        variable = kind("Variable|VariableV2")
        part = kind("Identity", [variable], True)
        parts = kind("ConcatV2", [part, _ANY, _ANY], True)
        read = kind("Identity", [OneofPattern([part, parts, variable])], True)
        self.weights: list[Pattern] = [read, kind("ReadVariableOp"), kind("Mul")]
        self.layer = kind(LAYERS, [_ANY, OneofPattern(self.weights)])
        outputs = OneofPattern([kind("BatchToSpaceND", [self.layer, _ANY, _ANY], True), self.layer])
        self.after_layer = kind(LAYERS, [OneofPattern([outputs]), _ANY])
        corrected = kind(_ADDS, [kind("Mul", [_ANY, outputs]), _ANY])
        self.folded_add = kind(_ADDS, [corrected, _ANY])
        identity = kind("Identity", [self.folded_add], True)
        self.bias_add = kind(f"{_ADDS}|BiasAdd", [outputs, _ANY])
        self.bypass = kind(_ADDS, [OneofPattern([self.bias_add, self.folded_add, identity]), _ANY])
        self.activation = kind("|".join(ACTIVATIONS), [
            OneofPattern([self.bias_add, self.folded_add, identity, self.bypass, self.layer])], True)
        self.bypass_after = kind(_ADDS, [_ANY, self.activation])

    def weights_of(self, match: Any) -> Any:
        """The tensor of the weights that were found."""
        return _first(match.get_tensor(pattern) for pattern in self.weights)

    def bias_add_of(self, match: Any) -> Any:
        """The operation that adds biases."""
        return _first(match.get_op(pattern) for pattern in (self.bias_add, self.folded_add))


def _first(found: Any) -> Any:
    return next((one for one in found if one is not None), None)


def find_layers(graph: Any) -> list[Layer]:
    """The layers, each once: those whose activation something is added to, those with one, those without, separable ones."""
    patterns, found = _Patterns(), {}

    def look(pattern: Any, layer_of: Callable) -> None:
        for match in GraphMatcher(pattern).match_graph(graph):
            op = match.get_op(patterns.layer)
            layer = layer_of(match, op) if op not in found else None
            if layer is not None:
                found[op] = layer

    def activated(match: Any, op: Any) -> Layer | None:
        after, activation = match.get_op(patterns.bypass_after), match.get_op(patterns.activation)
        if after is None and _feeds_batch_norm(activation):
            return None
        return Layer(op, patterns.weights_of(match), activation, match.get_op(patterns.bypass), after, patterns.bias_add_of(match))

    look(patterns.bypass_after, activated)
    look(patterns.activation, activated)
    look(OneofPattern([patterns.bias_add, patterns.folded_add]),
         lambda match, op: Layer(op, patterns.weights_of(match), patterns.bias_add_of(match), None, None, None))
    look(patterns.after_layer,
         lambda match, op: Layer(op, _first(match.get_tensor(pattern) for pattern in patterns.weights[:2]), op, None, None, None))
    return list(found.values())


def _feeds_batch_norm(activation: Any) -> bool:
    if activation.type != "Identity" or len(activation.outputs) != 1:
        return False
    readers = activation.outputs[0].consumers()
    skipped = len(readers) == 1 and readers[0].type in ("FusedBatchNorm", "FusedBatchNormV3")
    if skipped:
        logs.info("Skipping quantizing %s, because it is the output of a conv/fc followed by a identity, feeding a fused batch "
                  "norm.", activation.name)
    return skipped
