"""Names of TensorFlow 1.15 that are not part of jitgraph, and what to write instead: one sentence each."""
from __future__ import annotations

import difflib
import functools
from importlib import resources

from jitgraph.facade.names import namespaces, table

_GRAPHS = "jitgraph is TensorFlow 1's graph language: write tf.Session() and feed_dict"
_ONE_PROCESS = "a session of jitgraph runs in one process; use tf.Session(), and start several programs for several machines"
_READ = "read the data with its own client in tf.data.Dataset.from_generator, or tf.gfile through fsspec"
_NO_TPU = "run on a CPU or an NVIDIA GPU: jitgraph has no TPU target"

# a name that ends in * stands for all that begin so, one that ends in .* for a namespace and what is in it
INSTEAD: dict[str, str] = {
    "enable_eager_execution": "jitgraph runs graphs: build one and run it with tf.Session()",
    "enable_v2_behavior": _GRAPHS,
    "keras.*": "use tf.nn with tf.get_variable",
    "lite.*": "save a graph with tf.train.write_graph or tf.saved_model and convert it with TensorFlow",
    "tpu.*": _NO_TPU,
    **{f"raw_ops.{beginning}*": _NO_TPU for beginning in (
        "TPU", "ConfigureDistributedTPU", "ConfigureTPUEmbedding", "EnqueueTPUEmbedding", "Infeed", "LoadTPUEmbedding", "Outfeed",
        "Prelinearize", "RecvTPUEmbedding", "RetrieveTPUEmbedding", "SendTPUEmbedding", "ShutdownDistributedTPU",
        "WorkerHeartbeat")},
    "distribute.*": _ONE_PROCESS,
    "contrib.cluster_resolver.TPUClusterResolver": "there is no TPU target; write tf.train.ClusterSpec({...}) with the addresses",
    "experimental.*": _GRAPHS,
    "contrib.lite.*": "mobile conversion needs TensorFlow itself; export the graph with tf.train.write_graph",
    "contrib.tpu.*": "there is no TPU target; what a TPUEstimator with use_tpu=False needs is here",
    "contrib.tensorrt.*": "there is no TensorRT target; run the graph as it is",
    "contrib.eager.*": "jitgraph builds graphs; remove enable_eager_execution and run results in a tf.Session",
    "contrib.eager.connect_to_remote_host": _ONE_PROCESS, "contrib.eager.set_server_def": _ONE_PROCESS,
    **{f"contrib.eager.{name}": "find where numbers stop being finite with tf.add_check_numerics_ops or tf.debugging.check_numerics"
       for name in ("inf_callback", "inf_nan_callback", "nan_callback", "seterr", "errstate")},
    "contrib.autograph.*": "use tf.autograph",
    "contrib.bigtable.*": _READ, "contrib.hadoop.*": _READ, "contrib.kafka.*": _READ, "contrib.kinesis.*": _READ,
    "contrib.ignite.*": _READ, "contrib.cloud.*": _READ,
    "contrib.coder.*": "code the values in Python, in tf.py_func",
    "contrib.distribute.*": _ONE_PROCESS,
    "contrib.ffmpeg.*": "decode in tf.py_func with a library of audio and video, or WAV with tf.audio.decode_wav",
    "contrib.fused_conv.*": "write tf.nn.conv2d, tf.nn.bias_add and tf.nn.relu: the compiler joins them",
    "contrib.gan.*": "TensorFlow 1.15 has it no more: install the package tensorflow-gan",
    "contrib.gdr.*": _ONE_PROCESS, "contrib.mpi.*": _ONE_PROCESS, "contrib.nccl.*": _ONE_PROCESS,
    "contrib.mpi_collectives.*": _ONE_PROCESS, "contrib.verbs.*": _ONE_PROCESS,
    "contrib.keras.*": "use tf.layers, whose arguments are those of Keras's layers",
    "contrib.boosted_trees.*": "TensorFlow 1.15 has its estimators no more; use tf.estimator.BoostedTreesClassifier",
    "contrib.estimator.stop_if_*": "they stand in tf.estimator.experimental",
    "contrib.estimator.make_early_stopping_hook": "it stands in tf.estimator.experimental",
    "contrib.estimator.InMemoryEvaluatorHook": "it stands in tf.estimator.experimental",
    "contrib.estimator.make_stop_at_checkpoint_step_hook": "it stands in tf.estimator.experimental",
    "contrib.remote_fused_graph.*": "there is no remote target; run the graph as it is",
    "contrib.rpc.*": "call other services in tf.py_func",
    "contrib.saved_model.*": "save with tf.saved_model.simple_save",
    "contrib.tfprof.*": "use tf.profiler, and session.explain(...) for the times of a run",
}


# Names that are to be here, and what to write until then.
NOT_YET: dict[str, str] = {
    "contrib.bayesflow.*": "write the sampler with tf.while_loop over tf.contrib.distributions",
}


def instead_of(name: str) -> str | None:
    """What to write instead of a public name of TensorFlow that is not meant to be here, None if nothing is said."""
    return _said(INSTEAD, name)


def not_yet(name: str) -> str | None:
    """For a name of TensorFlow that is to be here: what to write until then, "" if nothing is said; None for others."""
    advice = _said(NOT_YET, name)
    if advice is not None:
        return advice
    return "" if name.startswith("contrib.") or name in names_of_tensorflow() else None


def _said(sentences: dict[str, str], name: str) -> str | None:
    exact = sentences.get(name)
    if exact is not None:
        return exact
    beginnings = [key for key in sentences if key.endswith("*") and _begins(name, key[:-1])]
    return sentences[max(beginnings, key=len)] if beginnings else None


def _begins(name: str, beginning: str) -> bool:
    return f"{name}.".startswith(beginning) if beginning.endswith(".") else name.startswith(beginning)


@functools.cache
def names_of_tensorflow() -> frozenset[str]:
    """All public names of TensorFlow 1.15 but those of keras and raw_ops, namespaces included."""
    found = set()
    for line in resources.files("jitgraph.facade").joinpath("tensorflow_names.tsv").read_text().splitlines():
        namespace, names = line.split("\t")
        found.add(namespace)
        found.update(f"{namespace}.{name}" if namespace else name for name in names.split())
    return frozenset(found)


def missing(name: str) -> AttributeError:
    """The error of a public name that is not here.  Given a name and an object, Python adds no guess of its own."""
    return AttributeError(sentence(name), name="", obj=None)


def sentence(name: str) -> str:
    """What to say of a public name that is not here: what to write instead, "not yet", or the nearest name."""
    instead = instead_of(name)
    if instead:
        return f"tf.{name} is not part of jitgraph: {instead}."
    advice = not_yet(name)
    if advice is not None:
        return f"tf.{name} is not in jitgraph yet{': ' if advice else ''}{advice}."
    prefix, _, last = name.rpartition(".")
    near = difflib.get_close_matches(last, namespaces().get(prefix, ()), 1, 0.8)
    if near:
        found = f"{prefix}.{near[0]}" if prefix else near[0]
        return f"tf.{name} is not there: did you mean tf.{found}?"
    elsewhere = [public for public in table() if public.rpartition(".")[2] == last]
    if elsewhere:
        return f"tf.{name} is not there: did you mean tf.{elsewhere[0]}?"
    inside = f"tf.{prefix}" if prefix and prefix in namespaces() else "tf"
    return f"tf.{name} is not there: see dir({inside}) for what is."
