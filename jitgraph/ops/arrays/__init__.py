"""Elements made, picked, placed and counted."""
