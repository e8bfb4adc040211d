"""`tf.gfile` and `tf.io.gfile`: files and folders here and, where fsspec is installed, behind addresses such as gs://."""
