"""What ``tf.compat.v2`` has of its own: functions of TensorFlow 2 for programs that build graphs.

Most are functions of TensorFlow 1 with other parameters (``calls.from_v1``); ``jitgraph.facade.names_v2`` says which name
stands where, and that all others are those of ``tf``.
"""
