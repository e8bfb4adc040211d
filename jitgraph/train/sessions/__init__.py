"""Sessions that initialise, restore, call hooks and recover: ``tf.train.MonitoredTrainingSession`` and what it is made of."""
