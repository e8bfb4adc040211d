"""Control flow: conditionals, loops, the order of operations, and the frames of graph files."""
