"""Lists of tensors beside TensorFlow 1.15: values, gradients and errors of the TensorList ops.

data/tf115_lists.json is written under TensorFlow 1.15 by ``python tests/tensor_arrays/lists.py``.
"""
import json
from pathlib import Path

import numpy as np

BEFORE, _values, _gradients = Path(__file__).with_name("lists.txt").read_text().split("---\n")
VALUES, GRADIENTS = (dict(line.split(" | ") for line in part.splitlines()) for part in (_values, _gradients))


def results(tf):
    """{name: values, or the class of the error and its message}"""
    tf.reset_default_graph()
    names = {"tf": tf, "np": np}
    exec(BEFORE, names)
    texts = {**VALUES, **{f"gradient of {name}": f"tf.gradients({text})" for name, text in GRADIENTS.items()}}
    found = {}
    with tf.Session() as session:
        for name, text in texts.items():
            try:
                made = eval(text, names)
                made = made if isinstance(made, (list, tuple)) else [made]
                found[name] = [value.tolist() for value in session.run(list(made))]
            except Exception as error:
                message = getattr(error, "message", str(error)).split(chr(10))[0]
                found[name] = f"{type(error).__name__}: {message}"
    return json.loads(json.dumps(found, default=lambda value: value.decode()))


if __name__ == "__main__":
    import tensorflow

    found = json.dumps(results(tensorflow), sort_keys=True, indent=0)
    (Path(__file__).parent / "data" / "tf115_lists.json").write_text(found)
