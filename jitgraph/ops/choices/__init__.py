"""Choices among functions by predicates that are checked."""
