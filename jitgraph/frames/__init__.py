"""Control flow of TensorFlow 1's graph files, Switch, Merge and frames, raised to If and While.

``structure`` finds the frames of loops, ``guards`` says under which conditions each operation runs, ``raising`` builds
the functional form in another graph.
"""
