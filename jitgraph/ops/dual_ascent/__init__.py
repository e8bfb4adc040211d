"""Stochastic dual coordinate ascent: linear models trained one example at a time, by steps that solve for its dual variable."""
