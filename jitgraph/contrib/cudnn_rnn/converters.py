"""cuDNN's vector of parameters as the variables of cells that run everywhere, and back."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.cudnn_rnn.equations import GATES, Layout
from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.shape import reshape


class CudnnParamsFormatConverter:
    """Converts parameters of a stack; a subclass says how one layer in one direction is stored.

    The arguments are those of the stack, see ``Layout``.  cuDNN has two biases where a cell has their sum: on the way back each
    gets half of it.  Raises ValueError for projections.
    """

    _rnn_mode: str
    _parts = 1                  # how many kernels, and how many biases, a cell has

    def __init__(self, num_layers: int, num_units: int, input_size: int, num_proj: int | None = None,
                 input_mode: str = "linear_input", direction: str = "unidirectional"):
        if num_proj:
            raise ValueError("num_proj is not part of jitgraph: multiply the outputs with a matrix after each layer")
        self._layout = Layout(self._rnn_mode, num_layers, num_units, input_size, input_mode, direction)

    def opaque_to_tf_canonical(self, opaque_param: Any) -> tuple[list, list]:
        """(kernels, biases) of the cells, layer by layer and in each forward before backward, of a vector."""
        weights, biases = self._layout.weights_and_biases(opaque_param)
        kernels: list[Any] = []
        found: list[Any] = []
        each = 2 * GATES[self._rnn_mode]
        for begin in range(0, len(weights), each):
            kernels += self._kernels(weights[begin:begin + each])
            found += self._biases(biases[begin:begin + each])
        return kernels, found

    def tf_canonical_to_opaque(self, tf_canonicals: list, weights_proj: Any = None) -> Any:
        """The vector of the kernels and then the biases of cells."""
        count = len(tf_canonicals) // 2
        weights: list[Any] = []
        biases: list[Any] = []
        for place, begin in enumerate(range(0, count, self._parts)):
            layer = place // self._layout.num_dirs
            depth = self._layout.input_size if layer == 0 else self._layout.num_units * self._layout.num_dirs
            weights += self._weights(tf_canonicals[begin:begin + self._parts], [depth, self._layout.num_units])
            biases += self._halves(tf_canonicals[count + begin:count + begin + self._parts])
        return concat([reshape(one, [-1]) for one in weights] + biases, 0)

    def _kernels(self, weights: list) -> list:
        raise NotImplementedError("Abstract method")

    def _biases(self, biases: list) -> list:
        raise NotImplementedError("Abstract method")

    def _weights(self, kernels: list, widths: list[int]) -> list:
        raise NotImplementedError("Abstract method")

    def _halves(self, biases: list) -> list:
        raise NotImplementedError("Abstract method")


class _OneKernel(CudnnParamsFormatConverter):
    """A cell with one kernel and one bias; `_order` has for each of its gates the number of cuDNN's."""

    _order: tuple[int, ...]

    def _kernels(self, weights: list) -> list:
        gates = len(self._order)
        return [transpose(concat([concat([weights[k], weights[gates + k]], axis=1) for k in self._order], axis=0))]

    def _biases(self, biases: list) -> list:
        gates = len(self._order)
        return [concat([biases[k] + biases[gates + k] for k in self._order], axis=0)]

    def _as_cudnn(self, parts: list) -> list:
        return [parts[self._order.index(k)] for k in range(len(parts))]

    def _weights(self, kernels: list, widths: list[int]) -> list:
        gates = self._as_cudnn(split(transpose(kernels[0]), len(self._order), axis=0))
        pairs = [split(gate, widths, axis=1) for gate in gates]
        return [pair[0] for pair in pairs] + [pair[1] for pair in pairs]

    def _halves(self, biases: list) -> list:
        return [part * 0.5 for part in self._as_cudnn(split(biases[0], len(self._order), axis=0))] * 2


class CudnnParamsFormatConverterLSTM(_OneKernel):
    """Of an LSTM: the cell's gates are input, candidate, forget and output."""

    _rnn_mode, _order = "lstm", (0, 2, 1, 3)


class CudnnParamsFormatConverterTanh(_OneKernel):
    """Of plain layers with tanh."""

    _rnn_mode, _order = "rnn_tanh", (0,)


class CudnnParamsFormatConverterRelu(_OneKernel):
    """Of plain layers with relu."""

    _rnn_mode, _order = "rnn_relu", (0,)


class CudnnParamsFormatConverterGRU(CudnnParamsFormatConverter):
    """Of a GRU: the cell has a kernel for both gates, and two for the candidate, whose biases stay apart."""

    _rnn_mode, _parts = "gru", 3

    def _kernels(self, weights: list) -> list:
        gates = concat([concat([weights[k], weights[3 + k]], axis=1) for k in (0, 1)], axis=0)
        return [transpose(gates), transpose(weights[2]), transpose(weights[5])]

    def _biases(self, biases: list) -> list:
        return [concat(biases[:2], axis=0) + concat(biases[3:5], axis=0), biases[2], biases[5]]

    def _weights(self, kernels: list, widths: list[int]) -> list:
        of_gates, of_input, of_hidden = (transpose(kernel) for kernel in kernels)
        first, second = (split(gate, widths, axis=1) for gate in split(of_gates, 2, axis=0))
        return [first[0], second[0], of_input, first[1], second[1], of_hidden]

    def _halves(self, biases: list) -> list:
        of_gates = split(biases[0] * 0.5, 2, axis=0)
        return [*of_gates, biases[1], *of_gates, biases[2]]
