"""What `tf.contrib.slim` reads examples with: datasets, decoders, readers."""
