"""Text for people while a graph runs: ``tf.Print``, ``tf.print``, ``tf.strings.format``."""
from __future__ import annotations

import logging
import pprint
import sys
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.declare.op import op
from jitgraph.declare.samples import ints, texts
from jitgraph.graph import errors, shape_rules
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import string
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.checks.summarize import edges, summary

# -- tf.Print ------------------------------------------------------------------------------------------------------

@op('Print(input: T, data: [U]; message: string = "", first_n: int = -1, summarize: int = 3) -> output: T',
    shape=shape_rules.same_as_input, stateful=True, outward=True, host=True, context=("state", "op"),
    tested_in="tests/ops/test_printing.py: what it prints")
def _print(input, data, message, first_n, summarize, state, op):
    """`input`, unchanged; writes `message` and `data` to the standard error stream, the first `first_n` times."""
    if first_n >= 0:
        with state.lock:
            times = state.resource(("Print", op), lambda: [0])
            times[0] += 1
        if times[0] > first_n:
            return input
    text = "".join(f"[{summary(np.asarray(array), summarize)}]" for array in data)
    _write(sys.stderr, message + text + "\n" if isinstance(message, str) else message.decode("latin-1") + text + "\n")
    return input


@_print.gradient
def _(op, *grads):
    return [*grads, *[None] * (len(op.inputs) - 1)]


def Print(input_: Any, data: Any, message: str | None = None, first_n: int | None = None,
          summarize: int | None = None, name: str | None = None) -> Tensor:
    """`input_`, unchanged; whenever it is evaluated, `message` and `data` go to the standard error stream.

    `data`: a list of tensors of any dtype; `summarize`: how many elements of each are shown (3; all if negative);
    `first_n`: how often it prints in a session (always).  As any node it prints only if a fetch needs it.
    """
    optional = {"message": message, "first_n": first_n, "summarize": summarize}
    return _print(input_, data, name=name, **{key: value for key, value in optional.items() if value is not None})


def _write(stream: Any, text: str) -> None:
    """One write per message, so that messages of several threads do not mix."""
    if stream is not None:              # there is none under pythonw
        stream.write(text)
        stream.flush()


# -- tf.print ------------------------------------------------------------------------------------------------------

@op('StringFormat(inputs: [T]; template: string = "%s", placeholder: string = "%s", summarize: int = 3) -> '
    "output: string", shape=shape_rules.scalar, host=True,
    samples=lambda rng, dtype: [([[ints(1, 2), texts(b"a")]], {"template": "x %s y %s"}),
                                ([[np.arange(20, dtype=np.int64)]], {"summarize": 2})])
def _string_format(inputs, template, placeholder, summarize):
    """`template` with each occurrence of `placeholder` replaced by the text of an input."""
    pieces = template.split(placeholder)
    if len(pieces) != len(inputs) + 1:
        raise errors.InvalidArgumentError(None, None, f"num placeholders in template and num inputs must match: "
                                                      f"{len(pieces) - 1} vs. {len(inputs)}")
    text = pieces[0] + "".join(edges(np.asarray(array), summarize) + piece for array, piece in zip(inputs, pieces[1:]))
    return np.array(text.encode(), object)


@op('PrintV2(input: string; output_stream: string = "stderr", end: string = "\\n")', shape=shape_rules.no_outputs,
    stateful=True, outward=True, host=True, tested_in="tests/ops/test_printing.py: what it prints")
def _print_v2(input, output_stream, end):
    """Writes a string to a stream, the log, or a file."""
    text = bytes(input[()]).decode("utf-8", "replace")
    if output_stream.startswith("file://"):
        with open(output_stream[len("file://"):], "a", encoding="utf-8") as file:
            file.write(text + end)
    elif output_stream.startswith("log("):
        logs.log(_LEVELS[output_stream[4:-1]], "%s", text)
    else:
        _write(sys.stdout if output_stream == "stdout" else sys.stderr, text + end)


_LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "warn": logging.WARNING, "error": logging.ERROR}


class _Hole:
    """Stands for a tensor in a structure: its ``repr`` is the placeholder."""

    def __init__(self, placeholder: str):
        self._placeholder = placeholder

    def __repr__(self) -> str:
        return self._placeholder


def _filled(item: Any, tensors: list, placeholder: str) -> Any:
    """`item` with its tensors, which join `tensors`, replaced by holes."""
    if isinstance(item, SparseTensor):
        parts = [_filled(part, tensors, placeholder) for part in (item.indices, item.values, item.dense_shape)]
        return "SparseTensor(indices={!r}, values={!r}, shape={!r})".format(*parts)
    if isinstance(item, Tensor) or hasattr(item, "_as_graph_element") and not isinstance(item, Operation):
        tensors.append(convert_to_tensor(item))
        return _Hole(placeholder)
    if isinstance(item, dict):
        return type(item)((key, _filled(value, tensors, placeholder)) for key, value in _in_order(item))
    if isinstance(item, (list, tuple)):
        values = [_filled(value, tensors, placeholder) for value in item]
        return type(item)(*values) if hasattr(item, "_fields") else type(item)(values)
    return item


def _in_order(mapping: dict) -> list:
    """The items as ``pprint`` will order them, which keeps tensors and placeholders in step."""
    try:
        return sorted(mapping.items())
    except TypeError:
        return list(mapping.items())


def print_(*inputs: Any, output_stream: Any = None, summarize: int = 3, sep: str = " ", end: str = "\n",
           name: str | None = None, **unknown: Any) -> Operation:
    """An operation that prints `inputs`: tensors, strings, other objects and nested structures of them.

    Run it, or make others wait for it with ``tf.control_dependencies``.  `output_stream`: sys.stderr (default),
    sys.stdout, tf.logging.info (or warning, error), or "file:///path" (appended to).  `summarize`: items shown at each
    end of a dimension, all if negative.  Raises ValueError for another stream or keyword.
    """
    if unknown:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {unknown}")
    stream = _stream_name(output_stream)
    if len(inputs) == 1 and isinstance(inputs[0], Tensor) and inputs[0].dtype is string and inputs[0]._shape == ():
        return _print_v2(inputs[0], output_stream=stream, end=end, name=name)
    placeholder = "{}"
    while any(placeholder in repr(item) for item in inputs if not isinstance(item, Tensor)):
        placeholder = "{" + str(len(placeholder)) + placeholder[1:]
    tensors: list = []
    texts = []
    for item in inputs:
        filled = item if isinstance(item, str) else _filled(item, tensors, placeholder)
        texts.append(filled if isinstance(item, str) else pprint.pformat(filled))
    formatted = _string_format(tensors, template=sep.join(texts), placeholder=placeholder, summarize=summarize,
                               name=name and f"{name}_format")
    return _print_v2(formatted, output_stream=stream, end=end, name=name)


def _stream_name(stream: Any) -> str:
    if stream is None or stream is sys.stderr or stream is sys.__stderr__:
        return "stderr"
    if stream is sys.stdout or stream is sys.__stdout__:
        return "stdout"
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    if stream in _LEVELS.values():
        return f"log({next(name for name, level in _LEVELS.items() if level == stream)})"
    if getattr(stream, "__name__", None) in _LEVELS:
        return f"log({stream.__name__.replace('warn', 'warning') if stream.__name__ == 'warn' else stream.__name__})"
    raise ValueError(f"Unsupported output stream, logging level, or file: {stream!r}. It may be sys.stdout, sys.stderr, "
                     "tf.logging.info, tf.logging.warning, tf.logging.error, or a string 'file:///path'.")


def string_format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3,
                  name: str | None = None) -> Tensor:
    """A string scalar: `template` with each `placeholder` replaced by the text of one of `inputs` (a list, or one).

    `summarize`: items shown at each end of a dimension.  Raises ValueError if the numbers do not match.
    """
    inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if template.count(placeholder) != len(inputs):
        raise ValueError(f"{template.count(placeholder)} placeholder(s) in template does not match {len(inputs)} "
                         "tensor(s) provided as input")
    return _string_format(inputs, template=template, placeholder=placeholder, summarize=summarize, name=name)
