"""Gradient boosted trees, grown layer by layer: ``tf.estimator.BoostedTreesClassifier`` and its kin."""
