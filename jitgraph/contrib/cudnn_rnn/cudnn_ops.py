"""The CudnnRNN ops of graph files, on the host: stacks of recurrent layers over whole sequences, and their gradients.

The equations and the vector of parameters are those of ``equations``.  What the forward op keeps for the backward one in
`reserve_space` are the factors of the dropout between layers, nothing without dropout.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.cudnn_rnn.equations import GATES, Layout
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import INDICES, TypeSet
from jitgraph.graph.errors import UnimplementedError
from jitgraph.graph.texts import as_text
from jitgraph.ops.random import philox
from jitgraph.ops.random.philox import Bits

_FLOATS = TypeSet(dtypes.float16, dtypes.float32, dtypes.float64)
_HOW = ('rnn_mode: string {"rnn_relu", "rnn_tanh", "lstm", "gru"} = "lstm", input_mode: string {"linear_input", "skip_input", '
        '"auto_select"} = "linear_input", direction: string {"unidirectional", "bidirectional"} = "unidirectional", '
        "dropout: float = 0, seed: int = 0, seed2: int = 0")
_STATE = "input: T, input_h: T, input_c: T, params: T"
_TESTED = "tests/contrib/cudnn_rnn: parameters of one length"


def _layout(rnn_mode: Any, layers: int, units: int, depth: int, input_mode: Any, direction: Any, num_proj: int = 0) -> Layout:
    if num_proj:
        raise UnimplementedError(None, None, "CudnnRNN with num_proj: multiply the outputs with a matrix after each layer")
    return Layout(as_text(rnn_mode), int(layers), int(units), int(depth), as_text(input_mode), as_text(direction))


# -- parameters ----------------------------------------------------------------------------------------------------

def _parted(layout: Layout, params: np.ndarray) -> tuple[list, list]:
    """(weights, biases), views of the vector."""
    shapes = layout.all_weight_shapes() + [(layout.num_units,)] * len(layout.all_bias_shapes())
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    if params.size != ends[-1]:
        raise invalid(f"Invalid params size: {params.size}, the stack has {ends[-1]} parameters")
    parts = [part.reshape(shape) for part, shape in zip(np.split(params, ends[:-1]), shapes)]
    count = len(layout.all_weight_shapes())
    return parts[:count], parts[count:]


_SIZES = "num_layers: int32, num_units: int32, input_size: int32"


def _scalars(c: Any) -> None:
    for index in range(3):
        shape_rules.with_rank(c.shapes[index], 0, "a size")


def _one_size(c: Any) -> Any:
    _scalars(c)
    return ()


@op(f"CudnnRNNParamsSize({_SIZES}; T: type, S: type, {_HOW}, num_proj: int = 0) -> params_size: S", T=_FLOATS, S=INDICES,
    shape=_one_size, host=True, tested_in=_TESTED)
def params_size(num_layers, num_units, input_size, S, rnn_mode, input_mode, direction, num_proj):
    """How many parameters a stack has."""
    layout = _layout(rnn_mode, num_layers, num_units, input_size, input_mode, direction, num_proj)
    return np.array(layout.size(), S.as_numpy_dtype)


def _canonical(num_layers: Any, num_units: Any, input_size: Any, params: np.ndarray, counts: tuple, how: tuple) -> tuple:
    weights, biases = _parted(_layout(how[0], num_layers, num_units, input_size, *how[1:]), params)
    if counts != (len(weights), len(biases)):
        raise invalid(f"Number of params mismatch. Expected {counts}, got {(len(weights), len(biases))}")
    return weights, biases


def _canonical_shapes(c: Any) -> list:
    _scalars(c)
    attrs = c.attrs
    return [None] * (attrs.get("num_params_weights") or attrs["num_params"]) + [(None,)] * (
        attrs.get("num_params_biases") or attrs["num_params"])


@op(f"CudnnRNNParamsToCanonical({_SIZES}, params: T; num_params: int >= 1, {_HOW}) -> weights: num_params*T, biases: num_params*T",
    T=_FLOATS, shape=_canonical_shapes, host=True, dynamic=True, tested_in=_TESTED)
def params_to_canonical(num_layers, num_units, input_size, params, num_params, rnn_mode, input_mode, direction):
    """The weights [units, depth] and biases [units] of a stack, one by one."""
    return _canonical(num_layers, num_units, input_size, params, (num_params, num_params), (rnn_mode, input_mode, direction))


@op(f"CudnnRNNParamsToCanonicalV2({_SIZES}, params: T; num_params_weights: int >= 1, num_params_biases: int >= 1, {_HOW}, "
    "num_proj: int = 0) -> weights: num_params_weights*T, biases: num_params_biases*T", T=_FLOATS, shape=_canonical_shapes,
    host=True, dynamic=True, tested_in=_TESTED)
def params_to_canonical_v2(num_layers, num_units, input_size, params, num_params_weights, num_params_biases, rnn_mode, input_mode,
                           direction, num_proj):
    """The weights [units, depth] and biases [units] of a stack, one by one."""
    return _canonical(num_layers, num_units, input_size, params, (num_params_weights, num_params_biases),
                      (rnn_mode, input_mode, direction, num_proj))


def _joined(num_layers: Any, num_units: Any, input_size: Any, weights: list, biases: list, how: tuple) -> np.ndarray:
    layout = _layout(how[0], num_layers, num_units, input_size, *how[1:])
    if (len(weights), len(biases)) != (len(layout.all_weight_shapes()), len(layout.all_bias_shapes())):
        raise invalid(f"Number of params mismatch: {len(weights)} weights and {len(biases)} biases")
    found = np.concatenate([part.reshape(-1) for part in [*weights, *biases]])
    _parted(layout, found)
    return found


def _vector(c: Any) -> Any:
    _scalars(c)
    return (None,)


@op(f"CudnnRNNCanonicalToParams({_SIZES}, weights: num_params*T, biases: num_params*T; num_params: int >= 1, {_HOW}) -> params: T",
    T=_FLOATS, shape=_vector, host=True, dynamic=True, tested_in=_TESTED)
def canonical_to_params(num_layers, num_units, input_size, weights, biases, rnn_mode, input_mode, direction):
    """The vector of parameters of weights and biases."""
    return _joined(num_layers, num_units, input_size, weights, biases, (rnn_mode, input_mode, direction))


@op(f"CudnnRNNCanonicalToParamsV2({_SIZES}, weights: num_params_weights*T, biases: num_params_biases*T; num_params_weights: "
    f"int >= 1, num_params_biases: int >= 1, {_HOW}, num_proj: int = 0) -> params: T", T=_FLOATS, shape=_vector, host=True,
    dynamic=True, tested_in=_TESTED)
def canonical_to_params_v2(num_layers, num_units, input_size, weights, biases, rnn_mode, input_mode, direction, num_proj):
    """The vector of parameters of weights and biases."""
    return _joined(num_layers, num_units, input_size, weights, biases, (rnn_mode, input_mode, direction, num_proj))


# -- one layer in one direction ------------------------------------------------------------------------------------

def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


class _Layer:
    """One layer in one direction over [time, batch, depth], which remembers what its gradient needs."""

    def __init__(self, mode: str, weights: list, biases: list, skips: bool, lengths: Any):
        gates = GATES[mode]
        self.mode, self.gates, self.skips, self.lengths = mode, gates, skips, lengths
        self.into, self.hidden = np.concatenate(weights[:gates]), np.concatenate(weights[gates:])
        self.into_bias, self.hidden_bias = np.concatenate(biases[:gates]), np.concatenate(biases[gates:])

    def run(self, x: np.ndarray, h: np.ndarray, c: np.ndarray) -> tuple:
        """(outputs, last h, last c)"""
        self.x, self.kept = x, []
        out = np.zeros((*x.shape[:2], h.shape[1]), x.dtype)
        products = np.concatenate([x] * self.gates, 2) if self.skips else x @ self.into.T
        for t in range(len(x)):
            runs = (t < self.lengths)[:, None]
            new, memory, kept = self._step(products[t] + self.into_bias, h, c)
            self.kept.append((h, c, memory, runs, kept))
            out[t] = np.where(runs, new, 0)
            h, c = np.where(runs, new, h), np.where(runs, memory, c)
        return out, h, c

    def _step(self, into: np.ndarray, h: np.ndarray, c: np.ndarray) -> tuple:
        hidden = h @ self.hidden.T + self.hidden_bias
        if self.mode == "lstm":
            i, f, g, o = np.split(into + hidden, 4, 1)
            i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
            memory = f * c + i * g
            return o * np.tanh(memory), memory, (i, f, g, o)
        if self.mode == "gru":
            units = h.shape[1]
            r, u = np.split(_sigmoid(into[:, :2 * units] + hidden[:, :2 * units]), 2, 1)
            n = np.tanh(into[:, 2 * units:] + r * hidden[:, 2 * units:])
            return (1 - u) * n + u * h, c, (r, u, n, hidden[:, 2 * units:])
        total = into + hidden
        new = np.maximum(total, 0) if self.mode == "rnn_relu" else np.tanh(total)
        return new, c, (new,)

    def back(self, grad: np.ndarray, dh: np.ndarray, dc: np.ndarray) -> tuple:
        """(gradients of x, first h, first c, weights of the inputs, of the state, biases of both)"""
        steps = [np.zeros((grad.shape[1], len(self.into_bias)), grad.dtype) for _ in grad]
        d_hidden, hidden_bias = np.zeros_like(self.hidden), np.zeros_like(self.hidden_bias)
        for t in reversed(range(len(grad))):
            h, c, memory, runs, kept = self.kept[t]
            arrived = np.where(runs, grad[t] + dh, 0)
            into, from_state, h_part, c_part = self._step_back(arrived, np.where(runs, dc, 0), h, c, memory, kept)
            steps[t] = into
            d_hidden += from_state.T @ h
            hidden_bias += from_state.sum(0)
            dh, dc = np.where(runs, h_part + from_state @ self.hidden, dh), np.where(runs, c_part, dc)
        d_into = np.stack(steps) if steps else np.zeros((0, grad.shape[1], len(self.into_bias)), grad.dtype)
        flat = d_into.reshape(-1, d_into.shape[2])
        if self.skips:
            dx = sum(np.split(d_into, self.gates, 2))
            weights = np.zeros_like(self.into)
        else:
            dx, weights = d_into @ self.into, flat.T @ self.x.reshape(-1, self.x.shape[2])
        return dx, dh, dc, weights, d_hidden, flat.sum(0), hidden_bias

    def _step_back(self, grad: Any, dc: Any, h: Any, c: Any, memory: Any, kept: tuple) -> tuple:
        """(gradients of the products of inputs, of those of the state; what goes to h and c besides)"""
        if self.mode == "lstm":
            i, f, g, o = kept
            top = np.tanh(memory)
            dc = dc + grad * o * (1 - top * top)
            parts = np.concatenate([dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), grad * top * o * (1 - o)], 1)
            return parts, parts, 0 * h, dc * f
        if self.mode == "gru":
            r, u, n, hidden = kept
            dn = grad * (1 - u) * (1 - n * n)
            gates = [dn * hidden * r * (1 - r), grad * (h - n) * u * (1 - u)]
            return np.concatenate([*gates, dn], 1), np.concatenate([*gates, dn * r], 1), grad * u, dc
        new, = kept
        total = grad * (new > 0) if self.mode == "rnn_relu" else grad * (1 - new * new)
        return total, total, 0 * h, dc


# -- stacks --------------------------------------------------------------------------------------------------------

def _turned(x: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Each sequence from its last step to its first; what lies behind its end stays."""
    steps = np.arange(len(x))[:, None]
    order = np.where(steps < lengths, lengths - 1 - steps, steps)
    return np.take_along_axis(x, order[:, :, None], 0)


class _Stack:
    """A stack of layers in both directions, as many as there are."""

    def __init__(self, layout: Layout, params: np.ndarray, lengths: np.ndarray):
        self.layout, self.lengths = layout, lengths
        weights, biases = _parted(layout, params)
        each = 2 * GATES[layout.mode]
        self.layers = [_Layer(layout.mode, weights[k * each:(k + 1) * each], biases[k * each:(k + 1) * each],
                              layout.skips and k < layout.num_dirs, lengths) for k in range(layout.num_layers * layout.num_dirs)]

    def run(self, x: np.ndarray, h: np.ndarray, c: np.ndarray, factors: np.ndarray) -> tuple:
        """(outputs, last h, last c)"""
        dirs, last = self.layout.num_dirs, []
        for k in range(self.layout.num_layers):
            x = x * factors[k - 1] if k and factors.size else x
            outputs = []
            for d in range(dirs):
                place = k * dirs + d
                found, *states = self.layers[place].run(_turned(x, self.lengths) if d else x, h[place], c[place])
                outputs.append(_turned(found, self.lengths) if d else found)
                last.append(states)
            x = np.concatenate(outputs, 2)
        return x, np.stack([one[0] for one in last]), np.stack([one[1] for one in last])

    def back(self, grad: np.ndarray, dh: np.ndarray, dc: np.ndarray, factors: np.ndarray) -> tuple:
        """The gradients of x, h, c and the vector of parameters, after `run`."""
        dirs, gates = self.layout.num_dirs, GATES[self.layout.mode]
        first: list = [None] * len(self.layers)
        weights: list = [None] * len(self.layers)
        biases: list = [None] * len(self.layers)
        for k in reversed(range(self.layout.num_layers)):
            total: Any = 0
            for d, part in enumerate(np.split(grad, dirs, 2)):
                place = k * dirs + d
                found = self.layers[place].back(_turned(part, self.lengths) if d else part, dh[place], dc[place])
                total = total + (_turned(found[0], self.lengths) if d else found[0])
                first[place] = found[1:3]
                weights[place] = [*np.split(found[3], gates), *np.split(found[4], gates)]
                biases[place] = found[5:7]
            grad = total * factors[k - 1] if k and factors.size else total
        vector = np.concatenate([*(w.reshape(-1) for one in weights for w in one), *(b for one in biases for b in one)])
        return grad, np.stack([one[0] for one in first]), np.stack([one[1] for one in first]), vector


def _ran(x: np.ndarray, h: np.ndarray, c: np.ndarray, params: np.ndarray, lengths: Any, how: dict, factors: np.ndarray) -> tuple:
    """(the stack, its results), for arrays with time first, computed in single precision at least."""
    if x.ndim != 3 or h.ndim != 3:
        raise invalid("RNN input and state must be 3-D vectors.")
    dirs = 1 if as_text(how["direction"]) == "unidirectional" else 2
    layout = _layout(how["rnn_mode"], len(h) // dirs, h.shape[2], x.shape[2], how["input_mode"], how["direction"],
                     how.get("num_proj", 0))
    if h.shape != (layout.num_layers * dirs, x.shape[1], layout.num_units):
        raise invalid(f"Invalid input_h shape: {list(h.shape)} for inputs of shape {list(x.shape)}")
    if layout.mode == "lstm" and c.shape != h.shape:
        raise invalid(f"input_h and input_c must have the same shape: {list(h.shape)} {list(c.shape)}")
    lengths = np.full(x.shape[1], len(x)) if lengths is None else lengths.astype(np.int64)
    kind = np.float32 if x.dtype == np.float16 else x.dtype
    memory = c if layout.mode == "lstm" else np.zeros_like(h)
    stack = _Stack(layout, params.astype(kind), lengths)
    return stack, stack.run(x.astype(kind), h.astype(kind), memory.astype(kind), factors.astype(kind))


def _factors(shape: tuple, rate: float, seed: int, seed2: int, stream: Any, kind: Any) -> np.ndarray:
    """What outputs are multiplied with between layers: 0 for a part `rate` of them."""
    count = int(np.prod(shape))
    kept = philox.uniform(Bits.reserve(stream, seed, seed2, count), count, np.float32) >= rate
    return (kept / max(1 - rate, 1e-30)).astype(kind).reshape(shape)


def _forward(x, h, c, params, lengths, how, stream):
    time_major = how.get("time_major", True)
    if not time_major:
        x, h, c = (np.swapaxes(one, 0, 1) if one.ndim == 3 else one for one in (x, h, c))
    dirs = 1 if as_text(how["direction"]) == "unidirectional" else 2
    factors = np.zeros(0, x.dtype)
    if how["is_training"] and how["dropout"] and len(h) > dirs:
        factors = _factors((len(h) // dirs - 1, *x.shape[:2], dirs * h.shape[2]), how["dropout"], how["seed"], how["seed2"], stream,
                           x.dtype)
    _, (out, last_h, last_c) = _ran(x, h, c, params, lengths, how, factors)
    if not time_major:
        out, last_h, last_c = (np.swapaxes(one, 0, 1) for one in (out, last_h, last_c))
    last_c = last_c if as_text(how["rnn_mode"]) == "lstm" else np.zeros(())
    return *(np.array(one, x.dtype, order="C") for one in (out, last_h, last_c)), factors.reshape(-1)


def _backward(x, h, c, params, lengths, grads, reserve_space, how):
    turned = not how.get("time_major", True)
    if turned:
        x, h, c, *grads = (np.swapaxes(one, 0, 1) if one.ndim == 3 else one for one in (x, h, c, *grads))
    dirs = 1 if as_text(how["direction"]) == "unidirectional" else 2
    factors = reserve_space.reshape(len(h) // dirs - 1, *x.shape[:2], -1) if reserve_space.size else reserve_space
    stack, results = _ran(x, h, c, params, lengths, how, factors)
    kind = results[0].dtype
    dc = grads[2].astype(kind) if as_text(how["rnn_mode"]) == "lstm" else np.zeros_like(results[1])
    dx, dh, dc, vector = stack.back(grads[0].astype(kind), grads[1].astype(kind), dc, factors.astype(kind))
    dc = dc if c.shape == dc.shape and as_text(how["rnn_mode"]) == "lstm" else np.zeros_like(c)
    found = [np.swapaxes(one, 0, 1) if turned and one.ndim == 3 else one for one in (dx, dh, dc)]
    return *(np.array(one, x.dtype, order="C") for one in found), vector.astype(x.dtype)


def _forward_shapes(more: int) -> Any:
    def rule(c):
        x, h = shape_rules.with_rank(c.shapes[0], 3, "input"), shape_rules.with_rank(c.shapes[1], 3, "input_h")
        shape_rules.with_rank(c.shapes[3], 1, "params")
        dirs = 1 if as_text(c.attrs["direction"]) == "unidirectional" else 2
        units = None if h[2] is None else h[2] * dirs
        return [(x[0], x[1], units), h, h if as_text(c.attrs["rnn_mode"]) == "lstm" else (), *[(None,)] * more]

    return rule


_BACK = ("output: T, output_h: T, output_c: T, output_backprop: T, output_h_backprop: T, output_c_backprop: T, reserve_space: T")
_GRADS = "input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T"
_COMMON: dict[str, Any] = {"T": _FLOATS, "stateful": True, "host": True, "tested_in": _TESTED}
_FORWARD: dict[str, Any] = {**_COMMON, "stream": True, "dynamic": True}
_NO_BYTES = np.zeros(0, np.int8)


def _how(rnn_mode, input_mode, direction, **others):
    return {"rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction, **others}


@op(f"CudnnRNN({_STATE}; {_HOW}, is_training: bool = True) -> output: T, output_h: T, output_c: T, reserve_space: T",
    shape=_forward_shapes(1), **_FORWARD)
def cudnn_rnn(input, input_h, input_c, params, rnn_mode, input_mode, direction, dropout, seed, seed2, is_training, stream):
    """(outputs, last h, last c, what the gradient needs) of a stack; `input` [time, batch, depth]."""
    how = _how(rnn_mode, input_mode, direction, dropout=dropout, seed=seed, seed2=seed2, is_training=is_training)
    return _forward(input, input_h, input_c, params, None, how, stream)


@op(f"CudnnRNNV2({_STATE}; {_HOW}, is_training: bool = True) -> output: T, output_h: T, output_c: T, reserve_space: T, "
    "host_reserved: int8", shape=_forward_shapes(2), **_FORWARD)
def cudnn_rnn_v2(input, input_h, input_c, params, rnn_mode, input_mode, direction, dropout, seed, seed2, is_training, stream):
    """CudnnRNN, with what is kept on the host besides: nothing."""
    how = _how(rnn_mode, input_mode, direction, dropout=dropout, seed=seed, seed2=seed2, is_training=is_training)
    return *_forward(input, input_h, input_c, params, None, how, stream), _NO_BYTES


@op(f"CudnnRNNV3({_STATE}, sequence_lengths: int32; {_HOW}, num_proj: int = 0, is_training: bool = True, time_major: bool = True) "
    "-> output: T, output_h: T, output_c: T, reserve_space: T, host_reserved: int8", shape=_forward_shapes(2), **_FORWARD)
def cudnn_rnn_v3(input, input_h, input_c, params, sequence_lengths, rnn_mode, input_mode, direction, dropout, seed, seed2, num_proj,
                 is_training, time_major, stream):
    """CudnnRNNV2 over sequences of `sequence_lengths` [batch]; batch first unless `time_major`."""
    how = _how(rnn_mode, input_mode, direction, dropout=dropout, seed=seed, seed2=seed2, is_training=is_training, num_proj=num_proj,
               time_major=time_major)
    return *_forward(input, input_h, input_c, params, sequence_lengths, how, stream), _NO_BYTES


def _like_inputs(c: Any) -> list:
    return list(c.shapes[:4])


@op(f"CudnnRNNBackprop({_STATE}, {_BACK}; {_HOW}) -> {_GRADS}", shape=_like_inputs, **_COMMON)
def cudnn_rnn_backprop(input, input_h, input_c, params, output, output_h, output_c, output_backprop, output_h_backprop,
                       output_c_backprop, reserve_space, rnn_mode, input_mode, direction):
    """The gradients of CudnnRNN."""
    return _backward(input, input_h, input_c, params, None, (output_backprop, output_h_backprop, output_c_backprop), reserve_space,
                     _how(rnn_mode, input_mode, direction))


@op(f"CudnnRNNBackpropV2({_STATE}, {_BACK}, host_reserved: int8; {_HOW}) -> {_GRADS}", shape=_like_inputs, **_COMMON)
def cudnn_rnn_backprop_v2(input, input_h, input_c, params, output, output_h, output_c, output_backprop, output_h_backprop,
                          output_c_backprop, reserve_space, host_reserved, rnn_mode, input_mode, direction):
    """The gradients of CudnnRNNV2."""
    return _backward(input, input_h, input_c, params, None, (output_backprop, output_h_backprop, output_c_backprop), reserve_space,
                     _how(rnn_mode, input_mode, direction))


@op(f"CudnnRNNBackpropV3({_STATE}, sequence_lengths: int32, {_BACK}, host_reserved: int8; {_HOW}, num_proj: int = 0, "
    f"time_major: bool = True) -> {_GRADS}", shape=_like_inputs, **_COMMON)
def cudnn_rnn_backprop_v3(input, input_h, input_c, params, sequence_lengths, output, output_h, output_c, output_backprop,
                          output_h_backprop, output_c_backprop, reserve_space, host_reserved, rnn_mode, input_mode, direction,
                          num_proj, time_major):
    """The gradients of CudnnRNNV3."""
    return _backward(input, input_h, input_c, params, sequence_lengths, (output_backprop, output_h_backprop, output_c_backprop),
                     reserve_space, _how(rnn_mode, input_mode, direction, num_proj=num_proj, time_major=time_major))


def _attributes(op: Any, *more: str) -> dict[str, Any]:
    if not op.get_attr("is_training"):
        raise ValueError("To use CudnnRNN in gradients, is_training must be set to True.")
    return {name: op.get_attr(name) for name in ("rnn_mode", "input_mode", "direction", "dropout", "seed", "seed2", *more)}


@cudnn_rnn.gradient
def _(op, *grads):
    return list(cudnn_rnn_backprop(*op.inputs, *op.outputs[:3], *grads[:3], op.outputs[3], **_attributes(op)))


@cudnn_rnn_v2.gradient
def _(op, *grads):
    return list(cudnn_rnn_backprop_v2(*op.inputs, *op.outputs[:3], *grads[:3], *op.outputs[3:], **_attributes(op)))


@cudnn_rnn_v3.gradient
def _(op, *grads):
    how = _attributes(op, "num_proj", "time_major")
    found = cudnn_rnn_backprop_v3(*op.inputs, *op.outputs[:3], *grads[:3], *op.outputs[3:], **how)
    return [*found, None]
