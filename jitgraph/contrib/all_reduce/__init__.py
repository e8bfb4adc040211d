"""`tf.contrib.all_reduce`: sums of tensors of several devices."""
