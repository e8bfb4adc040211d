"""Names of ``tensorflow.python.data.ops`` that are not public: the classes by the version of their interface, and by kind.

Here there is one of each version: functions of version 2 differ in their arguments, not in the class they are called on.
"""
from __future__ import annotations

from jitgraph.data.dataset import Dataset
from jitgraph.data.kinds import (  # noqa: F401
    BatchDataset,
    CacheDataset,
    ConcatenateDataset,
    DatasetSource,
    DatasetV1Adapter,
    FilterDataset,
    FlatMapDataset,
    InterleaveDataset,
    MapDataset,
    PaddedBatchDataset,
    ParallelInterleaveDataset,
    ParallelMapDataset,
    PrefetchDataset,
    RangeDataset,
    RepeatDataset,
    ShardDataset,
    ShuffleDataset,
    SkipDataset,
    SparseTensorSliceDataset,
    TakeDataset,
    TensorDataset,
    TensorSliceDataset,
    UnaryDataset,
    UnaryUnchangedStructureDataset,
    WindowDataset,
    ZipDataset,
)
from jitgraph.data.kinds import VariantDataset as _VariantDataset  # noqa: F401
from jitgraph.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from jitgraph.data.thread_host import AUTOTUNE  # noqa: F401
from jitgraph.data.transformations import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY

DatasetV1 = DatasetV2 = Dataset
FixedLengthRecordDatasetV1 = FixedLengthRecordDatasetV2 = FixedLengthRecordDataset
TextLineDatasetV1 = TextLineDatasetV2 = TextLineDataset
TFRecordDatasetV1 = TFRecordDatasetV2 = TFRecordDataset
INFINITE, UNKNOWN = INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
