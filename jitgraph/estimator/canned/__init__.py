"""Models that are ready: linear, deep, both, and the baseline of a constant; and their heads."""
