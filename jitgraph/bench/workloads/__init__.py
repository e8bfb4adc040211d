"""The workloads, by subject. MODULES is the order of the table."""

MODULES = (
    "startup",
    "calls",
    "elementwise",
    "rows",
    "reductions",
    "movement",
    "indexing",
    "optimizers",
    "training",
    "networks",
    "sorting",
)
