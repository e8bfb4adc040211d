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
    "ops.arrays.constant": "constant",
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
    "ops.elementwise.sums": "add_n accumulate_n math.add_n math.accumulate_n",
    "ops.elementwise.arithmetic": """
        add subtract multiply scalar_mul divide div truediv realdiv floordiv floor_div div_no_nan mod floormod
        truncatediv truncatemod pow abs squared_difference maximum minimum
        math.add math.subtract math.multiply math.scalar_mul math.divide math.truediv math.floordiv
        math.floormod math.mod math.pow math.abs math.squared_difference
        math.maximum math.minimum math.divide_no_nan=div_no_nan
        math.multiply_no_nan math.reciprocal_no_nan""",
    "ops.elementwise.cast": """
        cast bitcast to_float to_double to_int32 to_int64 to_bfloat16 to_complex64 to_complex128
        dtypes.cast""",
    "ops.elementwise.saturate": "saturate_cast dtypes.saturate_cast",
    "ops.elementwise.compare": """
        equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not logical_xor
        math.equal math.not_equal math.less math.less_equal math.greater math.greater_equal math.logical_and
        math.logical_or math.logical_not math.logical_xor bitwise.bitwise_and bitwise.bitwise_or
        bitwise.bitwise_xor bitwise.invert bitwise.left_shift bitwise.right_shift""",
    "ops.elementwise.complex_numbers": "real imag conj angle complex math.real math.imag math.conj math.angle",
    "ops.elementwise.elementary": """
        rsqrt reciprocal exp expm1 log log1p sin cos tan asin acos atan atan2 sinh cosh asinh acosh
        atanh sigmoid log_sigmoid floor ceil rint round is_nan is_inf is_finite math.rsqrt
        math.reciprocal math.exp math.expm1 math.log math.log1p math.sin math.cos math.tan math.asin math.acos
        math.atan math.atan2 math.sinh math.cosh math.asinh math.acosh math.atanh math.sigmoid
        math.log_sigmoid math.floor math.ceil math.rint math.round math.is_nan math.is_inf math.is_finite
        nn.sigmoid nn.log_sigmoid debugging.is_nan debugging.is_inf debugging.is_finite""",
    "ops.linalg.matmul": "matmul linalg.matmul sparse_matmul",
    "ops.reduce.reductions": """
        reduce_sum reduce_mean reduce_prod reduce_max reduce_min reduce_all reduce_any reduce_logsumexp
        count_nonzero argmax argmin arg_max arg_min math.reduce_sum math.reduce_mean math.reduce_prod
        math.reduce_max math.reduce_min math.reduce_all math.reduce_any math.reduce_logsumexp math.count_nonzero
        math.argmax math.argmin math.reduce_std math.reduce_variance math.reduce_euclidean_norm""",
    "ops.arrays.identity": """
        identity identity_n stop_gradient placeholder placeholder_with_default ensure_shape guarantee_const
        is_tensor sparse_placeholder sparse.placeholder=sparse_placeholder debugging.is_tensor
        contrib.framework.is_tensor""",
    "ops.arrays.shape": "shape shape_n size rank reshape expand_dims squeeze manip.reshape",
    "ops.arrays.fill": "fill zeros ones zeros_like ones_like one_hot",
    "ops.arrays.join": "stack unstack concat split parallel_stack",
    "ops.arrays.slicing": "newaxis slice strided_slice",
    "ops.arrays.gather": "gather scatter_nd manip.scatter_nd",
    "ops.arrays.layout": """
        transpose reverse reverse_v2=reverse reverse_sequence tile broadcast_to broadcast_dynamic_shape
        broadcast_static_shape invert_permutation math.invert_permutation manip.reverse manip.tile""",
    "ops.arrays.pad": "pad",
    "ops.arrays.searching": "where where_v2 boolean_mask unique unique_with_counts setdiff1d",
    "ops.arrays.partition": "dynamic_partition dynamic_stitch",
    "ops.reduce.segment": """
        segment_sum segment_mean segment_prod segment_max segment_min unsorted_segment_sum unsorted_segment_mean
        unsorted_segment_prod unsorted_segment_max unsorted_segment_min unsorted_segment_sqrt_n math.segment_sum
        math.segment_mean math.segment_prod math.segment_max math.segment_min math.unsorted_segment_sum
        math.unsorted_segment_mean math.unsorted_segment_prod math.unsorted_segment_max
        math.unsorted_segment_min math.unsorted_segment_sqrt_n""",
    "ops.arrays.top_k": "nn.top_k nn.in_top_k math.top_k math.in_top_k",
    "ops.elementwise.activation": """
        nn.relu nn.relu6 nn.elu nn.selu nn.leaky_relu nn.softplus nn.softsign nn.crelu nn.swish math.softplus
        math.softsign""",
    "ops.nn.softmax": """
        nn.softmax nn.log_softmax math.softmax math.log_softmax nn.softmax_cross_entropy_with_logits
        nn.softmax_cross_entropy_with_logits_v2 nn.sparse_softmax_cross_entropy_with_logits""",
    "ops.elementwise.bias": "nn.bias_add nn.xw_plus_b nn.relu_layer",
    "ops.random.draws": """
        random_normal random_uniform truncated_normal random_shuffle random_crop multinomial
        random.normal=random_normal random.uniform=random_uniform random.truncated_normal
        random.shuffle=random_shuffle random.multinomial random.categorical image.random_crop""",
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
    "autodiff.gradients": "gradients hessians AggregationMethod UnconnectedGradients",
    "autodiff.custom_gradient": "custom_gradient grad_pass_through recompute_grad",
    "test.gradient_checker": "test.compute_gradient test.compute_gradient_error",
    "ops.host.clock": "timestamp",
    "ops.nn.dimension_free": "nn.max_pool_v2 nn.avg_pool_v2 nn.conv_transpose nn.with_space_to_batch nn.pool",
    "ops.nn.safe_embedding": """
        nn.safe_embedding_lookup_sparse nn.scale_regularization_loss nn.compute_average_loss""",
    "ops.signal.audio": "audio.decode_wav audio.encode_wav",
    "test.case": "test.TestCase",
    "test.benchmark": "test.Benchmark test.benchmark_config",
    "test.environment": """
        test.main test.get_temp_dir test.test_src_dir_path test.is_built_with_cuda test.is_built_with_gpu_support
        test.is_gpu_available test.gpu_device_name test.assert_equal_graph_def test.StubOutForTesting""",
    "ops.arrays.sequences": "range linspace lin_space cumsum cumprod math.cumsum math.cumprod math.cumulative_logsumexp",
    "ops.elementwise.clip": "clip_by_value clip_by_norm clip_by_global_norm clip_by_average_norm global_norm nn.l2_loss",
    "ops.host.kernel_function": "kernel_func",
    "ops.elementwise.composite_values": """
        negative sign square sqrt tanh erf math.negative math.sign math.square math.sqrt math.tanh math.erf
        math.bessel_i0e math.bessel_i1e nn.tanh""",
    "ops.elementwise.special": """
        erfc lgamma digamma polygamma zeta betainc igamma igammac lbeta check_numerics math.erfc
        math.lgamma math.digamma math.polygamma math.zeta math.betainc math.igamma math.igammac math.lbeta
        math.xlogy math.xdivy math.bessel_i0 math.bessel_i1 math.nextafter
        debugging.check_numerics""",
    "ops.linalg.products": """
        tensordot cross trace norm linalg.tensordot linalg.cross linalg.trace linalg.norm math.polyval
        linalg.normalize""",
    "ops.arrays.counts": """
        bincount histogram_fixed_width confusion_matrix math.bincount math.confusion_matrix
        histogram_fixed_width_bins""",
    "ops.arrays.grids": "sequence_mask meshgrid",
    "ops.arrays.batch_gather": "batch_gather gather_nd manip.gather_nd",
    "ops.nn.embedding": "nn.embedding_lookup",
    "ops.arrays.matrix_parts": """
        eye diag diag_part matrix_diag matrix_diag_part matrix_set_diag matrix_band_part matrix_transpose linalg.eye
        linalg.diag=matrix_diag linalg.diag_part=matrix_diag_part linalg.set_diag=matrix_set_diag
        linalg.band_part=matrix_band_part linalg.transpose=matrix_transpose linalg.matrix_transpose
        linalg.tensor_diag=diag linalg.tensor_diag_part=diag_part""",
    "ops.nn.functions": """
        nn.sigmoid_cross_entropy_with_logits nn.weighted_cross_entropy_with_logits nn.log_poisson_loss
        nn.l2_normalize linalg.l2_normalize math.l2_normalize nn.zero_fraction math.zero_fraction nn.dropout
        nn.moments nn.sufficient_statistics nn.normalize_moments nn.weighted_moments nn.batch_normalization""",
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
    "ops.host.python_function": "py_func numpy_function py_function",
    "control.conditionals": """
        cond switch_case contrib.framework.smart_cond contrib.framework.smart_constant_value""",
    "ops.choices.cases": "case contrib.framework.smart_case",
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
    "ops.nn.convolution_functions": """
        nn.conv2d nn.conv2d_backprop_input nn.conv2d_backprop_filter nn.conv2d_transpose nn.atrous_conv2d
        nn.atrous_conv2d_transpose nn.conv1d nn.conv1d_transpose nn.conv3d nn.conv3d_transpose nn.convolution
        nn.depthwise_conv2d nn.depthwise_conv2d_native nn.separable_conv2d""",
    "ops.nn.pooling_functions": """
        nn.max_pool nn.avg_pool nn.max_pool2d nn.avg_pool2d=avg_pool nn.max_pool3d nn.avg_pool3d
        nn.max_pool1d nn.avg_pool1d nn.max_pool_with_argmax nn.lrn nn.local_response_normalization=lrn""",
    "ops.checks.printing": "Print print=print_ strings.format=string_format",
    "ops.checks.assertion": """
        Assert debugging.Assert verify_tensor_all_finite debugging.assert_all_finite=verify_tensor_all_finite
        add_check_numerics_ops""",
    "ops.checks.check_values": """
        assert_less assert_less_equal assert_greater assert_greater_equal assert_none_equal assert_equal
        assert_positive assert_negative assert_non_negative assert_non_positive assert_near is_non_decreasing
        is_strictly_increasing debugging.assert_less debugging.assert_less_equal debugging.assert_greater
        debugging.assert_greater_equal debugging.assert_none_equal debugging.assert_equal
        debugging.assert_positive debugging.assert_negative debugging.assert_non_negative
        debugging.assert_non_positive debugging.assert_near debugging.is_non_decreasing
        debugging.is_strictly_increasing math.is_non_decreasing math.is_strictly_increasing""",
    "ops.checks.check_shapes": """
        assert_type assert_integer is_numeric_tensor assert_same_float_dtype assert_proper_iterable
        assert_rank assert_rank_at_least assert_rank_in assert_scalar debugging.assert_type
        debugging.assert_integer debugging.is_numeric_tensor debugging.assert_same_float_dtype
        debugging.assert_proper_iterable debugging.assert_rank debugging.assert_rank_at_least
        debugging.assert_rank_in debugging.assert_scalar debugging.assert_shapes""",
    "ops.nn.batch_norm": "nn.fused_batch_norm nn.batch_norm_with_global_normalization",
    "ops.arrays.space": """
        space_to_depth depth_to_space space_to_batch batch_to_space space_to_batch_nd batch_to_space_nd
        required_space_to_batch_paddings nn.space_to_depth nn.depth_to_space nn.space_to_batch
        manip.batch_to_space_nd manip.space_to_batch_nd""",
    "ops.arrays.rearrange": """
        roll manip.roll sort argsort searchsorted repeat unravel_index tensor_scatter_update tensor_scatter_add
        tensor_scatter_sub tensor_scatter_nd_update=tensor_scatter_update tensor_scatter_nd_add=tensor_scatter_add
        tensor_scatter_nd_sub=tensor_scatter_sub contrib.framework.sort contrib.framework.argsort""",
    "ops.random.random_rejection": "random_gamma random_poisson random.gamma=random_gamma random.poisson=random_poisson",
    "ops.random.random_stateless": """
        random.stateless_uniform=stateless_random_uniform random.stateless_normal=stateless_random_normal
        random.stateless_truncated_normal random.stateless_multinomial random.stateless_categorical
        contrib.stateless.stateless_random_uniform contrib.stateless.stateless_random_normal
        contrib.stateless.stateless_truncated_normal contrib.stateless.stateless_multinomial""",
    "ops.nn.candidates": """
        nn.uniform_candidate_sampler nn.log_uniform_candidate_sampler nn.fixed_unigram_candidate_sampler
        nn.learned_unigram_candidate_sampler nn.all_candidate_sampler nn.compute_accidental_hits random.uniform_candidate_sampler
        random.log_uniform_candidate_sampler random.fixed_unigram_candidate_sampler random.all_candidate_sampler""",
    "ops.nn.sampled_loss": "nn.nce_loss nn.sampled_softmax_loss",
    "ops.reduce.sparse_segment": """
        sparse_segment_sum sparse_segment_mean sparse_segment_sqrt_n sparse.segment_sum=sparse_segment_sum
        sparse.segment_mean=sparse_segment_mean sparse.segment_sqrt_n=sparse_segment_sqrt_n""",
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
    "ops.nn.patches": "extract_image_patches image.extract_image_patches nn.dilation2d nn.erosion2d",
    "ops.nn.sparse_embedding": "nn.embedding_lookup_sparse",
    "ops.nn.convolution_ops": """
        nn.depthwise_conv2d_native_backprop_input=depthwise_backprop_input
        nn.depthwise_conv2d_native_backprop_filter=depthwise_backprop_filter
        nn.depthwise_conv2d_backprop_input=depthwise_backprop_input
        nn.depthwise_conv2d_backprop_filter=depthwise_backprop_filter nn.conv3d_backprop_filter
        nn.conv3d_backprop_filter_v2=conv3d_backprop_filter""",
    "ops.files.file": "read_file write_file matching_files io.read_file io.write_file io.matching_files",
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
    "ops.strings.string_hash": "string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong fingerprint",
    "ops.strings.strings": """
        as_string string_to_number substr strings.substr strings.length=string_length
        strings.lower=string_lower strings.upper=string_upper string_strip encode_base64 decode_base64""",
    "ops.strings.regex": "regex_replace strings.regex_full_match",
    "ops.strings.string_split": """
        string_join reduce_join strings.unsorted_segment_join""",
    "ragged.string_parts": "string_split strings.split strings.bytes_split strings.ngrams",
    "ops.strings.decode": "decode_raw decode_compressed parse_tensor serialize_tensor decode_csv",
    "resources.tables": """
        tables_initializer initialize_all_tables initializers.tables_initializer lookup.StaticHashTable
        lookup.StaticVocabularyTable lookup.KeyValueTensorInitializer lookup.TextFileInitializer
        lookup.TextFileIndex lookup.experimental.DenseHashTable=MutableDenseHashTable
        contrib.lookup.LookupInterface contrib.lookup.InitializableLookupTableBase
        contrib.lookup.TableInitializerBase contrib.lookup.HashTable contrib.lookup.MutableHashTable
        contrib.lookup.MutableDenseHashTable contrib.lookup.KeyValueTensorInitializer
        contrib.lookup.TextFileInitializer contrib.lookup.TextFileIndex
        contrib.lookup.TextFileStringTableInitializer contrib.lookup.TextFileIdTableInitializer
        contrib.lookup.IdTableWithHashBuckets contrib.lookup.HasherSpec contrib.lookup.StrongHashSpec
        contrib.lookup.FastHashSpec""",
    "resources.table_functions": """
        contrib.lookup.index_table_from_tensor contrib.lookup.index_table_from_file
        contrib.lookup.index_to_string_table_from_tensor contrib.lookup.index_to_string_table_from_file
        contrib.lookup.string_to_index contrib.lookup.index_to_string
        contrib.lookup.string_to_index_table_from_file contrib.lookup.string_to_index_table_from_tensor""",
    "ops.files.parsing": """
        VarLenFeature FixedLenFeature FixedLenSequenceFeature SparseFeature parse_example parse_single_example
        parse_single_sequence_example io.parse_sequence_example""",
    "ops.files.example": "decode_json_example",
    "ops.strings.unicode_script": "strings.unicode_script",
    "ops.strings.unicode": "strings.unicode_transcode",
    "ragged.unicode": """
        strings.unicode_decode strings.unicode_decode_with_offsets
        strings.unicode_encode strings.unicode_split strings.unicode_split_with_offsets""",
    "ops.sparse.sparse_strings": "serialize_sparse serialize_many_sparse deserialize_many_sparse",
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
    from jitgraph.facade.names_packages import PACKAGES
    from jitgraph.facade.names_programs import PROGRAMS
    from jitgraph.facade.names_train import TRAINING

    found: dict[str, str] = {}
    tables = (TABLE, NUMERIC, FILES, DATA, TRAINING, PROGRAMS, DISTRIBUTIONS, ESTIMATORS, CONTRIB, PACKAGES)
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
