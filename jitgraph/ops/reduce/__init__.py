"""Sums, means, extremes: over axes and over segments."""
