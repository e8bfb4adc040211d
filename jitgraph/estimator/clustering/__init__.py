"""Clusters around centres: the ops that choose and find centres, the graph that learns them, and estimators of it."""
