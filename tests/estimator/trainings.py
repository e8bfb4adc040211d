"""Trainings beside TensorFlow 1.15: what each leaves behind, recorded there and compared here.

A file ``programs.txt`` holds programs separated by lines ``# ---``, and before the first what goes before each.  A program makes
an estimator ``est`` with ``config`` and the input functions ``train_fn`` and ``eval_fn``; or it sets ``show``.  ``python
trainings.py FOLDER`` under a Python with TensorFlow 1.15 prints what stands in FOLDER/data/tf115_programs.json.
"""
import glob
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
_SHOWN = 12


def texts(folder=HERE):
    """(what goes before each program, the programs)."""
    first, *programs = (Path(folder) / "programs.txt").read_text().split("# ---\n")
    return first, [program.strip("\n") for program in programs]


def _numbers(value):
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        return [one.decode() if isinstance(one, bytes) else str(one) for one in array.ravel().tolist()]
    flat = array.astype(np.float64).ravel()
    return [float(f"{one:.7g}") for one in [*flat[:_SHOWN], flat.sum()]]


def _value(estimator, name):
    """The numbers of a variable; only that it is there, of serialized trees."""
    return [] if name.endswith("_serialized") else _numbers(estimator.get_variable_value(name))


def _by_key(values):
    return {str(key): _numbers(value) for key, value in values.items()}


def _plain(value):
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, (bool, str)) or value is None:
        return value
    return _numbers(value) if isinstance(value, (np.ndarray, np.generic, int, float)) else str(value)


def _tags(tf, folder):
    """{tag: steps} of the summaries in a folder, but of times."""
    found = {}
    for path in sorted(glob.glob(folder + "/events*") + glob.glob(folder + "/eval*/events*")):
        prefix = os.path.relpath(os.path.dirname(path), folder)
        for event in tf.train.summary_iterator(path):
            for value in event.summary.value:
                if value.tag != "global_step/sec":
                    found.setdefault(f"{prefix}/{value.tag}", []).append([event.step, value.WhichOneof("value")])
    return found


def _files(folder):
    """The files in a folder, times and numbers of processes in their names left out."""
    names = (os.path.relpath(path, folder) for path in glob.glob(folder + "/**", recursive=True))
    return sorted({re.sub(r"\d{9,}[^/]*", "N", name) for name in names})


def outcome(tf, preamble, program):
    """What a program leaves behind: losses step by step, the checkpoint, evaluation, prediction, files and summaries."""
    folder = tempfile.mkdtemp()
    losses, nodes = [], []

    class Watch(tf.train.SessionRunHook):
        def begin(self):
            nodes.append(tf.get_default_graph()._last_id)
            self.loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]

        def before_run(self, run_context):
            return tf.train.SessionRunArgs(self.loss)

        def after_run(self, run_context, run_values):
            losses.append(run_values.results)

    tf.reset_default_graph()
    names = {"tf": tf, "np": np, "fc": tf.feature_column, "folder": folder, "losses": losses,
             "config": tf.estimator.RunConfig(tf_random_seed=1, model_dir=folder)}
    try:
        exec(preamble, names)
        exec(program, names)
        found = {"show": _plain(names.get("show"))}
        estimator = names.get("est")
        if estimator is not None:
            estimator.train(names["train_fn"], steps=names.get("steps", 6), hooks=[Watch()])
            variables = sorted(estimator.get_variable_names())
            evaluated = estimator.evaluate(names["eval_fn"])
            predicted = list(estimator.predict(names["eval_fn"]))
            found.update(
                losses=_numbers(losses), nodes=nodes, variables={v: _value(estimator, v) for v in variables},
                evaluated=_by_key(evaluated), predictions=len(predicted),
                first=_by_key(predicted[0]) if isinstance(predicted[0], dict) else _numbers(predicted[0]))
            if names.get("counted", True) is False:
                del found["nodes"]
        found.update(files=_files(folder), tags=_tags(tf, folder))
        return json.loads(json.dumps(found))
    except NameError:
        raise
    except Exception as error:
        return {"error": type(error).__name__}
    finally:
        tf.compat.v1.disable_resource_variables()       # which estimators of trees enable
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    import tensorflow

    tensorflow.compat.v1.logging.set_verbosity(tensorflow.compat.v1.logging.ERROR)
    before, programs = texts(*sys.argv[1:])
    lines = [f"{json.dumps(one)}: {json.dumps(outcome(tensorflow, before, one), sort_keys=True)}" for one in programs]
    print("{\n" + ",\n".join(lines) + "\n}")
