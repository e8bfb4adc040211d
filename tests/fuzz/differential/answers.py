"""What a module answers to a program: plain data, which a pipe can carry and a file can hold."""

import numpy as np

from . import values
from .build import Build


def plain(array):
    """{"dtype", "shape", "bytes" or "list"} of an array or scalar."""
    array = np.asarray(array)
    if array.dtype.kind in "OSU":
        items = [v if isinstance(v, bytes) else str(v).encode() for v in array.ravel().tolist()]
        return {"dtype": "string", "shape": array.shape, "list": items}
    name = array.dtype.name
    if name == "bfloat16":
        array = array.astype(np.float32)
    return {"dtype": name, "shape": array.shape, "bytes": np.ascontiguousarray(array).tobytes()}


def array_of(answer):
    if "array" in answer:
        return answer["array"]
    if "list" in answer:
        found = np.empty(len(answer["list"]), object)
        found[:] = answer["list"]
        return found.reshape(answer["shape"])
    name = "float32" if answer["dtype"] == "bfloat16" else answer["dtype"]
    return np.frombuffer(answer["bytes"], name).reshape(answer["shape"])


def static_shape(tensor):
    shape = getattr(tensor, "shape", None)
    if shape is None:
        return None
    return "unknown" if shape.ndims is None else [None if d is None else int(d) for d in shape.as_list()]


def failure(error):
    return {"error": type(error).__name__, "message": str(error)[:600]}


def feeds(run, named, wide):
    return {named[name]: values.make(spec, wide) for name, spec in run["feed"].items() if name in named}


def fetched(session, run, named, wide):
    """The values of one run, by name."""
    names = [name for name in run["fetch"] if name in named]
    try:
        found = session.run([named[name] for name in names], feeds(run, named, wide))
    except Exception as error:
        return failure(error)
    return {"values": {name: plain(value) for name, value in zip(names, found) if value is not None}}


def answer(tf, program, session, wide=False):
    """{"build": what each statement raised, "static": shapes, "runs": values or errors}.

    session: a function of no arguments that makes a session; wide: see `Build`.
    """
    with tf.Graph().as_default():
        if program.get("seed") is not None:
            tf.set_random_seed(program["seed"])
        built = Build(tf, program, wide)
        result = {
            "build": built.failures,
            "static": {name: static_shape(t) for name, t in built.named.items() if isinstance(t, tf.Tensor)},
        }
        if not built.named:
            return dict(result, runs=[])
        with session() as opened:
            opened.run(tf.global_variables_initializer())
            result["runs"] = [fetched(opened, run, built.named, wide) for run in program["runs"]]
    return result
