"""The public names around files: graphs, checkpoints, records, saved models and events; the table is of the form that
``jitgraph.facade.names`` explains.
"""
from __future__ import annotations

FILES: dict[str, str] = {
    "formats.import_graph": "import_graph_def graph_util.import_graph_def",
    "formats.checkpoint": "train.NewCheckpointReader=CheckpointReader train.CheckpointReader",
    "formats.collection_protos": "register_proto_function",
    "formats.records": """
        python_io.TFRecordWriter python_io.TFRecordOptions python_io.TFRecordCompressionType
        python_io.tf_record_iterator io.TFRecordWriter io.TFRecordOptions io.TFRecordCompressionType
        io.tf_record_iterator""",
    "train.saver": "train.Saver train.export_meta_graph train.import_meta_graph",
    "train.checkpoint_state": """
        train.latest_checkpoint train.get_checkpoint_state train.update_checkpoint_state
        train.generate_checkpoint_state_proto train.checkpoint_exists train.get_checkpoint_mtimes
        train.remove_checkpoint train.checkpoints_iterator""",
    "train.checkpoint_values": """
        train.load_checkpoint train.load_variable train.list_variables train.init_from_checkpoint
        contrib.framework.assign_from_checkpoint
        contrib.framework.assign_from_checkpoint_fn""",
    "formats.message_files": "train.write_graph io.write_graph",
    "formats.graph_parts": """
        graph_util.extract_sub_graph graph_util.remove_training_nodes graph_util.must_run_on_cpu
        graph_util.tensor_shape_from_node_def_name""",
    "formats.quantized_training": "train.do_quantize_training_on_graphdef",
    "tools.freeze": "graph_util.convert_variables_to_constants",
    "graph.scope_names": "contrib.framework.prepend_name_scope contrib.framework.strip_name_scope",
    "saved_model.constants": """
        saved_model.ASSETS_DIRECTORY saved_model.ASSETS_KEY saved_model.LEGACY_INIT_OP_KEY saved_model.MAIN_OP_KEY
        saved_model.SAVED_MODEL_FILENAME_PB saved_model.SAVED_MODEL_FILENAME_PBTXT
        saved_model.SAVED_MODEL_SCHEMA_VERSION saved_model.VARIABLES_DIRECTORY saved_model.VARIABLES_FILENAME
        saved_model.constants.ASSETS_DIRECTORY saved_model.constants.ASSETS_KEY
        saved_model.constants.LEGACY_INIT_OP_KEY saved_model.constants.MAIN_OP_KEY
        saved_model.constants.SAVED_MODEL_FILENAME_PB saved_model.constants.SAVED_MODEL_FILENAME_PBTXT
        saved_model.constants.SAVED_MODEL_SCHEMA_VERSION saved_model.constants.VARIABLES_DIRECTORY
        saved_model.constants.VARIABLES_FILENAME saved_model.GPU saved_model.SERVING saved_model.TPU
        saved_model.TRAINING saved_model.tag_constants.GPU saved_model.tag_constants.SERVING
        saved_model.tag_constants.TPU saved_model.tag_constants.TRAINING saved_model.CLASSIFY_INPUTS
        saved_model.CLASSIFY_METHOD_NAME saved_model.CLASSIFY_OUTPUT_CLASSES saved_model.CLASSIFY_OUTPUT_SCORES
        saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY saved_model.PREDICT_INPUTS saved_model.PREDICT_METHOD_NAME
        saved_model.PREDICT_OUTPUTS saved_model.REGRESS_INPUTS saved_model.REGRESS_METHOD_NAME
        saved_model.REGRESS_OUTPUTS saved_model.signature_constants.CLASSIFY_INPUTS
        saved_model.signature_constants.CLASSIFY_METHOD_NAME saved_model.signature_constants.CLASSIFY_OUTPUT_CLASSES
        saved_model.signature_constants.CLASSIFY_OUTPUT_SCORES
        saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        saved_model.signature_constants.PREDICT_INPUTS saved_model.signature_constants.PREDICT_METHOD_NAME
        saved_model.signature_constants.PREDICT_OUTPUTS saved_model.signature_constants.REGRESS_INPUTS
        saved_model.signature_constants.REGRESS_METHOD_NAME saved_model.signature_constants.REGRESS_OUTPUTS""",
    "saved_model.signatures": """
        saved_model.build_signature_def saved_model.predict_signature_def saved_model.classification_signature_def
        saved_model.regression_signature_def saved_model.is_valid_signature
        saved_model.signature_def_utils.build_signature_def saved_model.signature_def_utils.predict_signature_def
        saved_model.signature_def_utils.classification_signature_def
        saved_model.signature_def_utils.regression_signature_def saved_model.signature_def_utils.is_valid_signature
        saved_model.build_tensor_info saved_model.get_tensor_from_tensor_info saved_model.utils.build_tensor_info
        saved_model.utils.get_tensor_from_tensor_info""",
    "saved_model.builder": """
        saved_model.builder.SavedModelBuilder saved_model.Builder=SavedModelBuilder saved_model.simple_save""",
    "saved_model.loader": """
        saved_model.loader.load saved_model.load saved_model.loader.maybe_saved_model_directory
        saved_model.maybe_saved_model_directory saved_model.contains_saved_model=maybe_saved_model_directory""",
    "saved_model.object_saver": "saved_model.save",
    "saved_model.object_loader": "saved_model.load_v2",
    "saved_model.main_op": """
        saved_model.main_op.main_op saved_model.main_op.main_op_with_restore saved_model.main_op_with_restore""",
    "summary.summaries": """
        summary.scalar summary.histogram summary.image summary.audio summary.text summary.tensor_summary
        summary.merge summary.merge_all summary.get_summary_description""",
    "summary.file_writer": "summary.FileWriter summary.FileWriterCache",
    "summary.event_reader": "train.summary_iterator",
    "summary.recording": """
        summary.initialize summary.all_v2_summary_ops=all_summary_ops contrib.summary.SummaryWriter
        contrib.summary.create_file_writer contrib.summary.create_db_writer contrib.summary.create_summary_file_writer
        contrib.summary.always_record_summaries contrib.summary.never_record_summaries
        contrib.summary.record_summaries_every_n_global_steps contrib.summary.should_record_summaries
        contrib.summary.scalar contrib.summary.histogram contrib.summary.generic contrib.summary.image
        contrib.summary.audio contrib.summary.graph contrib.summary.import_event contrib.summary.flush
        contrib.summary.all_summary_ops contrib.summary.summary_writer_initializer_op contrib.summary.initialize
        contrib.summary.eval_dir""",
    "summary.projector": "contrib.tensorboard.plugins.projector.visualize_embeddings",
    "protobuf.messages": """
        contrib.tensorboard.plugins.projector.ProjectorConfig contrib.tensorboard.plugins.projector.EmbeddingInfo
        contrib.tensorboard.plugins.projector.SpriteMetadata""",
}
