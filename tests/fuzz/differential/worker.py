"""Answers programs over a pipe: `python -m differential.worker tensorflow|jitgraph` (Python 3.7 or later).

Each line of stdin is a program and how to run it; each answer is 8 bytes of length and a pickle of plain data.
"""

import contextlib
import json
import os
import pickle
import struct
import sys


def module(name):
    """(module, session of a jit mode) that answers."""
    if name == "jitgraph":
        import jitgraph

        return jitgraph, lambda jit: lambda: jitgraph.Session(jit=jit)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf
    from tensorflow.core.protobuf import config_pb2

    tf.logging.set_verbosity(tf.logging.ERROR)

    def session(jit):
        """One thread, and no rewriting of the graph, which would move errors and roundings."""
        config = config_pb2.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        config.graph_options.optimizer_options.opt_level = -1
        return lambda: tf.Session(config=config)

    return tf, session


def main():
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the programs print must not get into the pipe
    tf, session = module(sys.argv[1])
    import numpy as np

    from . import roundings
    from .answers import answer

    np.seterr(all="ignore")
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            with roundings.moved(asked["seed"]) if asked["seed"] is not None else contextlib.nullcontext():
                found = answer(tf, asked["program"], session(asked["jit"]), asked["wide"])
        except Exception as error:
            found = {"broken": f"{type(error).__name__}: {str(error)[:600]}"}
        data = pickle.dumps(found, 4)
        pipe.write(struct.pack("<q", len(data)) + data)
        pipe.flush()


if __name__ == "__main__":
    main()
