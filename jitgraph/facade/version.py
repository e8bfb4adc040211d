"""The versions that a program sees: those of the TensorFlow whose interface this is."""
from __future__ import annotations

VERSION = "1.15.5"                      # the TensorFlow whose interface this is
GIT_VERSION = "v1.15.5-jitgraph"
COMPILER_VERSION = "LLVM"
GRAPH_DEF_VERSION = 134                 # of the GraphDefs that TensorFlow 1.15 writes; readers of all versions accept it
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
