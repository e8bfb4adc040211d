"""The one-line signatures of ops."""
import pytest

from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import INDEX
from jitgraph.graph.signature import REQUIRED, parse


def test_inputs_outputs_and_attributes():
    s = parse("Sum(input: T, reduction_indices: Tidx; keep_dims: bool = False) -> output: T", {"Tidx": INDEX})
    assert s.type == "Sum" and [a.name for a in s.inputs] == ["input", "reduction_indices"]
    assert s.outputs[0].type_attr == "T" and s.attrs["T"].implied and s.attrs["T"].default is REQUIRED
    assert s.attrs["Tidx"].default is dtypes.int32 and dtypes.int64 in s.attrs["Tidx"].allowed
    assert s.attrs["keep_dims"].default is False and not s.attrs["keep_dims"].implied


def test_lists_references_and_fixed_types():
    s = parse("X(values: N*T, args: [Tin], ref: &U, k: int32, names: M*string; N: int >= 2) "
              "-> a: [Tin], b: N*T, c: &U", {})
    values, args, ref, k, names = s.inputs
    assert (values.number_attr, values.type_attr) == ("N", "T") and args.list_attr == "Tin" and ref.is_ref
    assert k.dtype is dtypes.int32 and names.number_attr == "M" and names.dtype is dtypes.string
    assert s.attrs["N"].minimum == 2 and s.attrs["M"].minimum == 1 and s.attrs["Tin"].kind == "list(type)"
    assert s.outputs[2].is_ref


def test_the_default_of_a_tensor_states_its_dtype():
    default = parse("X(a: T; color: tensor = uint8[255, 0]) -> b: T", {}).attrs["color"].default
    assert default.dtype == "uint8" and default.tolist() == [255, 0]


@pytest.mark.parametrize("text, default", [
    ("a: int = -3", -3), ("a: float = 1", 1.0), ("a: string = \"x,y\"", "x,y"), ("a: shape = None", None),
    ("a: shape = [2, -1]", (2, -1)), ("a: list(int) = [1, 2]", [1, 2]), ("a: type = float32", dtypes.float32),
    ("a: list(type) = [int32, int64]", [dtypes.int32, dtypes.int64]), ("a: bool = true", True)])
def test_defaults(text, default):
    assert parse(f"X(; {text})", {}).attrs["a"].default == default


def test_allowed_strings():
    attr = parse('X(x: T; padding: string {"SAME", "VALID"} = "SAME") -> y: T', {}).attrs["padding"]
    assert attr.allowed == ("SAME", "VALID") and attr.default == "SAME"


@pytest.mark.parametrize("text, message", [
    ("no signature", "is not an op signature"), ("X(x T)", "is not an input or output"), ("X(x: T", "not closed"),
    ("X(x: T) y: T", "expected '->'"), ("X(; a: colour)", "unknown kind 'colour'"), ("X() -> y: T", "neither a dtype"),
    ("X(; a)", "is not an attribute")])
def test_what_is_no_signature(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text, {})


def test_types_for_an_attribute_that_is_not_there():
    with pytest.raises(ValueError, match="no type attribute S"):
        parse("X(x: T) -> y: T", {"S": INDEX})
