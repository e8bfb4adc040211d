"""K-means on input for one epoch, which the choice of the first centres takes: the example of TensorFlow's documentation."""
import numpy as np
import pytest


@pytest.mark.parametrize("name, seed", [("contrib.factorization.KMeansClustering", "random_seed"),
                                        ("estimator.experimental.KMeans", "seed")])
def test_training_goes_on_with_the_centres_of_the_call_before(tf, tmp_path, name, seed):
    make = tf
    for part in name.split("."):
        make = getattr(make, part)
    points = np.concatenate([np.random.RandomState(0).rand(20, 2), 5.0 + np.random.RandomState(1).rand(20, 2)]).astype("f")
    kmeans = make(2, model_dir=str(tmp_path), initial_clusters="kmeans_plus_plus", use_mini_batch=False,
                  **{seed: 1})
    steps = []
    for _ in range(3):
        kmeans.train(lambda: tf.train.limit_epochs(tf.convert_to_tensor(points), num_epochs=1))
        steps.append(int(kmeans.get_variable_value("global_step")))
    assert steps == [1, 3, 5]                   # as with TensorFlow 1.15.5
    found = kmeans.cluster_centers()
    np.testing.assert_allclose(found[np.argsort(found[:, 0])], [points[:20].mean(0), points[20:].mean(0)], rtol=1e-5)


def test_tries_by_the_number_of_centres(tf, run):
    points = np.random.RandomState(0).rand(50, 2).astype(np.float32)
    free, three, none = (run(tf.raw_ops.KmeansPlusPlusInitialization(
        points=points, num_to_sample=3, seed=1, num_retries_per_sample=tries)).tolist() for tries in (-1, 3, 0))
    assert free == three != none
