"""How far rounding may move what a program computes: Monte Carlo arithmetic (Parker, 1997) with jitgraph's reference.

Each operation is computed from inputs that are moved at random by a few units in the last place, and its result is moved
likewise; that of a sum of n terms, or one divided by such a sum, as far as n roundings come at random, sqrt(n) times as far
and all of it together.  What is exact, since a wider dtype gives the same, stays as it is.  The spread of a few such runs
says what the program's cancellations, saturations and small divisors make of one rounding.
"""

import contextlib

import numpy as np

UNITS = 2  # units in the last place by which inputs and results move at most: as much as good elementary functions err
TRIALS = 24
ALLOWED = 4  # how many times the spread of so few trials two honest answers may lie apart
# ops whose results err by the largest of them, even where one comes out exact
MIXING = (".linalg.matrix_ops", ".signal.fft", ".nn.batch_norm")
BESIDE_ONE = ("Elu", "Selu")  # which TensorFlow computes by exp(x) - 1, and loses what is small beside 1
# which TensorFlow computes by one formula for four elements at once and by another for those that are left over, so that equal
# inputs give results that differ by a rounding
BY_PLACE = "Acos Acosh Asin Cos Elu Exp Expm1 LRN Log Log1p Rsqrt Selu Sigmoid Sin Softplus Sqrt".split()
WIDER = {  # dtype: a wider one, and the distance of its numbers from 1 on
    "float16": (np.float64, 2.0**-10),
    "bfloat16": (np.float64, 2.0**-7),
    "float32": (np.float64, 2.0**-23),
    "float64": (np.longdouble, 2.0**-52),
    "complex64": (np.complex128, 2.0**-23),
    "complex128": (np.clongdouble, 2.0**-52),
}


@contextlib.contextmanager
def moved(seed):
    """While it lasts, jitgraph's reference rounds otherwise, at random with this seed."""
    from jitgraph.runtime import hostcall

    call, random = hostcall.call, np.random.RandomState(seed)

    def moving(op, arrays, state):
        plain = call(op, arrays, state)
        if not op.opdef.pure or not any(map(is_rounded, plain)):
            return plain
        if op.type in BESIDE_ONE:
            return tuple(blurred(nudged(one, random), random, least=1.0) for one in plain)
        wide = attempted(lambda: meaning(op, [widened(a) for a in arrays]))
        mixes = op.opdef.value.__module__.endswith(MIXING)
        kept = [
            same(one, wide and wide[k] if op.type == "Cast" or widens(arrays, one, wide and wide[k]) else None)
            & (not mixes or not is_rounded(one))
            & (terms(op, arrays, one) < 2 or not absorbing(arrays) and adds_exactly(op, arrays, state, call, k))
            for k, one in enumerate(plain)
        ]
        if all(map(np.all, kept)):
            return plain
        alike = not mixes and all(terms(op, arrays, one) < 2 for one in plain)      # each term of a sum is rounded by itself
        # a matrix is decomposed as one that lies as near to it as rounding reaches from its largest element, also at its zeros
        near = [blurred(a, random) if mixes else nudged(a, random, alike) for a in arrays]
        others = attempted(lambda: call(op, near, state)) or plain
        found = [
            np.where(k, p, nudged(o if o.shape == p.shape else p, random, op.type not in BY_PLACE, sources=sources(op, arrays, p),
                                  together=np.sqrt(terms(op, arrays, p) - 1)))
            for k, p, o in zip(kept, plain, others)
        ]
        return tuple(blurred(one, random) for one in found) if mixes else tuple(found)

    hostcall.call = moving
    try:
        yield
    finally:
        hostcall.call = call


def is_rounded(array):
    """Whether it is an array of floats."""
    return isinstance(array, np.ndarray) and array.dtype.name in WIDER


def attempted(function):
    """What the function gives; None where it cannot do with such inputs."""
    try:
        return function()
    except Exception:
        return None


def widened(array):
    return array.astype(WIDER[array.dtype.name][0]) if is_rounded(array) else array


def widens(arrays, plain, wide):
    """Whether a wider dtype of what goes in made the result wider: some operations give float32 for all, and prove nothing."""
    return not is_rounded(plain) or np.asarray(wide).dtype != plain.dtype or not any(map(is_rounded, arrays))


def terms(op, arrays, result):
    """How many terms are added up for a number of the result: what goes in for each, and in softmax the row."""
    rounded = [array for array in arrays if is_rounded(array)]
    if "Softmax" in op.type and rounded and rounded[0].ndim:
        return max(rounded[0].shape[-1], 1)
    return max([array.size // max(np.size(result), 1) for array in rounded], default=1) or 1


def sources(op, arrays, result):
    """Of an elementwise function, what goes in for each number of the result: where it saturates, equal numbers have come about
    in different ways, and are rounded each by itself.  None for other operations."""
    if op.opdef.scalar is None or not is_rounded(result):
        return None
    return [np.broadcast_to(array, result.shape) for array in arrays]


def absorbing(arrays):
    """Whether a wider dtype, too, loses the smallest of these numbers beside the largest, so that it proves nothing."""
    for array in filter(is_rounded, arrays):
        sizes = np.abs(array[np.isfinite(array) & (array != 0)])
        wide, _ = WIDER[array.dtype.name]
        if sizes.size and sizes.min() < np.finfo(wide).eps * sizes.max().astype(wide):
            return True
    return False


def adds_exactly(op, arrays, state, call, k):
    """Whether the terms of a sum need no rounding, as the same of absolute values tells: where terms cancel, they are gone from
    the result, and not from what another order makes of them."""
    sizes = [np.abs(a) if is_rounded(a) else a for a in arrays]
    plain = attempted(lambda: call(op, sizes, state))
    wide = attempted(lambda: meaning(op, [widened(a) for a in sizes]))
    if plain is None or wide is None or not np.all(same(plain[k], wide[k])):
        return False
    if op.type != "Mean":
        return True
    # the mean of equal numbers is one of them, but what they come to on the way may have no place in their dtype
    total = wide[k] * terms(op, sizes, plain[k])
    return bool(np.all(same(total.astype(plain[k].dtype), total)))


def meaning(op, arrays):
    """The results of an operation for these arrays, by its meaning."""
    from jitgraph.runtime import hostcall

    return hostcall.HostCall(op, None).meaning(arrays)


def nudged(array, random, alike=True, together=0.0, sources=None):
    """The array with its floats moved by some units in the last place.

    alike: equal ones by as much, as a function rounds them; else each by itself, so that what was symmetric is not.
    sources: arrays that tell which are equal, if not their own values.  together: how many times as far all of them are moved at
    once.
    """
    if not is_rounded(array):
        return array
    wide, step = WIDER[array.dtype.name]
    precise = array.astype(wide)
    if alike:
        groups = np.zeros(array.size, np.int64)
        for source in [precise] if sources is None else sources:
            values, places = np.unique(source, return_inverse=True)
            _, groups = np.unique(groups * len(values) + places.ravel(), return_inverse=True)
        far = random.uniform(-1, 1, groups.max(initial=0) + 1)[groups].reshape(array.shape)
    else:
        far = random.uniform(-1, 1, array.shape)
    return np.asarray(precise * (1 + UNITS * step * (far + together * random.uniform(-1, 1))), array.dtype)


def blurred(array, random, least=0.0):
    """The array with every element moved by some units in the last place of the largest, or of `least` if that is larger."""
    if not is_rounded(array) or not array.size:
        return array
    largest = max(np.abs(np.where(np.isfinite(array), array, 0)).max(), least)
    return array + (largest * UNITS * WIDER[array.dtype.name][1] * random.uniform(-1, 1, array.shape)).astype(array.dtype)


def same(plain, wide):
    """The elements that are the same in a wider dtype."""
    if not is_rounded(plain):
        return True
    if wide is None or np.shape(wide) != plain.shape:
        return False
    return (plain == wide) | np.isnan(plain) & np.isnan(wide)


def spread(plain, others):
    """How far each element of an array moves at most; infinite where it is finite in some of the answers only."""
    with np.errstate(all="ignore"):
        far = [np.where(plain == other, 0, np.abs(plain - other)) for other in others]
        both_nan = [np.isnan(plain) & np.isnan(other) for other in others]
    return np.max([np.where(nan, 0, np.where(np.isnan(one), np.inf, one)) for one, nan in zip(far, both_nan)], axis=0)
