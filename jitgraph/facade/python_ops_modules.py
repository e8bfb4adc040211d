"""Where the names of the modules of `tensorflow.python.ops` stand here; see `tensorflow_modules`."""

from __future__ import annotations

OPS: dict[str, str] = {
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
    # TensorFlow imports them that the gradients of ops be registered, which they are
    **dict.fromkeys("""
        array_grad control_flow_grad cudnn_rnn_grad data_flow_grad image_grad linalg_grad manip_grad math_grad nn_grad
        optional_grad random_grad rnn_grad sparse_grad state_grad tensor_array_grad""".split(),
                    ":jitgraph.inner.gradient_functions"),
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
        :jitgraph.distributions.padding :jitgraph.inner.distribution_util""",
    "embedding_ops": "nn",
    "functional_ops": ":jitgraph.inner.functional_ops :jitgraph.control.functional_ops :jitgraph.functions.function_ops",
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
    "gradients": ":jitgraph.autodiff.gradients :jitgraph.autodiff.hessians",
    "gradients_impl": ":jitgraph.autodiff.gradients :jitgraph.autodiff.hessians :jitgraph.inner.gradients",
    "gradients_util": ":jitgraph.autodiff.gradients",
    "histogram_ops": "",
    "image_ops": "image",
    "image_ops_impl": "image",
    "init_ops": "initializers :jitgraph.variables.variable_initializers :jitgraph.inner.variables "
                "contrib.framework",
    "init_ops_v2": ":jitgraph.v2.initializers",
    "initializers_ns": "initializers",
    "inplace_ops": ":jitgraph.inner.inplace_ops raw_ops",
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
    "losses.util": "losses :jitgraph.losses.collection :jitgraph.inner.losses",
    "manip_ops": "manip",
    "math_ops": "math :jitgraph.inner.math_ops raw_ops",
    "metrics": "metrics",
    "metrics_impl": "metrics :jitgraph.metrics.streaming :jitgraph.inner.metrics",
    "nn": "nn",
    "nn_impl": "nn",
    "nn_ops": "nn raw_ops :jitgraph.inner.nn_ops",
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
    "state_ops": "compat.v1 :jitgraph.variables.reference_ops :jitgraph.inner.variables raw_ops",
    "stateful_random_ops": "random",
    "string_ops": "strings raw_ops",
    "summary_op_util": ":jitgraph.summary.summaries",
    "summary_ops": "summary",
    "summary_ops_v2": "contrib.summary :jitgraph.summary.recording",
    "template": ":jitgraph.variables.template",
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
}
