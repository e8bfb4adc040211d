"""What the calls of tests/facade/calls.py give: plain numbers, special ones, and operands that are views.

data/tf115_call_values.npz is written under TensorFlow 1.15 by ``python tests/ops/call_values.py``.
"""
import importlib.util
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "data" / "tf115_call_values.npz"
_spec = importlib.util.spec_from_file_location("graph_calls", HERE.parent / "facade" / "calls.py")
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 1e-30, 2.0]
WITH_SPECIAL = ("elementwise", "reductions", "arrays")      # families whose special values are defined
# how an operand is looked at where it is to be a view
TURNED = {
    "x": lambda tf, t: t[::-1], "i": lambda tf, t: t[:, ::-1], "b": lambda tf, t: t[::-1], "z": lambda tf, t: t[::-1, ::-1],
    "s": lambda tf, t: t[::-1], "u": lambda tf, t: t[::-1], "h": lambda tf, t: t[::-1], "m": lambda tf, t: tf.transpose(t),
    "c": lambda tf, t: t[::-1], "m0": lambda tf, t: t[:, ::-1], "v0": lambda tf, t: t[::-1], "y": lambda tf, t: t[:, ::-1],
    "f": lambda tf, t: t[:, ::-1],
}
# what is left out, by what stands in the call
LEFT_OUT = {
    "truncatediv": "TensorFlow has no error for it", "qr(": "signs are free", "svd(": "signs are free", "eig(": "signs are free",
    "expm": "differs by some 1e-4", "encode_png": "other bytes of the same image", "jpeg": "another library's roundings",
    "ctc_loss(p32": "TensorFlow reads outside of its table", "learned_unigram": "not under this name",
    "tridiagonal_solve": "TensorFlow 1.15 has no such function",
    **dict.fromkeys(["random", "truncated_normal", "dropout", "multinomial", "sample", "nce_loss"], "another run, other numbers"),
}


def fed(kind):
    """The values of the placeholders: "plain" or "special"."""
    rng = np.random.RandomState(10)
    draw = (lambda *s: rng.uniform(-2, 2, s)) if kind == "plain" else lambda *s: rng.choice(SPECIAL, s)
    real = lambda *s: draw(*s).astype(np.float32)
    return {"x": real(2, 3), "i": rng.randint(0, 3, (2, 3)), "b": rng.rand(2, 3) > 0.5, "z": real(2, 3) + 1j * real(2, 3),
            "s": np.array([b"12", b"7.5"], object), "t": np.array(b"12", object), "u": real(2, 3), "h": real(3, 2),
            "m": real(3, 3) + 3 * np.eye(3, dtype=np.float32), "c": real(2, 3, 4), "m0": real(2, 3), "v0": real(3),
            "y": rng.rand(1, 4, 4, 3).astype(np.float32), "f": real(2, 2, 3, 3)}


def cases():
    """(call, whether its operands are views, kind of values)"""
    for family, call in calls.calls():
        if not any(words in call for words in LEFT_OUT):
            for turned in (False, True):
                yield call, turned, "plain"
                if family in WITH_SPECIAL:
                    yield call, turned, "special"


def _tensors(tf, value):
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, tf.SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    if isinstance(value, tf.IndexedSlices):
        return [value.values, value.indices]
    if isinstance(value, (list, tuple)):
        return [tensor for part in value for tensor in _tensors(tf, part)]
    return [value] if isinstance(value, (tf.Tensor, tf.Variable)) else []


def answers(tf, call, turned, kind, session, runs=1):
    """What each run gives: a list of arrays, or the class of the error; None for a call without tensors."""
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        names = calls.arguments(tf)
        values = {names[name]: value for name, value in fed(kind).items()}
        if turned:
            names.update((name, turn(tf, names[name])) for name, turn in TURNED.items())
        try:
            fetched = _tensors(tf, eval(call, names))
        except Exception:
            return None
        if not fetched:
            return None
        with session() as found:
            found.run(tf.global_variables_initializer())
            found.run(tf.tables_initializer())
            return [_run(tf, found, fetched, values) for _ in range(runs)]


def _run(tf, session, fetched, values):
    try:
        return [np.asarray(value) for value in session.run(fetched, values)]
    except tf.errors.OpError as error:
        return type(error).__name__


def main():
    import tensorflow as tf

    stored = {}
    for number, (call, turned, kind) in enumerate(cases()):
        found = answers(tf, call, turned, kind, tf.Session)
        if found is not None:
            result = [np.array(found[0])] if isinstance(found[0], str) else found[0]
            for k, value in enumerate(result):
                stored[f"{number}/{k}"] = value.astype(np.bytes_) if value.dtype == object else value
    np.savez_compressed(RECORDED, **stored)


if __name__ == "__main__":
    main()
