"""What feeds training and surrounds it: pipelines of tf.data, queues, sessions with hooks, estimators, large definitions.

A call of a pipeline is the next batch.  Shuffles are seeded, so that all peers have to give the same batches.
"""

from __future__ import annotations

import importlib
import os
import struct
import tempfile
import time
import zlib
from collections.abc import Callable
from typing import Any

from ..workload import FIRST_NAMES, Workload

BATCH = 128
SIZES = {"n": 1_000_000}
SMALL = {"n": 500}


def _pipeline(name: str, title: str, **fields: Any) -> Callable[[Callable[..., Any]], None]:
    """Declare a workload by the dataset that a function (tf, n) makes, without its repetition."""
    workload = Workload(name, title, fields.get("full", SIZES), fields.get("small", SMALL), unit="us", goals={"tensorflow": 1.0})

    def declare(dataset: Callable[..., Any]) -> None:
        @workload.tf1
        def _(tf: Any, n: int) -> Callable[[], Any]:
            iterator = tf.data.make_initializable_iterator(dataset(tf, n).repeat())
            following = iterator.get_next()
            session = tf.Session()
            session.run(iterator.initializer)
            return lambda: session.run(following)

    return declare


def _examples(n: int) -> tuple[Any, Any]:
    import numpy as np

    return np.arange(4 * n, dtype=np.float32).reshape(n, 4) % 97, np.arange(n, dtype=np.int64)


def _scaled(x: Any, y: Any) -> tuple[Any, Any]:
    return x * 2.0 - 1.0, y


@_pipeline("data-map", "tf.data: map of 1M examples, batches of 128")
def _(tf: Any, n: int) -> Any:
    return tf.data.Dataset.from_tensor_slices(_examples(n)).map(_scaled).batch(BATCH)


@_pipeline("data-map-threads", "the same with 2 parallel calls, prefetched")
def _(tf: Any, n: int) -> Any:
    return tf.data.Dataset.from_tensor_slices(_examples(n)).map(_scaled, 2).batch(BATCH).prefetch(1)


@_pipeline("data-shuffle", "tf.data: shuffle of 1M examples through 10,000, batches of 128")
def _(tf: Any, n: int) -> Any:
    return tf.data.Dataset.from_tensor_slices(_examples(n)).shuffle(10_000, seed=7).batch(BATCH)


@_pipeline("data-chain", "tf.data: zip, skip, repeat, take, batches of 128")
def _(tf: Any, n: int) -> Any:
    numbers = tf.data.Dataset.range(n)
    return tf.data.Dataset.zip((numbers, numbers.skip(10))).repeat(2).take(n).batch(BATCH)


@_pipeline("data-generator", "tf.data: from_generator, batches of 128", full={"n": 100_000})
def _(tf: Any, n: int) -> Any:
    def numbers() -> Any:
        for k in range(n):
            yield k, k * 0.5

    return tf.data.Dataset.from_generator(numbers, (tf.int64, tf.float32), ([], [])).batch(BATCH)


def _records(tf: Any, n: int) -> tuple[str, dict[str, Any]]:
    """Write Examples of 28 floats, a number and a text; return the file and the features."""
    train = tf.train
    path = os.path.join(tempfile.mkdtemp(), "examples.tfrecord")
    with tf.python_io.TFRecordWriter(path) as file:
        for k in range(n):
            features = {
                "pixels": train.Feature(float_list=train.FloatList(value=[0.1 * q + k for q in range(28)])),
                "label": train.Feature(int64_list=train.Int64List(value=[k % 1000])),
                "name": train.Feature(bytes_list=train.BytesList(value=[b"n%d" % k])),
            }
            file.write(train.Example(features=train.Features(feature=features)).SerializeToString())
    return path, {"pixels": tf.FixedLenFeature([28], tf.float32), "label": tf.FixedLenFeature([], tf.int64)}


def _values(parsed: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(parsed[key] for key in sorted(parsed))


@_pipeline("data-records", "tf.data: TFRecords, parse_example of batches of 128", full={"n": 20_000})
def _(tf: Any, n: int) -> Any:
    path, features = _records(tf, n)
    return tf.data.TFRecordDataset(path).batch(BATCH).map(lambda texts: _values(tf.parse_example(texts, features)))


@_pipeline("data-records-single", "tf.data: TFRecords, parse_single_example, batches of 128", full={"n": 20_000})
def _(tf: Any, n: int) -> Any:
    path, features = _records(tf, n)
    return tf.data.TFRecordDataset(path).map(lambda text: _values(tf.parse_single_example(text, features))).batch(BATCH)


def _png(side: int, number: int) -> bytes:
    """An RGB image with some structure as a PNG file."""
    import numpy as np

    pixels = (np.arange(side * side * 3).reshape(side, side, 3) * (number + 3) % 251).astype(np.uint8)
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


@_pipeline("data-png", "tf.data: PNG of 64 x 64 decoded, resized to 32 x 32, batches of 32", full={"n": 200}, small={"n": 40})
def _(tf: Any, n: int) -> Any:
    def pixels(text: Any) -> Any:
        image = tf.image.decode_png(text, 3)
        image.set_shape([64, 64, 3])
        return tf.image.resize_images(image, [32, 32])

    return tf.data.Dataset.from_tensor_slices([_png(64, k) for k in range(n)]).map(pixels).batch(32)


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    made = call()
    return time.perf_counter() - begun, made


# -- queues, sessions, estimators ----------------------------------------------------------------------------------

queue = Workload("queue-batch", "tf.train.batch of slice_input_producer, 16 batches of 64", {"n": 5_000, "calls": 40},
                 {"n": 300, "calls": 3}, kind="once", noise=None)


@queue.tf1
def _(tf: Any, n: int, calls: int) -> list[float]:
    batch = tf.train.batch(tf.train.slice_input_producer(list(_examples(n))), 64, capacity=256)
    session = tf.Session()
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    times = [_timed(lambda: [session.run(batch) for _ in range(16)])[0] for _ in range(calls)]      # more than are ready at a time
    coordinator.request_stop()
    coordinator.join(threads)
    session.close()
    return times[calls // 4:]


def _small_step(tf: Any) -> Any:
    import numpy as np

    weights, x = tf.Variable(np.zeros((16, 1), np.float32)), tf.constant(np.ones((8, 16), np.float32))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - 1.0))
    return tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=tf.train.get_or_create_global_step())


def _hooked(name: str, title: str, session_of: Callable[[Any], Any]) -> None:
    workload = Workload(name, title, unit="us", goals={"tensorflow": 0.2}, noise=None)

    @workload.tf1
    def _(tf: Any) -> Callable[[], Any]:
        step = _small_step(tf)
        session = session_of(tf)
        return lambda: session.run(step)


def _plain_session(tf: Any) -> Any:
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


_hooked("bare-step", "a small training step, tf.Session", _plain_session)
_hooked("monitored-step", "the same, MonitoredTrainingSession with a folder",
        lambda tf: tf.train.MonitoredTrainingSession(checkpoint_dir=tempfile.mkdtemp()))


def _columns(tf: Any, n: int) -> tuple[Any, Any, dict[str, Any], Any]:
    """(wide columns, deep columns, features, labels) of a table with words and numbers."""
    import numpy as np

    draw, column = np.random.RandomState(0), tf.feature_column
    features = {
        "age": draw.randint(18, 80, n).astype(np.float32),
        "school": np.array(["a", "b", "c", "d"])[draw.randint(0, 4, n)],
        "work": np.array([f"w{k}" for k in range(200)])[draw.randint(0, 200, n)],
    }
    age, school = column.numeric_column("age"), column.categorical_column_with_vocabulary_list("school", ["a", "b", "c", "d"])
    work, decade = column.categorical_column_with_hash_bucket("work", 1000), column.bucketized_column(age, [20, 30, 40, 50, 60])
    wide = [school, work, column.crossed_column(["school", "work"], 1000), column.crossed_column([decade, "school"], 1000)]
    deep = [age, column.indicator_column(school), column.embedding_column(work, 8)]
    return wide, deep, features, draw.randint(0, 2, n)


def _wide_and_deep(tf: Any, wide: Any, deep: Any) -> Any:
    return tf.estimator.DNNLinearCombinedClassifier(linear_feature_columns=wide, dnn_feature_columns=deep,
                                                    dnn_hidden_units=[64, 32])


def _estimator(name: str, title: str, make: Callable[..., Any]) -> None:
    workload = Workload(name, title, {"n": 5_000, "steps": 600}, {"n": 300, "steps": 20}, unit="us", kind="once",
                        goals={"tensorflow": 0.2}, noise=None)

    @workload.tf1
    def _(tf: Any, n: int, steps: int) -> float:
        wide, deep, features, labels = _columns(tf, n)
        tf.logging.set_verbosity("ERROR")
        fed = tf.estimator.inputs.numpy_input_fn(features, labels, batch_size=64, num_epochs=None, shuffle=True)
        warm = steps // 2
        times: list[float] = []

        class Clock(tf.train.SessionRunHook):
            def after_run(self, context: Any, values: Any) -> None:
                times.append(time.perf_counter())

        make(tf, wide, deep).train(fed, hooks=[Clock()], steps=warm + steps)
        return (times[-1] - times[warm - 1]) / (len(times) - warm)


_estimator("estimator-dnn", "DNNClassifier 64-64, numpy_input_fn, a step of 64",
           lambda tf, wide, deep: tf.estimator.DNNClassifier([64, 64], deep[:2]))
_estimator("estimator-wide-deep", "wide & deep of hashed, crossed and embedded words, a step of 64", _wide_and_deep)


# -- definitions of large networks ---------------------------------------------------------------------------------

def _slim(tf: Any, net: str, batch: int) -> Callable[[], Any]:
    """Return what defines a network of tf.contrib.slim and its step on images of 96 x 96.

    That returns what begins a session and returns the call of a step.
    """
    import numpy as np

    root = tf.__name__.partition(".")[0]
    nets = importlib.import_module(root + ".contrib.slim.nets")
    slim = importlib.import_module(root + ".contrib.slim")
    images = np.random.RandomState(0).rand(batch, 96, 96, 3).astype(np.float32)

    def define() -> Callable[[], Any]:
        x = tf.placeholder(tf.float32, [batch, 96, 96, 3])
        if net == "resnet":
            with slim.arg_scope(nets.resnet_v1.resnet_arg_scope()):
                found, _ = nets.resnet_v1.resnet_v1_50(x)
        else:                                   # without its second classifier, for which such images are too small
            with slim.arg_scope(nets.inception.inception_v3_arg_scope()):
                found, _ = nets.inception.inception_v3_base(x)
        logits = slim.fully_connected(tf.reduce_mean(found, [1, 2]), 100, activation_fn=None)
        loss = tf.losses.sparse_softmax_cross_entropy(np.arange(batch) % 100, logits)
        step = tf.train.MomentumOptimizer(1e-3, 0.9).minimize(loss)

        def begin() -> Callable[[], Any]:
            session = tf.Session()
            session.run(tf.global_variables_initializer())
            return lambda: session.run([step, loss], {x: images})[1]

        return begin

    for name in FIRST_NAMES["jitgraph"]:        # what comes with them is part of the workload "import"
        getattr(tf, name)
    return define


def _definition(net: str, title: str) -> None:
    building = Workload(f"slim-{net}-build", f"{title}: build", {"batch": 8}, {"batch": 2}, unit="s", kind="once")
    first = Workload(f"slim-{net}-first", f"{title}: first step", {"batch": 8}, {"batch": 2}, unit="s", kind="once")
    steady = Workload(f"slim-{net}", f"{title}: step", {"batch": 8}, {"batch": 2}, kind="once", noise=None)

    def steps(call: Callable[[], Any]) -> list[float]:
        return [_timed(call)[0] for _ in range(13)][3:]

    building.tf1(lambda tf, batch: _timed(_slim(tf, net, batch))[0])
    first.tf1(lambda tf, batch: _timed(_slim(tf, net, batch)()())[0])
    steady.tf1(lambda tf, batch: steps(_slim(tf, net, batch)()()))


_definition("resnet", "slim ResNet-50, 8 images of 96 x 96")
_definition("inception", "slim Inception v3, 8 images of 96 x 96")
