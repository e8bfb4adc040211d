"""Variables: reference and resource, how they are made, shared, collected, initialized and assigned to."""
