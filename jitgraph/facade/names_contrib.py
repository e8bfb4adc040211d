"""The public names of ``tf.contrib`` that have rooms in ``jitgraph/contrib``; the table is of the form that
``jitgraph.facade.names`` explains.
"""
from __future__ import annotations

CONTRIB: dict[str, str] = {
    "contrib.framework.arg_scopes": """
        contrib.framework.arg_scope contrib.framework.add_arg_scope contrib.framework.current_arg_scope
        contrib.framework.has_arg_scope contrib.framework.arg_scoped_arguments contrib.framework.arg_scope_func_key""",
    "contrib.framework.variable_filters": """
        contrib.framework.get_variables contrib.framework.get_variables_by_name contrib.framework.get_variables_by_suffix
        contrib.framework.get_unique_variable contrib.framework.get_trainable_variables
        contrib.framework.get_local_variables contrib.framework.get_model_variables
        contrib.framework.get_variables_to_restore contrib.framework.filter_variables
        contrib.graph_editor.get_tensors""",
    "contrib.framework.variables": """
        contrib.framework.local_variable contrib.framework.global_variable contrib.framework.variable
        contrib.framework.model_variable contrib.framework.add_model_variable contrib.framework.assign_from_values
        contrib.framework.assign_from_values_fn contrib.framework.load_checkpoint contrib.framework.load_variable
        contrib.framework.list_variables contrib.framework.init_from_checkpoint contrib.framework.VariableDeviceChooser
        contrib.framework.zero_initializer contrib.framework.get_variable_full_name""",
    "contrib.framework.tensor_checks": """
        contrib.framework.with_shape contrib.framework.with_same_shape contrib.framework.assert_scalar_int
        contrib.framework.reduce_sum_n contrib.framework.remove_squeezable_dimensions""",
    "contrib.framework.deprecation": """
        contrib.framework.deprecated contrib.framework.deprecated_args contrib.framework.deprecated_arg_values""",
    "contrib.framework.graph_queries": """
        contrib.framework.get_placeholders contrib.framework.get_graph_from_inputs contrib.framework.get_name_scope
        contrib.framework.assert_or_get_global_step""",
    "variables.global_steps": """
        contrib.framework.get_global_step contrib.framework.create_global_step
        contrib.framework.get_or_create_global_step contrib.framework.assert_global_step""",
    "ops.checks.check_shapes": """
        contrib.framework.assert_scalar contrib.framework.assert_same_float_dtype""",
    "graph.composite": "contrib.framework.convert_to_tensor_or_sparse_tensor",
    "graph.structures": "contrib.framework.nest.is_nested",
    "inner.nest": """
        contrib.framework.nest.assert_shallow_structure contrib.framework.nest.flatten_with_joined_string_paths
        contrib.framework.nest.flatten_with_tuple_paths contrib.framework.nest.map_structure_with_paths
        contrib.framework.nest.yield_flat_paths contrib.framework.nest.map_structure_with_tuple_paths
        contrib.framework.nest.flatten_with_tuple_paths_up_to contrib.framework.nest.is_sequence_or_composite
        contrib.framework.nest.map_structure_with_tuple_paths_up_to contrib.framework.nest.get_traverse_shallow_structure""",
    "contrib.layers.dense": """
        contrib.layers.fully_connected contrib.layers.relu contrib.layers.relu6 contrib.layers.elu contrib.layers.linear
        contrib.layers.bias_add contrib.layers.legacy_fully_connected contrib.layers.legacy_relu
        contrib.layers.legacy_linear""",
    "contrib.layers.convolutional": """
        contrib.layers.convolution contrib.layers.convolution1d contrib.layers.convolution2d contrib.layers.convolution3d
        contrib.layers.conv1d=convolution1d contrib.layers.conv2d=convolution2d contrib.layers.conv3d=convolution3d
        contrib.layers.convolution2d_transpose contrib.layers.conv2d_transpose=convolution2d_transpose
        contrib.layers.convolution3d_transpose contrib.layers.conv3d_transpose=convolution3d_transpose
        contrib.layers.convolution2d_in_plane contrib.layers.conv2d_in_plane=convolution2d_in_plane""",
    "contrib.layers.separable": """
        contrib.layers.separable_convolution2d contrib.layers.separable_conv2d=separable_convolution2d""",
    "contrib.layers.pooling": """
        contrib.layers.avg_pool2d contrib.layers.avg_pool3d contrib.layers.max_pool2d contrib.layers.max_pool3d
        contrib.layers.pool""",
    "contrib.layers.batch_normalization": "contrib.layers.batch_norm",
    "contrib.layers.normalization": """
        contrib.layers.layer_norm contrib.layers.instance_norm contrib.layers.group_norm contrib.layers.unit_norm""",
    "contrib.layers.rearranging": """
        contrib.layers.dropout contrib.layers.flatten contrib.layers.one_hot_encoding contrib.layers.dense_to_sparse
        contrib.layers.images_to_sequence contrib.layers.sequence_to_images contrib.layers.softmax contrib.layers.maxout
        contrib.layers.poincare_normalize""",
    "contrib.layers.divisive": "contrib.layers.GDN contrib.layers.gdn",
    "contrib.layers.gradients": "contrib.layers.scale_gradient contrib.layers.recompute_grad",
    "contrib.framework.script_ops": "contrib.framework.py_func=contrib_py_func",
    "contrib.layers.combining": "contrib.layers.repeat contrib.layers.stack",
    "contrib.layers.keypoints": "contrib.layers.spatial_softmax",
    "contrib.layers.encoders": """
        contrib.layers.embed_sequence contrib.layers.bow_encoder contrib.layers.embedding_lookup_unique""",
    "contrib.layers.safe_lookups": """
        contrib.layers.safe_embedding_lookup_sparse
        contrib.slim.embedding_lookup_sparse_with_distributed_aggregation""",
    "contrib.layers.optimizing": """
        contrib.layers.optimize_loss contrib.layers.OPTIMIZER_CLS_NAMES contrib.layers.OPTIMIZER_SUMMARIES
        contrib.layers.adaptive_clipping_fn""",
    "contrib.layers.summaries": """
        contrib.layers.summarize_activation contrib.layers.summarize_activations contrib.layers.summarize_collection
        contrib.layers.summarize_tensor contrib.layers.summarize_tensors contrib.layers.summarize_variables
        contrib.layers.summarize_weights contrib.layers.summarize_biases
        contrib.layers.summaries.summarize_activation contrib.layers.summaries.summarize_tensor
        contrib.layers.summaries.summarize_tensors contrib.layers.summaries.summarize_collection
        contrib.layers.summaries.summarize_activations""",
    "contrib.losses.losses": """
        contrib.losses.absolute_difference contrib.losses.add_loss contrib.losses.compute_weighted_loss
        contrib.losses.cosine_distance contrib.losses.get_losses contrib.losses.get_regularization_losses
        contrib.losses.get_total_loss contrib.losses.hinge_loss contrib.losses.log_loss
        contrib.losses.mean_pairwise_squared_error contrib.losses.mean_squared_error
        contrib.losses.sigmoid_cross_entropy contrib.losses.softmax_cross_entropy
        contrib.losses.sparse_softmax_cross_entropy""",
    "contrib.training.training_steps": """
        contrib.training.add_gradients_summaries contrib.training.clip_gradient_norms
        contrib.training.clip_gradient_norms_fn contrib.training.create_train_op
        contrib.training.multiply_gradients""",
    "contrib.distribute.strategies": """
        contrib.distribute.OneDeviceStrategy contrib.distribute.MirroredStrategy
        contrib.distribute.AllReduceCrossDeviceOps""",
    "distribute.further_strategies": "contrib.distribute.CrossDeviceOps",
    "distribute.strategies": """
        contrib.distribute.DistributionStrategy=Strategy contrib.distribute.ReplicaContext
        contrib.distribute.get_distribution_strategy=get_strategy contrib.distribute.get_strategy
        contrib.distribute.has_distribution_strategy=has_strategy contrib.distribute.has_strategy
        contrib.distribute.get_replica_context contrib.distribute.in_cross_replica_context
        contrib.distribute.get_loss_reduction""",
    "facade.eager_context": "contrib.eager.in_eager_mode",
    "contrib.eager.networks": "contrib.eager.Network contrib.eager.Sequential",
    "contrib.eager.network_checkpoints": "contrib.eager.save_network_checkpoint contrib.eager.restore_network_checkpoint",
    "contrib.eager.variable_stores": "contrib.eager.EagerVariableStore",
    "contrib.eager.execution": """
        contrib.eager.DEVICE_PLACEMENT_EXPLICIT contrib.eager.DEVICE_PLACEMENT_WARN contrib.eager.DEVICE_PLACEMENT_SILENT
        contrib.eager.SYNC contrib.eager.ASYNC contrib.eager.set_execution_mode contrib.eager.execution_mode
        contrib.eager.async_wait contrib.eager.async_clear_error contrib.eager.ExecutionCallback contrib.eager.Saver
        contrib.eager.Iterator contrib.eager.restore_variables_on_create contrib.eager.add_execution_callback
        contrib.eager.clear_execution_callbacks""",
    "facade.behavior": "contrib.eager.executing_eagerly",
    "inner.test_util": """
        contrib.eager.run_test_in_graph_and_eager_modes=run_in_graph_and_eager_modes
        contrib.eager.run_all_tests_in_graph_and_eager_modes=run_all_in_graph_and_eager_modes""",
    "contrib.tpu.shards": "contrib.tpu.CrossShardOptimizer contrib.tpu.bfloat16_scope",
    "contrib.slim.summaries": """
        contrib.slim.summaries.add_histogram_summaries contrib.slim.summaries.add_histogram_summary
        contrib.slim.summaries.add_image_summaries contrib.slim.summaries.add_image_summary
        contrib.slim.summaries.add_scalar_summaries contrib.slim.summaries.add_scalar_summary
        contrib.slim.summaries.add_zero_fraction_summaries contrib.slim.summaries.add_zero_fraction_summary""",
    "contrib.layers.collected": """
        contrib.slim.utils.append_tensor_alias contrib.slim.utils.collect_named_outputs
        contrib.slim.utils.convert_collection_to_dict contrib.slim.utils.gather_tensors_aliases
        contrib.slim.utils.get_tensor_aliases contrib.slim.utils.get_variable_collections""",
    "contrib.layers.arguments": """
        contrib.slim.utils.channel_dimension contrib.slim.utils.constant_value contrib.slim.utils.last_dimension
        contrib.slim.utils.n_positive_integers contrib.slim.utils.smart_cond contrib.slim.utils.static_cond
        contrib.slim.utils.two_element_tuple""",
    "contrib.slim.learning": """
        contrib.slim.learning.add_gradients_summaries contrib.slim.learning.clip_gradient_norms
        contrib.slim.learning.create_train_op contrib.slim.learning.multiply_gradients
        contrib.slim.learning.train contrib.slim.learning.train_step""",
    "contrib.slim.evaluation": """
        contrib.slim.evaluation.evaluate_once contrib.slim.evaluation.evaluation_loop""",
    "train.checkpoint_state": """
        contrib.slim.evaluation.checkpoints_iterator contrib.slim.evaluation.wait_for_new_checkpoint
        contrib.training.checkpoints_iterator contrib.training.wait_for_new_checkpoint""",
    "contrib.slim.model_analyzer": """
        contrib.slim.model_analyzer.analyze_ops contrib.slim.model_analyzer.analyze_vars
        contrib.slim.model_analyzer.tensor_description""",
    "contrib.slim.nets.alexnet": """
        contrib.slim.nets.alexnet.alexnet_v2 contrib.slim.nets.alexnet.alexnet_v2_arg_scope""",
    "contrib.slim.nets.overfeat": """
        contrib.slim.nets.overfeat.overfeat contrib.slim.nets.overfeat.overfeat_arg_scope""",
    "contrib.slim.nets.vgg": """
        contrib.slim.nets.vgg.vgg_a contrib.slim.nets.vgg.vgg_16 contrib.slim.nets.vgg.vgg_19
        contrib.slim.nets.vgg.vgg_d contrib.slim.nets.vgg.vgg_e contrib.slim.nets.vgg.vgg_arg_scope""",
    "contrib.slim.nets.resnet_utils": """
        contrib.slim.nets.resnet_utils.Block contrib.slim.nets.resnet_utils.conv2d_same
        contrib.slim.nets.resnet_utils.resnet_arg_scope contrib.slim.nets.resnet_utils.stack_blocks_dense
        contrib.slim.nets.resnet_utils.subsample""",
    "contrib.slim.nets.resnet_v1": """
        contrib.slim.nets.resnet_v1.bottleneck contrib.slim.nets.resnet_v1.resnet_arg_scope
        contrib.slim.nets.resnet_v1.resnet_v1 contrib.slim.nets.resnet_v1.resnet_v1_block
        contrib.slim.nets.resnet_v1.resnet_v1_50 contrib.slim.nets.resnet_v1.resnet_v1_101
        contrib.slim.nets.resnet_v1.resnet_v1_152 contrib.slim.nets.resnet_v1.resnet_v1_200""",
    "contrib.slim.nets.resnet_v2": """
        contrib.slim.nets.resnet_v2.bottleneck contrib.slim.nets.resnet_v2.resnet_arg_scope
        contrib.slim.nets.resnet_v2.resnet_v2 contrib.slim.nets.resnet_v2.resnet_v2_block
        contrib.slim.nets.resnet_v2.resnet_v2_50 contrib.slim.nets.resnet_v2.resnet_v2_101
        contrib.slim.nets.resnet_v2.resnet_v2_152 contrib.slim.nets.resnet_v2.resnet_v2_200""",
    "contrib.training.hyperparameters": "contrib.training.HParams contrib.training.parse_values",
    "contrib.rnn.normalized": "contrib.rnn.LayerNormBasicLSTMCell",
    "contrib.rnn.searched": "contrib.rnn.NASCell",
    "contrib.rnn.coupled": "contrib.rnn.CoupledInputForgetGateLSTMCell",
    "contrib.rnn.frequency": "contrib.rnn.TimeFreqLSTMCell",
    "contrib.rnn.grid": "contrib.rnn.GridLSTMCell contrib.rnn.BidirectionalGridLSTMCell",
    "contrib.rnn.phased": "contrib.rnn.PhasedLSTMCell",
    "contrib.rnn.convolutional": """
        contrib.rnn.ConvLSTMCell contrib.rnn.Conv1DLSTMCell contrib.rnn.Conv2DLSTMCell contrib.rnn.Conv3DLSTMCell""",
    "contrib.rnn.grouped": "contrib.rnn.GLSTMCell",
    "contrib.rnn.gated": "contrib.rnn.UGRNNCell contrib.rnn.IntersectionRNNCell contrib.rnn.SRUCell",
    "contrib.rnn.independent": "contrib.rnn.IndRNNCell contrib.rnn.IndyGRUCell contrib.rnn.IndyLSTMCell",
    "contrib.rnn.attending": "contrib.rnn.AttentionCellWrapper",
    "contrib.rnn.around": """
        contrib.rnn.HighwayWrapper contrib.rnn.CompiledWrapper contrib.rnn.EmbeddingWrapper
        contrib.rnn.InputProjectionWrapper contrib.rnn.OutputProjectionWrapper""",
    "contrib.rnn.block": """
        contrib.rnn.GRUBlockCell contrib.rnn.GRUBlockCellV2 contrib.rnn.LSTMBlockCell contrib.rnn.LSTMBlockFusedCell
        contrib.rnn.LSTMBlockWrapper""",
    "contrib.rnn.fused": "contrib.rnn.FusedRNNCell contrib.rnn.FusedRNNCellAdaptor contrib.rnn.TimeReversedFusedRNN",
    "contrib.rnn.stacked": "contrib.rnn.stack_bidirectional_rnn contrib.rnn.stack_bidirectional_dynamic_rnn",
    "rnn.dynamic": """
        contrib.rnn.transpose_batch_time=_transpose_batch_time contrib.rnn.best_effort_input_batch_size""",
    "contrib.seq2seq.sequence_losses": "contrib.seq2seq.sequence_loss",
    "contrib.seq2seq.decoders": "contrib.seq2seq.Decoder contrib.seq2seq.dynamic_decode",
    "contrib.seq2seq.basic_decoder": "contrib.seq2seq.BasicDecoder contrib.seq2seq.BasicDecoderOutput",
    "contrib.seq2seq.helpers": """
        contrib.seq2seq.Helper contrib.seq2seq.CustomHelper contrib.seq2seq.TrainingHelper
        contrib.seq2seq.GreedyEmbeddingHelper contrib.seq2seq.SampleEmbeddingHelper contrib.seq2seq.InferenceHelper""",
    "contrib.seq2seq.scheduled_helpers": """
        contrib.seq2seq.ScheduledEmbeddingTrainingHelper contrib.seq2seq.ScheduledOutputTrainingHelper""",
    "contrib.seq2seq.attention": """
        contrib.seq2seq.AttentionMechanism contrib.seq2seq.LuongAttention contrib.seq2seq.BahdanauAttention
        contrib.seq2seq.hardmax""",
    "contrib.seq2seq.monotonic": """
        contrib.seq2seq.safe_cumprod contrib.seq2seq.monotonic_attention contrib.seq2seq.BahdanauMonotonicAttention
        contrib.seq2seq.LuongMonotonicAttention""",
    "contrib.seq2seq.attention_wrapper": "contrib.seq2seq.AttentionWrapper contrib.seq2seq.AttentionWrapperState",
    "contrib.seq2seq.beam_scores": "contrib.seq2seq.BeamSearchDecoderState contrib.seq2seq.BeamSearchDecoderOutput",
    "contrib.seq2seq.beam_search": """
        contrib.seq2seq.BeamSearchDecoder contrib.seq2seq.FinalBeamSearchDecoderOutput contrib.seq2seq.tile_batch""",
    "contrib.seq2seq.beam_ops": "contrib.seq2seq.gather_tree",
    "contrib.legacy_seq2seq.losses": """
        contrib.legacy_seq2seq.sequence_loss contrib.legacy_seq2seq.sequence_loss_by_example
        contrib.legacy_seq2seq.model_with_buckets""",
    "contrib.legacy_seq2seq.decoders": """
        contrib.legacy_seq2seq.rnn_decoder contrib.legacy_seq2seq.embedding_rnn_decoder
        contrib.legacy_seq2seq.attention_decoder contrib.legacy_seq2seq.embedding_attention_decoder""",
    "contrib.legacy_seq2seq.models": """
        contrib.legacy_seq2seq.basic_rnn_seq2seq contrib.legacy_seq2seq.tied_rnn_seq2seq
        contrib.legacy_seq2seq.embedding_rnn_seq2seq contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq
        contrib.legacy_seq2seq.embedding_attention_seq2seq contrib.legacy_seq2seq.one2many_rnn_seq2seq""",
    "contrib.crf.chains": """
        contrib.crf.crf_sequence_score contrib.crf.crf_multitag_sequence_score contrib.crf.crf_log_norm
        contrib.crf.crf_log_likelihood contrib.crf.crf_unary_score contrib.crf.crf_binary_score""",
    "contrib.crf.recursions": """
        contrib.crf.CrfForwardRnnCell contrib.crf.CrfDecodeForwardRnnCell contrib.crf.CrfDecodeBackwardRnnCell""",
    "contrib.crf.decoding": "contrib.crf.viterbi_decode contrib.crf.crf_decode",
    "contrib.opt.adam_kin": """
        contrib.opt.LazyAdamOptimizer contrib.opt.AdamGSOptimizer contrib.opt.LazyAdamGSOptimizer
        contrib.opt.NadamOptimizer contrib.opt.AdaMaxOptimizer""",
    "contrib.opt.weight_decay": """
        contrib.opt.DecoupledWeightDecayExtension contrib.opt.extend_with_decoupled_weight_decay
        contrib.opt.MomentumWOptimizer contrib.opt.AdamWOptimizer""",
    "contrib.opt.signs": "contrib.opt.AddSignOptimizer contrib.opt.PowerSignOptimizer",
    "contrib.opt.elastic": "contrib.opt.ElasticAverageOptimizer contrib.opt.ElasticAverageCustomGetter",
    "contrib.opt.model_average": "contrib.opt.ModelAverageOptimizer contrib.opt.ModelAverageCustomGetter",
    "contrib.opt.accumulated": "contrib.opt.AGNOptimizer contrib.opt.AGNCustomGetter",
    "contrib.opt.stale": "contrib.opt.DropStaleGradientOptimizer",
    "contrib.opt.shampoo": "contrib.opt.ShampooOptimizer",
    "contrib.opt.ggt": "contrib.opt.GGTOptimizer",
    "contrib.opt.averaging": "contrib.opt.MovingAverageOptimizer",
    "contrib.opt.around": """
        contrib.opt.VariableClippingOptimizer contrib.opt.MultitaskOptimizerWrapper
        contrib.opt.clip_gradients_by_global_norm""",
    "contrib.opt.scaled": "contrib.opt.LARSOptimizer contrib.opt.RegAdagradOptimizer",
    "contrib.opt.external": "contrib.opt.ExternalOptimizerInterface contrib.opt.ScipyOptimizerInterface",
    "contrib.metrics.reordered": """
        contrib.metrics.streaming_true_positives contrib.metrics.streaming_true_negatives
        contrib.metrics.streaming_false_positives contrib.metrics.streaming_false_negatives
        contrib.metrics.streaming_precision contrib.metrics.streaming_recall contrib.metrics.streaming_mean
        contrib.metrics.streaming_mean_tensor contrib.metrics.streaming_accuracy
        contrib.metrics.streaming_mean_absolute_error contrib.metrics.streaming_mean_relative_error
        contrib.metrics.streaming_mean_squared_error contrib.metrics.streaming_root_mean_squared_error
        contrib.metrics.streaming_percentage_less contrib.metrics.streaming_mean_iou
        contrib.metrics.streaming_auc contrib.metrics.streaming_specificity_at_sensitivity
        contrib.metrics.streaming_sensitivity_at_specificity contrib.metrics.streaming_precision_at_thresholds
        contrib.metrics.streaming_recall_at_thresholds contrib.metrics.streaming_sparse_recall_at_k
        contrib.metrics.streaming_sparse_precision_at_k contrib.metrics.streaming_sparse_average_precision_at_k
        contrib.metrics.streaming_sparse_average_precision_at_top_k""",
    "contrib.metrics.at_top_k": """
        contrib.metrics.streaming_recall_at_k contrib.metrics.streaming_sparse_precision_at_top_k
        contrib.metrics.sparse_recall_at_top_k""",
    "contrib.metrics.rates": """
        contrib.metrics.streaming_false_positive_rate contrib.metrics.streaming_false_negative_rate
        contrib.metrics.streaming_true_positives_at_thresholds
        contrib.metrics.streaming_false_negatives_at_thresholds
        contrib.metrics.streaming_false_positives_at_thresholds
        contrib.metrics.streaming_true_negatives_at_thresholds
        contrib.metrics.streaming_false_positive_rate_at_thresholds
        contrib.metrics.streaming_false_negative_rate_at_thresholds contrib.metrics.streaming_curve_points
        contrib.metrics.recall_at_precision contrib.metrics.precision_at_recall contrib.metrics.f1_score""",
    "contrib.metrics.concatenation": """
        contrib.metrics.streaming_concat""",
    "contrib.metrics.areas": """
        contrib.metrics.streaming_dynamic_auc contrib.metrics.auc_with_confidence_intervals
        contrib.metrics.precision_recall_at_equal_thresholds contrib.metrics.auc_using_histogram""",
    "contrib.metrics.agreement": """
        contrib.metrics.streaming_covariance contrib.metrics.streaming_pearson_correlation
        contrib.metrics.streaming_mean_cosine_distance contrib.metrics.count contrib.metrics.cohen_kappa
        contrib.metrics.accuracy contrib.metrics.aggregate_metrics contrib.metrics.aggregate_metric_map
        contrib.metrics.confusion_matrix=contrib_confusion_matrix""",
    "ops.sparse.set_operations": """
        contrib.metrics.set_difference contrib.metrics.set_intersection contrib.metrics.set_size contrib.metrics.set_union""",
    "train.evaluation": """
        contrib.training.get_or_create_eval_step contrib.training.StopAfterNEvalsHook contrib.training.evaluate_once
        contrib.training.evaluate_repeatedly""",
    "contrib.training.bucketing": "contrib.training.bucket contrib.training.bucket_by_sequence_length",
    "contrib.training.sampling": """
        contrib.training.rejection_sample contrib.training.stratified_sample contrib.training.resample_at_rate
        contrib.training.weighted_resample""",
    "contrib.training.placement": """
        contrib.training.RandomStrategy contrib.training.GreedyLoadBalancingStrategy contrib.training.byte_size_load_fn""",
    "contrib.training.state_saver": """
        contrib.training.NextQueuedSequenceBatch contrib.training.SequenceQueueingStateSaver""",
    "contrib.training.sequence_batches": "contrib.training.batch_sequences_with_states",
    "contrib.training.feeding": "contrib.training.FeedingQueueRunner",
    "contrib.training.loop": "contrib.training.train contrib.training.SummaryAtEndHook",
    "contrib.nn.functions": """
        contrib.nn.alpha_dropout contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits
        contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits
        contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits contrib.nn.scaled_softplus contrib.nn.nth_element
        contrib.nn.sampled_sparse_softmax_loss contrib.nn.rank_sampled_softmax_loss""",
    "contrib.sparsemax.projection": "contrib.sparsemax.sparsemax contrib.sparsemax.sparsemax_loss",
    "contrib.cudnn_rnn.cells": "contrib.cudnn_rnn.CudnnCompatibleLSTMCell contrib.cudnn_rnn.CudnnCompatibleGRUCell",
    "contrib.cudnn_rnn.converters": """
        contrib.cudnn_rnn.CudnnParamsFormatConverterLSTM contrib.cudnn_rnn.CudnnParamsFormatConverterGRU
        contrib.cudnn_rnn.CudnnParamsFormatConverterTanh contrib.cudnn_rnn.CudnnParamsFormatConverterRelu""",
    "contrib.cudnn_rnn.saveables": """
        contrib.cudnn_rnn.CudnnLSTMSaveable contrib.cudnn_rnn.CudnnGRUSaveable contrib.cudnn_rnn.CudnnRNNTanhSaveable
        contrib.cudnn_rnn.CudnnRNNReluSaveable""",
    "contrib.cudnn_rnn.layers": """
        contrib.cudnn_rnn.CudnnLSTM contrib.cudnn_rnn.CudnnGRU contrib.cudnn_rnn.CudnnRNNTanh
        contrib.cudnn_rnn.CudnnRNNRelu""",
    "formats.meta_graph": "contrib.util.ops_used_by_graph_def contrib.util.stripped_op_list_for_graph",
    "contrib.linear_optimizer.models": "contrib.linear_optimizer.SdcaModel contrib.linear_optimizer.SparseFeatureColumn",
    "contrib.linear_optimizer.column_optimizer": "contrib.linear_optimizer.SDCAOptimizer",
    "contrib.kernel_methods.mapping": "contrib.kernel_methods.RandomFourierFeatureMapper",
    "contrib.kernel_methods.estimators": "contrib.kernel_methods.KernelLinearClassifier",
    "contrib.kernel_methods.losses": "contrib.kernel_methods.sparse_multiclass_hinge_loss",
    "contrib.constrained_optimization.problems": """
        contrib.constrained_optimization.ConstrainedMinimizationProblem contrib.constrained_optimization.ConstrainedOptimizer""",
    "contrib.constrained_optimization.games": """
        contrib.constrained_optimization.AdditiveExternalRegretOptimizer
        contrib.constrained_optimization.AdditiveSwapRegretOptimizer
        contrib.constrained_optimization.MultiplicativeSwapRegretOptimizer""",
    "contrib.constrained_optimization.candidates": """
        contrib.constrained_optimization.find_best_candidate_distribution
        contrib.constrained_optimization.find_best_candidate_index""",
    "contrib.checkpoint.containers": """
        contrib.checkpoint.Checkpointable contrib.checkpoint.CheckpointableBase contrib.checkpoint.List
        contrib.checkpoint.Mapping contrib.checkpoint.NoDependency contrib.checkpoint.UniqueNameTracker""",
    "contrib.checkpoint.split": "contrib.checkpoint.split_dependency",
    "contrib.checkpoint.numpy_state": "contrib.checkpoint.NumpyState",
    "contrib.checkpoint.inspection": """
        contrib.checkpoint.dot_graph_from_checkpoint contrib.checkpoint.list_objects contrib.checkpoint.object_metadata""",
    "contrib.reduce_slice_ops.slice_ops": """
        contrib.reduce_slice_ops.reduce_slice_sum contrib.reduce_slice_ops.reduce_slice_prod
        contrib.reduce_slice_ops.reduce_slice_max contrib.reduce_slice_ops.reduce_slice_min""",
    "contrib.testing.summaries": """
        contrib.testing.assert_summary contrib.testing.latest_event_file contrib.testing.latest_events
        contrib.testing.latest_summaries contrib.testing.simple_values_from_events contrib.testing.to_summary_proto""",
    "contrib.libsvm.libsvm_ops": "contrib.libsvm.decode_libsvm",
    "contrib.nearest_neighbor.probe_ops": "contrib.nearest_neighbor.hyperplane_lsh_probes",
    "train.hooks.profiling": "contrib.hooks.ProfilerHook",
    "contrib.testing.fake_writer": "contrib.testing.FakeSummaryWriter",
    "contrib.staging.area": "contrib.staging.StagingArea",
    "resources.batches": "contrib.batching.batch_function",
    "contrib.grid_rnn.cells": """
        contrib.grid_rnn.GridRNNCell contrib.grid_rnn.Grid1BasicRNNCell contrib.grid_rnn.Grid2BasicRNNCell
        contrib.grid_rnn.Grid1BasicLSTMCell contrib.grid_rnn.Grid2BasicLSTMCell contrib.grid_rnn.Grid1LSTMCell
        contrib.grid_rnn.Grid2LSTMCell contrib.grid_rnn.Grid3LSTMCell contrib.grid_rnn.Grid2GRUCell""",
    "contrib.resampler.resampler_ops": "contrib.resampler.resampler",
    "contrib.image.transform_ops": """
        contrib.image.transform contrib.image.rotate contrib.image.translate contrib.image.compose_transforms
        contrib.image.angles_to_projective_transforms contrib.image.translations_to_projective_transforms
        contrib.image.flat_transforms_to_matrices contrib.image.matrices_to_flat_transforms""",
    "contrib.image.distort_ops": "contrib.image.adjust_hsv_in_yiq contrib.image.random_hsv_in_yiq",
    "contrib.image.matching_ops": "contrib.image.bipartite_match contrib.image.connected_components",
    "contrib.image.stereogram_ops": "contrib.image.single_image_random_dot_stereograms",
    "contrib.image.warps": """
        contrib.image.dense_image_warp contrib.image.interpolate_spline contrib.image.sparse_image_warp""",
    "contrib.slim.nets.inception_v1": """
        contrib.slim.nets.inception_v1.inception_v1 contrib.slim.nets.inception_v1.inception_v1_base
        contrib.slim.nets.inception_v1.inception_v1_arg_scope contrib.slim.nets.inception.inception_v1
        contrib.slim.nets.inception.inception_v1_base contrib.slim.nets.inception.inception_v1_arg_scope""",
    "contrib.slim.nets.inception_v2": """
        contrib.slim.nets.inception_v2.inception_v2 contrib.slim.nets.inception_v2.inception_v2_base
        contrib.slim.nets.inception_v2.inception_v2_arg_scope contrib.slim.nets.inception.inception_v2
        contrib.slim.nets.inception.inception_v2_base contrib.slim.nets.inception.inception_v2_arg_scope""",
    "contrib.slim.nets.inception_v3": """
        contrib.slim.nets.inception_v3.inception_v3 contrib.slim.nets.inception_v3.inception_v3_base
        contrib.slim.nets.inception_v3.inception_v3_arg_scope contrib.slim.nets.inception.inception_v3
        contrib.slim.nets.inception.inception_v3_base contrib.slim.nets.inception.inception_v3_arg_scope""",
    "contrib.slim.data.datasets": """
        contrib.slim.dataset.Dataset contrib.slim.data_decoder.DataDecoder contrib.slim.data_provider.DataProvider
        contrib.slim.dataset_data_provider.DatasetDataProvider""",
    "contrib.slim.data.readers": """
        contrib.slim.parallel_reader.ParallelReader contrib.slim.parallel_reader.parallel_read
        contrib.slim.parallel_reader.single_pass_read contrib.slim.parallel_reader.get_data_files
        contrib.slim.prefetch_queue.prefetch_queue contrib.slim.queues.QueueRunners
        contrib.slim.queues.NestedQueueRunnerError""",
    "contrib.slim.data.example_decoder": """
        contrib.slim.tfexample_decoder.ItemHandler contrib.slim.tfexample_decoder.ItemHandlerCallback
        contrib.slim.tfexample_decoder.BoundingBox contrib.slim.tfexample_decoder.Tensor=TensorHandler
        contrib.slim.tfexample_decoder.LookupTensor contrib.slim.tfexample_decoder.BackupHandler
        contrib.slim.tfexample_decoder.SparseTensor=SparseTensorHandler contrib.slim.tfexample_decoder.Image
        contrib.slim.tfexample_decoder.TFExampleDecoder""",
    "contrib.graph_editor.lists": """
        contrib.graph_editor.make_list_of_op contrib.graph_editor.make_list_of_t
        contrib.graph_editor.get_generating_ops contrib.graph_editor.get_consuming_ops
        contrib.graph_editor.ControlOutputs contrib.graph_editor.placeholder_name
        contrib.graph_editor.make_placeholder_from_tensor
        contrib.graph_editor.make_placeholder_from_dtype_and_shape
        contrib.graph_editor.util.scope_finalize=scope_of contrib.graph_editor.util.is_iterable
        contrib.graph_editor.util.concatenate_unique
        contrib.graph_editor.ph=make_placeholder_from_dtype_and_shape""",
    "contrib.graph_editor.selecting": """
        contrib.graph_editor.can_be_regex contrib.graph_editor.make_regex contrib.graph_editor.filter_ts
        contrib.graph_editor.filter_ts_from_regex contrib.graph_editor.filter_ops
        contrib.graph_editor.filter_ops_from_regex contrib.graph_editor.get_name_scope_ops
        contrib.graph_editor.check_cios contrib.graph_editor.get_ops_ios
        contrib.graph_editor.compute_boundary_ts contrib.graph_editor.get_within_boundary_ops
        contrib.graph_editor.get_forward_walk_ops contrib.graph_editor.get_backward_walk_ops
        contrib.graph_editor.get_walks_intersection_ops contrib.graph_editor.get_walks_union_ops
        contrib.graph_editor.select_ops contrib.graph_editor.select_ts contrib.graph_editor.select_ops_and_ts""",
    "contrib.graph_editor.rerouting": """
        contrib.graph_editor.swap_ts contrib.graph_editor.reroute_ts contrib.graph_editor.remove_control_inputs
        contrib.graph_editor.add_control_inputs""",
    "contrib.graph_editor.views": """
        contrib.graph_editor.SubGraphView
        contrib.graph_editor.make_view
        contrib.graph_editor.make_view_from_scope
        contrib.graph_editor.sgv=make_view
        contrib.graph_editor.sgv_scope=make_view_from_scope
        contrib.graph_editor.util.get_unique_graph contrib.graph_editor.util.check_graphs""",
    "contrib.graph_editor.editing": """
        contrib.graph_editor.swap_inputs
        contrib.graph_editor.reroute_inputs
        contrib.graph_editor.swap_outputs
        contrib.graph_editor.reroute_outputs
        contrib.graph_editor.swap_ios
        contrib.graph_editor.reroute_ios
        contrib.graph_editor.detach_control_inputs
        contrib.graph_editor.detach_control_outputs
        contrib.graph_editor.detach_inputs
        contrib.graph_editor.detach_outputs
        contrib.graph_editor.detach
        contrib.graph_editor.connect
        contrib.graph_editor.bypass""",
    "contrib.graph_editor.transforming": """
        contrib.graph_editor.Transformer
        contrib.graph_editor.TransformerInfo
        contrib.graph_editor.copy
        contrib.graph_editor.copy_op_handler
        contrib.graph_editor.copy_with_input_replacements
        contrib.graph_editor.keep_t_if_possible_handler
        contrib.graph_editor.replace_t_with_placeholder_handler
        contrib.graph_editor.assign_renamed_collections_handler
        contrib.graph_editor.transform_op_if_inside_handler""",
    "contrib.graph_editor.replacing": """
        contrib.graph_editor.graph_replace""",
    "contrib.copy_graph.copying": """
        contrib.copy_graph.copy_variable_to_graph contrib.copy_graph.get_copied_op
        contrib.copy_graph.copy_op_to_graph""",
}
