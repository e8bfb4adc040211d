"""Where the names of TensorFlow's inner modules are found here: the tables that `jitgraph.compat` reads.

Programs import from `tensorflow.python.*`, `tensorflow.core.*` and `tensorflow.contrib.*.python.*`, which are not the
public API but are used as if they were. Each such module becomes a view: a module without contents that looks a name up
in the places listed here, in order, and last in the public names.

A place is a public namespace (`nn`, `train`), or, with a colon before it, a module of this project (`:jitgraph.declare.op`).
"""

from collections.abc import Iterable

from jitgraph.facade import contrib_modules
from jitgraph.facade.python_modules import PYTHON_MODULES

PYTHON_PLACES = {"autograph": "autograph :jitgraph.autograph.api", "keras": "keras", "debug": ":jitgraph.inner.debugger",
                 "tf2": ":jitgraph.facade.eager_context",
                 "pywrap_tensorflow": "train errors :jitgraph.inner.graph_equality :jitgraph.inner.constant_folding "
                                       ":jitgraph.inner.events_writer"}
"""Places of the packages `tensorflow.python.GROUP` themselves, where they hold names."""

SHARED_GROUPS = ("framework", "ops", "eager", "platform", "training", "util", "client", "lib")
"""Packages whose modules are imported by modules of all others."""

CORE_PACKAGES = ("framework", "protobuf", "example", "util", "lib", "lib.core", "profiler", "kernels",
                 "kernels.boosted_trees")
"""Packages of protocol buffers: `tensorflow.core.PACKAGE.anything_pb2` holds messages that are public names here."""

HIDDEN_BY_FUNCTIONS = ("contrib.framework.python.ops.arg_scope",)
"""Modules whose package holds a function of the same name, and gives that to `from package import name`."""

REACHED_THROUGH = (
    "specs", "tensor_forest", "slim", "grid_rnn", "solvers", "reduce_slice_ops", "quantization", "testing", "optimizer_v2")
"""Packages of contrib that let programs reach the modules that they are made of: `tf.contrib.specs.specs_ops`."""

REACHED_IN_LEARN = {"learn.io": "learn_io", "learn.ops": "ops", "learn.preprocessing": "preprocessing"}
"""Packages inside of contrib.learn of which the same holds, and where their modules are."""

BY_OTHER_NAMES = {
    "vs": "python.ops.variable_scope", "vars_": "python.ops.variables", "train": "python.training.training",
    "optimizer_": "python.training.optimizer", "fc_core": "python.feature_column.feature_column",
    "sparse_tensor_py": "python.framework.sparse_tensor", "contrib_variables": "contrib.framework.python.ops.variables",
    "contrib_sparse_ops": "contrib.layers.python.ops.sparse_ops", "fc": "contrib.layers.python.layers.feature_column",
    "loss_ops": "contrib.losses.python.losses.loss_ops", "metric_ops": "contrib.metrics.python.ops.metric_ops",
    **{name: f"contrib.layers.python.layers.{name}" for name in (
        "encoders", "feature_column_ops", "normalization", "optimizers", "rev_block_lib", "target_column")},
    **{name: f"contrib.layers.python.ops.{name}" for name in ("bucketization_op", "sparse_feature_cross_op")},
    **{name: f"contrib.{name.removeprefix('contrib_')}" for name in ("contrib_framework", "lookup", "layers", "rnn")}}
"""Modules by the names under which contrib's slim and grid_rnn import them."""

TOOLS_PLACES = {"": "", "graph_transforms": ":jitgraph.tools.graph_transforms"}
"""`tensorflow.tools`: its modules, of which the wheel of TensorFlow 1.15 has few."""

CORE_PLACES = "train summary profiler :jitgraph.protobuf.messages"


def places(dotted: str) -> str | None:
    """Return the places of the inner module `dotted` (without `tensorflow.`), or None if there is no such module.

    `python.ops.nn_ops` gives "nn"; a package such as `python.ops` gives "", that is the public names alone.
    """
    first, *rest = dotted.split(".")
    if first == "python":
        if not rest:
            return ""
        group, module = rest[0], ".".join(rest[1:])
        modules = PYTHON_MODULES.get(group)
        if modules is None:
            return None
        if not module:
            return PYTHON_PLACES.get(group, "")
        if any(name.startswith(module + ".") for name in modules):
            return modules.get(module, "")
        return modules.get(module)
    if first == "core":
        package, _, module = ".".join(rest).rpartition(".")
        if not rest or ".".join(rest) in CORE_PACKAGES:
            return ""
        return CORE_PLACES if package in CORE_PACKAGES and module.endswith("_pb2") else None
    if first == "tools":
        return TOOLS_PLACES.get(".".join(rest))
    if first == "contrib" and rest and ".".join(rest[1:]) in contrib_modules.inner_modules(rest[0]):
        return contrib_modules.CONTRIB_PLACES.get(dotted, f"contrib.{rest[0]}")
    return None


def modules_in(dotted: str) -> set[str]:
    """The names of the inner modules and packages directly in the inner package `dotted`."""
    first, _, inner = dotted.partition(".")
    group, _, inner = inner.partition(".")
    listed: Iterable[str] = ()
    if first == "python":
        listed = PYTHON_MODULES.get(group, ()) if group else PYTHON_MODULES
    elif first == "contrib":
        listed = contrib_modules.inner_modules(group)
    start = inner + "." if inner else ""
    return {name.removeprefix(start).partition(".")[0] for name in listed if name.startswith(start)}


def public(dotted: str) -> str:
    """The public name that an inner one of contrib stands for: `contrib.layers.python.layers.layers.fold` is
    `contrib.layers.fold`."""
    parts = dotted.split(".")
    return f"contrib.{parts[1]}.{parts[-1]}" if parts[0] == "contrib" and parts[2:3] == ["python"] else dotted


def is_listed(dotted: str) -> bool:
    """Return whether `dotted` is an inner module that the tables name."""
    return dotted.startswith(("python.", "core.", "contrib.")) and places(dotted) is not None


def sibling(module: str, name: str) -> str | None:
    """Return the dotted name of the inner module `name` that the inner module `module` imports, or None.

    It is one of the same package, or of those on which all others stand; a package itself imports none.
    """
    own = module.split(".")[1] if module.count(".") > 1 and module.startswith("python.") else None
    if own is None or any(other.startswith(module.partition(f"{own}.")[2] + ".") for other in PYTHON_MODULES[own]):
        return None
    for group in (own, *SHARED_GROUPS):
        if name in PYTHON_MODULES[group] and module != f"python.{group}.{name}":
            return f"python.{group}.{name}"
    return None


def seen_in_contrib(public: str) -> str | None:
    """Return the dotted name of the inner module that programs reach through a package of contrib, or None.

    Packages of contrib import all names of modules that import others: `tf.contrib.slim.init_ops`.
    """
    package, _, name = public.rpartition(".")
    if not package.startswith("contrib."):
        return None
    own = package.removeprefix("contrib.")
    if own in REACHED_IN_LEARN:
        inner = f"python.learn.{REACHED_IN_LEARN[own]}.{name}"
        return f"contrib.learn.{inner}" if inner in contrib_modules.inner_modules("learn") else None
    inside = [inner for inner in sorted(contrib_modules.inner_modules(own)) if inner.rpartition(".")[2] == name]
    if inside and own in REACHED_THROUGH:
        return f"{package}.{inside[0]}"
    if own in ("slim", "grid_rnn") and name in BY_OTHER_NAMES:
        return BY_OTHER_NAMES[name]
    return next((f"python.{group}.{name}" for group in SHARED_GROUPS if name in PYTHON_MODULES[group]), None)
