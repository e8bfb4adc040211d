"""The protocol buffer messages of TensorFlow 1, as one table.

A line reads ``Message: field=number type; ...``; fields after ``| name:`` form the one-of `name`.  Indented lines go on
the line before.  ``formats.messages`` makes the message classes from it.
"""

SCHEMA = """
GraphDef: node=1 repeated NodeDef; library=2 FunctionDefLibrary; version=3 int32; versions=4 VersionDef
NodeDef: name=1 string; op=2 string; input=3 repeated string; device=4 string; attr=5 map<string,AttrValue>;
    experimental_debug_info=6 NodeDef.ExperimentalDebugInfo
VersionDef: producer=1 int32; min_consumer=2 int32; bad_consumers=3 repeated int32
FunctionDefLibrary: function=1 repeated FunctionDef; gradient=2 repeated GradientDef; registered_gradients=3
    repeated RegisteredGradient
FunctionDef: signature=1 OpDef; node_def=3 repeated NodeDef; ret=4 map<string,string>; attr=5 map<string,AttrValue>;
    control_ret=6 map<string,string>; arg_attr=7 map<uint32,FunctionDef.ArgAttrs>; resource_arg_unique_id=8
    map<uint32,uint32>
GradientDef: function_name=1 string; gradient_func=2 string
AttrValue: | value: list=1 AttrValue.ListValue; s=2 bytes; i=3 int64; f=4 float; b=5 bool; type=6 DataType; shape=7
    TensorShapeProto; tensor=8 TensorProto; placeholder=9 string; func=10 NameAttrList
AttrValue.ListValue: s=2 repeated bytes; i=3 repeated int64; f=4 repeated float; b=5 repeated bool; type=6 repeated
    DataType; shape=7 repeated TensorShapeProto; tensor=8 repeated TensorProto; func=9 repeated NameAttrList
NameAttrList: name=1 string; attr=2 map<string,AttrValue>
TensorProto: dtype=1 DataType; tensor_shape=2 TensorShapeProto; version_number=3 int32; tensor_content=4 bytes;
    float_val=5 repeated float; double_val=6 repeated double; int_val=7 repeated int32; string_val=8 repeated bytes;
    scomplex_val=9 repeated float; int64_val=10 repeated int64; bool_val=11 repeated bool; dcomplex_val=12 repeated
    double; half_val=13 repeated int32; resource_handle_val=14 repeated ResourceHandleProto; uint32_val=16 repeated
    uint32; uint64_val=17 repeated uint64; float8_val=18 bytes
TensorShapeProto: dim=2 repeated TensorShapeProto.Dim; unknown_rank=3 bool
TensorShapeProto.Dim: size=1 int64; name=2 string
OpDef: name=1 string; input_arg=2 repeated OpDef.ArgDef; output_arg=3 repeated OpDef.ArgDef; attr=4 repeated
    OpDef.AttrDef; summary=5 string; description=6 string; deprecation=8 OpDeprecation; is_aggregate=16 bool;
    is_stateful=17 bool; is_commutative=18 bool; allows_uninitialized_input=19 bool; control_output=20 repeated
    string; is_distributed_communication=21 bool
OpDef.ArgDef: name=1 string; description=2 string; type=3 DataType; type_attr=4 string; number_attr=5 string;
    type_list_attr=6 string; handle_data=7 repeated ResourceHandleProto.DtypeAndShape; is_ref=16 bool
OpDef.AttrDef: name=1 string; type=2 string; default_value=3 AttrValue; description=4 string; has_minimum=5 bool;
    minimum=6 int64; allowed_values=7 AttrValue
OpList: op=1 repeated OpDef
GraphNodeProto: name=1 string; run_count=21 int64; exec_micros=2 int64; accelerator_exec_micros=17 int64;
    cpu_exec_micros=18 int64; requested_bytes=3 int64; peak_bytes=24 int64; residual_bytes=25 int64; output_bytes=26 int64;
    parameters=4 int64; float_ops=13 int64; devices=10 repeated string; total_definition_count=23 int64;
    total_run_count=22 int64; total_exec_micros=6 int64; total_accelerator_exec_micros=19 int64; total_cpu_exec_micros=20
    int64; total_requested_bytes=7 int64; total_peak_bytes=27 int64; total_residual_bytes=28 int64; total_output_bytes=29
    int64; total_parameters=8 int64; total_float_ops=14 int64; shapes=11 repeated TensorShapeProto; children=12 repeated
    GraphNodeProto; input_shapes=16 map<int32,TensorShapeProto>
OpLogProto: log_entries=1 repeated OpLogEntry; id_to_string=2 map<int64,string>
OpLogEntry: name=1 string; float_ops=2 int64; types=3 repeated string; code_def=4 CodeDef
CodeDef: traces=1 repeated CodeDef.Trace
CodeDef.Trace: file=1 string; file_id=6 int64; lineno=2 int32; function=3 string; function_id=7 int64; line=4 string; line_id=8
    int64; func_start_line=5 int32
Profile: sample_type=1 repeated ValueType; sample=2 repeated Sample; location=4 repeated Location; function=5 repeated Function;
    string_table=6 repeated string; comment=13 repeated int64
ValueType: type=1 int64; unit=2 int64
Sample: location_id=1 repeated uint64; value=2 repeated int64; label=3 repeated Label
Label: key=1 int64; str=2 int64; num=3 int64
Location: id=1 uint64; mapping_id=2 uint64; address=3 uint64; line=4 repeated Line
Line: function_id=1 uint64; line=2 int64
Function: id=1 uint64; name=2 int64; system_name=3 int64; filename=4 int64; start_line=5 int64
AdviceProto: checkers=1 map<string,AdviceProto.Checker>
AdviceProto.Checker: reports=2 repeated string
MultiGraphNodeProto: name=1 string; exec_micros=2 int64; accelerator_exec_micros=12 int64; cpu_exec_micros=13 int64;
    requested_bytes=3 int64; peak_bytes=16 int64; residual_bytes=17 int64; output_bytes=18 int64; parameters=4 int64; float_ops=5
    int64; total_exec_micros=6 int64; total_accelerator_exec_micros=14 int64; total_cpu_exec_micros=15 int64;
    total_requested_bytes=7 int64; total_peak_bytes=19 int64; total_residual_bytes=20 int64; total_output_bytes=21 int64;
    total_parameters=8 int64; total_float_ops=9 int64; graph_nodes=10 repeated GraphNodeProto; children=11 repeated
    MultiGraphNodeProto
OpDeprecation: version=1 int32; explanation=2 string
serving.Signatures: default_signature=1 serving.Signature; named_signatures=2 map<string,serving.Signature>
serving.Signature: | type: regression_signature=1 serving.RegressionSignature; classification_signature=2
    serving.ClassificationSignature; generic_signature=3 serving.GenericSignature
serving.RegressionSignature: input=1 serving.TensorBinding; output=2 serving.TensorBinding
serving.ClassificationSignature: input=1 serving.TensorBinding; classes=2 serving.TensorBinding; scores=3
    serving.TensorBinding
serving.GenericSignature: map=1 map<string,serving.TensorBinding>
serving.TensorBinding: tensor_name=1 string
serving.AssetFile: tensor_binding=1 serving.TensorBinding; filename=2 string
decision_trees.Model: additional_data=4 repeated protobuf.Any | model: decision_tree=1 decision_trees.DecisionTree; ensemble=2
    decision_trees.Ensemble; custom_model=3 protobuf.Any
decision_trees.ModelAndFeatures: features=1 map<string,decision_trees.ModelAndFeatures.Feature>; model=2 decision_trees.Model;
    additional_data=3 repeated protobuf.Any
decision_trees.ModelAndFeatures.Feature: feature_id=1 decision_trees.FeatureId; additional_data=2 repeated protobuf.Any
decision_trees.Ensemble: members=100 repeated decision_trees.Ensemble.Member; additional_data=4 repeated protobuf.Any |
    combination_technique: summation_combination_technique=1 decision_trees.Summation; averaging_combination_technique=2
    decision_trees.Averaging; custom_combination_technique=3 protobuf.Any
decision_trees.Ensemble.Member: submodel=1 decision_trees.Model; submodel_id=2 protobuf.Int32Value; additional_data=3 repeated
    protobuf.Any
decision_trees.Summation: additional_data=1 repeated protobuf.Any
decision_trees.Averaging: additional_data=1 repeated protobuf.Any
decision_trees.DecisionTree: nodes=1 repeated decision_trees.TreeNode; additional_data=2 repeated protobuf.Any
decision_trees.TreeNode: node_id=1 protobuf.Int32Value; depth=2 protobuf.Int32Value; subtree_size=3 protobuf.Int32Value;
    additional_data=7 repeated protobuf.Any | node_type: binary_node=4 decision_trees.BinaryNode; leaf=5 decision_trees.Leaf;
    custom_node_type=6 protobuf.Any
decision_trees.BinaryNode: left_child_id=1 protobuf.Int32Value; right_child_id=2 protobuf.Int32Value; default_direction=3
    decision_trees.BinaryNode.Direction | left_child_test: inequality_left_child_test=4 decision_trees.InequalityTest;
    custom_left_child_test=5 protobuf.Any
decision_trees.SparseVector: sparse_value=1 map<int64,decision_trees.Value>
decision_trees.Vector: value=1 repeated decision_trees.Value
decision_trees.Leaf: additional_data=3 repeated protobuf.Any | leaf: vector=1 decision_trees.Vector; sparse_vector=2
    decision_trees.SparseVector
decision_trees.FeatureId: id=1 protobuf.StringValue; additional_data=2 repeated protobuf.Any
decision_trees.ObliqueFeatures: features=1 repeated decision_trees.FeatureId; weights=2 repeated float
decision_trees.InequalityTest: type=2 decision_trees.InequalityTest.Type; threshold=3 decision_trees.Value | FeatureSum:
    feature_id=1 decision_trees.FeatureId; oblique=4 decision_trees.ObliqueFeatures
decision_trees.Value: | value: float_value=1 float; double_value=2 double; int32_value=3 int32; int64_value=4 int64;
    custom_value=5 protobuf.Any
MetaGraphDef: meta_info_def=1 MetaGraphDef.MetaInfoDef; graph_def=2 GraphDef; saver_def=3 SaverDef; collection_def=4
    map<string,CollectionDef>; signature_def=5 map<string,SignatureDef>; asset_file_def=6 repeated AssetFileDef;
    object_graph_def=7 SavedObjectGraph
MetaGraphDef.MetaInfoDef: meta_graph_version=1 string; stripped_op_list=2 OpList; any_info=3 protobuf.Any; tags=4
    repeated string; tensorflow_version=5 string; tensorflow_git_version=6 string; stripped_default_attrs=7 bool;
    function_aliases=8 map<string,string>
SaverDef: filename_tensor_name=1 string; save_tensor_name=2 string; restore_op_name=3 string; max_to_keep=4 int32;
    sharded=5 bool; keep_checkpoint_every_n_hours=6 float; version=7 SaverDef.CheckpointFormatVersion
CollectionDef: | kind: node_list=1 CollectionDef.NodeList; bytes_list=2 CollectionDef.BytesList; int64_list=3
    CollectionDef.Int64List; float_list=4 CollectionDef.FloatList; any_list=5 CollectionDef.AnyList
CollectionDef.NodeList: value=1 repeated string
CollectionDef.BytesList: value=1 repeated bytes
CollectionDef.Int64List: value=1 repeated int64
CollectionDef.FloatList: value=1 repeated float
CollectionDef.AnyList: value=1 repeated protobuf.Any
SignatureDef: inputs=1 map<string,TensorInfo>; outputs=2 map<string,TensorInfo>; method_name=3 string; defaults=4
    map<string,TensorProto>
TensorInfo: dtype=2 DataType; tensor_shape=3 TensorShapeProto | encoding: name=1 string; coo_sparse=4
    TensorInfo.CooSparse; composite_tensor=5 TensorInfo.CompositeTensor
TensorInfo.CooSparse: values_tensor_name=1 string; indices_tensor_name=2 string; dense_shape_tensor_name=3 string
TensorInfo.CompositeTensor: type_spec=1 TypeSpecProto; components=2 repeated TensorInfo
AssetFileDef: tensor_info=1 TensorInfo; filename=2 string
VariableDef: variable_name=1 string; initializer_name=2 string; snapshot_name=3 string; save_slice_info_def=4
    SaveSliceInfoDef; is_resource=5 bool; initial_value_name=6 string; trainable=7 bool; synchronization=8
    VariableSynchronization; aggregation=9 VariableAggregation
SaveSliceInfoDef: full_name=1 string; full_shape=2 repeated int64; var_offset=3 repeated int64; var_shape=4 repeated
    int64
QueueRunnerDef: queue_name=1 string; enqueue_op_name=2 repeated string; close_op_name=3 string; cancel_op_name=4
    string; queue_closed_exception_types=5 repeated Code
CondContextDef: context_name=1 string; pred_name=2 string; pivot_name=3 string; branch=4 int32; values_def=5
    ValuesDef; nested_contexts=6 repeated ControlFlowContextDef
WhileContextDef: context_name=1 string; parallel_iterations=2 int32; back_prop=3 bool; swap_memory=4 bool;
    pivot_name=5 string; pivot_for_pred_name=6 string; pivot_for_body_name=7 string; loop_exit_names=8 repeated
    string; values_def=9 ValuesDef; loop_enter_names=10 repeated string; maximum_iterations_name=11 string;
    nested_contexts=12 repeated ControlFlowContextDef
ControlFlowContextDef: | ctxt: cond_ctxt=1 CondContextDef; while_ctxt=2 WhileContextDef
ValuesDef: values=1 repeated string; external_values=2 map<string,string>
SavedModel: saved_model_schema_version=1 int64; meta_graphs=2 repeated MetaGraphDef
BundleHeaderProto: num_shards=1 int32; endianness=2 BundleHeaderProto.Endianness; version=3 VersionDef
SnapshotRecord: tensor=1 repeated TensorProto
SnapshotMetadataRecord: graph_hash=1 string; run_id=2 string; creation_timestamp=3 int64; finalized=1000 bool
VariantTensorDataProto: type_name=1 string; metadata=2 bytes; tensors=3 repeated TensorProto
BundleEntryProto: dtype=1 DataType; shape=2 TensorShapeProto; shard_id=3 int32; offset=4 int64; size=5 int64;
    crc32c=6 fixed32; slices=7 repeated TensorSliceProto
TensorSliceProto: extent=1 repeated TensorSliceProto.Extent
TensorSliceProto.Extent: start=1 int64 | has_length: length=2 int64
SavedSliceMeta: name=1 string; shape=2 TensorShapeProto; type=3 DataType; slice=4 repeated TensorSliceProto
SavedTensorSliceMeta: tensor=1 repeated SavedSliceMeta; versions=2 VersionDef
SavedSlice: name=1 string; slice=2 TensorSliceProto; data=3 TensorProto
SavedTensorSlices: meta=1 SavedTensorSliceMeta; data=2 SavedSlice
CheckpointState: model_checkpoint_path=1 string; all_model_checkpoint_paths=2 repeated string;
    all_model_checkpoint_timestamps=3 repeated double; last_preserved_timestamp=4 double
HParamDef: hparam=1 map<string,HParamDef.HParamType>
HParamDef.BytesList: value=1 repeated bytes
HParamDef.FloatList: value=1 repeated float
HParamDef.Int64List: value=1 repeated int64
HParamDef.BoolList: value=1 repeated bool
HParamDef.HParamType: | kind: int64_value=1 int64; float_value=2 float; bytes_value=3 bytes; bool_value=7 bool; int64_list=4
    HParamDef.Int64List; float_list=5 HParamDef.FloatList; bytes_list=6 HParamDef.BytesList; bool_list=8 HParamDef.BoolList
TrackableObjectGraph: nodes=1 repeated TrackableObjectGraph.TrackableObject
TrackableObjectGraph.TrackableObject: children=1 repeated TrackableObjectGraph.TrackableObject.ObjectReference; attributes=2
    repeated TrackableObjectGraph.TrackableObject.SerializedTensor; slot_variables=3 repeated
    TrackableObjectGraph.TrackableObject.SlotVariableReference
TrackableObjectGraph.TrackableObject.ObjectReference: node_id=1 int32; local_name=2 string
TrackableObjectGraph.TrackableObject.SerializedTensor: name=1 string; full_name=2 string; checkpoint_key=3 string;
    optional_restore=4 bool
TrackableObjectGraph.TrackableObject.SlotVariableReference: original_variable_node_id=1 int32; slot_name=2 string;
    slot_variable_node_id=3 int32
SavedObjectGraph: nodes=1 repeated SavedObject; concrete_functions=2 map<string,SavedConcreteFunction>
SavedObject: children=1 repeated TrackableObjectGraph.TrackableObject.ObjectReference; slot_variables=3 repeated
    TrackableObjectGraph.TrackableObject.SlotVariableReference | kind: user_object=4 SavedUserObject; asset=5 SavedAsset;
    function=6 SavedFunction; variable=7 SavedVariable; bare_concrete_function=8 SavedBareConcreteFunction; constant=9
    SavedConstant; resource=10 SavedResource; captured_tensor=12 CapturedTensor
CapturedTensor: name=1 string; concrete_function=2 string
SavedUserObject: identifier=1 string; version=2 VersionDef; metadata=3 string
SavedAsset: asset_file_def_index=1 int32
SavedFunction: concrete_functions=1 repeated string; function_spec=2 FunctionSpec
SavedConcreteFunction: bound_inputs=2 repeated int32; canonicalized_input_signature=3 StructuredValue; output_signature=4
    StructuredValue
SavedBareConcreteFunction: concrete_function_name=1 string; argument_keywords=2 repeated string;
    allowed_positional_arguments=3 int64
SavedConstant: operation=1 string
SavedVariable: dtype=1 DataType; shape=2 TensorShapeProto; trainable=3 bool; synchronization=4 VariableSynchronization;
    aggregation=5 VariableAggregation; name=6 string
FunctionSpec: fullargspec=1 StructuredValue; is_method=2 bool; input_signature=5 StructuredValue
SavedResource: device=1 string
StructuredValue: | kind: none_value=1 NoneValue; float64_value=11 double; int64_value=12 sint64; string_value=13 string;
    bool_value=14 bool; tensor_shape_value=31 TensorShapeProto; tensor_dtype_value=32 DataType; tensor_spec_value=33
    TensorSpecProto; type_spec_value=34 TypeSpecProto; bounded_tensor_spec_value=35 BoundedTensorSpecProto; list_value=51
    ListValue; tuple_value=52 TupleValue; dict_value=53 DictValue; named_tuple_value=54 NamedTupleValue
NoneValue:
ListValue: values=1 repeated StructuredValue
TupleValue: values=1 repeated StructuredValue
DictValue: fields=1 map<string,StructuredValue>
PairValue: key=1 string; value=2 StructuredValue
NamedTupleValue: name=1 string; values=2 repeated PairValue
TensorSpecProto: name=1 string; shape=2 TensorShapeProto; dtype=3 DataType
BoundedTensorSpecProto: name=1 string; shape=2 TensorShapeProto; dtype=3 DataType; minimum=4 TensorProto; maximum=5
    TensorProto
TypeSpecProto: type_spec_class=1 TypeSpecProto.TypeSpecClass; type_state=2 StructuredValue; type_spec_class_name=3 string
Example: features=1 Features
Features: feature=1 map<string,Feature>
Feature: | kind: bytes_list=1 BytesList; float_list=2 FloatList; int64_list=3 Int64List
BytesList: value=1 repeated bytes
FloatList: value=1 repeated float
Int64List: value=1 repeated int64
SequenceExample: context=1 Features; feature_lists=2 FeatureLists
FeatureLists: feature_list=1 map<string,FeatureList>
FeatureList: feature=1 repeated Feature
Event: wall_time=1 double; step=2 int64; source_metadata=10 SourceMetadata | what: file_version=3 string;
    graph_def=4 bytes; summary=5 Summary; log_message=6 LogMessage; session_log=7 SessionLog; tagged_run_metadata=8
    TaggedRunMetadata; meta_graph_def=9 bytes
SourceMetadata: writer=1 string
TaggedRunMetadata: tag=1 string; run_metadata=2 bytes
SessionLog: status=1 SessionLog.SessionStatus; checkpoint_path=2 string; msg=3 string
LogMessage: level=1 LogMessage.Level; message=2 string
Summary: value=1 repeated Summary.Value
Summary.Value: tag=1 string; node_name=7 string; metadata=9 SummaryMetadata | value: simple_value=2 float;
    obsolete_old_style_histogram=3 bytes; image=4 Summary.Image; histo=5 HistogramProto; audio=6 Summary.Audio;
    tensor=8 TensorProto
Summary.Image: height=1 int32; width=2 int32; colorspace=3 int32; encoded_image_string=4 bytes
Summary.Audio: sample_rate=1 float; num_channels=2 int64; length_frames=3 int64; encoded_audio_string=4 bytes;
    content_type=5 string
SummaryMetadata: plugin_data=1 SummaryMetadata.PluginData; display_name=2 string; summary_description=3 string;
    data_class=4 DataClass
SummaryMetadata.PluginData: plugin_name=1 string; content=2 bytes
HistogramProto: min=1 double; max=2 double; num=3 double; sum=4 double; sum_squares=5 double; bucket_limit=6
    repeated double; bucket=7 repeated double
RunMetadata: step_stats=1 StepStats; cost_graph=2 CostGraphDef; partition_graphs=3 repeated GraphDef;
    function_graphs=4 repeated RunMetadata.FunctionGraphs; session_metadata=5 SessionMetadata
RunOptions: trace_level=1 RunOptions.TraceLevel; timeout_in_ms=2 int64; inter_op_thread_pool=3 int32;
    output_partition_graphs=5 bool; report_tensor_allocations_upon_oom=7 bool; experimental=8
    RunOptions.Experimental
CallableOptions: feed=1 repeated string; fetch=2 repeated string; target=3 repeated string; run_options=4 RunOptions;
    tensor_connection=5 repeated TensorConnection; feed_devices=6 map<string,string>; fetch_devices=7 map<string,string>;
    fetch_skip_sync=8 bool
TensorConnection: from_tensor=1 string; to_tensor=2 string
StepStats: dev_stats=1 repeated DeviceStepStats
DeviceStepStats: device=1 string; node_stats=2 repeated NodeExecStats; thread_names=3 map<uint32,string>
NodeExecStats: node_name=1 string; all_start_micros=2 int64; op_start_rel_micros=3 int64; op_end_rel_micros=4 int64;
    all_end_rel_micros=5 int64; memory=6 repeated AllocatorMemoryUsed; output=7 repeated NodeOutput;
    timeline_label=8 string; scheduled_micros=9 int64; thread_id=10 uint32; referenced_tensor=11 repeated
    AllocationDescription; memory_stats=12 MemoryStats; all_start_nanos=13 int64; op_start_rel_nanos=14 int64;
    op_end_rel_nanos=15 int64; all_end_rel_nanos=16 int64; scheduled_nanos=17 int64
AllocatorMemoryUsed: allocator_name=1 string; total_bytes=2 int64; peak_bytes=3 int64; live_bytes=4 int64;
    allocator_bytes_in_use=5 int64; allocation_records=6 repeated AllocationRecord
NodeOutput: slot=1 int32; tensor_description=3 TensorDescription
TensorDescription: dtype=1 DataType; shape=2 TensorShapeProto; allocation_description=4 AllocationDescription
AllocationDescription: requested_bytes=1 int64; allocated_bytes=2 int64; allocator_name=3 string; allocation_id=4
    int64; has_single_reference=5 bool; ptr=6 uint64
MemoryStats: temp_memory_size=1 int64; device_temp_memory_size=2 int64; persistent_memory_size=3 int64;
    device_persistent_memory_size=4 int64; persistent_tensor_alloc_ids=5 repeated int64;
    device_persistent_tensor_alloc_ids=6 repeated int64
ClusterDef: job=1 repeated JobDef
JobDef: name=1 string; tasks=2 map<int32,string>
ServerDef: cluster=1 ClusterDef; job_name=2 string; task_index=3 int32; default_session_config=4 ConfigProto;
    protocol=5 string; port=6 int32; replica=8 int32
ConfigProto: device_count=1 map<string,int32>; intra_op_parallelism_threads=2 int32; placement_period=3 int32;
    device_filters=4 repeated string; inter_op_parallelism_threads=5 int32; gpu_options=6 GPUOptions;
    allow_soft_placement=7 bool; log_device_placement=8 bool; use_per_session_threads=9 bool; graph_options=10
    GraphOptions; operation_timeout_in_ms=11 int64; session_inter_op_thread_pool=12 repeated ThreadPoolOptionProto;
    rpc_options=13 RPCOptions; cluster_def=14 ClusterDef; isolate_session_state=15 bool; experimental=16
    ConfigProto.Experimental; share_cluster_devices_in_session=17 bool; pluggable_device_options=18 GPUOptions
GPUOptions: per_process_gpu_memory_fraction=1 double; allocator_type=2 string; deferred_deletion_bytes=3 int64;
    allow_growth=4 bool; visible_device_list=5 string; polling_active_delay_usecs=6 int32;
    polling_inactive_delay_msecs=7 int32; force_gpu_compatible=8 bool; experimental=9 GPUOptions.Experimental
GraphOptions: enable_recv_scheduling=2 bool; optimizer_options=3 OptimizerOptions; build_cost_model=4 int64;
    infer_shapes=5 bool; place_pruned_graph=6 bool; enable_bfloat16_sendrecv=7 bool; timeline_step=8 int32;
    build_cost_model_after=9 int64; rewrite_options=10 RewriterConfig
OptimizerOptions: do_common_subexpression_elimination=1 bool; do_constant_folding=2 bool; opt_level=3
    OptimizerOptions.Level; do_function_inlining=4 bool; global_jit_level=5 OptimizerOptions.GlobalJitLevel;
    max_folded_constant_in_bytes=6 int64; cpu_global_jit=7 bool
RewriterConfig: layout_optimizer=1 RewriterConfig.Toggle; disable_model_pruning=2 bool; constant_folding=3
    RewriterConfig.Toggle; memory_optimization=4 RewriterConfig.MemOptType; auto_parallel=5 AutoParallelOptions;
    memory_optimizer_target_node_name_scope=6 string; arithmetic_optimization=7 RewriterConfig.Toggle;
    dependency_optimization=8 RewriterConfig.Toggle; loop_optimization=9 RewriterConfig.Toggle;
    function_optimization=10 RewriterConfig.Toggle; debug_stripper=11 RewriterConfig.Toggle;
    meta_optimizer_iterations=12 RewriterConfig.NumIterationsType; shape_optimization=13 RewriterConfig.Toggle;
    remapping=14 RewriterConfig.Toggle; scoped_allocator_optimization=15 RewriterConfig.Toggle;
    scoped_allocator_opts=16 ScopedAllocatorOptions; min_graph_nodes=17 int32; pin_to_host_optimization=18
    RewriterConfig.Toggle; disable_meta_optimizer=19 bool; meta_optimizer_timeout_ms=20 int64;
    fail_on_optimizer_errors=21 bool; implementation_selector=22 RewriterConfig.Toggle; auto_mixed_precision=23
    RewriterConfig.Toggle; optimizers=100 repeated string; custom_optimizers=200 repeated
    RewriterConfig.CustomGraphOptimizer
RewriterConfig.CustomGraphOptimizer: name=1 string; parameter_map=2 map<string,AttrValue>
AutoParallelOptions: enable=1 bool; num_replicas=2 int32
ScopedAllocatorOptions: enable_op=1 repeated string
ThreadPoolOptionProto: num_threads=1 int32; global_name=2 string
RPCOptions: use_rpc_for_inprocess_master=1 bool; compression_algorithm=2 string; compression_level=3 int32;
    cache_rpc_response=4 bool; disable_session_connection_sharing=5 bool
ConfigProto.Experimental: collective_group_leader=1 string; executor_type=3 string; recv_buf_max_chunk=4 int32;
    use_numa_affinity=5 bool; collective_deterministic_sequential_execution=6 bool; collective_nccl=7 bool;
    share_session_state_in_clusterspec_propagation=8 bool; disable_thread_spinning=9 bool;
    share_cluster_devices_in_session=10 bool; session_metadata=11 SessionMetadata; optimize_for_static_graph=12 bool
SessionMetadata: name=1 string; version=2 int64
GPUOptions.Experimental: virtual_devices=1 repeated GPUOptions.Experimental.VirtualDevices; use_unified_memory=2
    bool; num_dev_to_dev_copy_streams=3 int32; collective_ring_order=4 string; timestamped_allocator=5 bool;
    kernel_tracker_max_interval=7 int32; kernel_tracker_max_bytes=8 int32; kernel_tracker_max_pending=9 int32
GPUOptions.Experimental.VirtualDevices: memory_limit_mb=1 repeated float
RunOptions.Experimental: collective_graph_key=1 int64; use_run_handler_pool=2 bool
RunMetadata.FunctionGraphs: partition_graphs=1 repeated GraphDef; pre_optimization_graph=2 GraphDef;
    post_optimization_graph=3 GraphDef
CostGraphDef: node=1 repeated CostGraphDef.Node
CostGraphDef.Node: name=1 string; device=2 string; id=3 int32; input_info=4 repeated CostGraphDef.Node.InputInfo;
    output_info=5 repeated CostGraphDef.Node.OutputInfo; temporary_memory_size=6 int64; is_final=7 bool;
    control_input=8 repeated int32; compute_cost=9 int64; host_temp_memory_size=10 int64; device_temp_memory_size=11
    int64; persistent_memory_size=12 int64; compute_time=14 int64; memory_time=15 int64;
    device_persistent_memory_size=16 int64; inaccurate=17 bool
CostGraphDef.Node.InputInfo: preceding_node=1 int32; preceding_port=2 int32
CostGraphDef.Node.OutputInfo: size=1 int64; alias_input_port=2 int64; shape=3 TensorShapeProto; dtype=4 DataType
DeviceAttributes: name=1 string; device_type=2 string; memory_limit=4 int64; locality=5 DeviceLocality;
    incarnation=6 fixed64; physical_device_desc=7 string
DeviceLocality: bus_id=1 int32; numa_node=2 int32
ResourceHandleProto: device=1 string; container=2 string; name=3 string; hash_code=4 uint64; maybe_type_name=5
    string; dtypes_and_shapes=6 repeated ResourceHandleProto.DtypeAndShape
ResourceHandleProto.DtypeAndShape: dtype=1 DataType; shape=2 TensorShapeProto
AllocationRecord: alloc_micros=1 int64; alloc_bytes=2 int64
SummaryDescription: type_hint=1 string
SpriteMetadata: image_path=1 string; single_image_dim=2 repeated uint32
EmbeddingInfo: tensor_name=1 string; metadata_path=2 string; bookmarks_path=3 string; tensor_shape=4 repeated uint32;
    sprite=5 SpriteMetadata; tensor_path=6 string
ProjectorConfig: model_checkpoint_path=1 string; embeddings=2 repeated EmbeddingInfo; model_checkpoint_dir=3 string
ReaderBaseState: work_started=1 int64; work_finished=2 int64; num_records_produced=3 int64; current_work=4 bytes
FunctionDef.ArgAttrs: attr=1 map<string,AttrValue>
RegisteredGradient: gradient_func=1 string; registered_op_type=2 string
NodeDef.ExperimentalDebugInfo: original_node_names=1 repeated string; original_func_names=2 repeated string
TreeEnsemble: trees=1 repeated TreeEnsemble.Tree; tree_weights=2 repeated float; tree_metadata=3 repeated
    TreeEnsemble.TreeMetadata; growing_metadata=4 TreeEnsemble.GrowingMetadata
TreeEnsemble.Tree: nodes=1 repeated TreeEnsemble.Node
TreeEnsemble.Node: metadata=777 TreeEnsemble.NodeMetadata | node: leaf=1 TreeEnsemble.Leaf; bucketized_split=2
    TreeEnsemble.BucketizedSplit; categorical_split=3 TreeEnsemble.CategoricalSplit
TreeEnsemble.NodeMetadata: gain=1 float; original_leaf=2 TreeEnsemble.Leaf
TreeEnsemble.Leaf: scalar=3 float
TreeEnsemble.BucketizedSplit: feature_id=1 int32; threshold=2 int32; left_id=3 int32; right_id=4 int32; dimension_id=5 int32;
    default_direction=6 int32
TreeEnsemble.CategoricalSplit: feature_id=1 int32; value=2 int32; left_id=3 int32; right_id=4 int32; dimension_id=5 int32
TreeEnsemble.TreeMetadata: num_layers_grown=2 int32; is_finalized=3 bool; post_pruned_nodes_meta=4 repeated
    TreeEnsemble.PostPruneNodeUpdate
TreeEnsemble.PostPruneNodeUpdate: new_node_id=1 int32; logit_change=2 repeated float
TreeEnsemble.GrowingMetadata: num_trees_attempted=1 int64; num_layers_attempted=2 int64; last_layer_node_start=3 int32;
    last_layer_node_end=4 int32
DecisionTrees.Model: decision_tree=1 DecisionTrees.Tree
DecisionTrees.Tree: nodes=1 repeated DecisionTrees.Node
DecisionTrees.Node: node_id=1 DecisionTrees.Int32Value; depth=2 DecisionTrees.Int32Value | node_type:
    binary_node=4 DecisionTrees.BinaryNode; leaf=5 DecisionTrees.Leaf
DecisionTrees.BinaryNode: left_child_id=1 DecisionTrees.Int32Value; right_child_id=2 DecisionTrees.Int32Value |
    left_child_test: inequality_left_child_test=4 DecisionTrees.InequalityTest; custom_left_child_test=5 protobuf.Any
DecisionTrees.InequalityTest: feature_id=1 DecisionTrees.FeatureId; type=2 int32; threshold=3 DecisionTrees.Value
DecisionTrees.MatchingValuesTest: feature_id=1 DecisionTrees.FeatureId; value=2 repeated DecisionTrees.Value
DecisionTrees.FeatureId: id=1 DecisionTrees.StringValue
DecisionTrees.Leaf: vector=1 DecisionTrees.Vector
DecisionTrees.Vector: value=1 repeated DecisionTrees.Value
DecisionTrees.Value: | value: float_value=1 float
DecisionTrees.Int32Value: value=1 int32
DecisionTrees.StringValue: value=1 string
TensorForestParams: leaf_type=1 int32; stats_type=2 int32; num_trees=6 int32; max_nodes=7 int32; num_features=21 int32;
    inequality_test_type=19 int32; is_regression=8 bool; collate_examples=10 bool; use_running_stats_method=20 bool;
    num_outputs=12 int32; num_splits_to_consider=13 TensorForestParams.DepthDependentParam;
    split_after_samples=14 TensorForestParams.DepthDependentParam; dominate_fraction=15
    TensorForestParams.DepthDependentParam; pruning_type=4 TensorForestParams.Strategy; finish_type=5
    TensorForestParams.Strategy
TensorForestParams.Strategy: when=1 TensorForestParams.DepthDependentParam; type=2 int32
TensorForestParams.DepthDependentParam: | ParamType: constant_value=1 float; linear=2 TensorForestParams.LinearParam;
    exponential=3 TensorForestParams.ExponentialParam; threshold=4 TensorForestParams.ThresholdParam
TensorForestParams.LinearParam: slope=1 float; y_intercept=2 float; min_val=3 float; max_val=4 float
TensorForestParams.ExponentialParam: bias=1 float; base=2 float; multiplier=3 float; depth_multiplier=4 float
TensorForestParams.ThresholdParam: on_value=1 float; off_value=2 float; threshold=3 float
TensorForestStats: node_to_slot=1 repeated TensorForestStats.Slot
TensorForestStats.Slot: node_id=5 int32; depth=7 int32
TreeDebugOutput: feature_ids=1 repeated int32; logits_path=2 repeated float
BenchmarkEntries: entry=1 repeated BenchmarkEntry
BenchmarkEntry: name=1 string; iters=2 int64; cpu_time=3 double; wall_time=4 double; throughput=5 double; extras=6
    map<string,EntryValue>; metrics=7 repeated MetricEntry
EntryValue: | kind: double_value=1 double; string_value=2 string
MetricEntry: name=1 string; value=2 double; min_value=3 MetricEntry.Limit; max_value=4 MetricEntry.Limit
MetricEntry.Limit: value=1 double
"""

ENUMS = """
decision_trees.BinaryNode.Direction: LEFT=0 RIGHT=1
decision_trees.InequalityTest.Type: LESS_OR_EQUAL=0 LESS_THAN=1 GREATER_OR_EQUAL=2 GREATER_THAN=3
DataType: DT_INVALID=0 DT_FLOAT=1 DT_DOUBLE=2 DT_INT32=3 DT_UINT8=4 DT_INT16=5 DT_INT8=6 DT_STRING=7 DT_COMPLEX64=8
    DT_INT64=9 DT_BOOL=10 DT_QINT8=11 DT_QUINT8=12 DT_QINT32=13 DT_BFLOAT16=14 DT_QINT16=15 DT_QUINT16=16 DT_UINT16=17
    DT_COMPLEX128=18 DT_HALF=19 DT_RESOURCE=20 DT_VARIANT=21 DT_UINT32=22 DT_UINT64=23 DT_FLOAT8_E5M2=24
    DT_FLOAT8_E4M3FN=25 DT_INT4=29 DT_UINT4=30
VariableSynchronization: VARIABLE_SYNCHRONIZATION_AUTO=0 VARIABLE_SYNCHRONIZATION_NONE=1
    VARIABLE_SYNCHRONIZATION_ON_WRITE=2 VARIABLE_SYNCHRONIZATION_ON_READ=3
VariableAggregation: VARIABLE_AGGREGATION_NONE=0 VARIABLE_AGGREGATION_SUM=1 VARIABLE_AGGREGATION_MEAN=2
    VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA=3
Code: OK=0 CANCELLED=1 UNKNOWN=2 INVALID_ARGUMENT=3 DEADLINE_EXCEEDED=4 NOT_FOUND=5 ALREADY_EXISTS=6
    PERMISSION_DENIED=7 RESOURCE_EXHAUSTED=8 FAILED_PRECONDITION=9 ABORTED=10 OUT_OF_RANGE=11 UNIMPLEMENTED=12
    INTERNAL=13 UNAVAILABLE=14 DATA_LOSS=15 UNAUTHENTICATED=16
DataClass: DATA_CLASS_UNKNOWN=0 DATA_CLASS_SCALAR=1 DATA_CLASS_TENSOR=2 DATA_CLASS_BLOB_SEQUENCE=3
TypeSpecProto.TypeSpecClass: UNKNOWN=0 SPARSE_TENSOR_SPEC=1 INDEXED_SLICES_SPEC=2 RAGGED_TENSOR_SPEC=3 TENSOR_ARRAY_SPEC=4
    DATA_DATASET_SPEC=5 DATA_ITERATOR_SPEC=6 OPTIONAL_SPEC=7 PER_REPLICA_SPEC=8
SaverDef.CheckpointFormatVersion: LEGACY=0 V1=1 V2=2
BundleHeaderProto.Endianness: LITTLE=0 BIG=1
SessionLog.SessionStatus: STATUS_UNSPECIFIED=0 START=1 STOP=2 CHECKPOINT=3
LogMessage.Level: UNKNOWN=0 DEBUGGING=10 INFO=20 WARN=30 ERROR=40 FATAL=50
RunOptions.TraceLevel: NO_TRACE=0 SOFTWARE_TRACE=1 HARDWARE_TRACE=2 FULL_TRACE=3
OptimizerOptions.Level: L1=0 L0=-1
OptimizerOptions.GlobalJitLevel: DEFAULT=0 OFF=-1 ON_1=1 ON_2=2
RewriterConfig.Toggle: DEFAULT=0 ON=1 OFF=2 AGGRESSIVE=3
RewriterConfig.NumIterationsType: DEFAULT_NUM_ITERS=0 ONE=1 TWO=2
RewriterConfig.MemOptType: DEFAULT_MEM_OPT=0 NO_MEM_OPT=1 MANUAL=2 HEURISTICS=3 SWAPPING_HEURISTICS=4
    RECOMPUTATION_HEURISTICS=5 SCHEDULING_HEURISTICS=6
"""
