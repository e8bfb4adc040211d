"""The workloads, by subject. MODULES is the order of the table, and MODELS, whole networks, that of the rest."""

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
    "input_paths",
)

DEVICE = "device"
"""What `jitgraph bench --device gpu` measures beside networks of the others."""

MODELS = ("models.vision", "models.images", "models.detection", "models.language", "models.recurrent", "models.small")
