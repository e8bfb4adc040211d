"""What TensorFlow 1.15 gets wrong or does not have: the parts of a program in which there is nothing to compare with."""

import json
import re

import numpy as np

from .answers import array_of
from .compare import TOLERANCE as FLOATS
from .generate import SEEDED
from .shrink import names

# what its Python code stumbles over while building
STUMBLES = (
    "NoneType",
    "%d format",
    "Cannot take the length of shape with unknown rank",
    "_grad/ScatterNd",  # the gradient for a single index
    "(op type: ResizeBilinearGrad)",  # which has no gradient there
    "(op type: ResizeNearestNeighborGrad)",
    "Cannot infer num from shape",  # where less is known of the shape
    "Unable to allocate 0 bytes",  # NumPy, of a constant
    "_grad/range' (op: 'Range') with input shapes",  # the gradient of sorting along an axis without elements
    "'IndexedSlices' object has no attribute 'get_shape'",  # the gradient of matrix_set_diag that gather gives it
)

# of a loop whose variable it knows less of than we
LESS_KNOWN = re.compile(r"has shape (<unknown>|\([^)]*\?[^)]*\)) after one iteration")

# what it says in a run of an operation that it cannot do
LIMITS = (
    "No OpKernel",
    "do not yet support",  # gradients of dilated convolutions
    "inputs from different frames",  # accumulate_n in a loop
    "Only one input size may be -1",  # einsum of unknown shapes
    "Requires start <= limit",  # sorting along an axis of unknown rank
    "only integer div and mod should have errors",  # TruncateDiv by 0
    "_grad/ScatterNd",  # gather_nd's gradient for one index
    "GatherV2_grad/UnsortedSegmentSum",  # gather's gradient along a negative axis of indices without elements
    "Unable to allocate 0 bytes",  # NumPy, of the feed
    "ArgOp : Unhandled input dimensions",  # of more than five
    "Could not allocate ndarray",  # a fetch without elements that would have too many but for one size
)

LOOPS = ("while_loop", "map_fn", "scan", "foldl", "written")

# gradients that it computes wrongly: the op, and from how many calls of tf.gradients on
WRONG = {
    "atan2": 1,  # they are not summed over what was broadcast
    # MaxPoolGradGrad and MaxPool3DGradGrad write into an operand of which they read more afterwards
    "nn.max_pool": 2,
    "nn.max_pool3d": 2,
    "nn.fused_batch_norm": 3,  # its gradient takes the variance's own derivative by the mean for 0
    "unsorted_segment_prod": 2,  # where an element is 0, it divides by it
    "matrix_determinant": 2,  # the gradient of MatrixInverse does not look at `adjoint`
    # the second gradient through a loop is None, and where another way leads past it, its part is missing
    **dict.fromkeys(LOOPS, 2),
}


def answered(pipe, program):
    """(what of the program TensorFlow can do, its answer); None: nothing that could be compared."""
    program = comparable(program)
    answer = pipe.ask(program)
    stumbled = [
        statement
        for statement, failure in zip(program["statements"], answer.get("build", ()))
        if failure and (any(words in failure for words in STUMBLES) or LESS_KNOWN.search(failure))
    ]
    stumbled += drawn_by_chance(program["statements"], answer.get("build", ()))
    if stumbled:
        return answered(pipe, without(program, stumbled))
    if beyond(answer):
        able = {name for name in fetches(program) if not beyond(pipe.ask(fetching(program, {name})))}
        program = fetching(program, able)
        answer = pipe.ask(program)
    if "broken" in answer or beyond(answer) or not fetches(program):
        return None
    text = json.dumps(program["statements"])
    if '"op": "guarded"' in text and any("error" in run for run in answer["runs"]):
        answer = pipe.ask(program, jit="pruned")  # what only a control edge asks for does not fail there
        if "broken" in answer or beyond(answer):
            return None
    failed = [k for k, run in enumerate(answer["runs"]) if "error" in run]
    if failed and any(f'"op": "{op}"' in text for op in SEEDED):
        # whether a random operation has drawn its numbers before another one fails is chance
        program = dict(program, runs=program["runs"][: failed[0] + 1])
        answer = dict(answer, runs=answer["runs"][: failed[0] + 1])
    met = nans_beside_padding(program["statements"], answer)
    if met:
        return answered(pipe, without(program, met))
    # of a loop's gradient, TensorFlow takes the shape before the first iteration for that after the last
    guessed = set().union(
        *(outs for _, outs, through in with_orders(program["statements"]) if any(through.get(op) for op in LOOPS))
    )
    static = {name: shape for name, shape in answer["static"].items() if name not in guessed}
    return program, dict(answer, static=static)


def drawn_by_chance(statements, failures):
    """The draws whose default seed depends on how far TensorFlow had come when it refused a gradient: in a loop, the order in
    which it visits nodes decides how many it has made by then."""
    refused = [k for k, (s, failure) in enumerate(zip(statements, failures)) if failure and '"op": "gradients"' in json.dumps(s)]
    if not refused or not any(f'"op": "{op}"' in json.dumps(statements) for op in LOOPS):
        return []
    return [s for s in statements[refused[0] :] if s["op"] in SEEDED and "seed" not in s.get("with", {})]


def fetches(program):
    return {name for run in program["runs"] for name in run["fetch"]}


def fetching(program, names):
    """The program with these fetches alone."""
    return dict(program, runs=[dict(run, fetch=[n for n in run["fetch"] if n in names]) for run in program["runs"]])


def comparable(program):
    """The program without the gradients that TensorFlow computes wrongly and what is made of them."""
    wrong = sorted_nans(program["statements"]) + divided_extremes(program["statements"])
    of_loops = set()
    for statement, outs, through in with_orders(program["statements"]):
        stopped = names(statement.get("with", {}).get("stop_gradients", []))
        # where a result of a loop is in stop_gradients, those of its other results are wrong
        if stopped & of_loops or any(order >= WRONG[op] for op, order in through.items()):
            wrong.append(statement)
        of_loops.update(outs if statement["op"] in LOOPS else ())
    return without(program, wrong)


def sorted_nans(statements):
    """The sorts of what may hold NaN, for it is a remainder by what may be 0: where NaN comes to stand is chance."""
    bounded, doubtful, found = set(), set(), []
    for statement in statements:
        if statement["op"] in ("mod", "floordiv") and not names(statement["in"][1]) & bounded or names(statement) & doubtful:
            doubtful |= made(statement)
        if statement["op"] == "maximum":
            bounded |= made(statement)
        if statement["op"] in ("sort", "argsort", "nn.top_k") and names(statement) & doubtful:
            found.append(statement)
    return found


def divided_extremes(statements):
    """The floor divisions of what may hold the lowest integer, which the largest element of nothing is.

    TensorFlow 1.15 takes -(|x| + |y| - 1) / |y| where the signs differ, and that sum overflows: it makes -2147483648 // 2 positive.
    """
    extreme, found = set(), []
    for statement in statements:
        if names(statement) & extreme:
            extreme |= made(statement)
            if statement["op"] in ("div", "floordiv"):
                found.append(statement)
        if statement["op"] in ("unsorted_segment_max", "unsorted_segment_min", "reduce_max", "reduce_min"):
            extreme |= made(statement)
    return found


def nans_beside_padding(statements, answer):
    """What TensorFlow makes NaN of the gradients through a padded conv3d.

    Whether a NaN is multiplied by the zeros of the padding is chance: TensorFlow's conv3d leaves them out, its conv2d does not.
    """
    nans = {
        name
        for run in answer["runs"]
        for name, value in run.get("values", {}).items()
        if value["dtype"] in FLOATS and np.isnan(array_of(value)).any()
    }
    padded, slopes, found = set(), set(), []
    for statement in statements:
        text = json.dumps(statement)
        if '"op": "nn.conv3d"' in text and '"SAME"' in text or names(statement) & padded:
            padded |= made(statement)
            if '"op": "gradients"' in text or names(statement) & slopes:
                slopes |= made(statement)
        if made(statement) & slopes & nans:
            found.append(statement)
    return found


def without(program, statements):
    """The program without these statements and what is made of them."""
    kept, gone = [], set()
    for statement in program["statements"]:
        if statement in statements or names(statement) & gone:
            gone |= made(statement)
        else:
            kept.append(statement)
    runs = [dict(run, feed={n: v for n, v in run["feed"].items() if n not in gone}) for run in program["runs"]]
    return fetching(dict(program, statements=kept, runs=runs), fetches(program) - gone)


def made(statement):
    """The names that a statement makes."""
    out = statement.get("out")
    return set(out if isinstance(out, list) else [out]) - {None}


def with_orders(statements):
    """[(statement, the names it makes, what `differentiated` says of them)]"""
    orders, found = {}, []
    for statement in statements:
        outs, through = made(statement), differentiated(statement, orders)
        orders.update((name, through) for name in outs)
        found.append((statement, outs, through))
    return found


def differentiated(statement, orders):
    """{operation of WRONG that the results depend on: how many times it was differentiated}"""
    text = json.dumps(statement)
    calls = text.count('"op": "gradients"')
    found = {op: calls for op in WRONG if f'"op": "{op}"' in text}
    of_ys = names(statement["in"][0]) if statement["op"] == "gradients" else names(statement) if calls else ()
    for name in names(statement):
        for op, order in orders.get(name, {}).items():
            found[op] = max(found.get(op, 0), order + (calls if name in of_ys else 0))
    return found


def beyond(answer):
    """Whether a run ended for what TensorFlow cannot do."""
    return any(
        run.get("error") == "UnimplementedError" or any(words in run.get("message", "") for words in LIMITS)
        for run in answer.get("runs", [])
    )
