"""Moving averages of variables and tensors."""
from __future__ import annotations

import itertools
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import group
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.function_graph import is_variable
from jitgraph.graph.scopes import add_to_collection, init_scope, name_scope
from jitgraph.ops.elementwise.cast import cast
from jitgraph.train import slots
from jitgraph.variables.assignments import assign, assign_add, assign_sub
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_collections import global_variables, moving_average_variables, trainable_variables
from jitgraph.variables.variable_initializers import Zeros
from jitgraph.variables.variable_scopes import get_variable, variable_scope

_FLOATS = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)


def assign_moving_average(variable: Any, value: Any, decay: Any, zero_debias: bool = True,
                          name: str | None = None) -> Any:
    """variable -= (1 - decay) * (variable - value): one step of an exponential moving average; the new value.

    `zero_debias` corrects for a variable that starts at 0, as in Kingma and Ba, 2014.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rest = convert_to_tensor(1.0 - decay, name="decay")
        if rest.dtype.base_dtype is not variable.dtype.base_dtype:
            rest = cast(rest, variable.dtype.base_dtype)
        if zero_debias:
            return _without_bias(variable, value, rest, scope)
        return assign_sub(variable, (variable - value) * rest, name=scope)


def _without_bias(average: Any, value: Any, rest: Any, name: str) -> Any:
    """An average that starts at 0 is kept beside `average`, and divided by how much of it has filled."""
    with variable_scope(average.op.name, values=[average, value, rest]) as scope:
        with get_default_graph().colocate_with(average.op), init_scope():
            dtype = average.dtype.base_dtype
            biased = get_variable(_unused(scope, "biased"), initializer=Zeros(dtype=dtype), shape=average.shape, dtype=dtype,
                                  trainable=False)
            steps = get_variable(_unused(scope, "local_step"), shape=[], dtype=dtype, initializer=Zeros(dtype=dtype),
                                 trainable=False)
        new_biased = assign_sub(biased, (biased - value) * rest)
        new_steps = assign_add(steps, 1)
        unbiased = new_biased / (1.0 - raw.Pow(1.0 - rest, new_steps))
        return assign(average, unbiased, name=name)


def _unused(scope: Any, name: str) -> str:
    """`name`, with a number behind it if a variable of the scope has it and is not shared: each update of an average, such as that
    of a batch normalisation that is applied twice, corrects by variables of its own."""
    taken = set() if scope.reuse else {variable.op.name for variable in scope.global_variables()}
    candidates = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(1)))
    return next(candidate for candidate in candidates if f"{scope.name}/{candidate}" not in taken)


class ExponentialMovingAverage:
    """Averages that decay exponentially: shadow = decay * shadow + (1 - decay) * value.

    ``apply(variables)`` makes a shadow variable ``v/ExponentialMovingAverage`` for each and gives the operation that
    updates them.  `num_updates` (a step count) lowers the decay at the start to (1 + n) / (10 + n); `zero_debias`
    corrects averages of tensors, which start at 0.
    """

    def __init__(self, decay: Any, num_updates: Any = None, zero_debias: bool = False,
                 name: str = "ExponentialMovingAverage"):
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        """The name of the shadow variables."""
        return self._name

    def apply(self, var_list: Any = None) -> Any:
        """The operation that updates the averages of `var_list` (variables or tensors; by default all trainable ones).

        Averages of variables start at the variables' initial values, those of tensors at 0.  Raises TypeError if one is
        not floating point.
        """
        values = trainable_variables() if var_list is None else list(var_list)
        debiased: set = set()
        for value in values:
            if value.dtype.base_dtype not in _FLOATS:
                raise TypeError(f"The variables must be half, float, or double: {value.name}")
            if value not in self._averages:
                self._averages[value] = self._shadow(value, debiased)
        with name_scope(self._name) as scope:
            decay = convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                count = cast(self._num_updates, dtypes.float32, name="num_updates")
                decay = raw.Minimum(decay, (1.0 + count) / (10.0 + count))
            updates = [assign_moving_average(self._averages[value], value, decay, value in debiased) for value in values]
            return group(*updates, name=scope)

    def _shadow(self, value: Any, debiased: set) -> Any:
        with init_scope():
            if isinstance(value, Variable) or slots.is_resource(value):
                average = slots.create_slot(value, value.initialized_value(), self._name)
                add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, value)
                return average
            if self._zero_debias:
                debiased.add(value)
            beside = is_variable(value.op)
            return slots.create_zeros_slot(value, self._name, colocate_with_primary=beside)

    def average(self, var: Any) -> Any:
        """The variable that holds the average of `var`, or None."""
        return self._averages.get(var)

    def average_name(self, var: Any) -> str:
        """The name of the variable that holds, or would hold, the average of `var`."""
        if var in self._averages:
            return self._averages[var].op.name
        return get_default_graph().unique_name(var.op.name + "/" + self._name, mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """{name in a checkpoint: variable} for a Saver that restores variables from their averages."""
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        averaged = list(dict.fromkeys(moving_avg_variables))
        found = {self.average_name(v): v for v in averaged}
        names = {v.name for v in averaged}
        for v in dict.fromkeys(global_variables()):
            if v.name not in names and v.op.name not in found:
                found[v.op.name] = v
        return found
