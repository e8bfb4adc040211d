"""Where the names of TensorFlow's inner modules are found here: the tables that `jitgraph.compat` reads.

Programs import from `tensorflow.python.*`, `tensorflow.core.*` and `tensorflow.contrib.*.python.*`, which are not the
public API but are used as if they were. Each such module becomes a view: a module without contents that looks a name up
in the places listed here, in order, and last in the public names.

A place is a public namespace (`nn`, `train`), or, with a colon before it, a module of this project (`:jitgraph.declare.op`).
"""

from collections.abc import Iterable

from jitgraph.facade import contrib_modules

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
        "experimental.ops.iterator_ops": "data.experimental :jitgraph.data.checkpointing",
        "experimental.ops.stats_ops": "data.experimental :jitgraph.data.statistics",
        **{
            f"experimental.ops.{name}": "data.experimental"
            for name in """
                batching cardinality counter distribute_options enumerate_ops error_ops get_single_element grouping
                interleave_ops optimization optimization_options parsing_ops prefetching_ops random_ops readers
                resampling scan_ops shuffle_ops stats_aggregator stats_options take_while_ops threading_options
                unique writers""".split()
        },
        "util.nest": ":jitgraph.inner.data_nest",
        "util.options": ":jitgraph.data.options",
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
    "eager": {"context": ":jitgraph.facade.eager_context", "backprop": "", "function": ":jitgraph.functions.graph_function",
              "def_function": ":jitgraph.functions.graph_function", "wrap_function": ":jitgraph.functions.wrapped_function"},
    "estimator": {
        "estimator": "estimator :jitgraph.estimator.estimator :jitgraph.estimator.warm_start",
        "estimator_lib": "estimator estimator.inputs estimator.export",
        "early_stopping": "estimator.experimental :jitgraph.estimator.early_stopping",
        "export": "estimator.export",
        "export.export": "estimator.export :jitgraph.estimator.receivers",
        "export.export_lib": "estimator.export :jitgraph.estimator.receivers",
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
        "model_fn": "estimator estimator.experimental",
        "run_config": "estimator :jitgraph.estimator.cluster_place",
        "training": "estimator :jitgraph.estimator.training_executor",
        "util": ":jitgraph.estimator.arguments :jitgraph.inner.decorators",
        "canned": "estimator",
        "canned.baseline": "estimator",
        "canned.boosted_trees": "estimator",
        "canned.dnn": "estimator estimator.experimental",
        "canned.dnn_linear_combined": "estimator",
        "canned.head": "estimator",
        "canned.linear": "estimator estimator.experimental",
        "canned.metric_keys": ":jitgraph.estimator.canned.keys",
        "canned.optimizers": ":jitgraph.estimator.canned.optimizers",
        "canned.parsing_utils": "estimator",
        "canned.prediction_keys": ":jitgraph.estimator.canned.keys",
    },
    "feature_column": dict.fromkeys(
        ("feature_column", "feature_column_lib", "feature_column_v2", "dense_features", "sequence_feature_column"),
        "feature_column :jitgraph.feature_column.column :jitgraph.feature_column.dense_rows "
        ":jitgraph.feature_column.weighted_sums :jitgraph.feature_column.numeric :jitgraph.feature_column.categorical "
        ":jitgraph.feature_column.combined :jitgraph.feature_column.embedding :jitgraph.feature_column.sequences "
        ":jitgraph.feature_column.transformations",
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
        "errors_impl": "errors",
        "framework_lib": "",
        "function": ":jitgraph.functions.defun",
        "graph_io": "train io",
        "graph_util": "graph_util :jitgraph.formats.graph_parts",
        "graph_util_impl": "graph_util",
        "importer": "graph_util",
        "load_library": "",
        "meta_graph": "train :jitgraph.formats.meta_graph",
        "op_def_registry": ":jitgraph.declare.op",
        "ops": "compat.v1 :jitgraph.graph.tensor :jitgraph.inner.ops",
        "random_seed": "random compat.v1",
        "sparse_tensor": "sparse :jitgraph.graph.composite",
        "tensor_shape": ":jitgraph.graph.shapes :jitgraph.inner.shapes",
        "tensor_spec": "",
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
    "ops": {
        "array_ops": "manip :jitgraph.ops.arrays.slicing :jitgraph.inner.array_ops raw_ops",
        "bitwise_ops": "bitwise",
        "candidate_sampling_ops": "nn",
        "check_ops": "debugging",
        "clip_ops": "",
        "confusion_matrix": ":jitgraph.losses.ranks math",
        "collective_ops": "",           # imported by what reduces between machines only where it is told to
        "control_flow_ops": ":jitgraph.control.conditionals :jitgraph.ops.choices.cases "
                            ":jitgraph.control.order_ops :jitgraph.inner.control_flow_ops raw_ops",
        "cond_v2": ":jitgraph.inner.control_flow_v2",
        "ctc_ops": "nn",
        "custom_gradient": "",
        "batch_ops": ":jitgraph.resources.batches",
        "boosted_trees_ops": "raw_ops :jitgraph.estimator.boosted_trees.tree_resources",
        "clustering_ops": "contrib.factorization raw_ops :jitgraph.estimator.clustering.centers",
        "control_flow_v2_toggles": "compat.v1",
        "critical_section_ops": "",
        # what TensorFlow imports that the gradients of ops be registered, which they are
        **dict.fromkeys("""
            array_grad control_flow_grad cudnn_rnn_grad data_flow_grad image_grad linalg_grad manip_grad math_grad nn_grad
            optional_grad random_grad rnn_grad sparse_grad state_grad""".split(), ""),
        "data_flow_ops": "queue contrib.staging :jitgraph.resources.barriers raw_ops",
        "distributions": "distributions",
        **{
            f"distributions.{name}": "distributions contrib.distributions"
            for name in """
                bernoulli beta categorical dirichlet dirichlet_multinomial distribution distributions exponential gamma laplace
                multinomial normal student_t uniform""".split()
        },
        "distributions.bijector": "contrib.distributions.bijectors",
        "distributions.bijector_impl": "contrib.distributions.bijectors",
        "distributions.identity_bijector": "contrib.distributions.bijectors",
        "distributions.kullback_leibler": "distributions :jitgraph.distributions.divergence",
        "distributions.special_math": ":jitgraph.distributions.normal_functions",
        "distributions.transformed_distribution": "contrib.distributions",
        "distributions.util": """
            contrib.distributions :jitgraph.distributions.sample_shapes :jitgraph.distributions.argument_checks
            :jitgraph.distributions.padding""",
        "embedding_ops": "nn",
        "functional_ops": ":jitgraph.control.functional_ops",
        **{f"gen_{name}": "raw_ops" for name in """
            array_ops audio_ops batch_ops bitwise_ops boosted_trees_ops candidate_sampling_ops
            checkpoint_ops clustering_ops collective_ops control_flow_ops ctc_ops cudnn_rnn_ops
            data_flow_ops dataset_ops decode_proto_ops encode_proto_ops experimental_dataset_ops
            functional_ops image_ops io_ops linalg_ops list_ops logging_ops lookup_ops manip_ops
            math_ops nccl_ops nn_ops parsing_ops ragged_array_ops ragged_conversion_ops
            ragged_math_ops random_ops resource_variable_ops rnn_ops script_ops sdca_ops set_ops
            sparse_ops spectral_ops state_ops stateful_random_ops stateless_random_ops string_ops
            summary_ops user_ops""".split()},
        "gradient_checker": "test :jitgraph.test.gradient_checker",
        "gradient_checker_v2": ":jitgraph.v2.testing",
        "gradients": ":jitgraph.autodiff.gradients",
        "gradients_impl": ":jitgraph.autodiff.gradients :jitgraph.inner.gradients",
        "gradients_util": ":jitgraph.autodiff.gradients",
        "histogram_ops": "",
        "image_ops": "image",
        "image_ops_impl": "image",
        "init_ops": "initializers :jitgraph.variables.variable_initializers :jitgraph.inner.variables",
        "init_ops_v2": ":jitgraph.v2.initializers",
        "initializers_ns": "initializers",
        "inplace_ops": "raw_ops",
        "io_ops": "io raw_ops",
        **{
            f"linalg.{name}": "linalg"
            for name in """
                linalg linalg_impl linear_operator linear_operator_adjoint linear_operator_block_diag linear_operator_circulant
                linear_operator_composition linear_operator_diag linear_operator_full_matrix linear_operator_householder
                linear_operator_identity linear_operator_inversion linear_operator_kronecker linear_operator_low_rank_update
                linear_operator_lower_triangular linear_operator_toeplitz linear_operator_zeros""".split()
        },
        "linalg.linear_operator_addition": ":jitgraph.linear_operators.addition",
        "linalg.linear_operator_algebra": ":jitgraph.linear_operators.algebra",
        "linalg.linear_operator_util": ":jitgraph.inner.linear_operator_util",
        "linalg_ops": "linalg",
        "linalg_ops_impl": "linalg",
        "list_ops": "raw_ops",
        "logging_ops": "summary raw_ops",
        "lookup_ops": "lookup contrib.lookup",
        "losses": "losses",
        "losses.losses": "losses",
        "losses.losses_impl": "losses",
        "losses.util": "losses :jitgraph.losses.collection",
        "manip_ops": "manip",
        "math_ops": "math :jitgraph.inner.math_ops raw_ops",
        "metrics": "metrics",
        "metrics_impl": "metrics :jitgraph.metrics.streaming :jitgraph.inner.metrics",
        "nn": "nn",
        "nn_impl": "nn",
        "nn_ops": "nn raw_ops",
        "numerics": "",
        "op_selector": "contrib.graph_editor",
        **dict.fromkeys(("parallel_for", "parallel_for.control_flow_ops", "parallel_for.gradients"),
                         ":jitgraph.control.parallel_loops :jitgraph.autodiff.jacobians"),
        "parsing_ops": "io raw_ops",
        "partitioned_variables": ":jitgraph.variables.partitioners",
        "random_ops": "random :jitgraph.inner.random_ops raw_ops",
        "proto_ops": "io",
        "resource_variable_ops": "raw_ops :jitgraph.variables.resource_variables :jitgraph.inner.variables",
        "resources": ":jitgraph.resources.registered",
        "rnn": "nn :jitgraph.rnn.dynamic :jitgraph.rnn.static :jitgraph.inner.rnn",
        "rnn_cell_wrapper_impl": "nn.rnn_cell",
        "rnn_cell": "nn.rnn_cell :jitgraph.rnn.linear :jitgraph.inner.rnn",
        "rnn_cell_impl": "nn.rnn_cell :jitgraph.rnn.cells :jitgraph.rnn.states :jitgraph.rnn.linear :jitgraph.inner.rnn",
        "script_ops": "",
        "session_ops": "",
        "sets": "sets",
        "sdca_ops": "raw_ops",
        "signal": "signal",
        **dict.fromkeys(("signal.spectral_ops", "signal.dct_ops", "signal.fft_ops", "signal.mel_ops", "signal.mfcc_ops",
                         "signal.reconstruction_ops", "signal.shape_ops", "signal.window_ops"), "signal"),
        "sort_ops": "",
        "sparse_ops": "sparse raw_ops",
        "special_math_ops": "math",
        "spectral_ops": "spectral",
        "standard_ops": "",
        "state_ops": "compat.v1 :jitgraph.variables.reference_ops raw_ops",
        "stateful_random_ops": "random",
        "string_ops": "strings raw_ops",
        "summary_op_util": ":jitgraph.summary.summaries",
        "summary_ops": "summary",
        "summary_ops_v2": "contrib.summary :jitgraph.summary.recording",
        "template": "",
        "tensor_array_grad": "",
        "tensor_array_ops": "",
        "unconnected_gradients": "",
        "variable_scope": """
            :jitgraph.variables.variable_scopes :jitgraph.variables.variable_store :jitgraph.inner.variables
            :jitgraph.variables.synchronization""",
        "variables": """
            :jitgraph.variables.variable :jitgraph.variables.variable_collections :jitgraph.variables.partitioners
            :jitgraph.inner.variables
            :jitgraph.variables.synchronization""",
        "weights_broadcast_ops": ":jitgraph.losses.weights",
        "while_v2": ":jitgraph.inner.control_flow_v2",
        "map_fn": "",
        "ragged": "ragged",
        **{
            f"ragged.ragged_{name}": places for name, places in {
                "array_ops": "ragged :jitgraph.ragged.functions :jitgraph.ragged.tiling :jitgraph.ragged.choosing",
                "batch_gather_ops": ":jitgraph.ragged.choosing", "concat_ops": ":jitgraph.ragged.functions",
                "config": ":jitgraph.inner.ragged", "conversion_ops": ":jitgraph.inner.ragged",
                "dispatch": "", "factory_ops": "ragged", "functional_ops": ":jitgraph.ragged.functions",
                "gather_ops": ":jitgraph.ragged.choosing :jitgraph.ragged.functions",
                "getitem": ":jitgraph.ragged.indexing",
                "map_ops": ":jitgraph.ragged.mapping",
                "math_ops": "ragged :jitgraph.ragged.segments",
                "operators": "", "squeeze_op": ":jitgraph.ragged.tiling",
                "string_ops": "strings :jitgraph.ragged.segments",
                "tensor": ":jitgraph.ragged.ragged_tensor :jitgraph.inner.ragged",
                "tensor_value": ":jitgraph.ragged.ragged_value",
                "util": ":jitgraph.inner.ragged",
                "where_op": ":jitgraph.ragged.choosing"}.items()
        },
        "ragged.segment_id_ops": ":jitgraph.ragged.row_ids",
        "sets_impl": "sets",
        "stateless_random_ops": "random raw_ops",
        "control_flow_util": ":jitgraph.inner.control_flow_ops",
        "control_flow_util_v2": ":jitgraph.inner.control_flow_ops",
    },
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
         "model_utils": "estimator.export",
         "model_utils.export_output": "estimator.export :jitgraph.estimator.export_outputs",
         "model_utils.export_utils": "estimator.export :jitgraph.estimator.receivers :jitgraph.estimator.export_outputs",
         "model_utils.mode_keys": "estimator",
         "nested_structure_coder": ":jitgraph.saved_model.structured_values"},
    "summary": {
        "summary": "summary",
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
        "checkpoint_utils": "train :jitgraph.train.checkpoint_values",
        "basic_session_run_hooks": "train :jitgraph.train.hooks.timers",
        "device_setter": "train :jitgraph.train.cluster.replica_devices",
        "session_manager": "train :jitgraph.train.sessions.session_manager",
        "training_util": "train :jitgraph.variables.global_steps",
        "saveable_object": ":jitgraph.variables.saveables train",
        "saving.saveable_object": ":jitgraph.variables.saveables train",
        "checkpoint_state_pb2": ":jitgraph.protobuf.messages",
        "distribution_strategy_context": "distribute",
        "gen_training_ops": "raw_ops",
        "evaluation": "contrib.training :jitgraph.inner.evaluation",
        **dict.fromkeys(("experimental.loss_scale", "experimental.loss_scale_optimizer", "experimental.mixed_precision"),
                        "train.experimental"),
        "saver": "train :jitgraph.train.saver",
        "summary_io": "train :jitgraph.inner.summary_writers",
        "tracking.tracking": ":jitgraph.train.trackables :jitgraph.resources.assets",
        "tracking.util": "train",
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

PYTHON_PLACES = {"autograph": "autograph :jitgraph.autograph.api", "keras": "keras", "debug": ":jitgraph.inner.debugger",
                 "tf2": ":jitgraph.facade.eager_context",
                 "pywrap_tensorflow": "train errors :jitgraph.inner.graph_equality :jitgraph.inner.constant_folding "
                                       ":jitgraph.inner.events_writer"}
"""Places of the packages `tensorflow.python.GROUP` themselves, where they hold names."""

SHARED_GROUPS = ("framework", "ops", "eager", "platform", "training", "util", "client", "lib")
"""Packages whose modules are imported by modules of all others."""

CORE_PACKAGES = ("framework", "protobuf", "example", "util", "lib", "lib.core", "profiler")
"""Packages of protocol buffers: `tensorflow.core.PACKAGE.anything_pb2` holds messages that are public names here."""

HIDDEN_BY_FUNCTIONS = ("contrib.framework.python.ops.arg_scope",)
"""Modules whose package holds a function of the same name, and gives that to `from package import name`."""

CORE_PLACES = "train summary profiler :jitgraph.protobuf.messages"


def places(dotted: str) -> str | None:
    """Return the places of the inner module `dotted` (without `tensorflow.`), or None if there is no such module.

    `python.ops.nn_ops` gives "nn"; a package such as `python.ops` gives "", that is the public names alone.
    """
    first, *rest = dotted.split(".")
    if first == "python":
        if not rest:
            return ""
        group, module = rest[0], ".".join(rest[1:])
        modules = PYTHON_MODULES.get(group)
        if modules is None:
            return None
        if not module:
            return PYTHON_PLACES.get(group, "")
        if any(name.startswith(module + ".") for name in modules):
            return modules.get(module, "")
        return modules.get(module)
    if first == "core":
        package, _, module = ".".join(rest).rpartition(".")
        if not rest or ".".join(rest) in CORE_PACKAGES:
            return ""
        return CORE_PLACES if package in CORE_PACKAGES and module.endswith("_pb2") else None
    if first == "contrib" and rest and ".".join(rest[1:]) in contrib_modules.inner_modules(rest[0]):
        return contrib_modules.CONTRIB_PLACES.get(dotted, f"contrib.{rest[0]}")
    return None


def modules_in(dotted: str) -> set[str]:
    """The names of the inner modules and packages directly in the inner package `dotted`."""
    first, _, inner = dotted.partition(".")
    group, _, inner = inner.partition(".")
    listed: Iterable[str] = ()
    if first == "python":
        listed = PYTHON_MODULES.get(group, ()) if group else PYTHON_MODULES
    elif first == "contrib":
        listed = contrib_modules.inner_modules(group)
    start = inner + "." if inner else ""
    return {name.removeprefix(start).partition(".")[0] for name in listed if name.startswith(start)}


def public(dotted: str) -> str:
    """The public name that an inner one of contrib stands for: `contrib.layers.python.layers.layers.fold` is
    `contrib.layers.fold`."""
    parts = dotted.split(".")
    return f"contrib.{parts[1]}.{parts[-1]}" if parts[0] == "contrib" and parts[2:3] == ["python"] else dotted


def is_listed(dotted: str) -> bool:
    """Return whether `dotted` is an inner module that the tables name."""
    return dotted.startswith(("python.", "core.", "contrib.")) and places(dotted) is not None


def sibling(module: str, name: str) -> str | None:
    """Return the dotted name of the inner module `name` that the inner module `module` imports, or None.

    It is one of the same package, or of those on which all others stand; a package itself imports none.
    """
    own = module.split(".")[1] if module.count(".") > 1 and module.startswith("python.") else None
    if own is None or any(other.startswith(module.partition(f"{own}.")[2] + ".") for other in PYTHON_MODULES[own]):
        return None
    for group in (own, *SHARED_GROUPS):
        if name in PYTHON_MODULES[group] and module != f"python.{group}.{name}":
            return f"python.{group}.{name}"
    return None


def seen_in_contrib(public: str) -> str | None:
    """Return the dotted name of the inner module that programs reach through a package of contrib, or None.

    Packages of contrib import all names of modules that import others: `tf.contrib.slim.init_ops`.
    """
    package, _, name = public.rpartition(".")
    if not package.startswith("contrib."):
        return None
    return next((f"python.{group}.{name}" for group in SHARED_GROUPS if name in PYTHON_MODULES[group]), None)
