"""What is known about an op type: ``OpDef``."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from jitgraph.graph import build
from jitgraph.graph import signature as signatures

_PARTS = frozenset(("inputs", "outputs", "attrs", "given", "calls", "functions", "has_refs"))


class OpDef:
    """Everything that is known about an op type; each field is an argument of ``@op`` or part of the signature.

    ``value``: NumPy meaning, arrays in, array or tuple of arrays out.  ``scalar``: expression in prims (elementwise).
    ``shape``: rule, see ``jitgraph.graph.shape_rules``.  ``lower``: to the compiler's primitives.
    ``on_device``: the same where it is computed on a device, of an op that is the host's elsewhere.
    ``grad``: (op, *output gradients) -> gradients of the inputs.  ``stateful``: never merged or folded.
    ``state``: "read" or "write" for ops on a variable.  The NumPy meaning of a writing op takes the variable's value in
    place of the reference (None if it has none yet) and returns its new value; with several references, a tuple.
    ``host``: runs on the host by ``value``.  ``host_because``: of an op that computes numbers and has no kernel, though real
    programs use it, why not: what was measured, beside TensorFlow 2.21.  ``checks``: its kernel can fail.  ``dynamic``: the
    output shape depends on values.  ``reference``, ``samples``: an independent oracle and inputs for tests.  ``tested_in``: of one
    that has no samples, the path of its tests and what a sample cannot give, "tests/resources: a queue".  ``gradient_of``: the
    outputs whose gradients count, by number, where those of others are ignored, as TensorFlow does.  ``gradient_differs``: of an op
    whose gradient is not what differences of its values come to, what it is instead.  ``origin``: whose op type it is if
    TensorFlow 1.15 has none of the name: "jitgraph", of nodes that never leave a graph, for which the formats write
    TensorFlow's; or "TensorFlow 2", whose graph files hold it.
    ``updates``: for optimizer steps, an expression in prims: inputs (references by value) -> the new value of each
    reference.  ``stream``: random; its NumPy meaning takes a keyword ``stream``, see ``jitgraph.ops.random.philox``.
    ``context``: keywords that its NumPy meaning takes besides, "state" (the session's, see ``jitgraph.runtime.state``)
    and "op" (the node): for ops on queues, tables and other things of the host.  ``effect``: it runs also where nobody
    uses its value, like an op that is stateful, but may be repeated and folded.  ``outward``: what it does is seen outside of
    the session: it prints, or calls Python.  ``takes``: others find what it took no more, or it runs a dataset, whose functions
    may do anything: in a function it does so though nobody uses what it gives.  ``renamed``: what callers write in place of names
    of the signature, ``{"axis": "reduction_indices"}``; the names of the signature do, too.  ``hands_on``: it does not call its
    functions while it runs; what it makes does so later, such as the function of ``Dataset.map``.  ``asks``: of things of the host
    it only asks, or makes the one that it stands for: it changes nothing for others.  ``moves``: "in" or "out" for what puts
    elements into the queue of its first input, waiting for room, or takes some, waiting for them.  ``holds``: it takes what is
    given back when its run ends, however it ends (``state.later``).

    What is known of its values before they are computed: ``constant``: the rule by which they follow from those of the
    inputs while the graph is built, see ``jitgraph.graph.constant_rules``.  ``static``: ``tf.get_static_value`` folds it,
    as TensorFlow's Python does; shape inference folds many more.  ``of_shape``: its value as a function of the input's
    shape, on which alone it depends.  ``symbolic``: its NumPy meaning, or its scalar expression, holds also for arrays of
    sizes that have no number yet; or the function that does.  ``placeholder``: a feed may give its value, and must if it
    has no inputs.  ``forwards``: its value is that of its input, or of the variable that it reads: it takes no code.

    ``distinct``: of equal elements: "made" if its first output holds each element of its first input once, and is that input
    if none is there twice, and its second output says where each is; "kept" if it has the elements of its first input, in
    another shape.

    ``each``: whether each element of its result is a function of one element of each input, whatever that is; or the function of
    its node that says so.  Those that have a ``scalar`` expression are so.

    ``adds``: its value is the sum of its inputs.  ``element``: what it does with one element of a TensorArray, a list or a
    stack: "read", "write", "take last", "append", "push", "pop"; "read gradient" of a TensorArray's, "gradient of read", and
    "gradient array", which makes the array of gradients.  ``elements``: what is known of those of the TensorArray whose flow it
    gives, or of the list, from what a shape rule sees (see ``jitgraph.graph.elements``); ``of_elements``: its value as a function
    of what is known of those of its last input, None where that does not say it.  ``keeps``: of an op of the host, the numbers
    of the inputs that it only copies and hands on, so that they may lie in the memory of a device, where its results then are, too.

    What it is to a variable: ``variable``: it is one, "reference" or "resource".  ``assigns``: it gives one a whole new
    value, perhaps of another shape.  ``needs_value`` is False for what works on a variable that has no value yet.
    ``answers``: it writes its variable and gives something else besides: its NumPy meaning returns (new value, *outputs).
    ``selects``: from its node, the number of the input whose reference it hands on, None if only a run can tell; without it,
    one that gives a reference hands its first input on.

    What its runs are like: ``idle``: it only waits.  ``passes``: of a check, whether values of its inputs, None for those that
    only the run tells, are certain to pass it, so that there is nothing to do.  ``recurring``: it is run again and again, so it
    initialises nothing.  ``lasting``: what it gives, the handle of something that the session keeps, is the same in all its
    runs, so that later runs of a plan leave it out.  ``costly``: the gradient of a loop takes its values from the loop, and does
    not compute them again.  ``flops``: the arithmetic that it takes, from the node and the number that stands for unknown sizes.

    `parse` gives the signature.  It is called when one of its parts is first asked for: of the ops that are imported,
    most programs use few.
    """

    value: Callable | None = None
    scalar: Callable | None = None
    shape: Callable | None = None
    lower: Callable | None = None
    on_device: Callable | None = None
    grad: Callable | None = None
    stateful: bool = False
    state: str | None = None
    host: bool = False
    host_because: str = ""
    checks: bool = False
    dynamic: bool = False
    reference: Callable | None = None
    samples: Callable | None = None
    tested_in: str = ""
    gradient_of: tuple[int, ...] | None = None
    gradient_differs: str = ""
    origin: str = ""
    updates: Callable | None = None
    stream: bool = False
    context: tuple[str, ...] = ()
    effect: bool = False
    outward: bool = False
    takes: bool = False
    hands_on: bool = False
    asks: bool = False
    moves: str | None = None
    holds: bool = False
    renamed: Mapping[str, str] = MappingProxyType({})
    constant: Callable | None = None
    static: bool = False
    of_shape: Callable | None = None
    symbolic: bool | Callable = False
    placeholder: bool = False
    forwards: bool = False
    distinct: str | None = None
    each: bool | Callable = False
    adds: bool = False
    element: str | None = None
    elements: Callable | None = None
    of_elements: Callable | None = None
    keeps: tuple[int, ...] = ()
    variable: str | None = None
    assigns: bool = False
    needs_value: bool = True
    answers: bool = False
    selects: Callable | None = None
    idle: bool = False
    passes: Callable | None = None
    recurring: bool = False
    lasting: bool = False
    costly: bool = False
    flops: Callable | None = None
    builder: Any = None
    result_type: Any = None             # namedtuple of the outputs, made at first use

    # parts of the signature
    inputs: list[signatures.Arg]
    outputs: list[signatures.Arg]
    attrs: dict[str, signatures.Attr]
    given: tuple[str, ...]              # attributes that callers may give, in order: those without default first
    functions: tuple[str, ...]          # attributes that are functions
    calls: tuple[str, ...]              # those of them that it calls when it runs
    has_refs: bool                      # whether an input is a reference; the node is then placed beside its variable

    def __init__(self, type: str, parse: Callable[[], signatures.Signature], **fields: Any):
        self.type = type
        self._parse = parse
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Any:
        if name not in _PARTS:
            raise AttributeError(f"OpDef has no attribute {name!r}")
        parsed = self._parse()
        self.inputs, self.outputs, self.attrs = parsed.inputs, parsed.outputs, parsed.attrs
        given = [attr for attr in parsed.attrs.values() if not attr.implied]
        self.given = tuple(attr.name for attr in sorted(given, key=lambda attr: attr.default is not signatures.REQUIRED))
        self.functions = tuple(attr.name for attr in parsed.attrs.values() if attr.kind in ("func", "list(func)"))
        self.calls = () if self.hands_on else self.functions
        self.has_refs = any(arg.is_ref for arg in parsed.inputs)
        return self.__dict__[name]

    @property
    def signature(self) -> tuple[str, dict[str, Any]]:
        """The signature as it is declared, and the sets of dtypes by the names of attributes."""
        return self._parse.args         # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<OpDef {self.type}>"

    @property
    def has_effect(self) -> bool:
        """Whether doing it can be noticed, even if nobody uses its values."""
        return self.stateful or self.effect or self.state == "write" or not self.outputs

    @property
    def acts(self) -> bool:
        """Whether a function does it for what it does, though nobody asks for its value."""
        return self.has_effect and not self.placeholder and bool(
            self.outward or self.takes or self.moves or self.state == "write" or self.calls or not self.outputs)

    @property
    def pure(self) -> bool:
        """Whether it gives equal values for equal inputs, at whatever time, and does nothing else."""
        return not self.has_effect and not self.state and not self.has_refs and self.at_any_time

    @property
    def at_any_time(self) -> bool:
        """Whether it gives equal values for equal inputs and variables, at whatever time, and does nothing else."""
        if self.state == "write" or self.stream or self.calls or not self.outputs or self.effect:
            return False
        return self.asks or not self.context and (self.state == "read" or not self.stateful)

    @property
    def repeats(self) -> bool:
        """Whether it gives equal values for equal inputs, or objects of equal contents, at whatever time, and does nothing else but
        that it may fail."""
        does = self.stateful or self.state or self.stream or self.calls or self.outward or self.takes or self.asks or self.moves \
            or self.holds or self.recurring or self.idle
        return bool(self.outputs) and not does and set(self.context) <= {"op"}

    def attr_kind(self, name: str) -> str | None:
        """The kind of attribute `name` ("type", "list(int)", ...), or None if it is not declared."""
        attr = self.attrs.get(name)
        return attr.kind if attr else None

    def arguments(self, function: Callable, attrs: dict[str, Any]) -> dict[str, Any]:
        """The attributes of a node that `function` (a value, scalar or lower) names among its parameters."""
        return {name: attrs[name] for name in _attrs_named(function, self) if name in attrs}

    def create(self, graph: Any, inputs: list, attrs: dict[str, Any], name: str | None) -> Any:
        """``graph.create_op``: a node from flat tensors and AttrValues or Python values."""
        return build.from_parts(graph, self, inputs, attrs, name)

    def group(self, flat: list) -> list:
        """Inputs as the functions of a declaration take them: list inputs (``N*T``) as one list each.

        For a node whose list lengths differ from one list input only; see ``group_inputs`` for the general case.
        """
        return build.group_inputs(self, flat, None)

    def evaluate(self, arrays: list, attrs: dict[str, Any]) -> tuple:
        """The NumPy value for flat input `arrays`, always as a tuple of arrays, one per output tensor."""
        if self.value is None:
            raise NotImplementedError(f"op {self.type} has no NumPy meaning")
        grouped = build.group_inputs(self, arrays, attrs)
        result = self.value(*grouped, **self.arguments(self.value, attrs))
        if len(self.outputs) == 1 and not self.outputs[0].is_list:
            return (result,)
        flat: list = []
        parts = [result] if len(self.outputs) == 1 else (result or ())
        for arg, part in zip(self.outputs, parts):
            flat.extend(part) if arg.is_list else flat.append(part)
        return tuple(flat)


_named_cache: dict[Any, tuple[str, ...]] = {}


def _attrs_named(function: Callable, opdef: OpDef) -> tuple[str, ...]:
    key = (function, opdef.type)
    found = _named_cache.get(key)
    if found is None and opdef.scalar is not None and function is opdef.value:
        # what its expression names, and what decides the dtype of a result
        deciding = (arg.type_attr for arg in opdef.outputs if arg.type_attr and not opdef.attrs[arg.type_attr].implied)
        found = _named_cache[key] = tuple(dict.fromkeys([*_attrs_named(opdef.scalar, opdef), *deciding]))
    if found is None:
        parameters = inspect.signature(function).parameters.values()
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            found = tuple(name for name, attr in opdef.attrs.items() if not attr.implied)
        else:
            found = tuple(p.name for p in parameters if p.name in opdef.attrs)
        _named_cache[key] = found
    return found
