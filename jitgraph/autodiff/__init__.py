"""Derivatives: the walk backwards through a graph, the gradients of control flow, functions with derivatives of their own."""
