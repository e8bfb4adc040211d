"""How two answers to one program differ.

Integers, bools and strings must be equal, NaN and infinity at the same places, errors of the same class.  Floats may
differ by a few roundings of their dtype, scaled by the largest value of the tensor, and by as much more as TensorFlow's own
answer differs from the one that it gives in float64: what a program's cancellations make of one rounding.
"""

import json

import numpy as np

from .answers import array_of

TOLERANCE = {"float16": 4e-3, "bfloat16": 4e-2, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-9, "complex128": 1e-9}
SMALLEST = {"float64": 1e-2, "float32": 1e-2, "complex64": 1e-2}  # below which values are taken as made by cancellation
CONDITION = 32  # how many times TensorFlow's own distance from float64 is allowed
SAMPLE = 64  # how many elements of a large tensor are recorded


def sampled(array):
    """The elements of a large array that stand for it: the first, the last and some between."""
    flat = np.ravel(array)
    return flat[np.unique(np.linspace(0, flat.size - 1, SAMPLE).astype(np.int64))] if flat.size > SAMPLE else flat


def judged(answer, wide):
    """TensorFlow's answer with, at each float tensor, how far "apart" from its answer in float64 it is."""
    others = wide.get("runs", ())
    for k, run in enumerate(answer.get("runs", ())):
        other = others[k].get("values", {}) if k < len(others) else {}
        for name, value in run.get("values", {}).items():
            if value["dtype"] in TOLERANCE:
                found = array_of(value)
                value["apart"] = apart(found, array_of(other[name])) if name in other else presumed(value["dtype"], found)
    return answer


def presumed(name, array):
    """How far apart a few roundings may be, where the program has no answer in float64."""
    finite = np.abs(np.where(np.isfinite(array), array, 0))
    return TOLERANCE[name] / 4 * float(finite.max()) if finite.size else 0.0


def apart(narrow, wide):
    """The largest distance of two answers; infinite where one of them only is finite."""
    if narrow.shape != wide.shape or wide.dtype.kind not in "fc":
        return 0.0
    finite = np.isfinite(narrow)
    if (finite != np.isfinite(wide)).any():
        return np.inf
    with np.errstate(all="ignore"):
        return float(np.abs(np.where(finite, wide - narrow, 0)).max()) if narrow.size else 0.0


def difference(wanted, found):
    """What differs between two plain arrays, in words; None: nothing that matters."""
    if wanted["dtype"] != found["dtype"]:
        return f"dtype {found['dtype']}, not {wanted['dtype']}"
    if tuple(wanted["shape"]) != tuple(found["shape"]):
        return f"shape {tuple(found['shape'])}, not {tuple(wanted['shape'])}"
    a, b, name = array_of(wanted), array_of(found), wanted["dtype"]
    if wanted.get("sampled"):
        b = sampled(b)
    if name not in TOLERANCE:
        return None if np.array_equal(a, b) else said(a, b, a != b)
    with np.errstate(all="ignore"):
        return float_difference(name, a, b, wanted.get("apart", 0.0))


def float_difference(name, a, b, apart):
    precise = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(precise), b.astype(precise)
    finite = np.abs(np.where(np.isfinite(a), a, 0))
    scale = max(finite.max() if finite.size else 0, SMALLEST.get(name, 1e-6))
    same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= TOLERANCE[name] * scale + CONDITION * apart)
    same &= np.isfinite(a) == np.isfinite(b)
    if name in ("float16", "bfloat16"):  # the last value below infinity
        same |= np.maximum(np.abs(a), np.abs(b)) == np.inf
    return None if same.all() or apart == np.inf else said(a, b, ~same)


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
    """Whether a statement was refused as by TensorFlow; what its Python code stumbles over may be accepted or refused."""
    a, b = (x and x.partition(":")[0] for x in (wanted, found))
    return a == b or "Missing" in (a, b) or bool(wanted) and any(words in wanted for words in STUMBLES)


STUMBLES = (
    "NoneType",
    "%d format",
    "Cannot take the length of shape with unknown rank",
    "GatherNd_grad/ScatterNd",  # the gradient for a single index
    "(op type: ResizeBilinearGrad)",  # which has no gradient there
    "Cannot infer num from shape",  # where less is known of the shape
)


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


LIMITS = (
    "do not yet support",  # gradients of dilated convolutions
    "inputs from different frames",  # accumulate_n in a loop
    "Only one input size may be -1",  # einsum of unknown shapes
    "Requires start <= limit",  # sorting along an axis of unknown rank
    "only integer div and mod should have errors",  # TruncateDiv by 0
    "The outermost dimension of updates and indices must match. Got indices.shape [1]",  # gather_nd's gradient for one index
    "Updates shape must have rank at least one. Found:[]",  # the same
    "GatherV2_grad/UnsortedSegmentSum",  # gather's gradient along a negative axis of indices without elements
    "Unable to allocate 0 bytes",  # NumPy, of the feed
)


# gradients that TensorFlow 1.15 computes wrongly: the op, and from how many calls of tf.gradients on
WRONG = {
    "atan2": 1,  # they are not summed over what was broadcast
    "matrix_determinant": 2,  # the gradient of MatrixInverse does not look at `adjoint`
    # the second gradient through a loop is None, and where another way leads past it, its part is missing
    **dict.fromkeys(("while_loop", "map_fn", "scan", "foldl", "written"), 2),
}


def not_supported(program, answer):
    """Whether TensorFlow has no kernel on a CPU for what the program asks, or a wrong one: there is nothing to compare with."""
    text = json.dumps(program)
    if any(f'"op": "{op}"' in text and text.count('"op": "gradients"') >= calls for op, calls in WRONG.items()):
        return True
    return any(
        "No OpKernel" in run.get("message", "")
        or run.get("error") == "UnimplementedError"
        or any(words in run.get("message", "") for words in LIMITS)
        for run in answer.get("runs", [])
    )
