"""Whole networks, each written once in words that TensorFlow 1, JAX and torch share."""
