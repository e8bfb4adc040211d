"""The graph: operations, tensors, names and scopes.  Knows no compiler and no session."""
