"""Public names that are only other names of something: TensorFlow 1.15 has many a function in several namespaces.

``"sparse": "add=sparse_add"`` says that ``tf.sparse.add`` is what ``tf.sparse_add`` is; without ``=`` it is ``tf.add``.
A line may name what is not there yet: the alias appears together with it.
"""
from __future__ import annotations

ALIASES: dict[str, str] = {
    "contrib.cluster_resolver": """
        ClusterResolver=distribute.cluster_resolver.ClusterResolver
        GCEClusterResolver=distribute.cluster_resolver.GCEClusterResolver
        KubernetesClusterResolver=distribute.cluster_resolver.KubernetesClusterResolver
        SimpleClusterResolver=distribute.cluster_resolver.SimpleClusterResolver
        SlurmClusterResolver=distribute.cluster_resolver.SlurmClusterResolver
        TFConfigClusterResolver=distribute.cluster_resolver.TFConfigClusterResolver
        UnionClusterResolver=distribute.cluster_resolver.UnionResolver""",
    "contrib.checkpoint": """
        CheckpointManager=train.CheckpointManager PythonStateWrapper=train.experimental.PythonState""",
    "contrib.receptive_field.receptive_field_api": """
        compute_receptive_field_from_graph_def=contrib.receptive_field.compute_receptive_field_from_graph_def
        get_compute_order=contrib.receptive_field.get_compute_order""",
    "contrib.tensor_forest.python.tensor_forest": """
        ForestHParams=contrib.tensor_forest.tensor_forest.ForestHParams
        ForestVariables=contrib.tensor_forest.tensor_forest.ForestVariables
        RandomForestGraphs=contrib.tensor_forest.tensor_forest.RandomForestGraphs
        RandomTreeGraphs=contrib.tensor_forest.tensor_forest.RandomTreeGraphs
        TreeVariables=contrib.tensor_forest.tensor_forest.TreeVariables
        build_params_proto=contrib.tensor_forest.tensor_forest.build_params_proto""",
    "contrib.estimator": """
        add_metrics=estimator.add_metrics call_logit_fn=estimator.experimental.call_logit_fn
        dnn_logit_fn_builder=estimator.experimental.dnn_logit_fn_builder
        linear_logit_fn_builder=estimator.experimental.linear_logit_fn_builder
        build_raw_supervised_input_receiver_fn=estimator.experimental.build_raw_supervised_input_receiver_fn""",
    "contrib.feature_column": """
        sequence_categorical_column_with_hash_bucket=feature_column.sequence_categorical_column_with_hash_bucket
        sequence_categorical_column_with_identity=feature_column.sequence_categorical_column_with_identity
        sequence_categorical_column_with_vocabulary_file=feature_column.sequence_categorical_column_with_vocabulary_file
        sequence_categorical_column_with_vocabulary_list=feature_column.sequence_categorical_column_with_vocabulary_list""",
    **{f"contrib.graph_editor.{module}": " ".join(f"{name}=contrib.graph_editor.{name}" for name in names.split())
       for module, names in {
           "edit": "bypass connect detach detach_control_inputs detach_control_outputs detach_inputs detach_outputs",
           "reroute": """add_control_inputs remove_control_inputs reroute_inputs reroute_ios reroute_outputs reroute_ts swap_inputs
                         swap_ios swap_outputs swap_ts""",
           "select": """can_be_regex check_cios compute_boundary_ts filter_ops filter_ops_from_regex filter_ts filter_ts_from_regex
                        get_backward_walk_ops get_forward_walk_ops get_name_scope_ops get_ops_ios get_walks_intersection_ops
                        get_walks_union_ops get_within_boundary_ops make_regex select_ops select_ops_and_ts select_ts""",
           "subgraph": "SubGraphView make_view make_view_from_scope",
           "transform": """Transformer TransformerInfo assign_renamed_collections_handler copy copy_op_handler
                           copy_with_input_replacements graph_replace keep_t_if_possible_handler
                           replace_t_with_placeholder_handler transform_op_if_inside_handler""",
           "util": """ControlOutputs get_consuming_ops get_generating_ops get_tensors make_list_of_op make_list_of_t
                      make_placeholder_from_dtype_and_shape make_placeholder_from_tensor placeholder_name""",
       }.items()},
    "contrib.autograph": """
        Feature=autograph.experimental.Feature do_not_convert=autograph.experimental.do_not_convert
        set_loop_options=autograph.experimental.set_loop_options""",
    "contrib.quantization": "dequantize quantized_concat",
    "contrib.nn": "conv1d_transpose=nn.conv1d_transpose",
    "contrib.eager": "TensorSpec GradientTape custom_gradient py_func=py_function",
    "contrib.signal": """
        frame=signal.frame hamming_window=signal.hamming_window hann_window=signal.hann_window
        inverse_stft=signal.inverse_stft inverse_stft_window_fn=signal.inverse_stft_window_fn
        linear_to_mel_weight_matrix=signal.linear_to_mel_weight_matrix
        mfccs_from_log_mel_spectrograms=signal.mfccs_from_log_mel_spectrograms overlap_and_add=signal.overlap_and_add
        stft=signal.stft""",
    "": "matrix_square_root=linalg.sqrtm",
    "contrib.distributions": """
        Bernoulli=distributions.Bernoulli Beta=distributions.Beta Categorical=distributions.Categorical
        Dirichlet=distributions.Dirichlet DirichletMultinomial=distributions.DirichletMultinomial
        Distribution=distributions.Distribution Exponential=distributions.Exponential
        FULLY_REPARAMETERIZED=distributions.FULLY_REPARAMETERIZED Gamma=distributions.Gamma
        Laplace=distributions.Laplace Multinomial=distributions.Multinomial
        NOT_REPARAMETERIZED=distributions.NOT_REPARAMETERIZED Normal=distributions.Normal
        RegisterKL=distributions.RegisterKL ReparameterizationType=distributions.ReparameterizationType
        StudentT=distributions.StudentT Uniform=distributions.Uniform
        kl_divergence=distributions.kl_divergence""",
    "contrib.layers.feature_column": " ".join(f"{name}=contrib.layers.{name}" for name in """
        bucketized_column create_feature_spec_for_parsing crossed_column embedding_column
        make_place_holder_tensors_for_base_features one_hot_column real_valued_column scattered_embedding_column
        shared_embedding_columns sparse_column_with_hash_bucket sparse_column_with_integerized_feature sparse_column_with_keys
        sparse_column_with_vocabulary_file weighted_sparse_column""".split()),
    "contrib.slim": """
        GDN=contrib.layers.GDN bucketized_column=contrib.layers.bucketized_column
        check_feature_columns=contrib.layers.check_feature_columns
        create_feature_spec_for_parsing=contrib.layers.create_feature_spec_for_parsing
        crossed_column=contrib.layers.crossed_column embedding_column=contrib.layers.embedding_column gdn=contrib.layers.gdn
        infer_real_valued_columns=contrib.layers.infer_real_valued_columns
        input_from_feature_columns=contrib.layers.input_from_feature_columns
        joint_weighted_sum_from_feature_columns=contrib.layers.joint_weighted_sum_from_feature_columns
        make_place_holder_tensors_for_base_features=contrib.layers.make_place_holder_tensors_for_base_features
        one_hot_column=contrib.layers.one_hot_column
        parse_feature_columns_from_examples=contrib.layers.parse_feature_columns_from_examples
        real_valued_column=contrib.layers.real_valued_column recompute_grad=contrib.layers.recompute_grad
        scale_gradient=contrib.layers.scale_gradient
        sequence_input_from_feature_columns=contrib.layers.sequence_input_from_feature_columns
        shared_embedding_columns=contrib.layers.shared_embedding_columns
        sparse_column_with_hash_bucket=contrib.layers.sparse_column_with_hash_bucket
        sparse_column_with_integerized_feature=contrib.layers.sparse_column_with_integerized_feature
        sparse_column_with_keys=contrib.layers.sparse_column_with_keys
        sparse_column_with_vocabulary_file=contrib.layers.sparse_column_with_vocabulary_file
        transform_features=contrib.layers.transform_features weighted_sparse_column=contrib.layers.weighted_sparse_column
        weighted_sum_from_feature_columns=contrib.layers.weighted_sum_from_feature_columns
        OPTIMIZER_CLS_NAMES=contrib.layers.OPTIMIZER_CLS_NAMES
        OPTIMIZER_SUMMARIES=contrib.layers.OPTIMIZER_SUMMARIES
        adaptive_clipping_fn=contrib.layers.adaptive_clipping_fn
        apply_regularization=contrib.layers.apply_regularization avg_pool2d=contrib.layers.avg_pool2d
        avg_pool3d=contrib.layers.avg_pool3d batch_norm=contrib.layers.batch_norm
        bias_add=contrib.layers.bias_add bow_encoder=contrib.layers.bow_encoder conv1d=contrib.layers.conv1d
        conv2d=contrib.layers.conv2d conv2d_in_plane=contrib.layers.conv2d_in_plane
        conv2d_transpose=contrib.layers.conv2d_transpose conv3d=contrib.layers.conv3d
        conv3d_transpose=contrib.layers.conv3d_transpose convolution=contrib.layers.convolution
        convolution1d=contrib.layers.convolution1d convolution2d=contrib.layers.convolution2d
        convolution2d_in_plane=contrib.layers.convolution2d_in_plane
        convolution2d_transpose=contrib.layers.convolution2d_transpose
        convolution3d=contrib.layers.convolution3d
        convolution3d_transpose=contrib.layers.convolution3d_transpose
        dense_to_sparse=contrib.layers.dense_to_sparse dropout=contrib.layers.dropout elu=contrib.layers.elu
        embed_sequence=contrib.layers.embed_sequence
        embedding_lookup_unique=contrib.layers.embedding_lookup_unique flatten=contrib.layers.flatten
        fully_connected=contrib.layers.fully_connected group_norm=contrib.layers.group_norm
        images_to_sequence=contrib.layers.images_to_sequence instance_norm=contrib.layers.instance_norm
        l1_l2_regularizer=contrib.layers.l1_l2_regularizer l1_regularizer=contrib.layers.l1_regularizer
        l2_regularizer=contrib.layers.l2_regularizer layer_norm=contrib.layers.layer_norm
        legacy_fully_connected=contrib.layers.legacy_fully_connected legacy_linear=contrib.layers.legacy_linear
        legacy_relu=contrib.layers.legacy_relu linear=contrib.layers.linear max_pool2d=contrib.layers.max_pool2d
        max_pool3d=contrib.layers.max_pool3d maxout=contrib.layers.maxout
        one_hot_encoding=contrib.layers.one_hot_encoding optimize_loss=contrib.layers.optimize_loss
        pool=contrib.layers.pool relu=contrib.layers.relu relu6=contrib.layers.relu6
        repeat=contrib.layers.repeat safe_embedding_lookup_sparse=contrib.layers.safe_embedding_lookup_sparse
        separable_conv2d=contrib.layers.separable_conv2d
        separable_convolution2d=contrib.layers.separable_convolution2d
        sequence_to_images=contrib.layers.sequence_to_images softmax=contrib.layers.softmax
        spatial_softmax=contrib.layers.spatial_softmax stack=contrib.layers.stack
        sum_regularizer=contrib.layers.sum_regularizer summarize_activation=contrib.layers.summarize_activation
        summarize_activations=contrib.layers.summarize_activations
        summarize_biases=contrib.layers.summarize_biases
        summarize_collection=contrib.layers.summarize_collection
        summarize_tensor=contrib.layers.summarize_tensor summarize_tensors=contrib.layers.summarize_tensors
        summarize_variables=contrib.layers.summarize_variables
        summarize_weights=contrib.layers.summarize_weights unit_norm=contrib.layers.unit_norm
        variance_scaling_initializer=contrib.layers.variance_scaling_initializer
        xavier_initializer=contrib.layers.xavier_initializer
        xavier_initializer_conv2d=contrib.layers.xavier_initializer_conv2d
        VariableDeviceChooser=contrib.framework.VariableDeviceChooser
        add_arg_scope=contrib.framework.add_arg_scope add_model_variable=contrib.framework.add_model_variable
        arg_scope=contrib.framework.arg_scope arg_scope_func_key=contrib.framework.arg_scope_func_key
        arg_scoped_arguments=contrib.framework.arg_scoped_arguments
        assert_global_step=contrib.framework.assert_global_step
        assert_or_get_global_step=contrib.framework.assert_or_get_global_step
        assign_from_checkpoint=contrib.framework.assign_from_checkpoint
        assign_from_checkpoint_fn=contrib.framework.assign_from_checkpoint_fn
        assign_from_values=contrib.framework.assign_from_values
        assign_from_values_fn=contrib.framework.assign_from_values_fn
        create_global_step=contrib.framework.create_global_step
        current_arg_scope=contrib.framework.current_arg_scope deprecated=contrib.framework.deprecated
        deprecated_arg_values=contrib.framework.deprecated_arg_values
        filter_variables=contrib.framework.filter_variables get_global_step=contrib.framework.get_global_step
        get_local_variables=contrib.framework.get_local_variables
        get_model_variables=contrib.framework.get_model_variables
        get_or_create_global_step=contrib.framework.get_or_create_global_step
        get_trainable_variables=contrib.framework.get_trainable_variables
        get_unique_variable=contrib.framework.get_unique_variable
        get_variable_full_name=contrib.framework.get_variable_full_name
        get_variables=contrib.framework.get_variables
        get_variables_by_name=contrib.framework.get_variables_by_name
        get_variables_by_suffix=contrib.framework.get_variables_by_suffix
        get_variables_to_restore=contrib.framework.get_variables_to_restore
        global_variable=contrib.framework.global_variable has_arg_scope=contrib.framework.has_arg_scope
        local_variable=contrib.framework.local_variable model_variable=contrib.framework.model_variable
        variable=contrib.framework.variable zero_initializer=contrib.framework.zero_initializer""",
    "contrib.slim.initializers": """
        variance_scaling_initializer=contrib.layers.variance_scaling_initializer
        xavier_initializer=contrib.layers.xavier_initializer
        xavier_initializer_conv2d=contrib.layers.xavier_initializer_conv2d""",
    "contrib.slim.regularizers": """
        apply_regularization=contrib.layers.apply_regularization l1_l2_regularizer=contrib.layers.l1_l2_regularizer
        l1_regularizer=contrib.layers.l1_regularizer l2_regularizer=contrib.layers.l2_regularizer
        sum_regularizer=contrib.layers.sum_regularizer""",
    "contrib.slim.losses": """
        absolute_difference=contrib.losses.absolute_difference add_loss=contrib.losses.add_loss
        compute_weighted_loss=contrib.losses.compute_weighted_loss
        cosine_distance=contrib.losses.cosine_distance get_losses=contrib.losses.get_losses
        get_regularization_losses=contrib.losses.get_regularization_losses
        get_total_loss=contrib.losses.get_total_loss hinge_loss=contrib.losses.hinge_loss
        log_loss=contrib.losses.log_loss mean_pairwise_squared_error=contrib.losses.mean_pairwise_squared_error
        mean_squared_error=contrib.losses.mean_squared_error
        sigmoid_cross_entropy=contrib.losses.sigmoid_cross_entropy
        softmax_cross_entropy=contrib.losses.softmax_cross_entropy
        sparse_softmax_cross_entropy=contrib.losses.sparse_softmax_cross_entropy""",
    "dtypes": "as_string complex",
    "initializers": "tables_initializer",
    "io": """
        FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature decode_base64 decode_compressed decode_csv
        decode_json_example decode_raw deserialize_many_sparse encode_base64 parse_example parse_single_example
        parse_single_sequence_example parse_tensor serialize_many_sparse serialize_sparse serialize_tensor""",
    "linalg": "global_norm",
    "quantization": """
        dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
        fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel
        fake_quant_with_min_max_vars_per_channel_gradient quantize quantized_concat""",
    "random": "learned_unigram_candidate_sampler=nn.learned_unigram_candidate_sampler",
    "saved_model.experimental": "save=saved_model.save",
    "sparse": """
        SparseTensor add=sparse_add concat=sparse_concat fill_empty_rows=sparse_fill_empty_rows mask=sparse_mask
        matmul=sparse_tensor_dense_matmul maximum=sparse_maximum merge=sparse_merge minimum=sparse_minimum
        reduce_max=sparse_reduce_max reduce_max_sparse=sparse_reduce_max_sparse reduce_sum=sparse_reduce_sum
        reduce_sum_sparse=sparse_reduce_sum_sparse reorder=sparse_reorder reset_shape=sparse_reset_shape
        reshape=sparse_reshape retain=sparse_retain slice=sparse_slice softmax=sparse_softmax
        sparse_dense_matmul=sparse_tensor_dense_matmul split=sparse_split to_dense=sparse_tensor_to_dense
        to_indicator=sparse_to_indicator transpose=sparse_transpose""",
    "strings": """
        as_string join=string_join reduce_join regex_replace strip=string_strip to_hash_bucket=string_to_hash_bucket
        to_hash_bucket_fast=string_to_hash_bucket_fast to_hash_bucket_strong=string_to_hash_bucket_strong
        to_number=string_to_number""",
}

SAME_NAMESPACES = {"app.flags": "flags", "contrib.slim.metrics": "contrib.metrics", "contrib.slim.layers": "contrib.layers",
                   "contrib.slim.feature_column": "contrib.layers.feature_column"}
"""Namespaces that are another one."""
