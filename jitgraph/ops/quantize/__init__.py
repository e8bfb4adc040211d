"""Floats as integers of a few bits."""
