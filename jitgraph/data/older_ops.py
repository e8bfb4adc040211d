"""The names that ops of datasets had while they were experimental, which TensorFlow 1.15 knows beside the present ones."""
from __future__ import annotations

from jitgraph.declare.older import older_name
from jitgraph.graph.registry import lookup

for _name in """
        AssertNextDataset AutoShardDataset BytesProducedStatsDataset ChooseFastestDataset CSVDataset DatasetCardinality
        DatasetToTFRecord
        DenseToSparseBatchDataset DirectedInterleaveDataset GroupByWindowDataset IgnoreErrorsDataset IteratorGetDevice
        LatencyStatsDataset LMDBDataset MapAndBatchDataset MapDataset MatchingFilesDataset MaxIntraOpParallelismDataset
        NonSerializableDataset ParallelInterleaveDataset ParseExampleDataset PrivateThreadPoolDataset RandomDataset
        RebatchDataset ScanDataset SetStatsAggregatorDataset SleepDataset SlidingWindowDataset SqlDataset
        StatsAggregatorHandle StatsAggregatorSummary TakeWhileDataset ThreadPoolDataset ThreadPoolHandle UnbatchDataset
        UniqueDataset""".split():
    older_name(f"Experimental{_name}", lookup(_name))

# tf.data itself makes the nodes of this one by the older name
older_name("GroupByReducerDataset", lookup("ExperimentalGroupByReducerDataset"))
