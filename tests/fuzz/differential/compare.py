"""How two answers to one program differ.

Integers, bools and strings must be equal, NaN and infinity at the same places, errors of the same class.  Floats may
differ by a few roundings of their dtype, scaled by the largest value of the tensor, and by as much more as TensorFlow's own
answer differs from the one that it gives in float64: what a program's cancellations make of one rounding.
"""

import numpy as np

from .answers import array_of

TOLERANCE = {"float16": 4e-3, "bfloat16": 4e-2, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-9, "complex128": 1e-9}
SMALLEST = {"float64": 1e-3}  # below which values are taken as made by cancellation
CONDITION = 32  # how many times TensorFlow's own distance from float64 is allowed
SAMPLE = 64  # how many elements of a large tensor are recorded


def sampled(array):
    """The elements of a large array that stand for it: the first, the last and some between."""
    flat = np.ravel(array)
    return flat[np.unique(np.linspace(0, flat.size - 1, SAMPLE).astype(np.int64))]


def allowed(name, wanted, wide):
    """The error that is allowed at each element of the array `wanted`."""
    finite = np.abs(np.where(np.isfinite(wanted), wanted, 0))
    scale = finite.max() if finite.size else 0
    error = TOLERANCE[name] * np.maximum(finite, max(scale, SMALLEST.get(name, 1e-6)))
    if wide is not None and wide.shape == wanted.shape and wide.dtype.kind == wanted.dtype.kind:
        apart = np.abs(np.where(np.isfinite(wide) & np.isfinite(wanted), wide - wanted, 0))
        error = error + CONDITION * (apart.max() if apart.size else 0)
    return error


def difference(wanted, found, wide=None):
    """What differs between two plain arrays, in words; None: nothing that matters."""
    if wanted["dtype"] != found["dtype"]:
        return f"dtype {found['dtype']}, not {wanted['dtype']}"
    if tuple(wanted["shape"]) != tuple(found["shape"]):
        return f"shape {tuple(found['shape'])}, not {tuple(wanted['shape'])}"
    a, b, name = array_of(wanted), array_of(found), wanted["dtype"]
    if name not in TOLERANCE:
        return None if np.array_equal(a, b) else said(a, b, a != b)
    w = array_of(wide) if wide is not None else None
    with np.errstate(all="ignore"):
        return float_difference(name, a, b, w)


def float_difference(name, a, b, wide):
    precise = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(precise), b.astype(precise)
    error = allowed(name, a, wide.astype(precise) if wide is not None and wide.dtype.kind in "fc" else None)
    same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= error)
    same &= np.isfinite(a) == np.isfinite(b)
    if name in ("float16", "bfloat16"):  # the last value below infinity
        same |= np.maximum(np.abs(a), np.abs(b)) == np.inf
    if wide is not None and wide.shape == a.shape:  # beyond the range only in the narrow type, or near it
        same |= ~np.isfinite(a) & (np.isfinite(wide) | ~np.isfinite(b)) & ~np.isfinite(a + b)
    return None if same.all() else said(a, b, ~same)


def said(wanted, found, where):
    where = np.asarray(where)
    first = np.unravel_index(int(np.argmax(where)), where.shape) if where.ndim else ()
    return (
        f"{int(where.sum())} of {where.size} values differ, first at {[int(i) for i in first]}: "
        f"{found[first]!r}, not {wanted[first]!r}"
    )


def error_class(run):
    return run.get("error")


def differences(wanted, found, wide=None):
    """[(where, what)] of two answers; `wide` is TensorFlow's answer in float64."""
    for broken, who in ((wanted.get("broken"), "TensorFlow"), (found.get("broken"), "found")):
        if broken:
            return [("broken", f"{who}: {broken}")]
    result = []
    for k, (a, b) in enumerate(zip(wanted["build"], found["build"])):
        if not same_refusal(a, b):
            result.append((f"statement {k}", f"raises {b} while building, not {a}"))
    result += [
        (f"static {name}", f"{found['static'][name]}, not {shape}")
        for name, shape in wanted["static"].items()
        if name in found["static"] and not as_exact(found["static"][name], shape)
    ]
    for k, (a, b) in enumerate(zip(wanted["runs"], found["runs"])):
        other = wide["runs"][k].get("values", {}) if wide and k < len(wide.get("runs", [])) else {}
        result += run_differences(f"run {k}", a, b, other)
    return result


def same_refusal(wanted, found):
    """Whether a statement was refused as by TensorFlow; what its Python code stumbles over may be accepted or refused."""
    a, b = (x and x.partition(":")[0] for x in (wanted, found))
    return a == b or "Missing" in (a, b) or bool(wanted) and any(words in wanted for words in STUMBLES)


STUMBLES = ("NoneType", "%d format", "Cannot take the length of shape with unknown rank")


def as_exact(found, wanted):
    """Whether a static shape says at least what TensorFlow's says."""
    if wanted == "unknown":
        return True
    return found != "unknown" and len(found) == len(wanted) and all(b is None or a == b for a, b in zip(found, wanted))


def run_differences(where, wanted, found, wide):
    if error_class(wanted) != error_class(found):
        return [
            (
                where,
                f"raises {found.get('error')}: {found.get('message', '')[:200]}, "
                f"not {wanted.get('error')}: {wanted.get('message', '')[:200]}",
            )
        ]
    if "error" in wanted:
        return []
    result = []
    for name, value in wanted["values"].items():
        if name not in found["values"]:
            result.append((f"{where} {name}", "not there"))
            continue
        what = difference(value, found["values"][name], wide.get(name))
        if what:
            result.append((f"{where} {name}", what))
    return result


def not_supported(answer):
    """Whether TensorFlow has no kernel on a CPU for what the program asks, so that there is nothing to compare with."""
    return any(
        "No OpKernel" in run.get("message", "")
        or "do not yet support" in run.get("message", "")
        or run.get("error") == "UnimplementedError"
        for run in answer.get("runs", [])
    )
