"""What generators draw: run by both, see test_generator.py.  ``python generator_programs.py`` prints TensorFlow's answers."""
import json
import sys

import numpy as np

SHAPES = ([], [3], [2, 5])


def _text(value):
    value = np.asarray(value)
    return [value.dtype.name, list(value.shape), value.ravel().astype(object).tolist()]


def programs(tf):
    """{name: what gives the tensors to run, in order}"""
    make = tf.random.experimental.Generator

    def draws(generator):
        found = []
        for shape in SHAPES:
            for dtype in (tf.float16, tf.float32, tf.float64):
                found += [generator.normal(shape, 1.0, 2.0, dtype), generator.uniform(shape, -1.0, 3.0, dtype),
                          generator.truncated_normal(shape, dtype=dtype)]
            for dtype in (tf.int32, tf.int64):
                found.append(generator.uniform(shape, -5, 10 ** 9, dtype))
            for dtype in (tf.int32, tf.int64, tf.uint32, tf.uint64):
                found.append(generator.uniform_full_int(shape, dtype))
        return [*found, generator.make_seeds(3), generator.state.read_value(), generator.key]

    def skipped():
        generator = make.from_key_counter(5, [2 ** 63 - 1, 7], 1)
        generator.skip(10)
        return [tf.get_default_graph().get_operations()[-1], generator.state.read_value(), generator.normal([2])]

    def far():
        generator = make.from_state([-1, 3, 2 ** 64 - 5], 1)
        return [generator.uniform([3]), generator.state.read_value(), generator.uniform([3])]

    def again():
        generator = make.from_seed(3)
        generator.reset_from_seed(77)
        reset = tf.get_default_graph().get_operations()[-1]
        return [generator.normal([2]), reset, generator.normal([2])]

    def of_state(array, algorithm=1):
        state = tf.Variable(array)
        return [tf.raw_ops.StatefulUniform(resource=state.handle, algorithm=algorithm, shape=[3])]

    return {
        "seed": lambda: draws(make.from_seed(1234)), "long seed": lambda: draws(make.from_seed(2 ** 200 + 12345)),
        "list": lambda: draws(make.from_seed([2 ** 64 - 1, 5])),
        "skip": skipped, "far": far, "again": again,
        "threefry": lambda: [make.from_seed(5, 2).normal([2])], "algorithm 3": lambda: [make.from_seed(5, 3)],
        "no bound": lambda: [make.from_seed(5).uniform([2], dtype=tf.int32)],
        "empty range": lambda: [make.from_seed(5).uniform([2], 5, 5, dtype=tf.int32)],
        "wrong state": lambda: [make.from_state([1, 2], 1)],
        "short state": lambda: of_state(np.array([1, 2])), "state of floats": lambda: of_state(np.zeros(3)),
        "state of rank 2": lambda: of_state(np.zeros((1, 3), np.int64)),
        "algorithms": lambda: of_state(np.zeros(3, np.int64), [1, 1]),
        "split": lambda: make.from_seed(1).split(2),
        "states": lambda: [tf.constant(tf.random.experimental.create_rng_state(seed, algorithm))
                           for seed in (0, -1, 2 ** 130 + 5, [1], [1, 2, 3, 4]) for algorithm in (1, 2)],
        "rank of seeds": lambda: [tf.constant(tf.random.experimental.create_rng_state([[1]], 1))],
    }


def outcome(tf, build, **session):
    """[dtype, shape, elements] of each result, or the class of the error; and the types of the nodes."""
    tf.reset_default_graph()
    try:
        with tf.variable_scope("", use_resource=True):
            fetches = build()
        with tf.Session(**session) as run:
            run.run(tf.global_variables_initializer())
            found = [_text(run.run(one)) if hasattr(one, "dtype") else run.run(one) for one in fetches]
    except Exception as error:
        return {"error": type(error).__name__}
    return {"values": found, "types": sorted({op.type for op in tf.get_default_graph().get_operations()})}


if __name__ == "__main__":
    import tensorflow

    tensorflow.compat.v1.enable_resource_variables()
    print("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(outcome(tensorflow, build))}"
                             for name, build in programs(tensorflow).items()) + "\n}")
    sys.exit(0)
