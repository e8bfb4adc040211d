"""`tf.examples.tutorials.mnist.input_data`: LeCun's images of handwritten digits, in shuffled batches."""

from __future__ import annotations

import gzip
import zlib
from typing import Any

import numpy as np

from jitgraph.datasets.base import Datasets, maybe_download
from jitgraph.datasets.download import Expected
from jitgraph.graph.dtypes import as_dtype, float32, uint8
from jitgraph.graph.seeds import get_seed

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
SOURCE_URL = DEFAULT_SOURCE_URL
# In the order in which they are read: images and labels to train with, images and labels to test with.
FILES = {
    "train-images-idx3-ubyte.gz": Expected(
        9912422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
    ),
    "train-labels-idx1-ubyte.gz": Expected(28881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
    "t10k-images-idx3-ubyte.gz": Expected(1648877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
    "t10k-labels-idx1-ubyte.gz": Expected(4542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
}
IMAGES, LABELS = 2051, 2049  # the first word of an idx file, which says what it holds
CLASSES, PIXELS = 10, 784


class DataSet:
    """Examples of one kind, `images` with their `labels`, that `next_batch` gives in turn, shuffled anew in each epoch.

    `dtype`: tf.float32 for pixels from 0 to 1, tf.uint8 for pixels from 0 to 255. `reshape` makes rows of the images,
    [examples, rows * columns]; else they stay [examples, rows, columns, 1]. The order comes from NumPy's global
    generator, as in TensorFlow: it is seeded here by `seed`, or else by the seed of the default graph, or at random.
    `fake_data` needs no images; `one_hot` is for its labels. Raises TypeError for another `dtype`.
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        of_graph, of_op = get_seed(seed)
        np.random.seed(of_graph if seed is None else of_op)
        kind = as_dtype(dtype).base_dtype
        if kind not in (uint8, float32):
            raise TypeError(f"Invalid image dtype {kind!r}, expected uint8 or float32")
        if fake_data:
            self._num_examples = 10000
            self.one_hot = one_hot
        else:
            images, labels = np.asarray(images), np.asarray(labels)
            assert images.shape[0] == labels.shape[0], f"images.shape: {images.shape} labels.shape: {labels.shape}"
            self._num_examples = images.shape[0]
            if reshape:
                assert images.shape[3] == 1
                images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
            if kind is float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels
        self._epochs_completed = self._index_in_epoch = 0

    @property
    def images(self) -> Any:
        """The images in their present order."""
        return self._images

    @property
    def labels(self) -> Any:
        """The labels in the order of the images."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """How many examples there are."""
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        """How often `next_batch` has come to the end."""
        return self._epochs_completed

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple:
        """Return the next `batch_size` images and labels; at the end of an epoch, its rest and the begin of the next.

        `shuffle` puts the examples into a new order whenever an epoch begins. `fake_data` gives lists of ones instead.
        """
        if fake_data:
            label: Any = [1] + [0] * (CLASSES - 1) if self.one_hot else 0
            return [[1] * PIXELS for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        if shuffle and start == 0 and self._epochs_completed == 0:
            self._shuffle()
        end = start + batch_size
        if end <= self._num_examples:
            self._index_in_epoch = end
            return self._images[start:end], self._labels[start:end]
        rest = self._images[start:], self._labels[start:]
        self._epochs_completed += 1
        if shuffle:
            self._shuffle()
        self._index_in_epoch = end = end - self._num_examples
        begin = self._images[:end], self._labels[:end]
        return np.concatenate((rest[0], begin[0])), np.concatenate((rest[1], begin[1]))

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def extract_images(f: Any) -> np.ndarray:
    """Return the images of a gzipped idx file that is open for reading: uint8 [images, rows, columns, 1].

    Raises ValueError if it holds no images, or not all of them.
    """
    words, pixels = _extracted(f, IMAGES, "image", 3)
    return pixels.reshape(*words, 1)


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = CLASSES) -> np.ndarray:
    """Return the labels of a gzipped idx file that is open for reading: uint8 [labels].

    With `one_hot`, float64 [labels, num_classes]. Raises ValueError if it holds no labels, or not all of them.
    """
    _, labels = _extracted(f, LABELS, "label", 1)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def _extracted(file: Any, kind: int, what: str, rank: int) -> tuple[list[int], np.ndarray]:
    """The sizes of an idx file and its bytes."""
    print("Extracting", file.name)
    try:
        with gzip.GzipFile(fileobj=file) as stream:
            magic, *sizes = (int(word) for word in np.frombuffer(stream.read(4 * rank + 4), ">u4"))
            if magic != kind:
                raise ValueError(f"Invalid magic number {magic} in MNIST {what} file: {file.name}")
            # All of it, for gzip's checksum stands at the end.
            data = np.frombuffer(stream.read(), np.uint8)[: int(np.prod(sizes))]
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{file.name} is damaged ({error}): delete it, so that it is fetched again") from None
    if len(sizes) != rank or data.size != np.prod(sizes):
        raise ValueError(f"{file.name} ends too early: delete it, so that it is fetched again")
    return sizes, data


def dense_to_one_hot(labels_dense: np.ndarray, num_classes: int) -> np.ndarray:
    """Return float64 [labels, num_classes] with a one at the class of each label."""
    found = np.zeros((labels_dense.shape[0], num_classes))
    found.flat[np.arange(labels_dense.shape[0]) * num_classes + labels_dense.ravel()] = 1
    return found


def read_data_sets(
    train_dir: Any,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """Return the digits of the four files of MNIST in the folder `train_dir`, as `Datasets` of `DataSet`.

    Files that are not there are fetched from `source_url`. The first `validation_size` of the 60000 training images are
    for validation. `one_hot` gives labels [examples, 10]; `dtype`, `reshape` and `seed` are those of `DataSet`.
    `fake_data` needs no files. Raises ValueError for a `validation_size` that is too large and for damaged files,
    `urllib.error.URLError`, in a sentence that says where to put which file, if one cannot be fetched.
    """
    if fake_data:
        return Datasets(*(DataSet([], [], True, one_hot, dtype, seed=seed) for _ in Datasets._fields))
    source_url = source_url or DEFAULT_SOURCE_URL
    arrays = []
    for name, expected in FILES.items():
        # Other data come in files of the same names (Zalando's clothes, say): only the original ones are known.
        known = expected if source_url == DEFAULT_SOURCE_URL else None
        with open(maybe_download(name, train_dir, source_url + name, known, tuple(FILES)), "rb") as file:
            arrays.append(extract_images(file) if "images" in name else extract_labels(file, one_hot))
    images, labels, *test = arrays
    if not 0 <= validation_size <= len(images):
        raise ValueError(f"Validation size should be between 0 and {len(images)}. Received: {validation_size}.")
    parts = (
        (images[validation_size:], labels[validation_size:]),
        (images[:validation_size], labels[:validation_size]),
        test,
    )
    return Datasets(*(DataSet(*part, dtype=dtype, reshape=reshape, seed=seed) for part in parts))


def load_mnist(train_dir: Any = "MNIST-data") -> Datasets:
    """Return `read_data_sets(train_dir)`."""
    return read_data_sets(train_dir)
