"""Random programs, answered by TensorFlow 1.15 and by jitgraph, and compared.

A program is data (see `program`); `build` says it to a module, `answers` runs it, `compare` compares two answers,
`shrink` makes a program that differs small.  These files import neither TensorFlow nor jitgraph, and those that the
worker needs are Python 3.7, so that the same code asks both.
"""
