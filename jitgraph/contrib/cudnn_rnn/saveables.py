"""cuDNN's vector of parameters in checkpoints, under the names of the variables of cells that run everywhere."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.cudnn_rnn import converters
from jitgraph.ops.arrays.identity import identity
from jitgraph.variables.assignments import assign
from jitgraph.variables.saveables import SaveableObject, SaveSpec
from jitgraph.variables.variable_scopes import VariableScope


class CudnnOpaqueParamsSaveable(SaveableObject):
    """Has a saver write a vector of parameters as kernels and biases, and restore it from them.

    `opaque_params`: the variable; `scope`: the variable scope (or its name) in which the cells would be; the other arguments are
    those of the stack.  The names are those that ``dynamic_rnn`` over a ``MultiRNNCell``, or ``stack_bidirectional_dynamic_rnn``,
    gives to the cells' variables.
    """

    _format_converter_cls: type[converters.CudnnParamsFormatConverter]
    _cell_name: str
    _kernel_names: tuple[str, ...] = ("kernel",)
    _bias_names: tuple[str, ...] = ("bias",)

    def __init__(self, opaque_params: Any, num_layers: int, num_units: int, input_size: int, input_mode: str = "linear_input",
                 direction: str = "unidirectional", scope: Any = None, name: str = "cudnn_rnn_saveable"):
        self._variables = opaque_params
        self.format_converter = self._format_converter_cls(num_layers, num_units, input_size, input_mode=input_mode,
                                                           direction=direction)
        kernels, biases = self.format_converter.opaque_to_tf_canonical(opaque_params)
        cells = [f"rnn/multi_rnn_cell/cell_{layer}/{self._cell_name}" for layer in range(num_layers)]
        if direction != "unidirectional":
            cells = [f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn/{way}/{self._cell_name}"
                     for layer in range(num_layers) for way in ("fw", "bw")]
        names = [f"{cell}/{own}" for owned in (self._kernel_names, self._bias_names) for cell in cells for own in owned]
        within = scope.name if isinstance(scope, VariableScope) else scope
        names = [f"{within}/{one}" for one in names] if within else names
        specs = [SaveSpec(tensor, "", one) for tensor, one in zip([*kernels, *biases], names)]
        super().__init__(identity(opaque_params), specs, name)

    def restore(self, restored_tensors: list, restored_shapes: list | None) -> Any:
        """Assigns the vector of what was read."""
        return assign(self._variables, self.format_converter.tf_canonical_to_opaque(restored_tensors), validate_shape=False)


class CudnnLSTMSaveable(CudnnOpaqueParamsSaveable):
    """Of an LSTM, as ``CudnnCompatibleLSTMCell`` has it."""

    _format_converter_cls, _cell_name = converters.CudnnParamsFormatConverterLSTM, "cudnn_compatible_lstm_cell"


class CudnnGRUSaveable(CudnnOpaqueParamsSaveable):
    """Of a GRU, as ``CudnnCompatibleGRUCell`` has it."""

    _format_converter_cls, _cell_name = converters.CudnnParamsFormatConverterGRU, "cudnn_compatible_gru_cell"
    _kernel_names = ("gates/kernel", "candidate/input_projection/kernel", "candidate/hidden_projection/kernel")
    _bias_names = ("gates/bias", "candidate/input_projection/bias", "candidate/hidden_projection/bias")


class CudnnRNNTanhSaveable(CudnnOpaqueParamsSaveable):
    """Of plain layers with tanh, as ``BasicRNNCell`` has it."""

    _format_converter_cls, _cell_name = converters.CudnnParamsFormatConverterTanh, "basic_rnn_cell"


class CudnnRNNReluSaveable(CudnnOpaqueParamsSaveable):
    """Of plain layers with relu, as ``BasicRNNCell`` has it."""

    _format_converter_cls, _cell_name = converters.CudnnParamsFormatConverterRelu, "basic_rnn_cell"
