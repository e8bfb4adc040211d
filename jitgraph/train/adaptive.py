"""Optimizers that adapt the step of each weight: Adagrad, Adadelta, RMSProp."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.scopes import colocate_with, device
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones_like
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.elementwise.cast import cast
from jitgraph.train.one_op import OneOp
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.variable_initializers import Constant, Ones


class AdagradOptimizer(OneOp, Optimizer):
    """accumulator += gradient ** 2; var -= learning_rate * gradient / sqrt(accumulator) (Duchi et al., 2011).

    Slot: "accumulator", which starts at `initial_accumulator_value`.  Raises ValueError if that is not positive.
    """

    _step = "Adagrad"
    _slot_inputs = {"accum": "accumulator"}

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
                 name: str = "Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name, {"lr": ("learning_rate", learning_rate)})
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list) -> None:
        for v in var_list:
            dtype = v.dtype.base_dtype
            start: Any = Constant(self._initial_accumulator_value, dtype=dtype)
            if not v.shape.is_fully_defined():
                def start(v: Any = v, dtype: Any = dtype) -> Any:
                    return cast(raw.Fill(raw.Shape(v), self._initial_accumulator_value), dtype)
            self._get_or_make_slot_with_initializer(v, start, v.shape, dtype, "accumulator", self._name)


class AdagradDAOptimizer(OneOp, Optimizer):
    """Adagrad with dual averaging: weights without gradient go to exactly zero under L1 (Duchi et al., 2011).

    `global_step`: the step count, an int64 variable.  Slots: "gradient_accumulator", "gradient_squared_accumulator".
    Raises ValueError if the initial accumulator is not positive.
    """

    _step = "AdagradDA"
    _slot_inputs = {"gradient_accumulator": "gradient_accumulator",
                    "gradient_squared_accumulator": "gradient_squared_accumulator"}

    def __init__(self, learning_rate: Any, global_step: Any, initial_gradient_squared_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "AdagradDA"):
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError("initial_gradient_squared_accumulator_value must be positive: "
                             f"{initial_gradient_squared_accumulator_value}")
        super().__init__(use_locking, name, {"lr": ("learning_rate", learning_rate)})
        self._start = initial_gradient_squared_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._global_step = global_step
        self._global_step_on_worker: Any = None
        self._step_here: Any = None         # the same, on the device of the variable in turn

    def _create_slots(self, var_list: list) -> None:
        for v in var_list:
            with colocate_with(v.op):
                starts = [constant(value, v.dtype.base_dtype, v.shape) for value in (0.0, self._start)]
            for slot, start in zip(self._slot_inputs.values(), starts):
                self._get_or_make_slot(v, start, slot, self._name)

    def _prepare(self) -> None:
        super()._prepare()
        with colocate_with(self._tensors["lr"].op):
            self._global_step_on_worker = identity(self._global_step) + 1

    def _node(self, prefix: str, var: Any, grad: Any, indices: Any = None) -> Any:
        with device(var.device):
            self._step_here = identity(self._global_step_on_worker)
        return super()._node(prefix, var, grad, indices)

    def _input(self, name: str, var: Any) -> Any:
        if name == "global_step":
            return self._step_here
        if name in ("l1", "l2"):
            return cast(self._l1 if name == "l1" else self._l2, var.dtype.base_dtype)
        return super()._input(name, var)


class AdadeltaOptimizer(OneOp, Optimizer):
    """Steps in the units of the weights, from running means of squared gradients and steps (Zeiler, 2012).

    Slots: "accum", "accum_update".  The paper's form has learning_rate 1.
    """

    _step = "Adadelta"
    _slot_inputs = {"accum": "accum", "accum_update": "accum_update"}

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False,
                 name: str = "Adadelta"):
        super().__init__(use_locking, name, {"lr": ("lr", learning_rate), "rho": ("rho", rho),
                                             "epsilon": ("epsilon", epsilon)})


class RMSPropOptimizer(OneOp, Optimizer):
    """Gradients divided by the root of a running mean of their squares (Tieleman and Hinton, 2012).

    `centered` divides by the standard deviation instead.  Slots: "rms" (starts at 1), "momentum", and "mg" if centered.
    """

    def __init__(self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
                 use_locking: bool = False, centered: bool = False, name: str = "RMSProp"):
        super().__init__(use_locking, name, {"lr": ("learning_rate", learning_rate), "rho": ("decay", decay),
                                             "momentum": ("momentum", momentum), "epsilon": ("epsilon", epsilon)})
        self._step = "CenteredRMSProp" if centered else "RMSProp"
        self._slot_inputs = {"ms": "rms", "mom": "momentum", **({"mg": "mg"} if centered else {})}

    def _first_square(self, var: Any) -> Any:
        """What the mean of squares begins with."""
        return Ones(dtype=var.dtype.base_dtype) if var.shape.is_fully_defined() else ones_like(var)

    def _create_slots(self, var_list: list) -> None:
        for v in var_list:
            dtype = v.dtype.base_dtype
            self._get_or_make_slot_with_initializer(v, self._first_square(v), v.shape, dtype, "rms", self._name)
            if "mg" in self._slot_inputs:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)
