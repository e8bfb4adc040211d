"""What a monitored session calls around each of its runs: saving, logging, stopping, profiling."""
