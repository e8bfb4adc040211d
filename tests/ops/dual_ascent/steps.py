"""Steps of dual coordinate ascent whose order does not matter, and fingerprints.  ``python steps.py`` under a Python with
TensorFlow 1.15 prints what stands in data/tf115_steps.json."""
import functools
import json

import numpy as np

LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")
LENGTHS = (0, 1, 3, 4, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 64, 127, 128, 143, 144, 145, 160, 200, 271, 272, 273, 300)


def strings():
    return [bytes((7 * n + 13 * k) % 251 for k in range(n)) for n in LENGTHS]


def step(loss, case):
    """The arguments of a step of one example; dense columns of several widths, and a sparse one."""
    rng = np.random.RandomState(case)
    width, label = 3 * case + 1, {"poisson_loss": 3.0, "squared_loss": -0.7}.get(loss, float(case % 2))
    state = rng.rand(1, 4).astype("f")
    if loss not in ("poisson_loss", "squared_loss"):
        state[:, 0] *= 2 * label - 1
    return dict(
        sparse_example_indices=[[0, 0, 0]], sparse_feature_indices=[[7, 2, 5]],
        sparse_feature_values=[rng.randn(3).astype("f")] if case % 2 else [],
        dense_features=[rng.randn(1, width).astype("f"), rng.randn(1, 2).astype("f")], example_weights=[0.5 + case],
        example_labels=[label], sparse_indices=[[2, 5, 7, 9]], sparse_weights=[rng.randn(4).astype("f")],
        dense_weights=[rng.randn(width).astype("f"), rng.randn(2).astype("f")], example_state_data=state, loss_type=loss,
        l1=[0.0, 0.3][case % 2], l2=[1.0, 2.5][case // 2 % 2], num_loss_partitions=1 + case % 3, num_inner_iterations=1)


def outcome(tf):
    """{name of the step: its outputs}, and the fingerprints; each in a graph of its own, since TensorFlow changes the states that
    it is given in place, and lets equal constants share memory."""
    def run(make):
        with tf.Graph().as_default(), tf.Session() as session:
            return [np.asarray(one).tolist() for one in session.run(make())]

    def made(op, **more):
        found = op(**more)
        return [found[0], *found[1], *found[2]]

    found = {"fingerprints": run(lambda: tf.train.sdca_fprint(strings())),
             "older": run(lambda: made(tf.raw_ops.SdcaOptimizer, adaptative=True, **step("squared_loss", 4)))}
    for loss in LOSSES:
        for case in range(6):
            found[f"{loss} {case}"] = run(functools.partial(
                made, tf.raw_ops.SdcaOptimizerV2, adaptive=case == 3, **step(loss, case)))
    return found


if __name__ == "__main__":
    import tensorflow

    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(outcome(tensorflow).items())]
    print("{\n" + ",\n".join(lines) + "\n}")
