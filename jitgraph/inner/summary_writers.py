"""Names of ``tensorflow.python.training.summary_io`` and of ``tf.contrib.learn``'s module of the same writers."""
from jitgraph.summary.file_writer import FileWriterCache

SummaryWriterCache = FileWriterCache
clear_summary_writers, get_summary_writer = FileWriterCache.clear, FileWriterCache.get
