"""Records what TensorFlow 1.15 gives for the cases of this folder: run it with a Python that has TensorFlow 1.15.

    python tests/ops/recorded/record.py            # all files of cases
    python tests/ops/recorded/record.py image      # tests/ops/recorded/image.npz from image.py

A file of cases has a function ``cases(tf)`` that returns {name: function without arguments that builds a graph and
returns what to fetch, or (what to fetch, feed_dict)}.
"""
import importlib.util
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name):
    spec = importlib.util.spec_from_file_location("cases_of_" + name, os.path.join(HERE, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def flat(value):
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in flat(part)]
    return [np.asarray(value)]


def run(tf, build, **options):
    """The arrays that a case gives in a graph of its own."""
    with tf.Graph().as_default() as graph:
        fetches = build()
        feeds = None
        if isinstance(fetches, tuple) and len(fetches) == 2 and isinstance(fetches[1], dict):
            fetches, feeds = fetches
        with tf.Session(graph=graph, **options) as session:
            return flat(session.run(fetches, feeds))


def record(tf, name):
    found = {}
    for case, build in load(name).cases(tf).items():
        try:
            arrays = run(tf, build)
        except Exception as error:
            found[case + "|error"] = np.array(type(error).__name__.encode())
            print(case, type(error).__name__, str(error).split("\n")[0][:120])
            continue
        for i, array in enumerate(arrays):
            found[f"{case}|{i}"] = array.astype("S") if array.dtype == object else array
    np.savez_compressed(os.path.join(HERE, name + ".npz"), **found)


def main():
    import tensorflow as tf

    names = sys.argv[1:] or sorted(f[:-3] for f in os.listdir(HERE) if f.endswith(".py") and f != "record.py")
    for name in names:
        record(tf, name)


if __name__ == "__main__":
    sys.exit(main())
