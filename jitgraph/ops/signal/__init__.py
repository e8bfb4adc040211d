"""Signals: Fourier and cosine transforms, frames, sound."""
