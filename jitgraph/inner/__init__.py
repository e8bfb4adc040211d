"""Names of TensorFlow's inner modules that programs import though they are not public: each module here answers for one of theirs.

``jitgraph.facade.tensorflow_modules`` lists which.  What such a name means is what TensorFlow 1.15 means by it.
"""
