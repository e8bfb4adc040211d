"""`tf.contrib.learn.datasets.base`: small tables of numbers from CSV files, and files from the network."""

from __future__ import annotations

import csv
import os
from collections import namedtuple
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np

from jitgraph.datasets.download import Expected, fetch
from jitgraph.filesystem.gfile import GFile

Dataset = namedtuple("Dataset", ["data", "target"])
Datasets = namedtuple("Datasets", ["train", "validation", "test"])


def load_csv_with_header(filename: Any, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """Read a table whose first line begins with the number of rows and the number of features.

    Returns `data` [rows, features] of `features_dtype` and `target` [rows] of `target_dtype`, which is the column
    `target_column` of the file. Raises NotFoundError if the file is not there, ValueError if it does not hold the numbers that
    its first line promises.
    """
    with GFile(filename) as file:
        rows = csv.reader(file)
        count, features = (int(word) for word in next(rows)[:2])
        data = np.zeros((count, features), features_dtype)
        target = np.zeros((count,), target_dtype)
        for number, row in enumerate(rows):
            if number >= count:
                raise ValueError(f"{filename} has more rows than the {count} that its first line promises")
            target[number] = np.asarray(row.pop(target_column), target_dtype)
            data[number] = np.asarray(row, features_dtype)
    return Dataset(data, target)


def load_csv_without_header(filename: Any, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """Read a table of which all lines are rows: `data` [rows, features] and `target` [rows], the column `target_column`.

    Raises NotFoundError if the file is not there, ValueError for what is no number.
    """
    data, target = [], []
    with GFile(filename) as file:
        for row in csv.reader(file):
            target.append(row.pop(target_column))
            data.append(np.asarray(row, features_dtype))
    return Dataset(np.array(data), np.array(target, target_dtype))


def shrink_csv(filename: str, ratio: int) -> None:
    """Write every `ratio`-th line of a file, from the first on, beside it: `table.csv` gives `table_small.csv`.

    Raises NotFoundError if the file is not there.
    """
    with GFile(filename) as file, GFile(filename.replace(".", "_small."), "w") as small:
        writer = csv.writer(small)
        for number, row in enumerate(csv.reader(file)):
            if number % ratio == 0:
                writer.writerow(row)


def load_iris(data_path: Any = None) -> Dataset:
    """Return Fisher's irises (1936): `data` float64 [150, 4] in centimetres, `target` int64 [150], three species.

    `data_path`: another file of that form, see `load_csv_with_header`.
    """
    return _sample("iris.csv", data_path, np.int64)


def load_boston(data_path: Any = None) -> Dataset:
    """Return the house prices of Harrison and Rubinfeld (1978): `data` float64 [506, 13], `target` float64 [506].

    `data_path`: another file of that form, see `load_csv_with_header`.
    """
    return _sample("boston_house_prices.csv", data_path, np.float64)


def _sample(name: str, path: Any, target_dtype: Any) -> Dataset:
    if path is not None:
        return load_csv_with_header(path, target_dtype, np.float64)
    with resources.as_file(resources.files("jitgraph.datasets") / "samples" / name) as file:
        return load_csv_with_header(file, target_dtype, np.float64)


def maybe_download(
    filename: str,
    work_directory: str,
    source_url: str,
    expected: Expected | None = None,
    wanted: Sequence[str] = (),
) -> str:
    """Return the path of the file `filename` in the folder `work_directory`, fetched from `source_url` if it is not there.

    The folder is made if need be. Raises `urllib.error.URLError`, in a sentence that says where to put the file and the
    others that are `wanted` there, if it cannot be fetched or is not what is `expected`.
    """
    os.makedirs(work_directory, exist_ok=True)
    path = os.path.join(work_directory, filename)
    if not os.path.exists(path):
        size = fetch(source_url, path, expected, wanted)
        print("Successfully downloaded", filename, size, "bytes.")
    return path
