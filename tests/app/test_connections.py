"""Telling of machines: as TensorFlow 1.15 checks it, in graphs without effect."""
import pytest


def test_hosts_and_clusters_are_checked(tf):
    config, spec = tf.config, tf.train.ClusterSpec({"worker": ["localhost:1"]})
    assert config.experimental_connect_to_host("localhost:1234") is None
    assert config.experimental_connect_to_cluster(spec) is None
    assert config.experimental_connect_to_cluster(tf.distribute.cluster_resolver.SimpleClusterResolver(spec)) is None
    with pytest.raises(ValueError, match="Must provide at least one remote_host"):
        config.experimental_connect_to_host()
    with pytest.raises(ValueError, match="must be a `ClusterSpec` or a `ClusterResolver`"):
        config.experimental_connect_to_cluster({"worker": ["localhost:1"]})
