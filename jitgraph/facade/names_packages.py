"""Public names of the packages of `tf.contrib` that are asked for less often: more of the table in `jitgraph/facade/names.py`."""

from __future__ import annotations

PACKAGES: dict[str, str] = {
    "contrib.session_bundle.constants": """
        contrib.session_bundle.constants.VERSION_FORMAT_SPECIFIER contrib.session_bundle.constants.ASSETS_DIRECTORY
        contrib.session_bundle.constants.EXPORT_BASE_NAME contrib.session_bundle.constants.EXPORT_SUFFIX_NAME
        contrib.session_bundle.constants.META_GRAPH_DEF_FILENAME contrib.session_bundle.constants.VARIABLES_FILENAME
        contrib.session_bundle.constants.VARIABLES_FILENAME_PATTERN contrib.session_bundle.constants.VARIABLES_FILENAME_PATTERN_V2
        contrib.session_bundle.constants.VARIABLES_INDEX_FILENAME_V2 contrib.session_bundle.constants.INIT_OP_KEY
        contrib.session_bundle.constants.SIGNATURES_KEY contrib.session_bundle.constants.ASSETS_KEY
        contrib.session_bundle.constants.GRAPH_KEY contrib.session_bundle.constants.REGRESSION_SIGNATURE
        contrib.session_bundle.constants.CLASSIFICATION_SIGNATURE contrib.session_bundle.constants.GENERIC_SIGNATURE""",
    "contrib.session_bundle.exporting": """
        contrib.session_bundle.exporter.Exporter contrib.session_bundle.exporter.classification_signature
        contrib.session_bundle.exporter.generic_signature contrib.session_bundle.exporter.gfile_copy_callback
        contrib.session_bundle.exporter.regression_signature""",
    "contrib.session_bundle.loading": """
        contrib.session_bundle.session_bundle.load_session_bundle_from_path
        contrib.session_bundle.session_bundle.maybe_session_bundle_dir""",
    "contrib.session_bundle.either_format": """
        contrib.session_bundle.bundle_shim.load_session_bundle_or_saved_model_bundle_from_path""",
    "contrib.session_bundle.manifest": """
        contrib.session_bundle.manifest_pb2.Signatures contrib.session_bundle.manifest_pb2.Signature
        contrib.session_bundle.manifest_pb2.RegressionSignature contrib.session_bundle.manifest_pb2.ClassificationSignature
        contrib.session_bundle.manifest_pb2.GenericSignature contrib.session_bundle.manifest_pb2.TensorBinding
        contrib.session_bundle.manifest_pb2.AssetFile""",
    "contrib.session_bundle.kept_versions": """
        contrib.session_bundle.gc.Path contrib.session_bundle.gc.get_paths contrib.session_bundle.gc.largest_export_versions
        contrib.session_bundle.gc.mod_export_version contrib.session_bundle.gc.negation
        contrib.session_bundle.gc.one_of_every_n_export_versions contrib.session_bundle.gc.union
        contrib.learn.utils.gc.Path contrib.learn.utils.gc.get_paths contrib.learn.utils.gc.largest_export_versions
        contrib.learn.utils.gc.mod_export_version contrib.learn.utils.gc.negation
        contrib.learn.utils.gc.one_of_every_n_export_versions contrib.learn.utils.gc.union""",
    "contrib.decision_trees.tree_messages": """
        contrib.decision_trees.proto.generic_tree_model_pb2.Model
        contrib.decision_trees.proto.generic_tree_model_pb2.ModelAndFeatures
        contrib.decision_trees.proto.generic_tree_model_pb2.Ensemble
        contrib.decision_trees.proto.generic_tree_model_pb2.Summation
        contrib.decision_trees.proto.generic_tree_model_pb2.Averaging
        contrib.decision_trees.proto.generic_tree_model_pb2.DecisionTree
        contrib.decision_trees.proto.generic_tree_model_pb2.TreeNode
        contrib.decision_trees.proto.generic_tree_model_pb2.BinaryNode
        contrib.decision_trees.proto.generic_tree_model_pb2.SparseVector
        contrib.decision_trees.proto.generic_tree_model_pb2.Vector contrib.decision_trees.proto.generic_tree_model_pb2.Leaf
        contrib.decision_trees.proto.generic_tree_model_pb2.FeatureId
        contrib.decision_trees.proto.generic_tree_model_pb2.ObliqueFeatures
        contrib.decision_trees.proto.generic_tree_model_pb2.InequalityTest
        contrib.decision_trees.proto.generic_tree_model_pb2.Value""",
    "contrib.checkpoint.tracking": "contrib.checkpoint.capture_dependencies",
    "contrib.mixed_precision.loss_scales": """
        contrib.mixed_precision.LossScaleManager contrib.mixed_precision.FixedLossScaleManager
        contrib.mixed_precision.ExponentialUpdateLossScaleManager contrib.mixed_precision.LossScaleOptimizer""",
    "contrib.deprecated.summaries": """
        contrib.deprecated.scalar_summary contrib.deprecated.histogram_summary contrib.deprecated.image_summary
        contrib.deprecated.audio_summary contrib.deprecated.merge_summary contrib.deprecated.merge_all_summaries""",
    "contrib.all_reduce.sums": """
        contrib.all_reduce.build_ring_all_reduce contrib.all_reduce.build_recursive_hd_all_reduce
        contrib.all_reduce.build_shuffle_all_reduce contrib.all_reduce.build_shuffle_then_ring
        contrib.all_reduce.build_shuffle_then_shuffle contrib.all_reduce.build_nccl_all_reduce
        contrib.all_reduce.build_nccl_then_ring contrib.all_reduce.build_nccl_then_recursive_hd
        contrib.all_reduce.build_nccl_then_shuffle""",
    "data.private_threads": "contrib.data.PrivateThreadPool contrib.data.override_threadpool",
    "contrib.factorization.gaussian_mixtures": "contrib.factorization.GmmAlgorithm contrib.factorization.gmm",
    "contrib.factorization.mixture_estimators": "contrib.factorization.GMM",
    "contrib.factorization.least_squares": "contrib.factorization.WALSModel",
    "contrib.factorization.least_squares_estimators": "contrib.factorization.WALSMatrixFactorization",
    "contrib.model_pruning.masks": """
        contrib.model_pruning.apply_mask contrib.model_pruning.get_masked_weights contrib.model_pruning.get_masks
        contrib.model_pruning.get_thresholds contrib.model_pruning.get_weight_sparsity contrib.model_pruning.get_weights""",
    "contrib.model_pruning.masked_layers": """
        contrib.model_pruning.masked_convolution contrib.model_pruning.masked_conv2d
        contrib.model_pruning.masked_fully_connected""",
    "contrib.model_pruning.masked_cells": "contrib.model_pruning.MaskedBasicLSTMCell contrib.model_pruning.MaskedLSTMCell",
    "contrib.model_pruning.pruning": "contrib.model_pruning.Pruning contrib.model_pruning.get_pruning_hparams",
    "contrib.model_pruning.learning": "contrib.model_pruning.train",
    "contrib.model_pruning.stripping": """
        contrib.model_pruning.strip_pruning_vars_fn contrib.model_pruning.graph_def_from_checkpoint""",
    "contrib.solvers.operators": """
        contrib.solvers.util.create_operator contrib.solvers.util.identity_operator contrib.solvers.util.dot
        contrib.solvers.util.l2norm contrib.solvers.util.l2norm_squared contrib.solvers.util.l2normalize""",
    "contrib.solvers.conjugate_gradients": """
        contrib.solvers.linear_equations.conjugate_gradient contrib.solvers.least_squares.cgls""",
    "contrib.solvers.bidiagonals": "contrib.solvers.lanczos.lanczos_bidiag contrib.solvers.lanczos.bidiag_matmul",
    "contrib.integrate.adaptive": "contrib.integrate.odeint",
    "contrib.integrate.steps": "contrib.integrate.odeint_fixed",
    "contrib.recurrent.steps": "contrib.recurrent.Recurrent",
    "contrib.recurrent.networks": "contrib.recurrent.functional_rnn contrib.recurrent.bidirectional_functional_rnn",
    "contrib.input_pipeline.input_pipeline_ops": "contrib.input_pipeline.obtain_next contrib.input_pipeline.seek_next",
    "contrib.memory_stats.memory_stats_ops": """
        contrib.memory_stats.BytesInUse contrib.memory_stats.BytesLimit contrib.memory_stats.MaxBytesInUse""",
    "contrib.distribute.steps": """
        contrib.distribute.CollectiveAllReduceStrategy contrib.distribute.DistributeConfig contrib.distribute.Monitor
        contrib.distribute.MultiWorkerAllReduce contrib.distribute.ParameterServerStrategy contrib.distribute.StandardInputStep
        contrib.distribute.StandardSingleLossStep contrib.distribute.Step contrib.distribute.UpdateContext
        contrib.distribute.get_cross_replica_context contrib.distribute.require_replica_context""",
    "contrib.stat_summarizer.tables": """
        contrib.stat_summarizer.DeleteStatSummarizer contrib.stat_summarizer.NewStatSummarizer
        contrib.stat_summarizer.StatSummarizer""",
    "profiler.contexts": "contrib.tfprof.ProfileContext contrib.tfprof.model_analyzer.ProfileContext",
    "contrib.specs.composition": """
        contrib.specs.Callable contrib.specs.Composable contrib.specs.Composition contrib.specs.External
        contrib.specs.Function contrib.specs.Import contrib.specs.Operator contrib.specs.check_keywords
        contrib.specs.debug contrib.specs.get_positional""",
    "contrib.specs.parts": """
        contrib.specs.Ap contrib.specs.Bn contrib.specs.Cl contrib.specs.Cm contrib.specs.Conc contrib.specs.Cr
        contrib.specs.Cs contrib.specs.Ct contrib.specs.Cx contrib.specs.Do contrib.specs.Dwm contrib.specs.Dws
        contrib.specs.Expand contrib.specs.Fl contrib.specs.Flat contrib.specs.Fm contrib.specs.Fr contrib.specs.Fs
        contrib.specs.Ft contrib.specs.Fun contrib.specs.Fx contrib.specs.Id contrib.specs.Idx contrib.specs.Lrn
        contrib.specs.Mp contrib.specs.Print contrib.specs.Relu contrib.specs.Reshape contrib.specs.Shared
        contrib.specs.Sig contrib.specs.Smax contrib.specs.Squeeze contrib.specs.Tanh contrib.specs.Transpose
        contrib.specs.Unit contrib.specs.Var""",
    "contrib.specs.parameters": """
        contrib.specs.Lf contrib.specs.Li contrib.specs.Nt contrib.specs.Uf contrib.specs.Ui""",
    "contrib.specs.networks": """
        contrib.specs.LocalImport contrib.specs.create_net contrib.specs.create_net_fun contrib.specs.eval_params
        contrib.specs.eval_spec""",
    "contrib.specs.summaries": """
        contrib.specs.SHORT_NAMES contrib.specs.tf_left_split contrib.specs.tf_num_params
        contrib.specs.tf_parameter_iter contrib.specs.tf_parameter_summary contrib.specs.tf_print
        contrib.specs.tf_spec_print contrib.specs.tf_spec_structure contrib.specs.tf_spec_summary
        contrib.specs.tf_structure""",
    "contrib.periodic_resample.periodic_resample_ops": "contrib.periodic_resample.periodic_resample",
    "contrib.losses.distances": """
        contrib.losses.metric_learning.cluster_loss contrib.losses.metric_learning.contrastive_loss
        contrib.losses.metric_learning.lifted_struct_loss
        contrib.losses.metric_learning.npairs_loss contrib.losses.metric_learning.npairs_loss_multilabel
        contrib.losses.metric_learning.triplet_semihard_loss""",
    "contrib.receptive_field.fields": "contrib.receptive_field.compute_receptive_field_from_graph_def",
    "contrib.receptive_field.orders": "contrib.receptive_field.get_compute_order",
    "contrib.text.skip_grams": "contrib.text.skip_gram_sample contrib.text.skip_gram_sample_with_text_vocab",
    "contrib.quantize.graphs": """
        contrib.quantize.create_training_graph contrib.quantize.create_eval_graph
        contrib.quantize.experimental_create_training_graph contrib.quantize.experimental_create_eval_graph""",
    "train.remapped_matrices": "contrib.framework.load_and_remap_matrix_initializer",
    "contrib.framework.remapped_initializers": """
        contrib.framework.load_embedding_initializer contrib.framework.load_linear_multiclass_bias_initializer
        contrib.framework.load_variable_slot_initializer""",
    "contrib.framework.orthogonal_kernels": """
        contrib.framework.convolutional_delta_orthogonal contrib.framework.convolutional_orthogonal_1d
        contrib.framework.convolutional_orthogonal_2d contrib.framework.convolutional_orthogonal_3d""",
    "contrib.framework.fused_nodes": "contrib.framework.fuse_op",
    "resources.record_inputs": "contrib.framework.RecordInput",
    "contrib.layers.reversible": """
        contrib.layers.RevBlock contrib.layers.rev_block contrib.slim.RevBlock contrib.slim.rev_block""",
    "contrib.layers.old_embeddings": "contrib.layers.scattered_embedding_column contrib.slim.scattered_embedding_column",
    "contrib.layers.scattered_embeddings": """
        contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY contrib.slim.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
        contrib.slim.scattered_embedding_lookup contrib.slim.scattered_embedding_lookup_sparse""",
    "contrib.layers.cross_ops": "contrib.slim.sparse_feature_cross contrib.slim.bucketize",
    "contrib.layers.old_sequences": """
        contrib.layers.parse_feature_columns_from_sequence_examples
        contrib.slim.parse_feature_columns_from_sequence_examples""",
    "contrib.layers.target_columns": """
        contrib.layers.regression_target contrib.layers.multi_class_target contrib.slim.regression_target
        contrib.slim.multi_class_target contrib.slim.binary_svm_target contrib.slim.ProblemType
        contrib.slim.get_default_binary_metrics_for_eval""",
    "contrib.eager.derivatives": """
        contrib.eager.implicit_gradients contrib.eager.implicit_value_and_gradients contrib.eager.gradients_function
        contrib.eager.value_and_gradients_function""",
    "contrib.eager.machine": "contrib.eager.list_devices contrib.eager.num_gpus contrib.eager.get_optimizer_variables",
    "contrib.eager.metrics": """
        contrib.eager.metrics.Metric contrib.eager.metrics.Mean contrib.eager.metrics.Accuracy
        contrib.eager.metrics.BinaryAccuracy contrib.eager.metrics.CategoricalAccuracy contrib.eager.metrics.SparseAccuracy""",
    "functions.graph_function": "contrib.eager.defun contrib.eager.function",
    "train.trackables": "contrib.eager.Checkpointable=AutoTrackable",
    "variables.resource_variables": "contrib.eager.Variable=ResourceVariable",
    "train.object_checkpoint": "contrib.eager.Checkpoint",
    "contrib.eager.templates": "contrib.eager.make_template",
    "contrib.labeled_tensor.axes": """
        contrib.labeled_tensor.Axis contrib.labeled_tensor.Axes contrib.labeled_tensor.as_axis""",
    "contrib.labeled_tensor.tensors": """
        contrib.labeled_tensor.LabeledTensor contrib.labeled_tensor.AxisOrderError
        contrib.labeled_tensor.convert_to_labeled_tensor contrib.labeled_tensor.identity
        contrib.labeled_tensor.slice=slice_function contrib.labeled_tensor.transpose
        contrib.labeled_tensor.expand_dims contrib.labeled_tensor.align contrib.labeled_tensor.axis_order_scope
        contrib.labeled_tensor.check_axis_order contrib.labeled_tensor.impose_axis_order
        contrib.labeled_tensor.define_unary_op contrib.labeled_tensor.define_binary_op
        contrib.labeled_tensor.abs=abs_function contrib.labeled_tensor.neg contrib.labeled_tensor.sign
        contrib.labeled_tensor.reciprocal contrib.labeled_tensor.square contrib.labeled_tensor.round=round_function
        contrib.labeled_tensor.sqrt contrib.labeled_tensor.rsqrt contrib.labeled_tensor.exp contrib.labeled_tensor.log
        contrib.labeled_tensor.ceil contrib.labeled_tensor.floor contrib.labeled_tensor.cos contrib.labeled_tensor.sin
        contrib.labeled_tensor.tan contrib.labeled_tensor.acos contrib.labeled_tensor.asin contrib.labeled_tensor.atan
        contrib.labeled_tensor.lgamma contrib.labeled_tensor.digamma contrib.labeled_tensor.erf
        contrib.labeled_tensor.erfc contrib.labeled_tensor.logical_not contrib.labeled_tensor.tanh
        contrib.labeled_tensor.sigmoid contrib.labeled_tensor.add contrib.labeled_tensor.sub
        contrib.labeled_tensor.mul contrib.labeled_tensor.div contrib.labeled_tensor.mod
        contrib.labeled_tensor.pow=pow_function contrib.labeled_tensor.equal contrib.labeled_tensor.greater
        contrib.labeled_tensor.greater_equal contrib.labeled_tensor.not_equal contrib.labeled_tensor.less
        contrib.labeled_tensor.less_equal contrib.labeled_tensor.logical_and contrib.labeled_tensor.logical_or
        contrib.labeled_tensor.logical_xor contrib.labeled_tensor.maximum contrib.labeled_tensor.minimum
        contrib.labeled_tensor.squared_difference contrib.labeled_tensor.igamma contrib.labeled_tensor.igammac
        contrib.labeled_tensor.zeta contrib.labeled_tensor.polygamma""",
    "contrib.labeled_tensor.places": """
        contrib.labeled_tensor.select contrib.labeled_tensor.concat contrib.labeled_tensor.pack
        contrib.labeled_tensor.unpack contrib.labeled_tensor.reshape contrib.labeled_tensor.rename_axis
        contrib.labeled_tensor.random_crop contrib.labeled_tensor.squeeze contrib.labeled_tensor.tile
        contrib.labeled_tensor.pad contrib.labeled_tensor.boolean_mask""",
    "contrib.labeled_tensor.values": """
        contrib.labeled_tensor.map_fn contrib.labeled_tensor.foldl contrib.labeled_tensor.matmul
        contrib.labeled_tensor.define_reduce_op contrib.labeled_tensor.constant contrib.labeled_tensor.zeros_like
        contrib.labeled_tensor.ones_like contrib.labeled_tensor.cast contrib.labeled_tensor.verify_tensor_all_finite
        contrib.labeled_tensor.where contrib.labeled_tensor.reduce_all contrib.labeled_tensor.reduce_any
        contrib.labeled_tensor.reduce_logsumexp contrib.labeled_tensor.reduce_max contrib.labeled_tensor.reduce_mean
        contrib.labeled_tensor.reduce_min contrib.labeled_tensor.reduce_prod contrib.labeled_tensor.reduce_sum""",
    "contrib.labeled_tensor.reading": """
        contrib.labeled_tensor.FixedLenFeature contrib.labeled_tensor.parse_example
        contrib.labeled_tensor.parse_single_example contrib.labeled_tensor.placeholder contrib.labeled_tensor.batch
        contrib.labeled_tensor.shuffle_batch contrib.labeled_tensor.ReshapeCoder""",
    "contrib.labeled_tensor.networks": """
        contrib.labeled_tensor.nn.relu contrib.labeled_tensor.nn.relu6 contrib.labeled_tensor.nn.crelu
        contrib.labeled_tensor.nn.elu contrib.labeled_tensor.nn.softplus contrib.labeled_tensor.nn.l2_loss
        contrib.labeled_tensor.nn.softmax contrib.labeled_tensor.nn.log_softmax
        contrib.labeled_tensor.nn.sigmoid_cross_entropy_with_logits
        contrib.labeled_tensor.nn.softmax_cross_entropy_with_logits
        contrib.labeled_tensor.nn.sparse_softmax_cross_entropy_with_logits""",
    "contrib.meta_graph_transform.transforming": """
        contrib.meta_graph_transform.meta_graph_transform.meta_graph_transform""",
    "contrib.optimizer_v2.own": "contrib.optimizer_v2.OptimizerV2",
    "contrib.optimizer_v2.optimizers": """
        contrib.optimizer_v2.GradientDescentOptimizer contrib.optimizer_v2.MomentumOptimizer
        contrib.optimizer_v2.AdagradOptimizer contrib.optimizer_v2.AdadeltaOptimizer contrib.optimizer_v2.AdamOptimizer
        contrib.optimizer_v2.RMSPropOptimizer""",
    "contrib.tfprof.model_analyzer": """
        contrib.tfprof.model_analyzer.print_model_analysis contrib.tfprof.model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS
        contrib.tfprof.model_analyzer.FLOAT_OPS_OPTIONS contrib.tfprof.model_analyzer.PRINT_ALL_TIMING_MEMORY
        contrib.tfprof.model_analyzer.ALL_ADVICE contrib.tfprof.model_analyzer.advise""",
    "profiler.profiling": "contrib.tfprof.model_analyzer.Profiler",
    "profiler.op_log": "contrib.tfprof.tfprof_logger.write_op_log",
    "raw_ops": """
        contrib.quantization.quantize_down_and_shrink_range=QuantizeDownAndShrinkRange
        contrib.quantization.quantize_v2=QuantizeV2 contrib.quantization.quantized_add=QuantizedAdd
        contrib.quantization.quantized_avg_pool=QuantizedAvgPool
        contrib.quantization.quantized_batch_norm_with_global_normalization=QuantizedBatchNormWithGlobalNormalization
        contrib.quantization.quantized_bias_add=QuantizedBiasAdd contrib.quantization.quantized_conv2d=QuantizedConv2D
        contrib.quantization.quantized_conv2d_and_relu=QuantizedConv2DAndRelu
        contrib.quantization.quantized_conv2d_and_relu_and_requantize=QuantizedConv2DAndReluAndRequantize
        contrib.quantization.quantized_conv2d_and_requantize=QuantizedConv2DAndRequantize
        contrib.quantization.quantized_conv2d_per_channel=QuantizedConv2DPerChannel
        contrib.quantization.quantized_conv2d_with_bias=QuantizedConv2DWithBias
        contrib.quantization.quantized_conv2d_with_bias_and_relu=QuantizedConv2DWithBiasAndRelu
        contrib.quantization.quantized_conv2d_with_bias_and_relu_and_requantize=QuantizedConv2DWithBiasAndReluAndRequantize
        contrib.quantization.quantized_conv2d_with_bias_and_requantize=QuantizedConv2DWithBiasAndRequantize
        contrib.quantization.quantized_conv2d_with_bias_signed_sum_and_relu_and_requantize=QuantizedConv2DWithBiasSignedSumAndReluAndRequantize
        contrib.quantization.quantized_conv2d_with_bias_sum_and_relu=QuantizedConv2DWithBiasSumAndRelu
        contrib.quantization.quantized_conv2d_with_bias_sum_and_relu_and_requantize=QuantizedConv2DWithBiasSumAndReluAndRequantize
        contrib.quantization.quantized_depthwise_conv2d=QuantizedDepthwiseConv2D
        contrib.quantization.quantized_depthwise_conv2d_with_bias=QuantizedDepthwiseConv2DWithBias
        contrib.quantization.quantized_depthwise_conv2d_with_bias_and_relu=QuantizedDepthwiseConv2DWithBiasAndRelu
        contrib.quantization.quantized_depthwise_conv2d_with_bias_and_relu_and_requantize=QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize
        contrib.quantization.quantized_mat_mul=QuantizedMatMul
        contrib.quantization.quantized_mat_mul_with_bias=QuantizedMatMulWithBias
        contrib.quantization.quantized_mat_mul_with_bias_and_relu=QuantizedMatMulWithBiasAndRelu
        contrib.quantization.quantized_mat_mul_with_bias_and_relu_and_requantize=QuantizedMatMulWithBiasAndReluAndRequantize
        contrib.quantization.quantized_max_pool=QuantizedMaxPool contrib.quantization.quantized_mul=QuantizedMul
        contrib.quantization.quantized_relu=QuantizedRelu contrib.quantization.quantized_relu6=QuantizedRelu6
        contrib.quantization.quantized_relu_x=QuantizedReluX contrib.quantization.requantization_range=RequantizationRange
        contrib.quantization.requantization_range_per_channel=RequantizationRangePerChannel
        contrib.quantization.requantize=Requantize contrib.quantization.requantize_per_channel=RequantizePerChannel""",
    "app.libraries": "contrib.util.loader.load_op_library=load_extension",
    "autograph.api": "contrib.autograph.AutoGraphError contrib.autograph.convert",
    "autograph.lists": "contrib.autograph.set_element_type contrib.autograph.stack",
    "v2.control": "contrib.autograph.to_code contrib.autograph.to_graph",
    "contrib.timeseries.feature_keys": "contrib.timeseries.TrainEvalFeatures contrib.timeseries.FilteringResults",
    "contrib.timeseries.readers": "contrib.timeseries.NumpyReader contrib.timeseries.CSVReader",
    "contrib.timeseries.windows": """
        contrib.timeseries.RandomWindowInputFn contrib.timeseries.WholeDatasetInputFn
        contrib.timeseries.predict_continuation_input_fn""",
    "contrib.timeseries.autoregressive": "contrib.timeseries.ARModel",
    "contrib.timeseries.heads": "contrib.timeseries.OneShotPredictionHead",
    "contrib.timeseries.regressors": """
        contrib.timeseries.ARRegressor contrib.timeseries.StructuralEnsembleRegressor contrib.timeseries.TimeSeriesRegressor""",
    "contrib.timeseries.saved_model_utils": """
        contrib.timeseries.saved_model_utils.cold_start_filter contrib.timeseries.saved_model_utils.filter_continuation
        contrib.timeseries.saved_model_utils.predict_continuation""",
}
