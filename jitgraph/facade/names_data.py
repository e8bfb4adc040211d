"""The public names around data: data sets, files, pipelines; the table is of the form that ``jitgraph.facade.names`` explains."""
from __future__ import annotations

DATA: dict[str, str] = {
    "datasets.mnist": """
        examples.tutorials.mnist.input_data.DEFAULT_SOURCE_URL examples.tutorials.mnist.input_data.DataSet
        examples.tutorials.mnist.input_data.dense_to_one_hot examples.tutorials.mnist.input_data.extract_images
        examples.tutorials.mnist.input_data.extract_labels examples.tutorials.mnist.input_data.read_data_sets
        examples.tutorials.mnist.input_data.SOURCE_URL contrib.learn.datasets.mnist.DEFAULT_SOURCE_URL
        contrib.learn.datasets.mnist.DataSet contrib.learn.datasets.mnist.dense_to_one_hot
        contrib.learn.datasets.mnist.extract_images contrib.learn.datasets.mnist.extract_labels
        contrib.learn.datasets.mnist.read_data_sets contrib.learn.datasets.mnist.load_mnist""",
    "datasets.mnist_network": """
        examples.tutorials.mnist.mnist.NUM_CLASSES examples.tutorials.mnist.mnist.IMAGE_SIZE
        examples.tutorials.mnist.mnist.IMAGE_PIXELS examples.tutorials.mnist.mnist.inference
        examples.tutorials.mnist.mnist.loss examples.tutorials.mnist.mnist.training
        examples.tutorials.mnist.mnist.evaluation""",
    "datasets.base": """
        contrib.learn.datasets.load_boston contrib.learn.datasets.load_iris contrib.learn.datasets.base.Dataset
        contrib.learn.datasets.base.Datasets contrib.learn.datasets.base.load_boston
        contrib.learn.datasets.base.load_csv_with_header contrib.learn.datasets.base.load_csv_without_header
        contrib.learn.datasets.base.load_iris contrib.learn.datasets.base.maybe_download
        contrib.learn.datasets.base.shrink_csv examples.tutorials.mnist.input_data.maybe_download
        examples.tutorials.mnist.input_data.base.Dataset examples.tutorials.mnist.input_data.base.Datasets""",
    "datasets.catalogue": """
        contrib.learn.datasets.DATASETS contrib.learn.datasets.SYNTHETIC contrib.learn.datasets.load_dataset
        contrib.learn.datasets.make_dataset""",
    "datasets.synthetic": """
        contrib.learn.datasets.synthetic.circles contrib.learn.datasets.synthetic.spirals""",
    "filesystem.gfile": """
        gfile.Copy gfile.DeleteRecursively gfile.Exists gfile.FastGFile gfile.GFile gfile.Glob gfile.IsDirectory
        gfile.ListDirectory gfile.MakeDirs gfile.MkDir gfile.Open=GFile gfile.Remove gfile.Rename gfile.Stat
        gfile.Walk io.gfile.GFile""",
    "filesystem.gfile_v2": """
        io.gfile.copy io.gfile.exists io.gfile.glob io.gfile.isdir io.gfile.listdir io.gfile.makedirs io.gfile.mkdir
        io.gfile.remove io.gfile.rename io.gfile.rmtree io.gfile.stat io.gfile.walk""",
    "data.dataset": """
        data.Dataset data.DatasetSpec data.experimental.DatasetStructure=DatasetSpec
        data.get_output_types data.get_output_shapes data.get_output_classes data.experimental.get_structure""",
    "data.iterators": "data.Iterator data.make_one_shot_iterator data.make_initializable_iterator",
    "data.checkpointing": """
        data.experimental.make_saveable_from_iterator contrib.data.make_saveable_from_iterator""",
    "estimator.input_checkpoints": "data.experimental.CheckpointInputPipelineHook contrib.data.CheckpointInputPipelineHook",
    "data.statistics": """
        data.experimental.StatsAggregator data.experimental.latency_stats data.experimental.bytes_produced_stats""",
    "data.readers": """
        data.TextLineDataset data.TFRecordDataset data.FixedLengthRecordDataset data.experimental.SqlDataset
        contrib.data.SqlDataset contrib.data.LMDBDataset""",
    "data.options": """
        data.Options data.experimental.OptimizationOptions data.experimental.ThreadingOptions
        data.experimental.DistributeOptions data.experimental.StatsOptions data.experimental.MapVectorizationOptions""",
    "data.structure": """
        data.experimental.TensorStructure=tensor_structure data.experimental.SparseTensorStructure=sparse_tensor_structure""",
    "ragged.specs": "RaggedTensorSpec data.experimental.RaggedTensorStructure=ragged_tensor_structure",
    "tensor_arrays.specs": "TensorArraySpec data.experimental.TensorArrayStructure=tensor_array_structure",
    "data.optional": """
        data.experimental.Optional OptionalSpec data.experimental.OptionalStructure=OptionalSpec
        data.experimental.get_next_as_optional
        contrib.data.Optional contrib.data.get_next_as_optional""",
    "data.thread_host": "data.experimental.AUTOTUNE contrib.data.AUTOTUNE",
    "data.running": "data.experimental.take_while data.experimental.scan contrib.data.scan",
    "data.transformations": """
        data.experimental.enumerate_dataset data.experimental.unbatch data.experimental.unique
        data.experimental.copy_to_device
        data.experimental.prefetch_to_device data.experimental.ignore_errors
        data.experimental.map_and_batch data.experimental.map_and_batch_with_legacy_function=map_and_batch
        data.experimental.shuffle_and_repeat data.experimental.parallel_interleave
        data.experimental.dense_to_sparse_batch data.experimental.RandomDataset data.experimental.Counter
        data.experimental.choose_from_datasets data.experimental.sample_from_datasets
        data.experimental.get_single_element data.experimental.cardinality data.experimental.from_variant
        data.experimental.to_variant data.experimental.parse_example_dataset data.experimental.TFRecordWriter
        data.experimental.rejection_resample data.experimental.INFINITE_CARDINALITY
        data.experimental.UNKNOWN_CARDINALITY contrib.data.enumerate_dataset contrib.data.unbatch contrib.data.unique
        contrib.data.ignore_errors contrib.data.map_and_batch contrib.data.shuffle_and_repeat
        contrib.data.parallel_interleave contrib.data.dense_to_sparse_batch contrib.data.RandomDataset
        contrib.data.Counter contrib.data.choose_from_datasets contrib.data.sample_from_datasets
        contrib.data.get_single_element contrib.data.parse_example_dataset contrib.data.TFRecordWriter
        contrib.data.rejection_resample contrib.data.batch_and_drop_remainder
        contrib.data.padded_batch_and_drop_remainder contrib.data.sloppy_interleave contrib.data.sliding_window_batch
        contrib.data.assert_element_shape contrib.data.reduce_dataset contrib.data.copy_to_device
        contrib.data.prefetch_to_device""",
    "data.csv_files": "data.experimental.make_csv_dataset contrib.data.make_csv_dataset",
    "data.examples": """
        data.experimental.make_batched_features_dataset data.experimental.CsvDataset
        contrib.data.make_batched_features_dataset contrib.data.read_batch_features contrib.data.CsvDataset""",
    "data.groups": """
        data.experimental.group_by_window data.experimental.Reducer data.experimental.group_by_reducer
        data.experimental.bucket_by_sequence_length contrib.data.group_by_window contrib.data.Reducer
        contrib.data.group_by_reducer contrib.data.bucket_by_sequence_length""",
}
