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
    "train.global_steps": """
        contrib.framework.get_global_step contrib.framework.create_global_step
        contrib.framework.get_or_create_global_step contrib.framework.assert_global_step""",
    "ops.checks.check_shapes": """
        contrib.framework.assert_scalar contrib.framework.assert_same_float_dtype""",
    "graph.composite": "contrib.framework.convert_to_tensor_or_sparse_tensor",
    "graph.structures": "contrib.framework.nest.is_nested",
}
