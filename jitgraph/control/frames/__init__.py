"""Control flow of TensorFlow 1's graph files, Switch, Merge and frames, raised to If and While.

``structure`` finds the frames of loops; ``guards`` says under which conditions each operation runs, and where values come
from; ``blocks`` builds If and While, in the graphs of ``scope``; ``raising`` is what others call.
"""
