"""Answers programs over a pipe: `python -m differential.worker tensorflow|jitgraph` (Python 3.7 or later).

Each line of stdin is a program and how to run it; each answer is 8 bytes of length and a pickle of plain data.
"""

import contextlib
import json
import os
import pickle
import struct
import sys

REWRITES = (
    "constant_folding", "shape_optimization", "remapping", "arithmetic_optimization", "loop_optimization",
    "function_optimization", "debug_stripper", "scoped_allocator_optimization", "pin_to_host_optimization",
    "implementation_selector", "layout_optimizer",
)


def module(name):
    """(module, session of a jit mode) that answers."""
    if name == "jitgraph":
        import jitgraph

        return jitgraph, lambda jit: lambda: jitgraph.Session(jit=jit)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf
    from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2

    tf.logging.set_verbosity(tf.logging.ERROR)

    def session(jit):
        """One thread, and no rewriting of the graph, which would move errors and roundings.

        With jit "pruned", that one rewrite which leaves out what only control edges ask for and has no effect.
        """
        config = config_pb2.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        config.graph_options.optimizer_options.opt_level = -1
        rewrites, states = config.graph_options.rewrite_options, rewriter_config_pb2.RewriterConfig
        rewrites.disable_meta_optimizer = jit != "pruned"
        if jit == "pruned":
            rewrites.min_graph_nodes = -1
            rewrites.memory_optimization = states.NO_MEM_OPT
            for name in REWRITES:
                setattr(rewrites, name, states.OFF)
            rewrites.dependency_optimization = states.ON
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
