"""``tf.layers.Layer``: what all layers share, above all how they make and share their variables."""
from __future__ import annotations

import copy
import functools
import inspect
import threading
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor, is_tensor_like
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import get_collection_ref, init_scope, name_scope
from jitgraph.graph.stack import get_default_session
from jitgraph.graph.tensor import Tensor
from jitgraph.layers import keras_style
from jitgraph.layers.by_name import initializer_or_default
from jitgraph.layers.config import config_of, has_fields
from jitgraph.layers.connections import Unconnected
from jitgraph.layers.input_spec import InputSpec, check_inputs
from jitgraph.layers.layer_names import snake_case, unique
from jitgraph.layers.reachability import depends
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.variables.synchronization import VariableAggregation, VariableSynchronization
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_scopes import VariableScope, get_variable, variable_scope

_CALLS = "jitgraph.layers.calls"
_OPTIONS = ("input_shape", "batch_input_shape", "batch_size", "weights", "activity_regularizer", "autocast", "dynamic")


class _Calls(threading.local):
    """The ``training`` arguments of the layers that this thread is calling, outermost first."""

    def __init__(self) -> None:
        self.training: list = []


class Layer(Unconnected):
    """A function of tensors with variables: made by ``build`` at the first call, used by ``call``.

    A subclass overrides ``build(input_shape)``, which makes variables with ``add_weight``, and ``call(inputs, ...)``.
    `trainable`: whether its variables are; `name`: also that of its variable scope, made unique if None; `dtype`: that of its
    variables, None takes the dtype of the first input.  The keyword ``_reuse`` shares the variables of an earlier layer of the
    same name, ``_scope`` names the variable scope, ``activity_regularizer`` gives a loss for each output.  Attributes:
    ``built``, ``trainable``, ``input_spec`` (what ``__call__`` demands of inputs).  Raises TypeError for other keywords.
    """

    _scope: VariableScope | None = None
    _reuse: Any = None
    _reusing_scope: variable_scope | None = None
    _use_resource = False               # whether its variables are resource variables, whatever the scope says
    _current_scope: VariableScope
    trainable: bool
    _activity_regularizer: Any = None
    _keras_style = False                # whether it uses no variable scopes, see ``keras_style``

    def __init__(self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any):
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        for option in kwargs:
            if option not in _OPTIONS:
                raise TypeError("Keyword argument not understood:", option)
        self.built = False
        self.trainable = trainable
        self.stateful = False
        self.supports_masking = False
        self.input_spec = None
        self._weights_by_name: dict[str, Any] = {}
        self._trainable_weights: list = []
        self._non_trainable_weights: list = []
        self._updates: list[tuple[Any, Any]] = []           # each with the inputs of the call that added it
        self._losses: list[tuple[Any, bool]] = []           # each with whether it holds whatever the inputs are
        self._callable_losses: list = []
        self._call_inputs: Any = None
        self._activity_regularizer = kwargs.pop("activity_regularizer", None)
        self._initial_weights = kwargs.pop("weights", None)
        self._dtype: str | None = as_dtype(dtype).name if dtype else None
        self._take_name(name)
        if keras_style.keras_style():
            keras_style.refuse("scope", scope)
            keras_style.refuse("reuse", self._reuse)
            self._keras_style = True
        if scope:
            with variable_scope(scope) as entered:
                self._scope = entered

    def _take_name(self, name: Any) -> None:
        own = snake_case(type(self).__name__)
        self._base_name = name.name if isinstance(name, VariableScope) else name or own
        self._name: str = unique(own) if not name or isinstance(name, VariableScope) else name

    # -- what it is ---------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Its name; that of its variables begins with ``scope_name``."""
        return self._name

    @property
    def dtype(self) -> str | None:
        """The name of the dtype of its variables; None before the first call of a layer that takes that of its input."""
        return self._dtype

    @property
    def scope_name(self) -> str:
        """The name of its variable scope.  Raises ValueError before the first call."""
        if not self._scope:
            raise ValueError(f'No name available for layer scope because the layer "{self._name}" has not been used yet. The '
                             "scope name is determined the first time the layer instance is called. You must therefore call "
                             "the layer before querying `scope_name`.")
        return self._scope.name

    @property
    def graph(self) -> None:
        """None: a layer belongs to the graph of its tensors."""
        return None

    @property
    def input_spec(self) -> Any:
        """What ``__call__`` demands of inputs: an InputSpec, a structure of them, or None."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        for one in nest.flatten(value):
            if one is not None and not isinstance(one, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {one}")
        self._input_spec = value

    @property
    def activity_regularizer(self) -> Any:
        """The function that gives a loss for each output, or None."""
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Any) -> None:
        self._activity_regularizer = regularizer

    # -- for subclasses -----------------------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Makes the variables; `input_shape` is the TensorShape of the input, or a structure of them."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The outputs for `inputs`."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The TensorShape of the output.  Raises NotImplementedError where a subclass does not say it."""
        raise NotImplementedError(f"Layer {self.name} does not say its output shape: call it, and read the shape of the result")

    def add_weight(self, name: str, shape: Any, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
                   trainable: bool | None = None, constraint: Any = None, use_resource: bool | None = None,
                   synchronization: Any = VariableSynchronization.AUTO, aggregation: Any = VariableAggregation.NONE,
                   partitioner: Any = None, **kwargs: Any) -> Any:
        """The variable `name` in the layer's variable scope: made, or shared if the layer reuses.

        `dtype` is the layer's, or float32; `initializer` the scope's, else glorot_uniform for floats and zeros for integers.
        `regularizer` gives a loss, which joins ``losses`` and REGULARIZATION_LOSSES once.  Raises ValueError for a trainable
        variable that is synchronized on read, and what ``tf.get_variable`` raises.
        """
        for keyword in kwargs:
            if keyword != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", keyword)
        if synchronization == VariableSynchronization.ON_READ:
            if trainable:
                raise ValueError("Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable "
                                 "variables. You have specified trainable=True and "
                                 "synchronization=VariableSynchronization.ON_READ.")
            trainable = False
        trainable = bool(trainable is None or trainable) and self.trainable
        dtype = as_dtype(dtype or self.dtype or dtypes.float32)
        self._dtype = self._dtype or dtype.base_dtype.name
        if self._keras_style:
            variable = keras_style.own_variable(
                name, () if shape is None else shape, dtype, initializer_or_default(initializer, name, dtype, self.name),
                trainable=trainable, constraint=constraint, use_resource=use_resource)
            if regularizer:
                self.add_loss(functools.partial(_regularized, variable.op.name, variable, regularizer))
            (self._trainable_weights if trainable else self._non_trainable_weights).append(variable)
            self._weights_by_name[name] = variable
            return variable
        with init_scope():
            graph = get_default_graph()
        known = set(map(id, graph.get_collection(GraphKeys.GLOBAL_VARIABLES)))
        self._set_scope()
        with variable_scope(self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                variable = get_variable(
                    name, () if shape is None else shape, dtype,
                    initializer_or_default(initializer or scope.initializer, name, dtype, self.name), trainable=trainable,
                    partitioner=partitioner, use_resource=use_resource or self._use_resource or scope.use_resource,
                    constraint=constraint, synchronization=synchronization, aggregation=aggregation)
                if regularizer and not any(id(part) in known for part in _parts(variable)):
                    for part in _parts(variable):
                        self.add_loss(functools.partial(_regularized, name, part, regularizer))
        # a custom getter, or a scope's, may have made it without letting it be trained
        trained = trainable and any(variable is v for v in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES))
        (self._trainable_weights if trained else self._non_trainable_weights).append(variable)
        self._weights_by_name[name] = variable
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """The older name of ``add_weight``."""
        return self.add_weight(*args, **kwargs)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses (tensors, or functions that give one) to ``losses`` and to REGULARIZATION_LOSSES.

        `inputs` other than None says that they depend on the inputs of a call.
        """
        found = []
        for loss in nest.flatten(losses):
            if callable(loss):
                self._callable_losses.append(functools.partial(_loss, loss))
                value = _loss(loss)
            else:
                value = _loss(loss)
                if value is not None:
                    self._losses.append((value, inputs is None))
            if value is not None:
                found.append(value)
        _join(GraphKeys.REGULARIZATION_LOSSES, found)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations that a training step has to run (or functions that give one) to ``updates``."""
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            update = update() if callable(update) and not hasattr(update, "op") else update
            if not isinstance(update, Operation):
                update = update.op if hasattr(update, "op") else convert_to_tensor(update)
            self._updates.append((update, self._call_inputs))

    # -- what it holds ------------------------------------------------------------------------------------------------

    @property
    def trainable_weights(self) -> list:
        """Its variables that are trained; none if the layer is not trainable."""
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list:
        """Its variables that are not trained; all if the layer is not trainable."""
        return list(self._non_trainable_weights) if self.trainable else self._trainable_weights + self._non_trainable_weights

    @property
    def weights(self) -> list:
        """Its variables, those that are trained first."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def variables(self) -> list:            # type: ignore[override]
        """Its variables, those that are trained first."""
        return self.weights

    @property
    def trainable_variables(self) -> list:  # type: ignore[override]
        """Its variables that are trained."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list:
        """Its variables that are not trained."""
        return self.non_trainable_weights

    @property
    def updates(self) -> list:
        """The operations that its calls added; none if the layer is not trainable."""
        return [update for update, _ in self._updates] if self.trainable or self.stateful else []

    @property
    def losses(self) -> list:
        """Its losses; those of variables are computed by new nodes each time."""
        of_variables = [function() for function in self._callable_losses]
        return [loss for loss, _ in self._losses] + [loss for loss in of_variables if loss is not None]

    def get_losses_for(self, inputs: Any) -> list:
        """The losses that depend on `inputs`; for None, those that depend on no inputs."""
        given, found = self._losses, self.losses
        if inputs is None:
            return [loss for loss, always in given if always] + found[len(given):]
        return [loss for loss, always in given if not always and depends(loss, inputs)]

    def get_updates_for(self, inputs: Any) -> list:
        """The updates that depend on `inputs`; for None, those that depend on none of the inputs of their call."""
        if not self.updates:
            return []
        if inputs is None:
            return [update for update, own in self._updates if not depends(update, own)]
        return [update for update, own in self._updates if depends(update, own) and depends(update, inputs)]

    def count_params(self) -> int:
        """The number of elements of its variables.  Raises ValueError before they are made."""
        if not self.built:
            raise ValueError(f"You tried to call `count_params` on {self.name}, but the layer isn't built. You can build it "
                             f"manually via: `{self.name}.build(batch_input_shape)`.")
        return int(sum(np.prod(weight.shape.as_list()) for weight in self.weights))

    def get_weights(self) -> list:
        """The values of its variables in the default session, as arrays.  Raises ValueError without a default session."""
        return list(_session(self).run(self.weights)) if self.weights else []

    def set_weights(self, weights: list) -> None:
        """Gives its variables values in the default session.  Raises ValueError if number or shapes differ."""
        if len(weights) != len(self.weights):
            raise ValueError(f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of length '
                             f"{len(weights)}, but the layer was expecting {len(self.weights)} weights. Provided weights: "
                             f"{str(weights)[:50]}...")
        for variable, value in zip(self.weights, weights):
            if not variable.shape.is_compatible_with(np.shape(value)):
                raise ValueError(f"Layer weight shape {variable.shape} not compatible with provided weight shape "
                                 f"{np.shape(value)}")
            variable.load(value, _session(self))

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        """(name, variable) as checkpoints of objects know them, whatever attributes they are."""
        return [(name, one) for name, one in self._weights_by_name.items() if isinstance(one, Variable)]

    def get_config(self) -> dict[str, Any]:
        """The arguments it was made with, as plain data: ``name``, ``trainable``, ``dtype`` and those of ready layers.

        Raises NotImplementedError for an own layer with other arguments that does not override this.
        """
        config = {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}
        if type(self).get_config is Layer.get_config and not has_fields(self):
            if set(inspect.getfullargspec(type(self).__init__).args[1:]) - {*config, "dynamic"}:
                raise NotImplementedError("Layers with arguments in `__init__` must override `get_config`.")
        return config | config_of(self)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The layer with these arguments."""
        return cls(**config)

    # -- calls --------------------------------------------------------------------------------------------------------

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is None:
            named = scope if scope is not None else self._base_name
            with variable_scope(named) if self._reuse else variable_scope(scope, self._base_name) as entered:
                self._scope = entered

    def _name_scope(self) -> str | None:
        return self.name if self._keras_style else self._current_scope.original_name_scope

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The same as a call of the layer."""
        return self(inputs, *args, **kwargs)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """What ``call`` gives for `inputs`, in the layer's scope; at the first call, ``build`` makes the variables before.

        `inputs`: a tensor or a structure of them; arrays and numbers become constants.  The keyword ``scope`` names the
        variable scope of a first call.  Updates join the collection UPDATE_OPS.  Raises ValueError if the inputs are not what
        ``input_spec`` demands, or if ``call`` returns None.
        """
        scope_argument = kwargs.pop("scope", None)
        if self._keras_style:
            keras_style.refuse("scope", scope_argument)
            return self._called(inputs, args, kwargs)
        self._set_scope(scope_argument)
        if self.built:
            if self._reusing_scope is None:
                self._reusing_scope = variable_scope(self._scope, reuse=True, auxiliary_name_scope=False)
            context = self._reusing_scope
        else:
            context = variable_scope(self._scope, reuse=self._reuse, auxiliary_name_scope=False)
        with context as scope:
            self._current_scope = scope
            if "scope" in _parameters(type(self).call):
                kwargs["scope"] = scope
            outputs = self._called(inputs, args, kwargs)
        _join(GraphKeys.UPDATE_OPS, self.updates)
        return outputs

    def _called(self, inputs: Any, args: tuple, kwargs: dict) -> Any:
        inputs = nest.map_structure(_as_tensor, inputs)
        training = self._take_training(args, kwargs)
        check_inputs(self.input_spec, inputs, self.name)
        calls = get_default_graph().per_graph(_CALLS, _Calls)
        before, self._call_inputs = self._call_inputs, inputs
        calls.training.append(training)
        try:
            with name_scope(self._name_scope()):
                self._build_once(inputs)
                outputs = self.call(inputs, *args, **kwargs)
                if outputs is None:
                    raise ValueError("A layer's `call` method should return a Tensor or a list of Tensors, not None (layer: "
                                     f"{self.name}).")
                self._regularize_activity(inputs, outputs)
        finally:
            calls.training.pop()
            self._call_inputs = before
        return outputs

    def _take_training(self, args: tuple, kwargs: dict) -> Any:
        """The argument ``training`` of this call; where it is not given, ``call`` gets that of the layer that calls this one."""
        parameters = _parameters(type(self).call)
        expected = "training" in parameters or None in parameters
        positional = dict(zip(parameters[2:], args))
        if "training" in kwargs:
            return kwargs["training"] if expected else kwargs.pop("training")
        if "training" in positional:
            return positional["training"]
        outer = get_default_graph().per_graph(_CALLS, _Calls).training
        if not outer or outer[-1] is None:
            return None
        if expected:
            value = outer[-1]
            kwargs["training"] = cast(value, dtypes.bool_) if is_tensor_like(value) else bool(value)
        return outer[-1]

    def _build_once(self, inputs: Any) -> None:
        if self.built:
            return
        flat = nest.flatten(inputs)
        if flat and self._dtype is None and hasattr(flat[0], "dtype"):
            self._dtype = flat[0].dtype.base_dtype.name
        if type(self).build is not Layer.build:
            has_shapes = all(hasattr(one, "shape") for one in flat)
            self.build(nest.map_structure(lambda one: one.shape, inputs) if has_shapes else None)
        self.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)

    def _regularize_activity(self, inputs: Any, outputs: Any) -> None:
        if not self._activity_regularizer:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                examples = cast(shape_of(output)[0], loss.dtype)
                self.add_loss(loss / examples, inputs=inputs)

    def __deepcopy__(self, memo: dict) -> Any:
        """A layer with the same variables and scope, whose lists and settings are its own."""
        result = type(self).__new__(type(self))
        memo[id(self)] = result
        for key, value in self.__dict__.items():
            parts = nest.flatten(value)
            shared = key in ("_scope", "_current_scope", "_reusing_scope")
            if shared:
                value = copy.copy(value)
            elif not any(isinstance(part, Tensor) or hasattr(part, "_as_graph_element") for part in parts):
                value = copy.deepcopy(value, memo)
            elif isinstance(value, list):
                value = list(value)
            result.__dict__[key] = value
        return result


def _as_tensor(value: Any) -> Any:
    return convert_to_tensor(value) if isinstance(value, (np.ndarray, float, int)) else value


def _parts(variable: Any) -> list:
    """The variables that a variable is made of: a partitioned one of several."""
    return [variable] if hasattr(variable, "op") else list(variable)


def _regularized(name: str, variable: Any, regularizer: Any) -> Any:
    with name_scope(name + "/Regularizer"):
        return regularizer(variable)


def _loss(given: Any) -> Any:
    value = given() if callable(given) else given
    return value if value is None or is_tensor_like(value) else convert_to_tensor(value, dtypes.float32)


def _join(key: str, elements: list) -> None:
    """Appends to a collection what is not in it."""
    collection = get_collection_ref(key)
    known = set(map(id, collection))
    collection.extend(element for element in elements if id(element) not in known)


@functools.lru_cache(maxsize=1024)
def _parameters(function: Any) -> tuple:
    """The names of the parameters of a function, None for ``**kwargs``."""
    found = inspect.signature(function).parameters.values()
    return tuple(None if p.kind is p.VAR_KEYWORD else p.name for p in found if p.kind is not p.VAR_POSITIONAL)


def _session(layer: Layer) -> Any:
    session = get_default_session()
    if session is None:
        raise ValueError(f"The values of layer {layer.name} are those of a session: write `with tf.Session() as session:` around "
                         "get_weights and set_weights, or run layer.weights in one")
    return session
