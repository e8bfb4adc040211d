"""Where the names of the modules inside `tensorflow.contrib` stand here; see `tensorflow_modules`."""

from __future__ import annotations

CONTRIB_MODULES = {
    "autograph": "",
    "optimizer_v2": "adadelta,adagrad,adam,gradient_descent,momentum,optimizer_v2,optimizer_v2_symbols,rmsprop",
    "quantization": "python:array_ops,math_ops,nn_ops",
    "tfprof": "model_analyzer,tfprof_logger",
    "all_reduce": "python:all_reduce",
    "cluster_resolver": """
        python.training:cluster_resolver,gce_cluster_resolver,kubernetes_cluster_resolver,slurm_cluster_resolver
        python.training:tfconfig_cluster_resolver""",
    "compiler": "",
    "copy_graph": "python.util:copy_elements",
    "crf": "python.ops:crf",
    "cudnn_rnn": "python.layers:cudnn_rnn python.ops:cudnn_rnn_ops",
    "data": """
        python.ops:batching,counter,enumerate_ops,error_ops,get_single_element,grouping,interleave_ops,iterator_ops,random_ops,readers,resampling
        python.ops:parsing_ops,prefetching_ops,scan_ops,shuffle_ops,sliding,threadpool,unique,writers""",
    "distributions": """
        python.ops:binomial,cauchy,chi2,conditional_distribution,conditional_transformed_distribution,deterministic,geometric
        python.ops:half_normal,independent,inverse_gamma,logistic,mixture,mixture_same_family,mvn_diag,mvn_full_covariance
        python.ops:mvn_linear_operator,mvn_tril,negative_binomial,onehot_categorical,poisson,relaxed_bernoulli
        python.ops:autoregressive,batch_reshape,estimator,kumaraswamy,moving_stats,mvn_diag_plus_low_rank,normal_conjugate_posteriors
        python.ops:poisson_lognormal,quantized_distribution,sample_stats,seed_stream,sinh_arcsinh,vector_diffeomixture
        python.ops:vector_exponential_diag,vector_laplace_diag,vector_sinh_arcsinh_diag,wishart
        python.ops:relaxed_onehot_categorical,distribution_util,vector_exponential_linear_operator,vector_laplace_linear_operator
        python.ops.bijectors:absolute_value,affine,affine_linear_operator,affine_scalar,chain,conditional_bijector,exp,inline
        python.ops.bijectors:invert,permute,power_transform,sigmoid,softmax_centered,softplus,softsign,square
        python.ops.bijectors:batch_normalization,cholesky_outer_product,fill_triangular,gumbel,kumaraswamy,masked_autoregressive
        python.ops.bijectors:matrix_inverse_tril,ordered,real_nvp,reshape,scale_tril,sinh_arcsinh,transform_diagonal,weibull""",
    "batching": "python.ops:batch_ops",
    "bayesflow": "python.ops:monte_carlo",
    "estimator": """
        python.estimator:boosted_trees,dnn_with_layer_annotations,early_stopping,export,exporter,extenders,head,hooks,logit_fns
        python.estimator:multi_head,replicate_model_fn,rnn,saved_model_estimator""",
    "factorization": "python.ops:clustering_ops,factorization_ops,gen_factorization_ops,gmm,gmm_ops,kmeans,wals",
    "deprecated": "",
    "meta_graph_transform": "",
    "labeled_tensor": "python.ops:core,io_ops,nn,ops,sugar",
    "feature_column": "python.feature_column:sequence_feature_column",
    "distribute": "",
    "eager": "python:tfe",
    "framework": """
        python.framework:checkpoint_utils,experimental,graph_util,tensor_util
        python.ops:arg_scope,audio_ops,checkpoint_ops,gen_variable_ops,ops,prettyprint_ops,script_ops,sort_ops,variables""",
    "graph_editor": "edit,reroute,select,subgraph,transform,util",
    "grid_rnn": "python.ops:grid_rnn_cell",
    "linear_optimizer": """
        python:sdca_optimizer,sdca_estimator python.ops:sdca_ops,sharded_mutable_dense_hashtable,sparse_feature_column""",
    "kernel_methods": "python:kernel_estimators,losses python.mappers:random_fourier_features,dense_kernel_mapper",
    "constrained_optimization": """
        python:candidates,constrained_minimization_problem,constrained_optimizer,external_regret_optimizer
        python:swap_regret_optimizer""",
    "checkpoint": "python:containers,python_state,split_dependency,visualize",
    "libsvm": "python.ops:libsvm_ops",
    "nearest_neighbor": "python.ops:nearest_neighbor_ops",
    "hooks": "python.training:profiler_hook",
    "reduce_slice_ops": "python.ops:reduce_slice_ops",
    "testing": "python.framework:fake_summary_writer,util_test",
    "image": """
        python.ops:dense_image_warp,distort_image_ops,image_ops,interpolate_spline,single_image_random_dot_stereograms
        python.ops:sparse_image_warp""",
    "layers": """
        python.layers:embedding_ops,encoders,feature_column,feature_column_ops,initializers,layers,normalization,optimizers,regularizers
        python.layers:rev_block_lib,summaries,target_column,utils
        python.ops:bucketization_op,sparse_feature_cross_op,sparse_ops""",
    "learn": """
        python.learn.datasets:base,mnist,synthetic
        python.learn:evaluable,experiment,export_strategy,graph_actions,learn_runner,metric_spec,models,monitors,run_config,trainable
        python.learn:basic_session_run_hooks,monitored_session,session_run_hook,summary_writer_cache
        python.learn.utils:export,gc,input_fn_utils,saved_model_export_utils
        python.learn.estimators:constants,dnn,dnn_linear_combined,dynamic_rnn_estimator,estimator,head,kmeans,linear
        python.learn.estimators:logistic_regressor,metric_key,model_fn,prediction_key,rnn_common,run_config,svm
        python.learn.learn_io:data_feeder,generator_io,graph_io,numpy_io,pandas_io
        python.learn.ops:embeddings_ops,losses_ops,seq2seq_ops python.learn.preprocessing:categorical_vocabulary,text""",
    "legacy_seq2seq": "python.ops:seq2seq",
    "lookup": "lookup_ops",
    "losses": "python.losses:loss_ops python.metric_learning:metric_loss_ops",
    "metrics": "python.metrics:classification python.ops:confusion_matrix_ops,histogram_ops,metric_ops,set_ops",
    "mixed_precision": "python:loss_scale_manager,loss_scale_optimizer",
    "model_pruning": "python:learning,pruning,pruning_utils,strip_pruning_vars_lib python.layers:core_layers,layers,rnn_cells",
    "nn": "python.ops:alpha_dropout,cross_entropy,sampling_ops,scaled_softplus",
    "opt": """
        python.training:adamax,addsign,external_optimizer,lars_optimizer,lazy_adam_optimizer,moving_average_optimizer
        python.training:multitask_optimizer_wrapper,nadam_optimizer,powersign,reg_adagrad_optimizer,sign_decay
        python.training:variable_clipping_optimizer,weight_decay_optimizers,agn_optimizer,drop_stale_gradient_optimizer
        python.training:elastic_average_optimizer,adam_gs_optimizer,lazy_adam_gs_optimizer,ggt,matrix_functions,model_average_optimizer,shampoo""",
    "quantize": "python:common,fold_batch_norms,graph_matcher,input_to_ops,quant_ops,quantize,quantize_graph",
    "integrate": "python.ops:odes",
    "recurrent": "python:recurrent_api python.ops:functional_rnn,recurrent",
    "solvers": "python.ops:lanczos,least_squares,linear_equations,util",
    "specs": "python:params_ops,specs,specs_lib,specs_ops,summaries",
    "stat_summarizer": "",
    "input_pipeline": "python.ops:input_pipeline_ops",
    "memory_stats": "python.ops:memory_stats_ops",
    "periodic_resample": "python.ops:periodic_resample_op,gen_periodic_resample_op",
    "receptive_field": "python.util:graph_compute_order,parse_layer_parameters,receptive_field",
    "resampler": "python.ops:resampler_ops",
    "predictor": "contrib_estimator_predictor,core_estimator_predictor,predictor,predictor_factories,saved_model_predictor",
    "rnn": "python.ops:core_rnn,core_rnn_cell,core_rnn_cell_impl,fused_rnn_cell,gru_ops,lstm_ops,rnn,rnn_cell",
    "seq2seq": "python.ops:attention_wrapper,basic_decoder,beam_search_decoder,beam_search_ops,decoder,helper,loss",
    "signal": "python.ops:mel_ops,mfcc_ops,reconstruction_ops,shape_ops,spectral_ops,window_ops",
    "slim": """
        python.slim:evaluation,learning,model_analyzer,queues,summaries
        python.slim.data:data_decoder,data_provider,dataset,dataset_data_provider,parallel_reader,prefetch_queue
        python.slim.data:tfexample_decoder
        python.slim.nets:alexnet,inception,inception_v1,inception_v2,inception_v3,overfeat,resnet_utils,resnet_v1
        python.slim.nets:resnet_v2,vgg""",
    "decision_trees": "proto:generic_tree_model_pb2",
    "proto": "python.ops:decode_proto_op,encode_proto_op",
    "session_bundle": "bundle_shim,constants,exporter,gc,manifest_pb2,session_bundle",
    "sparsemax": "python.ops:sparsemax,sparsemax_loss",
    "staging": "",
    "stateless": "",
    "summary": "summary",
    "tensor_forest": "python:tensor_forest python.ops:data_ops",
    "tensorboard": "",
    "timeseries": """
        python.timeseries:ar_model,estimators,feature_keys,head,input_pipeline,math_utils,model,model_utils,saved_model_utils
        python.timeseries:state_management
        python.timeseries.state_space_models:filtering_postprocessor,kalman_filter,level_trend,periodic,state_space_model
        python.timeseries.state_space_models:structural_ensemble,varma""",
    "tpu": "python.tpu:bfloat16,device_assignment,tpu_config,tpu_estimator,tpu_function,tpu_optimizer",
    "text": "python.ops:gen_skip_gram_ops,skip_gram_ops",
    "training": """
        python.training:feeding_queue_runner,sequence_queueing_state_saver
        python.training:bucket_ops,device_setter,evaluation,hparam,resample,sampling_ops,training""",
    "util": "loader",
}
"""`tensorflow.contrib.PACKAGE`: its inner modules, `PACKAGES:MODULES`."""

CONTRIB_PLACES = {
    "contrib.tfprof.model_analyzer": ":jitgraph.contrib.tfprof.model_analyzer profiler",
    "contrib.tfprof.tfprof_logger": "profiler",
    "contrib.tpu.python.tpu.device_assignment": ":jitgraph.inner.later",
    "contrib.tpu.python.tpu.tpu_function": ":jitgraph.inner.tpu_function",
    "contrib.image.python.ops.dense_image_warp": "contrib.image :jitgraph.contrib.image.warps",
    "contrib.framework.python.ops.audio_ops": "audio :jitgraph.ops.signal.audio :jitgraph.ops.signal.mfcc",
} | {
    f"contrib.learn.python.learn.datasets{module}": f"contrib.learn.datasets{module}"
    for module in ("", ".base", ".mnist", ".synthetic")
} | {
    f"contrib.slim.python.slim.{module}": f"contrib.slim.{module}"
    for module in """evaluation learning model_analyzer nets nets.alexnet nets.inception nets.inception_v1 nets.inception_v2
                     nets.inception_v3 nets.overfeat nets.resnet_utils nets.resnet_v1 nets.resnet_v2 nets.vgg queues
                     summaries""".split()
} | {
    f"contrib.slim.python.slim.data.{module}": f"contrib.slim.{module}"
    for module in """data_decoder data_provider dataset dataset_data_provider parallel_reader prefetch_queue
                     tfexample_decoder""".split()
} | {
    f"contrib.distributions.python.ops.bijectors{module}": "contrib.distributions.bijectors"
    for module in ["", *(f".{name}" for name in """
        absolute_value affine affine_linear_operator affine_scalar batch_normalization chain cholesky_outer_product
        conditional_bijector exp fill_triangular gumbel inline invert kumaraswamy masked_autoregressive matrix_inverse_tril
        ordered permute power_transform real_nvp reshape scale_tril sigmoid sinh_arcsinh softmax_centered softplus softsign
        square transform_diagonal""".split())]
} | {
    "contrib.decision_trees.proto.generic_tree_model_pb2": ":jitgraph.contrib.decision_trees.tree_messages",
    "contrib.labeled_tensor.python.ops.nn": "contrib.labeled_tensor.nn",
    "contrib.labeled_tensor.python.ops.core": """
        contrib.labeled_tensor :jitgraph.contrib.labeled_tensor.tensors :jitgraph.contrib.labeled_tensor.axes""",
    "contrib.bayesflow.python.ops.monte_carlo": "contrib.bayesflow.monte_carlo",
    "contrib.distributions.python.ops.bijectors.weibull": ":jitgraph.contrib.distributions.parametric_bijectors",
    "contrib.distributions.python.ops.vector_exponential_linear_operator": ":jitgraph.contrib.distributions.vector_distributions",
    "contrib.distributions.python.ops.vector_laplace_linear_operator": ":jitgraph.contrib.distributions.vector_distributions",
    "contrib.distributions.python.ops.mvn_linear_operator": ":jitgraph.contrib.distributions.multivariate_normal",
    "contrib.distributions.python.ops.distribution_util": """
        :jitgraph.contrib.distributions.scales :jitgraph.distributions.sample_shapes :jitgraph.distributions.argument_checks
        :jitgraph.contrib.distributions.scalar_bases""",
    "contrib.layers.python.layers.utils": """
        :jitgraph.contrib.layers.collected :jitgraph.contrib.layers.arguments :jitgraph.layers.arguments contrib.layers""",
    "contrib.layers.python.layers.encoders": "contrib.layers :jitgraph.contrib.layers.encoders",
    "contrib.layers.python.ops.sparse_ops": ":jitgraph.contrib.layers.encoders",
    "contrib.legacy_seq2seq.python.ops.seq2seq": """
        contrib.legacy_seq2seq :jitgraph.contrib.legacy_seq2seq.decoders""",
    "contrib.tpu.python.tpu.tpu_estimator": "contrib.tpu :jitgraph.estimator.tpu.estimator",
    "contrib.opt.python.training.elastic_average_optimizer": "contrib.opt :jitgraph.contrib.opt.replicas",
    "contrib.opt.python.training.matrix_functions": ":jitgraph.contrib.opt.matrix_powers",
    "contrib.opt.python.training.sign_decay": ":jitgraph.contrib.opt.signs",
    "contrib.rnn.python.ops.core_rnn_cell": "contrib.rnn :jitgraph.rnn.linear",
    "contrib.rnn.python.ops.core_rnn_cell_impl": "contrib.rnn :jitgraph.rnn.linear",
    "contrib.rnn.python.ops.rnn_cell": "contrib.rnn :jitgraph.rnn.linear",
    "contrib.seq2seq.python.ops.attention_wrapper": """
        contrib.seq2seq :jitgraph.contrib.seq2seq.attention :jitgraph.contrib.seq2seq.attention_wrapper""",
    "contrib.seq2seq.python.ops.beam_search_decoder": "contrib.seq2seq :jitgraph.contrib.seq2seq.beam_search",
    "contrib.seq2seq.python.ops.decoder": "contrib.seq2seq :jitgraph.contrib.seq2seq.decoders :jitgraph.rnn.dynamic",
    "contrib.seq2seq.python.ops.helper": """
        contrib.seq2seq :jitgraph.contrib.seq2seq.helpers :jitgraph.contrib.seq2seq.sampling""",
    "contrib.linear_optimizer.python.sdca_estimator": ":jitgraph.contrib.learn.dual_models",
    "contrib.kernel_methods.python.mappers.dense_kernel_mapper": ":jitgraph.contrib.kernel_methods.mapping",
    "contrib.cudnn_rnn.python.ops.cudnn_rnn_ops": ":jitgraph.contrib.cudnn_rnn.opaque contrib.cudnn_rnn",
    "contrib.layers.python.ops.bucketization_op": ":jitgraph.contrib.layers.cross_ops",
    "contrib.layers.python.ops.sparse_feature_cross_op": """
        :jitgraph.contrib.layers.cross_ops :jitgraph.contrib.layers.scattered_embeddings""",
    "contrib.layers.python.layers.embedding_ops": "contrib.layers :jitgraph.contrib.layers.scattered_embeddings",
    "contrib.layers.python.layers.feature_column": "contrib.layers :jitgraph.feature_column.dense_rows",
    "contrib.linear_optimizer.python.ops.sharded_mutable_dense_hashtable": ":jitgraph.contrib.linear_optimizer.models",
    "contrib.factorization.python.ops.clustering_ops": "contrib.factorization :jitgraph.estimator.clustering.center_ops",
    "contrib.factorization.python.ops": ":jitgraph.contrib.factorization.wals_ops",     # there gmm is a module, not the function
    "contrib.factorization.python.ops.factorization_ops": "contrib.factorization",
    "contrib.factorization.python.ops.gen_factorization_ops": ":jitgraph.contrib.factorization.wals_ops",
    "contrib.factorization.python.ops.gmm": "contrib.factorization",
    "contrib.factorization.python.ops.gmm_ops": "contrib.factorization :jitgraph.contrib.factorization.gaussian_mixtures",
    "contrib.factorization.python.ops.wals": """
        contrib.factorization :jitgraph.contrib.factorization.least_squares_estimators""",
    "contrib.model_pruning.python": ":jitgraph.contrib.model_pruning",
    "contrib.model_pruning.python.layers.core_layers": """
        :jitgraph.contrib.model_pruning.masked_layers :jitgraph.contrib.model_pruning.masks""",
    "contrib.model_pruning.python.learning": ":jitgraph.contrib.model_pruning.learning",
    "contrib.model_pruning.python.pruning": "contrib.model_pruning :jitgraph.contrib.model_pruning.masks",
    "contrib.model_pruning.python.pruning_utils": ":jitgraph.contrib.model_pruning.blocks :jitgraph.contrib.model_pruning.masks",
    "contrib.quantize.python": ":jitgraph.contrib.quantize",
    "contrib.quantize.python.common": ":jitgraph.contrib.quantize.rewiring",
    "contrib.quantize.python.fold_batch_norms": ":jitgraph.contrib.quantize.graphs",
    "contrib.quantize.python.graph_matcher": ":jitgraph.contrib.quantize.graph_matcher",
    "contrib.quantize.python.input_to_ops": ":jitgraph.contrib.quantize.rewiring",
    "contrib.quantize.python.quant_ops": ":jitgraph.contrib.quantize.quant_ops",
    "contrib.quantize.python.quantize": ":jitgraph.contrib.quantize.rounding",
    "contrib.quantize.python.quantize_graph": "contrib.quantize",
    "contrib.losses.python.metric_learning": "contrib.losses.metric_learning",
    "contrib.losses.python.metric_learning.metric_loss_ops": ":jitgraph.contrib.losses.distances",
    "contrib.solvers.python.ops": "contrib.solvers",
    "contrib.solvers.python.ops.lanczos": "contrib.solvers.lanczos",
    "contrib.solvers.python.ops.least_squares": "contrib.solvers.least_squares",
    "contrib.solvers.python.ops.linear_equations": "contrib.solvers.linear_equations",
    "contrib.solvers.python.ops.util": "contrib.solvers.util",
    "contrib.batching.python.ops": "",
    "contrib.batching.python.ops.batch_ops": ":jitgraph.resources.batches",
    "contrib.periodic_resample.python.ops": "contrib.periodic_resample",
    "contrib.periodic_resample.python.ops.gen_periodic_resample_op": ":jitgraph.contrib.periodic_resample.periodic_resample_ops",
    "contrib.receptive_field.python.util.graph_compute_order": ":jitgraph.contrib.receptive_field.orders",
    "contrib.receptive_field.python.util.parse_layer_parameters": ":jitgraph.contrib.receptive_field.layers",
    "contrib.receptive_field.python.util.receptive_field": ":jitgraph.contrib.receptive_field.fields",
    "contrib.text.python.ops.gen_skip_gram_ops": ":jitgraph.contrib.text.skip_gram_ops",
    "contrib.feature_column.python.feature_column.sequence_feature_column": """
        contrib.feature_column :jitgraph.contrib.feature_column.sequence_inputs""",
    "contrib.tensor_forest.python.tensor_forest": "contrib.tensor_forest.tensor_forest",
    "contrib.tensor_forest.python.ops.data_ops": ":jitgraph.inner.forest_data",
    **{f"contrib.timeseries.python.timeseries{module}": " ".join(
        f":jitgraph.contrib.timeseries.{place}" for place in places.split()) for module, places in {
            "": "autoregressive window_networks feature_keys heads readers windows regressors",
            ".ar_model": "autoregressive window_networks", ".estimators": "regressors", ".feature_keys": "feature_keys",
            ".head": "heads", ".input_pipeline": "readers windows continued_times",
            ".math_utils": "densities covariances matrix_powers state_tables input_statistics",
            ".model": "models sequential_models", ".model_utils": "parameters continued_times",
            ".saved_model_utils": "saved_model_utils", ".state_management": "state_managers",
            ".state_space_models.filtering_postprocessor": "state_space.anomalies",
            ".state_space_models.kalman_filter": "state_space.kalman_filter",
            ".state_space_models.level_trend": "state_space.level_trend",
            ".state_space_models.periodic": "state_space.periodic",
            ".state_space_models.state_space_model": """
                state_space.state_space_model state_space.ensembles state_space.configuration""",
            ".state_space_models.structural_ensemble": "state_space.structural", ".state_space_models.varma": "state_space.varma",
        }.items()},
    "contrib.learn.python.learn.estimators": "contrib.learn",
    "contrib.learn.python.learn.preprocessing": "contrib.learn.preprocessing",
    **dict.fromkeys((f"contrib.learn.python.learn.{package}run_config" for package in ("", "estimators.")),
                    "contrib.learn :jitgraph.contrib.learn.configured"),
    "contrib.learn.python.learn.estimators.model_fn": "contrib.learn :jitgraph.contrib.learn.model_ops",
    "contrib.learn.python.learn.estimators.estimator": """
        contrib.learn :jitgraph.contrib.learn.fitted :jitgraph.contrib.learn.exported""",
    "contrib.learn.python.learn.estimators.head": """
        contrib.learn :jitgraph.contrib.learn.heads :jitgraph.contrib.learn.further_heads""",
    "contrib.learn.python.learn.estimators.constants": "contrib.learn",
    "contrib.learn.python.learn.estimators.metric_key": ":jitgraph.contrib.learn.model_ops",
    "contrib.learn.python.learn.estimators.prediction_key": "contrib.learn",
    **{f"contrib.learn.python.learn.estimators.{module}": "contrib.learn"
       for module in ("dnn", "dnn_linear_combined", "linear", "kmeans", "logistic_regressor")},
    "contrib.learn.python.learn.graph_actions": "contrib.learn.graph_actions",
    "contrib.learn.python.learn.models": "contrib.learn.models",
    **{f"contrib.learn.python.learn.ops{module}": "contrib.learn.ops"
       for module in ("", ".embeddings_ops", ".losses_ops", ".seq2seq_ops")},
    "contrib.learn.python.learn.estimators.dynamic_rnn_estimator": "contrib.learn :jitgraph.contrib.learn.recurrent",
    "contrib.learn.python.learn.estimators.rnn_common": ":jitgraph.contrib.learn.recurrent",
    "contrib.learn.python.learn.evaluable": "contrib.learn",
    "contrib.learn.python.learn.trainable": "contrib.learn",
    "contrib.learn.python.learn.utils.gc": "contrib.learn.utils.gc",
    **{f"contrib.learn.python.learn.learn_io{module}": "contrib.learn.io :jitgraph.contrib.learn.table_inputs"
       for module in ("", ".generator_io", ".graph_io", ".numpy_io", ".pandas_io")},
    "contrib.learn.python.learn.learn_io.data_feeder": ":jitgraph.contrib.learn.fed contrib.learn.io",
    "contrib.learn.python.learn.export_strategy": "contrib.learn",
    "contrib.learn.python.learn.utils.input_fn_utils": "contrib.learn.utils.input_fn_utils",
    "contrib.learn.python.learn.utils.saved_model_export_utils": """
        contrib.learn.utils.saved_model_export_utils :jitgraph.contrib.learn.exported""",
    "contrib.learn.python.learn.metric_spec": "contrib.learn",
    **dict.fromkeys((f"contrib.learn.python.learn.{module}" for module in (
        "basic_session_run_hooks", "monitored_session", "session_run_hook")), "train :jitgraph.train.hooks.timers"),
    "contrib.learn.python.learn.summary_writer_cache": ":jitgraph.inner.summary_writers",
    "contrib.learn.python.learn.experiment": "contrib.learn",
    "contrib.learn.python.learn.learn_runner": "contrib.learn.learn_runner",
    "contrib.learn.python.learn.monitors": "contrib.learn.monitors",
    "contrib.learn.python.learn.preprocessing.text": ":jitgraph.contrib.learn.vocabularies",
    "contrib.learn.python.learn.preprocessing.categorical_vocabulary": ":jitgraph.contrib.learn.vocabularies",
}
"""Inner modules of contrib whose names stand elsewhere than in `contrib.PACKAGE`."""


def inner_modules(package: str) -> set[str]:
    """The inner modules of `tensorflow.contrib.PACKAGE`, and the packages that they are in."""
    found: set[str] = set()
    for group in CONTRIB_MODULES.get(package, "").split():
        inner, _, modules = group.rpartition(":")
        parts = inner.split(".") if inner else []
        found.update(".".join(parts[:end]) for end in range(1, len(parts) + 1))
        found.update(".".join([*parts, module]) for module in modules.split(","))
    return found
