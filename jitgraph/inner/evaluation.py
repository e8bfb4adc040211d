"""``tensorflow.python.training.evaluation``, whose public names are those of ``tf.contrib.training`` with an underscore."""
from __future__ import annotations

from jitgraph.train.evaluation import StopAfterNEvalsHook, evaluate_once, get_or_create_eval_step

_StopAfterNEvalsHook = StopAfterNEvalsHook
_evaluate_once = evaluate_once
_get_or_create_eval_step = get_or_create_eval_step
