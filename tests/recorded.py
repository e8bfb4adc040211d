"""Programs beside TensorFlow 1.15: what each leaves behind, recorded there and compared here.

A file ``programs.txt`` holds programs separated by lines ``# ---``, and before the first what goes before each.  A program may
set ``show`` (what to describe), ``fetch`` (what to run, in order, after the initializers), ``feed``, and ``counted = False`` where
the number of nodes is not TensorFlow's.  ``python recorded.py FOLDER`` under a Python with TensorFlow 1.15 prints what stands in
FOLDER/data/tf115_programs.json.
"""
import json
import sys
from pathlib import Path

import numpy as np

_OF_FRAMES = ("cond_context", "while_context")
_SHOWN = 16


def programs_of(folder):
    """{the text of each program: what TensorFlow made of it}"""
    return json.loads((Path(folder) / "data" / "tf115_programs.json").read_text())


def _described(value):
    if isinstance(value, dict):
        return {str(key): _described(one) for key, one in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [_described(one) for one in value]
    if hasattr(value, "name"):
        shape = getattr(value, "shape", "")
        return f"{value.name} {shape}".strip()
    return repr(value)


def _numbers(value):
    """The first elements of an array, and a number that depends on all of them."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        return [repr(array.tolist())]
    flat = array.astype(np.float64).ravel()
    weights = np.cos(np.arange(flat.size))
    found = [*flat[:_SHOWN], float(np.sum(flat * weights))]
    return [list(array.shape), [float(f"{one:.7g}") for one in found]]


def _leaves(value):
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _leaves(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for one in value for leaf in _leaves(one)]
    return [] if value is None else [value]


def outcome(tf, preamble, program, **session):
    """What a program leaves behind: its error, or names, collections, the number of nodes, initial values and results."""
    tf.reset_default_graph()
    tf.set_random_seed(1)
    names = {"tf": tf, "np": np, "rng": np.random.RandomState(0)}
    try:
        exec(preamble, names)
        exec(program, names)
        graph = tf.get_default_graph()
        keys = [key for key in graph.get_all_collection_keys() if key not in _OF_FRAMES and graph.get_collection(key)]
        found = {"nodes": graph._last_id if names.get("counted", True) else None, "show": _described(names.get("show")),
                 "collections": {key: _described(graph.get_collection(key)) for key in sorted(keys)}}
        fetch = names.get("fetch", [])
        with tf.Session(**session) as run:
            run.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            found["values"] = {v.op.name: _numbers(run.run(v)) for v in tf.global_variables()}
            found["results"] = [[_numbers(leaf) for leaf in _leaves(run.run(one, names.get("feed")))]
                                for one in (fetch if isinstance(fetch, list) else [fetch])]
        return found
    except NameError:
        raise
    except Exception as error:
        return {"error": type(error).__name__}


def texts(folder):
    """(what goes before each program, the programs) of a folder."""
    first, *programs = (Path(folder) / "programs.txt").read_text().split("# ---\n")
    return first, [program.strip("\n") for program in programs]


def check(tf, folder, program, **session):
    """Asserts that a program leaves behind here what it did in TensorFlow."""
    wanted = programs_of(folder)[program]
    found = outcome(tf, texts(folder)[0], program, **session)
    assert _parted(found)[0] == _parted(wanted)[0]
    for mine, theirs in zip(_parted(found)[1], _parted(wanted)[1]):
        assert mine[0] == theirs[0]
        if isinstance(theirs[-1], list):
            np.testing.assert_allclose(mine[-1], theirs[-1], rtol=2e-5, atol=2e-5)


def _parted(found):
    """(what must be equal, the numbers that may differ by rounding)"""
    exact = {key: value for key, value in found.items() if key not in ("values", "results")}
    exact["variables"] = sorted(found.get("values", {}))
    exact["results"] = [len(one) for one in found.get("results", [])]
    results = [one for many in found.get("results", []) for one in many]
    return exact, [found["values"][name] for name in exact["variables"]] + results


if __name__ == "__main__":
    import tensorflow

    tensorflow.compat.v1.logging.set_verbosity(tensorflow.compat.v1.logging.ERROR)
    preamble, programs = texts(sys.argv[1])
    lines = [f"{json.dumps(program)}: {json.dumps(outcome(tensorflow, preamble, program), sort_keys=True)}"
             for program in programs]
    print("{\n" + ",\n".join(lines) + "\n}")
