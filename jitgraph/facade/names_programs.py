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
}
