"""Documents as ids of words: ``tf.contrib.learn.preprocessing.VocabularyProcessor``."""
from __future__ import annotations

import collections
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from jitgraph.filesystem.gfile import GFile

TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """Yields the words of each text."""
    for value in iterator:
        yield TOKENIZER_RE.findall(value)


class ByteProcessor:
    """Documents as their first `max_document_length` bytes, with zeros behind."""

    def __init__(self, max_document_length: int):
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> None:
        """Nothing: there is nothing to learn."""

    def fit_transform(self, x: Iterable) -> Iterator[np.ndarray]:
        """As ``transform``."""
        return self.transform(x)

    def reverse(self, x: Iterable[np.ndarray]) -> Iterator[str]:
        """Yields the texts of bytes; "" where they are no UTF-8."""
        for data in x:
            document = np.trim_zeros(data.astype(np.int8), trim="b").tobytes()
            try:
                yield document.decode("utf-8")
            except UnicodeDecodeError:
                yield ""

    def transform(self, x: Iterable) -> Iterator[np.ndarray]:
        """Yields the bytes of each document."""
        for document in x:
            data = document.encode("utf-8") if isinstance(document, str) else document
            found = np.frombuffer(memoryview(data)[:self.max_document_length], dtype=np.uint8)
            yield np.pad(found, (0, self.max_document_length - len(found)), "constant")


class CategoricalVocabulary:
    """Ids of categories, in the order in which they came; 0 is the unknown one."""

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True):
        self._unknown_token, self._support_reverse = unknown_token, support_reverse
        self._mapping: dict[Any, int] = {unknown_token: 0}
        self._reverse_mapping = [unknown_token]
        self._freq: Any = collections.defaultdict(int)
        self._freeze = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Has new categories be unknown, or no more."""
        self._freeze = freeze

    def get(self, category: Any) -> int:
        """The id of a category, which is added unless the vocabulary is frozen."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category: Any, count: int = 1) -> None:
        """Counts a category."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Leaves those that came more often than `min_frequency` (and less than `max_frequency`), the most frequent first."""
        ordered = sorted(sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0])),
                         key=lambda item: item[1], reverse=True)
        kept = [item for item in ordered if item[1] > min_frequency and not 0 < max_frequency <= item[1]]
        self._reverse_mapping = [self._unknown_token, *(category for category, _ in kept)]
        self._mapping = {category: number for number, category in enumerate(self._reverse_mapping)}
        self._freq = dict(ordered[:len(kept)])

    def reverse(self, class_id: int) -> Any:
        """The category of an id.  Raises ValueError unless that is supported."""
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]


class CategoricalProcessor:
    """Columns of categories as ids; a category that came no more than `min_frequency` times is unknown."""

    def __init__(self, min_frequency: int = 0, share: bool = False, vocabularies: Any = None):
        self.min_frequency, self.share, self.vocabularies_ = min_frequency, share, vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """Freezes the vocabularies, or no more."""
        for vocabulary in self.vocabularies_ or []:
            vocabulary.freeze(freeze)

    def fit(self, x: Iterable, unused_y: Any = None) -> CategoricalProcessor:
        """Learns the categories of rows."""
        for row in x:
            if self.vocabularies_ is None:
                count = 1 if self.share else len(row)
                vocabularies = [CategoricalVocabulary() for _ in range(count)]
                self.vocabularies_ = vocabularies * len(row) if self.share else vocabularies
            for vocabulary, category in zip(self.vocabularies_, row):
                if not (isinstance(category, float) and np.isnan(category)):
                    vocabulary.add(category)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_ or []:
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x: Iterable, unused_y: Any = None) -> Iterator[np.ndarray]:
        """``fit`` and ``transform``."""
        self.fit(x)
        return self.transform(x)

    def transform(self, x: Iterable) -> Iterator[np.ndarray]:
        """Yields the ids of each row."""
        self.freeze()
        for row in x:
            ids = [0 if isinstance(category, float) and np.isnan(category) else vocabulary.get(category)
                   for vocabulary, category in zip(self.vocabularies_, row)]
            yield np.array(ids, dtype=np.int64)


class VocabularyProcessor:
    """Documents as the ids of their first `max_document_length` words, with zeros behind.

    `min_frequency`: words that came no more often are unknown.  `vocabulary`: a CategoricalVocabulary.  `tokenizer_fn`: a
    function of texts that yields the words of each.
    """

    def __init__(self, max_document_length: int, min_frequency: int = 0, vocabulary: Any = None,
                 tokenizer_fn: Callable | None = None):
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> VocabularyProcessor:
        """Learns the words of documents."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Iterable[str], unused_y: Any = None) -> Iterator[np.ndarray]:
        """``fit`` and ``transform``."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[np.ndarray]:
        """Yields the ids of each document: int64 [max_document_length]."""
        for tokens in self._tokenizer(raw_documents):
            ids = np.zeros(self.max_document_length, np.int64)
            known = [self.vocabulary_.get(token) for token, _ in zip(tokens, range(self.max_document_length))]
            ids[:len(known)] = known
            yield ids

    def reverse(self, documents: Iterable) -> Iterator[str]:
        """Yields the words of ids."""
        for ids in documents:
            yield " ".join(self.vocabulary_.reverse(class_id) for class_id in ids)

    def save(self, filename: Any) -> None:
        """Writes the processor into a file (as a pickle)."""
        with GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: Any) -> VocabularyProcessor:
        """The processor of a file.  A pickle runs code: read only what you wrote."""
        with GFile(filename, "rb") as file:
            return pickle.loads(file.read())
