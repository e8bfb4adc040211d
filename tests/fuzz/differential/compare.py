"""How two answers to one program differ.

Integers, bools and strings must be equal, NaN and infinity at the same places, errors of the same class.  Floats may
differ by a few roundings of their dtype, scaled by the largest value of the tensor.  Where they differ by more, a second
look finds how far rounding may move them (`roundings`), and TensorFlow's answer in float64, which is as good to agree with:
its float32 sums of many elements are far off.
"""

import numpy as np

from . import roundings
from .answers import array_of

TOLERANCE = {"float16": 4e-3, "bfloat16": 4e-2, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-9, "complex128": 1e-9}
# below these, TensorFlow takes numbers for 0
SMALLEST_NORMAL = {"float16": 0.0, "bfloat16": 2.0**-126, **dict.fromkeys(("float32", "complex64"), 2.0**-126),
                   **dict.fromkeys(("float64", "complex128"), 2.0**-1022)}
SAMPLE = 64  # how many elements of a large tensor are recorded


def sampled(array):
    """The elements of a large array that stand for it: the first, the last and some between."""
    flat = np.ravel(array)
    return flat[np.unique(np.linspace(0, flat.size - 1, SAMPLE).astype(np.int64))] if flat.size > SAMPLE else flat


def second_look(wanted, found, asked_again, wide=None):
    """The differences that rounding does not explain.

    asked_again: a function of a seed that gives jitgraph's answer, of the reference that rounds otherwise; with None, of the
    plain one.  wide: TensorFlow's answer in float64.
    """
    plain, *others = [asked_again(seed) for seed in (None, *range(roundings.TRIALS))]
    for k, run in enumerate(wanted.get("runs", ())):
        for name, value in run.get("values", {}).items():
            arrays = [values_of(answer, k).get(name) for answer in (plain, *others)]
            if value["dtype"] in TOLERANCE and all(a and a["shape"] == arrays[0]["shape"] for a in arrays):
                precise = [precisely(array_of(a)) for a in arrays]
                exact = values_of(wide or {}, k).get(name)
                value["wide"] = precisely(array_of(exact if exact and exact["shape"] == value["shape"] else value))
                value["moved"] = roundings.ALLOWED * roundings.spread(precise[0], precise[1:])
    return differences(wanted, found)


def values_of(answer, run):
    runs = answer.get("runs", ())
    return runs[run].get("values", {}) if run < len(runs) else {}


def precisely(array):
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def difference(wanted, found):
    """What differs between two plain arrays, in words; None: nothing that matters."""
    if wanted["dtype"] != found["dtype"]:
        return f"dtype {found['dtype']}, not {wanted['dtype']}"
    if tuple(wanted["shape"]) != tuple(found["shape"]):
        return f"shape {tuple(found['shape'])}, not {tuple(wanted['shape'])}"
    a, b, moved, name = array_of(wanted), array_of(found), wanted.get("moved", np.float64(0)), wanted["dtype"]
    if wanted.get("sampled"):
        b, moved = sampled(b), sampled(moved)
    if name not in TOLERANCE:
        return None if np.array_equal(a, b) else said(a, b, a != b)
    with np.errstate(all="ignore"):
        return float_difference(name, precisely(a), precisely(b), moved, wanted.get("wide", precisely(a)))


def float_difference(name, a, b, moved, wide):
    finite = np.abs(np.where(np.isfinite(a), a, 0))
    near = TOLERANCE[name] * (finite.max() if finite.size else 0) + moved + SMALLEST_NORMAL[name]
    same = agree(a, b, near) | agree(wide, b, near)
    if name in ("float16", "bfloat16"):  # the last value below infinity
        same |= np.maximum(np.abs(a), np.abs(b)) == np.inf
    same |= moved == np.inf
    return None if same.all() else said(a, b, ~same)


def agree(a, b, near):
    close = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= near)
    return close & (np.isfinite(a) == np.isfinite(b))


def said(wanted, found, where):
    where = np.asarray(where)
    first = np.unravel_index(int(np.argmax(where)), where.shape) if where.ndim else ()
    return (
        f"{int(where.sum())} of {where.size} values differ, first at {[int(i) for i in first]}: "
        f"{found[first]!r}, not {wanted[first]!r}"
    )


def differences(wanted, found):
    """[(where, what)] of two answers, of which the first is TensorFlow's."""
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
        result += run_differences(f"run {k}", a, b)
    return result


def same_refusal(wanted, found):
    """Whether a statement was refused as by TensorFlow."""
    a, b = (x and x.partition(":")[0] for x in (wanted, found))
    return a == b or "Missing" in (a, b)


def as_exact(found, wanted):
    """Whether a static shape says at least what TensorFlow's says."""
    if wanted == "unknown":
        return True
    return found != "unknown" and len(found) == len(wanted) and all(b is None or a == b for a, b in zip(found, wanted))


def run_differences(where, wanted, found):
    if wanted.get("error") != found.get("error"):
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
        what = difference(value, found["values"][name])
        if what:
            result.append((f"{where} {name}", what))
    return result
