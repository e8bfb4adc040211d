"""Files: checkpoints, examples, whole files."""
