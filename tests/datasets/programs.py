"""Programs over small data sets, whose results are compared with TensorFlow 1.15's.

data/tf115_datasets.json is written under TensorFlow 1.15 by ``python tests/datasets/programs.py``.
"""
import gzip
import json
import os
import struct
import tempfile

import numpy as np

FILES = (("train-images-idx3-ubyte.gz", 2051, (23, 2, 3)), ("train-labels-idx1-ubyte.gz", 2049, (23,)),
         ("t10k-images-idx3-ubyte.gz", 2051, (7, 2, 3)), ("t10k-labels-idx1-ubyte.gz", 2049, (7,)))


def write_files(folder):
    """Four idx files as those of MNIST, but small."""
    for name, magic, sizes in FILES:
        count = int(np.prod(sizes))
        data = np.arange(count) * 37 % (10 if magic == 2049 else 256)
        with gzip.open(os.path.join(folder, name), "wb") as file:
            file.write(struct.pack(">" + "I" * (1 + len(sizes)), magic, *sizes) + data.astype(np.uint8).tobytes())


READ = {
    "seed": dict(seed=7), "seed and one_hot": dict(seed=3, one_hot=True), "graph seed": dict(),
    "uint8, not reshaped": dict(seed=1, dtype="uint8", reshape=False), "all for validation": dict(seed=2, validation_size=23),
    "fake": dict(fake_data=True, one_hot=True),
}


def batches(tf, read_data_sets, folder, arguments):
    """What the three sets give, over two epochs and with sizes that do not divide them."""
    tf.reset_default_graph()
    tf.set_random_seed(11)
    arguments = dict(arguments)
    fake = arguments.get("fake_data", False)
    sets = read_data_sets(folder, validation_size=arguments.pop("validation_size", 5), **arguments)
    found = []
    for part in sets:
        for size, shuffle in ((4, True), (4, True), (5, True), (6, False), (3, True)):
            if not fake and size > part.num_examples:
                continue
            images, labels = part.next_batch(size, fake_data=fake, shuffle=shuffle)
            images, labels = np.asarray(images), np.asarray(labels)
            found.append([str(images.dtype), list(images.shape), images.sum(dtype=np.float64) if fake else images.ravel().tolist(),
                          str(labels.dtype), labels.tolist(), part.epochs_completed if not fake else 0])
        found.append(part.num_examples)
    return found


MADE = {
    "circles": dict(name="circles", n_samples=21, noise=0.1),
    "three circles": dict(name="circles", n_samples=20, n_classes=3, seed=5),
    "archimedes": dict(name="spirals", n_samples=20, noise=0.2), "fermat": dict(name="spirals", n_samples=11, mode="fermat"),
    "bernoulli": dict(name="spirals", n_samples=12, mode="bernoulli", exp_scale=0.2, n_loops=3),
}


def made(make_dataset, arguments):
    found = make_dataset(**arguments)
    return [found.data.tolist(), found.target.tolist(), str(found.target.dtype)]


def loaded(load_dataset, name):
    found = load_dataset(name)
    dtypes = [str(found.data.dtype), str(found.target.dtype)]
    return [found.data.sum(0).tolist(), list(found.data.shape), found.target.sum().tolist(), *dtypes]


def results(tf, read_data_sets, datasets):
    """{name: result} of all programs."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder)
        found = {name: batches(tf, read_data_sets, folder, arguments) for name, arguments in READ.items()}
    found.update((name, made(datasets.make_dataset, arguments)) for name, arguments in MADE.items())
    found.update((name, loaded(datasets.load_dataset, name)) for name in ("iris", "boston"))
    return json.loads(json.dumps(found))


if __name__ == "__main__":
    import tensorflow
    from tensorflow.contrib.learn.python.learn import datasets as of_tensorflow
    from tensorflow.examples.tutorials.mnist import input_data

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "tf115_datasets.json")
    with open(path, "w") as file:
        json.dump(results(tensorflow, input_data.read_data_sets, of_tensorflow), file, sort_keys=True)
