"""Steps of LSTMs and GRUs as one op each, and whole sequences of an LSTM; gates in the order input, memory, forget, output."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import TypeSet
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.linalg.matmul import matmul

_HALVES = TypeSet(dtypes.float16, dtypes.float32)
_STEP = "cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T"
_GATES = "i: T, cs: T, f: T, o: T, ci: T, co: T"
_ATTRS = "forget_bias: float = 1, cell_clip: float = 3, use_peephole: bool = false"


def _units(c: Any, state: int) -> Any:
    return shape_rules.with_rank(c.shapes[state], 2, "cs_prev")


# -- one step of an LSTM -------------------------------------------------------------------------------------------

def _step(parts: Any, cs_prev: Any, wci: Any, wcf: Any, wco: Any, forget_bias: float, cell_clip: float,
          use_peephole: bool) -> tuple:
    """(i, cs, f, o, ci, co, h) of the four parts of the products."""
    i, ci, f, o = parts
    f = f + forget_bias
    if use_peephole:
        i, f = i + cs_prev * wci, f + cs_prev * wcf
    i, ci, f = prim.sigmoid(i), prim.tanh(ci), prim.sigmoid(f)
    cs = i * ci + f * cs_prev
    if cell_clip > 0:
        cs = prim.min(prim.max(cs, -cell_clip), cell_clip)
    o = prim.sigmoid(o + cs * wco if use_peephole else o)
    co = prim.tanh(cs)
    return i, cs, f, o, ci, co, o * co


def _step_back(cs_prev: Any, wci: Any, wcf: Any, wco: Any, gates: tuple, cs_grad: Any, h_grad: Any, use_peephole: bool) -> tuple:
    """(gradients of the four parts, of cs_prev)"""
    i, _, f, o, ci, co = gates
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if use_peephole:
        dcs = dcs + do * wco
    dci = (1 - ci * ci) * dcs * i
    df = f * (1 - f) * dcs * cs_prev
    di = i * (1 - i) * dcs * ci
    back = dcs * f
    if use_peephole:
        back = back + di * wci + df * wcf
    return (di, dci, df, do), back


def _parted(x: np.ndarray) -> list:
    return np.split(x, 4, axis=1)


def _lstm_samples(rng: Any, dtype: Any) -> list:
    rows, depth, units = 3, 2, 4
    def inputs(*lead: int) -> list:
        state, diagonal = (rows, units), (units,)
        return [draw(rng, shape, dtype, -1, 1) for shape in (
            (*lead, rows, depth), state, state, (depth + units, 4 * units), diagonal, diagonal, diagonal, (4 * units,))]
    return [(inputs(), {}), (inputs(), {"use_peephole": True, "cell_clip": -1.0, "forget_bias": 0.5})]


@op(f"LSTMBlockCell(x: T, {_STEP}; {_ATTRS}) -> {_GATES}, h: T", T=_HALVES, shape=lambda c: [_units(c, 1)] * 7,
    samples=_lstm_samples, gradient_of=(1, 6))
def lstm_block_cell(x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole):
    """One step of an LSTM: gates, memory `cs`, its tanh `co` and output `h`, each [batch, units]."""
    parts = _parted(np.concatenate([x, h_prev], 1) @ w + b)
    return tuple(np.asarray(v, x.dtype) for v in _step(parts, cs_prev, wci, wcf, wco, forget_bias, cell_clip, use_peephole))


@lstm_block_cell.gradient
def _(op, *grads):
    x, cs_prev, h_prev, w, wci, wcf, wco, b = op.inputs
    depth, units = x.shape.with_rank(2)[1].value, cs_prev.shape.with_rank(2)[1].value
    if depth is None:
        raise ValueError("input_size from `x` should not be None.")
    if units is None:
        raise ValueError("cell_size from `cs_prev` should not be None.")
    back, dgates, wci_grad, wcf_grad, wco_grad = raw.LSTMBlockCellGrad(
        x, cs_prev, h_prev, w, wci, wcf, wco, b, *op.outputs[:6], grads[1], grads[6], use_peephole=op.attrs["use_peephole"])
    xh_grad = matmul(dgates, w, transpose_b=True)
    batch = x.shape[0].value or -1
    x_grad, h_grad = slice_of(xh_grad, (0, 0), (batch, depth)), slice_of(xh_grad, (0, depth), (batch, units))
    w_grad = matmul(concat([x, h_prev], 1), dgates, transpose_a=True)
    return [x_grad, back, h_grad, w_grad, wci_grad, wcf_grad, wco_grad, raw.BiasAddGrad(dgates)]


def _back_shapes(c: Any) -> Any:
    rows, units = _units(c, 1)
    return [(rows, units), (rows, None if units is None else 4 * units), *[(units,)] * 3]


def _lowered_step_back(b: Any, x: Any, cs_prev: Any, h_prev: Any, w: Any, wci: Any, wcf: Any, wco: Any, bias: Any, i: Any, cs: Any,
                       f: Any, o: Any, ci: Any, co: Any, cs_grad: Any, h_grad: Any, use_peephole: bool) -> Any:
    parts, back = _step_back(cs_prev, wci, wcf, wco, (i, cs, f, o, ci, co), cs_grad, h_grad, use_peephole)
    di, _, df, do = parts
    if use_peephole:
        peeped = [b.reduce("add", v, (0,)) for v in (di * cs_prev, df * cs_prev, do * cs)]
    else:
        peeped = [b.broadcast(b.const(0, wci.dtype), wci.shape)] * 3
    return [back, b.concat(list(parts), 1), *peeped]


def _grad_samples(rng: Any, dtype: Any) -> list:
    return [([*inputs, *[draw(rng, (3, 4), dtype, 0.1, 0.9) for _ in range(8)]], {"use_peephole": peephole})
            for (inputs, _), peephole in zip(_lstm_samples(rng, dtype), (False, True))]


@op(f"LSTMBlockCellGrad(x: T, {_STEP}, {_GATES}, cs_grad: T, h_grad: T; use_peephole: bool) -> "
    "cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T", T=_HALVES, shape=_back_shapes,
    lower=_lowered_step_back, samples=_grad_samples)
def _lstm_block_cell_grad(x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
    """The gradients of LSTMBlockCell for the products, the memory before, and the peepholes."""
    parts, back = _step_back(cs_prev, wci, wcf, wco, (i, cs, f, o, ci, co), cs_grad, h_grad, use_peephole)
    return (np.asarray(back, x.dtype), np.concatenate(parts, 1).astype(x.dtype),
            *_peeped(parts, cs_prev, cs, wci, use_peephole))


def _peeped(parts: tuple, cs_prev: np.ndarray, cs: np.ndarray, like: np.ndarray, use_peephole: bool) -> list:
    if not use_peephole:
        return [np.zeros_like(like)] * 3
    di, _, df, do = parts
    return [np.sum(v, 0).astype(like.dtype) for v in (di * cs_prev, df * cs_prev, do * cs)]


# -- sequences of an LSTM ------------------------------------------------------------------------------------------

def _sequence_shape(c: Any) -> Any:
    steps, rows, _ = shape_rules.with_rank(c.shapes[1], 3, "x")
    gates = shape_rules.with_rank(c.shapes[8], 1, "b")[0]
    return [(steps, rows, None if gates is None else gates // 4)] * 7


def _sequence_samples(rng: Any, dtype: Any) -> list:
    return [([np.int64(length), draw(rng, (4, 3, 2), dtype, -1, 1), *inputs[1:]], attrs)
            for length, (inputs, attrs) in zip((4, 2), _lstm_samples(rng, dtype))]


@op(f"BlockLSTM(seq_len_max: int64, x: T, {_STEP}; {_ATTRS}) -> {_GATES}, h: T", T=_HALVES, shape=_sequence_shape,
    samples=_sequence_samples, gradient_of=(1, 6))
def block_lstm(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole):
    """LSTMBlockCell over the first `seq_len_max` steps of `x` [time, batch, depth]; the rest is zero."""
    return _sequence(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole, _parted)


def _sequence(seq_len_max: Any, x: np.ndarray, cs_prev: np.ndarray, h_prev: np.ndarray, w: np.ndarray, wci: Any, wcf: Any, wco: Any,
              b: np.ndarray, forget_bias: float, cell_clip: float, use_peephole: bool, parted: Callable) -> tuple:
    """The steps one after the other; `parted` gives input gate, memory, forget gate and output gate of the products.

    The inputs' half of the products is that of all steps at once.
    """
    steps, rows, depth = x.shape
    found = [np.zeros((steps, rows, b.size // 4), x.dtype) for _ in range(7)]
    count = min(int(seq_len_max), steps)
    of_inputs = (x[:count].reshape(-1, depth) @ w[:depth] + b).reshape(count, rows, b.size)
    of_state = np.ascontiguousarray(w[depth:])
    for t in range(count):
        parts = parted(of_inputs[t] + h_prev @ of_state)
        step = _step(parts, cs_prev, wci, wcf, wco, forget_bias, cell_clip, use_peephole)
        for values, value in zip(found, step):
            values[t] = value
        cs_prev, h_prev = found[1][t], found[6][t]
    return tuple(found)


@block_lstm.gradient
def _(op, *grads):
    return [None, *raw.BlockLSTMGrad(*op.inputs, *op.outputs, grads[1], grads[6], use_peephole=op.attrs["use_peephole"])]


def _sequence_grad_samples(rng: Any, dtype: Any) -> list:
    return [([*inputs, *[draw(rng, (4, 3, 4), dtype, 0.1, 0.9) for _ in range(9)]], {"use_peephole": peephole})
            for (inputs, _), peephole in zip(_sequence_samples(rng, dtype), (False, True))]


@op(f"BlockLSTMGrad(seq_len_max: int64, x: T, {_STEP}, {_GATES}, h: T, cs_grad: T, h_grad: T; use_peephole: bool) -> "
    "x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T", T=_HALVES,
    shape=lambda c: list(c.shapes[1:9]), samples=_sequence_grad_samples)
def _block_lstm_grad(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, cs_grad, h_grad, use_peephole):
    """The gradients of BlockLSTM, from the last step to the first."""
    return _sequence_back(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, cs_grad, h_grad,
                          use_peephole, lambda parts: np.concatenate(parts, 1))


def _sequence_back(seq_len_max: Any, x: np.ndarray, cs_prev: Any, h_prev: Any, w: np.ndarray, wci: Any, wcf: Any, wco: Any,
                   b: np.ndarray, i: Any, cs: Any, f: Any, o: Any, ci: Any, co: Any, h: Any, cs_grad: Any, h_grad: Any,
                   use_peephole: bool, joined: Callable) -> tuple:
    """From the last step to the first; `joined` puts the four parts in the order that the weights have.

    What no step waits for, the gradients of inputs and weights, is one product over all steps.
    """
    steps, rows, depth = x.shape
    peeped = [np.zeros_like(wci) for _ in range(3)]
    cs_back, h_back = np.zeros_like(cs_prev), np.zeros_like(h_prev)
    count = min(int(seq_len_max), steps)
    gates_grad = np.zeros((count, rows, b.size), x.dtype)
    for t in reversed(range(count)):
        before = cs[t - 1] if t else cs_prev
        gates = (i[t], cs[t], f[t], o[t], ci[t], co[t])
        parts, cs_back = _step_back(before, wci, wcf, wco, gates, cs_grad[t] + cs_back, h_grad[t] + h_back, use_peephole)
        gates_grad[t] = joined(parts)
        h_back = gates_grad[t] @ w[depth:].T
        for total, one in zip(peeped, _peeped(parts, before, cs[t], wci, use_peephole)):
            total += one
    flat = gates_grad.reshape(-1, b.size)
    x_grad = np.zeros_like(x)
    x_grad[:count] = (flat @ w[:depth].T).reshape(count, rows, depth)
    said = np.concatenate([h_prev[None], h[:count - 1]]).reshape(-1, h_prev.shape[1])[:len(flat)]
    w_grad = np.concatenate([x[:count].reshape(-1, depth).T @ flat, said.T @ flat])
    b_grad = flat.sum(0)
    return x_grad, np.asarray(cs_back, x.dtype), h_back, w_grad, *peeped, b_grad


# in the second version the forget gate comes before the memory, and no bias is added to it
_V2_ATTRS = "cell_clip: float = 0, use_peephole: bool = false"


def _forget_second(x: np.ndarray) -> list:
    i, f, ci, o = _parted(x)
    return [i, ci, f, o]


def _without_bias(samples: Any) -> Any:
    def changed(rng: Any, dtype: Any) -> list:
        return [(inputs, {key: value for key, value in attrs.items() if key != "forget_bias"}) for inputs, attrs in
                samples(rng, dtype)]
    return changed


@op(f"BlockLSTMV2(seq_len_max: int64, x: T, {_STEP}; {_V2_ATTRS}) -> {_GATES}, h: T", T=_HALVES, shape=_sequence_shape,
    samples=_without_bias(_sequence_samples), gradient_of=(1, 6))
def block_lstm_v2(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, cell_clip, use_peephole):
    """BlockLSTM with the gates in the order input, forget, memory, output."""
    return _sequence(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, 0.0, cell_clip, use_peephole, _forget_second)


@block_lstm_v2.gradient
def _(op, *grads):
    return [None, *raw.BlockLSTMGradV2(*op.inputs, *op.outputs, grads[1], grads[6], use_peephole=op.attrs["use_peephole"])]


@op(f"BlockLSTMGradV2(seq_len_max: int64, x: T, {_STEP}, {_GATES}, h: T, cs_grad: T, h_grad: T; use_peephole: bool) -> "
    "x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T", T=_HALVES,
    shape=lambda c: list(c.shapes[1:9]), samples=_sequence_grad_samples)
def _block_lstm_grad_v2(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, cs_grad, h_grad,
                        use_peephole):
    """The gradients of BlockLSTMV2, from the last step to the first."""
    return _sequence_back(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, cs_grad, h_grad,
                          use_peephole, lambda parts: np.concatenate([parts[0], parts[2], parts[1], parts[3]], 1))


# -- one step of a GRU ---------------------------------------------------------------------------------------------

_GRU = "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T"


def _gru_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, shape, dtype, -1, 1) for shape in ((3, 2), (3, 4), (6, 8), (6, 4), (8,), (4,))]]


@op(f"GRUBlockCell({_GRU}) -> r: T, u: T, c: T, h: T", T=TypeSet(dtypes.float32), shape=lambda c: [_units(c, 1)] * 4,
    samples=_gru_samples, gradient_of=(3,))
def gru_block_cell(x, h_prev, w_ru, w_c, b_ru, b_c):
    """One step of a GRU: gates `r` and `u`, candidate `c` and output `h`, each [batch, units]."""
    r, u = np.split(prim.sigmoid(np.concatenate([x, h_prev], 1) @ w_ru + b_ru), 2, axis=1)
    c = np.tanh(np.concatenate([x, h_prev * r], 1) @ w_c + b_c)
    return r, u, c, u * h_prev + (1 - u) * c


@gru_block_cell.gradient
def _(op, *grads):
    x, h_prev, w_ru, w_c, b_ru, b_c = op.inputs
    r, u, c, _ = op.outputs
    d_x, d_h_prev, d_c_bar, d_ru_bar = raw.GRUBlockCellGrad(x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, grads[3])
    d_w_ru = matmul(concat([x, h_prev], 1), d_ru_bar, transpose_a=True)
    d_b_ru = raw.BiasAddGrad(d_ru_bar)
    d_w_c = matmul(concat([x, h_prev * r], 1), d_c_bar, transpose_a=True)
    return [d_x, d_h_prev, d_w_ru, d_w_c, d_b_ru, raw.BiasAddGrad(d_c_bar)]


def _gru_back_shapes(c: Any) -> Any:
    rows, units = _units(c, 1)
    return [c.shapes[0], (rows, units), (rows, units), (rows, None if units is None else 2 * units)]


@op(f"GRUBlockCellGrad({_GRU}, r: T, u: T, c: T, d_h: T) -> d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T",
    T=TypeSet(dtypes.float32), shape=_gru_back_shapes,
    samples=lambda rng, dtype: [[*_gru_samples(rng, dtype)[0], *[draw(rng, (3, 4), dtype, 0.1, 0.9) for _ in range(4)]]])
def _gru_block_cell_grad(x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, d_h):
    """The gradients of GRUBlockCell for its inputs and products."""
    depth = x.shape[1]
    d_u_bar = d_h * (h_prev - c) * u * (1 - u)
    d_c_bar = d_h * (1 - u) * (1 - c * c)
    of_candidate = d_c_bar @ w_c.T
    d_hr = of_candidate[:, depth:]
    d_ru_bar = np.concatenate([d_hr * h_prev * r * (1 - r), d_u_bar], 1)
    of_gates = d_ru_bar @ w_ru.T
    return of_gates[:, :depth] + of_candidate[:, :depth], of_gates[:, depth:] + d_hr * r + d_h * u, d_c_bar, d_ru_bar
