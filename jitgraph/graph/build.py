"""From a call of an op's function to a node: inputs converted and checked, dtypes inferred, shapes derived.

Messages and classes of errors are those of TensorFlow 1's Python layer.
"""
from __future__ import annotations

import collections
import inspect
from typing import Any

from jitgraph.graph import shapes, sites
from jitgraph.graph.attributes import check_attr
from jitgraph.graph.constant_value import partial_value, value_for_shape
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import DType
from jitgraph.graph.elements import Elements
from jitgraph.graph.operation import Operation
from jitgraph.graph.reaching import reaches
from jitgraph.graph.scopes import graph_of
from jitgraph.graph.signature import REQUIRED, Arg
from jitgraph.graph.stack import DefaultGraph
from jitgraph.graph.tensor import Tensor


def apply(opdef: Any, args: tuple, kwargs: dict[str, Any], name: str | None) -> Any:
    """Adds a node for the call ``builder(*args, name=name, **kwargs)``; returns its outputs as TensorFlow does.

    No output: the Operation; one: the Tensor, or list for a list output; several: a named tuple.
    """
    values = _bind(opdef, args, kwargs)
    if "name" in kwargs:
        name = kwargs.pop("name")
    graph = get_default_graph()
    if not graph.building_function:
        for value in values:
            if type(value) is Tensor and value.op.graph is graph:
                continue
            graph = graph_of(_tensors_in(values), graph)
            break
    if graph._finalized:
        raise RuntimeError("Graph is finalized and cannot be modified.")
    if name is None:
        name = opdef.type
    op_name = name[:-1] if name[-1:] == "/" else graph.unique_name(name)
    attrs: dict[str, Any] = {}
    flat = _Inputs(opdef, graph, op_name, attrs).collect(values, kwargs)
    for attr_name in opdef.given:
        attr = opdef.attrs[attr_name]
        given = kwargs.get(attr_name)
        if given is not None or (attr_name in kwargs and attr.default is REQUIRED):
            attrs[attr_name] = check_attr(opdef.type, attr, given)
        elif attr.default is not REQUIRED:          # not given, or None, which means the default as well
            attrs[attr_name] = attr.default
        else:
            raise TypeError(f"No argument for attr {attr_name} of op {opdef.type} ('{op_name}').")
    op = add_node(graph, opdef, op_name, flat, attrs)
    return _results(opdef, op)


def _bind(opdef: Any, args: tuple, kwargs: dict[str, Any]) -> list:
    """The values of the inputs in order; positional arguments after them join `kwargs`: attributes, then the name."""
    inputs = opdef.inputs
    count = len(inputs)
    if len(args) == count and not kwargs:
        return list(args)
    if len(args) > count:
        extra = args[count:]
        if len(extra) > len(opdef.given) + 1:
            raise TypeError(f"{opdef.type} takes {count} inputs, {len(opdef.given)} attributes and a name, got "
                            f"{len(args)} positional arguments.")
        for name, value in zip((*opdef.given, "name"), extra):
            if name in kwargs:
                raise TypeError(f"{opdef.type} got attribute {name} twice.")
            kwargs[name] = value
    for public in opdef.renamed:
        if public in kwargs:
            kwargs[opdef.renamed[public]] = kwargs.pop(public)
    values = list(args[:count])
    for arg in inputs[len(values):]:
        if arg.name not in kwargs:
            raise TypeError(f"No argument for input {arg.name} of op {opdef.type}.")
        values.append(kwargs.pop(arg.name))
    for name in kwargs:
        if name not in opdef.attrs and name != "name":
            raise TypeError(f"{opdef.type} got an unexpected argument {name!r}; its attributes are "
                            f"{', '.join(opdef.given) or 'none'}.")
    return values


def _tensors_in(values: list) -> list:
    found: list = []
    for value in values:
        if isinstance(value, (list, tuple)):
            found.extend(value)
        else:
            found.append(value)
    return found


class _Inputs:
    """Turns the arguments of one call into tensors, and learns the implied attributes from them."""

    __slots__ = ("opdef", "graph", "op_name", "attrs", "_from")

    def __init__(self, opdef: Any, graph: Any, op_name: str, attrs: dict[str, Any]):
        self.opdef = opdef
        self.graph = graph
        self.op_name = op_name
        self.attrs = attrs
        self._from: dict[str, str] = {}     # which input decided an attribute

    def collect(self, values: list, kwargs: dict[str, Any]) -> list[Tensor]:
        for name in kwargs:
            attr = self.opdef.attrs[name]
            if attr.implied:                # a caller may fix an implied attribute beforehand
                self.attrs[name] = check_attr(self.opdef.type, attr, kwargs[name])
                self._from[name] = name
        flat: list[Tensor] = []
        for arg, value in zip(self.opdef.inputs, values):
            if arg.number_attr is not None or arg.list_attr is not None:
                tensors = self._convert_list(arg, value)
                self._learn_list(arg, tensors)
                flat.extend(tensors)
                continue
            tensor = value if type(value) is Tensor else self._convert(arg, value)
            self._learn(arg, tensor)
            flat.append(tensor)
        # when all fit: a node that is refused takes nothing into the graph of a function
        return [t if t.op.graph is self.graph else self.graph.capture(t) for t in flat]

    # -- single inputs

    def _wanted(self, arg: Arg) -> DType | None:
        return arg.dtype if arg.type_attr is None else self.attrs.get(arg.type_attr)

    def _preferred(self, arg: Arg) -> DType | None:
        if arg.type_attr is None or arg.type_attr in self.attrs:
            return None
        default = self.opdef.attrs[arg.type_attr].default
        return None if default is REQUIRED else default

    def _convert(self, arg: Arg, value: Any) -> Tensor:
        dtype = self._wanted(arg)
        try:
            return self._to_tensor(value, dtype, arg, self._preferred(arg))
        except TypeError as error:
            if dtype is None:
                raise
            raise TypeError(f"Expected {dtype.name} passed to parameter '{arg.name}' of op '{self.opdef.type}', got "
                            f"{value!r} of type '{type(value).__name__}' instead. Error: {error}") from None
        except ValueError as error:
            self._explain(arg, value, dtype, error)
            raise

    def _to_tensor(self, value: Any, dtype: DType | None, arg: Arg, preferred: DType | None, name: str = "") -> Tensor:
        graph = self.graph
        names = graph._names
        before, names.scope = names.scope, self.op_name
        try:
            if get_default_graph() is graph:
                return convert_to_tensor(value, dtype, name or arg.name, arg.is_ref, preferred)
            with DefaultGraph(graph):
                return convert_to_tensor(value, dtype, name or arg.name, arg.is_ref, preferred)
        finally:
            names.scope = before

    def _explain(self, arg: Arg, value: Any, dtype: DType | None, error: ValueError) -> None:
        """Raises TensorFlow's TypeError where the value has a dtype of its own that does not fit."""
        try:
            observed = self._to_tensor(value, None, arg, None).dtype
        except (TypeError, ValueError):
            raise ValueError(f"Tried to convert '{arg.name}' to a tensor and failed. Error: {error}") from None
        if dtype is not None and observed.base_dtype is not dtype:
            self._mismatch(arg, observed, dtype)

    def _mismatch(self, arg: Arg, observed: DType, wanted: DType) -> None:
        prefix = f"Input '{arg.name}' of '{self.opdef.type}' Op has type {observed.name} that does not match"
        if arg.dtype is not None:
            raise TypeError(f"{prefix} expected type of {wanted.name}.")
        source = self._from.get(arg.type_attr or "", arg.type_attr)
        raise TypeError(f"{prefix} type {wanted.name} of argument '{source}'.")

    def _learn(self, arg: Arg, tensor: Tensor) -> None:
        base = tensor.dtype.base_dtype
        if arg.dtype is not None:
            if base is not arg.dtype:
                self._mismatch(arg, tensor.dtype, arg.dtype)
        else:
            name: Any = arg.type_attr
            known = self.attrs.get(name)
            if known is None:
                self._decide(name, base, arg.name)
            elif known is not base:
                self._mismatch(arg, tensor.dtype, known)
        if arg.is_ref and not tensor.dtype._is_ref_dtype:
            raise TypeError(f"'{self.opdef.type}' Op requires that input '{arg.name}' be a mutable tensor "
                            "(e.g.: a tf.Variable)")

    def _decide(self, name: Any, base: DType, source: str) -> None:
        allowed = self.opdef.attrs[name].allowed
        if allowed is not None and base not in allowed:
            raise TypeError(f"Value passed to parameter '{source}' has DataType {base.name} not in list of allowed "
                            f"values: {', '.join(t.name for t in allowed)} (op '{self.opdef.type}')")
        self.attrs[name] = base
        self._from[name] = source

    # -- list inputs

    def _convert_list(self, arg: Arg, values: Any) -> list[Tensor]:
        if not isinstance(values, (list, tuple)):
            raise TypeError(f"Expected list for '{arg.name}' argument to '{self.opdef.type}' Op, not {values}.")
        dtype = self._wanted(arg) if arg.number_attr is not None else None
        if arg.number_attr is not None and dtype is None:
            # a plain number in the list takes the dtype of the first tensor beside it
            dtype = next((v.dtype.base_dtype for v in values if isinstance(v, Tensor) or hasattr(v, "_as_graph_element")
                          and isinstance(getattr(v, "dtype", None), DType)), None)
        known = self.attrs.get(arg.list_attr) if arg.list_attr is not None else None
        try:
            tensors = []
            for i, value in enumerate(values):
                one = known[i] if known is not None and i < len(known) else dtype
                tensors.append(self._to_tensor(value, one, arg, self._preferred(arg) if arg.number_attr else None,
                                               f"{arg.name}_{i}"))
        except (TypeError, ValueError) as error:
            self._explain_list(arg, values, dtype, error)
            raise
        if arg.number_attr is not None and len({t.dtype.base_dtype for t in tensors}) > 1:
            self._explain_list(arg, values, self._wanted(arg), None)
        return tensors

    def _explain_list(self, arg: Arg, values: Any, dtype: DType | None, error: Exception | None) -> None:
        observed = []
        for value in values:
            try:
                observed.append(self._to_tensor(value, None, arg, None).dtype.base_dtype.name)
            except (TypeError, ValueError):
                observed.append("<NOT CONVERTIBLE TO TENSOR>")
        prefix = f"Tensors in list passed to '{arg.name}' of '{self.opdef.type}' Op have types [{', '.join(observed)}]"
        if arg.list_attr is not None:
            raise TypeError(f"{prefix} that are invalid. Tensors: {values}") from error
        if arg.dtype is not None:
            raise TypeError(f"{prefix} that do not match expected type {arg.dtype.name}.") from error
        if arg.type_attr in self.attrs and dtype is not None:
            raise TypeError(f"{prefix} that do not match type {dtype.name} inferred from earlier arguments.") from error
        raise TypeError(f"{prefix} that don't all match.") from error

    def _learn_list(self, arg: Arg, tensors: list[Tensor]) -> None:
        if arg.list_attr is not None:
            attr = self.opdef.attrs[arg.list_attr]
            self.attrs[arg.list_attr] = check_attr(self.opdef.type, attr, [t.dtype.base_dtype for t in tensors])
            return
        self._learn_number(arg, len(tensors))
        if tensors:
            for tensor in tensors:
                self._learn(arg, tensor)
        elif arg.type_attr is not None and arg.type_attr not in self.attrs:
            preferred = self._preferred(arg)
            if preferred is None:
                raise TypeError(f"Don't know how to infer type variable from empty input list passed to input "
                                f"'{arg.name}' of '{self.opdef.type}' Op.")
            self.attrs[arg.type_attr] = preferred

    def _learn_number(self, arg: Arg, count: int) -> None:
        name = arg.number_attr
        assert name is not None
        known = self.attrs.get(name)
        if known is not None and known != count:
            raise ValueError(f"List argument '{arg.name}' to '{self.opdef.type}' Op with length {count} must match "
                             f"length {known} of argument '{self._from.get(name, name)}'.")
        minimum = self.opdef.attrs[name].minimum
        if minimum is not None and count < minimum:
            raise ValueError(f"List argument '{arg.name}' to '{self.opdef.type}' Op with length {count} shorter than "
                             f"minimum length {minimum}.")
        if known is None:
            self.attrs[name] = count
            self._from[name] = arg.name


class ShapeContext:
    """What a shape rule sees: ``shapes`` (of all inputs, lists flattened), ``attrs``, ``constant(i)``, ``dtypes``."""

    __slots__ = ("op_type", "inputs", "attrs", "shapes", "asked")
    running = False             # whether the values are those of a run, not what a graph states

    def __init__(self, op_type: str, inputs: list[Tensor], attrs: dict[str, Any]):
        self.op_type = op_type
        self.inputs = inputs
        self.attrs = attrs
        self.shapes = [t._shape for t in inputs]
        self.asked: tuple = ()          # inputs whose value the rule looked at, for error messages

    @property
    def dtypes(self) -> list[DType]:
        """The base dtypes of the inputs."""
        return [t.dtype.base_dtype for t in self.inputs]

    def constant(self, index: int) -> Any:
        """The value of input `index` as an ndarray if it is known (None for unknown elements), else None."""
        self.asked += (index % len(self.inputs),)
        return value_for_shape(self.inputs[index])

    def variable_shape(self, index: int) -> Any:
        """The shape of the variable that input `index`, a handle, stands for; a compiler knows the present one."""
        return stated_shape(self.inputs[index])

    def elements(self, index: int) -> Elements | None:
        """What is known of the TensorArray whose flow is input `index`: nothing, which a compiler may know."""
        return None


class _ContextWithoutValues(ShapeContext):
    """What a shape rule sees where values are not to be looked at."""

    __slots__ = ()

    def constant(self, index: int) -> Any:
        """None."""
        return None


def stated_shape(handle: Tensor) -> Any:
    """The shape that the variable behind a handle was made with; None if it is not known."""
    op = handle.op
    while op.type == "Identity":
        op = op.inputs[0].op
    return op.attrs["shape"] if op.opdef is not None and op.opdef.variable == "resource" else None


def add_node(graph: Any, opdef: Any, op_name: str, inputs: list[Tensor], attrs: dict[str, Any],
             control_inputs: list[Operation] | None = None) -> Operation:
    """Adds a node from checked inputs and attributes: derives its output dtypes and shapes."""
    output_dtypes = output_types(opdef, attrs)
    try:
        output_shapes = infer_shapes(opdef, op_name, inputs, attrs, len(output_dtypes))
    except ValueError:
        graph._ids.last += 1            # TensorFlow counts an operation before it looks at shapes
        raise
    colocate = [t.op for arg, t in zip(opdef.inputs, inputs) if arg.is_ref] if opdef.has_refs else ()
    return graph.add_op(opdef, opdef.type, op_name, inputs, attrs, output_dtypes, output_shapes, control_inputs,
                        colocate)


def output_types(opdef: Any, attrs: dict[str, Any]) -> list[DType]:
    """The dtype of each output tensor of a node with these attributes."""
    types: list[DType] = []
    for arg in opdef.outputs:
        if arg.list_attr is not None:
            types.extend(attrs[arg.list_attr])
            continue
        dtype = arg.dtype if arg.dtype is not None else attrs[arg.type_attr]
        if arg.is_ref:
            dtype = dtype._as_ref
        if arg.number_attr is not None:
            types.extend([dtype] * attrs[arg.number_attr])
        else:
            types.append(dtype)
    return types


def infer_shapes(opdef: Any, op_name: str, inputs: list[Tensor], attrs: dict[str, Any], count: int) -> list:
    """The static shape of each output.  Raises ValueError, naming op, shapes and the user's line, if inputs clash."""
    rule = opdef.shape
    if rule is None:
        return [None] * count
    context = ShapeContext(opdef.type, inputs, attrs)
    try:
        result = rule(context)
    except ValueError as error:
        if not any(_comes_from_outside(inputs[index]) for index in context.asked):
            raise ValueError(_shape_message(str(error), opdef, op_name, context)) from None
        result = _shapes_without_values(opdef, op_name, inputs, attrs)
    if type(result) is list:
        if len(result) != count:
            raise AssertionError(f"the shape rule of {opdef.type} gave {len(result)} shapes for {count} outputs")
        return [None if s is None else tuple(s) for s in result]
    return [result] if count == 1 else [result] * count


def _comes_from_outside(tensor: Tensor) -> bool:
    """Whether the value of a tensor of a branch, loop or other function is made of what the function is given."""
    graph: Any = tensor.op.graph
    if not graph.building_function:
        return False
    return reaches(tensor.op, {one.op for one in graph.inputs}, lambda op: [one.op for one in op.inputs])


def _shapes_without_values(opdef: Any, op_name: str, inputs: list[Tensor], attrs: dict[str, Any]) -> Any:
    """What the rule says in a branch or a loop that is given constants which do not suit: it may never run, and TensorFlow, which
    hands them in through Switch or Enter, does not see them."""
    context = _ContextWithoutValues(opdef.type, inputs, attrs)
    try:
        return opdef.shape(context)
    except ValueError as error:
        raise ValueError(_shape_message(str(error), opdef, op_name, context)) from None


def _shape_message(message: str, opdef: Any, op_name: str, context: ShapeContext) -> str:
    listed = ", ".join(shapes.brackets(s) for s in context.shapes)
    values = [(i, partial_value(context.inputs[i])) for i in sorted(set(context.asked))]
    known = ", ".join(f"input[{i}] = <{' '.join(map(str, v.ravel()[:8]))}>" for i, v in values if v is not None)
    computed = f" and with computed input tensors: {known}" if known else ""
    where = sites.where(sites.capture(1))
    at = f" (at {where})" if where else ""
    return f"{message} for '{op_name}' (op: '{opdef.type}') with input shapes: {listed}{computed}.{at}"


def _results(opdef: Any, op: Operation) -> Any:
    outputs = op.outputs
    declared = opdef.outputs
    if len(declared) == 1:
        if not declared[0].is_list:
            return outputs[0]
        return list(outputs) if outputs else op
    if not outputs:
        return op
    if opdef.result_type is None:       # a named tuple of the op's type, as TensorFlow gives them
        opdef.result_type = collections.namedtuple(opdef.type, [arg.name for arg in declared])
    return opdef.result_type(*group_outputs(opdef, outputs, op.attrs))


def _lengths(args: list[Arg], attrs: dict[str, Any] | None, total: int) -> list[int | None]:
    """For each argument the number of its tensors if it is a list, else None."""
    lists = [arg for arg in args if arg.is_list]
    lengths: list[int | None] = []
    for arg in args:
        if not arg.is_list:
            lengths.append(None)
        elif attrs is not None and arg.number_attr in attrs:
            lengths.append(attrs[arg.number_attr])
        elif attrs is not None and arg.list_attr in attrs:
            lengths.append(len(attrs[arg.list_attr]))
        elif len(lists) == 1:
            lengths.append(total - (len(args) - 1))
        else:
            raise ValueError("the attributes are needed to tell several lists apart")
    return lengths


def _group(args: list[Arg], flat: list, attrs: dict[str, Any] | None) -> list:
    if not any(arg.is_list for arg in args):
        return list(flat)
    grouped, position = [], 0
    for length in _lengths(args, attrs, len(flat)):
        if length is None:
            grouped.append(flat[position])
            position += 1
        else:
            grouped.append(list(flat[position:position + length]))
            position += length
    return grouped


def group_inputs(opdef: Any, flat: list, attrs: dict[str, Any] | None) -> list:
    """A node's flat inputs (of any kind) as its functions take them: one list for each list input."""
    return _group(opdef.inputs, flat, attrs)


def group_outputs(opdef: Any, flat: list, attrs: dict[str, Any] | None) -> list:
    """A node's flat outputs with one list for each list output."""
    return _group(opdef.outputs, flat, attrs)


def from_parts(graph: Any, opdef: Any, inputs: list[Tensor], attrs: dict[str, Any], name: str | None) -> Operation:
    """A node of `opdef` from flat tensors and attributes that may be AttrValues."""
    from jitgraph.graph.protos.attr_value import from_proto

    given = {key: from_proto(value) if hasattr(value, "WhichOneof") else value for key, value in attrs.items()}
    annotations = {key: given.pop(key) for key in list(given) if key not in opdef.attrs}
    name = name or opdef.type
    op_name = name[:-1] if name.endswith("/") else graph.unique_name(name)
    checked: dict[str, Any] = {}
    for key, value in given.items():
        checked[key] = check_attr(opdef.type, opdef.attrs[key], value)
    collector = _Inputs(opdef, graph, op_name, checked)
    for arg, value in zip(opdef.inputs, group_inputs(opdef, inputs, checked)):
        collector._learn_list(arg, value) if arg.is_list else collector._learn(arg, value)
    for attr in opdef.attrs.values():
        if attr.name not in checked:
            if attr.default is REQUIRED:
                raise ValueError(f"NodeDef missing attr '{attr.name}' from Op<name={opdef.type}>; NodeDef: '{op_name}'")
            checked[attr.name] = attr.default
    op = add_node(graph, opdef, op_name, list(inputs), checked)
    if annotations:
        op.annotations = {**(op.annotations or {}), **annotations}
    return op


def python_signature(opdef: Any) -> inspect.Signature:
    """The Python signature of an op's function: inputs, attributes that must be given, those with defaults, the name."""
    parameter = inspect.Parameter
    shown = {name: public for public, name in opdef.renamed.items()}
    found = [parameter(shown.get(arg.name, arg.name), parameter.POSITIONAL_OR_KEYWORD) for arg in opdef.inputs]
    for name in opdef.given:
        default = opdef.attrs[name].default
        found.append(parameter(shown.get(name, name), parameter.POSITIONAL_OR_KEYWORD,
                               default=parameter.empty if default is REQUIRED else default))
    found.append(parameter("name", parameter.POSITIONAL_OR_KEYWORD, default=None))
    return inspect.Signature(found)
