"""Cells of recurrent networks: one step each, from an input and a state to an output and the next state."""
from __future__ import annotations

from typing import Any

from jitgraph.app.logs import warn
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import get_collection, name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.layers.base import Layer
from jitgraph.layers.by_name import activation_of, initializer_of
from jitgraph.layers.input_spec import InputSpec
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.arithmetic import add, multiply
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.clip import clip_by_value
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.rnn.sizes import LSTMStateTuple, SizedByMemory, SizedByUnits
from jitgraph.rnn.states import zero_states
from jitgraph.variables.partitioners import fixed_size_partitioner
from jitgraph.variables.variable_initializers import constant_initializer, zeros_initializer
from jitgraph.variables.variable_scopes import get_variable_scope, variable_scope


class RNNCell(Layer):
    """One step of a recurrent network: ``cell(inputs, state)`` gives (outputs, next state).

    A subclass overrides ``state_size`` and ``output_size`` (a number, a TensorShape, or a structure of them) and ``call(inputs,
    state)``, in which variables that ``tf.get_variable`` gives become those of the cell.
    """

    _own_scope: variable_scope | None = None
    _config_fields: tuple[str, ...] = ()

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """(outputs, next state) for `inputs` [batch, ...] and `state`, a tensor or structure of them as ``state_size`` says."""
        if scope is not None:
            with variable_scope(scope, custom_getter=self._get_variable) as entered:
                return super().__call__(inputs, state, scope=entered)
        if self._own_scope is None:
            self._own_scope = variable_scope(get_variable_scope(), custom_getter=self._get_variable)
        with self._own_scope:
            return super().__call__(inputs, state)

    def _get_variable(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
        """A variable that ``call`` got, noted as one of the cell."""
        variable = getter(*args, **kwargs)
        trained = get_collection(GraphKeys.TRAINABLE_VARIABLES)
        parts = [variable] if hasattr(variable, "op") else list(variable)
        own = self._trainable_weights if any(parts[0] is v for v in trained) else self._non_trainable_weights
        if all(variable is not v for v in own):
            own.append(variable)
        return variable

    @property
    def state_size(self) -> Any:
        """The size of a state: a number, a TensorShape, or a structure of them."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of an output: a number, a TensorShape, or a structure of them."""
        raise NotImplementedError("Abstract method")

    def build(self, input_shape: Any) -> None:
        """Makes nothing: ``call`` gets its variables."""

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """``zero_state`` for the batch size and dtype of `inputs`, or for those given.

        Raises ValueError if they contradict each other or are not given.
        """
        if inputs is not None:
            inputs = convert_to_tensor(inputs, name="inputs")
            known = inputs.shape[0].value
            if batch_size is not None:
                given = constant_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
                if known != given:
                    raise ValueError("batch size from input tensor is different from the input param. Input tensor batch: "
                                     f"{known}, batch_size: {batch_size}")
            if dtype is not None and inputs.dtype != dtype:
                raise ValueError("dtype from input tensor is different from the input param. Input tensor dtype: "
                                 f"{inputs.dtype}, dtype: {dtype}")
            batch_size = known or shape_of(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError("batch_size and dtype cannot be None while constructing initial state: "
                             f"batch_size={batch_size}, dtype={dtype}")
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros [batch_size, size] of `dtype` in the structure of ``state_size``."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return zero_states(self.state_size, batch_size, dtype)


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in ``build``."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """(outputs, next state) for `inputs` [batch, n] and `state`."""
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

    def _depth(self, input_shape: Any) -> int:
        """The last size of the inputs.  Raises ValueError if it is unknown, or if the dtype is no float."""
        depth = TensorShape(input_shape)[-1].value
        if depth is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {input_shape} (cell {self.name}: tell it with "
                             "set_shape)")
        _check_dtype(self.dtype)
        return int(depth)

    def _zeros(self) -> Any:
        return zeros_initializer() if self.dtype is None else zeros_initializer(dtype=as_dtype(self.dtype))


def _check_dtype(dtype: Any) -> None:
    if dtype is not None and not (as_dtype(dtype).is_floating or as_dtype(dtype).is_complex):
        raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {as_dtype(dtype)!r}: tf.cast them to "
                         "tf.float32, or look them up with tf.nn.embedding_lookup")


def _check_dtypes(structure: Any) -> None:
    for tensor in nest.flatten(structure):
        _check_dtype(tensor.dtype)


class BasicRNNCell(SizedByUnits, LayerRNNCell):
    """activation([inputs, state] . ``kernel`` + ``bias``), output and next state (tanh unless told otherwise).

    Raises ValueError for inputs that are not of rank 2, not floating, or of unknown depth.
    """

    _config_fields: tuple[str, ...] = ("num_units", "activation", "reuse")

    def __init__(self, num_units: int, activation: Any = None, reuse: Any = None, name: str | None = None, dtype: Any = None,
                 **kwargs: Any):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        _check_dtype(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation_of(activation) or tanh

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel`` [depth + units, units] and ``bias`` [units]."""
        depth = self._depth(input_shape)
        self._kernel = self.add_variable("kernel", shape=[depth + self._num_units, self._num_units])
        self._bias = self.add_variable("bias", shape=[self._num_units], initializer=self._zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """(outputs, next state), both [batch, units]."""
        _check_dtypes([inputs, state])
        gates = bias_add(matmul(concat([inputs, state], 1), self._kernel), self._bias)
        output = self._activation(gates)
        return output, output


class GRUCell(SizedByUnits, LayerRNNCell):
    """Gated recurrent unit (Cho et al., 2014): u * state + (1 - u) * candidate, gates r and u; output and next state.

    Variables: ``gates/kernel`` and ``gates/bias`` (ones: gates begin open), ``candidate/kernel`` and ``candidate/bias``.
    Raises ValueError for inputs that are not of rank 2, not floating, or of unknown depth.
    """

    _config_fields: tuple[str, ...] = ("num_units", "kernel_initializer", "bias_initializer", "activation", "reuse")

    def __init__(self, num_units: int, activation: Any = None, reuse: Any = None, kernel_initializer: Any = None,
                 bias_initializer: Any = None, name: str | None = None, dtype: Any = None, **kwargs: Any):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        _check_dtype(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation_of(activation) or tanh
        self._kernel_initializer = initializer_of(kernel_initializer)
        self._bias_initializer = initializer_of(bias_initializer)

    def build(self, input_shape: Any) -> None:
        """Makes the kernels [depth + units, 2 units or units] and biases of gates and candidate."""
        units, both = self._num_units, self._depth(input_shape) + self._num_units
        given = self._bias_initializer
        self._gate_kernel = self.add_variable("gates/kernel", shape=[both, 2 * units], initializer=self._kernel_initializer)
        ones = constant_initializer(1.0, dtype=as_dtype(self.dtype or "float32"))
        self._gate_bias = self.add_variable("gates/bias", shape=[2 * units], initializer=ones if given is None else given)
        self._candidate_kernel = self.add_variable("candidate/kernel", shape=[both, units],
                                                   initializer=self._kernel_initializer)
        self._candidate_bias = self.add_variable("candidate/bias", shape=[units],
                                                 initializer=self._zeros() if given is None else given)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """(outputs, next state), both [batch, units]."""
        _check_dtypes([inputs, state])
        gates = sigmoid(bias_add(matmul(concat([inputs, state], 1), self._gate_kernel), self._gate_bias))
        r, u = split(value=gates, num_or_size_splits=2, axis=1)
        reset = r * state
        candidate = bias_add(matmul(concat([inputs, reset], 1), self._candidate_kernel), self._candidate_bias)
        c = self._activation(candidate)
        output = u * state + (1 - u) * c
        return output, output


def warn_of_joined(cell: Layer) -> None:
    warn("%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.", cell)


class BasicLSTMCell(SizedByMemory, LayerRNNCell):
    """Long short-term memory (Zaremba et al., 2014): variables ``kernel`` and ``bias`` of all four gates.

    `forget_bias` is added to the forget gate, so that it begins open.  The state is an LSTMStateTuple, or [batch, 2 units] with
    ``state_is_tuple=False``.  Raises ValueError for inputs that are not of rank 2, not floating, or of unknown depth.
    """

    _config_fields: tuple[str, ...] = ("num_units", "forget_bias", "state_is_tuple", "activation", "reuse")

    def __init__(self, num_units: int, forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Any = None,
                 reuse: Any = None, name: str | None = None, dtype: Any = None, **kwargs: Any):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        _check_dtype(self.dtype)
        if not state_is_tuple:
            warn_of_joined(self)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_of(activation) or tanh

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel`` [depth + units, 4 units] and ``bias`` [4 units]."""
        depth = self._depth(input_shape)
        self._kernel = self.add_variable("kernel", shape=[depth + self._num_units, 4 * self._num_units])
        self._bias = self.add_variable("bias", shape=[4 * self._num_units], initializer=self._zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """(outputs [batch, units], next state)."""
        _check_dtypes([inputs, state])
        one = constant(1, dtype=dtypes.int32)
        c, h = state if self._state_is_tuple else split(value=state, num_or_size_splits=2, axis=one)
        gates = bias_add(matmul(concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=one)
        forget_bias = constant(self._forget_bias, dtype=f.dtype)
        new_c = add(multiply(c, sigmoid(add(f, forget_bias))), multiply(sigmoid(i), self._activation(j)))
        new_h = multiply(self._activation(new_c), sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h) if self._state_is_tuple else concat([new_c, new_h], 1)


class LSTMCell(SizedByMemory, LayerRNNCell):
    """Long short-term memory (Sak et al., 2014), with peepholes, clipping and a projection of the output if so asked.

    Variables: ``kernel`` and ``bias`` of all four gates, ``w_f_diag``, ``w_i_diag``, ``w_o_diag`` with `use_peepholes`,
    ``projection/kernel`` with `num_proj`.  `cell_clip` and `proj_clip` bound what it remembers and the projection.  `initializer`
    is that of all but the bias; `num_unit_shards` and `num_proj_shards` part kernels.  The state is an LSTMStateTuple, or
    [batch, units + outputs] with ``state_is_tuple=False``.  Raises ValueError as ``BasicLSTMCell`` does.
    """

    _config_fields: tuple[str, ...] = (
        "num_units", "use_peepholes", "cell_clip", "initializer", "num_proj", "proj_clip", "num_unit_shards", "num_proj_shards",
        "forget_bias", "state_is_tuple", "activation", "reuse")

    def __init__(self, num_units: int, use_peepholes: bool = False, cell_clip: float | None = None, initializer: Any = None,
                 num_proj: int | None = None, proj_clip: float | None = None, num_unit_shards: int | None = None,
                 num_proj_shards: int | None = None, forget_bias: float = 1.0, state_is_tuple: bool = True,
                 activation: Any = None, reuse: Any = None, name: str | None = None, dtype: Any = None, **kwargs: Any):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        _check_dtype(self.dtype)
        if not state_is_tuple:
            warn_of_joined(self)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer_of(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_of(activation) or tanh

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel`` [depth + outputs, 4 units], ``bias`` [4 units], and the variables that the options ask for."""
        depth, units = self._depth(input_shape), self._num_units
        outputs = units if self._num_proj is None else self._num_proj
        self._kernel = self.add_variable("kernel", shape=[depth + outputs, 4 * units], initializer=self._initializer,
                                         partitioner=_parted(self._num_unit_shards))
        self._bias = self.add_variable("bias", shape=[4 * units], initializer=self._zeros())
        if self._use_peepholes:
            self._w_f_diag, self._w_i_diag, self._w_o_diag = [
                self.add_variable(name, shape=[units], initializer=self._initializer)
                for name in ("w_f_diag", "w_i_diag", "w_o_diag")]
        if self._num_proj is not None:
            self._proj_kernel = self.add_variable("projection/kernel", shape=[units, self._num_proj],
                                                  initializer=self._initializer,
                                                  partitioner=_parted(self._num_proj_shards))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """(outputs [batch, outputs], next state)."""
        _check_dtypes([inputs, state])
        if self._state_is_tuple:
            c, m = state
        else:
            c = slice_of(state, [0, 0], [-1, self._num_units])
            m = slice_of(state, [0, self._num_units], [-1, self.output_size])
        if inputs.shape.with_rank(2)[1].value is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = bias_add(matmul(concat([inputs, m], 1), self._kernel), self._bias)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
        if self._use_peepholes:
            new_c = (sigmoid(f + self._forget_bias + self._w_f_diag * c) * c
                     + sigmoid(i + self._w_i_diag * c) * self._activation(j))
        else:
            new_c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            new_c = clip_by_value(new_c, -self._cell_clip, self._cell_clip)
        opened = sigmoid(o + self._w_o_diag * new_c) if self._use_peepholes else sigmoid(o)
        new_m = opened * self._activation(new_c)
        if self._num_proj is not None:
            new_m = matmul(new_m, self._proj_kernel)
            if self._proj_clip is not None:
                new_m = clip_by_value(new_m, -self._proj_clip, self._proj_clip)
        return new_m, LSTMStateTuple(new_c, new_m) if self._state_is_tuple else concat([new_c, new_m], 1)


def _parted(shards: int | None) -> Any:
    return None if shards is None else fixed_size_partitioner(shards)
