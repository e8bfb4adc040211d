"""Datasets as graphs: the nodes that made one, with what they were given, written down and made again."""
from __future__ import annotations

import re
from typing import Any

import numpy as np

from jitgraph.data.simple_host import Same
from jitgraph.data.source_host import Recipe, Run, Session, Source, Take, stateful_op
from jitgraph.graph import errors

_FUSED = (("map_and_batch_fusion", r"\b(?:Parallel)?Map BatchV2\b", "MapAndBatch"),
          ("shuffle_and_repeat_fusion", r"\bShuffle (?:Finite|Forever)Repeat\b", "ShuffleAndRepeat"))


# -- as a GraphDef -----------------------------------------------------------------------------------------------------

def written(source: Source) -> Any:
    """The GraphDef of a dataset: a constant for each value, a node for each step, and a _Retval of the last.

    Raises UnimplementedError for a dataset that no node made.
    """
    from jitgraph.graph.protos.function_def import add_functions
    from jitgraph.graph.protos.graph_def import version_def
    from jitgraph.protobuf import messages

    proto = messages.GraphDef(versions=version_def())
    steps: list[Any] = []
    last = _write(proto, source, steps)
    result = proto.node.add(name="dataset", op="_Retval", input=[last])
    result.attr["T"].type = messages.DT_VARIANT
    result.attr["index"].i = 0
    add_functions(proto.library, steps)
    return proto


def _write(proto: Any, source: Source, steps: list[Any]) -> str:
    from jitgraph.graph.protos.node_proto import node_to_proto

    recipe = _recipe(source)
    inputs = [_write(proto, part, steps) if isinstance(part, Source) else _constant(proto, part, tensor.dtype.base_dtype)
              for part, tensor in zip(_given(recipe), recipe.op.inputs)]
    node = node_to_proto(recipe.op)
    node.name, node.device = f"{recipe.op.type}/_{len(proto.node)}", ""
    del node.input[:]
    node.input.extend(inputs)
    proto.node.append(node)
    steps.append(recipe.op)
    name: str = node.name
    return name


def _constant(proto: Any, value: Any, dtype: Any) -> str:
    from jitgraph.graph.protos.tensor_proto import from_array

    if dtype.name in ("resource", "variant"):
        raise errors.UnimplementedError(None, None, f"What stands behind a handle ({type(value).__name__}) is no part of a graph.")
    node = proto.node.add(name=f"Const/_{len(proto.node)}", op="Const")
    node.attr["dtype"].type = dtype.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(from_array(np.asarray(value, dtype.as_numpy_dtype), dtype))
    name: str = node.name
    return name


def _given(recipe: Recipe) -> list:
    """What the inputs of a node were given, one after the other."""
    return [part for value in recipe.values.values() for part in (value if isinstance(value, list) else [value])]


def _recipe(source: Source) -> Recipe:
    if source.recipe is None:
        raise errors.UnimplementedError(None, None, f"{type(source).__name__} is no dataset of a node.")
    return source.recipe


def checked(source: Source, allowed: frozenset[str]) -> Source:
    """The dataset itself.  Raises FailedPreconditionError if its functions have a state, but for `allowed` types of nodes."""
    stateful = stateful_op(source, allowed)
    if stateful is not None:
        raise errors.FailedPreconditionError(None, None, f"{stateful} is stateful.")
    return source


def read(content: bytes, graph: Any, state: Any) -> Source:
    """The dataset that a serialized GraphDef describes, in whose terms `graph` is the one around.

    Raises InvalidArgumentError for what is no such graph.
    """
    from google.protobuf.message import DecodeError

    from jitgraph.formats.import_graph import import_graph_def
    from jitgraph.graph.function_graph import FunctionGraph
    from jitgraph.protobuf import messages

    try:
        proto = messages.GraphDef.FromString(content)
    except DecodeError:
        raise errors.InvalidArgumentError(None, None, "Could not parse GraphDef") from None
    ends = [node for node in proto.node if node.op == "_Retval"]
    if len(ends) != 1 or len(ends[0].input) != 1:
        raise errors.InvalidArgumentError(None, None, "Failed to find a _Retval op in the given dataset")
    proto.node.remove(ends[0])
    function = FunctionGraph("dataset", graph)
    with function.as_default():
        try:
            name = ends[0].input[0]
            function.outputs = import_graph_def(proto, return_elements=[name if ":" in name else name + ":0"], name="") or []
        except (ValueError, TypeError) as error:
            raise errors.InvalidArgumentError(None, None, str(error)) from None
    found, = state.make_function(function, state)([])
    source: Source = found[()]
    return source


# -- which steps follow on one -----------------------------------------------------------------------------------------

class NextAsserted(Same):
    """The elements of a dataset after which certain transformations have to come, see ``check_next``."""

    def __init__(self, source: Source, names: list[str]):
        super().__init__(source)
        self.names = names


def begun(source: Source, session: Session) -> Take:
    """What gives the elements of a dataset from the first on.  Raises InvalidArgumentError as ``check_next`` does."""
    check_next(source)
    return source.iterate(Run(session))


def check_next(source: Source, above: tuple[str, ...] = (), fused: tuple = ()) -> None:
    """Raises InvalidArgumentError if other steps than the asserted ones follow on an assertion in the dataset.

    `above`: the steps between it and the elements, the nearest first; `fused`: which of ``_FUSED`` the optimiser joins.
    """
    recipe = source.recipe
    if recipe is None:
        return
    if isinstance(source, NextAsserted):
        _compare(source.names, above, fused)
    parts = [part for part in _given(recipe) if isinstance(part, Source)]
    if recipe.op.type == "OptimizeDataset":
        names = {name.decode() for name in np.ravel(recipe.values["optimizations"]).tolist()}
        fused = tuple(fusion for fusion in _FUSED if fusion[0] in names)
    elif not isinstance(source, NextAsserted):
        above = (_step(recipe, len(parts)), *above)
    for number, part in enumerate(parts):
        check_next(part, tuple(step.format(number) for step in above), fused)


def _compare(expected: list[str], above: tuple[str, ...], fused: tuple) -> None:
    text = " ".join(above)
    for _, pattern, name in fused:
        text = re.sub(pattern, name, text)
    found = text.split()
    if len(expected) > len(found):
        raise errors.InvalidArgumentError(
            None, None, f"Asserted next {len(expected)} transformations but encountered only {len(found)}.")
    for number, (one, other) in enumerate(zip(expected, found)):
        if one != other:
            raise errors.InvalidArgumentError(
                None, None, f"Asserted {one} transformation at offset {number} but encountered {other} transformation instead.")


def _step(recipe: Recipe, inputs: int) -> str:
    """How TensorFlow's iterators call a step; {} stands for the number of the input."""
    name: str = recipe.op.type.removeprefix("Experimental").replace("Dataset", "")
    if name in ("Take", "Skip", "Repeat"):
        count = recipe.values["count"]
        return ("Empty" if count == 0 and name != "Skip" else "Forever" if count < 0 and name == "Repeat" else "Finite") + name
    if name == "Cache":
        return ("File" if recipe.values["filename"] else "Memory") + "CacheImpl"
    return name + "[{}]" if inputs > 1 else name
