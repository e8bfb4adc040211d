"""Where a new model begins: ``tf.estimator.WarmStartSettings``."""
from __future__ import annotations

import os
from typing import Any, NamedTuple

from jitgraph.app import logs
from jitgraph.filesystem import gfile
from jitgraph.saved_model import constants
from jitgraph.train.warm_starting import warm_start


class _Settings(NamedTuple):
    ckpt_to_initialize_from: Any
    vars_to_warm_start: Any
    var_name_to_vocab_info: dict
    var_name_to_prev_var_name: dict


class WarmStartSettings(_Settings):
    """The arguments of ``tf.train.warm_start``.  Raises ValueError without a checkpoint."""

    def __new__(cls, ckpt_to_initialize_from: Any, vars_to_warm_start: Any = ".*", var_name_to_vocab_info: Any = None,
                var_name_to_prev_var_name: Any = None) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(cls, ckpt_to_initialize_from, vars_to_warm_start, var_name_to_vocab_info or {},
                               var_name_to_prev_var_name or {})


def settings_of(warm_start_from: Any) -> WarmStartSettings | None:
    """The settings that the argument of an estimator stands for: a checkpoint, its folder, a SavedModel, settings or None.

    Raises ValueError for anything else.
    """
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, bytes)):
        raise ValueError(f"warm_start_from must be a string or a WarmStartSettings, instead got {type(warm_start_from)}")
    folder = os.path.join(os.fsdecode(warm_start_from), constants.VARIABLES_DIRECTORY)
    if gfile.Exists(os.path.join(folder, constants.VARIABLES_FILENAME + ".index")):
        logs.info("Warm-starting from a SavedModel")
        return WarmStartSettings(os.path.join(folder, constants.VARIABLES_FILENAME))
    return WarmStartSettings(warm_start_from)


def apply(settings: WarmStartSettings) -> None:
    """Has the variables of the default graph begin as the settings say."""
    logs.info(f"Warm-starting with WarmStartSettings: {settings}")
    warm_start(*settings)
