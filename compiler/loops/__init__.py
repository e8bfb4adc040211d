"""What is known of a loop before it runs: how an iteration is divided, its scalars as expressions or as one kernel."""
