"""Python functions, and values that only the host holds."""
