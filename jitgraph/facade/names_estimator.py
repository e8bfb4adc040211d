"""The public names of feature columns and estimators; the table is of the form that ``jitgraph.facade.names`` explains."""
from __future__ import annotations

ESTIMATORS: dict[str, str] = {
    "feature_column.numeric": "feature_column.numeric_column feature_column.bucketized_column",
    "feature_column.categorical": """
        feature_column.categorical_column_with_hash_bucket feature_column.categorical_column_with_identity
        feature_column.categorical_column_with_vocabulary_file
        feature_column.categorical_column_with_vocabulary_list""",
    "feature_column.combined": "feature_column.weighted_categorical_column feature_column.crossed_column",
    "feature_column.sequences": """
        feature_column.sequence_numeric_column feature_column.sequence_categorical_column_with_hash_bucket
        feature_column.sequence_categorical_column_with_identity
        feature_column.sequence_categorical_column_with_vocabulary_file
        feature_column.sequence_categorical_column_with_vocabulary_list""",
    "feature_column.embedding": """
        feature_column.embedding_column feature_column.shared_embedding_columns feature_column.indicator_column""",
    "feature_column.dense_rows": "feature_column.input_layer contrib.slim.InputLayer",
    "feature_column.weighted_sums": "feature_column.linear_model",
    "feature_column.column": "feature_column.make_parse_example_spec",
    "estimator.estimator": "estimator.Estimator",
    "estimator.spec": "estimator.EstimatorSpec estimator.experimental.call_logit_fn",
    "estimator.tpu.configs": """
        estimator.tpu.InputPipelineConfig estimator.tpu.TPUConfig estimator.tpu.RunConfig
        contrib.tpu.InputPipelineConfig contrib.tpu.TPUConfig contrib.tpu.RunConfig""",
    "estimator.tpu.spec": "estimator.tpu.TPUEstimatorSpec contrib.tpu.TPUEstimatorSpec",
    "estimator.tpu.estimator": "estimator.tpu.TPUEstimator contrib.tpu.TPUEstimator",
    "estimator.tpu.embedding": """
        estimator.tpu.experimental.EmbeddingConfigSpec tpu.experimental.AdagradParameters tpu.experimental.AdamParameters
        tpu.experimental.StochasticGradientDescentParameters""",
    "estimator.modes": "estimator.ModeKeys",
    "estimator.run_config": "estimator.RunConfig",
    "estimator.warm_start": "estimator.WarmStartSettings",
    "train.vocabularies": "estimator.VocabInfo",
    "estimator.training_executor": "estimator.TrainSpec estimator.EvalSpec estimator.train_and_evaluate",
    "estimator.exporters": """
        estimator.Exporter estimator.BestExporter estimator.FinalExporter estimator.LatestExporter""",
    "estimator.added_metrics": "estimator.add_metrics",
    "estimator.array_inputs": "estimator.inputs.numpy_input_fn estimator.inputs.pandas_input_fn",
    "estimator.export_outputs": """
        estimator.export.ExportOutput estimator.export.ClassificationOutput estimator.export.RegressionOutput
        estimator.export.PredictOutput""",
    "estimator.receivers": """
        estimator.export.ServingInputReceiver estimator.export.TensorServingInputReceiver
        estimator.export.build_parsing_serving_input_receiver_fn estimator.export.build_raw_serving_input_receiver_fn
        estimator.experimental.build_raw_supervised_input_receiver_fn""",
    "estimator.early_stopping": """
        estimator.experimental.make_early_stopping_hook estimator.experimental.stop_if_higher_hook
        estimator.experimental.stop_if_lower_hook estimator.experimental.stop_if_no_increase_hook
        estimator.experimental.stop_if_no_decrease_hook""",
    "estimator.further_hooks": """
        estimator.experimental.InMemoryEvaluatorHook estimator.experimental.make_stop_at_checkpoint_step_hook""",
    "train.hooks.run_hooks": """
        estimator.SessionRunHook estimator.SessionRunArgs estimator.SessionRunContext estimator.SessionRunValues""",
    "train.hooks.timers": "estimator.SecondOrStepTimer",
    "train.hooks.checkpoints": "estimator.CheckpointSaverHook estimator.CheckpointSaverListener",
    "train.hooks.summaries": "estimator.SummarySaverHook estimator.StepCounterHook",
    "train.hooks.watching": """
        estimator.LoggingTensorHook estimator.NanTensorHook estimator.NanLossDuringTrainingError""",
    "train.hooks.stopping": "estimator.StopAtStepHook estimator.GlobalStepWaiterHook",
    "train.hooks.feeding": "estimator.FinalOpsHook estimator.FeedFnHook",
    "train.hooks.profiling": "estimator.ProfilerHook",
    "estimator.canned.deep": """
        estimator.DNNClassifier estimator.DNNRegressor estimator.DNNEstimator estimator.experimental.dnn_logit_fn_builder""",
    "estimator.canned.linear": """
        estimator.LinearClassifier estimator.LinearRegressor estimator.LinearEstimator
        estimator.experimental.linear_logit_fn_builder""",
    "estimator.canned.linear_sdca": "estimator.experimental.LinearSDCA",
    "estimator.canned.combined": """
        estimator.DNNLinearCombinedClassifier estimator.DNNLinearCombinedRegressor
        estimator.DNNLinearCombinedEstimator""",
    "estimator.canned.baseline": """
        estimator.BaselineClassifier estimator.BaselineRegressor estimator.BaselineEstimator""",
    "estimator.heads.head": "estimator.Head",
    "estimator.heads.kinds": """
        estimator.BinaryClassHead estimator.MultiClassHead estimator.MultiLabelHead estimator.RegressionHead
        estimator.PoissonRegressionHead estimator.LogisticRegressionHead""",
    "estimator.heads.joined": "estimator.MultiHead",
    "estimator.boosted_trees.estimators": """
        estimator.BoostedTreesClassifier estimator.BoostedTreesRegressor estimator.BoostedTreesEstimator""",
    "estimator.canned.example_specs": """
        estimator.classifier_parse_example_spec estimator.regressor_parse_example_spec""",
    "estimator.clustering.estimators": """
        estimator.experimental.KMeans contrib.factorization.KMeansClustering""",
    "estimator.clustering.centers": """
        contrib.factorization.KMeans=SeededKMeans contrib.factorization.SQUARED_EUCLIDEAN_DISTANCE
        contrib.factorization.COSINE_DISTANCE""",
    "estimator.clustering.starting_centers": """
        contrib.factorization.RANDOM_INIT=RANDOM contrib.factorization.KMEANS_PLUS_PLUS_INIT=PLUS_PLUS""",
    "contrib.tensor_forest.measures": """
        contrib.tensor_forest.client.eval_metrics.get_metric contrib.tensor_forest.client.eval_metrics.get_prediction_key
        contrib.tensor_forest.client.eval_metrics.INFERENCE_PROB_NAME
        contrib.tensor_forest.client.eval_metrics.INFERENCE_PRED_NAME
        contrib.tensor_forest.client.eval_metrics.FEATURE_IMPORTANCE_NAME""",
    "contrib.tensor_forest.parameters": """
        contrib.tensor_forest.tensor_forest.ForestHParams contrib.tensor_forest.tensor_forest.build_params_proto""",
    "contrib.tensor_forest.forest_graphs": """
        contrib.tensor_forest.tensor_forest.ForestVariables contrib.tensor_forest.tensor_forest.RandomForestGraphs
        contrib.tensor_forest.tensor_forest.RandomTreeGraphs contrib.tensor_forest.tensor_forest.TreeVariables""",
    "contrib.tensor_forest.forest_estimators": """
        contrib.tensor_forest.random_forest.TensorForestEstimator contrib.tensor_forest.random_forest.CoreTensorForestEstimator
        contrib.tensor_forest.random_forest.TensorForestLossHook
        contrib.tensor_forest.client.random_forest.TensorForestEstimator
        contrib.tensor_forest.client.random_forest.CoreTensorForestEstimator
        contrib.tensor_forest.client.random_forest.TensorForestLossHook""",
    "contrib.estimator.heads": """
        contrib.estimator.multi_class_head contrib.estimator.binary_classification_head contrib.estimator.regression_head
        contrib.estimator.poisson_regression_head contrib.estimator.logistic_regression_head""",
    "estimator.canned.multi_label": "contrib.estimator.multi_label_head",
    "estimator.canned.joined_heads": "contrib.estimator.multi_head",
    "contrib.estimator.extended": """
        contrib.estimator.clip_gradients_by_norm contrib.estimator.forward_features
        contrib.estimator.export_saved_model_for_mode contrib.estimator.export_all_saved_models
        contrib.estimator.build_supervised_input_receiver_fn_from_input_fn""",
    "contrib.estimator.recurrent": "contrib.estimator.RNNClassifier contrib.estimator.RNNEstimator",
    "contrib.estimator.annotated": """
        contrib.estimator.DNNClassifierWithLayerAnnotations contrib.estimator.DNNRegressorWithLayerAnnotations""",
    "contrib.estimator.in_memory_trees": """
        contrib.estimator.boosted_trees_classifier_train_in_memory contrib.estimator.boosted_trees_regressor_train_in_memory""",
    "contrib.estimator.saved_models": "contrib.estimator.SavedModelEstimator",
    "contrib.estimator.towers": "contrib.estimator.replicate_model_fn contrib.estimator.TowerOptimizer",
    "contrib.predictor.predictors": """
        contrib.predictor.from_saved_model contrib.predictor.from_estimator contrib.predictor.from_contrib_estimator""",
    "contrib.feature_column.sequence_inputs": """
        contrib.feature_column.sequence_input_layer contrib.feature_column.sequence_numeric_column""",
    "contrib.learn.model_ops": """
        contrib.learn.ModeKeys contrib.learn.ModelFnOps contrib.learn.PredictionKey contrib.learn.ProblemType""",
    "contrib.learn.measured": "contrib.learn.MetricSpec",
    "contrib.learn.serving_inputs": """
        contrib.learn.InputFnOps contrib.learn.build_parsing_serving_input_fn contrib.learn.utils.InputFnOps
        contrib.learn.utils.build_parsing_serving_input_fn contrib.learn.utils.build_default_serving_input_fn
        contrib.learn.utils.input_fn_utils.InputFnOps contrib.learn.utils.input_fn_utils.build_parsing_serving_input_fn
        contrib.learn.utils.input_fn_utils.build_default_serving_input_fn""",
    "contrib.learn.exported": """
        contrib.learn.ExportStrategy contrib.learn.make_export_strategy contrib.learn.utils.make_export_strategy
        contrib.learn.utils.saved_model_export_utils.make_export_strategy
        contrib.learn.utils.saved_model_export_utils.make_parsing_export_strategy
        contrib.learn.utils.saved_model_export_utils.garbage_collect_exports
        contrib.learn.utils.saved_model_export_utils.build_all_signature_defs
        contrib.learn.utils.saved_model_export_utils.build_standardized_signature_def
        contrib.learn.utils.saved_model_export_utils.get_input_alternatives
        contrib.learn.utils.saved_model_export_utils.get_output_alternatives
        contrib.learn.utils.saved_model_export_utils.get_most_recent_export
        contrib.learn.utils.saved_model_export_utils.get_temp_export_dir
        contrib.learn.utils.saved_model_export_utils.get_timestamped_export_dir""",
    "contrib.learn.bundled": """
        contrib.learn.utils.export_estimator contrib.learn.utils.export.export_estimator
        contrib.learn.utils.export.generic_signature_fn contrib.learn.utils.export.classification_signature_fn
        contrib.learn.utils.export.classification_signature_fn_with_prob contrib.learn.utils.export.regression_signature_fn
        contrib.learn.utils.export.logistic_regression_signature_fn""",
    "contrib.learn.best_exports": """
        contrib.learn.utils.saved_model_export_utils.BestModelSelector
        contrib.learn.utils.saved_model_export_utils.extend_export_strategy
        contrib.learn.utils.saved_model_export_utils.make_best_model_export_strategy""",
    "contrib.learn.generated_inputs": "contrib.learn.io.generator_input_fn",
    "contrib.learn.file_inputs": """
        contrib.learn.read_batch_examples contrib.learn.read_batch_features contrib.learn.read_batch_record_features
        contrib.learn.read_keyed_batch_examples contrib.learn.read_keyed_batch_features
        contrib.learn.io.read_batch_examples contrib.learn.io.read_batch_features
        contrib.learn.io.read_batch_record_features contrib.learn.io.read_keyed_batch_examples
        contrib.learn.io.read_keyed_batch_features contrib.learn.io.queue_parsed_features
        contrib.learn.read_keyed_batch_examples_shared_queue contrib.learn.io.read_keyed_batch_examples_shared_queue
        contrib.learn.read_keyed_batch_features_shared_queue contrib.learn.io.read_keyed_batch_features_shared_queue""",
    "contrib.learn.table_inputs": """
        contrib.learn.extract_pandas_data contrib.learn.extract_pandas_labels contrib.learn.extract_pandas_matrix
        contrib.learn.io.extract_pandas_data contrib.learn.io.extract_pandas_labels
        contrib.learn.extract_dask_data contrib.learn.extract_dask_labels contrib.learn.io.extract_dask_data
        contrib.learn.io.extract_dask_labels contrib.learn.io.extract_pandas_matrix contrib.learn.io.numpy_input_fn
        contrib.learn.io.pandas_input_fn""",
    "contrib.learn.configured": "contrib.learn.RunConfig contrib.learn.TaskType",
    "contrib.learn.fitted": """
        contrib.learn.BaseEstimator contrib.learn.Estimator contrib.learn.Evaluable contrib.learn.Trainable
        contrib.learn.SKCompat contrib.learn.NotFittedError contrib.learn.infer_real_valued_columns_from_input
        contrib.learn.infer_real_valued_columns_from_input_fn""",
    "contrib.learn.monitored": """
        contrib.learn.monitors.BaseMonitor contrib.learn.monitors.EveryN contrib.learn.monitors.RunHookAdapterForMonitors
        contrib.learn.monitors.replace_monitors_with_hooks""",
    "contrib.learn.ready_monitors": """
        contrib.learn.monitors.CaptureVariable contrib.learn.monitors.CheckpointSaver contrib.learn.monitors.GraphDump
        contrib.learn.monitors.ExportMonitor
        contrib.learn.monitors.LoggingTrainable contrib.learn.monitors.NanLoss contrib.learn.monitors.PrintTensor
        contrib.learn.monitors.NanLossDuringTrainingError contrib.learn.NanLossDuringTrainingError
        contrib.learn.monitors.StepCounter contrib.learn.monitors.StopAtStep contrib.learn.monitors.SummarySaver
        contrib.learn.monitors.ValidationMonitor contrib.learn.monitors.get_default_monitors""",
    "contrib.learn.experiments": """
        contrib.learn.Experiment contrib.learn.learn_runner.run contrib.learn.learn_runner.tune""",
    "contrib.learn.vocabularies": """
        contrib.learn.preprocessing.ByteProcessor contrib.learn.preprocessing.CategoricalProcessor
        contrib.learn.preprocessing.CategoricalVocabulary contrib.learn.preprocessing.VocabularyProcessor
        contrib.learn.preprocessing.tokenizer""",
    "contrib.learn.heads": """
        contrib.learn.Head contrib.learn.multi_class_head contrib.learn.regression_head contrib.learn.no_op_train_fn
        contrib.learn.poisson_regression_head contrib.learn.head.Head contrib.learn.head.multi_class_head
        contrib.learn.head.regression_head contrib.learn.head.poisson_regression_head contrib.learn.head.no_op_train_fn""",
    "contrib.learn.further_heads": """
        contrib.learn.binary_svm_head contrib.learn.multi_label_head contrib.learn.multi_head
        contrib.learn.head.binary_svm_head contrib.learn.head.multi_label_head contrib.learn.head.multi_head
        contrib.learn.head.loss_only_head""",
    "contrib.learn.dual_models": "contrib.learn.SVM",
    "contrib.learn.distribution_heads": "contrib.distributions.estimator_head_distribution_regression",
    "contrib.learn.logistic": "contrib.learn.LogisticRegressor",
    "contrib.learn.graph_actions": """
        contrib.learn.evaluate contrib.learn.infer contrib.learn.run_feeds contrib.learn.run_n contrib.learn.train
        contrib.learn.graph_actions.clear_summary_writers contrib.learn.graph_actions.evaluate
        contrib.learn.graph_actions.get_summary_writer contrib.learn.graph_actions.infer contrib.learn.graph_actions.run_feeds
        contrib.learn.graph_actions.run_feeds_iter contrib.learn.graph_actions.run_n contrib.learn.graph_actions.train""",
    "contrib.learn.models": """
        contrib.learn.models.bidirectional_rnn contrib.learn.models.get_rnn_model contrib.learn.models.linear_regression
        contrib.learn.models.linear_regression_zero_init contrib.learn.models.logistic_regression
        contrib.learn.models.logistic_regression_zero_init""",
    "contrib.learn.old_ops": """
        contrib.learn.ops.categorical_variable contrib.learn.ops.embedding_lookup
        contrib.learn.ops.mean_squared_error_regressor contrib.learn.ops.rnn_decoder contrib.learn.ops.rnn_seq2seq
        contrib.learn.ops.seq2seq_inputs contrib.learn.ops.sequence_classifier contrib.learn.ops.softmax_classifier""",
    "contrib.learn.ready": """
        contrib.learn.DNNClassifier contrib.learn.DNNRegressor contrib.learn.DNNEstimator contrib.learn.LinearClassifier
        contrib.learn.LinearRegressor contrib.learn.LinearEstimator""",
    "contrib.learn.combined": """
        contrib.learn.DNNLinearCombinedClassifier contrib.learn.DNNLinearCombinedRegressor
        contrib.learn.DNNLinearCombinedEstimator""",
    "contrib.learn.recurrent": "contrib.learn.DynamicRnnEstimator",
    "contrib.layers.old_sequences": "contrib.layers.sequence_input_from_feature_columns",
    "contrib.learn.clustered": "contrib.learn.KMeansClustering",
    "contrib.layers.old_columns": "contrib.layers.real_valued_column contrib.layers.bucketized_column",
    "contrib.layers.old_sparse_columns": """
        contrib.layers.sparse_column_with_integerized_feature contrib.layers.sparse_column_with_hash_bucket
        contrib.layers.sparse_column_with_keys contrib.layers.sparse_column_with_vocabulary_file
        contrib.layers.weighted_sparse_column contrib.layers.one_hot_column contrib.layers.embedding_column
        contrib.layers.shared_embedding_columns contrib.layers.crossed_column""",
    "contrib.layers.old_column_layers": """
        contrib.layers.check_feature_columns contrib.layers.create_feature_spec_for_parsing
        contrib.layers.infer_real_valued_columns contrib.layers.input_from_feature_columns
        contrib.layers.joint_weighted_sum_from_feature_columns contrib.layers.make_place_holder_tensors_for_base_features
        contrib.layers.parse_feature_columns_from_examples contrib.layers.transform_features
        contrib.layers.weighted_sum_from_feature_columns""",
}
