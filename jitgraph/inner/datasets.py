"""Names of ``tensorflow.python.data.ops`` that are not public: the classes by the version of their interface.

Here there is one of each: functions of version 2 differ in their arguments, not in the class they are called on.
"""
from __future__ import annotations

from jitgraph.data.dataset import Dataset
from jitgraph.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from jitgraph.data.thread_host import AUTOTUNE  # noqa: F401
from jitgraph.data.transformations import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY

DatasetV1 = DatasetV2 = Dataset
FixedLengthRecordDatasetV1 = FixedLengthRecordDatasetV2 = FixedLengthRecordDataset
TextLineDatasetV1 = TextLineDatasetV2 = TextLineDataset
TFRecordDatasetV1 = TFRecordDatasetV2 = TFRecordDataset
INFINITE, UNKNOWN = INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
