"""What a model function is called for: ``tf.estimator.ModeKeys``."""
from __future__ import annotations


class ModeKeys:
    """The modes: training, evaluation, and prediction (also export)."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"
