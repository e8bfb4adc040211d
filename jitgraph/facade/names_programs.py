"""The public names of what programs use around their graphs: flags, logs and what belongs to the process; the table is of the form
that ``jitgraph.facade.names`` explains.
"""
from __future__ import annotations

PROGRAMS: dict[str, str] = {
    "app.command_flags": """
        app.run flags.ArgumentParser flags.ArgumentSerializer flags.BaseListParser flags.BooleanFlag
        flags.BooleanParser flags.CantOpenFlagFileError flags.CsvListSerializer flags.DEFINE flags.DEFINE_alias
        flags.DEFINE_bool flags.DEFINE_boolean flags.DEFINE_enum flags.DEFINE_enum_class flags.DEFINE_flag
        flags.DEFINE_float flags.DEFINE_integer flags.DEFINE_list flags.DEFINE_multi flags.DEFINE_multi_enum
        flags.DEFINE_multi_enum_class flags.DEFINE_multi_float flags.DEFINE_multi_integer
        flags.DEFINE_multi_string flags.DEFINE_spaceseplist flags.DEFINE_string flags.DuplicateFlagError
        flags.EnumClassFlag flags.EnumClassListSerializer flags.EnumClassParser flags.EnumClassSerializer
        flags.EnumFlag flags.EnumParser flags.Error flags.FLAGS flags.Flag flags.FlagHolder
        flags.FlagNameConflictsWithMethodError flags.FlagValues flags.FloatParser flags.IllegalFlagValueError
        flags.IntegerParser flags.ListParser flags.ListSerializer flags.MultiEnumClassFlag flags.MultiFlag
        flags.UnparsedFlagAccessError flags.UnrecognizedFlagError flags.ValidationError
        flags.WhitespaceSeparatedListParser flags.absolute_import flags.adopt_module_key_flags
        flags.declare_key_flag flags.disclaim_key_flags flags.division flags.doc_to_help flags.flag_dict_to_args
        flags.get_help_width flags.mark_bool_flags_as_mutual_exclusive flags.mark_flag_as_required
        flags.mark_flags_as_mutual_exclusive flags.mark_flags_as_required flags.multi_flags_validator
        flags.override_value flags.print_function flags.register_multi_flags_validator flags.register_validator
        flags.set_default flags.text_wrap flags.validator""",
    "app.logs": """
        logging.DEBUG logging.INFO logging.WARN logging.ERROR logging.FATAL logging.get_verbosity
        logging.set_verbosity logging.log logging.debug logging.info logging.warn logging.warning logging.error
        logging.fatal logging.vlog logging.flush logging.log_every_n logging.log_first_n logging.log_if
        logging.get_logger get_logger logging.TaskLevelStatusMessage""",
    "app.connections": "config.experimental_connect_to_host config.experimental_connect_to_cluster",
    "app.configuration": """
        config.get_soft_device_placement config.set_soft_device_placement config.experimental_list_devices
        config.experimental_run_functions_eagerly config.threading.get_inter_op_parallelism_threads
        config.threading.set_inter_op_parallelism_threads config.threading.get_intra_op_parallelism_threads
        config.threading.set_intra_op_parallelism_threads config.optimizer.get_jit=get_optimizer_jit
        config.optimizer.set_jit=set_optimizer_jit
        config.optimizer.get_experimental_options=get_optimizer_experimental_options
        config.optimizer.set_experimental_options=set_optimizer_experimental_options
        config.experimental.get_device_policy config.experimental.set_device_policy
        config.experimental.get_synchronous_execution config.experimental.set_synchronous_execution
        config.experimental.list_physical_devices config.experimental.list_logical_devices
        config.experimental.get_visible_devices config.experimental.set_visible_devices
        config.experimental.get_memory_growth config.experimental.set_memory_growth
        config.experimental.get_virtual_device_configuration config.experimental.set_virtual_device_configuration
        config.experimental.VirtualDeviceConfiguration debugging.get_log_device_placement
        debugging.set_log_device_placement""",
    "app.resource_files": """
        resource_loader.load_resource resource_loader.get_data_files_path
        resource_loader.get_root_dir_with_all_resources resource_loader.get_path_to_datafile
        resource_loader.readahead_file_path""",
    "app.libraries": """
        load_op_library load_library load_file_system_library CXX11_ABI_FLAG MONOLITHIC_BUILD
        sysconfig.CXX11_ABI_FLAG sysconfig.MONOLITHIC_BUILD sysconfig.get_include sysconfig.get_lib
        sysconfig.get_compile_flags sysconfig.get_link_flags""",
    "functions.graph_function": "function",
    "functions.wrapped_function": "wrap_function",
    "autodiff.tape": "GradientTape vectorized_map",
    "autograph.api": """
        autograph.to_graph autograph.to_code autograph.experimental.do_not_convert
        autograph.experimental.set_loop_options""",
    "autograph.features": "autograph.experimental.Feature",
    "autograph.messages": "autograph.set_verbosity autograph.trace",
    "graph.type_specs": """
        TypeSpec data.experimental.Structure=TypeSpec TensorSpec SparseTensorSpec IndexedSlicesSpec contrib.framework.TensorSpec
        contrib.framework.BoundedTensorSpec""",
    "distribute.strategies": """
        distribute.Strategy distribute.StrategyExtended distribute.OneDeviceStrategy distribute.MirroredStrategy
        distribute.ReplicaContext distribute.ReduceOp distribute.InputContext distribute.InputReplicationMode
        distribute.get_strategy distribute.has_strategy distribute.get_replica_context
        distribute.in_cross_replica_context distribute.get_loss_reduction distribute.experimental_set_strategy""",
    "train.cluster.managed": """
        distribute.cluster_resolver.GCEClusterResolver distribute.cluster_resolver.KubernetesClusterResolver
        distribute.cluster_resolver.SlurmClusterResolver""",
    "train.cluster.server": "distribute.Server",
    "train.cluster.resolvers": """
        distribute.cluster_resolver.ClusterResolver distribute.cluster_resolver.SimpleClusterResolver
        distribute.cluster_resolver.UnionResolver distribute.cluster_resolver.TFConfigClusterResolver""",
    "distribute.further_strategies": """
        distribute.CrossDeviceOps distribute.ReductionToOneDevice distribute.NcclAllReduce
        distribute.HierarchicalCopyAllReduce distribute.experimental.CollectiveCommunication
        distribute.experimental.CentralStorageStrategy distribute.experimental.MultiWorkerMirroredStrategy
        distribute.experimental.ParameterServerStrategy""",
    "test.environment": "test.is_built_with_rocm test.create_local_cluster",
    "facade.behavior": """
        enable_control_flow_v2 disable_control_flow_v2 control_flow_v2_enabled disable_tensor_equality
        enable_tensor_equality experimental.output_all_intermediates experimental.function_executor_type""",
    "functions.xla": """
        xla.experimental.compile=xla_compile xla.experimental.jit_scope contrib.compiler.xla.compile=xla_compile
        contrib.compiler.xla.check_function_argument_count contrib.compiler.xla.estimator_model_fn
        contrib.compiler.jit.experimental_jit_scope=jit_scope""",
    "ops.strings.strings": "user_ops.my_fact",
    "profiler.options": "profiler.ProfileOptionBuilder",
    "profiler.profiling": "profiler.profile profiler.Profiler",
    "protobuf.messages": "profiler.AdviceProto profiler.GraphNodeProto profiler.MultiGraphNodeProto profiler.OpLogProto",
    "profiler.advice": "profiler.advise",
    "profiler.op_log": "profiler.write_op_log",
}
