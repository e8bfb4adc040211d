"""Where the names of the modules of `tensorflow.python` stand here; see `tensorflow_modules`."""

from __future__ import annotations

from jitgraph.facade.python_ops_modules import OPS

PYTHON_MODULES: dict[str, dict[str, str]] = {
    "client": {
        "client_lib": "",
        "device_lib": ":jitgraph.graph.devices",
        "session": ":jitgraph.graph.session_conversions",
        "timeline": ":jitgraph.app.timeline",
    },
    "data": {
        "ops": "data",
        "util": "data",
        "ops.dataset_ops": "data :jitgraph.inner.datasets",
        "ops.iterator_ops": "data",
        "ops.multi_device_iterator_ops": ":jitgraph.data.multi_device_iterator",
        "ops.optional_ops": "data.experimental :jitgraph.data.optional",
        "ops.readers": "data :jitgraph.inner.datasets",
        "experimental.ops.cardinality": "data.experimental :jitgraph.inner.datasets",
        "experimental.ops.distribute": ":jitgraph.inner.data_distribute",
        "experimental.ops.matching_files": ":jitgraph.inner.data_distribute",
        "experimental.ops.threadpool": ":jitgraph.data.private_threads",
        "experimental.ops.iterator_ops": "data.experimental :jitgraph.data.checkpointing",
        "experimental.ops.stats_ops": "data.experimental :jitgraph.data.statistics",
        **{
            f"experimental.ops.{name}": "data.experimental"
            for name in """
                batching counter distribute_options enumerate_ops error_ops get_single_element grouping
                interleave_ops optimization optimization_options parsing_ops prefetching_ops random_ops readers
                resampling scan_ops shuffle_ops stats_aggregator stats_options take_while_ops threading_options
                unique writers""".split()
        },
        "util.nest": ":jitgraph.inner.data_nest",
        "util.options": ":jitgraph.data.options",
        "util.structure": ":jitgraph.inner.data_structure",
    },
    "compiler": {"xla": "contrib.compiler.xla", "xla.xla": "contrib.compiler.xla"},
    "debug": dict.fromkeys(("debug", "lib.debug_data", "lib.debug_gradients", "lib.debug_utils", "wrappers.dumping_wrapper",
                            "wrappers.framework", "wrappers.grpc_wrapper", "wrappers.hooks", "wrappers.local_cli_wrapper"),
                           ":jitgraph.inner.debugger"),
    "module": {"module": ""},
    "autograph": {"autograph": "autograph", "core.converter": ":jitgraph.autograph.features",
                  "impl.api": "autograph autograph.experimental :jitgraph.autograph.api",
                  "lang.directives": ":jitgraph.autograph.api", "utils.ag_logging": ":jitgraph.autograph.messages",
                  **dict.fromkeys("""
                      converters.break_statements converters.continue_statements converters.return_statements core.naming
                      pyct.anno pyct.common_transformers.anf pyct.compiler pyct.inspect_utils pyct.parser pyct.qual_names
                      pyct.templates pyct.transformer""".split(), ":jitgraph.inner.later")},
    "compat": {"compat": "compat"},
    "eager": {"tape": ":jitgraph.inner.eager_execution", "execute": ":jitgraph.inner.eager_execution",
              "context": ":jitgraph.facade.eager_context", "backprop": "", "function": ":jitgraph.functions.graph_function",
              "def_function": ":jitgraph.functions.graph_function", "wrap_function": ":jitgraph.functions.wrapped_function"},
    "estimator": {
        "estimator": "estimator :jitgraph.estimator.estimator :jitgraph.estimator.warm_start :jitgraph.inner.estimators",
        "estimator_lib": "estimator estimator.inputs estimator.export",
        "early_stopping": "estimator.experimental :jitgraph.estimator.early_stopping",
        "export": "estimator.export",
        "export.export": "estimator.export :jitgraph.estimator.receivers contrib.estimator",
        "export.export_lib": "estimator.export :jitgraph.estimator.receivers contrib.estimator",
        "export.export_output": "estimator.export :jitgraph.estimator.export_outputs",
        "exporter": "estimator :jitgraph.estimator.exporters",
        "extenders": "estimator",
        "head": "estimator",
        **dict.fromkeys(("head.base_head", "head.binary_class_head", "head.multi_class_head", "head.multi_head",
                         "head.multi_label_head", "head.regression_head"), "estimator"),
        "hooks": "estimator",
        "hooks.basic_session_run_hooks": "estimator",
        "hooks.hooks": "estimator.experimental",
        "hooks.session_run_hook": "estimator",
        "inputs": "estimator.inputs",
        "inputs.inputs": "estimator.inputs",
        "inputs.numpy_io": "estimator.inputs",
        "inputs.pandas_io": "estimator.inputs",
        "mode_keys": "estimator",
        "model_fn": "estimator estimator.experimental :jitgraph.inner.estimators",
        "run_config": "estimator :jitgraph.estimator.cluster_place",
        "training": "estimator :jitgraph.estimator.training_executor :jitgraph.inner.estimators",
        "util": ":jitgraph.estimator.arguments :jitgraph.inner.decorators :jitgraph.inner.estimators",
        "canned": "estimator",
        "canned.baseline": "estimator :jitgraph.inner.estimators",
        "canned.boosted_trees": "estimator :jitgraph.inner.estimators",
        "canned.dnn": "estimator estimator.experimental :jitgraph.inner.estimators",
        "canned.dnn_linear_combined": "estimator :jitgraph.inner.estimators",
        "canned.head": "estimator :jitgraph.inner.estimators",
        "canned.linear": "estimator estimator.experimental :jitgraph.inner.estimators",
        "canned.metric_keys": ":jitgraph.estimator.canned.keys",
        "canned.optimizers": ":jitgraph.inner.estimators",
        **dict.fromkeys(("canned.linear_optimizer.python.utils.sdca_ops",
                         "canned.linear_optimizer.python.utils.sharded_mutable_dense_hashtable"), ":jitgraph.inner.estimators"),
        "canned.parsing_utils": "estimator",
        "canned.prediction_keys": ":jitgraph.estimator.canned.keys",
    },
    "feature_column": dict.fromkeys(
        ("feature_column", "feature_column_lib", "feature_column_v2", "dense_features", "sequence_feature_column"),
        "feature_column :jitgraph.feature_column.column :jitgraph.feature_column.dense_rows "
        ":jitgraph.feature_column.weighted_sums :jitgraph.feature_column.numeric :jitgraph.feature_column.categorical "
        ":jitgraph.feature_column.combined :jitgraph.feature_column.embedding :jitgraph.feature_column.sequences "
        ":jitgraph.feature_column.transformations :jitgraph.feature_column.older_names",
    ),
    "framework": {
        "common_shapes": ":jitgraph.graph.shapes :jitgraph.inner.shapes",
        "composite_tensor": ":jitgraph.graph.composite",
        "config": "config config.experimental config.optimizer config.threading",
        "constant_op": "",
        "device": ":jitgraph.graph.devices",
        "device_spec": ":jitgraph.graph.devices",
        "dtypes": "dtypes :jitgraph.graph.dtypes",
        "errors": "errors",
        "errors_impl": "errors :jitgraph.graph.errors",
        "framework_lib": "",
        "function": ":jitgraph.functions.defun",
        "graph_io": "train io",
        "graph_util": "graph_util :jitgraph.formats.graph_parts",
        "graph_util_impl": "graph_util",
        "importer": "graph_util",
        "load_library": "",
        "meta_graph": "train :jitgraph.formats.meta_graph",
        "op_def_registry": ":jitgraph.declare.op :jitgraph.inner.op_defs",
        "op_def_library": ":jitgraph.inner.op_defs",
        "registry": ":jitgraph.inner.registry",
        "func_graph": ":jitgraph.inner.func_graph",
        "convert_to_constants": ":jitgraph.inner.func_graph",
        "auto_control_deps": ":jitgraph.inner.control_dependencies",
        "ops": "compat.v1 :jitgraph.graph.tensor :jitgraph.inner.ops",
        "random_seed": "random compat.v1",
        "sparse_tensor": "sparse :jitgraph.graph.composite",
        "tensor_shape": ":jitgraph.graph.shapes :jitgraph.inner.shapes",
        "tensor_spec": ":jitgraph.graph.type_specs",
        "type_spec": ":jitgraph.graph.type_specs :jitgraph.inner.type_spec",
        "tensor_util": "contrib.util :jitgraph.graph.constant_value :jitgraph.graph.literals",
        "test_util": "test :jitgraph.inner.test_util",
        "versions": "version",
        "smart_cond": ":jitgraph.inner.control_flow_ops",
        "indexed_slices": "",
        "tensor_conversion_registry": "",
    },
    "distribute": dict.fromkeys("""
        central_storage_strategy collective_all_reduce_strategy cross_device_ops distribute_lib distribution_strategy_context
        mirrored_strategy one_device_strategy parameter_server_strategy reduce_util""".split(),
        "distribute distribute.experimental")
    | dict.fromkeys(("cross_device_ops", "distribute_lib", "distribution_strategy_context"),
                    "distribute distribute.experimental contrib.distribute")
    | {"device_util": ":jitgraph.distribute.device_names", "values": ":jitgraph.distribute.replica_values",
       "input_lib": ":jitgraph.distribute.input_workers", "multi_worker_util": ":jitgraph.train.cluster.worker_places",
       "summary_op_util": ":jitgraph.distribute.summaries"}
    | dict.fromkeys((f"cluster_resolver.{name}cluster_resolver" for name in ("", "gce_", "kubernetes_", "slurm_", "tfconfig_")),
                    "distribute.cluster_resolver"),
    "keras": {"engine.input_spec": ":jitgraph.layers.input_spec", "utils.generic_utils": ":jitgraph.inner.later",
              "utils.tf_utils": ":jitgraph.inner.keras_utils"},
    "layers": {
        "base": "layers :jitgraph.layers.base",
        "convolutional": "layers :jitgraph.inner.layers",
        "core": "layers :jitgraph.inner.layers",
        "layers": "layers",
        "normalization": "layers :jitgraph.inner.layers",
        "pooling": "layers",
        "utils": ":jitgraph.layers.arguments",
    },
    "lib": {
        "core.error_codes_pb2": "errors",
        "io.file_io": ":jitgraph.filesystem.file_io gfile",
        "io.python_io": "python_io",
        "io.tf_record": "python_io",
    },
    "ops": OPS,
    "platform": {
        "app": "app",
        "benchmark": "test",
        "build_info": ":jitgraph.inner.build_info",
        "flags": "flags",
        "gfile": "gfile",
        "googletest": "test",
        "resource_loader": "resource_loader",
        "sysconfig": "sysconfig",
        "test": "test",
        "tf_logging": "logging",
    },
    "grappler": {"tf_optimizer": ":jitgraph.inner.grappler"},
    "profiler": {"model_analyzer": "profiler", "option_builder": "profiler", "profile_context": "contrib.tfprof",
                 "tfprof_logger": "profiler"},
    "saved_model": {
        name: f"saved_model.{name.removesuffix('_impl')} saved_model"
        for name in """
            builder builder_impl constants loader loader_impl main_op main_op_impl signature_constants
            signature_def_utils signature_def_utils_impl tag_constants utils utils_impl
        """.split()
    } | {"loader_impl": "saved_model.loader saved_model :jitgraph.saved_model.loader",
         "simple_save": "saved_model", "save": ":jitgraph.saved_model.object_saver",
         "load": ":jitgraph.inner.saved_model",
         **dict.fromkeys(("model_utils", "model_utils.export_output", "model_utils.export_utils"),
                         "estimator.export :jitgraph.estimator.saved_modes :jitgraph.estimator.export_outputs"),
         "model_utils.mode_keys": ":jitgraph.estimator.saved_modes estimator",
         "nested_structure_coder": ":jitgraph.saved_model.structured_values"},
    "summary": {
        "summary": "summary",
        "plugin_asset": ":jitgraph.summary.plugin_assets",
        "summary_iterator": ":jitgraph.summary.event_reader",
        "writer": "summary",
        "writer.event_file_writer": ":jitgraph.summary.event_writer",
        "writer.writer": "summary",
        "writer.writer_cache": "summary",
    },
    "tools": {
        "freeze_graph": ":jitgraph.tools.freeze_graph",
        "inspect_checkpoint": ":jitgraph.tools.inspect_checkpoint",
        "optimize_for_inference_lib": ":jitgraph.tools.optimize_for_inference :jitgraph.formats.graph_parts",
        "saved_model_cli": "",
        "strip_unused_lib": ":jitgraph.formats.graph_parts",
    },
    "training": dict.fromkeys(
        """
            adadelta adagrad adagrad_da adam basic_loops basic_session_run_hooks checkpoint_management checkpoint_ops
            checkpoint_utils coordinator device_setter distribute ema ftrl gradient_descent input
            learning_rate_decay momentum monitored_session moving_averages optimizer proximal_adagrad
            proximal_gradient_descent queue_runner queue_runner_impl rmsprop saveable_object_util saver
            server_lib session_manager session_run_hook slot_creator supervisor
            sync_replicas_optimizer training training_ops training_util warm_starting_util
        """.split(),
        "train :jitgraph.train",
    )
    | {
        "monitored_session": "train :jitgraph.train :jitgraph.inner.monitored_session",
        "HParams": "contrib.training",
        "checkpoint_management": "train :jitgraph.train.checkpoint_state",
        "learning_rate_decay": "train :jitgraph.train.schedules",
        "moving_averages": "train :jitgraph.train.moving_averages :jitgraph.inner.optimizer",
        "optimizer": "train :jitgraph.train.optimizer :jitgraph.inner.optimizer",
        "queue_runner_impl": "train :jitgraph.train.queue_runner",
        "slot_creator": ":jitgraph.train.slots",
        "training_ops": "raw_ops",
        "checkpoint_utils": "train :jitgraph.train.checkpoint_values :jitgraph.train.checkpoint_state",
        "basic_session_run_hooks": "train :jitgraph.train.hooks.timers",
        "device_setter": "train :jitgraph.train.cluster.replica_devices",
        "session_manager": "train :jitgraph.train.sessions.session_manager",
        "training_util": "train :jitgraph.variables.global_steps",
        "saveable_object": ":jitgraph.variables.saveables train",
        "saving.saveable_object": ":jitgraph.variables.saveables train",
        "checkpoint_state_pb2": ":jitgraph.protobuf.messages",
        "distribution_strategy_context": "distribute contrib.distribute",
        "gen_training_ops": "raw_ops",
        "evaluation": "contrib.training :jitgraph.inner.evaluation",
        **dict.fromkeys(("experimental.loss_scale", "experimental.loss_scale_optimizer", "experimental.mixed_precision"),
                        "train.experimental"),
        "saver": "train :jitgraph.train.saver",
        "summary_io": "train :jitgraph.inner.summary_writers",
        **dict.fromkeys(("tracking.base", "tracking.data_structures", "tracking.layer_utils"),
                        ":jitgraph.contrib.checkpoint.tracking"),
        "tracking.tracking": ":jitgraph.train.trackables :jitgraph.resources.assets",
        "tracking.util": "train :jitgraph.contrib.checkpoint.tracking",
    },
    "tpu": dict.fromkeys(("tpu_config", "tpu_estimator", "tpu_optimizer"), "contrib.tpu")
    | dict.fromkeys(("device_assignment", "ops.tpu_ops", "topology", "tpu", "tpu_feed"), ":jitgraph.inner.later")
    | {"tpu_function": ":jitgraph.inner.tpu_function"},
    "user_ops": {"user_ops": ""},
    "util": {
        "all_util": ":jitgraph.inner.decorators",
        "compat": "compat",
        "dispatch": ":jitgraph.inner.dispatch",
        "deprecation": ":jitgraph.contrib.framework.deprecation :jitgraph.inner.deprecation",
        "deprecation_wrapper": ":jitgraph.inner.deprecation",
        "module_wrapper": ":jitgraph.inner.deprecation",
        "nest": "nest contrib.framework.nest :jitgraph.inner.nest",
        "tf_contextlib": ":jitgraph.inner.decorators",
        "tf_decorator": ":jitgraph.inner.decorators",
        "tf_export": ":jitgraph.inner.decorators",
        "tf_inspect": ":jitgraph.inner.decorators",
        "tf_should_use": ":jitgraph.inner.decorators",
        "lazy_loader": ":jitgraph.inner.decorators",
        "serialization": ":jitgraph.inner.serialization",
        "object_identity": ":jitgraph.inner.decorators",
        "function_utils": ":jitgraph.inner.decorators",
        "decorator_utils": ":jitgraph.inner.decorators",
        "keyword_args": ":jitgraph.inner.decorators",
        "tf_stack": ":jitgraph.inner.decorators",
    },
    "pywrap_tensorflow": {},
    "pywrap_tensorflow_internal": {},
    "tf2": {},
    "python": {},
}
"""`tensorflow.python.GROUP.MODULE`: {group: {module: places}}; a group is a package of its own too."""
