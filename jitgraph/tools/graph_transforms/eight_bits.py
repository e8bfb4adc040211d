"""The transform ``quantize_nodes``: ops computed with numbers of 8 bits where TensorFlow has such forms of them."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from jitgraph.formats.graph_parts import copied, node_name
from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import DType
from jitgraph.tools.graph_transforms.parameters import Parameters, invalid
from jitgraph.tools.graph_transforms.patterns import (
    Match,
    Pattern,
    attributes_of,
    constant,
    copy_of,
    node_of,
    renamed_inputs,
    replaced,
    types_of,
)
from jitgraph.tools.graph_transforms.pruning import merge_duplicate_nodes

_ANY: Pattern = ("*", ())
_CONST: Pattern = ("Const", ())
_FIRST = b"MIN_FIRST"
_BYTE, _WIDE = dtypes.quint8, dtypes.qint32


class _Form(NamedTuple):
    """How an op is written with 8 bits."""

    kept: tuple[str, ...] = ()                  # attributes that stay
    types: tuple[tuple[str, DType], ...] = (("T", _BYTE),)
    plain: int | None = None                    # the number of an input that is no float
    ends_apart: bool = False                    # whether all smallest numbers come before all largest

    @property
    def is_wide(self) -> bool:
        """Whether its results have 32 bits."""
        return any(dtype is _WIDE for _, dtype in self.types)


def _wide(first: str, second: str, result: str) -> tuple[tuple[str, DType], ...]:
    return (first, _BYTE), (second, _BYTE), (result, _WIDE)


_SUM, _POOL = _wide("T1", "T2", "Toutput"), ("ksize", "strides", "padding")
_FORMS = {
    "Add": _Form(types=_SUM),
    "AvgPool": _Form(_POOL),
    "BiasAdd": _Form(types=_wide("T1", "T2", "out_type")),
    "Concat": _Form(("N",), plain=0, ends_apart=True),
    "Conv2D": _Form(("strides", "padding"), _wide("Tinput", "Tfilter", "out_type")),
    "MatMul": _Form(("transpose_a", "transpose_b"), _SUM),
    "MaxPool": _Form(_POOL),
    "Mul": _Form(types=_SUM),
    "Relu": _Form(types=(("Tinput", _BYTE),)),
    "Relu6": _Form(types=(("Tinput", _BYTE),)),
    "Reshape": _Form(plain=1),
    "ResizeBilinear": _Form(("align_corners",), plain=1),
}


def quantize_nodes(graph_def: Any, given: Parameters) -> Any:
    """Computes with 8 bits what has such a form, but for op types `ignore_op`; what stands between two such nodes stays in 8 bits.

    Ranges are those of the numbers of each run.  With `input_min` and `input_max` placeholders take numbers of 8 bits in that
    range; `fallback_min` and `fallback_max` are the range of what is rounded from 32 bits; trained ranges, those of
    FakeQuantWithMinMaxVars, are used where they are near.  Raises InvalidArgumentError if one of a pair is missing.
    """
    graph_def = _of_bytes(graph_def, _range(given, "input"))
    for depth in (3, 2, 1):
        graph_def = _hoisted(graph_def, depth)
    graph_def = _from_trained(graph_def)
    ignored = given.values.get("ignore_op", ())
    ops, fallback = "|".join(op for op in _FORMS if op not in ignored), _range(given, "fallback")
    graph_def = replaced(graph_def, (ops, ()), lambda match, used: _in_bytes(match.node, fallback))
    return _without_floats(merge_duplicate_nodes(_with_trained(graph_def), given), given)


def _range(given: Parameters, what: str) -> tuple[float, float] | None:
    names = [f"{what}_{end}" for end in ("min", "max")]
    if all(name not in given.values for name in names):
        return None
    if any(name not in given.values for name in names):
        raise invalid(f"You must pass both {names[0]} and {names[1]} into quantize_nodes")
    return given.one(names[0], 0.0), given.one(names[1], 0.0)


def _ends(name: str, between: tuple[float, float], prefix: str) -> list[Any]:
    return [constant(f"{name}/{prefix}{which}", np.float32(end)) for which, end in zip(("min", "max"), between)]


def _float_of(name: str, inputs: Iterable[str]) -> Any:
    return node_of("Dequantize", name, inputs, T=_BYTE, mode=_FIRST)


def _of_bytes(graph_def: Any, between: tuple[float, float] | None) -> Any:
    """Placeholders of bytes in the place of all others, each with what makes floats of it."""
    if between is None:
        return graph_def
    nodes, instead = [], {}
    for node in graph_def.node:
        nodes.append(copy_of(node))
        if node.op == "Placeholder":
            nodes[-1].attr["dtype"].type = _BYTE.as_datatype_enum
            ends = _ends(f"{node.name}_eightbit", between, "")
            nodes += [*ends, _float_of(f"{node.name}_eightbit/dequantize", [node.name, *(one.name for one in ends)])]
            instead[f"{node.name}:0"] = nodes[-1].name
    return renamed_inputs(copied(graph_def, nodes), instead, but_of=set(instead.values()))


def _hoisted(graph_def: Any, depth: int) -> Any:
    """Trained ranges moved up through `depth` nodes of one input, to where 32 bits become 8."""
    chain = _ANY
    for _ in range(depth):
        chain = ("*", (chain,))

    def make(match: Match, used: set[str]) -> Iterable[Any]:
        line, one = [], match
        for _ in range(depth + 1):
            one = one.inputs[0]
            line.append(copy_of(one.node))
        first = line[-2]
        trained = copy_of(match.node)
        trained.name, trained.input[0] = f"{match.node.name}_hoisted", first.input[0]
        first.input[0] = trained.name
        line[0].name = match.node.name
        return [trained, match.inputs[1].node, match.inputs[2].node, *line]

    return replaced(graph_def, ("FakeQuantWithMinMaxVars", (chain, _CONST, _CONST)), make)


def _outputs(name: str) -> list[str]:
    return [f"{name}:{k}" for k in range(3)]


def _from_trained(graph_def: Any) -> Any:
    """Trained ranges as those of a rounding from 32 bits to 8."""

    def make(match: Match, used: set[str]) -> Iterable[Any]:
        name, ends = f"{match.node.name}_eightbit", [one.node.name for one in match.inputs[1:]]
        wide = node_of("QuantizeV2", f"{name}/quantize", [match.node.input[0], *ends], T=_WIDE, mode=_FIRST)
        narrow = node_of("Requantize", f"{name}/requantize", [*_outputs(wide.name), *ends], Tinput=_WIDE, out_type=_BYTE)
        return [*(one.node for one in match.inputs), wide, narrow, _float_of(match.node.name, _outputs(narrow.name))]

    return replaced(graph_def, ("FakeQuantWithMinMaxVars", (_ANY, _CONST, _CONST)), make)


def _in_bytes(node: Any, fallback: tuple[float, float] | None) -> Iterable[Any]:
    """A node of floats as one of bytes: ranges, roundings, the op, and floats of what it gives."""
    form = _FORMS[node.op]
    inputs, outputs = types_of(node)
    data = [text for text in node.input if not text.startswith("^")]
    floats = [(k, text) for k, text in enumerate(data) if k != form.plain]
    if any(inputs[k] is not dtypes.float32 for k, _ in floats) or any(dtype is not dtypes.float32 for dtype in outputs):
        return [node]
    made: list[Any] = []
    rounded = {}
    for k, text in floats:
        rounded[k], more = _rounded(f"{node.name}_eightbit/{_as_name(text)}", text)
        made += more
    name, sources = f"{node.name}/eightbit", [rounded.get(k) for k in range(len(data))]
    ends = [f"{source}:{which}" for order in ((1,), (2,)) for source in rounded.values() for which in order] if form.ends_apart \
        else [f"{source}:{which}" for source in rounded.values() for which in (1, 2)]
    given = [text if source is None else f"{source}:0" for text, source in zip(data, sources)]
    controls = [text for text in node.input if text.startswith("^")]
    made.append(node_of(f"Quantized{node.op}", name, [*given, *ends, *controls], **attributes_of(node, *form.kept),
                        **dict(form.types)))
    if form.is_wide:
        made += _narrowed(name, fallback)
    return [*made, _float_of(node.name, _outputs(made[-1].name))]


def _as_name(text: str) -> str:
    name = node_name(text)
    port = text.removeprefix(name)[1:]
    return f"{name}__port__{port}" if port else name


def _rounded(name: str, text: str) -> tuple[str, list[Any]]:
    """(the node that gives a tensor in 8 bits, with it those before: its smallest and largest number)"""
    size, axes = (constant(f"{name}/{what}", np.array([value], np.int32)) for what, value in
                  (("reshape_dims", -1), ("reduction_dims", 0)))
    for one in (size, axes):
        one.input.append(f"^{node_name(text)}")
    flat = node_of("Reshape", f"{name}/reshape", [text, size.name], T=dtypes.float32)
    ends = [node_of(op, f"{name}/{op.lower()}", [flat.name, axes.name], T=dtypes.float32, keep_dims=False) for op in ("Min", "Max")]
    made = node_of("QuantizeV2", f"{name}/quantize", [text, *(one.name for one in ends)], T=_BYTE, mode=_FIRST)
    return made.name, [size, axes, flat, *ends, made]


def _narrowed(name: str, fallback: tuple[float, float] | None) -> list[Any]:
    """What rounds from 32 bits to 8: by a range that was given, or that of the numbers."""
    if fallback is not None:
        before = _ends(name, fallback, "fallback_")
        ends = [one.name for one in before]
    else:
        before = [node_of("RequantizationRange", f"{name}/requant_range", _outputs(name), Tinput=_WIDE)]
        ends = [f"{before[0].name}:0", f"{before[0].name}:1"]
    return [*before, node_of("Requantize", f"{name}/requantize", [*_outputs(name), *ends], Tinput=_WIDE, out_type=_BYTE)]


def _with_trained(graph_def: Any) -> Any:
    """A rounding by the range of the numbers, right before one by a trained range, left out."""
    measured: Pattern = ("RequantizationRange", ())
    before: Pattern = ("Requantize", (_ANY, _ANY, _ANY, measured, measured))
    floats: Pattern = ("Dequantize", (before, ("Requantize", ()), ("Requantize", ())))
    again: Pattern = ("QuantizeV2", ())

    def make(match: Match, used: set[str]) -> Iterable[Any]:
        wide = match.inputs[0].inputs[0].inputs[0].inputs[0].node
        ends = [one.node for one in match.inputs[3:]]
        made = copy_of(match.node)
        made.input[:] = [*_outputs(wide.name), *(one.name for one in ends)]
        return [wide, *ends, made]

    return replaced(graph_def, ("Requantize", (("QuantizeV2", (floats, _CONST, _CONST)), again, again, _CONST, _CONST)), make)


def _without_floats(graph_def: Any, given: Parameters) -> Any:
    """Floats made of 8 bits, right before they become 8 bits again, left out."""
    outputs, instead = {node_name(text) for text in given.outputs}, {}

    def make(match: Match, used: set[str]) -> Iterable[Any]:
        floats = match.inputs[0].node
        instead.update({f"{match.node.name}:{k}": floats.input[k] for k in range(3)})
        return match.nodes() if floats.name in used | outputs else []

    pattern: Pattern = ("QuantizeV2", (("Dequantize", ()), ("Min", ()), ("Max", ())))
    return renamed_inputs(replaced(graph_def, pattern, make, consistent=False), instead)
