"""The public names, in one table: which module gives each.

A line ``"module": "a b nn.c=d"`` says that ``tf.a`` is ``module.a``, ``tf.b`` is ``module.b`` and ``tf.nn.c`` is
``module.d`` (without ``=``, the last part of the name).  Modules are relative to ``jitgraph``.  Names are resolved when
they are first used, so that importing jitgraph costs next to nothing.

A namespace such as ``tf.nn`` is made of the names that begin with ``nn.``.  See ``jitgraph.facade.namespaces``.
"""
from __future__ import annotations

import functools
import importlib
from collections.abc import Iterable
from typing import Any

TABLE: dict[str, str] = {
    "graph.dtypes": """
        DType as_dtype float16 half bfloat16 float32 float64 double int8 int16 int32 int64 uint8 uint16 uint32
        uint64 complex64 complex128 bool=bool_ string resource variant qint8 quint8 qint16 quint16 qint32
        QUANTIZED_DTYPES dtypes.DType dtypes.as_dtype dtypes.float16 dtypes.half dtypes.bfloat16 dtypes.float32
        dtypes.float64 dtypes.double dtypes.int8 dtypes.int16 dtypes.int32 dtypes.int64 dtypes.uint8
        dtypes.uint16 dtypes.uint32 dtypes.uint64 dtypes.complex64 dtypes.complex128 dtypes.bool=bool_
        dtypes.string dtypes.resource dtypes.variant dtypes.qint8 dtypes.quint8 dtypes.qint16 dtypes.quint16
        dtypes.qint32 dtypes.QUANTIZED_DTYPES""",
    "graph.shapes": "TensorShape Dimension dimension_value dimension_at_index enable_v2_tensorshape disable_v2_tensorshape",
    "graph.errors": """
        OpError errors.OpError errors.CancelledError errors.UnknownError errors.InvalidArgumentError
        errors.DeadlineExceededError errors.NotFoundError errors.AlreadyExistsError errors.PermissionDeniedError
        errors.ResourceExhaustedError errors.FailedPreconditionError errors.AbortedError errors.OutOfRangeError
        errors.UnimplementedError errors.InternalError errors.UnavailableError errors.DataLossError
        errors.UnauthenticatedError errors.exception_type_from_error_code errors.error_code_from_exception_type
        errors.OK errors.CANCELLED errors.UNKNOWN errors.INVALID_ARGUMENT errors.DEADLINE_EXCEEDED
        errors.NOT_FOUND errors.ALREADY_EXISTS errors.PERMISSION_DENIED errors.RESOURCE_EXHAUSTED
        errors.FAILED_PRECONDITION errors.ABORTED errors.OUT_OF_RANGE errors.UNIMPLEMENTED errors.INTERNAL
        errors.UNAVAILABLE errors.DATA_LOSS errors.UNAUTHENTICATED""",
    "graph.error_status": "errors.raise_exception_on_not_ok_status",
    "graph.graph": "Graph",
    "graph.operation": "Operation",
    "graph.tensor": "Tensor",
    "graph.composite": """
        IndexedSlices IndexedSlicesValue SparseTensor SparseTensorValue convert_to_tensor_or_sparse_tensor
        convert_to_tensor_or_indexed_slices""",
    "graph.collections": "GraphKeys",
    "graph.devices": "DeviceSpec",
    "graph.default_graph": "get_default_graph reset_default_graph",
    "graph.stack": "get_default_session",
    "graph.scopes": """
        name_scope op_scope control_dependencies device container colocate_with add_to_collection
        add_to_collections get_collection get_collection_ref get_all_collection_keys init_scope""",
    "graph.seeds": "set_random_seed get_seed random.set_random_seed random.get_seed",
    "graph.convert": """
        convert_to_tensor=public_convert_to_tensor register_tensor_conversion_function""",
    "graph.gradient_registry": """
        RegisterGradient NotDifferentiable=not_differentiable NoGradient=not_differentiable
        no_gradient=not_differentiable""",
    "graph.constant_value": "get_static_value=static_value contrib.util.constant_value=static_value",
    "graph.protos.tensor_proto": "make_tensor_proto make_ndarray contrib.util.make_tensor_proto contrib.util.make_ndarray",
    "protobuf.messages": """
        GraphDef NodeDef AttrValue NameAttrList MetaGraphDef OpDef TensorProto=TensorProto VariableDef
        ConfigProto TensorInfo GPUOptions GraphOptions OptimizerOptions RunOptions RunMetadata Summary Event
        SummaryMetadata HistogramProto SessionLog LogMessage train.Example=Example train.Features=Features
        train.Feature=Feature train.FeatureList=FeatureList train.FeatureLists=FeatureLists
        train.SequenceExample=SequenceExample train.BytesList=BytesList train.FloatList=FloatList
        train.Int64List=Int64List train.SaverDef=SaverDef train.ClusterDef=ClusterDef train.JobDef=JobDef
        train.ServerDef=ServerDef train.QueueRunnerDef=QueueRunnerDef summary.Summary summary.SummaryDescription
        summary.Event summary.SessionLog summary.TaggedRunMetadata
        contrib.checkpoint.CheckpointableObjectGraph=TrackableObjectGraph""",
    "resources.session_handles": "get_session_handle get_session_tensor delete_session_tensor",
    "runtime.session": "Session InteractiveSession",
    "runtime.stats": "session_stats",
    "control.order_ops": "no_op group tuple=tuple_",
    "variables.variable": "Variable",
    "variables.creators": "variable_creator_scope",
    "variables.synchronization": "VariableAggregation VariableSynchronization",
    "variables.assignments": """
        assign assign_add assign_sub count_up_to scatter_update scatter_add scatter_sub scatter_mul scatter_div
        scatter_min scatter_max scatter_nd_update scatter_nd_add scatter_nd_sub batch_scatter_update""",
    "variables.variable_collections": """
        global_variables all_variables local_variables trainable_variables model_variables
        moving_average_variables variables_initializer initialize_variables global_variables_initializer
        initialize_all_variables local_variables_initializer initialize_local_variables
        report_uninitialized_variables assert_variables_initialized is_variable_initialized
        initializers.global_variables=global_variables_initializer initializers.variables=variables_initializer
        initializers.local_variables=local_variables_initializer""",
    "variables.variable_scopes": """
        variable_scope VariableScope get_variable get_local_variable get_variable_scope variable_op_scope
        no_regularizer""",
    "variables.variable_store": "AUTO_REUSE",
    "variables.template": "make_template",
    "variables.partitioned_variables": "create_partitioned_variables",
    "variables.partitioners": """
        fixed_size_partitioner variable_axis_size_partitioner
        min_max_variable_partitioner""",
    "variables.variable_initializers": """
        zeros_initializer ones_initializer constant_initializer random_uniform_initializer
        random_normal_initializer truncated_normal_initializer uniform_unit_scaling_initializer
        variance_scaling_initializer orthogonal_initializer glorot_uniform_initializer glorot_normal_initializer
        initializers.zeros=zeros_initializer initializers.ones=ones_initializer
        initializers.constant=constant_initializer initializers.random_uniform=random_uniform_initializer
        initializers.random_normal=random_normal_initializer
        initializers.truncated_normal=truncated_normal_initializer
        initializers.uniform_unit_scaling=uniform_unit_scaling_initializer
        initializers.variance_scaling=variance_scaling_initializer
        initializers.orthogonal=orthogonal_initializer initializers.identity=identity_initializer
        initializers.glorot_uniform=glorot_uniform_initializer
        initializers.glorot_normal=glorot_normal_initializer initializers.he_normal initializers.he_uniform
        initializers.lecun_normal initializers.lecun_uniform
        contrib.layers.xavier_initializer contrib.layers.xavier_initializer_conv2d=xavier_initializer
        contrib.layers.variance_scaling_initializer=contrib_variance_scaling""",
    "facade.version": """
        VERSION GIT_VERSION COMPILER_VERSION version.VERSION version.GIT_VERSION
        version.COMPILER_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER
        version.GRAPH_DEF_VERSION version.GRAPH_DEF_VERSION_MIN_CONSUMER version.GRAPH_DEF_VERSION_MIN_PRODUCER""",
    "facade.behavior": "executing_eagerly disable_eager_execution disable_v2_behavior",
    "variables.default_kind": "enable_resource_variables disable_resource_variables resource_variables_enabled",
    "layers.base": "layers.Layer",
    "layers.keras_style": "layers.experimental.keras_style_scope layers.experimental.set_keras_style",
    "layers.input_spec": "layers.InputSpec",
    "layers.core": "layers.Dense layers.Dropout layers.Flatten layers.dense layers.dropout layers.flatten",
    "layers.convolutional": "layers.Conv1D layers.Conv2D layers.Conv3D layers.conv1d layers.conv2d layers.conv3d",
    "layers.transposed": "layers.Conv2DTranspose layers.Conv3DTranspose layers.conv2d_transpose layers.conv3d_transpose",
    "layers.separable": "layers.SeparableConv1D layers.SeparableConv2D layers.separable_conv1d layers.separable_conv2d",
    "layers.pooling": """
        layers.MaxPooling1D layers.MaxPooling2D layers.MaxPooling3D layers.AveragePooling1D layers.AveragePooling2D
        layers.AveragePooling3D layers.max_pooling1d layers.max_pooling2d layers.max_pooling3d
        layers.average_pooling1d layers.average_pooling2d layers.average_pooling3d""",
    "layers.normalization": "layers.BatchNormalization layers.batch_normalization",
    "losses.losses": """
        losses.Reduction losses.absolute_difference losses.compute_weighted_loss losses.cosine_distance losses.hinge_loss
        losses.huber_loss losses.log_loss losses.mean_pairwise_squared_error losses.mean_squared_error
        losses.sigmoid_cross_entropy losses.softmax_cross_entropy losses.sparse_softmax_cross_entropy""",
    "losses.collection": """
        losses.add_loss losses.get_losses losses.get_regularization_loss losses.get_regularization_losses
        losses.get_total_loss""",
    "rnn.sizes": "nn.rnn_cell.LSTMStateTuple contrib.rnn.LSTMStateTuple",
    "rnn.cells": """
        nn.rnn_cell.RNNCell nn.rnn_cell.BasicRNNCell nn.rnn_cell.GRUCell nn.rnn_cell.BasicLSTMCell nn.rnn_cell.LSTMCell
        contrib.rnn.RNNCell contrib.rnn.LayerRNNCell contrib.rnn.BasicRNNCell
        contrib.rnn.GRUCell contrib.rnn.BasicLSTMCell contrib.rnn.LSTMCell""",
    "rnn.multi": "nn.rnn_cell.MultiRNNCell contrib.rnn.MultiRNNCell",
    "rnn.wrappers": """
        nn.rnn_cell.DropoutWrapper nn.rnn_cell.ResidualWrapper nn.rnn_cell.DeviceWrapper contrib.rnn.DropoutWrapper
        contrib.rnn.ResidualWrapper contrib.rnn.DeviceWrapper""",
    "rnn.dynamic": "nn.dynamic_rnn nn.bidirectional_dynamic_rnn",
    "rnn.static": """
        nn.static_rnn nn.static_state_saving_rnn nn.static_bidirectional_rnn contrib.rnn.static_rnn
        contrib.rnn.static_state_saving_rnn contrib.rnn.static_bidirectional_rnn""",
    "rnn.raw": "nn.raw_rnn",
    "rnn.linear": "contrib.rnn._linear",
    "metrics.means": """
        metrics.accuracy metrics.mean metrics.mean_absolute_error metrics.mean_cosine_distance metrics.mean_iou
        metrics.mean_per_class_accuracy metrics.mean_relative_error metrics.mean_squared_error metrics.mean_tensor
        metrics.percentage_below metrics.root_mean_squared_error""",
    "metrics.counts": """
        metrics.true_positives metrics.true_negatives metrics.false_positives metrics.false_negatives metrics.precision
        metrics.recall""",
    "metrics.thresholds": """
        metrics.auc metrics.true_positives_at_thresholds metrics.true_negatives_at_thresholds
        metrics.false_positives_at_thresholds metrics.false_negatives_at_thresholds metrics.precision_at_thresholds
        metrics.recall_at_thresholds metrics.sensitivity_at_specificity metrics.specificity_at_sensitivity""",
    "metrics.at_k": """
        metrics.average_precision_at_k metrics.precision_at_k metrics.precision_at_top_k metrics.recall_at_k
        metrics.recall_at_top_k metrics.sparse_average_precision_at_k metrics.sparse_precision_at_k""",
    "train.optimizer": "train.Optimizer",
    "train.gradient_descent": "train.GradientDescentOptimizer train.MomentumOptimizer",
    "train.adam": "train.AdamOptimizer",
    "autodiff.gradients": "gradients AggregationMethod UnconnectedGradients",
    "autodiff.hessians": "hessians",
    "autodiff.custom_gradient": "custom_gradient grad_pass_through recompute_grad",
    "test.gradient_checker": "test.compute_gradient test.compute_gradient_error",
    "test.case": "test.TestCase",
    "test.benchmark": "test.Benchmark test.benchmark_config",
    "test.environment": """
        test.main test.get_temp_dir test.test_src_dir_path test.is_built_with_cuda test.is_built_with_gpu_support
        test.is_gpu_available test.gpu_device_name test.assert_equal_graph_def test.StubOutForTesting""",
    "train.adaptive": """
        train.AdagradOptimizer train.AdagradDAOptimizer train.AdadeltaOptimizer train.RMSPropOptimizer""",
    "train.regularized": "train.FtrlOptimizer train.ProximalGradientDescentOptimizer train.ProximalAdagradOptimizer",
    "variables.global_steps": """
        train.global_step train.get_global_step train.create_global_step train.get_or_create_global_step
        train.assert_global_step""",
    "train.moving_averages": "train.ExponentialMovingAverage",
    "train.schedules": """
        train.exponential_decay train.natural_exp_decay train.inverse_time_decay train.polynomial_decay
        train.piecewise_constant train.piecewise_constant_decay=piecewise_constant train.cosine_decay
        train.cosine_decay_restarts train.linear_cosine_decay train.noisy_linear_cosine_decay""",
    "control.conditionals": """
        cond switch_case contrib.framework.smart_cond contrib.framework.smart_constant_value""",
    "control.while_loops": "while_loop",
    "tensor_arrays.tensor_array": "TensorArray",
    "functions.higher_order": "map_fn foldl foldr scan",
    "resources.batches": "nondifferentiable_batch_function=batch_function",
    "graph.structures": """
        nest.is_nested nest.flatten nest.pack_sequence_as nest.map_structure nest.assert_same_structure
        contrib.framework.nest.is_sequence contrib.framework.nest.flatten contrib.framework.nest.pack_sequence_as
        contrib.framework.nest.map_structure contrib.framework.nest.assert_same_structure
        contrib.framework.nest.flatten_up_to contrib.framework.nest.map_structure_up_to
        contrib.framework.nest.flatten_dict_items""",
    "resources.queues": """
        FIFOQueue RandomShuffleQueue PaddingFIFOQueue PriorityQueue QueueBase queue.FIFOQueue
        queue.RandomShuffleQueue queue.PaddingFIFOQueue queue.PriorityQueue queue.QueueBase io.QueueBase
        io.FIFOQueue io.PaddingFIFOQueue io.RandomShuffleQueue io.PriorityQueue""",
    "variables.regularizers": """
        contrib.layers.l1_regularizer contrib.layers.l2_regularizer contrib.layers.l1_l2_regularizer
        contrib.layers.sum_regularizer contrib.layers.apply_regularization""",
    "train.coordinator": "train.Coordinator train.LooperThread",
    "train.queue_runner": """
        train.QueueRunner train.queue_runner.QueueRunner train.add_queue_runner train.start_queue_runners
        train.queue_runner.add_queue_runner train.queue_runner.start_queue_runners""",
    "train.input_producers": """
        train.limit_epochs train.input_producer train.string_input_producer train.range_input_producer
        train.slice_input_producer train.match_filenames_once io.match_filenames_once""",
    "train.batching": """
        train.batch train.maybe_batch train.batch_join train.maybe_batch_join train.shuffle_batch
        train.maybe_shuffle_batch train.shuffle_batch_join train.maybe_shuffle_batch_join""",
    "resources.critical_sections": "CriticalSection",
    "variables.generator": """
        random.experimental.Generator random.experimental.create_rng_state random.experimental.get_global_generator
        random.experimental.set_global_generator""",
    "resources.readers": """
        ReaderBase WholeFileReader TextLineReader FixedLengthRecordReader TFRecordReader IdentityReader LMDBReader""",
    "resources.accumulators": """
        ConditionalAccumulatorBase ConditionalAccumulator SparseConditionalAccumulator
        sparse.SparseConditionalAccumulator""",
    "ragged.string_parts": "string_split strings.split strings.bytes_split strings.ngrams",
    "resources.tables": """
        tables_initializer initialize_all_tables initializers.tables_initializer lookup.StaticHashTable
        lookup.StaticVocabularyTable lookup.KeyValueTensorInitializer lookup.TextFileInitializer
        lookup.TextFileIndex
        contrib.lookup.LookupInterface contrib.lookup.InitializableLookupTableBase
        contrib.lookup.TableInitializerBase contrib.lookup.HashTable
        contrib.lookup.KeyValueTensorInitializer
        contrib.lookup.TextFileInitializer contrib.lookup.TextFileIndex
        contrib.lookup.TextFileStringTableInitializer contrib.lookup.TextFileIdTableInitializer
        contrib.lookup.IdTableWithHashBuckets contrib.lookup.HasherSpec contrib.lookup.StrongHashSpec
        contrib.lookup.FastHashSpec""",
    "resources.mutable_tables": """
        lookup.experimental.DenseHashTable=MutableDenseHashTable contrib.lookup.MutableHashTable
        contrib.lookup.MutableDenseHashTable""",
    "resources.table_functions": """
        contrib.lookup.index_table_from_tensor contrib.lookup.index_table_from_file
        contrib.lookup.index_to_string_table_from_tensor contrib.lookup.index_to_string_table_from_file
        contrib.lookup.string_to_index contrib.lookup.index_to_string
        contrib.lookup.string_to_index_table_from_file contrib.lookup.string_to_index_table_from_tensor""",
    "ragged.unicode": """
        strings.unicode_decode strings.unicode_decode_with_offsets
        strings.unicode_encode strings.unicode_split strings.unicode_split_with_offsets""",
}

# names of TensorFlow that are not here, and what to write instead: jitgraph/facade/not_here.py; second names:
# jitgraph/facade/aliases.py; more of this table: jitgraph/facade/names_numeric.py, names_formats.py, names_data.py,
# names_train.py, names_programs.py, names_distributions.py, names_estimator.py, names_contrib.py and names_packages.py beside it


@functools.cache
def table() -> dict[str, str]:
    """All public names: dotted name -> "module:attribute"."""
    from jitgraph.facade.aliases import ALIASES, SAME_NAMESPACES
    from jitgraph.facade.names_contrib import CONTRIB
    from jitgraph.facade.names_data import DATA
    from jitgraph.facade.names_distributions import DISTRIBUTIONS
    from jitgraph.facade.names_estimator import ESTIMATORS
    from jitgraph.facade.names_formats import FILES
    from jitgraph.facade.names_numeric import NUMERIC
    from jitgraph.facade.names_ops import OPS
    from jitgraph.facade.names_packages import PACKAGES
    from jitgraph.facade.names_programs import PROGRAMS
    from jitgraph.facade.names_train import TRAINING

    found: dict[str, str] = {}
    tables = (TABLE, OPS, NUMERIC, FILES, DATA, TRAINING, PROGRAMS, DISTRIBUTIONS, ESTIMATORS, CONTRIB, PACKAGES)
    for module, entries in [entry for table in tables for entry in table.items()]:
        for entry in entries.split():
            name, _, attribute = entry.partition("=")
            found[name] = f"jitgraph.{module}:{attribute or name.rpartition('.')[2]}"
    for prefix, entries in ALIASES.items():
        for entry in entries.split():
            name, _, same_as = entry.partition("=")
            if (same_as or name) in found:
                found.setdefault(f"{prefix}.{name}" if prefix else name, found[same_as or name])
    for prefix, same in SAME_NAMESPACES.items():
        inside = [name for name in found if name.startswith(f"{same}.")]
        found.update({prefix + name.removeprefix(same): found[name] for name in inside})
    return found


@functools.cache
def namespaces() -> dict[str, frozenset[str]]:
    """For each namespace ("" is the top, "nn", "contrib.util" ...) the names directly in it, namespaces included."""
    return grouped(table())


def grouped(names: Iterable[str]) -> dict[str, frozenset[str]]:
    """Dotted names by their namespaces."""
    members: dict[str, set[str]] = {"": set()}
    for name in names:
        while name:
            outer, _, last = name.rpartition(".")
            inside = members.setdefault(outer, set())
            name = "" if last in inside else outer
            inside.add(last)
    return {prefix: frozenset(names) for prefix, names in members.items()}


def resolve(name: str) -> Any:
    """The object behind a public name such as "add" or "nn.relu", or the namespace "nn".

    Raises AttributeError, in one sentence that says what to write instead, if there is none.
    """
    place = table().get(name)
    if place is None:
        if name in namespaces():
            from jitgraph.facade.aliases import SAME_NAMESPACES
            from jitgraph.facade.namespaces import namespace

            return namespace(SAME_NAMESPACES.get(name, name))
        if name == "keras":         # libraries derive classes from it that most programs do not use
            return importlib.import_module("jitgraph.inner.later").later(name)
        from jitgraph.facade import tensorflow_modules

        inner = tensorflow_modules.seen_in_contrib(name)
        if inner is not None:           # as what the table names, it is imported only now
            return importlib.import_module("jitgraph.compat").inner_module(inner)
        from jitgraph.facade.not_here import missing

        raise missing(name)
    module, _, attribute = place.partition(":")
    try:
        value = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):
            from jitgraph.facade.not_here import missing

            raise missing(name) from None
        raise
    from jitgraph.facade import ragged_forms

    ragged = ragged_forms.places(table).get(place)
    return value if ragged is None else ragged_forms.opened(value, ragged)
