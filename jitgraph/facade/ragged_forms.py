"""Public functions that take ragged tensors too, and what they are for these."""
from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any

_OF_ONE = """
    debugging.check_numerics identity ones_like zeros_like clip_by_value bitwise.invert abs acos acosh angle asin asinh atan atanh
    cast ceil conj cos cosh digamma erf erfc exp expm1 floor imag is_finite is_inf is_nan lgamma log log1p log_sigmoid logical_not
    negative real reciprocal rint round rsqrt saturate_cast sign sin sinh sqrt square tan string_to_number string_to_hash_bucket
    as_string decode_base64 encode_base64 strings.regex_full_match regex_replace string_strip string_to_hash_bucket_fast
    string_to_hash_bucket_strong substr strings.length add_n string_join math.ceil
    decode_compressed io.decode_compressed strings.substr strings.lower strings.upper strings.unicode_script"""
_OF_TWO = """
    bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.left_shift bitwise.right_shift add atan2 complex div_no_nan
    divide equal floordiv floormod greater greater_equal less less_equal logical_and logical_or logical_xor maximum minimum
    multiply not_equal pow realdiv squared_difference subtract truediv truncatediv truncatemod mod floor_div"""
_OWN = {name: f"{module}:{name}" for module, names in (
    ("functions", "gather concat stack expand_dims size rank"), ("tiling", "tile squeeze"),
    ("choosing", "where gather_nd batch_gather one_hot dynamic_partition"), ("segments", "reduce_join"))
    for name in names.split()}
_OWN |= {f"unsorted_segment_{kind}": f"segments:segment_{kind}" for kind in "sum prod min max mean sqrt_n".split()}
_REDUCED = ("sum", "prod", "min", "max", "mean", "any", "all")


@functools.cache
def forms() -> dict[str, tuple[str, str | None]]:
    """{public name: (the form's place in ``jitgraph.ragged``, the kind of a reduction)}"""
    found: dict[str, tuple[str, str | None]] = dict.fromkeys(_OF_ONE.split(), ("elementwise:of_one", None))
    found.update(dict.fromkeys(_OF_TWO.split(), ("elementwise:of_two", None)))
    found.update({name: (place, None) for name, place in _OWN.items()})
    found.update({f"reduce_{kind}": ("functions:reduced", kind) for kind in _REDUCED})
    return found


@functools.cache
def places(table: Callable) -> dict[str, str]:
    """{place of a function: its name in ``forms``}"""
    known = table()
    return {known[name]: name for name in forms() if name in known}


@functools.cache
def opened(function: Callable, name: str) -> Callable:
    """A function that for ragged arguments is its other form."""
    place, kind = forms()[name]
    module, _, attribute = place.partition(":")

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        ragged = sys.modules.get("jitgraph.ragged.ragged_tensor")
        if ragged is None or not any(_holds(one, (ragged.RaggedTensor, ragged.RaggedTensorValue))
                                     for one in (*args, *kwargs.values())):
            return function(*args, **kwargs)
        args = tuple(_as_tensor(one, ragged) for one in args)
        kwargs = {key: _as_tensor(one, ragged) for key, one in kwargs.items()}
        form = getattr(importlib.import_module(f"jitgraph.ragged.{module}"), attribute)
        if kind is not None:
            return _reduced(form, kind, *args, **kwargs)
        return form(function, *args, **kwargs) if module == "elementwise" else form(*args, **kwargs)

    return called


def _reduced(form: Callable, kind: str, input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None,
             reduction_indices: Any = None, keep_dims: Any = None) -> Any:
    return form(kind, input_tensor, reduction_indices if axis is None else axis, keep_dims if keepdims is None else keepdims)


def _as_tensor(value: Any, ragged: Any) -> Any:
    """A value of a ragged tensor, alone or in a list, as the tensor."""
    if isinstance(value, (list, tuple)):
        return [_as_tensor(one, ragged) for one in value] if _holds(value, ragged.RaggedTensorValue) else value
    return ragged.as_ragged(value) if isinstance(value, ragged.RaggedTensorValue) else value


def _holds(value: Any, cls: Any) -> bool:
    return isinstance(value, cls) or isinstance(value, (list, tuple)) and any(isinstance(one, cls) for one in value)
