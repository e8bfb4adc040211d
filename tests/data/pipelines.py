"""Pipelines of tf.data, whose elements, nodes, types and shapes are compared with TensorFlow 1.15's.

data/tf115_pipelines.json is written under TensorFlow 1.15 by ``python tests/data/pipelines.py``.
"""
import collections
import json
import os

import numpy as np

Point = collections.namedtuple("Point", ["x", "y"])

SOURCES = """
D.range(5) | D.range(2, 9, 3) | D.range(5, 0, -2) | D.range(0) | D.from_tensors(3) | D.from_tensors([[1., 2.], [3., 4.]])
D.from_tensors((1, "a")) | D.from_tensors({"b": 1, "a": [2, 3]}) | D.from_tensors(Point(1, 2.))
D.from_tensors(((1, 2), {"k": 3})) | D.from_tensor_slices([1, 2, 3]) | D.from_tensor_slices(([1, 2], ["x", "y"]))
D.from_tensor_slices({"a": [1., 2.], "b": [[3], [4]]}) | D.from_tensor_slices(Point([1, 2], [[3.], [4.]]))
D.from_tensor_slices(np.arange(6).reshape(3, 2)) | D.from_tensor_slices(tf.constant([[1, 2]])) | D.from_tensors(sparse())
D.from_tensor_slices(sparse()) | D.from_tensor_slices((sparse(), [1, 2])) | D.from_sparse_tensor_slices(sparse())
D.from_generator(count, tf.int64) | D.from_generator(count, tf.int64, [])
D.from_generator(pairs, (tf.int32, tf.float32), ([], [None])) | D.from_generator(dicts, {"a": tf.int32, "b": tf.string})
D.from_generator(upto, tf.int64, args=[3]) | D.from_generator(lambda: [], tf.int32)
"""
SHAPES = """
D.range(7).batch(3) | D.range(7).batch(3, drop_remainder=True) | D.range(4).batch(2).batch(2) | pairs3.batch(2)
D.range(6).batch(6) | dicts3.batch(2) | named3.batch(2) | D.range(0).batch(2) | D.from_tensor_slices(sparse()).batch(2)
D.from_tensors(sparse()).batch(1) | rows.padded_batch(2, [None]) | rows.padded_batch(3, [5])
rows.padded_batch(2, [None], tf.constant(-1, tf.int64)) | rows.padded_batch(2, [None], drop_remainder=True)
rows.map(lambda x: (x, tf.size(x))).padded_batch(2, ([None], []), (tf.constant(9, tf.int64), 0))
rows.map(lambda x: {"a": x, "n": tf.size(x)}).padded_batch(2, {"a": [4], "n": []}) | rows.padded_batch(4, tf.TensorShape([None]))
rows.map(lambda x: tf.as_string(x)).padded_batch(2, [None]) | rows.map(lambda x: tf.as_string(x)).padded_batch(2, [None], "-")
rows.padded_batch(2, tf.constant([-1], tf.int64)) | D.range(3).padded_batch(2, []) | D.range(6).batch(3).unbatch()
pairs3.batch(2).unbatch() | D.from_tensor_slices(sparse()).batch(2).unbatch()
"""
ORDER = """
D.range(4).repeat(2) | D.range(4).repeat(0) | D.range(3).repeat().take(7) | D.range(5).take(2) | D.range(5).take(-1)
D.range(3).take(0) | D.range(5).skip(3) | D.range(3).skip(9) | D.range(3).skip(-1) | D.range(7).shard(3, 1)
D.range(2).concatenate(D.range(7, 9)) | D.zip((D.range(3), D.range(5, 9))) | D.zip({"a": D.range(2), "b": pairs3})
D.zip(D.range(2)) | D.zip((D.range(2), (D.range(3), D.range(4)))) | pairs3.concatenate(pairs3)
D.from_tensors([1, 2]).concatenate(D.from_tensors([1, 2, 3])) | D.range(4).cache() | D.range(4).cache().repeat(2)
D.range(4).prefetch(2) | D.range(4).prefetch(0) | D.range(4).prefetch(tf.data.experimental.AUTOTUNE)
D.range(3).apply(lambda d: d.take(1)) | D.range(7).window(3).flat_map(lambda w: w.batch(3))
D.range(7).window(3, 1, 2, True).flat_map(lambda w: w.batch(3)) | D.range(7).window(2, shift=3).flat_map(lambda w: w)
D.range(9).window(3, 2, drop_remainder=True).flat_map(lambda w: w.batch(3))
pairs3.window(2).flat_map(lambda a, b: D.zip((a.batch(2), b.batch(2))))
D.range(5).window(2).map(lambda w: w.reduce(np.int64(0), lambda s, x: s + x)) | D.range(3).enumerate()
D.range(3).enumerate(start=7) | D.range(10).with_options(tf.data.Options()) | D.range(5).reduce(np.int64(0), lambda s, x: s + x)
pairs3.reduce((0, 0.), lambda s, x: (s[0] + 1, s[1] + x[1]))
"""
FUNCTIONS = """
D.range(4).map(lambda x: x * 2) | D.range(4).map(lambda x: (x, x * x)) | pairs3.map(lambda a, b: b)
pairs3.map(lambda a, b: {"s": a, "t": (b, b)}) | dicts3.map(lambda d: d["a"] + 1) | named3.map(lambda p: p.x)
D.range(3).map(lambda x: [x, x + 1]) | D.range(3).map(lambda x: 5) | D.range(3).map(lambda x: x + shift)
D.range(4).map(lambda x: x + 1, num_parallel_calls=2) | D.range(3).map(lambda x: tf.fill([x], x))
D.range(3).map(lambda x: tf.py_func(lambda v: v * 2, [x], tf.int64))
D.range(3).map(lambda x: tf.cond(x > 1, lambda: x, lambda: -x))
D.range(3).map(lambda x: tf.while_loop(lambda i: i < x, lambda i: i + 1, [tf.constant(0, tf.int64)])) | pairs3.map(lambda *e: e)
D.range(3).map(lambda x: tf.SparseTensor([[x]], [x], [4]))
D.from_tensor_slices(sparse()).map(lambda s: tf.sparse_tensor_to_dense(s)) | D.range(6).filter(lambda x: tf.equal(x % 2, 0))
pairs3.filter(lambda a, b: a > 1) | D.range(6).filter(lambda x: x > 9)
D.range(4).flat_map(lambda x: D.from_tensors(x).repeat(x)) | D.range(3).flat_map(lambda x: D.range(x))
D.range(0).flat_map(lambda x: D.range(x)) | D.range(1, 4).interleave(lambda x: D.from_tensors(x).repeat(3), 2, 2)
D.range(1, 6).interleave(lambda x: D.range(x), cycle_length=3)
D.range(1, 6).interleave(lambda x: D.range(x), 2, 1, num_parallel_calls=2) | D.range(2).interleave(lambda x: D.range(x), 4, 3)
D.range(3).map_with_legacy_function(lambda x: x + 1) | D.range(3).filter_with_legacy_function(lambda x: x > 0)
"""
SEEDED = """
D.range(10).shuffle(10, seed=5) | D.range(10).shuffle(3, seed=5) | D.range(10).shuffle(3) | D.range(10).shuffle(1)
D.range(6).shuffle(4, 1).repeat(3) | D.range(6).shuffle(6, 1).repeat(3)
D.range(6).shuffle(6, 1, reshuffle_each_iteration=False).repeat(3) | D.range(6).shuffle(6).repeat(2)
D.range(6).repeat(3).shuffle(6, 2) | D.range(10).shuffle(10, 3).shuffle(10, 4) | D.range(10).shuffle(5, 3).batch(2).repeat(2)
D.range(6).shuffle(6, 1).map(lambda x: x + 1).repeat(2) | D.range(6).shuffle(6, 1).repeat(1)
D.range(6).shuffle(6, 1).repeat().take(20) | D.range(3).flat_map(lambda x: D.range(5).shuffle(5, 2))
D.range(3).flat_map(lambda x: D.range(5).shuffle(5, 2)).repeat(2) | D.range(4).flat_map(lambda x: D.range(5).shuffle(5))
D.range(3).interleave(lambda x: D.range(4).shuffle(4, 2), 2) | D.range(5).shuffle(5, 0)
D.range(4).map(lambda x: tf.random_uniform([2])) | D.range(4).map(lambda x: tf.random_uniform([], seed=3))
D.range(6).shuffle(6, tf.constant(7, tf.int64)) | D.range(4).map(lambda x: tf.random_uniform([])).repeat(2)
D.range(8).shuffle(4, 9).skip(2) | D.range(6).shuffle(6, 1).cache().repeat(2) | D.range(6).apply(E.shuffle_and_repeat(6, 2, 4))
D.range(6).apply(E.shuffle_and_repeat(3, 2)) | E.RandomDataset(4).take(5) | E.RandomDataset().take(3)
D.range(6).shuffle(6).shuffle(6) | D.zip((D.range(5).shuffle(5, 1), D.range(5).shuffle(5, 1)))
D.zip((D.range(5).shuffle(5, 1), D.range(5).shuffle(5, 1))).repeat(2)
D.range(5).shuffle(5, 1).concatenate(D.range(5).shuffle(5, 1)).repeat(2)
E.sample_from_datasets([D.range(9), D.range(10, 19)], seed=3)
E.sample_from_datasets([D.range(9), D.range(10, 19), D.range(20, 29)], [.2, .3, .5], seed=5)
E.sample_from_datasets([D.range(3), D.range(10, 19)])
"""
EXPERIMENTAL = """
D.range(40).apply(E.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [.9, .1], [.5, .5], seed=1))
D.range(40).apply(E.rejection_resample(lambda x: tf.cast(x % 3, tf.int32), [.6, .3, .1], seed=1))
E.sample_from_datasets([D.range(9), D.range(10, 19)], D.from_tensors([.2, .8]).repeat(), seed=3)
D.range(4).apply(C.assert_element_shape([])) | D.range(1, 5).apply(C.sloppy_interleave(lambda x: D.range(x), 1))
D.range(5).apply(E.enumerate_dataset(2)) | D.range(6).batch(3).apply(E.unbatch())
D.from_tensor_slices([1, 2, 1, 3, 2]).apply(E.unique()) | D.range(6).apply(E.map_and_batch(lambda x: x * 2, 4))
D.range(6).apply(E.map_and_batch(lambda x: x * 2, 4, drop_remainder=True))
D.from_tensor_slices([1., 2., 0., 4.]).map(lambda x: tf.check_numerics(1. / x, "bad")).apply(E.ignore_errors())
D.range(10).apply(E.group_by_window(lambda x: x % 2, lambda k, w: w.batch(3), 3))
D.range(5).apply(E.scan(np.int64(0), lambda s, x: (s + x, s * x)))
D.range(10).apply(E.group_by_window(lambda x: x % 3, lambda k, w: w.batch(9), window_size_func=lambda k: k + 1))
D.range(10).apply(E.take_while(lambda x: x < 4)) | E.choose_from_datasets([D.range(4), D.range(10, 14)], D.range(2).repeat(3))
E.Counter(3, 2).take(4)
D.range(7).apply(E.group_by_reducer(lambda x: x % 2, E.Reducer(lambda k: np.int64(0), lambda s, x: s + x, lambda s: s * 10)))
D.range(1, 6).apply(E.parallel_interleave(lambda x: D.range(x), cycle_length=2, block_length=2))
rows.apply(E.bucket_by_sequence_length(tf.size, [2, 4], [2, 2, 2])) | rows.apply(E.dense_to_sparse_batch(2, [5]))
rows.apply(E.bucket_by_sequence_length(tf.size, [2, 4], [2, 2, 2], padding_values=tf.constant(-1, tf.int64)))
D.range(5).apply(C.batch_and_drop_remainder(2)) | rows.apply(C.padded_batch_and_drop_remainder(2, [None]))
D.range(3).apply(C.enumerate_dataset()) | D.range(4).batch(2).apply(C.unbatch())
D.range(4).apply(C.map_and_batch(lambda x: x, 2)) | D.range(6).apply(C.shuffle_and_repeat(6, 2, 4)) | C.Counter().take(2)
D.range(6).apply(C.group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2))
"""


def texts(table):
    return [text.strip() for line in table.strip().splitlines() for text in line.split(" | ")]


def all_texts():
    return [text for table in (SOURCES, SHAPES, ORDER, FUNCTIONS, SEEDED, EXPERIMENTAL) for text in texts(table)]


def names(tf, contrib):
    """What the pipelines are written in."""
    D = tf.data.Dataset

    def sparse():
        return tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [1, 2, 3], [2, 3])

    def pairs():
        for k in range(3):
            yield k, [k] * k

    def dicts():
        for k in range(2):
            yield {"a": k, "b": "b" + str(k)}

    class Lazy(dict):
        def __missing__(self, name):
            return {"pairs3": lambda: D.from_tensor_slices(([1, 2, 3], [1., 2., 3.])),
                    "dicts3": lambda: D.from_tensor_slices({"a": [1, 2, 3], "b": ["x", "y", "z"]}),
                    "named3": lambda: D.from_tensor_slices(Point([1, 2, 3], [1., 2., 3.])),
                    "rows": lambda: D.range(1, 6).map(lambda x: tf.fill([tf.cast(x % 4, tf.int32)], x)),
                    "shift": lambda: tf.constant(10, tf.int64)}[name]()

    found = Lazy(tf=tf, D=D, E=tf.data.experimental, C=contrib, np=np, Point=Point, sparse=sparse, pairs=pairs, dicts=dicts,
                 count=lambda: iter(range(3)), upto=lambda n: iter(range(n)))
    return found


def plain(value):
    """A value as JSON holds it."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if hasattr(value, "_fields"):
        return [type(value).__name__] + [plain(part) for part in value]
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape)] + [plain(part) for part in value.ravel().tolist()]
    if isinstance(value, np.generic):
        return [str(value.dtype), value.item()]
    return value


def elements(tf, fetch, limit=60):
    """What a get_next gives until its end."""
    found = []
    with tf.Session() as session:
        while len(found) < limit:
            try:
                found.append(plain(session.run(fetch)))
            except tf.errors.OutOfRangeError as error:
                found.append("end: " + error.message.split(chr(10))[0])
                break
    return found


def result(tf, contrib, text):
    """{what: of a pipeline}"""
    tf.reset_default_graph()
    tf.set_random_seed(42)
    pipeline = _evaluated(tf, contrib, text)
    graph = tf.get_default_graph()
    found = {}
    if not hasattr(pipeline, "element_spec"):
        found["nodes"] = [[op.name, op.type] for op in graph.get_operations()]
        with tf.Session() as session:
            found["value"] = plain(session.run(pipeline))
        return found
    kinds = [getattr(tf.data, "get_output_" + what)(pipeline) for what in ("types", "shapes", "classes")]
    found["types"], found["shapes"] = repr(kinds[0]), repr(kinds[1]).replace("Dimension(", "").replace(")", "")
    found["classes"] = repr(kinds[2]).replace("tensorflow.python.framework.ops.", "")
    nodes = [[op.name, op.type] for op in graph.get_operations()]
    following = tf.data.make_one_shot_iterator(pipeline).get_next()
    found["elements"] = elements(tf, following)
    found["nodes"] = nodes + [[op.name, op.type] for op in graph.get_operations()][len(nodes):]
    found["seed"] = tf.get_seed(None)[1]
    return found


def _evaluated(tf, contrib, text):
    known = names(tf, contrib)
    code = compile(text, "<pipeline>", "eval")
    for name in ("pairs3", "dicts3", "named3", "rows", "shift"):
        if name in code.co_names or any(name in getattr(c, "co_names", ()) for c in code.co_consts):
            known[name] = known[name]
    return eval(code, dict(known))


if __name__ == "__main__":
    import tensorflow
    from tensorflow.contrib import data as contrib_data

    expected = {}
    for one in all_texts():
        try:
            expected[one] = result(tensorflow, contrib_data, one)
        except Exception as error:
            print("FAILS", one, type(error).__name__, str(error)[:300])
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "tf115_pipelines.json")
    with open(path, "w") as file:
        json.dump(expected, file, sort_keys=True, indent=0)
