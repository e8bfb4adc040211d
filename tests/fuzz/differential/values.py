"""Arrays as data: what a program feeds and its constants are said by a few words, from which every machine makes the same."""

import numpy as np

FLOATS = ("float16", "float32", "float64", "bfloat16")
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 0.5, -2.5, 1e-30, 3.0]
WORDS = [b"", b"a", b"B", b"abc", b"a b", b"12", b"-3.5", b"Hello World", b"\xc3\xa9t\xc3\xa9", b"x,y,z", b"aaaa"]
WIDER = {"float16": "float64", "float32": "float64", "bfloat16": "float64", "complex64": "complex128"}


def make(spec, wide=False):
    """The array of {"dtype", "shape", and "list" or "seed" with "low", "high", "grain" or "special"}.

    Numbers are whole multiples of 2 ** -grain, so that sums and products of a few are exact in any order.
    """
    name = spec["dtype"]
    dtype = np.dtype(object if name == "string" else WIDER.get(name, name) if wide else "float32" if name == "bfloat16" else name)
    if "list" in spec:
        values = (
            [v.encode() for v in spec["list"]] if name == "string" else [float(v) if name in FLOATS else v for v in spec["list"]]
        )
        return np.array(values, dtype).reshape(spec["shape"])
    rng, shape = np.random.RandomState(spec["seed"]), tuple(spec["shape"])
    if name == "string":
        return np.array([WORDS[i] for i in rng.randint(0, len(WORDS), shape).ravel()] or [], object).reshape(shape)
    if spec.get("permutation"):
        return rng.permutation(int(np.prod(shape))).reshape(shape).astype(dtype)
    if spec.get("special"):
        return np.array(SPECIAL)[rng.randint(0, len(SPECIAL), shape)].astype(dtype).reshape(shape)
    if name == "bool":
        return rng.randint(0, 2, shape).astype(bool).reshape(shape)
    scale = 2 ** spec.get("grain", 0)

    def numbers():
        return np.asarray(rng.randint(int(spec["low"] * scale), int(spec["high"] * scale) + 1, shape)) / (scale if scale > 1 else 1)

    if dtype.kind == "c":
        return (numbers() + 1j * numbers()).astype(dtype)
    drawn = numbers()
    if spec.get("sorted"):
        drawn = np.sort(drawn.ravel()).reshape(shape)
    return drawn.astype(dtype)
