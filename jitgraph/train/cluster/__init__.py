"""Clusters: which tasks there are, the servers of this process, and on which task an operation is placed."""
